"""Compute which rows of the graph an index run must change.

The run writes only this difference between stored and new rows. So a second run over the same tree writes nothing, and in-memory copies of
the graph are updated with exactly the changes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from graphmem.indexing.moves import Sides, moves
from graphmem.indexing.packed import PackedRows
from graphmem.model import (
    Before,
    ChunkRow,
    EdgeRow,
    ExternalRow,
    FileRow,
    GraphDelta,
    OccurrencesRow,
    PackedChunkRow,
    SymbolRow,
    UnresolvedRow,
)
from graphmem.projection.graph.arrays import EDGE_KINDS, EDGE_SOURCES, EXTERNAL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from graphmem.indexing.spill import Spill
    from graphmem.projection.graph.view import GraphView

# The projection keeps confidences in single precision, which preserves this many digits.
CONFIDENCE_DIGITS: Final = 6

_Row = TypeVar("_Row", FileRow, SymbolRow, ChunkRow, UnresolvedRow, OccurrencesRow)


class Rows(NamedTuple):
    """All rows of some files: their symbols, chunks, edges and so on.

    The rows are those of the graph. An edge belongs to the file that contains the source of the edge.
    """

    files: list[FileRow] | PackedRows[FileRow]
    symbols: list[SymbolRow] | PackedRows[SymbolRow]
    chunks: list[ChunkRow] | PackedRows[PackedChunkRow]
    edges: list[EdgeRow] | PackedRows[EdgeRow]
    unresolved: list[UnresolvedRow] | PackedRows[UnresolvedRow]
    occurrences: list[OccurrencesRow] | PackedRows[OccurrencesRow]
    externals: dict[str, ExternalRow]  # that the edges lead to, by id

    @property
    def loose_chunks(self) -> list[ChunkRow]:
        """Return the chunks as row objects, to compare them with stored chunks.

        Raises:
            AssertionError: the chunks are packed, which is so only in a first index run.
        """
        if isinstance(self.chunks, PackedRows):
            raise AssertionError("chunks of a first index run are stored in packed form, not as rows; read the attribute `chunks` instead")
        return self.chunks

    @classmethod
    def empty(cls, spill: Spill | None) -> Rows:
        """Make an empty set of rows for a run.

        With `spill` (a temporary store for bytes), rows that are added later are packed into the spill. Without it, they stay row objects
        in lists.
        """
        if spill is not None:
            return cls(
                PackedRows(FileRow, spill),
                PackedRows(SymbolRow, spill),
                PackedRows(PackedChunkRow, spill),
                PackedRows(EdgeRow, spill),
                PackedRows(UnresolvedRow, spill),
                PackedRows(OccurrencesRow, spill),
                {},
            )
        return cls([], [], [], [], [], [], {})


def everything(new: Rows) -> GraphDelta:
    """Return the change of the graph that adds all rows of a first run.

    Rows stay in the order of the files. Externals (symbols outside of the project) are sorted by id.
    """
    for rows in new[:-1]:
        if isinstance(rows, PackedRows):
            rows.seal()
    return GraphDelta.empty()._replace(
        files=new.files,
        symbols=new.symbols,
        externals=PackedRows.of(ExternalRow, [new.externals[one] for one in sorted(new.externals)]),
        chunks=new.chunks,
        edges=new.edges,
        unresolved=new.unresolved,
        occurrences=new.occurrences,
    )


def edges_of(view: GraphView, paths: Collection[str]) -> list[EdgeRow]:
    """Return the graph's edges that begin in the files `paths`."""
    numbers = np.array([view.path_number[path] for path in paths if path in view.path_number], dtype=np.int64)
    wanted = np.zeros(len(view.paths) + 1, dtype=bool)  # one more for externals, whose path is -1
    wanted[numbers] = True
    rows = np.flatnonzero(wanted[view.path_index[view.src]])
    ids = view.ids
    return [
        EdgeRow(
            EDGE_KINDS[kind],
            ids[src],
            ids[dst],
            round(confidence, CONFIDENCE_DIGITS),
            EDGE_SOURCES[source],
            view.rules[rule],
            line,
            lines or (str(line) if line else ""),
        )
        for src, dst, kind, confidence, source, rule, line, lines in zip(
            view.src[rows].tolist(),
            view.dst[rows].tolist(),
            view.edge_kind[rows].tolist(),
            view.confidence[rows].tolist(),
            view.edge_source[rows].tolist(),
            view.edge_rule[rows].tolist(),
            view.line[rows].tolist(),
            view.arrays.edges.lines.take(pa.array(rows)).to_pylist(),
            strict=True,
        )
    ]


def external_uses(view: GraphView, ids: Iterable[str]) -> Counter[str]:
    """Count the edges that lead to each external symbol in `ids`.

    An external is a symbol outside of the project. Other ids, and ids that are not in the graph, are left out.
    """
    nodes = ((one, view.index_of.get(one, -1)) for one in ids)
    return Counter(
        {one: int(view.in_ptr[node + 1] - view.in_ptr[node]) for one, node in nodes if node >= 0 and view.label[node] == EXTERNAL}
    )


def difference(old: Rows, new: Rows, external_uses: Counter[str]) -> GraphDelta:
    """Compute the change of the graph that turns old rows into new rows.

    An external is a symbol outside of the project.

    Args:
        old: the graph's rows of the affected files (`externals` is not read).
        new: rows of the affected files that still exist.
        external_uses: number of edges to an external in the graph, for each external to which an old or new edge leads.

    Returns:
        A change whose lists are sorted by id, and edges by (kind, source, destination). If only the evidence of an edge changed, the edge
        is removed and added. An external that loses its last edge is removed. `moves` has (old id, new id) of moved and renamed files and
        symbols.
    """
    removed_files, files = _by_id(old.files, new.files)
    removed_symbols, symbols = _by_id(old.symbols, new.symbols)
    removed_chunks, chunks = _by_id(old.loose_chunks, new.loose_chunks)
    removed_unresolved, unresolved = _by_id(old.unresolved, new.unresolved)
    removed_occurrences, occurrences = _by_id(old.occurrences, new.occurrences)
    old_edges = {row[:3]: row for row in old.edges}
    new_edges = {row[:3]: row._replace(confidence=round(row.confidence, CONFIDENCE_DIGITS)) for row in new.edges}
    removed_edges = sorted(key for key, row in old_edges.items() if new_edges.get(key) != row)
    edges = sorted(row for key, row in new_edges.items() if old_edges.get(key) != row)
    uses = Counter(external_uses)
    uses.subtract(key[2] for key in removed_edges if key[2] in external_uses)
    wanted = new.externals
    uses.update(row.dst for row in edges if row.dst in wanted)
    sides = Sides(
        (_only(old.files, removed_files), _added(old.files, files)),
        (_only(old.symbols, removed_symbols), _added(old.symbols, symbols)),
        (old.loose_chunks, new.loose_chunks),
    )
    return GraphDelta(
        removed_files=removed_files,
        removed_symbols=removed_symbols,
        removed_externals=sorted(one for one, count in uses.items() if count <= 0),
        removed_chunks=removed_chunks,
        removed_edges=removed_edges,
        removed_unresolved=removed_unresolved,
        files=files,
        symbols=symbols,
        externals=sorted(wanted[one] for one in {edge.dst for edge in edges} if one in wanted and one not in external_uses),
        chunks=chunks,
        edges=edges,
        unresolved=unresolved,
        removed_occurrences=removed_occurrences,
        occurrences=occurrences,
        moves=moves(sides),
        before=_old_rows(old, {row[:3] for row in edges}),
    )


def _old_rows(old: Rows, changed: Collection[tuple[str, str, str]]) -> Before:
    """Return the old rows to pass on with a change of the graph.

    The store then does not read these rows again. The result has all files, symbols and chunks of `old`. If an edge of a file is added or
    changed, the result has all old edges of this file.

    Args:
        old: all old rows of the affected files.
        changed: (kind, source, destination) of each edge that is added or changed.
    """
    path_of = {row.id: row.path for row in old.symbols}
    by_path: dict[str, list[EdgeRow]] = {}
    for row in old.edges:
        by_path.setdefault(path_of.get(row.src, ""), []).append(row)
    touched = {path_of.get(src, "") for _, src, _ in changed} - {""}
    return Before(
        files={row.id: row for row in old.files},
        symbols={row.id: row for row in old.symbols},
        chunks={row.id: row for row in old.loose_chunks},
        edges={path: rows for path, rows in by_path.items() if path in touched},
    )


def _only(rows: Iterable[_Row], ids: Collection[str]) -> list[_Row]:
    wanted = set(ids)
    return [row for row in rows if row.id in wanted]


def _added(old: Iterable[_Row], upserted: Iterable[_Row]) -> list[_Row]:
    before = {row.id for row in old}
    return [row for row in upserted if row.id not in before]


def _by_id(old: Iterable[_Row], new: Iterable[_Row]) -> tuple[list[str], list[_Row]]:
    before = {row.id: row for row in old}
    after = {row.id: row for row in new}
    return sorted(before.keys() - after.keys()), [after[one] for one in sorted(after) if before.get(one) != after[one]]
