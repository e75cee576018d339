"""One open project, which implements the operations."""
