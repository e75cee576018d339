"""Index a project: read its files and update the graph to match them."""
