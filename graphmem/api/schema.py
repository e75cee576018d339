"""The schema: each root field parses its arguments, calls one verb and hands the answer on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from enum import StrEnum
from functools import cache
from typing import Annotated

import strawberry
from graphql import GraphQLError
from strawberry.types import ExecutionContext

from graphmem import answers, model
from graphmem.api import types_index, types_memory, types_report, types_symbol
from graphmem.api.complexity import sized_by
from graphmem.api.context import Info
from graphmem.api.cypher import CypherQueries
from graphmem.api.describe import resolved
from graphmem.api.documents import Documents
from graphmem.api.enums import Direction, EdgeKind, SearchKind, SymbolKind
from graphmem.api.executor import PlainExecutor
from graphmem.api.guard import Guard
from graphmem.api.history import HistoryMutations, HistoryQueries
from graphmem.api.ids import FILE, MEMORY, SYMBOL, as_ref, parse_global_id
from graphmem.api.injection import ContextMutations, ContextQueries, ContextSubscriptions
from graphmem.api.learning import LearningMutations, LearningQueries
from graphmem.api.limits import ServerLimits, at_most, no_more_than, page
from graphmem.api.memories import MemoryMutations, MemoryQueries
from graphmem.api.pictures import PictureQueries
from graphmem.api.repository import within_project
from graphmem.api.semantic import SemanticQueries
from graphmem.api.sessions import SessionMutations, SessionQueries
from graphmem.api.types_symbol import Rows, rows
from graphmem.api.upkeep import UpkeepMutations, UpkeepQueries
from graphmem.errors import BadInputError, MemoryNotFoundError

Found = answers.SymbolInfo | answers.FileInfo | answers.MemoryInfo
"""What a global id may lead to."""


def _values(chosen: Sequence[StrEnum] | None) -> list[str] | None:
    return None if chosen is None else [one.value for one in chosen]


def _refs(info: Info, argument: str, given: list[str]) -> list[str]:
    return [as_ref(one) for one in no_more_than(info.context.limits.targets, argument, given)]


@strawberry.type(description="Questions about the code.")
class Query(
    MemoryQueries,
    PictureQueries,
    UpkeepQueries,
    CypherQueries,
    SemanticQueries,
    ContextQueries,
    HistoryQueries,
    LearningQueries,
    SessionQueries,
):
    """The root of questions. Those that can be refused are nullable, so that one refusal leaves the others their answers."""

    @resolved(types_index.Project)
    @staticmethod
    async def project(info: Info) -> answers.Project:
        """The project this database belongs to."""
        return await info.context.call(info.context.service.project)

    @resolved(types_index.IndexState)
    @staticmethod
    async def index_state(info: Info) -> answers.IndexState:
        """How far the answers can be trusted to be of today."""
        return await info.context.call(info.context.service.state)

    @resolved(types_symbol.Node | None)
    @staticmethod
    async def node(info: Info, id: strawberry.ID) -> Found | None:  # noqa: A002 - Relay's name
        """The object with a global id; null when it is not there any more."""
        return await _node(info, id)

    @resolved(list[types_symbol.Node | None], [sized_by("ids")])
    @staticmethod
    async def nodes(info: Info, ids: list[strawberry.ID]) -> list[Found | None]:
        """Objects by global id, in the order asked."""
        no_more_than(info.context.limits.targets, "ids", list(ids))
        return await asyncio.gather(*(_node(info, one) for one in ids))

    @resolved(types_symbol.Symbol | None)
    @staticmethod
    async def symbol(
        info: Info, ref: str | None = None, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> answers.SymbolInfo:
        """The symbol a reference or a position means.

        `ref` is an id, `path:name`, `path:line`, a qualified or a bare name; or give `file` and
        `line` (1-based) and, to be exact, `column` (0-based). A name that several symbols have is
        refused with AMBIGUOUS and the candidates.
        """
        return await info.context.call(info.context.service.resolve, _one_ref(ref, file, line, column))

    @resolved(types_symbol.SymbolConnection | None, [sized_by("first", "edges")])
    @staticmethod
    async def symbols(
        info: Info, query: str = "", kinds: list[SymbolKind] | None = None, first: int = 50, after: str | None = None
    ) -> Rows:
        """Symbols whose name matches, best match first; several words are looked for in name, class and path."""
        at = page(info.context.limits, first, after)
        found, total = await info.context.call(info.context.service.symbols, query, _values(kinds), limit=at.first, offset=at.offset)
        return rows(found, total, at)

    @resolved(types_symbol.FileConnection | None, [sized_by("first", "edges")])
    @staticmethod
    async def files(info: Info, prefix: str = "", query: str = "", first: int = 50, after: str | None = None) -> Rows:
        """Files of the index whose path begins with `prefix` and holds every word of `query`."""
        at = page(info.context.limits, first, after)
        found, total = await info.context.call(info.context.service.files, prefix, limit=at.first, offset=at.offset, query=query)
        return rows(found, total, at)

    @resolved(types_report.ImpactReport | None, [sized_by("limit", "hits", "tests")])
    @staticmethod
    async def impact(
        info: Info,
        targets: list[str],
        direction: Direction = Direction.DEPENDENTS,
        max_depth: int = 5,
        min_confidence: float = 0.3,
        kinds: list[EdgeKind] | None = None,
        limit: int = 1000,
    ) -> answers.ImpactReport:
        """Who could behave differently if the targets change; targets are references or ids, as in `symbol`."""
        return await info.context.call(
            info.context.service.impact,
            _refs(info, "targets", targets),
            direction=direction.value,
            max_depth=max_depth,
            min_confidence=min_confidence,
            kinds=_values(kinds),
            limit=at_most(info.context.limits.hits, "limit", limit),
        )

    @resolved(types_report.DiffImpact | None, [sized_by("limit", "impact.hits", "impact.tests")])
    @staticmethod
    async def impact_of_diff(
        info: Info,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: int = 5,
        min_confidence: float = 0.3,
        limit: int = 1000,
    ) -> answers.DiffImpact:
        """What a change breaks: a unified diff, or what lies between two revisions (the working tree without `head`)."""
        if diff is not None and (base is not None or head is not None):
            raise BadInputError("Give either diff or base and head, not both", argument="diff")
        return await info.context.call(
            info.context.service.impact_of_diff,
            diff=diff,
            base=base,
            head=head,
            max_depth=max_depth,
            min_confidence=min_confidence,
            limit=at_most(info.context.limits.hits, "limit", limit),
        )

    @resolved(types_report.PathAnswer | None)
    @staticmethod
    async def path(
        info: Info,
        from_: Annotated[str, strawberry.argument(name="from")],
        to: str,
        max_depth: int = 10,
        min_confidence: float = 0.05,
        kinds: list[EdgeKind] | None = None,
    ) -> answers.PathAnswer:
        """The most confident way in which `from` depends on `to`."""
        return await info.context.call(
            info.context.service.path,
            as_ref(from_),
            as_ref(to),
            max_depth=max_depth,
            min_confidence=min_confidence,
            kinds=_values(kinds),
        )

    @resolved(types_report.Subgraph | None, [sized_by("limit", "nodes", "edges")])
    @staticmethod
    async def subgraph(
        info: Info, seeds: list[str], depth: int = 1, kinds: list[EdgeKind] | None = None, limit: int = 500
    ) -> answers.Subgraph:
        """The piece of the graph around some symbols, in both directions."""
        return await info.context.call(
            info.context.service.subgraph,
            _refs(info, "seeds", seeds),
            depth=depth,
            kinds=_values(kinds),
            limit=at_most(info.context.limits.hits, "limit", limit),
        )

    @resolved(types_report.SearchAnswer | None, [sized_by("k", "hits")])
    @staticmethod
    async def search(
        info: Info,
        query: str,
        k: int = 10,
        files: list[str] | None = None,
        within: list[str] | None = None,
        kinds: list[SearchKind] | None = None,
        types: list[str] | None = None,
        phase: str = "",
        retired: bool = False,
        as_of: str | None = None,
        explain: bool = True,
        budget_tokens: int | None = None,
    ) -> answers.SearchAnswer:
        """Search in code and memories by words and by meaning.

        `files` are open right now and lift what is near them; `within` narrows the answer to paths. `types`, `phase` (define,
        implement, validate, refine, explore, reflect), `retired` and `asOf` (ISO 8601) choose among memories; `explain` says how each
        score came about. With `budgetTokens` the answer's `packed` holds the hits as one text of at most so many tokens.
        """
        return await info.context.call(
            info.context.service.search,
            query,
            k=at_most(info.context.limits.results, "k", k),
            files=files,
            within=within,
            kinds=_values(kinds),
            types=types,
            phase=phase,
            retired=retired,
            as_of=as_of,
            explain=explain,
            budget_tokens=budget_tokens,
        )


@strawberry.type(description="Changes.")
class Mutation(MemoryMutations, UpkeepMutations, ContextMutations, HistoryMutations, LearningMutations, SessionMutations):
    """The root of changes."""

    @resolved(types_index.IndexRun)
    @staticmethod
    async def index(info: Info, path: str | None = None, full: bool = False, wait: bool = False) -> types_index.Run:
        """Bring the index up to date, or build it anew with `full`.

        Answers at once, with the run's id, while `indexProgress` tells how it goes; with `wait` it
        answers when the run is over, with its summary.
        """
        operation = info.context
        project = await operation.call(operation.service.project)
        repo = within_project(project.root, path)
        if wait:
            summary = await operation.wait_for(operation.service.index, repo, full=full)
            return types_index.Run("", summary, await operation.call(operation.service.state))
        run_id = await operation.call(operation.service.start_index, repo, full=full)
        return types_index.Run(run_id, None, await operation.call(operation.service.state))


@strawberry.type(description="News.")
class Subscription(ContextSubscriptions):
    """The root of subscriptions."""

    @resolved(types_index.IndexProgress, subscription=True)
    @staticmethod
    async def index_progress(info: Info, follow: bool = True) -> AsyncIterator[model.IndexProgress]:
        """Steps of index runs as they happen, beginning with the latest of a run under way.

        Ends with the run; with `follow` it goes on to the next ones.
        """
        async with aclosing(info.context.progress.steps(follow)) as steps:
            async for step in steps:
                yield step

    @resolved(types_memory.MemoryChange, subscription=True)
    @staticmethod
    async def memory_changed(info: Info) -> AsyncIterator[answers.MemoryChange]:
        """Accepted writes of memories, as they happen."""
        async with aclosing(info.context.memory_news.steps(follow=True)) as changes:
            async for change in changes:
                yield change


def _one_ref(ref: str | None, file: str | None, line: int | None, column: int | None) -> str:
    if ref is not None and file is None and line is None and column is None:
        return as_ref(ref)
    if ref is None and file is not None and line is not None:
        return f"{file}:{line}" if column is None else f"{file}:{line}:{column}"
    raise BadInputError("Give either ref, or file and line (and column)", argument="ref")


async def _node(info: Info, text: str) -> Found | None:
    named = parse_global_id(text)
    if named.type_name == MEMORY:
        try:
            return await info.context.call(info.context.service.memory, named.id)
        except MemoryNotFoundError:
            return None
    if named.type_name not in (SYMBOL, FILE):
        return None
    found = await info.context.loaders.symbols.load(named.id)
    if found is None or named.type_name == SYMBOL:
        return found
    return await info.context.loaders.files.load(found.path)


class Schema(strawberry.Schema):
    """The schema under a set of limits, with its cache of documents.

    Errors are left to `graphmem.api.failures`: logged once, when they are shaped, and only if they are ours.
    """

    def __init__(self, limits: ServerLimits) -> None:
        super().__init__(
            query=Query,
            mutation=Mutation,
            subscription=Subscription,
            types=[types_symbol.Symbol, types_symbol.File, types_memory.Memory],
            extensions=[lambda: Guard(self.documents)],
            execution_context_class=PlainExecutor,
        )
        self.documents = Documents(self._schema, limits)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing."""


@cache
def build_schema(limits: ServerLimits) -> Schema:
    """The schema under these limits; the same object for the same limits."""
    return Schema(limits)
