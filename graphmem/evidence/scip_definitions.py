"""Find the parsed definition that a symbol of a SCIP index refers to.

A symbol contains its package and version. The project's own package can occur with several names or versions: as an installed copy, in
another version from a lock file, or as a module of the same build. So for a symbol without a definition, there are two more look-ups: in
the same package of any version, and by the name under which files of the project import the module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from graphmem.evidence.observations import End
from graphmem.evidence.scip_symbols import parsed, split
from graphmem.model import FUNCTION_KINDS
from graphmem.parsing.facts import Definition

MAX_TWINS: Final = 64  # maximum definitions kept for one symbol; overloads and reopened classes have a few


class Meant(NamedTuple):
    """A parsed definition to which a SCIP symbol refers."""

    end: End
    definition: Definition


class Definitions:
    """Maps symbols of a SCIP index to definitions that the parser also found.

    Local symbols are unique only in their document (the part of the index for one file). So a local symbol is stored with the path of its
    file as a prefix.
    """

    def __init__(self) -> None:
        self._exact: dict[str, list[Meant]] = {}
        self._other: dict[tuple[str, ...], list[Meant]] = {}

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._exact or any(key in self._other for key in _keys(symbol))

    def add(self, symbol: str, definition: Meant, module: str) -> None:
        """Record that a SCIP symbol refers to a parsed definition.

        Args:
            symbol: the symbol in the index.
            definition: the definition to which the symbol refers.
            module: the name under which other files import the definition's file; "" if it cannot be imported.
        """
        _put(self._exact.setdefault(symbol, []), definition)
        for key in _keys(symbol, module):
            _put(self._other.setdefault(key, []), definition)

    def find(self, symbol: str) -> list[Meant]:
        """Return the definition of a SCIP symbol, in a list; empty if unknown.

        If a function is overloaded or redefined, the result is the last definition with a body, because this one runs. If the symbol itself
        is unknown, the same symbol of another package version is looked up. The look-up finds nothing if several files define that symbol.
        """
        found = self._exact.get(symbol)
        if found is not None:
            return _chosen(found)
        for key in _keys(symbol):
            others = self._other.get(key, ())
            if len({one.end.path for one in others}) == 1:  # two packages with the same names are ambiguous
                return _chosen(others)
        return []

    def made_by(self, symbol: str) -> list[Meant]:
        """Return a list with the class that the constructor `symbol` creates.

        The list is empty if the class is unknown.
        """
        return self.find(parsed(symbol).owner_symbol)


def _keys(symbol: str, module: str | None = None) -> list[tuple[str, ...]]:
    """Return keys of a SCIP symbol that any version of its package has.

    A symbol is the name of a definition in the index; it contains a package and its version. A key is a tuple of parts of the symbol. To
    find a definition, omit `module` and try the keys in order. To add a definition, pass as `module` the name under which files import the
    module; "" if no file can. The result is empty for a local symbol.
    """
    parts = split(symbol)
    if parts is None:
        return []
    package = (parts.scheme, parts.package, parts.namespace, parts.rest)
    if module is None:
        return [package, (parts.scheme, parts.namespace, parts.rest)]
    is_module = bool(module) and f".{parts.namespace}".endswith(f".{module}")
    return [package, (parts.scheme, module, parts.rest)] if is_module else [package]


def _put(twins: list[Meant], definition: Meant) -> None:
    if len(twins) < MAX_TWINS and definition not in twins:
        twins.append(definition)


def _chosen(twins: Iterable[Meant]) -> list[Meant]:
    """Return the one definition of `twins` that runs, in a list.

    `twins` are definitions with the same symbol, for example of an overloaded or redefined function. Functions with a body are preferred.
    Of several, those in the file of the first twin are preferred; of these, the last one is returned. Of classes and variables, the first
    one is returned.
    """
    found = list(twins)
    if len(found) < 2:
        return found
    if found[0].definition.kind not in FUNCTION_KINDS:
        return found[:1]
    return [max(found, key=lambda one: (one.definition.complexity > 0, one.end.path == found[0].end.path, one.definition.start_line))]
