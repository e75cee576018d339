"""Read the code and the documentation of a notebook, a JSON file of cells.

Only the sources of the cells are kept. Outputs are checked as JSON and skipped. A line of a cell keeps the number that it has in the file,
because Jupyter writes each line of a source on a line of its own. Columns are those of the code, not of the JSON. If a file has several
lines of code on one line, each takes the next line number, and `is_moved` is true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple

from graphmem.parsing.language import languages
from graphmem.runtime.data.tables import read_table

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder(parse_int=float)  # Python refuses integers of more than 4,300 digits
_REMEDY: Final = "nothing of it is in the index; open it in Jupyter and save it again"


@dataclass(frozen=True, slots=True)
class NotebookTable:
    """Endings, default language and commands of notebooks.

    The content is that of `grammars/notebooks.toml`, whose comments explain each key.
    """

    suffixes: tuple[str, ...]
    default: str
    running_lines: frozenset[str]
    running_cells: frozenset[str]
    kernels: Mapping[str, str]


class Cell(NamedTuple):
    """A cell with code or documentation, and its lines in the file."""

    number: int  # its position among all cells of the notebook, from 1
    is_code: bool
    lines: list[tuple[int, str]]  # number in the file, and text without its end; numbers ascend


class Notebook(NamedTuple):
    """The cells of a notebook that have text, in order."""

    cells: list[Cell]
    language: str  # as the notebook names it; "" if it does not
    is_moved: bool  # several lines of code were on one line of the file, so line numbers differ from the file


EMPTY: Final = Notebook([], "", False)


class NotebookError(ValueError):
    """A notebook that cannot be read; the message says why.

    Attributes:
        line: line of the problem, from 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@cache
def notebook_table() -> NotebookTable:
    """Return the names of `grammars/notebooks.toml`."""
    return read_table("notebooks.toml", NotebookTable)


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return path.lower().endswith(notebook_table().suffixes)


def read_notebook(text: str) -> Notebook:
    """Read the cells of a notebook in version 3 or 4 of its format.

    Raises:
        NotebookError: the text is not JSON, or not a notebook.
    """
    reader = _Reader(text)
    try:
        reader.root()
    except json.JSONDecodeError as error:
        raise NotebookError(f"the notebook is not valid JSON ({error.msg[:1].lower()}{error.msg[1:]}); {_REMEDY}", error.lineno) from error
    except RecursionError as error:
        raise NotebookError(f"the JSON of the notebook is nested too deeply; {_REMEDY}", 1) from error
    if not reader.has_cells:
        raise NotebookError(f"the notebook has no list of cells; {_REMEDY}", 1)
    return Notebook(reader.cells, reader.language(), reader.is_moved)


def kernel_language(notebook: Notebook) -> str:
    """Return the folder in `grammars/` for the code of a notebook.

    The result is "text" if graphmem has no grammar for the language.
    """
    table = notebook_table()
    name = notebook.language.lower()
    for known in (name, name.rstrip("0123456789. "), *(name.split("-")[:1])):
        found = table.kernels.get(known, known)
        if found in languages():
            return found
    return "text" if name else table.default


class _Reader:
    """Walks over the JSON of a notebook and keeps the sources of its cells.

    Each method takes the offset of a value and returns the offset after it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.cells: list[Cell] = []
        self.has_cells = self.is_moved = False
        self.metadata: dict[str, Any] = {}
        self._number = 0
        self._counted, self._line = 0, 1  # the line of an offset up to which line ends are counted
        self._last = 0  # line of the last source line

    def root(self) -> None:
        end = self._skip(self._object(self._skip(0), self._root_member))
        if end != len(self.text):
            raise json.JSONDecodeError("Extra data", self.text, end)

    def language(self) -> str:
        """Return the language that the notebook names, or that its kernel has."""
        info, kernel = (self.metadata.get(key) for key in ("language_info", "kernelspec"))
        named = [entry.get(key) for entry, key in ((info, "name"), (kernel, "language")) if isinstance(entry, dict)]
        if found := next((one for one in named if isinstance(one, str) and one), ""):
            return found
        name = kernel.get("name") if isinstance(kernel, dict) else None  # often that of an environment
        return notebook_table().kernels.get(name.rstrip("0123456789.-"), "") if isinstance(name, str) else ""

    def _root_member(self, key: str, at: int) -> int:
        if key == "cells":
            self.has_cells = True
            return self._array(at, self._cell)
        if key == "worksheets":
            return self._array(at, lambda sheet: self._object(sheet, self._root_member))
        value, end = _DECODER.raw_decode(self.text, at)
        if key == "metadata" and isinstance(value, dict):
            self.metadata.update(value)
        return end

    def _cell(self, at: int) -> int:
        self._number += 1
        kind, level = "", 1.0
        pieces: list[tuple[int, str]] = []

        def member(key: str, at: int) -> int:
            nonlocal kind, level
            if key in ("source", "input"):
                return self._source(at, pieces)
            value, end = _DECODER.raw_decode(self.text, at)
            if key == "cell_type" and isinstance(value, str):
                kind = value
            elif key == "level" and isinstance(value, float):
                level = value
            return end

        end = self._object(at, member)
        if kind == "heading" and pieces:
            pieces[0] = (pieces[0][0], f"{'#' * int(min(max(1.0, level), 6.0))} {pieces[0][1]}")
        if kind in ("code", "markdown", "heading") and (lines := self._placed(pieces)):
            self.cells.append(Cell(self._number, kind == "code", lines))
        return end

    def _source(self, at: int, pieces: list[tuple[int, str]]) -> int:
        def piece(at: int) -> int:
            value, end = _DECODER.raw_decode(self.text, at)
            if isinstance(value, str):
                pieces.append((self._line_of(at), value))
            return end

        return self._array(at, piece) if self.text[at : at + 1] == "[" else piece(at)

    def _placed(self, pieces: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """Return (line number, text) for each line of a cell's source.

        `pieces` has the JSON strings of the source, each with the line at which it begins.
        """
        lines: list[tuple[int, str]] = []
        is_open = False
        for place, piece in pieces:
            first, *others = piece.split("\n")
            if is_open:
                lines[-1] = (lines[-1][0], lines[-1][1] + first)
            else:
                lines.append((place, first))
            lines += ((place, other) for other in others)
            is_open = lines[-1][1] != ""
            if not is_open:
                lines.pop()
        found = []
        for place, line in lines:
            self.is_moved |= place <= self._last
            self._last = max(place, self._last + 1)
            found.append((self._last, line.removesuffix("\r")))
        return found

    def _line_of(self, at: int) -> int:
        self._line += self.text.count("\n", self._counted, at)
        self._counted = at
        return self._line

    # JSON

    def _skip(self, at: int) -> int:
        found = _BLANKS.match(self.text, at)
        return found.end() if found else at

    def _object(self, at: int, member: Callable[[str, int], int]) -> int:
        def entry(at: int) -> int:
            self._expect('"', at)
            key, end = _DECODER.raw_decode(self.text, at)
            return member(key, self._expect(":", self._skip(end)))

        return self._sequence("{", "}", at, entry)

    def _array(self, at: int, item: Callable[[int], int]) -> int:
        return self._sequence("[", "]", at, item)

    def _sequence(self, opening: str, closing: str, at: int, entry: Callable[[int], int]) -> int:
        at = self._expect(opening, at)
        if self.text[at : at + 1] == closing:
            return at + 1
        while True:
            at = self._skip(entry(at))
            if self.text[at : at + 1] == closing:
                return at + 1
            at = self._expect(",", at)

    def _expect(self, sign: str, at: int) -> int:
        """Skip the character `sign` and blanks; return the offset of the value.

        The text is read from the offset `at`.
        """
        if self.text[at : at + 1] != sign:
            raise json.JSONDecodeError(f"Expecting {sign!r}", self.text, at)
        return self._skip(at + 1)


def name_of_cells(cells: Sequence[Cell], first: int, last: int) -> str:
    """Return the label of the cells on a range of lines, as "cells 12-14".

    `first` and `last` are the lines in the file. The result is "" if no cell is on them.
    """
    found = [cell.number for cell in cells if cell.lines[0][0] <= last and cell.lines[-1][0] >= first]
    if not found:
        return ""
    return f"cell {found[0]}" if found[0] == found[-1] else f"cells {found[0]}-{found[-1]}"


def laid_out(lines: list[list[tuple[int, str]]]) -> bytes:
    """Return a document that has each given text at its line number.

    All other lines are empty.
    """
    parts: list[str] = []
    last = 1
    for number, line in chain.from_iterable(lines):
        parts.append("\n" * (number - last))
        parts.append(line)
        last = number
    return ("".join(parts) + "\n" * bool(parts)).encode("utf-8", "replace")
