"""Resolve a path that a user gave, and check that it is inside a project."""

from __future__ import annotations

from pathlib import Path


def inside(root: Path, path: str | Path) -> Path | None:
    """Return the resolved `path`; None if it is invalid or outside `root`.

    A relative path starts at `root`. A path is invalid if it contains a null character, half a surrogate pair, a cycle of links, or a name
    that the system refuses.
    """
    try:
        found = (root / path).resolve()
        found.exists()  # a name that is too long is only noticed here
        return found if found.is_relative_to(root.resolve()) else None
    except (OSError, ValueError, RuntimeError):  # RuntimeError: of links in a circle
        return None


def is_utf8(path: Path) -> bool:
    """Whether a path is UTF-8; the database can store and open no others."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
