"""Formats of known kinds of secrets, read from `secret_shapes.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Shape(NamedTuple):
    """One kind of secret, such as an access key, described by its format."""

    kind: str
    pattern: str  # the secret is the group `v…`, else the whole match
    needs: tuple[str, ...]  # words in lower case; every match contains at least one of them
    near: str  # looser pattern for the text in lower case from such a word on; "" when none is needed
    personal: bool  # personal data: removed, and never a reason to refuse the rest


@cache
def shapes() -> tuple[Shape, ...]:
    """Return the formats of all kinds of secrets, most precise first.

    The first call reads the formats from their file.
    """
    table = tomllib.loads((files("graphmem.memory.texts") / "secret_shapes.toml").read_text(encoding="utf-8"))
    return tuple(
        Shape(
            kind=row["kind"],
            pattern="".join(row["pattern"]),  # one text, or its parts
            needs=tuple(row["needs"]),
            near=row.get("near", ""),
            personal=row.get("personal", False),
        )
        for row in table["shape"]
    )


@cache
def personal_kinds() -> frozenset[str]:
    """Return the kinds that are personal data, not secrets."""
    return frozenset(shape.kind for shape in shapes() if shape.personal)
