"""A first memory of a project, made from one of its files."""

from __future__ import annotations

from typing import NamedTuple


class Seed(NamedTuple):
    """A passage of a project's file, such as the README, for a first memory.

    The text is not shortened yet, and the passage has no id.
    """

    content: str
    type: str
    is_orientation: bool = False
    title: str = ""
