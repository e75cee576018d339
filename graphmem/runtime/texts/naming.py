"""Decode references: GraphQL ids, file URIs and absolute paths."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

NODE_TYPES: Final = ("Symbol", "File", "Memory", "Module")
"""Types of which GraphQL gives out global ids."""


def decoded(text: str) -> tuple[str, str] | None:
    """Return (type, id) of a Relay id, or None if `text` is not a Relay id.

    A Relay id is `Type:id` in base64.
    """
    try:
        prefix, colon, value = base64.b64decode(text, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return (prefix, value) if colon and prefix and value else None


def raw(text: str) -> str:
    """Return the id inside a Relay id (`Type:id` in base64).

    Any other text is returned unchanged.
    """
    parts = decoded(text.strip())
    return parts[1] if parts is not None and parts[0] in NODE_TYPES else text


def in_project(text: str, root: Path | str | None) -> str:
    """Convert a file URI or absolute path to a path from the project's root.

    Any other text, and a path outside the project, is returned unchanged.

    Args:
        text: the URI or path. More may follow after a colon, as in `path:line` and `path:name`; it is kept.
        root: the root of the project; None or "" if unknown.
    """
    given = text
    if text[:5].lower() == "file:":
        try:
            parts = urlsplit(text)
        except ValueError:
            return text
        if parts.netloc not in ("", "localhost"):
            return text
        given = unquote(parts.path)
    if not root or not given.startswith("/"):
        return text
    below = str(root).rstrip("/") + "/"
    if given.startswith(below) or given == below[:-1]:
        return given[len(below) :]
    path, colon, rest = given.partition(":")
    try:
        place = Path(path)
        found = (place.parent.resolve() / place.name).relative_to(Path(root).resolve())  # a link names itself, not its target
    except (OSError, ValueError, RuntimeError):
        return text
    return found.as_posix() + colon + rest
