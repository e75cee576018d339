"""Symbols: definitions of a file, as other files refer to them."""

from __future__ import annotations

from typing import Final

CLASS_KINDS: Final = frozenset({"class", "interface", "enum"})
FUNCTION_KINDS: Final = frozenset({"function", "method"})


class Symbol:
    """A definition in a file, in the form in which other files refer to it.

    A symbol has the id, path, name and kind of the definition. The object stays the same when other parts of its file change.
    """

    __slots__ = ("id", "index", "key", "kind", "name", "ordinal", "path", "qualname")

    def __init__(self, id_: str, path: str, qualname: str, kind: str, ordinal: int, key: int) -> None:
        self.id = id_
        self.path = path
        self.qualname = qualname
        self.name = qualname.rpartition(".")[2]
        self.kind = kind
        self.ordinal = ordinal
        self.key = key  # input that changes with the facts that other files can see
        self.index = -1  # position in its file's definitions; -1 while it does not exist

    def __repr__(self) -> str:
        return f"{self.path}:{self.qualname}#{self.ordinal}"

    @property
    def place(self) -> tuple[str, str, str, int]:
        """Return a sort key of the symbol that depends only on the source code.

        The key is (path, qualified name, kind, number of earlier definitions with the same name and kind).
        """
        return (self.path, self.qualname, self.kind, self.ordinal)
