"""Memories: the single write path, their lifecycle and their journal."""
