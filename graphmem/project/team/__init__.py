"""Memories that a team shares, and the graph in PostgreSQL."""
