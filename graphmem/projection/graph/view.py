"""The code graph in memory, immutable, for fast reads.

Reads take microseconds. The graph is built from the database, and each committed change gives a new graph, which is saved next to the
database. Nodes are numbers 0..n-1 in the order of their ids; edges are row numbers. Analysis reads the arrays directly; answers to users
are made with `info`.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphmem.model import GraphDelta
from graphmem.projection.graph.arrays import FILE, SYMBOL
from graphmem.projection.graph.build import build_arrays
from graphmem.projection.graph.edges import GraphEdges
from graphmem.projection.graph.file import load_graph, save_graph
from graphmem.projection.graph.lookups import StringLookup
from graphmem.projection.graph.names import GraphNames
from graphmem.projection.graph.patch import Patched, patch_arrays
from graphmem.store.base import GraphTables

_LOOKUPS: Final = ("index_of", "path_number", "_of_path", "_names", "_qualnames", "_unresolved_names")
_KEPT: Final = ("ids", "_symbols_in", "_in_tests", "kept")  # filled by questions; released with the look-ups


class GraphView(GraphNames, GraphEdges):
    """An in-memory view of one state of the code graph. Thread-safe.

    Attributes (n nodes, m edges; arrays must not be written to):
        generation: the database's counter of changes, as it was when the graph had this state.
        label: uint8 (n,), FILE, SYMBOL or EXTERNAL of graphmem.projection.graph.arrays.
        kind: uint8 (n,), position in NODE_KINDS.
        path_index: int32 (n,), position in `paths`; -1 for externals (used packages and their symbols).
        parent: int32 (n,), node of the enclosing symbol, or -1.
        start_line, end_line: int32 (n,), 1-based, inclusive.
        is_test: bool (n,).
        src, dst: int32 (m,), ends of each edge row; rows are sorted by (src, kind, dst).
        edge_kind, edge_source, edge_rule: uint8 (m,), positions in EDGE_KINDS, EDGE_SOURCES, `rules`.
        confidence: float32 (m,).
        line: int32 (m,), line of the first use in the file of src; 0 for edges without a line.
        out_ptr: int32 (n + 1,): edge rows of node i going out are out_ptr[i]..out_ptr[i + 1] - 1.
        in_ptr, in_edge, in_src: the same for incoming edges: in_edge[in_ptr[i]:in_ptr[i + 1]] are the edge rows coming in, sorted by (kind,
            src), and in_src the nodes they come from.
        rules: names of the rules in use.
    """

    # ---- making, changing, keeping

    @classmethod
    def from_tables(cls, tables: GraphTables) -> GraphView:
        """Build the view from tables of one state of the database."""
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

        An example is the table that finds nodes by name. If a column of the graph changed, the column's table is updated. `patch` is the
        change that led from `before` to this graph.
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

        The graph must be built again if the file is missing, damaged, or older than the database.

        Args:
            path: path of the file.
            generation: number of the database's last change.
            notes: receives a sentence if the file is damaged.
        """
        arrays = load_graph(path, generation, notes)
        return None if arrays is None else cls(arrays)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """Return a cache in which other modules store results about this graph.

        The cache maps names to results. After a change of the code, the new graph has an empty cache.
        """
        return {}

    # ---- totals

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return how many nodes, edges and unresolved calls the graph has.

        Nodes are counted separately as files, symbols and externals (used packages and their symbols).
        """
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
            if isinstance(made := getattr(self, name), StringLookup):
                made.warm()

    def cool(self) -> bool:
        """Release the look-up tables by name and path; return whether any existed.

        The tables take about as much memory as the graph's arrays. A table is built again when it is needed.
        """
        return bool([name for name in (*_LOOKUPS, *_KEPT) if self.__dict__.pop(name, None) is not None])

    @property
    def nbytes(self) -> int:
        """Size of the graph's arrays in bytes, without look-up tables.

        Decoded lists and look-up tables need more memory, from their first use on.
        """
        a = self.arrays
        parts = [getattr(part, c.name) for part in (a.nodes, a.paths, a.edges, a.unresolved) for c in fields(part)]
        return sum(int(value.nbytes) for value in parts) + self.out_ptr.nbytes + self.in_ptr.nbytes + self.in_src.nbytes
