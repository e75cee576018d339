"""A first memory of a project, made from one of its files."""

from __future__ import annotations

from typing import NamedTuple


class Seed(NamedTuple):
    """One statement in a file, from which a first memory is made.

    The text is not shortened yet, and the statement has no id.
    """

    content: str
    type: str
    is_orientation: bool = False
    title: str = ""
