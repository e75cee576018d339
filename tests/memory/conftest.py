"""Fixtures of this folder: indexes with memories, and a clock that a test sets."""

from books import clock, gm, indexed, opened, project, repository

__all__ = ["clock", "gm", "indexed", "opened", "project", "repository"]
