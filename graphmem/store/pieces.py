"""Whole tables of a database, read a piece at a time: the engine keeps the whole of an answer in its buffer pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from graphmem.store.write_edges import ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmem.store.catalog import Catalog
    from graphmem.store.engine import Connection
    from graphmem.store.tables import EmbeddingTable, NodeTable, Pair

PIECE_BYTES: Final = 16 << 20  # of rows in one answer, about
FIRST_PIECE: Final = 2_000  # nodes, before it is known how large their rows are
_GROWTH: Final = 4  # times as many nodes at most in the next piece


class Pieces:
    """Reads tables whole. A table without rows is one piece without rows, of all its columns.

    Args:
        connection: nobody writes through another one meanwhile, or it is in a read transaction.
        catalog: the named queries.
    """

    def __init__(self, connection: Connection, catalog: Catalog) -> None:
        self._connection = connection
        self._catalog = catalog
        self._last: dict[NodeTable, int] = {}

    def nodes(self, label: NodeTable) -> Iterator[pa.Table]:
        """All rows of one label, stale ones too, columns in the table's order."""
        return self._pieces("dump_nodes_between", self._last_of(label), label=label)

    def vectors(self, table: EmbeddingTable) -> Iterator[pa.Table]:
        """All vectors of one dimension."""
        return self._pieces("dump_embeddings_between", self._highest("last_embedding", table=table), table=table)

    def edges(self, pair: Pair) -> Iterator[pa.Table]:
        """All edges of one FROM … TO …, stale ones too: ids of the ends, then the columns in the table's order."""
        return self._pieces("dump_edges_between", self._last_of(pair.src), **ends(pair))

    def _last_of(self, label: NodeTable) -> int:
        if label not in self._last:
            self._last[label] = self._highest("last_node", label=label)
        return self._last[label]

    def _highest(self, query: str, **fills: Any) -> int:
        found = self._rows(query, **fills)["last"][0].as_py()
        return -1 if found is None else int(found)

    def _pieces(self, query: str, last: int, **fills: Any) -> Iterator[pa.Table]:
        first, step, some = 0, FIRST_PIECE, False
        while first <= last or not some:
            piece = self._rows(query, first=first, beyond=first + step, **fills)
            first += step
            if len(piece):
                step = max(1, min(PIECE_BYTES * step // max(1, piece.nbytes), _GROWTH * step))
            if len(piece) or (first > last and not some):
                some = True
                yield piece

    def _rows(self, query: str, **values: Any) -> pa.Table:
        table = self._connection.arrow(*self._catalog[query].bind(values))
        return table.rename_columns([name.split(".")[-1] for name in table.column_names])
