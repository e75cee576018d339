"""Read the stored rows of given files.

An index run compares these rows with the rows of the newly parsed files. For a few paths, the engine scans each table once (5 ms for 45,000
symbols). For many paths, whole tables are read and filtered here. A join of paths with tables in the engine takes 0.4 s and 100 MB even for
one path.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, TypeVar

import pyarrow as pa

from graphmem.model import ChunkRow, EdgeRow, FileRow, OccurrencesRow, SymbolRow, UnresolvedRow
from graphmem.runtime.arrow import pc
from graphmem.store.base import StoredRows
from graphmem.store.reads.snapshot import Ask, graph_edges
from graphmem.store.tables.arrow_rows import full_lines, full_texts, model_rows

_Row = TypeVar("_Row", FileRow, SymbolRow, ChunkRow, UnresolvedRow, OccurrencesRow)

FEW_PATHS: Final = 48  # from here on, a scan for each path costs as much as reading everything


def rows_of_files(ask: Ask, paths: Collection[str], chunks_of: Collection[str]) -> StoredRows:
    """Return the stored rows of given files, without edges; see `StoredRows`.

    Chunks are returned only for the files in `chunks_of`. `ask` runs a named query.
    """
    return StoredRows(
        files=_rows(ask, FileRow, "files_of", "all_files", paths),
        symbols=_rows(ask, SymbolRow, "symbols_of", "all_symbols", paths),
        chunks=_rows(ask, ChunkRow, "chunks_of", "all_chunks", chunks_of, full_texts),
        unresolved=_rows(ask, UnresolvedRow, "unresolved_of", "all_unresolved", paths),
        occurrences=_rows(ask, OccurrencesRow, "occurrences_of", "all_occurrences", paths),
    )


def edges_of(ask: Ask, paths: Collection[str]) -> list[EdgeRow]:
    """Return the edges that begin in given files, sorted by (kind, src, dst)."""
    if not paths:
        return []
    if len(paths) <= FEW_PATHS:
        rows = [
            row
            for query in ("edges_of_files", "edges_of_symbols")
            for row in model_rows(EdgeRow, full_lines(ask(query, paths=sorted(paths))))
        ]
    else:
        sources = pa.concat_arrays(
            [piece for query in ("all_files", "all_symbols") for piece in _sifted(ask(query), paths)["id"].chunks]
            or [pa.array([], pa.string())]
        )
        edges = graph_edges(ask)
        rows = model_rows(EdgeRow, edges.filter(pc.is_in(edges["src"], sources)))
    return sorted(rows, key=lambda row: row[:3])


def _rows(
    ask: Ask, kind: type[_Row], few: str, every: str, paths: Collection[str], unpack: Callable[[pa.Table], pa.Table] = lambda table: table
) -> list[_Row]:
    if not paths:
        return []
    table = ask(few, paths=sorted(paths)) if len(paths) <= FEW_PATHS else _sifted(ask(every), paths)
    return sorted(model_rows(kind, unpack(table)))


def _sifted(table: pa.Table, paths: Collection[str]) -> pa.Table:
    return table.filter(pc.is_in(table["path"], pa.array(sorted(paths), pa.string())))
