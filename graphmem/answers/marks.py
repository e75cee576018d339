"""What a type hint of an answer or an operation says beside the type: documentation, ids, sizes, closed vocabularies.

They stand in `Annotated[...]`. The interfaces read them: GraphQL takes types, descriptions and sizes from here, the client decodes by them.
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
    """About how many objects a list holds; what an answer may cost is worked out from it."""

    objects: int


class GlobalId(NamedTuple):
    """An id of a node. GraphQL shows it as a global id of this type; every interface accepts both forms.

    Args:
        type: the name of the GraphQL type, or the name of the sibling field that holds it.
        sibling: `type` names a field of the same object; its values are mapped by `types`.
        types: value of that field -> GraphQL type; other values are types themselves.
    """

    type: str
    sibling: bool = False
    types: tuple[tuple[str, str], ...] = ()


class Vocabulary(NamedTuple):
    """The name and description of a closed set of words, which is an enum in GraphQL."""

    name: str
    description: str


class Time(NamedTuple):
    """A time as ISO 8601 with its zone; "" where there is none. GraphQL shows it as a DateTime, or null.

    Args:
        always: there is always one.
    """

    always: bool = False


class Big(NamedTuple):
    """A whole number that may pass 32 bits, such as bytes; GraphQL shows it as a Float."""


class Hidden(NamedTuple):
    """A field that GraphQL does not show as it is: a resolver of the interface stands for it."""
