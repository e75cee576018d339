"""Search code and memories: find candidates, rank them, explain the hits."""
