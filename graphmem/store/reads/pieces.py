"""Read whole tables in pieces of bounded size.

The pieces limit memory, because the engine keeps a whole result in its buffer pool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from graphmem.store.tables.tables import NodeTable
from graphmem.store.writes.write_edges import ends

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphmem.store.engine.engine import Connection
    from graphmem.store.tables.catalog import Catalog
    from graphmem.store.tables.tables import EmbeddingTable, Pair

PIECE_BYTES: Final = 16 << 20  # of rows in one result, approximately
FIRST_PIECE: Final = 2_000  # nodes, before the size of their rows is known
_GROWTH: Final = 4  # maximum growth of the next piece, in times the number of nodes


class Pieces:
    """Reads whole tables in pieces.

    A table without rows yields one empty piece with all its columns.

    Args:
        ask: runs a named query with its values. The pieces are consistent only if `ask` reads in one transaction, or if no other connection
            writes.
    """

    def __init__(self, ask: Callable[..., pa.Table]) -> None:
        self._ask = ask
        self._last: dict[NodeTable, int] = {}

    @classmethod
    def of(cls, connection: Connection, catalog: Catalog) -> Pieces:
        """Return a reader of tables that runs its queries on `connection`."""
        return cls(lambda query, **values: connection.arrow(*catalog[query].bind(values)))

    def live_chunks(self) -> Iterator[pa.Table]:
        """Yield all chunks of the current code and documents, in pieces."""
        return self._pieces("chunks_between", self._last_of(NodeTable.CHUNK))

    def nodes(self, label: NodeTable) -> Iterator[pa.Table]:
        """Yield all rows of one node table, such as Symbol, in pieces.

        Stale rows are included: rows of removed code that memories still link to. Columns are in the table's order.
        """
        return self._pieces("dump_nodes_between", self._last_of(label), label=label)

    def vectors(self, table: EmbeddingTable) -> Iterator[pa.Table]:
        """Yield the rows of a table of vectors, in pieces."""
        return self._pieces("dump_embeddings_between", self._highest("last_embedding", table=table), table=table)

    def edges(self, pair: Pair) -> Iterator[pa.Table]:
        """Yield all edges between two node tables, including those of stale nodes.

        A stale node is removed code to which a memory links. The columns are the ids of the two ends, then the columns of the edge table in
        their order.
        """
        return self._pieces("dump_edges_between", self._last_of(pair.src), **ends(pair))

    def _last_of(self, label: NodeTable) -> int:
        if label not in self._last:
            self._last[label] = self._highest("last_node", label=label)
        return self._last[label]

    def _highest(self, query: str, **fills: object) -> int:
        found = self._rows(query, **fills)["last"][0].as_py()
        return -1 if found is None else int(found)

    def _pieces(self, query: str, last: int, **fills: object) -> Iterator[pa.Table]:
        first, step, some = 0, FIRST_PIECE, False
        while first <= last or not some:
            piece = self._rows(query, first=first, beyond=first + step, **fills)
            first += step
            if len(piece):
                step = max(1, min(PIECE_BYTES * step // max(1, piece.nbytes), _GROWTH * step))
            if len(piece) or (first > last and not some):
                some = True
                yield piece

    def _rows(self, query: str, **values: object) -> pa.Table:
        table = self._ask(query, **values)
        return table.rename_columns([name.split(".")[-1] for name in table.column_names])
