"""What the symbols of a SCIP index stand for in the tree.

A symbol names its package and version. The tree's own package can be named by two of them: an installed copy of it, another
version that a lock file asks for, or a module of the same build. So a symbol that is not defined is looked up twice more: in the
same package of any version, and by the name under which files of the tree import its module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from graphmem.evidence.observations import End
from graphmem.evidence.scip_symbols import parsed, split
from graphmem.parsing.facts import Definition

MAX_TWINS: Final = 64  # definitions of one symbol that are told apart; overloads and reopened classes have a few
FUNCTIONS: Final = ("function", "method")


class Meant(NamedTuple):
    """A definition that a symbol stands for."""

    end: End
    definition: Definition


class Definitions:
    """The definitions of an index that parsing knows too, by symbol. A local symbol begins with the path of its document."""

    def __init__(self) -> None:
        self._exact: dict[str, list[Meant]] = {}
        self._other: dict[tuple[str, ...], list[Meant]] = {}

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._exact or any(key in self._other for key in _keys(symbol))

    def add(self, symbol: str, meant: Meant, module: str) -> None:
        """Keep a definition.

        Args:
            symbol: as the index has it.
            meant: what it stands for.
            module: the name under which other files import its file; "" when they cannot.
        """
        _put(self._exact.setdefault(symbol, []), meant)
        for key in _keys(symbol, module):
            _put(self._other.setdefault(key, []), meant)

    def find(self, symbol: str) -> list[Meant]:
        """What a symbol stands for: the definition that runs, which for overloads and redefinitions is the last with a body."""
        found = self._exact.get(symbol)
        if found is not None:
            return _chosen(found)
        for key in _keys(symbol):
            others = self._other.get(key, ())
            if len({one.end.path for one in others}) == 1:  # of two packages with the same names neither is meant for sure
                return _chosen(others)
        return []

    def made_by(self, symbol: str) -> list[Meant]:
        """The class that a constructor belongs to."""
        return self.find(parsed(symbol).owner_symbol)


def _keys(symbol: str, module: str | None = None) -> list[tuple[str, ...]]:
    """Under which names a symbol is looked up when it is not defined itself; with a module, under which it is kept."""
    parts = split(symbol)
    if parts is None:
        return []
    package = (parts.scheme, parts.package, parts.namespace, parts.rest)
    if module is None:
        return [package, (parts.scheme, parts.namespace, parts.rest)]
    is_module = bool(module) and f".{parts.namespace}".endswith(f".{module}")
    return [package, (parts.scheme, module, parts.rest)] if is_module else [package]


def _put(twins: list[Meant], meant: Meant) -> None:
    if len(twins) < MAX_TWINS and meant not in twins:
        twins.append(meant)


def _chosen(twins: Iterable[Meant]) -> list[Meant]:
    """Of the definitions of one symbol the one that runs: with a body, and the last, as overloads stand before it."""
    found = list(twins)
    if len(found) < 2:
        return found
    if found[0].definition.kind not in FUNCTIONS:
        return found[:1]
    return [max(found, key=lambda one: (one.definition.complexity > 0, one.end.path == found[0].end.path, one.definition.start_line))]
