"""The explorer, a page that draws the graph: layouts and static files."""
