"""Positions and ranges of the protocol, from paths and lines of answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp
from pygls import uris

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphmem.answers import Site, SymbolInfo
    from graphmem.answers.vocabulary import SymbolKind

KINDS: Final[dict[SymbolKind, lsp.SymbolKind]] = {
    "class": lsp.SymbolKind.Class,
    "enum": lsp.SymbolKind.Enum,
    "function": lsp.SymbolKind.Function,
    "interface": lsp.SymbolKind.Interface,
    "method": lsp.SymbolKind.Method,
    "module": lsp.SymbolKind.Module,
    "type": lsp.SymbolKind.TypeParameter,
    "variable": lsp.SymbolKind.Variable,
}


def path_of(root: Path, uri: str) -> str:
    """The path of a document from the root; its full path outside of it."""
    path = Path(uris.to_fs_path(uri) or "")
    try:
        return path.resolve().relative_to(root).as_posix()
    except ValueError:
        return path.as_posix()


def uri_of(root: Path, path: str) -> str:
    """The URI of a path from the root."""
    return uris.from_fs_path(str(root / path)) or ""


def line_range(first: int, last: int = 0) -> lsp.Range:
    """Return the range of whole lines, which are counted from 1."""
    return lsp.Range(lsp.Position(max(0, first - 1), 0), lsp.Position(max(first, last, 1), 0))


def name_range(lines: list[str], line: int, name: str) -> lsp.Range:
    """The range of a name at or soon after a line, in UTF-16 units.

    If the name is not found, it is the start of the line.

    Decorators and modifiers may precede the name of a definition.
    """
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])") if name else None
    for number in range(line - 1, min(line + 9, len(lines))):
        if word is not None and number >= 0 and (found := word.search(lines[number])):
            start, end = (len(lines[number][:at].encode("utf-16-le")) // 2 for at in found.span())
            return lsp.Range(lsp.Position(number, start), lsp.Position(number, end))
    at = lsp.Position(max(0, line - 1), 0)
    return lsp.Range(at, at)


class Texts:
    """Lines of files, read once for an answer.

    Args:
        root: root of the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lines: dict[str, list[str]] = {}

    def lines(self, path: str) -> list[str]:
        """The lines of a file; none if it cannot be read."""
        if path not in self._lines:
            try:
                self._lines[path] = (self._root / path).read_text(encoding="utf-8", errors="replace").split("\n")
            except OSError:
                self._lines[path] = []
        return self._lines[path]

    def of_symbol(self, symbol: SymbolInfo) -> lsp.Location:
        """The name of a definition."""
        return lsp.Location(uri_of(self._root, symbol.path), name_range(self.lines(symbol.path), symbol.start_line, _last(symbol.name)))

    def of_sites(self, sites: Iterable[Site], name: str) -> list[lsp.Location]:
        """The places where symbols use a name."""
        return [
            lsp.Location(uri_of(self._root, one.symbol.path), name_range(self.lines(one.symbol.path), line, name))
            for one in sites
            if one.symbol.path
            for line in one.lines
        ]

    def item(self, symbol: SymbolInfo) -> lsp.CallHierarchyItem:
        """An item of a call hierarchy; its data is the id of the symbol."""
        place = self.of_symbol(symbol)
        whole = lsp.Range(lsp.Position(max(0, symbol.start_line - 1), 0), lsp.Position(max(symbol.end_line, symbol.start_line), 0))
        return lsp.CallHierarchyItem(
            name=symbol.qualname or symbol.name,
            kind=KINDS.get(symbol.kind, lsp.SymbolKind.Function),
            uri=place.uri,
            range=whole,
            selection_range=place.range,
            detail=symbol.path,
            data=symbol.id,
        )


def _last(name: str) -> str:
    return name.rpartition(".")[2]
