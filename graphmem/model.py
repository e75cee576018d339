"""The types of the code graph: nodes, edges and deltas. No I/O.

Only the standard library is used. Rows are NamedTuples, because a large repository has hundreds of thousands of rows. NamedTuples are cheap
to create, to send between processes and to convert to Arrow columns. The fields of a row are in the order of the columns in
`queries/schema`; add new fields only at the end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Literal, NamedTuple


class SymbolKind(StrEnum):
    """Kinds of symbols; the same kinds are used for all languages."""

    MODULE = "module"  # the code of a file outside any definition; qualname "<module>"
    CLASS = "class"
    INTERFACE = "interface"  # also traits and protocols of languages that name them
    ENUM = "enum"
    TYPE = "type"  # alias, struct without methods of its own, type parameter
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"  # module level name, constant, class attribute, field


CLASS_KINDS: Final[frozenset[str]] = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.TYPE})
"""Kinds of definitions that stand for their members."""

FUNCTION_KINDS: Final = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
"""Kinds of symbols with a body that a call runs."""


class EdgeKind(StrEnum):
    """Kinds of edges; each kind has a relationship table in the database."""

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
    """Kinds of evidence for an edge, such as the syntax tree (`ast`)."""

    AST = "ast"
    SCIP = "scip"
    RUNTIME = "runtime"
    GIT = "git"
    LLM = "llm"
    AGENT = "agent"


TEST_KINDS: Final = ("test", "fixture")  # kinds of entry points that are omitted by default
ENTRY_RULES: Final = ("route", "command", "event", "export")
"""Rule of an edge -> kind of entry point of its target."""

LIBRARY_HOOK: Final = "hook"
"""Rule of an edge to a method that a base class of a library calls."""
WRAPPED: Final = "wrapped"
"""Rule of a call from a decorator's wrapper to the function that it wraps."""

MODULE_QUALNAME: Final = "<module>"

SKIPPED: Final = "skipped"
"""Name of metadata of the database: files skipped at the last look at the whole tree, by reason, as JSON."""

GENERATED: Final = "generated"
"""Name of metadata of the database: generated files skipped at the last look at the whole tree, by language, as JSON."""


def stable_id(*parts: str) -> str:
    """Return a hash of some strings in their order, as 20 hex digits."""
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def file_id(project: str, path: str) -> str:
    """The id of a file, from its project's name and its path.

    `path` is relative to the project's root, with '/' as separator.
    """
    return stable_id("file", project, path)


def symbol_id(project: str, path: str, qualname: str, kind: str, ordinal: int) -> str:
    """The id of a symbol, which stays the same when the symbol's line changes.

    `ordinal` counts the definitions with the same name and kind in a file, from 0.
    """
    return stable_id("symbol", project, path, qualname, kind, str(ordinal))


def external_id(project: str, package: str, name: str) -> str:
    """The id of an external symbol, or of a whole package if `name` is "".

    An external is a symbol that the project uses but does not define.
    """
    return stable_id("external", project, package, name)


def chunk_id(project: str, path: str, anchor: str, ordinal: int) -> str:
    """The id of a chunk (a piece of a file's text).

    `anchor` is the qualified name of the definition in the chunk, or a heading; `ordinal` counts chunks with the same anchor, from 0.
    """
    return stable_id("chunk", project, path, anchor, str(ordinal))


class FileRow(NamedTuple):
    """An indexed file of the repository."""

    id: str
    path: str  # from the root, with '/'
    language: str  # directory in grammars/, or "text"
    module: str  # dotted module name or import path for other files; "" when it has none
    content_hash: str  # blake2b-128 of the bytes, hex
    size_bytes: int
    lines: int
    is_test: bool
    error_count: int  # number of ERROR and MISSING nodes of the parser
    diagnostic: str  # "" or one sentence: why parts of this file are not in the graph
    call_sites: int  # number of calls in it; those without an edge are unresolved calls


class SymbolRow(NamedTuple):
    """A definition, or the symbol for a file's code outside definitions."""

    id: str
    path: str
    kind: str  # SymbolKind
    name: str  # last part; the file's stem for module symbols
    qualname: str  # dotted inside the file, without "<locals>"; "<module>" for the module symbol
    parent_id: str  # enclosing symbol; "" for module symbols
    signature: str  # one line of source; "" when there is none
    doc: str  # first paragraph of the docstring or comment; ""
    start_line: int  # 1-based, decorators included
    end_line: int  # 1-based, inclusive
    start_byte: int
    end_byte: int  # half-open
    name_line: int  # 1-based line of the name itself
    name_column: int  # 0-based, in characters
    body_hash: str  # hash of the definition's tokens; moving or renaming keeps it
    modifiers: str  # space separated, sorted: abstract async classmethod exported generator private property static test ...
    entry_point: str  # "" or its kind: main, route, command, event, task, test, fixture, export
    complexity: int  # 1 + number of branches; 0 without a body
    is_test: bool


class ExternalRow(NamedTuple):
    """A package or symbol that the project uses but does not define."""

    id: str
    package: str  # distribution or top module: "requests"; "builtins"; "node:fs"
    name: str  # dotted inside the package; "" for the package itself


class ChunkRow(NamedTuple):
    """A piece of text for search and embedding."""

    id: str
    path: str
    symbol_id: str  # its definition; "" for prose and text outside definitions
    kind: str  # code | prose | data
    title: str  # qualified name, heading or file name
    start_line: int
    end_line: int
    prefix: str  # context that is embedded with the text: "File: … | function: … | Lines: …"
    text: str
    text_hash: str  # blake2b-128 of prefix without line numbers + text, hex: the key of the vector cache


class PackedChunkRow(NamedTuple):
    """A ChunkRow with compressed prefix and text.

    The first index run and the store use this form; see `graphmem.runtime.texts.compression`.
    """

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
    """A directed edge, unique by (kind, src, dst), with all its lines."""

    kind: str  # EdgeKind
    src: str
    dst: str
    confidence: float  # (0, 1]
    source: str  # EdgeSource
    rule: str  # key of resolution.rules.RULES
    line: int  # 1-based line, in the file of src, of the first site with this confidence; 0 without a line
    lines: str  # all sites, ascending, comma separated: "12,48,101"; "" when line is 0


class HandlesRow(NamedTuple):
    """A function that a framework calls for a key.

    The key is, for example, the path of a route or the name of an event or command.
    """

    kind: str  # route | event | command | task
    name: str  # as written: "/users/<id>"; for an event the variable that holds it
    framework: str  # "" when unknown
    symbol_id: str  # its handler
    confidence: float  # (0, 1]
    rule: str  # key of resolution.rules.RULES
    line: int  # 1-based line of the registration; 0 when it is in another file than the symbol


class UnresolvedRow(NamedTuple):
    """A place in the code with a call whose target was not found.

    Because of such rows, an answer can report that it may lack some calls.
    """

    id: str
    path: str
    caller_id: str  # symbol that contains the site
    name: str  # the name that was called
    line: int
    reason: str  # no_receiver_type | too_many_candidates | dynamic | …: keys of resolution.rules.REASONS


class OccurrencesRow(NamedTuple):
    """Every position in a file where the name of a symbol is written.

    All positions in a file are packed into one bytes object.
    """

    id: str  # of the file
    path: str
    places: bytes  # see `graphmem.runtime.texts.places`


WRITTEN_KINDS: Final = ("CALLS", "REFERENCES", "INHERITS", "USES_TYPE", "IMPORTS", "OVERRIDES", "TESTS", "DEFINES")
"""Kinds of occurrences. The order is part of the stored form; append only."""


class Before(NamedTuple):
    """Rows that a change removes or replaces, as stored before the change.

    The code that makes the change has already read these rows. So the store need not read them again.
    """

    files: Mapping[str, FileRow]  # by id
    symbols: Mapping[str, SymbolRow]
    chunks: Mapping[str, ChunkRow]
    edges: Mapping[str, Sequence[EdgeRow]]  # by path: all edges from symbols of that file


class GraphDelta(NamedTuple):
    """All changes of one index run, from the old graph to the new one.

    `removed_*` hold ids of removed rows; for edges, (kind, src, dst). The other sequences hold new rows, and rows that replace stored rows
    with the same id. A changed edge is in both `removed_edges` and `edges`. The first index run removes nothing, and either all chunks are
    packed or none. `moves` lists (old id, new id) of files and symbols that were moved or renamed.
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
    moves: Sequence[tuple[str, str]] = ()  # (old id, new id): the old id is removed, the new one upserted; each occurs once
    before: Before = Before({}, {}, {}, {})  # a subset of the stored rows
    removed_occurrences: Sequence[str] = ()
    occurrences: Sequence[OccurrencesRow] = ()

    @classmethod
    def empty(cls) -> GraphDelta:
        """Return a change of the code graph that changes nothing."""
        return cls([], [], [], [], [], [], [], [], [], [], [], [])

    @property
    def is_empty(self) -> bool:
        """Whether this change of the code graph would change nothing."""
        return not any(rows for rows in self if rows is not self.before)

    def only_moved(self, chunk: ChunkRow | PackedChunkRow) -> bool:
        """Whether a chunk equals the stored chunk except for line numbers.

        The stored chunk is the one with the same id in `before`. The result is False without such a stored chunk, or if `chunk` is packed.
        """
        old = self.before.chunks.get(chunk.id)
        if old is None or isinstance(chunk, PackedChunkRow):
            return False
        return old._replace(start_line=chunk.start_line, end_line=chunk.end_line, prefix=chunk.prefix) == chunk


Severity = Literal["error", "warning", "note"]


class Diagnostic(NamedTuple):
    """A problem found in one file. Diagnostics are listed, not raised."""

    path: str
    severity: Severity
    code: str  # syntax | encoding | too_large | binary | generated | minified | unreadable | timeout | crashed | symlink | …
    message: str
    line: int  # 0 for the whole file


class IndexProgress(NamedTuple):
    """Progress of an index run: its stage, and the part of it that is done."""

    stage: str  # discover | parse | resolve | write | project | embed | done | failed
    done: int
    total: int  # 0 while unknown
    message: str


ENDED_STAGES: Final = frozenset({"done", "failed"})
"""Last stages of an index run."""

Json = dict[str, object]
