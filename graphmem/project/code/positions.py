"""Find the symbols that the names in the text of a file refer to."""

from __future__ import annotations

import threading
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers.places import Occurrence, Occurrences, SymbolAt, TextRange
from graphmem.errors import DatabaseDamagedError, GraphMemError, SymbolNotFoundError
from graphmem.model import WRITTEN_KINDS, file_id
from graphmem.parsing.contents import read_inside
from graphmem.parsing.discovery import content_hash
from graphmem.parsing.language import languages
from graphmem.parsing.sources import source_of
from graphmem.project.code.file_occurrences import WORD, FoundName, NamePlace, enclosing_by_line, occurrences_in, text_at
from graphmem.projection.graph.arrays import SYMBOL
from graphmem.runtime.data.text_only import text_only_language
from graphmem.runtime.texts.naming import in_project
from graphmem.runtime.texts.places import Written, unpacked

if TYPE_CHECKING:
    from collections.abc import Collection

    from graphmem.answers import SymbolInfo
    from graphmem.answers.vocabulary import ColumnUnit
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.projection.graph.view import GraphView

KEPT: Final = 16
"""Files whose occurrences are kept; an editor asks again for the same few."""
"""Bytes of a file; the setting `max_file_kb` allows no more."""


class _File(NamedTuple):
    """An indexed file, its current text, and the names found in it."""

    path: str
    language: str
    text: bytes  # UTF-8
    lines: list[str]
    is_stale: bool
    found: list[FoundName]


class Text(NamedTuple):
    """The current text of an indexed file, and whether the index is outdated."""

    path: str
    language: str
    text: str  # lines end with \n alone
    is_stale: bool
    note: str  # why it is empty; else ""


@dataclass(eq=False, repr=False)
class Positions:
    """Finds the symbol that the name at a position of a file refers to."""

    graph: GraphSource
    _kept: dict[tuple[int, str, str], list[FoundName]] = field(default_factory=dict)
    _parsing: threading.Lock = field(default_factory=threading.Lock)  # a parser serves one thread at a time

    def symbol_at(self, file: str, line: int, column: int | None = None, unit: ColumnUnit = "characters") -> SymbolAt:
        """Return the symbol at a line and column, or the reason why none is found.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        view = self.graph.view()
        here = self._file(view, file)
        text = here.lines[line - 1] if line <= len(here.lines) else ""
        at = len(text) - len(text.lstrip()) if column is None else _characters(text, column, unit) if text else column
        found = _on_line(view, here, line) if column is None else _at(here, line, at)
        around = enclosing_by_line(view, here.path)
        enclosing = int(around[line]) if line < len(around) else -1
        return SymbolAt(
            path=here.path,
            symbol=view.info(found.nodes[0]) if found is not None else None,
            reason="" if found is not None else self._reason(view, here, line, at),
            occurrence=_shown(view, here, found) if found is not None else None,
            enclosing=view.info(enclosing) if enclosing >= 0 else None,
            is_stale=here.is_stale,
        )

    def occurrences(self, file: str) -> Occurrences:
        """Return every place in a file where the name of a symbol is written.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        view = self.graph.view()
        here = self._file(view, file)
        reason = "" if here.found else _text_only(here) or "the file defines no symbol and uses none that the index knows"
        return Occurrences(here.path, [_shown(view, here, one) for one in here.found], reason, here.is_stale)

    def read(self, file: str) -> Text:
        """Return the current text of a file.

        The positions that `occurrences` gives are lines and columns of the returned text.

        Raises:
            SymbolNotFoundError: the file is not in the index.
        """
        here = self._file(self.graph.view(), file, [])
        note = "the file cannot be read any more; run `graphmem index`" if not here.text and here.is_stale else ""
        return Text(here.path, here.language, "\n".join(one.removesuffix("\r") for one in here.lines), here.is_stale, note)

    def uses(
        self, view: GraphView, path: str, node: int, targets: Collection[str], written: list[Written]
    ) -> tuple[list[Occurrence], bool]:
        """Return the positions in a file at which a name refers to symbol `node`.

        The second result is True if the file changed since it was indexed.

        Args:
            view: the graph to which `node` belongs; a newer graph may number its nodes differently.
            path: path of an indexed file.
            node: the symbol.
            targets: ids of the symbol, and of nodes that count as the symbol, such as the constructor of a class. A file without edges to
                any of these nodes is not read.
            written: the names in the file, as the method `written` returns them for the path.
        """
        places = {(one.line, one.column) for one in written if one.target in targets}
        if not places and path != view.path(node):
            return [], False
        # Imports of other symbols stay, because their aliases may hide a name.
        near = [one for one in written if (one.line, one.column) in places or one.kind == "IMPORTS"]
        here = self._file(view, path, near)
        return [_shown(view, here, one) for one in here.found if one.nodes[0] == node], here.is_stale

    def named(self, view: GraphView, path: str, targets: Collection[str]) -> tuple[list[tuple[Written, TextRange, int]], bool]:
        """Return the positions at which names in a file refer to given nodes.

        Each position is a tuple (name as the index stored it, range of text, graph node). The graph node is the innermost definition around
        the position; -1 if there is none. The second result is True if the file changed since it was indexed.

        Args:
            view: the graph whose nodes the result has.
            path: path of an indexed file.
            targets: ids of the nodes.
        """
        written = [one for one in self.written([path])[path] if one.target in targets]
        if not written:
            return [], False
        here, around = self._file(view, path, []), enclosing_by_line(view, path)
        return [
            (one, _range(here, NamePlace(one.line, one.column, one.length)), int(around[one.line]) if one.line < len(around) else -1)
            for one in written
        ], here.is_stale

    def _file(self, view: GraphView, file: str, written: list[Written] | None = None) -> _File:
        path = in_project(file, self.graph.root_path).removeprefix("./")
        number = view.path_number.get(path)
        if number is None or view.file_node(path) is None:
            remedy = "run `graphmem index` to add new files; `graphmem doctor` tells which kinds of files are skipped, and why"
            raise SymbolNotFoundError(f"the index has no file {path!r}; {remedy}", ref=file, suggestions=[])
        data = read_inside(self.graph.root(), path)
        content = content_hash(data)
        is_stale = content != view.arrays.paths.content_hash[number].as_py()
        kind = view.arrays.paths.language[number].as_py() or ""  # the grammars are not read, because an editor waits for its first hover
        language = "" if kind == "text" else kind
        text = source_of(path, data, language).text
        lines = text.decode("utf-8", "replace").split("\n")
        key = (view.generation, path, content)
        found = self._kept.get(key) if written is None else occurrences_in(view, path, written, lines)
        if found is None:
            found = occurrences_in(view, path, self.written([path])[path], lines)
            self._kept[key] = found
            for old in list(self._kept)[:-KEPT]:
                self._kept.pop(old, None)
        return _File(path, language, text, lines, is_stale, found)

    def _reason(self, view: GraphView, here: _File, line: int, column: int) -> str:
        """Return why no symbol is found at a line and column of a file."""
        if not here.text and here.is_stale:
            return "the file cannot be read any more; run `graphmem index`"
        last = len(here.lines) - 1 if here.lines[-1] == "" and len(here.lines) > 1 else len(here.lines)
        if line > last:
            return f"the file ends at line {last:,}"
        text = here.lines[line - 1].rstrip("\r")
        if not text.strip():
            return "the line is blank"
        if unparsed := _text_only(here):
            return unparsed
        if column > len(text):
            return f"the line ends at column {len(text):,}"
        with self._parsing:
            node = "" if view.failures.get(here.path) else _syntax(here, line, column)
        if node in ("comment", "string"):
            return f"the position is in a {node}"
        word = next((one[0] for one in WORD.finditer(text) if one.start() <= column <= one.end()), "")
        if not word:
            return "the position is not on a name"
        for site in view.unresolved_named(word):
            if site.path == here.path and site.line == line:
                return f"the call of {word!r} could not be resolved ({site.reason.replace('_', ' ')})"
        return f"{word!r} is a keyword, a local name, or a name whose definition is not known"

    def written(self, paths: Collection[str]) -> dict[str, list[Written]]:
        """Return, for each path, the uses and imports of names in the file.

        One query serves all paths.
        """
        ids = {path: file_id(self.graph.project, path) for path in paths}
        stored = self.graph.store.places(list(ids.values()))
        return {path: _unpacked(path, stored.get(one, b"")) for path, one in ids.items()}


def _unpacked(path: str, data: bytes) -> list[Written]:
    try:
        return unpacked(data, WRITTEN_KINDS)
    except (zlib.error, ValueError, IndexError) as error:
        raise DatabaseDamagedError(
            f"the stored positions of symbols in {path} cannot be read ({error}); run `graphmem rebuild`", path=path, reason=str(error)
        ) from error


def _text_only(here: _File) -> str:
    """Return a sentence if the language of a file has no grammar, else "".

    The sentence says that the graph lacks the names in such files.
    """
    name = "" if here.language else text_only_language(here.path)
    return name and f"{name} files are searched as text only, so their names are not in the graph"


def _at(here: _File, line: int, column: int) -> FoundName | None:
    """Return the name at a line and column; None if no name is there."""
    return min((one for one in here.found if _is_on(one.place, line, column)), key=lambda one: _nearness(one, column), default=None)


def _on_line(view: GraphView, here: _File, line: int) -> FoundName | None:
    """Return the first definition on a line; without one, the first name.

    If the line has names of the project and names of libraries, the first name of the project is returned. The result is None if the line
    has no name.
    """
    on_line = (one for one in here.found if one.place.line == line)
    return min(on_line, key=lambda one: (one.role != "definition", view.label[one.nodes[0]] != SYMBOL, one.place.column), default=None)


def _is_on(place: NamePlace, line: int, column: int) -> bool:
    return place.line == line and place.column <= column <= place.column + place.length


def _nearness(found: FoundName, column: int) -> tuple[bool, int]:
    return column == found.place.column + found.place.length, found.place.length


def _range(here: _File, place: NamePlace) -> TextRange:
    line = here.lines[place.line - 1] if place.line <= len(here.lines) else ""
    end = place.column + place.length
    columns = (_units(line, column, unit) for unit in ("utf16", "utf8") for column in (place.column, end))
    return TextRange(place.line, place.column, end, *columns)


def _shown(view: GraphView, here: _File, found: FoundName) -> Occurrence:
    place = found.place
    infos: list[SymbolInfo] = view.infos(found.nodes)
    return Occurrence(
        range=_range(here, place),
        text=text_at(here.lines, place),
        role=found.role,
        symbol=infos[0],
        confidence=found.confidence,
        kinds=found.kinds,
        enclosing=view.info(found.enclosing) if found.enclosing >= 0 else None,
        others=infos[1:],
    )


def _units(line: str, column: int, unit: str) -> int:
    """Convert a column in characters to UTF-16 or UTF-8 units.

    `line` is the text of the line; `unit` is "utf16" or "utf8".
    """
    if line.isascii():
        return column
    before = line[:column]
    return len(before.encode("utf-16-le", "surrogatepass")) // 2 if unit == "utf16" else len(before.encode("utf-8", "surrogatepass"))


def _characters(line: str, column: int, unit: ColumnUnit) -> int:
    """Convert a column in UTF-16 or UTF-8 units to characters.

    `line` is the text of the line. A column beyond the end of the line is still beyond the end after conversion.
    """
    if unit == "characters" or line.isascii():
        return column
    codec, width = ("utf-16-le", 2) if unit == "utf16" else ("utf-8", 1)
    data = line.encode(codec, "surrogatepass")
    if column * width > len(data):
        return len(line) + column - len(data) // width
    return len(data[: column * width].decode(codec, "ignore"))


def _syntax(here: _File, line: int, column: int) -> str:
    """Return "comment", "string" or "": the syntax around a column.

    The result is "" if the position is in neither.
    """
    if here.language not in languages():
        return ""
    from graphmem.parsing.grammar import load_grammar

    try:
        grammar = load_grammar(here.language)
    except GraphMemError:
        return ""
    tree = grammar.parse(grammar.helper.prepared(here.text), hasty=True)
    if tree is None:
        return ""
    point = (line - 1, _units(here.lines[line - 1], column, "utf8"))
    node = tree.root_node.descendant_for_point_range(point, point)
    while node is not None and node.parent is not None:
        if "comment" in node.type:
            return "comment"
        if "interpolation" in node.type or "substitution" in node.type:
            return ""
        if "string" in node.type and node.start_point < point:
            return "string"
        node = node.parent
    return ""
