"""The journal of memories: its files, lines and lock."""
