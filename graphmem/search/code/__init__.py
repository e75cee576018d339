"""Search of code: candidates, scores and the order of symbols."""
