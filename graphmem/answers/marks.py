"""Marks of type hints: documentation, ids, sizes, closed vocabularies.

Answers and operations use them in `Annotated[...]`. GraphQL derives types, descriptions and sizes from them, and the client derives its
decoders.
"""

from __future__ import annotations

from typing import Final, NamedTuple

SYMBOL: Final = "Symbol"
FILE: Final = "File"
MEMORY: Final = "Memory"
MODULE: Final = "Module"
CHUNK: Final = "Chunk"


class Doc(NamedTuple):
    """The description of a field or a parameter, for people."""

    text: str


class Size(NamedTuple):
    """The typical length of a list, used to compute the cost of a query."""

    objects: int


class GlobalId(NamedTuple):
    """An id of a node, which GraphQL shows as a global id.

    Every interface accepts both forms.

    Args:
        type: name of the GraphQL type. If `sibling` is true, name of another field of the same object; the value of that field decides the
            type.
        sibling: whether `type` names a field.
        types: pairs of a value of that field and a GraphQL type. A value without a pair is itself the type's name.
    """

    type: str
    sibling: bool = False
    types: tuple[tuple[str, str], ...] = ()


class Vocabulary(NamedTuple):
    """The name and description of a closed set of words, an enum in GraphQL."""

    name: str
    description: str


class Time(NamedTuple):
    """A time as ISO 8601 with its zone, or ""; in GraphQL a DateTime or null.

    Args:
        always: whether the time is never "".
    """

    always: bool = False


class Big(NamedTuple):
    """An integer that may exceed 32 bits, such as bytes; in GraphQL a Float."""


class Hidden(NamedTuple):
    """A field that GraphQL shows through a handwritten resolver."""
