"""Index a project: read its files and make the graph equal to them."""
