"""The words of the domain: what the graph holds. No I/O, no third party.

Rows are NamedTuples because a large repository has hundreds of thousands of them: they are cheap
to make, to send between processes and to turn into Arrow columns. Field order is column order in
`queries/schema` and may only be appended to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple


class SymbolKind(StrEnum):
    """What a symbol is, in one vocabulary for all languages."""

    MODULE = "module"  # the code of a file outside any definition; qualname "<module>"
    CLASS = "class"
    INTERFACE = "interface"  # also traits and protocols of languages that name them
    ENUM = "enum"
    TYPE = "type"  # alias, struct without methods of its own, type parameter
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"  # module level name, constant, class attribute, field


class EdgeKind(StrEnum):
    """One relationship table each."""

    DEFINES = "DEFINES"  # file -> module symbol; symbol -> symbol written inside it
    IMPORTS = "IMPORTS"  # file -> file or external
    CALLS = "CALLS"
    REFERENCES = "REFERENCES"  # reads, writes, function passed as a value
    INHERITS = "INHERITS"
    OVERRIDES = "OVERRIDES"
    USES_TYPE = "USES_TYPE"
    TESTS = "TESTS"
    CHUNK_OF = "CHUNK_OF"


class EdgeSource(StrEnum):
    """Who says so."""

    AST = "ast"
    SCIP = "scip"
    RUNTIME = "runtime"
    GIT = "git"
    LLM = "llm"
    AGENT = "agent"


TEST_KINDS: Final = ("test", "fixture")  # kinds of entry points that are left out unless asked for
ENTRY_RULES: Final = ("route", "command", "event", "export")
"""Rules of edges to what the outside calls: what such an edge leads to is an entry point of that kind."""

MODULE_QUALNAME: Final = "<module>"


def stable_id(*parts: str) -> str:
    """20 hex digits that only depend on the parts, in order; parts may hold any text."""
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def file_id(project: str, path: str) -> str:
    """Identity of a file: the project and its path from the root with '/'."""
    return stable_id("file", project, path)


def symbol_id(project: str, path: str, qualname: str, kind: str, ordinal: int) -> str:
    """Identity of a symbol: moving lines keeps it; `ordinal` counts same-named twins in a file from 0."""
    return stable_id("symbol", project, path, qualname, kind, str(ordinal))


def external_id(project: str, package: str, name: str) -> str:
    """Identity of something outside the repository: a package ("" as name) or a symbol of one."""
    return stable_id("external", project, package, name)


def chunk_id(project: str, path: str, anchor: str, ordinal: int) -> str:
    """Identity of a chunk: `anchor` is the qualified name it was cut at, or its heading; `ordinal` from 0."""
    return stable_id("chunk", project, path, anchor, str(ordinal))


class FileRow(NamedTuple):
    """A file of the repository as indexed."""

    id: str
    path: str  # from the root, with '/'
    language: str  # folder in grammars/, or "text"
    module: str  # dotted module name or import path other files use; "" when it has none
    content_hash: str  # blake2b-128 of the bytes, hex
    size_bytes: int
    lines: int
    is_test: bool
    error_count: int  # ERROR and MISSING nodes the parser left
    diagnostic: str  # "" or one sentence: why parts of this file are not in the graph
    call_sites: int  # calls written in it; those without an edge are among the unresolved


class SymbolRow(NamedTuple):
    """A definition, or the module symbol of a file."""

    id: str
    path: str
    kind: str  # SymbolKind
    name: str  # last part; the file's stem for module symbols
    qualname: str  # dotted inside the file, without "<locals>"; "<module>" for the module symbol
    parent_id: str  # enclosing symbol; "" for module symbols
    signature: str  # one line, as a reader would quote it; "" where there is none
    doc: str  # first paragraph of the docstring or comment; ""
    start_line: int  # 1-based, decorators included
    end_line: int  # 1-based, inclusive
    start_byte: int
    end_byte: int  # half-open
    name_line: int  # 1-based line of the name itself
    name_column: int  # 0-based, in characters
    body_hash: str  # of the definition's tokens; equal bodies moved or renamed keep it
    modifiers: str  # space separated, sorted: abstract async classmethod exported generator private property static test ...
    entry_point: str  # "" or its kind: main, route, command, event, task, test, fixture, export
    complexity: int  # 1 + branching points; 0 for what has no body
    is_test: bool


class ExternalRow(NamedTuple):
    """Something used but not defined here."""

    id: str
    package: str  # distribution or top module: "requests"; "builtins"; "node:fs"
    name: str  # dotted inside the package; "" for the package itself


class ChunkRow(NamedTuple):
    """A piece of text that is searched and embedded."""

    id: str
    path: str
    symbol_id: str  # the definition it was cut at; "" for prose and remains
    kind: str  # code | prose | data
    title: str  # qualified name, heading or file name
    start_line: int
    end_line: int
    prefix: str  # context that is embedded with the text: "File: … | function: … | Lines: …"
    text: str
    text_hash: str  # blake2b-128 of prefix without line numbers + text, hex: the key of the vector cache


class PackedChunkRow(NamedTuple):
    """A ChunkRow whose prefix and text are deflated (`graphmem.runtime.compression`), as a first load brings it and the store keeps it."""

    id: str
    path: str
    symbol_id: str
    kind: str
    title: str
    start_line: int
    end_line: int
    packed: bytes
    text_hash: str


class EdgeRow(NamedTuple):
    """A directed edge; at most one for each (kind, src, dst), its sites united."""

    kind: str  # EdgeKind
    src: str
    dst: str
    confidence: float  # (0, 1]
    source: str  # EdgeSource
    rule: str  # key of resolution.rules.RULES
    line: int  # 1-based line in the file of src of the first site that is believed so much; 0 where a line means nothing
    lines: str  # all sites, ascending, comma separated: "12,48,101"; "" when line is 0


class HandlesRow(NamedTuple):
    """A function and a name under which a framework knows it."""

    kind: str  # route | event | command | task
    name: str  # as written: "/users/<id>"; of an event the variable that is it
    framework: str  # "" when that is not told
    symbol_id: str  # what handles it
    confidence: float  # (0, 1]
    rule: str  # key of resolution.rules.RULES
    line: int  # 1-based line where it is said in the file of the symbol; 0 when another file says it


class UnresolvedRow(NamedTuple):
    """A call site whose target could not be told, kept so that an answer can say what it may have missed."""

    id: str
    path: str
    caller_id: str  # symbol the site is written in
    name: str  # the name that was called
    line: int
    reason: str  # no_receiver_type | too_many_candidates | dynamic | …: keys of resolution.rules.REASONS


class Before(NamedTuple):
    """What the store holds of some rows that a delta changes: whoever made the delta from them knows, and the store need not look."""

    files: Mapping[str, FileRow]  # by id
    symbols: Mapping[str, SymbolRow]
    chunks: Mapping[str, ChunkRow]
    edges: Mapping[str, Sequence[EdgeRow]]  # by path: all edges that begin at a symbol of that file


class GraphDelta(NamedTuple):
    """What one index run changes, complete: applying it to the old graph gives the new one.

    `removed_*` hold ids (edges: (kind, src, dst)); `upserted_*` are rows whose id may or may not be
    there already. A changed edge is removed and added. A first load has only upserts.
    A first load may bring its chunks packed; all of them then are.
    `moves` says which removed files and symbols are the same thing under a new id.
    """

    removed_files: Sequence[str]
    removed_symbols: Sequence[str]
    removed_externals: Sequence[str]
    removed_chunks: Sequence[str]
    removed_edges: Sequence[tuple[str, str, str]]
    removed_unresolved: Sequence[str]
    files: Sequence[FileRow]
    symbols: Sequence[SymbolRow]
    externals: Sequence[ExternalRow]
    chunks: Sequence[ChunkRow] | Sequence[PackedChunkRow]
    edges: Sequence[EdgeRow]
    unresolved: Sequence[UnresolvedRow]
    moves: Sequence[tuple[str, str]] = ()  # (old id, new id): the old one is among the removed, the new one among the upserts; each id once
    before: Before = Before({}, {}, {}, {})  # never more than the store holds; may say less

    @classmethod
    def empty(cls) -> GraphDelta:
        """A delta that changes nothing."""
        return cls([], [], [], [], [], [], [], [], [], [], [], [])

    @property
    def is_empty(self) -> bool:
        """True when applying it would change nothing."""
        return not any(rows for rows in self if rows is not self.before)

    def only_moved(self, chunk: ChunkRow | PackedChunkRow) -> bool:
        """Whether a chunk among the upserts is known to say what it said, on other lines."""
        old = self.before.chunks.get(chunk.id)
        if old is None or isinstance(chunk, PackedChunkRow):
            return False
        return old._replace(start_line=chunk.start_line, end_line=chunk.end_line, prefix=chunk.prefix) == chunk


class Diagnostic(NamedTuple):
    """Something a person should know about one file: data, not an exception."""

    path: str
    severity: str  # error | warning | note
    code: str  # syntax | encoding | too_large | binary | generated | minified | unreadable | timeout | crashed | symlink | …
    message: str
    line: int  # 0 when it is about the whole file


class IndexProgress(NamedTuple):
    """One step of a run, for progress bars and subscriptions."""

    stage: str  # discover | parse | resolve | write | project | embed | done | failed
    done: int
    total: int  # 0 when not known yet
    message: str


Json = dict[str, Any]
