"""A write transaction in which no statement runs after a failure.

When a statement fails, the engine silently ends the transaction. The next statement would run and be committed without the others. Here the
first failure makes the transaction unusable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from graphmem.errors import GraphMemError
from graphmem.store.engine.engine_errors import BREAKING

if TYPE_CHECKING:
    import pyarrow as pa

    from graphmem.store.engine.engine import Connection, Rows
    from graphmem.store.tables.catalog import Catalog

# COPY into a relationship table empties the table if its transaction rolls back; CHECKPOINT must run outside.
_OUTSIDE_ONLY = re.compile(r"\s*(COPY|CHECKPOINT|BEGIN|COMMIT|ROLLBACK)\b", re.I)


class CommitError(GraphMemError):
    """Error of a commit that may or may not have reached the disk.

    Only reopening the file shows whether the change is stored.
    """


class Transaction:
    """A write transaction that runs named queries.

    Use it as a context manager: the end of the block commits, an exception rolls back.

    Args:
        connection: the writer's connection, which is not used elsewhere meanwhile.
        catalog: the named queries.
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
            return  # the caller reopens the file; the engine must not be used any more
        if state == "dead" or error is not None:
            self._connection.roll_back()
            return
        try:
            self._connection.rows("COMMIT")
        except BREAKING:
            raise
        except GraphMemError as failure:
            raise CommitError(f"the change could not be committed to the database ({failure}); try again", **failure.facts) from failure

    def run(self, query: str, **values: object) -> Rows:
        """Run a named query; `values` are its parameters and placeholders."""
        text, params = self._catalog[query].bind(values)
        return self.statement(text, params)

    def arrow(self, query: str, **values: object) -> pa.Table:
        """Run a named query; return its rows as an Arrow table."""
        text, params = self._catalog[query].bind(values)
        with _Guard(self, text):
            return self._connection.arrow(text, params)

    def each(self, query: str, fills: Mapping[str, object], rows: Sequence[Mapping[str, object]]) -> list[list[Any]]:
        """Run a query for each parameter set; return the first row of each result.

        `fills` are the values of placeholders in every run. Each item of `rows` is one parameter set. If a run returns no row, its item in
        the result is [].
        """
        return [found[0] if found else [] for found in self.each_rows(query, fills, rows)]

    def each_rows(self, query: str, fills: Mapping[str, object], rows: Sequence[Mapping[str, object]]) -> list[list[list[Any]]]:
        """Run a named query for each parameter set; return all rows of each run.

        `fills` are the values of placeholders in every run. Each item of `rows` is one parameter set.
        """
        if not rows:
            return []
        text, _ = self._catalog[query].bind({**fills, **rows[0]})
        with _Guard(self, text):
            return self._connection.each_rows(text, rows)

    def statement(self, text: str, params: Mapping[str, object] | None = None) -> Rows:
        """Run a statement of a migration, or the text of a bound named query.

        A bound query is a named query whose placeholders were replaced by values. `params` are the parameters of the statement.
        """
        with _Guard(self, text):
            return self._connection.rows(text, params)


class _Guard:
    """Refuses a statement that must not run in this transaction.

    Statements are refused if the transaction is not open. Statements that cannot run inside any transaction are always refused. Use the
    guard in a `with` block around a statement. If the statement fails, the transaction becomes unusable.
    """

    def __init__(self, transaction: Transaction, text: str) -> None:
        self._transaction = transaction
        self._text = text

    def __enter__(self) -> None:
        state = self._transaction._state
        if state != "open":
            raise GraphMemError(
                f"the statement cannot run, because its transaction is {state}; begin a new transaction for the statement", state=state
            )
        if _OUTSIDE_ONLY.match(self._text):
            raise GraphMemError(
                f"the statement {self._text.split()[0]} cannot run inside a transaction; run it before or after the transaction",
                statement=self._text,
            )

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self._transaction._state = "dead"
