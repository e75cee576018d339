"""Questions of the explorer: pieces of the graph with a place for everything in them."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.scalars import JSON

from graphmem import answers
from graphmem.api.context import Info
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.enums import EdgeKind
from graphmem.api.ids import as_ref
from graphmem.api.limits import at_most, no_more_than
from graphmem.api.types_index import IndexState


@gql_type
class Picture:
    """A piece of the graph with a place for everything in it, laid out on the server."""

    left_out: int = field("of what was asked for, because of a limit")

    @resolved(JSON)
    @staticmethod
    def columns(parent: strawberry.Parent[answers.Picture]) -> Any:
        """Equally long lists by name, compact enough to draw thousands of nodes.

        Edges hold positions in the lists of nodes: `src` depends on `dst`. Lengths are in units of the picture, y grows downwards.
        """
        return parent.columns

    @resolved(IndexState)
    @staticmethod
    def index_state(parent: strawberry.Parent[answers.Picture]) -> answers.IndexState:
        """State of the index that answered."""
        return parent.state


@strawberry.type
class PictureQueries:
    """Part of `Query`."""

    @resolved(Picture | None)
    @staticmethod
    async def atlas(info: Info, edges: int = 6000) -> answers.Picture:
        """The map of the project: `modules`, `files` in them, `moduleEdges` and the heaviest `fileEdges`."""
        return await info.context.call(info.context.service.atlas, edges=edges)

    @resolved(Picture | None)
    @staticmethod
    async def atlas_symbols(info: Info, paths: list[str], limit: int = 5000) -> answers.Picture:
        """The `symbols` of some files where they lie on the map, and the `edges` among them."""
        return await info.context.call(
            info.context.service.atlas_symbols,
            no_more_than(info.context.limits.targets, "paths", paths),
            limit=at_most(info.context.limits.hits, "limit", limit),
        )

    @resolved(Picture | None)
    @staticmethod
    async def heat_history(info: Info, steps: int = 24) -> answers.Picture:
        """Hot spots at moments of the past: `at`, `commits` until then, `paths`, and `scores`, a list for each moment."""
        return await info.context.wait_for(info.context.service.heat_history, steps)

    @resolved(Picture | None)
    @staticmethod
    async def neighbourhood(
        info: Info, refs: list[str], depth: int = 1, kinds: list[EdgeKind] | None = None, min_confidence: float = 0.0, limit: int = 200
    ) -> answers.Picture:
        """Symbols, what they depend on and who depends on them: `nodes` by side (steps to the right, negative to the left), `edges`."""
        return await info.context.call(
            info.context.service.neighbourhood,
            [as_ref(one) for one in no_more_than(info.context.limits.targets, "refs", refs)],
            depth=depth,
            kinds=None if kinds is None else [one.value for one in kinds],
            min_confidence=min_confidence,
            limit=at_most(info.context.limits.hits, "limit", limit),
        )
