"""Fixtures of this folder: a small index, and processes over it."""

from small_index import environ, here, index, open_index, repo, settings

__all__ = ["environ", "here", "index", "open_index", "repo", "settings"]
