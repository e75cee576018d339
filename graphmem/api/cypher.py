"""The root field of people's own Cypher."""

from __future__ import annotations

from typing import Any, cast

import strawberry
from strawberry.scalars import JSON

from graphmem.answers import upkeep as answers
from graphmem.api.context import Info
from graphmem.api.describe import field, gql_type, resolved


@gql_type
class CypherAnswer:
    """Rows of a Cypher query."""

    columns: list[str] = field("their names, in order")
    cut: bool = field("there are more rows than were wanted")
    limit: int = field("rows that were wanted")
    seconds: float

    @resolved(JSON)
    @staticmethod
    def rows(parent: strawberry.Parent[answers.CypherAnswer]) -> Any:
        """A list of rows, each a list with a value for each column."""
        return parent.rows


@strawberry.type
class CypherQueries:
    """Part of `Query`."""

    @resolved(CypherAnswer | None)
    @staticmethod
    async def cypher(info: Info, query: str, params: JSON | None = None, limit: int | None = None) -> answers.CypherAnswer:
        """Rows of a Cypher query over the graph: read-only, off unless the server was told otherwise, for tokens of admins.

        `params` is an object with the values of `$name`; docs/cypher.md says what may be written.
        """
        return await info.context.call(info.context.service.cypher, query, cast("dict[str, Any] | None", params), limit)
