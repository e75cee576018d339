"""Fixtures of this folder: a small index, and processes over it."""

from small_index import environ, forks, here, index, open_index, repo, settings

__all__ = ["environ", "forks", "here", "index", "open_index", "repo", "settings"]
