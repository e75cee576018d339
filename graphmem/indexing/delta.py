"""The difference between what the graph holds of some files and what they say now.

A run only ever writes this difference, so a second run over the same tree writes nothing and the
projections can be patched with exactly what changed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from graphmem.model import ChunkRow, EdgeRow, ExternalRow, FileRow, GraphDelta, SymbolRow, UnresolvedRow

if TYPE_CHECKING:
    from collections.abc import Iterable

_Row = TypeVar("_Row", FileRow, SymbolRow, ChunkRow, UnresolvedRow)


class Rows(NamedTuple):
    """All rows some files account for. An edge belongs to the file of its source."""

    files: list[FileRow]
    symbols: list[SymbolRow]
    chunks: list[ChunkRow]
    edges: list[EdgeRow]
    unresolved: list[UnresolvedRow]
    externals: list[ExternalRow]  # that the edges lead to; may repeat


def difference(old: Rows, new: Rows, external_uses: Counter[str]) -> GraphDelta:
    """What turns the old rows into the new ones.

    Args:
        old: rows of the affected files as the graph holds them (`externals` is not read).
        new: rows of the affected files that still exist.
        external_uses: for each external the old edges lead to, how many edges of the whole graph lead there.

    Returns:
        A delta whose lists are sorted by id, edges by (kind, source, destination). An edge that only
        changed its evidence is removed and added; an external nobody leads to any more is removed.
    """
    removed_files, files = _by_id(old.files, new.files)
    removed_symbols, symbols = _by_id(old.symbols, new.symbols)
    removed_chunks, chunks = _by_id(old.chunks, new.chunks)
    removed_unresolved, unresolved = _by_id(old.unresolved, new.unresolved)
    old_edges = {row[:3]: row for row in old.edges}
    new_edges = {row[:3]: row for row in new.edges}
    removed_edges = sorted(key for key, row in old_edges.items() if new_edges.get(key) != row)
    edges = sorted(row for key, row in new_edges.items() if old_edges.get(key) != row)
    uses = Counter(external_uses)
    uses.subtract(key[2] for key in removed_edges if key[2] in external_uses)
    wanted = {row.id: row for row in new.externals}
    uses.update(row.dst for row in edges if row.dst in wanted)
    return GraphDelta(
        removed_files=removed_files,
        removed_symbols=removed_symbols,
        removed_externals=sorted(one for one, count in uses.items() if count <= 0),
        removed_chunks=removed_chunks,
        removed_edges=removed_edges,
        removed_unresolved=removed_unresolved,
        files=files,
        symbols=symbols,
        externals=sorted(wanted[row.dst] for row in {edge.dst: edge for edge in edges if edge.dst in wanted}.values()),
        chunks=chunks,
        edges=edges,
        unresolved=unresolved,
    )


def _by_id(old: Iterable[_Row], new: Iterable[_Row]) -> tuple[list[str], list[_Row]]:
    before = {row.id: row for row in old}
    after = {row.id: row for row in new}
    return sorted(before.keys() - after.keys()), [after[one] for one in sorted(after) if before.get(one) != after[one]]
