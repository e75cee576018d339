"""Cut a file into chunks: pieces of text that are searched and embedded.

Code is cut where definitions begin and end. A definition is divided only if it exceeds the input of an embedding model; the cuts are then
between statements, and each part repeats the signature. Small neighbouring definitions share a chunk. Chunks contain every line of a code
file except blank ones.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, NamedTuple

from tree_sitter import Tree

from graphmem.model import MODULE_QUALNAME, ChunkRow, SymbolKind, chunk_id, symbol_id
from graphmem.parsing.facts import Definition, FileFacts
from graphmem.parsing.notebook import Cell, name_of_cells
from graphmem.parsing.prose import Passage, data_passages, is_data, is_drawing, is_prose, plain_passages, prose_passages
from graphmem.parsing.sources import Source
from graphmem.parsing.statements import statement_pieces

BYTES_PER_TOKEN: Final = 4
"""Measured on code with the default model's tokenizer: 3.97 characters a token."""

_DRAWING_BYTES: Final = 400  # a drawing is indexed by its name and first words only, because most of the rest are coordinates
_DOC_LENGTH: Final = 120  # characters of a docstring repeated in each part of a divided definition
_LINES_IN_PREFIX: Final = re.compile(r" \| Lines: \d+-\d+")
_COMMENT_LINE: Final = re.compile(rb"[ \t]*(?:#|//|/\*|\*|--|%|;)")


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """Sizes of chunks. Tokens are estimated as bytes / 4.

    Attributes:
        max_tokens: limit of a chunk's prefix (path, definition, lines) and text together, as input of the embedding model; at least 64.
        small_tokens: definitions with fewer tokens share a chunk with their neighbours.
        max_lines: limit of lines of a chunk in a file without definitions.
        max_data_tokens: limit of all chunks of a data file together; the rest of the file is not searchable.
    """

    max_tokens: int = 256
    small_tokens: int = 96
    max_lines: int = 100
    max_data_tokens: int = 2048


class _Unit(NamedTuple):
    """A span of source: one definition with its comments, or other text.

    The comments are those directly above the definition. `definition` is the index of the definition in `FileFacts.definitions`, or -1 for
    other text. Other text is, for example, the statements between two definitions.
    """

    start: int
    end: int
    definition: int


def chunk(facts: FileFacts, source: Source, project: str, options: ChunkOptions | None = None, tree: Tree | None = None) -> list[ChunkRow]:
    """Return the chunks of one file, in the order of the text.

    Args:
        facts: the results of parsing the file; a file without definitions is cut as text.
        source: content of the file; the spans in `facts` are byte offsets in its text.
        project: name of the project, which is part of the ids.
        options: sizes of the chunks; None for the defaults.
        tree: the syntax tree of `source`; without it, large definitions are cut at lines only.
    """
    options = options or ChunkOptions()
    writer = _Writer(facts, source.text, project, source.cells)
    if len(facts.definitions) > 1 or (source.cells and facts.definitions):
        _CodeCutter(facts, source.text, options, tree, writer).cut()
    else:
        _cut_text(facts, source.text, options, writer)
    if source.documentation:
        beside = _Writer(facts, source.documentation, project, source.cells, writer.ordinals)
        _cut_documentation(beside, options)
        return sorted([*writer.rows, *beside.rows], key=lambda row: row.start_line)
    return writer.rows


def hash_of_text(prefix: str, text: str) -> str:
    """Return the blake2b-128 hash of a chunk's prefix and text.

    The prefix is the line `File: … | … | Lines: …` above the text. The line numbers in the prefix are not hashed, so the hash of code that
    only moved does not change.
    """
    return blake2b((_LINES_IN_PREFIX.sub("", prefix, count=1) + "\n" + text).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class _About(NamedTuple):
    """The properties of a chunk except its position and its source text."""

    kind: str  # "code", "prose" or "data"
    label: str  # in the prefix, such as "method: A.f"
    title: str  # name in search results
    anchor: str  # string from which the id is made, such as a qualified name
    symbol: str = ""  # id of the definition; "" for none
    opening: str = ""  # text before the source, such as a signature
    doc: str = ""  # documentation in the prefix


class _Writer:
    """Collects the chunks of a file in `rows`, each with a unique id.

    The id of a chunk is made from a string, its anchor, such as the qualified name of a definition. Chunks with equal anchors are numbered,
    so their ids differ.
    """

    def __init__(
        self, facts: FileFacts, source: bytes, project: str, cells: Sequence[Cell] = (), ordinals: Counter[str] | None = None
    ) -> None:
        self.facts = facts
        self.source = source
        self.project = project
        self.rows: list[ChunkRow] = []
        self.ordinals: Counter[str] = Counter() if ordinals is None else ordinals
        self.cells = cells
        self.line_ends = [match.start() for match in re.finditer(rb"\n", source)]

    def line(self, position: int) -> int:
        return bisect_right(self.line_ends, position - 1) + 1

    def cells_of(self, start: int, end: int) -> str:
        """Return the cells of a notebook from byte `start` to byte `end`.

        The result is "cell 12", or "cells 12-14". It is "" for other files.
        """
        if not self.cells:
            return ""
        body = self.source[start:end]
        first = self.line(start + len(body) - len(body.lstrip()))
        last = self.line(start + max(len(body.rstrip()), 1) - 1)
        return name_of_cells(self.cells, first, last)

    def write(self, start: int, end: int, about: _About) -> None:
        """Add a chunk with the source from byte `start` to byte `end`.

        Blank lines at both ends of the span are removed. A span without other lines adds no chunk. The prefix of a chunk is a line above
        the text, such as `File: a.py | method: A.f | Lines: 3-9`.

        Args:
            start: first byte of the span.
            end: the byte after the span.
            about: description of the chunk.
        """
        body = self.source[start:end]
        end = start + len(body.rstrip())
        if end == start:
            return
        start += body.rfind(b"\n", 0, len(body) - len(body.lstrip())) + 1  # the first line keeps its indentation
        text = self.source[start:end].decode("utf-8", "replace")
        first, last = self.line(start), self.line(end - 1)
        prefix = f"File: {self.facts.path} | {about.label} | Lines: {first}-{last}" + (f" | {about.doc}" if about.doc else "")
        text = about.opening + text
        ordinal = self.ordinals[about.anchor]
        self.ordinals[about.anchor] += 1
        self.rows.append(
            ChunkRow(
                chunk_id(self.project, self.facts.path, about.anchor, ordinal),
                self.facts.path,
                about.symbol,
                about.kind,
                about.title,
                first,
                last,
                prefix,
                text,
                hash_of_text(prefix, text),
            )
        )


class _CodeCutter:
    """Cuts a file of code into chunks where its definitions begin and end."""

    def __init__(self, facts: FileFacts, source: bytes, options: ChunkOptions, tree: Tree | None, writer: _Writer) -> None:
        self.facts = facts
        self.source = source
        self.writer = writer
        self.tree = tree
        self.small = options.small_tokens * BYTES_PER_TOKEN
        # The prefix takes its share of the tokens.
        self.limit = max(options.max_tokens - (len(facts.path) + 60) // BYTES_PER_TOKEN, options.max_tokens // 2) * BYTES_PER_TOKEN
        self.inside = self._nesting()

    def cut(self) -> None:
        self._container(0, 0, len(self.source))

    def _nesting(self) -> list[list[int]]:
        """Return, for each definition, the indices of the definitions inside it.

        Only definitions directly inside are listed. What counts is the position in the source text. So a method of a JavaScript prototype
        is not inside its class, because it is written outside the class. A variable with fewer than `self.small` bytes is left out, because
        no chunk begins at a small variable.
        """
        definitions = self.facts.definitions
        inside: list[list[int]] = [[] for _ in definitions]
        order = sorted(range(1, len(definitions)), key=lambda i: (definitions[i].start_byte, -definitions[i].end_byte, i))
        stack: list[int] = []
        for i in order:
            one = definitions[i]
            if one.kind == SymbolKind.VARIABLE and one.end_byte - one.start_byte < self.small:
                continue
            while stack and definitions[stack[-1]].end_byte <= one.start_byte:
                stack.pop()
            inside[stack[-1] if stack else 0].append(i)
            stack.append(i)
        return inside

    def _units(self, container: int, start: int, end: int) -> list[_Unit]:
        units: list[_Unit] = []
        position = start
        for i in self.inside[container]:
            one = self.facts.definitions[i]
            if one.end_byte <= position:
                continue
            begin = max(position, self._with_comments(position, one.start_byte))
            if self.source[position:begin].strip():
                units.append(_Unit(position, begin, -1))
            line_end = self.source.find(b"\n", one.end_byte, end)
            position = end if line_end < 0 else line_end + 1
            if self.source[one.end_byte : position].strip(b" \t\r\n;,)"):  # more code follows on that line
                position = one.end_byte
            units.append(_Unit(begin, position, i))
        if self.source[position:end].strip():
            units.append(_Unit(position, end, -1))
        return units

    def _with_comments(self, floor: int, start: int) -> int:
        """Return the offset where the comments above a definition begin.

        The definition begins at the offset `start`. Only comment lines directly above the definition are included. If there are none, the
        result is the beginning of the line, so that the indentation is included. Comments before the offset `floor` are ignored.
        """
        line = self.source.rfind(b"\n", 0, start) + 1
        if line < floor or self.source[line:start].strip():
            return start
        while line > floor:
            above = self.source.rfind(b"\n", 0, line - 1) + 1
            if above < floor or not _COMMENT_LINE.match(self.source, above, line):
                break
            line = above
        return line

    def _container(self, container: int, start: int, end: int) -> None:
        group: list[_Unit] = []
        for unit in self._units(container, start, end):
            size = unit.end - unit.start
            alone = unit.definition >= 0 and size >= self.small
            if group and (alone or unit.end - group[0].start > self.limit):
                self._group(container, group)
                group = []
            if not alone and size <= self.limit:
                group.append(unit)
            elif unit.definition < 0:
                self._divided(container, unit.start, unit.end)
            elif size <= self.limit:
                self._write(unit.definition, unit.start, unit.end)
            elif self.inside[unit.definition]:
                self._container(unit.definition, unit.start, unit.end)
            else:
                self._divided(unit.definition, unit.start, unit.end)
        if group:
            self._group(container, group)

    def _group(self, container: int, group: list[_Unit]) -> None:
        """Write one chunk for several small neighbouring definitions.

        In a module, the title of the chunk lists the names of all definitions in the group. In a class, the title is the name of the class.
        If the group in a class has only one definition and begins with this definition, the title is the name of this definition instead.

        Args:
            container: index of the definition that contains the group: the module (0) or a class.
            group: spans of the definitions, and of text between them.
        """
        named = [unit.definition for unit in group if unit.definition >= 0]
        start, end = group[0].start, group[-1].end
        if named and container == 0:
            title = ", ".join(dict.fromkeys(self.facts.definitions[i].qualname for i in named))
            self._write(named[0], start, end, title)
        else:
            self._write(named[0] if len(named) == 1 and group[0].definition >= 0 else container, start, end)

    def _divided(self, index: int, start: int, end: int) -> None:
        limit = self.limit - min(len(self.facts.definitions[index].signature), self.limit // 4)
        for a, b in statement_pieces(self.tree, self.source, start, end, limit):
            self._write(index, a, b)

    def _write(self, index: int, start: int, end: int, title: str = "") -> None:
        one = self.facts.definitions[index]
        if index == 0:
            name = self.facts.path.rpartition("/")[2]
            cells = self.writer.cells_of(start, end)
            about = _About("code", cells or "module", f"{name} {cells}".rstrip(), MODULE_QUALNAME)
            self.writer.write(start, end, about)
            return
        # A chunk that begins before the name of the definition contains the signature.
        is_whole = self.writer.line(start) <= one.name_line
        opening = "" if is_whole or not one.signature else f"{one.signature}\n…\n"
        about = _About(
            "code",
            f"{one.kind}: {title or one.qualname}",
            title or one.qualname,
            one.qualname,
            _symbol_id(self.writer.project, self.facts.path, one),
            opening,
            "" if is_whole else one.doc[:_DOC_LENGTH],
        )
        self.writer.write(start, end, about)


def _symbol_id(project: str, path: str, one: Definition) -> str:
    return symbol_id(project, path, one.qualname, one.kind, one.ordinal)


def _cut_documentation(writer: _Writer, options: ChunkOptions) -> None:
    """Write the chunks of a notebook's documentation."""
    name, heading = writer.facts.path.rpartition("/")[2], ""
    limit = _passage_limit(writer.facts, options)
    for start, end, found in prose_passages(writer.source, limit, options.max_lines, options.small_tokens * BYTES_PER_TOKEN):
        heading = found or heading
        writer.write(start, end, _About("prose", f"section: {heading}" if heading else "prose", heading or name, heading or name))


def _passage_limit(facts: FileFacts, options: ChunkOptions) -> int:
    return max(options.max_tokens - (len(facts.path) + 40) // BYTES_PER_TOKEN, options.max_tokens // 2) * BYTES_PER_TOKEN


def _cut_text(facts: FileFacts, source: bytes, options: ChunkOptions, writer: _Writer) -> None:
    name = facts.path.rpartition("/")[2]
    limit = _passage_limit(facts, options)
    passages: list[Passage]
    if is_data(name):
        kind = "data"
        bound = _DRAWING_BYTES if is_drawing(name) else options.max_data_tokens * BYTES_PER_TOKEN
        passages = data_passages(source, limit, options.max_lines, bound)
    elif is_prose(name):
        kind = "prose"
        passages = prose_passages(source, limit, options.max_lines, options.small_tokens * BYTES_PER_TOKEN)
    else:
        kind = "code"
        passages = plain_passages(source, 0, len(source), limit, options.max_lines)
    for start, end, heading in passages:
        label = f"section: {heading}" if heading else kind
        writer.write(start, end, _About(kind, label, heading or name, heading or name))
