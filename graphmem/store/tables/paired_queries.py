"""Pairs of queries that write the same rows: one by one, or all at once.

A statement for one row finds it by primary key. A query for many rows joins an Arrow table, which costs the same whatever its length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from graphmem.store.tables.arrow_rows import wanted
from graphmem.store.tables.transaction import Transaction

FEW: Final = 24  # up to this number rows are written one by one


class PairedQueries(NamedTuple):
    """Two queries that write the same rows: one for a row, one for many."""

    one: str  # name of the query for one row
    many: str  # name of the query for a table of rows
    values: Callable[[Any], dict[str, Any]]  # returns the parameters of `one` for a row
    table: Callable[[Sequence[Any]], pa.Table]  # returns the table for `many`
    few: int = FEW  # greatest number of rows that are written one by one

    def write(self, transaction: Transaction, rows: Sequence[object], **fills: object) -> None:
        """Write a few rows one by one, or many with a single query.

        `fills` are the values of the placeholders in both queries.
        """
        if len(rows) <= self.few:
            transaction.each(self.one, fills, [self.values(row) for row in rows])
        else:
            transaction.run(self.many, **fills, rows=self.table(rows))


DELETED_NODES: Final = PairedQueries("delete_node", "delete_nodes", lambda one: {"id": one}, wanted)
"""Deletes nodes by id; the placeholder `label` is their table."""
