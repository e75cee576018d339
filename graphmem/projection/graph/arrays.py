"""Arrays that hold the code graph in memory, as nodes and edges.

Nodes are files, symbols and externals (used packages and their symbols). Nodes are numbered in the order of their ids. Edges are rows
sorted by (source, kind, destination), so the outgoing edges of a node are consecutive rows. Numbers are in numpy arrays, and strings in
Arrow arrays. 50,000 nodes and 300,000 edges take about 35 MB.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import numpy.typing as npt

from graphmem.model import CLASS_KINDS, FUNCTION_KINDS, EdgeKind, EdgeSource, SymbolKind

if TYPE_CHECKING:
    import pyarrow as pa

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
F32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]
_Number = TypeVar("_Number", bound=np.generic)

FILE: Final = 0
SYMBOL: Final = 1
EXTERNAL: Final = 2

# Codes are positions in these tuples. They are saved with the projection, so a change needs a new format number.
NODE_KINDS: Final[tuple[str, ...]] = ("file", "external", *(str(kind) for kind in SymbolKind))
EDGE_KINDS: Final[tuple[str, ...]] = tuple(str(kind) for kind in EdgeKind)
EDGE_SOURCES: Final[tuple[str, ...]] = tuple(str(source) for source in EdgeSource)
KIND_FILE: Final = NODE_KINDS.index("file")
KIND_EXTERNAL: Final = NODE_KINDS.index("external")
CLASS_CODES: Final = tuple(code for code, kind in enumerate(NODE_KINDS) if kind in CLASS_KINDS)
FUNCTION_CODES: Final = tuple(code for code, kind in enumerate(NODE_KINDS) if kind in FUNCTION_KINDS)

MAX_NODES: Final = 1 << 28  # (source, kind, destination) is sorted as one 64-bit number


@dataclass(frozen=True, slots=True)
class NodeColumns:
    """The nodes of the code graph as parallel arrays: kind, name and more.

    Element i of each array belongs to node i. Nodes are in the order of their ids.
    """

    id: pa.StringArray  # ascending
    label: U8  # FILE | SYMBOL | EXTERNAL
    kind: U8  # position in NODE_KINDS
    path: I32  # position in PathColumns; -1 for externals
    parent: I32  # node of the enclosing symbol; -1
    start_line: I32  # 1-based; 0 for externals
    end_line: I32  # 1-based, inclusive
    name_line: I32
    name_column: I32  # 0-based, in characters
    complexity: I32
    is_test: Bool
    name: pa.StringArray  # last part of the name; base name of a file
    qualname: pa.StringArray  # symbols: inside the file; externals: package and name; files: ""
    signature: pa.StringArray
    doc: pa.StringArray
    modifiers: pa.StringArray
    entry_point: pa.StringArray
    body_hash: pa.StringArray


@dataclass(frozen=True, slots=True)
class PathColumns:
    """The files of the code graph as parallel arrays: language, size and more.

    There is one element for each distinct path of a file or of a symbol, in ascending order of the paths.
    """

    path: pa.StringArray  # ascending
    node: I32  # node of the file; -1 when only symbols name the path
    language: pa.StringArray
    module: pa.StringArray
    content_hash: pa.StringArray
    diagnostic: pa.StringArray
    size_bytes: I64
    lines: I32
    error_count: I32
    call_sites: I32


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """The edges of the code graph as parallel arrays: ends, kind and more.

    Edges are sorted by (src, kind, dst). `by_dst` has the row numbers sorted by (dst, kind, src).
    """

    src: I32
    dst: I32
    kind: U8  # position in EDGE_KINDS
    confidence: F32
    source: U8  # position in EDGE_SOURCES
    rule: U8  # position in `rules`
    line: I32  # first site; 0 if a line has no meaning
    lines: pa.StringArray  # all sites, comma separated; "" when `line` is the only one
    by_dst: I32


@dataclass(frozen=True, slots=True)
class UnresolvedColumns:
    """The calls whose target is unknown, as parallel arrays, sorted by id."""

    id: pa.StringArray
    path: I32
    caller: I32  # node; -1 when the caller is not in the graph
    name: pa.StringArray
    line: I32
    reason: pa.StringArray


@dataclass(frozen=True, slots=True)
class GraphArrays:
    """All arrays of a graph: nodes, paths, edges and unresolved calls.

    Two graphs are equal if all their arrays are equal.
    """

    generation: int
    nodes: NodeColumns
    paths: PathColumns
    edges: EdgeColumns
    unresolved: UnresolvedColumns
    rules: tuple[str, ...]  # those in use, ascending
    dangling: int  # edges left out because an end is missing from the graph

    def difference(self, other: GraphArrays) -> str:
        """Return the name of the first array in which two graphs differ.

        The result is "" if all arrays are equal. The two graphs' numbers of changes (`generation`) are not compared.
        """
        for section in ("nodes", "paths", "edges", "unresolved"):
            mine, theirs = getattr(self, section), getattr(other, section)
            for column in fields(mine):
                a, b = getattr(mine, column.name), getattr(theirs, column.name)
                same = np.array_equal(a, b) and a.dtype == b.dtype if isinstance(a, np.ndarray) else a.equals(b)
                if not same:
                    return f"{section}.{column.name}"
        return "" if self.rules == other.rules else "rules"


def edge_keys(src: npt.NDArray[np.generic], kind: npt.NDArray[np.generic], dst: npt.NDArray[np.generic]) -> I64:
    """Encode each edge (src, kind, dst) as a number that sorts like the edge.

    The arguments are parallel arrays, with one element for each edge. Given (dst, kind, src) instead, the numbers sort edges by (dst, kind,
    src).
    """
    return (src.astype(np.int64) << 33) | (kind.astype(np.int64) << 28) | dst.astype(np.int64)


def distinct(values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return the distinct numbers of an array, ascending.

    `numpy.unique` is not used, because it first loads numpy's masked arrays. That takes a tenth of the time of a server's first answer.
    """
    ordered = np.sort(values, axis=None)
    return ordered[_begins(ordered)]


def without(values: npt.NDArray[_Number], excluded: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return the distinct numbers of `values` that are not in `excluded`.

    They are ascending. `numpy.setdiff1d` loads numpy's masked arrays, as `numpy.unique` does.
    """
    rest = distinct(values)
    return rest[~np.isin(rest, distinct(excluded), assume_unique=True)]


def grouped(values: npt.NDArray[_Number]) -> tuple[npt.NDArray[_Number], I64, I64]:
    """Return the distinct numbers in `values`, and two further arrays.

    The distinct numbers are ascending. The second array has, for each element of `values`, its position among the distinct numbers. The
    third array has the number of elements with each distinct number.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    begins = _begins(ordered)
    place = np.empty(len(ordered), np.int64)
    place[order] = np.cumsum(begins) - 1
    return ordered[begins], place, np.diff(np.flatnonzero(begins), append=len(ordered)).astype(np.int64)


def _begins(ordered: npt.NDArray[np.generic]) -> Bool:
    """Return whether each element differs from the element before it.

    `ordered` is a sorted array. Its first element counts as different.
    """
    begins = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins


def pointers(counted: npt.NDArray[np.generic], n: int) -> I32:
    """Return, for each row, the position where its entries begin.

    `counted` has the row number of each entry, and `n` is the number of rows. In a list sorted by row, row i has the entries result[i] to
    result[i + 1] - 1 (compressed sparse rows). For `counted` = [0, 0, 2] and `n` = 3, the result is [0, 2, 2, 3]. The result is int32,
    shape (n + 1,).
    """
    indptr = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.bincount(counted, minlength=n), out=indptr[1:])
    return indptr


def ranges(indptr: npt.NDArray[np.generic], rows: npt.NDArray[np.int64]) -> tuple[I64, I64]:
    """Return the number of entries of each row in `rows`, and their positions.

    `indptr` is a result of `pointers`. The second result is one array: first the positions of the entries of the first row in `rows`, then
    those of the second, and so on.
    """
    starts = indptr[rows].astype(np.int64)
    counts = indptr[rows + 1].astype(np.int64) - starts
    offsets = np.cumsum(counts)
    total = int(offsets[-1]) if len(offsets) else 0
    return counts, np.arange(total) + np.repeat(starts - offsets + counts, counts)
