"""Memories: write them, show them beside code, follow who saw them."""
