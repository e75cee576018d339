"""Run read-only Cypher queries that users write.

Cypher is a query language for graphs. Such queries are refused unless the owner of the index enables them. The number of rows, the time
and the size of an answer are limited.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmem.answers.upkeep import CypherAnswer
from graphmem.errors import BadInputError, ForbiddenError
from graphmem.store.capabilities import cypher_queries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore


@dataclass(eq=False, repr=False)
class CypherQueries:
    """Runs read-only Cypher queries of users, if the settings allow it."""

    store: GraphStore
    book: MemoryRepository
    settings: Settings

    def cypher(self, query: str, params: Mapping[str, Any] | None = None, limit: int | None = None) -> CypherAnswer:
        """Run a Cypher query over the graph and return its rows.

        Args:
            query: MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN, UNION and the functions that docs/cypher.md lists.
            params: values by name, for `$name` in the query: strings, numbers, booleans and lists of these.
            limit: maximum number of rows, at most `limits.cypher_rows`; None for the limit in the settings.

        Raises:
            ForbiddenError: Cypher is not enabled, or the store does not support it.
            BadInputError: the query is not allowed, or the engine rejects it.
            LimitError: the answer is too large.
            DeadlineError: the query took longer than `limits.cypher_seconds`.
        """
        limits = self.settings.limits
        if not self.settings.cypher:
            raise ForbiddenError(
                "Cypher queries are switched off; set GRAPHMEM_CYPHER=true for the process that opens or serves the index", needs="cypher"
            )
        if not isinstance(query, str) or not query.strip():
            raise BadInputError("the Cypher query is empty; write MATCH … RETURN …", argument="query")
        most = limits.cypher_rows if limit is None else limit
        if not 1 <= most <= limits.cypher_rows:
            raise BadInputError(
                f"limit is {most}; use 1 to {limits.cypher_rows:,} rows", argument="limit", value=most, allowed=limits.cypher_rows
            )
        begun = time.perf_counter()
        self.book.flush()  # acknowledged writes must be visible to the query
        found = cypher_queries(self.store).ask(
            query, {} if params is None else params, most_rows=most, timeout_s=float(limits.cypher_seconds)
        )
        return CypherAnswer(found.columns, found.rows, found.cut, most, round(time.perf_counter() - begun, 4))
