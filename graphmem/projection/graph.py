"""The code graph in memory, immutable, for fast reads.

Reads take microseconds. The graph is built from the database, and each committed change gives a new graph, which is saved next to the
database. Nodes are numbers 0..n-1 in the order of their ids; edges are row numbers. Analysis reads the arrays directly; answers to users
are made with `info`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.answers import FileInfo, SymbolInfo
from graphmem.answers.vocabulary import EdgeKind, EdgeSource
from graphmem.model import GraphDelta
from graphmem.projection.arrays import (
    EDGE_KINDS,
    EDGE_SOURCES,
    F32,
    FILE,
    I32,
    NODE_KINDS,
    SYMBOL,
    U8,
    Bool,
    GraphArrays,
    pointers,
)
from graphmem.projection.build import build_arrays
from graphmem.projection.entry_points import entry_points
from graphmem.projection.file_names import FileNames
from graphmem.projection.graph_file import load_graph, save_graph
from graphmem.projection.lookups import NodeNumbers, StringLookup
from graphmem.projection.patch import Patched, patch_arrays
from graphmem.runtime.arrow import computed
from graphmem.store.base import GraphTables

_LOOKUPS: Final = ("index_of", "path_number", "_of_path", "_names", "_qualnames", "_unresolved_names")
_KEPT: Final = ("ids", "_symbols_in", "kept")  # filled by questions; released with the look-ups
_TEST_FOLDERS: Final = frozenset("test tests __tests__ spec testdata test-data fixtures __snapshots__ snapshots".split())  # noqa: SIM905
_MOST_FILES: Final = 1_000  # files whose symbols are kept as lists
_BULK: Final = 24  # from this number of nodes on, gathering Arrow columns is faster than one scalar at a time


class Unresolved(NamedTuple):
    """A call whose target is unknown: caller, name, path, line and reason."""

    caller: int  # node; -1 when the graph lacks it
    name: str
    path: str
    line: int
    reason: str


class FileSymbols(NamedTuple):
    """The symbols of a file as plain lists, which are fast to scan.

    Each list has one entry for each symbol. The order is by start line; a symbol comes before those inside it.
    """

    nodes: list[int]
    starts: list[int]
    ends: list[int]
    kinds: list[int]
    parents: list[int]  # the enclosing node of each; -1 without one


class GraphView:
    """An in-memory view of one generation of the code graph. Thread-safe.

    Attributes (n nodes, m edges; arrays must not be written to):
        generation: generation of the store to which this view belongs.
        label: uint8 (n,), FILE, SYMBOL or EXTERNAL of graphmem.projection.arrays.
        kind: uint8 (n,), position in NODE_KINDS.
        path_index: int32 (n,), position in `paths`; -1 for externals.
        parent: int32 (n,), node of the enclosing symbol, or -1.
        start_line, end_line: int32 (n,), 1-based, inclusive.
        is_test: bool (n,).
        src, dst: int32 (m,), ends of each edge row; rows are sorted by (src, kind, dst).
        edge_kind, edge_source, edge_rule: uint8 (m,), positions in EDGE_KINDS, EDGE_SOURCES, `rules`.
        confidence: float32 (m,).
        line: int32 (m,), line of the first site in the file of src; 0 for edges without a line.
        out_ptr: int32 (n + 1,): edge rows of node i going out are out_ptr[i]..out_ptr[i + 1] - 1.
        in_ptr, in_edge, in_src: the same for incoming edges: in_edge[in_ptr[i]:in_ptr[i + 1]] are the edge rows coming in, sorted by (kind,
            src), and in_src the nodes they come from.
        rules: names of the rules in use.
    """

    def __init__(self, arrays: GraphArrays, before: GraphView | None = None) -> None:
        nodes, edges = arrays.nodes, arrays.edges
        self.arrays = arrays
        self.generation = arrays.generation
        self.n = len(nodes.label)
        self.m = len(edges.src)
        self.label: U8 = nodes.label
        self.kind: U8 = nodes.kind
        self.path_index: I32 = nodes.path
        self.parent: I32 = nodes.parent
        self.start_line: I32 = nodes.start_line
        self.end_line: I32 = nodes.end_line
        self.complexity: I32 = nodes.complexity
        self.is_test: Bool = nodes.is_test
        self.src: I32 = edges.src
        self.dst: I32 = edges.dst
        self.edge_kind: U8 = edges.kind
        self.edge_source: U8 = edges.source
        self.edge_rule: U8 = edges.rule
        self.confidence: F32 = edges.confidence
        self.line: I32 = edges.line
        self.in_edge: I32 = edges.by_dst
        self.out_ptr: I32
        self.in_ptr: I32
        self.in_src: I32
        if before is not None and before.n == self.n and edges.src is before.src and edges.dst is before.dst:
            self.out_ptr, self.in_ptr, self.in_src = before.out_ptr, before.in_ptr, before.in_src
        else:
            self.out_ptr, self.in_ptr = pointers(edges.src, self.n), pointers(edges.dst, self.n)
            self.in_src = edges.src[edges.by_dst]
        self.rules = arrays.rules

    # ---- making, changing, keeping

    @classmethod
    def from_tables(cls, tables: GraphTables) -> GraphView:
        """Build the view from a snapshot of the store."""
        return cls(build_arrays(tables))

    def patched(self, delta: GraphDelta, generation: int) -> GraphView:
        """Return the code graph after a change, as a new object.

        `delta` is the change. The result equals a graph built from the database after this change, which has the number `generation`.
        """
        patch = patch_arrays(self.arrays, self.ids, delta, generation)
        view = GraphView(patch.arrays, self)
        view._take_over(self, patch)
        return view

    def _take_over(self, before: GraphView, patch: Patched) -> None:
        """Reuse the look-up tables that the graph `before` has already built.

        An example is the table of nodes by name. If a column changed, its table is updated. `patch` is the change that led from `before` to
        this graph.
        """
        mine, made = vars(self), vars(before)
        nodes, merge = self.arrays.nodes, patch.nodes
        mine["ids"] = patch.ids
        if patch.ids is before.ids and "index_of" in made:
            mine["index_of"] = made["index_of"]
        if self.arrays.paths.path is before.arrays.paths.path:
            mine.update((name, made[name]) for name in ("paths", "path_number", "file_names") if name in made)
            if nodes.path is before.arrays.nodes.path and nodes.label is before.arrays.nodes.label and "_of_path" in made:
                mine["_of_path"] = made["_of_path"]
        for name, column, how in (
            ("_names", nodes.name, merge),
            ("_qualnames", nodes.qualname, merge),
            ("_unresolved_names", self.arrays.unresolved.name, patch.unresolved),
        ):
            if name in made:
                mine[name] = made[name].patched(how, column)

    def save(self, path: Path) -> None:
        """Write the code graph to a file, atomically.

        Raises:
            OSError: the write failed.
        """
        save_graph(self.arrays, path)

    @classmethod
    def load(cls, path: Path, generation: int, notes: list[str] | None = None) -> GraphView | None:
        """Load the saved code graph; None if it must be built again.

        It must be built again if the file is missing, damaged, or older than the database.

        Args:
            path: path of the file.
            generation: number of the database's last change.
            notes: receives a sentence if the file is damaged.
        """
        arrays = load_graph(path, generation, notes)
        return None if arrays is None else cls(arrays)

    # ---- nodes

    @cached_property
    def ids(self) -> list[str]:
        """Ids of all nodes, ascending; the position is the node's number."""
        ids: list[str] = self.arrays.nodes.id.to_pylist()
        return ids

    @cached_property
    def index_of(self) -> Mapping[str, int]:
        """Node number of each id."""
        return NodeNumbers(self.ids)

    @cached_property
    def paths(self) -> list[str]:
        """Paths of all files, ascending; `path_index` has positions in this list."""
        paths: list[str] = self.arrays.paths.path.to_pylist()
        return paths

    @cached_property
    def path_number(self) -> dict[str, int]:
        """Position of each path in `paths`."""
        return {path: i for i, path in enumerate(self.paths)}

    def path(self, i: int) -> str:
        """Return the path of a node's file; "" for a package or its symbols."""
        p = int(self.path_index[i])
        return self.paths[p] if p >= 0 else ""

    def name(self, i: int) -> str:
        """Return the last part of a node's name; for a file, its base name."""
        return str(self.arrays.nodes.name[i].as_py())

    def qualname(self, i: int) -> str:
        """Return a node's dotted name inside its file; "" for a file.

        For a symbol of a used package, the name includes the package.
        """
        return str(self.arrays.nodes.qualname[i].as_py())

    def signature(self, i: int) -> str:
        """Return the signature of a symbol on one line, or ""."""
        return str(self.arrays.nodes.signature[i].as_py())

    def doc(self, i: int) -> str:
        """Return the first paragraph of a symbol's documentation, or ""."""
        return str(self.arrays.nodes.doc[i].as_py())

    def modifiers(self, i: int) -> list[str]:
        """Return the modifiers of a symbol, sorted."""
        return str(self.arrays.nodes.modifiers[i].as_py()).split()

    @cached_property
    def main_language(self) -> str:
        """The language in which at least half of all lines are written, or ""."""
        lines: dict[str, int] = {}
        for language, count in zip(self.arrays.paths.language.to_pylist(), self.arrays.paths.lines.tolist(), strict=True):
            if language:
                lines[language] = lines.get(language, 0) + max(0, count)
        best = max(lines, key=lambda language: (lines[language], language), default="")
        return best if best and 2 * lines[best] >= sum(lines.values()) else ""

    @cached_property
    def entry_points(self) -> Any:
        """Kind of entry point of each node, such as "test"; "" for other nodes."""
        return entry_points(self.arrays)

    def entry_point(self, i: int) -> str:
        """Return the kind of entry point, such as "test" or "route", of a node.

        The result is "" if the node is not an entry point.
        """
        return str(self.entry_points[i].as_py())

    def body_hash(self, i: int) -> str:
        """Return the hash of a symbol's code, which ignores its layout, or ""."""
        return str(self.arrays.nodes.body_hash[i].as_py())

    @cached_property
    def is_entry_point(self) -> Bool:
        """Mask of the nodes that are entry points, shape (n,)."""
        return np.asarray(computed("not_equal", self.entry_points, "")).astype(np.bool_)

    @cached_property
    def is_test_case(self) -> Bool:
        """Mask of the nodes that a test runner calls as tests, shape (n,)."""
        return np.asarray(computed("equal", self.entry_points, "test")).astype(np.bool_)

    @cached_property
    def is_runnable(self) -> Bool:
        """Mask of test cases and of the modules of test files, shape (n,).

        These are the nodes that a test runner can run.
        """
        return np.asarray(self.is_test_case | (self.is_test & (self.kind == NODE_KINDS.index("module"))), dtype=np.bool_)

    def info(self, i: int) -> SymbolInfo:
        """Return a node as the object that answers contain."""
        return self.infos((int(i),))[0]

    def infos(self, indices: Sequence[int] | npt.NDArray[Any]) -> list[SymbolInfo]:
        """Return many nodes as the objects that answers contain.

        The order is that of `indices`. The cost is about 4 microseconds per node.
        """
        wanted = np.asarray(indices, dtype=np.int64)
        nodes = self.arrays.nodes
        columns = (nodes.id, nodes.name, nodes.qualname, nodes.signature, self.entry_points)
        if len(wanted) < _BULK:
            rows = wanted.tolist()
            texts = [[column[i].as_py() for i in rows] for column in columns]
        else:
            take = pa.array(wanted.tolist(), pa.int64())  # from a list, because Arrow loads numpy's masked arrays for an array
            texts = [computed("take", column, take).to_pylist() for column in columns]
        paths = self.paths
        return [
            SymbolInfo(key, NODE_KINDS[kind], name, qualname, paths[p] if p >= 0 else "", start, end, signature, test, entry)
            for key, kind, name, qualname, p, start, end, signature, test, entry in zip(
                texts[0],
                self.kind[wanted].tolist(),
                texts[1],
                texts[2],
                self.path_index[wanted].tolist(),
                self.start_line[wanted].tolist(),
                self.end_line[wanted].tolist(),
                texts[3],
                self.is_test[wanted].tolist(),
                texts[4],
                strict=True,
            )
        ]

    @cached_property
    def _of_path(self) -> tuple[I32, I32]:
        """Return two arrays with the symbols in each file.

        The first has pointers into the second. The symbols of file i are symbols[pointers[i]:pointers[i + 1]]. They do not depend on line
        numbers.
        """
        symbols = np.flatnonzero(self.label == SYMBOL).astype(np.int32)
        path = self.path_index[symbols]
        return pointers(path, len(self.paths)), symbols[np.argsort(path, kind="stable")]

    def in_tests(self, path: str) -> bool:
        """Whether a path is a file of tests: test code, or data for tests."""
        number = self.path_number.get(path)
        ptr, symbols = self._of_path
        own = symbols[:0] if number is None else symbols[ptr[number] : ptr[number + 1]]
        return bool(self.is_test[own[:1]].any()) if len(own) else not _TEST_FOLDERS.isdisjoint(path.split("/")[:-1])

    def by_path(self, path: str) -> I32:
        """Return the symbols of a file by start line, enclosing symbols first.

        The result is empty for an unknown path.
        """
        number = self.path_number.get(path)
        ptr, symbols = self._of_path
        if number is None:
            return symbols[:0]
        here = symbols[ptr[number] : ptr[number + 1]]
        return here[np.lexsort((here, -self.end_line[here], self.start_line[here]))]

    def symbols_in(self, path: str) -> FileSymbols:
        """Return a file's symbols as plain lists, in the order of `by_path`.

        The lists have nodes, lines, kinds and parents. The result is cached, so the caller must not change it.
        """
        kept = self._symbols_in.get(path)
        if kept is None:
            if len(self._symbols_in) >= _MOST_FILES:
                self._symbols_in.clear()
            nodes = self.by_path(path)
            columns = (nodes, self.start_line[nodes], self.end_line[nodes], self.kind[nodes], self.parent[nodes])
            kept = self._symbols_in[path] = FileSymbols(*(column.tolist() for column in columns))
        return kept

    @cached_property
    def kept(self) -> dict[str, Any]:
        """Cache for results that other modules compute from this view, by name.

        The view of the next generation begins with an empty cache.
        """
        return {}

    @cached_property
    def _symbols_in(self) -> dict[str, FileSymbols]:
        return {}

    @cached_property
    def _names(self) -> StringLookup:
        return StringLookup(self.arrays.nodes.name)

    @cached_property
    def _qualnames(self) -> StringLookup:
        return StringLookup(self.arrays.nodes.qualname)

    @cached_property
    def _modules(self) -> StringLookup:
        return StringLookup(self.arrays.paths.module)

    @cached_property
    def _unresolved_names(self) -> StringLookup:
        return StringLookup(self.arrays.unresolved.name)

    def by_name(self, name: str) -> I32:
        """Return the nodes whose name ends with the part `name`, ascending.

        For example, `get` finds `Session.get`. Symbols of the project and of packages are found, and files by their base names.
        """
        return self._names[name]

    def by_qualname(self, qualname: str) -> I32:
        """Return the symbols with a dotted name, in all files, ascending.

        For a symbol of a used package, the name includes the package: `requests.Session.get`. The result is empty for "".
        """
        return self._qualnames[qualname] if qualname else np.zeros(0, np.int32)

    def twin(self, i: int) -> int:
        """Return a symbol's position among symbols of the same name in its file.

        The first such symbol in the file has position 1. For example, the setter of a property is the second definition of its name.
        """
        same = [one for one in self.by_qualname(self.qualname(i)).tolist() if self.path_index[one] == self.path_index[i]]
        place = (int(self.start_line[i]), i)
        return 1 + sum((int(self.start_line[one]), one) < place for one in same)

    def names(self) -> Iterable[str]:
        """Return the distinct last parts of all names, for suggestions of names.

        For example, the last part of `Session.get` is `get`.
        """
        return self._names.words()

    @cached_property
    def file_names(self) -> FileNames:
        """Index that finds files by end of path, file name, module or directory."""
        return FileNames(self.paths)

    def by_module(self, module: str) -> I32:
        """Return the files of a module, given by its dotted name or import path.

        The result is sorted by path. It is empty for "".
        """
        nodes = self.arrays.paths.node[self._modules[module]] if module else np.zeros(0, np.int32)
        return nodes[nodes >= 0]

    def file_node(self, path: str) -> int | None:
        """Return the number of a file's node; None for an unknown path."""
        number = self.path_number.get(path)
        node = -1 if number is None else int(self.arrays.paths.node[number])
        return node if node >= 0 else None

    def file_info(self, path: str) -> FileInfo | None:
        """Return a file as the object that answers contain; None if unknown."""
        node, number = self.file_node(path), self.path_number.get(path, -1)
        if node is None:
            return None
        p = self.arrays.paths
        return FileInfo(
            id=self.arrays.nodes.id[node].as_py(),
            path=path,
            language=p.language[number].as_py(),
            module=p.module[number].as_py(),
            lines=int(p.lines[number]),
            size_bytes=int(p.size_bytes[number]),
            is_test=bool(self.is_test[node]),
            error_count=int(p.error_count[number]),
            diagnostic=p.diagnostic[number].as_py(),
        )

    def unresolved_named(self, name: str) -> list[Unresolved]:
        """Return the calls of `name` whose target is unknown.

        They are sorted by path, line and id.
        """
        rows = self._unresolved_names[name].tolist()
        u, paths = self.arrays.unresolved, self.paths
        rows.sort(key=lambda r: (u.path[r], u.line[r], r))
        return [Unresolved(int(u.caller[r]), name, paths[u.path[r]], int(u.line[r]), u.reason[r].as_py()) for r in rows]

    @cached_property
    def unresolved_in(self) -> npt.NDArray[np.int64]:
        """Number of calls with an unknown target in each file, by path number."""
        return np.bincount(self.arrays.unresolved.path, minlength=len(self.paths)).astype(np.int64)

    @cached_property
    def languages(self) -> list[str]:
        """Return the language of each file, in the order of `paths`.

        The language is "" for a path whose language is unknown.
        """
        return [sys.intern(name or "") for name in self.arrays.paths.language.to_pylist()]

    @cached_property
    def failed_paths(self) -> list[str]:
        """Return the files that could not be parsed completely, ascending."""
        columns = self.arrays.paths
        failed = np.asarray(computed("not_equal", columns.diagnostic, ""), dtype=np.bool_) | (columns.error_count > 0)
        return [self.paths[number] for number in np.flatnonzero(failed & (columns.node >= 0)).tolist()]

    @cached_property
    def failures(self) -> dict[str, str]:
        """Return the reason for each file that could not be parsed at all.

        The result maps paths to reasons. Files that were parsed in part are not included.
        """
        return {path: why for path in self.failed_paths if (why := self.arrays.paths.diagnostic[self.path_number[path]].as_py())}

    # ---- edges

    def out_edges(self, i: int, kinds: Collection[str] | None = None) -> npt.NDArray[np.int64]:
        """Return the row numbers of the edges that begin at node `i`.

        They are sorted by (kind, destination). If `kinds` are given, only edges of these kinds are returned.
        """
        rows = np.arange(self.out_ptr[i], self.out_ptr[i + 1], dtype=np.int64)
        return rows if kinds is None else rows[kind_mask(kinds)[self.edge_kind[rows]]]

    def in_edges(self, i: int, kinds: Collection[str] | None = None) -> npt.NDArray[np.int64]:
        """Return the row numbers of the edges that lead to node `i`.

        They are sorted by (kind, source). If `kinds` are given, only edges of these kinds are returned.
        """
        rows = self.in_edge[self.in_ptr[i] : self.in_ptr[i + 1]].astype(np.int64)
        return rows if kinds is None else rows[kind_mask(kinds)[self.edge_kind[rows]]]

    def kind_of(self, row: int) -> EdgeKind:
        """Return the kind, such as CALLS, of the edge in a given row."""
        return cast("EdgeKind", EDGE_KINDS[int(self.edge_kind[row])])

    def source_of(self, row: int) -> EdgeSource:
        """Return the origin, such as syntax or a test run, of the edge in a row."""
        return cast("EdgeSource", EDGE_SOURCES[int(self.edge_source[row])])

    def rule_of(self, row: int) -> str:
        """Return how the target of the edge in a row was found.

        The result is the name of a rule, a key of `resolution.rules.RULES`.
        """
        return self.rules[int(self.edge_rule[row])]

    def lines_of(self, row: int) -> list[int]:
        """Return all lines of an edge in the file of its source node, ascending.

        If a function calls another function twice, the edge has two lines.
        """
        sites = self.arrays.edges.lines[row].as_py()
        if sites:
            return [int(site) for site in sites.split(",")]
        return [int(self.line[row])] if self.line[row] else []

    def sites_of(self, rows: npt.NDArray[np.int64]) -> int:
        """Count the lines on which the given edges occur.

        An edge for two calls of the same function, for example, counts twice; see `lines_of`.
        """
        first = self.line[rows]
        several = computed("take", self.arrays.edges.lines, pa.array(rows.tolist(), pa.int64())).to_pylist()
        return sum(text.count(",") + 1 if text else line != 0 for text, line in zip(several, first.tolist(), strict=True))

    # ---- totals

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return numbers of files, symbols, externals, edges, unresolved calls."""
        by_label = np.bincount(self.label, minlength=3).tolist()
        return {
            "files": by_label[FILE],
            "symbols": by_label[SYMBOL],
            "externals": by_label[2],
            "edges": self.m,
            "unresolved": len(self.arrays.unresolved.id),
        }

    def warm(self) -> None:
        """Build the look-up tables by name and path now, before their first use.

        This takes some tens of milliseconds.
        """
        for name in _LOOKUPS:
            getattr(self, name)

    def cool(self) -> bool:
        """Release the look-up tables by name and path; return whether any existed.

        The tables take about as much memory as the graph's arrays. A table is built again when it is needed.
        """
        return bool([name for name in (*_LOOKUPS, *_KEPT) if self.__dict__.pop(name, None) is not None])

    @property
    def nbytes(self) -> int:
        """Size of the graph's arrays in bytes.

        Decoded lists and look-up tables need additional memory after their first use.
        """
        a = self.arrays
        parts = [getattr(part, c.name) for part in (a.nodes, a.paths, a.edges, a.unresolved) for c in fields(part)]
        return sum(int(value.nbytes) for value in parts) + self.out_ptr.nbytes + self.in_ptr.nbytes + self.in_src.nbytes


def kind_mask(kinds: Collection[str]) -> Bool:
    """Return an array of 256 booleans: True at the codes of given edge kinds.

    A kind is, for example, CALLS. Unknown names raise ValueError. The array is cached, so it must not be changed.
    """
    return _mask_of(tuple(kinds))


@lru_cache(256)  # each impact question needs some of the same masks, for each of its targets
def _mask_of(kinds: tuple[str, ...]) -> Bool:
    mask = np.zeros(256, np.bool_)
    for kind in kinds:
        mask[EDGE_KINDS.index(str(kind))] = True
    mask.flags.writeable = False
    return mask
