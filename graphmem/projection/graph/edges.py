"""Edges of the in-memory copy of the code graph: ends, kinds and lines.

An edge is given by its row: its position in the arrays of edges. `i` is the number of a node.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.answers.vocabulary import EdgeKind, EdgeSource
from graphmem.projection.graph.arrays import EDGE_KINDS, EDGE_SOURCES, Bool
from graphmem.projection.graph.nodes import GraphNodes
from graphmem.runtime.arrow import computed


class GraphEdges(GraphNodes):
    """The methods of a code graph that read its edges, by row number."""

    def out_edges(self, i: int, kinds: Collection[str] | None = None) -> npt.NDArray[np.int64]:
        """Return the row numbers of the edges that begin at node `i`.

        The rows are sorted by (kind, destination). If `kinds` are given, only edges of these kinds are returned.
        """
        rows = np.arange(self.out_ptr[i], self.out_ptr[i + 1], dtype=np.int64)
        return rows if kinds is None else rows[kind_mask(kinds)[self.edge_kind[rows]]]

    def in_edges(self, i: int, kinds: Collection[str] | None = None) -> npt.NDArray[np.int64]:
        """Return the row numbers of the edges that lead to node `i`.

        The rows are sorted by (kind, source). If `kinds` are given, only edges of these kinds are returned.
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

        `row` is the position of the edge in the arrays of the graph.

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
