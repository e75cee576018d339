"""Fixtures of this folder: a small index, and processes over it."""

from small_index import environ, graphmem, here, index, open_index, repo, settings

__all__ = ["environ", "graphmem", "here", "index", "open_index", "repo", "settings"]
