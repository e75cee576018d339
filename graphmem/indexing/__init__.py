"""The write path: keeps the graph equal to the tree on disk."""
