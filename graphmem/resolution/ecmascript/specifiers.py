"""Split and match the strings by which JavaScript and TypeScript import.

The module has no state and reads no files.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.resolution.values.types import Package


def package_of(specifier: str) -> tuple[Package, str]:
    """Split the module name of an import into a package and a path inside it.

    For example, "@a/b/c/d" gives ("@a/b", "c/d"). The name must not be a path such as "./a".
    """
    parts = specifier.split("/")
    count = 2 if specifier.startswith("@") else 1
    return Package("/".join(parts[:count])), "/".join(parts[count:])


def joined(folder: str, relative: str) -> str | None:
    """Resolve a path relative to a folder; None if it leaves the root.

    The result is relative to the root.
    """
    parts = [part for part in folder.split("/") if part]
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def folders_above(folder: str) -> Iterator[str]:
    """Return a folder and all folders above it; the root ("") is last."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


def matched(pattern: str, text: str) -> str | None:
    """Return the text that "*" in a pattern matches; None without a match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == text else None
    if len(text) >= len(before) + len(after) and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)]
    return None
