"""Where a path that somebody gave leads: into the project, or nowhere."""

from __future__ import annotations

from pathlib import Path


def inside(root: Path, path: str | Path) -> Path | None:
    """The place a path means, links followed, or None when it leads out of `root` or can be no path.

    What can be no path: one with a null or half a sign in it, links that lead around in a circle, a name longer than the system's.
    """
    try:
        found = (root / path).resolve()
        found.exists()  # a name that is too long is only noticed here
        return found if found.is_relative_to(root.resolve()) else None
    except (OSError, ValueError, RuntimeError):  # RuntimeError: of links in a circle
        return None
