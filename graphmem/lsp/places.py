"""Convert paths and lines of answers to positions in the editor.

graphmem's answers are about saved files. Lines are mapped to the text in the editor, and columns are in the unit that the editor chose.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from lsprotocol import types as lsp
from pygls import uris

from graphmem.lsp.hover import shown_name
from graphmem.lsp.line_map import LineMap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pygls.workspace import Workspace

    from graphmem.answers import SymbolInfo
    from graphmem.answers.places import Usage
    from graphmem.answers.vocabulary import SymbolKind

Item = TypeVar("Item", lsp.CallHierarchyItem, lsp.TypeHierarchyItem)

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
DECORATED: Final = 10  # lines in which the name of a definition may follow its decorators and modifiers
_DECORATORS: Final = ("@", "#[", "[")  # starts of lines in Python, Java, Rust and C#
_WORD: Final = re.compile(r"[\w$]+")
_LINE_END: Final = re.compile(r"\r\n?|\n")  # as the protocol defines it, and as Python reads the saved file


class Position(NamedTuple):
    """A position in the saved text of a file; lines are counted from 1."""

    path: str
    line: int
    column: int  # in characters


@functools.lru_cache(maxsize=10_000)  # an answer asks it for every open document
def path_of(root: Path, uri: str) -> str:
    """Return the path of a document (URI), relative to the project's root.

    For a document outside the project, the result is the full path. For a document without a file, such as an earlier revision that the
    editor shows, the result is its URI.
    """
    name = uris.to_fs_path(uri)
    if not name:
        return uri
    path = Path(name)
    try:
        return path.resolve().relative_to(root).as_posix()
    except ValueError:
        return path.as_posix()


def last(name: str) -> str:
    """Return the last part of a dotted name: `b` of `a.b`."""
    return name.rpartition(".")[2]


class Texts:
    """Lines of files as the editor shows them, each file read once per answer.

    Args:
        root: root of the project.
        workspace: the documents that are open in the editor.
    """

    def __init__(self, root: Path, workspace: Workspace) -> None:
        self._root = root
        self._codec = workspace.position_codec
        self._open = {path_of(root, uri): document for uri, document in workspace.text_documents.items()}
        self._now: dict[str, list[str]] = {}
        self._maps: dict[str, LineMap | None] = {}

    def path(self, uri: str) -> str:
        """Return the path of a document (URI), relative to the project's root.

        For a document outside the project, the result is the full path.
        """
        return path_of(self._root, uri)

    def is_in_project(self, uri: str) -> bool:
        """Whether a document (URI) is a file in the project's directory.

        Nothing is known about other documents, such as files of a library and earlier revisions. Their names are those of the project only
        by chance.
        """
        name = uris.to_fs_path(uri)
        return bool(name) and Path(name or "").resolve().is_relative_to(self._root)

    def uri(self, path: str) -> str:
        """Return the URI of a path.

        For a document that is open in the editor, the result is the URI that the editor uses.
        """
        document = self._open.get(path)
        return document.uri if document is not None else uris.from_fs_path(str(self._root / path)) or ""

    def version(self, path: str) -> int | None:
        """Return the editor's version of a document; None if it is not open."""
        document = self._open.get(path)
        return document.version if document is not None else None

    def saved(self, path: str) -> list[str]:
        """Return the lines of the saved file; empty if it cannot be read."""
        try:
            # An editor shows no byte order mark, and columns of answers do not count it.
            return (self._root / path).read_text(encoding="utf-8-sig", errors="replace").split("\n")
        except OSError:
            return []

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file as the editor shows it.

        The result is empty if the file cannot be read.
        """
        if path not in self._now:
            document = self._open.get(path)
            self._now[path] = _LINE_END.split(document.source) if document is not None else self.saved(path)
        return self._now[path]

    def now(self, path: str, line: int) -> int:
        """Convert a line of the saved file (from 1) to the editor's line (from 0)."""
        found = self._map(path)
        return found.now(line - 1) if found is not None else max(0, line - 1)

    def saved_line(self, path: str, line: int) -> int:
        """Convert an editor's line (from 0) to a line of the saved file (from 1)."""
        found = self._map(path)
        return (found.saved(line) if found is not None else line) + 1

    def column(self, path: str, position: lsp.Position) -> int:
        """Return the column of an editor's position, in characters."""
        lines = self.lines(path)
        text = lines[position.line] if position.line < len(lines) else ""
        return int(self._codec.position_from_client_units([text], lsp.Position(0, position.character)).character)

    def position(self, uri: str, position: lsp.Position) -> Position | None:
        """Convert an editor's position to one in the saved file, or None.

        If the line has unsaved edits, the name at the position is searched for in the saved file. The result is the place with this name in
        the saved lines that the edit replaced, or else the nearest one. It is None if the file lacks the name, or if the document is not in
        the project.
        """
        path = self.path(uri)
        lines, found = self.lines(path), self._map(path)
        if position.line >= len(lines) or not self.is_in_project(uri):
            return None
        text, column = lines[position.line], self.column(path, position)
        if found is None or found.is_saved(position.line):
            return Position(path, self.saved_line(path, position.line), column)
        at = next((one for one in _WORD.finditer(text) if one.start() <= column <= one.end()), None)
        word = at[0] if at is not None else ""
        near, replaced = found.saved(position.line), found.replaced(position.line)
        places = [
            (number not in replaced, abs(number - near), number, one.start())
            for number, line in enumerate(self.saved(path))
            for one in _words(line, word)
        ]
        if not places and at is not None:
            number = self._renamed(path, found, near, text, at)
            return Position(path, number + 1, at.start()) if number >= 0 else None
        if not places:
            return None
        *_, number, start = min(places)
        return Position(path, number + 1, start)

    def _renamed(self, path: str, lines: LineMap, near: int, text: str, word: re.Match[str]) -> int:
        """Return the number of a saved line that equals `text` but for one word.

        `text` is a line in the editor, and `word` the place of the word in it. The saved line has another word there, and is no longer in
        the editor, as after an unsaved renaming. The search starts at the saved line `near`. The result is -1 if no line is found.
        """
        before, after = text[: word.start()], text[word.end() :]
        pattern = re.compile(rf"{re.escape(before)}[\w$]+{re.escape(after)}")
        saved = self.saved(path)
        for number in range(near, min(near + DECORATED, len(saved))):
            if not lines.is_left(number) and pattern.fullmatch(saved[number]):
                return number
        return -1

    def name_range(self, path: str, line: int, name: str) -> lsp.Range:
        """Return the editor's range of a name, searched for from a line on.

        `line` is a line of the saved file, from 1. The next few lines are searched, too, because decorators may precede the name. If the
        name is not found, the result is the start of the line.
        """
        lines, first = self.lines(path), self.now(path, line)
        for number in range(first, min(first + DECORATED, len(lines))):
            for found in _words(lines[number], name):
                return self._range(number, lines[number], *found.span())
        at = lsp.Position(first, 0)
        return lsp.Range(at, at)

    def definition_range(self, path: str, line: int, name: str) -> lsp.Range:
        """Return the editor's range of a name that a definition gives.

        `line` is the first line of the definition in the saved file. Decorators and attributes above the name are skipped, because they may
        contain it, as in `@total.setter`.
        """
        lines, first = self.lines(path), self.now(path, line)
        number, last_line = first, min(first + DECORATED, len(lines))
        while number < last_line and lines[number].lstrip().startswith(_DECORATORS):
            depth = 0
            while number < last_line:
                depth += sum(lines[number].count(one) for one in "([{") - sum(lines[number].count(one) for one in ")]}")
                number += 1
                if depth <= 0:
                    break
        for at in range(number, last_line):
            for found in _words(lines[at], name):
                return self._range(at, lines[at], *found.span())
        return self.name_range(path, line, name)

    def range(self, found: Usage) -> lsp.Range | None:
        """Return the editor's range of a place that uses a symbol, or None.

        The result is None if the line of this place has changed since the file was saved.
        """
        edited, place = self._map(found.path), found.range
        if edited is not None and not edited.is_left(place.line - 1):
            return None
        lines, line = self.lines(found.path), self.now(found.path, place.line)
        text = lines[line] if line < len(lines) else ""
        return self._range(line, text, place.column, place.end_column) if text[place.column : place.end_column] == found.text else None

    def is_gone(self, symbol: SymbolInfo) -> bool:
        """Whether a definition of the saved file was deleted in the editor.

        A definition is gone if no line of it is left, except blank ones, and its name is not in the lines where it would be.
        """
        edited, saved = self._map(symbol.path), self.saved(symbol.path)
        first, end = symbol.start_line - 1, min(max(symbol.end_line, symbol.start_line), len(saved))
        if edited is None or any(saved[line].strip() and edited.is_left(line) for line in range(first, end)):
            return False
        place = self.definition_range(symbol.path, symbol.start_line, last(symbol.name))
        return bool(place.start == place.end)

    def body(self, symbol: SymbolInfo) -> lsp.Range:
        """Return the editor's range of all lines of a definition."""
        first, end = self.now(symbol.path, symbol.start_line), self.now(symbol.path, max(symbol.end_line, symbol.start_line))
        lines = self.lines(symbol.path)
        text = lines[end] if end < len(lines) else ""
        return lsp.Range(lsp.Position(first, 0), lsp.Position(max(first, end), self._codec.client_num_units(text)))

    def of_symbol(self, symbol: SymbolInfo) -> lsp.Location:
        """Return the location of a definition's name in the editor."""
        return lsp.Location(self.uri(symbol.path), self.definition_range(symbol.path, symbol.start_line, last(symbol.name)))

    def ranges(self, path: str, lines: Iterable[int], name: str) -> list[lsp.Range]:
        """Return the editor's ranges of a name in some lines of the saved file.

        Each occurrence of the name in a line gives a range. For a line without the name, the next few lines are searched; see `name_range`.
        """
        made = []
        for line in lines:
            number = self.now(path, line)
            text = self.lines(path)[number] if number < len(self.lines(path)) else ""
            here = [self._range(number, text, *found.span()) for found in _words(text, name)]
            made += here or [self.name_range(path, line, name)]
        return made

    def item(self, kind: type[Item], symbol: SymbolInfo) -> Item:
        """Convert a symbol to an item of the editor's call or type hierarchy.

        The item's `data` is the id of the symbol.
        """
        place = self.of_symbol(symbol)
        return kind(
            name=shown_name(symbol),
            kind=KINDS.get(symbol.kind, lsp.SymbolKind.Function),
            uri=place.uri,
            range=_around(self.body(symbol), place.range),
            selection_range=place.range,
            detail=symbol.path,
            data=symbol.id,
        )

    def _map(self, path: str) -> LineMap | None:
        """Return the map between saved lines and editor lines; None if equal.

        The lines are equal in a document without unsaved edits, and in a document that is not open.
        """
        if path not in self._maps:
            saved = self.saved(path) if path in self._open else []
            self._maps[path] = LineMap(saved, self.lines(path)) if saved and saved != self.lines(path) else None
        return self._maps[path]

    def _range(self, line: int, text: str, start: int, end: int) -> lsp.Range:
        units = self._codec.client_num_units
        return lsp.Range(lsp.Position(line, units(text[:start])), lsp.Position(line, units(text[:end])))


def _words(text: str, name: str) -> Iterable[re.Match[str]]:
    return re.finditer(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text) if name else ()


def _around(whole: lsp.Range, inner: lsp.Range) -> lsp.Range:
    """Return the smallest range that contains two ranges of one document."""
    return lsp.Range(min(whole.start, inner.start), max(whole.end, inner.end))
