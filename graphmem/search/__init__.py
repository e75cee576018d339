"""Search: find candidates, join the ranked lists, explain the hits."""
