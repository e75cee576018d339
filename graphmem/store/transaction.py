"""A write transaction that cannot leak a statement.

When a statement fails, the engine ends the transaction without a word and the next statement would run,
and be committed, on its own. Here the first failure makes the transaction dead: nothing runs in it any more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from graphmem.errors import GraphMemError
from graphmem.store.engine_errors import BREAKING

if TYPE_CHECKING:
    import pyarrow as pa

    from graphmem.store.catalog import Catalog
    from graphmem.store.engine import Connection, Rows

# COPY into a relationship table inside a transaction that rolls back empties the table; CHECKPOINT needs to be outside.
_OUTSIDE_ONLY = re.compile(r"\s*(COPY|CHECKPOINT|BEGIN|COMMIT|ROLLBACK)\b", re.I)


class CommitError(GraphMemError):
    """A commit failed: whether it is on disk is only known after the file was opened anew."""


class Transaction:
    """Named write queries, all or nothing.

    A context manager: leaving it commits, an exception rolls back.

    Args:
        connection: of the writer; nothing else uses it meanwhile.
        catalog: where the named queries are.
    """

    def __init__(self, connection: Connection, catalog: Catalog) -> None:
        self._connection = connection
        self._catalog = catalog
        self._state: Literal["new", "open", "dead", "done"] = "new"

    def __enter__(self) -> Transaction:
        self._connection.rows("BEGIN TRANSACTION")
        self._state = "open"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        state, self._state = self._state, "done"
        if state == "dead" and isinstance(error, BREAKING):
            return  # whoever sees this opens the file anew; the engine is not to be asked for anything
        if state == "dead" or error is not None:
            self._connection.roll_back()
            return
        try:
            self._connection.rows("COMMIT")
        except BREAKING:
            raise
        except GraphMemError as failure:
            raise CommitError(f"the change could not be committed: {failure}", **failure.facts) from failure

    def run(self, query: str, **values: Any) -> Rows:
        """One named query; `values` are its parameters and fills."""
        text, params = self._catalog[query].bind(values)
        return self.statement(text, params)

    def arrow(self, query: str, **values: Any) -> pa.Table:
        """One named query, its rows as Arrow."""
        text, params = self._catalog[query].bind(values)
        with _Guard(self, text):
            return self._connection.arrow(text, params)

    def each(self, query: str, fills: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        """One named query for each of these parameter sets, planned once; the first row of each answer."""
        return [found[0] if found else [] for found in self.each_rows(query, fills, rows)]

    def each_rows(self, query: str, fills: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[list[list[Any]]]:
        """One named query for each of these parameter sets, planned once; all rows of each answer."""
        if not rows:
            return []
        text, _ = self._catalog[query].bind({**fills, **rows[0]})
        with _Guard(self, text):
            return self._connection.each_rows(text, rows)

    def statement(self, text: str, params: Mapping[str, Any] | None = None) -> Rows:
        """One statement of a migration, or of a named query that was bound already."""
        with _Guard(self, text):
            return self._connection.rows(text, params)


class _Guard:
    """Refuses a statement when the transaction is not open, and kills the transaction when one fails."""

    def __init__(self, transaction: Transaction, text: str) -> None:
        self._transaction = transaction
        self._text = text

    def __enter__(self) -> None:
        state = self._transaction._state
        if state != "open":
            raise GraphMemError(f"the transaction is {state}: the statement would run outside of it; begin another", state=state)
        if _OUTSIDE_ONLY.match(self._text):
            raise GraphMemError(f"{self._text.split()[0]} must not run inside a transaction", statement=self._text)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self._transaction._state = "dead"
