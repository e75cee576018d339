"""Facts to edges, with the rule that found them."""
