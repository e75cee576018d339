"""Nodes of the in-memory code graph: arrays of numbers, and strings.

`i` is the number of a node, and n the number of nodes. A mask is an array with a boolean for each node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.answers import SymbolInfo
from graphmem.projection.graph.arrays import F32, I32, NODE_KINDS, U8, Bool, GraphArrays, pointers
from graphmem.projection.graph.entry_points import entry_points
from graphmem.projection.graph.lookups import NodeNumbers
from graphmem.runtime.arrow import computed
from graphmem.runtime.data.conventions import prepares_tests

_BULK: Final = 24  # from this number of nodes on, gathering Arrow columns is faster than one scalar at a time


class GraphNodes:
    """The methods of a code graph that read its nodes.

    `GraphView` describes the arrays.
    """

    def __init__(self, arrays: GraphArrays, before: GraphNodes | None = None) -> None:
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

    @cached_property
    def ids(self) -> list[str]:
        """Ids of all nodes, ascending; the position is the node's number."""
        ids: list[str] = self.arrays.nodes.id.to_pylist()
        return ids

    @cached_property
    def index_of(self) -> Mapping[str, int]:
        """Map the id of each node to the node's number."""
        return NodeNumbers(self.ids)

    @cached_property
    def paths(self) -> list[str]:
        """Paths of all files, ascending; a file is numbered by its position here.

        The array `path_index` has this number for the file of each node.
        """
        paths: list[str] = self.arrays.paths.path.to_pylist()
        return paths

    @cached_property
    def path_number(self) -> dict[str, int]:
        """Map each path to its number: its position in the list `paths`."""
        return {path: i for i, path in enumerate(self.paths)}

    def path(self, i: int) -> str:
        """Return the path of the file of node `i`; "" for a package's symbols."""
        p = int(self.path_index[i])
        return self.paths[p] if p >= 0 else ""

    def name(self, i: int) -> str:
        """Return the last part of the name of node `i`; for a file, its base name."""
        return str(self.arrays.nodes.name[i].as_py())

    def qualname(self, i: int) -> str:
        """Return the dotted name of node `i` inside its file; "" for a file.

        For a symbol of a used package, the name includes the package.
        """
        return str(self.arrays.nodes.qualname[i].as_py())

    def signature(self, i: int) -> str:
        """Return the signature of symbol `i` on one line; "" if it has none."""
        return str(self.arrays.nodes.signature[i].as_py())

    def doc(self, i: int) -> str:
        """Return the first paragraph of the documentation of symbol `i`, or ""."""
        return str(self.arrays.nodes.doc[i].as_py())

    def modifiers(self, i: int) -> list[str]:
        """Return the modifiers of symbol `i`, such as "abstract", sorted."""
        return str(self.arrays.nodes.modifiers[i].as_py()).split()

    @cached_property
    def main_language(self) -> str:
        """The language of at least half of all lines; "" if there is none."""
        lines: dict[str, int] = {}
        for language, count in zip(self.arrays.paths.language.to_pylist(), self.arrays.paths.lines.tolist(), strict=True):
            if language:
                lines[language] = lines.get(language, 0) + max(0, count)
        best = max(lines, key=lambda language: (lines[language], language), default="")
        return best if best and 2 * lines[best] >= sum(lines.values()) else ""

    @cached_property
    def entry_points(self) -> pa.StringArray:
        """Kind of entry point of each node, such as "test", as an Arrow column.

        The kind is "" for a node that is not an entry point.
        """
        return entry_points(self.arrays)

    def entry_point(self, i: int) -> str:
        """Return the kind of entry point, such as "test" or "route", of node `i`.

        The result is "" if the node is not an entry point.
        """
        return str(self.entry_points[i].as_py())

    def body_hash(self, i: int) -> str:
        """Return the hash of the code of symbol `i`; "" for other nodes.

        The layout of the code, such as its indentation, does not change the hash.
        """
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
        """Mask of the nodes that a test runner can run, shape (n,).

        These nodes are test cases, and the modules of test files that do not only prepare tests.
        """
        runnable = np.array(self.is_test_case, dtype=np.bool_)
        modules = np.flatnonzero(self.is_test & (self.kind == NODE_KINDS.index("module")))
        runnable[[int(node) for node in modules if not prepares_tests(self.path(int(node)))]] = True
        return runnable

    def info(self, i: int) -> SymbolInfo:
        """Return node `i` as a `SymbolInfo`, with name, kind, file and lines."""
        return self.infos((int(i),))[0]

    def infos(self, indices: Sequence[int] | npt.NDArray[np.generic]) -> list[SymbolInfo]:
        """Return the `SymbolInfo` of several nodes.

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
