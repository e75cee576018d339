"""Marks of type hints: documentation, ids, sizes, closed vocabularies.

Answers and operations use them in `Annotated[...]`. GraphQL derives types, descriptions and sizes from them, and the client derives its
decoders. Marks are not tuples, because tuples of different classes may be equal. Python 3.11.2 makes one `Annotated` for equal marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SYMBOL: Final = "Symbol"
FILE: Final = "File"
MEMORY: Final = "Memory"
MODULE: Final = "Module"
CHUNK: Final = "Chunk"


@dataclass(frozen=True, slots=True)
class Doc:
    """The description of a field or a parameter, for people."""

    text: str


@dataclass(frozen=True, slots=True)
class Size:
    """The typical length of a list, used to compute the cost of a query."""

    objects: int


@dataclass(frozen=True, slots=True)
class GlobalId:
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


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The name and description of a closed set of words, an enum in GraphQL."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Time:
    """A time as ISO 8601 with its zone, or ""; in GraphQL a DateTime or null.

    Args:
        always: whether the time is never "".
    """

    always: bool = False


@dataclass(frozen=True, slots=True)
class Big:
    """An integer that may exceed 32 bits, such as bytes; in GraphQL a Float."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A field that GraphQL shows through a handwritten resolver."""
