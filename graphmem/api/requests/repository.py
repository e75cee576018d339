"""Allow clients to index only the project's own directory."""

from __future__ import annotations

from pathlib import Path

from graphmem.errors import ForbiddenError


def within_project(root: str, path: str | None) -> str | None:
    """Check the path that a client asks to index; return it.

    None stands for the project's own root.

    Args:
        root: root of the project; "" before the first index, when there is nothing to compare with.
        path: path that the client sent; a relative path starts at the root.

    Raises:
        ForbiddenError: the path is not the project's root, after symlinks are followed.
    """
    if path is None or not path:
        return None
    if not root:
        return path
    asked = (Path(root) / path).resolve()
    if asked != Path(root).resolve():
        raise ForbiddenError(f"this server indexes only {root}; start another server for {path}", path=path)
    return str(asked)
