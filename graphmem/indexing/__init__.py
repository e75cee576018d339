"""The write path: make the graph equal to the tree on disk."""
