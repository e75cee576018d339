"""The GraphQL schema: derived root fields and handwritten ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import strawberry
from graphql import GraphQLError, GraphQLSchema
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from graphmem import answers, model
from graphmem.answers.injection import ContextReady
from graphmem.answers.marks import FILE, MEMORY, SYMBOL
from graphmem.api.execution.direct import Direct, direct
from graphmem.api.execution.documents import Documents
from graphmem.api.execution.executor import PlainExecutor
from graphmem.api.execution.guard import BRANCH, Guard, begun
from graphmem.api.requests.complexity import sized_by
from graphmem.api.requests.context import Connection, Info
from graphmem.api.requests.ids import as_ref, parse_global_id
from graphmem.api.requests.limits import ServerLimits, no_more_than
from graphmem.api.requests.progress import ahead
from graphmem.api.requests.repository import within_project
from graphmem.api.types import extras
from graphmem.api.types.derive import SCALARS, Node, object_type
from graphmem.api.types.describe import field, gql_type, resolved
from graphmem.api.types.roots import root_type
from graphmem.errors import BadInputError, MemoryNotFoundError

Found = answers.SymbolInfo | answers.FileInfo | answers.MemoryInfo
"""What a global id may lead to."""

_State = object_type(answers.IndexState)
_Summary = object_type(answers.IndexSummary)


@gql_type
class IndexProgress:
    """The progress of an index run: its stage, and what is done of it."""

    stage: str = field(
        "current stage: discover (find the files), parse, resolve (find the definitions of names), write (to the database), project "
        "(update the copies in memory), embed (compute vectors), done or failed"
    )
    done: int
    total: int = field("number of items in the current stage; 0 while the number is unknown")
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """The answer to a request for an index run: its id, or its summary."""

    run_id: str
    summary: answers.IndexSummary | None
    state: answers.IndexState


@gql_type
class IndexRun:
    """The answer of the mutation `index`, which requests an index run."""

    run_id: str = field("id of the run; empty if the request waited for the end of the run")
    summary: _Summary | None = field("result of the run, if the request waited for its end")  # type: ignore[valid-type]
    state: _State  # type: ignore[valid-type]


class Query:
    """Queries, which change no data.

    Fields that can fail are nullable, so that an error in one field does not discard the answers of the others.
    """

    @resolved(Node | None)
    @staticmethod
    async def node(info: Info, id: strawberry.ID) -> Found | None:  # noqa: A002 - Relay's name
        """The object with a global id; null if it no longer exists."""
        return await _node(info, id)

    @resolved(list[Node | None], [sized_by("ids")])
    @staticmethod
    async def nodes(info: Info, ids: list[strawberry.ID]) -> list[Found | None]:
        """Objects by global id, in the order of the ids."""
        no_more_than(info.context.limits.targets, "ids", list(ids))
        return await asyncio.gather(*(_node(info, one) for one in ids))

    @resolved(extras.Symbol | None)
    @staticmethod
    async def symbol(
        info: Info, ref: str | None = None, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> answers.SymbolInfo:
        """The symbol that a reference or a position means.

        `ref` is an id, `path:name`, `path:line`, a qualified or a bare name. A position is a `file` and a `line` (1-based), and
        optionally a `column` (0-based). If several symbols have the name, the error AMBIGUOUS lists them.
        """
        return await info.context.call(info.context.service.resolve, _one_ref(ref, file, line, column))


class Mutation:
    """Operations that change data.

    A change is stored before the answer is sent.
    """

    @resolved(IndexRun)
    @staticmethod
    async def index(info: Info, repo: str | None = None, full: bool = False, wait: bool = False) -> Run:
        """Bring the index up to date, or rebuild it with `full`.

        By default the call returns immediately with the id of the run, and `indexProgress` reports progress. With `wait` the call
        returns after the run, with its summary.
        """
        operation = info.context
        project = await operation.call(operation.service.project)
        path = within_project(project.root, repo)
        if wait:
            summary = await operation.wait_for(operation.service.index, path, full=full)
            return Run("", summary, await operation.call(operation.service.state))
        run_id = await operation.call(operation.service.start_index, path, full=full)
        return Run(run_id, None, await operation.call(operation.service.state))


@strawberry.type(description="Events that the server sends as they happen.")
class Subscription:
    """Events that the server sends as they happen."""

    @resolved(IndexProgress, subscription=True)
    @staticmethod
    async def index_progress(info: Info, follow: bool = True) -> AsyncIterator[model.IndexProgress]:
        """Steps of index runs as they happen.

        The subscription begins with the latest step of a run in progress. It ends with the run; with `follow` it continues with later runs.
        """
        async with aclosing(info.context.progress.steps(follow)) as steps:
            async for step in steps:
                yield step

    @resolved(object_type(answers.ImpactReport), [sized_by("limit", "hits", "tests")], subscription=True)
    @staticmethod
    async def impact_changed(
        info: Info, targets: list[str], max_depth: int = 5, min_confidence: float = 0.3, limit: int = 500
    ) -> AsyncIterator[answers.ImpactReport]:
        """The impact of the targets now, and after each index run that changes it.

        The subscription ends with the error NOT_FOUND when a target no longer exists.
        """
        operation = info.context
        no_more_than(operation.limits.targets, "targets", targets)
        refs = [as_ref(one) for one in targets]
        before: object = None
        async with aclosing(operation.progress.steps(follow=True)) as steps, ahead(steps) as following:
            while True:
                operation.begin_event()
                report = await operation.call(
                    operation.service.impact, refs, max_depth=max_depth, min_confidence=min_confidence, limit=limit
                )
                if (now := _gist(report)) != before:
                    before = now
                    yield report
                while (step := await following()) is not None and step.stage != "done":
                    pass
                if step is None:
                    return

    @resolved(object_type(answers.MemoryChange), subscription=True)
    @staticmethod
    async def memory_changed(info: Info) -> AsyncIterator[answers.MemoryChange]:
        """Accepted writes of memories, as they happen."""
        async with aclosing(info.context.memory_news.steps(follow=True)) as changes:
            async for change in changes:
                yield change

    @resolved(object_type(ContextReady), subscription=True)
    @staticmethod
    async def context_ready(info: Info, session: str | None = None) -> AsyncIterator[ContextReady]:
        """Notices that memories prepared for an agent can be fetched.

        `session` limits the notices to one session. By default, the notices of all sessions are sent.
        """
        async with aclosing(info.context.context_news.steps(follow=True)) as news:
            async for one in news:
                if session is None or one.session == session:
                    yield one


def _gist(report: answers.ImpactReport) -> object:
    """Return the parts of an impact report whose change is worth an event.

    A subscriber gets a new report only if one of these parts has changed: targets, hits, tests, risk, completeness and its causes. Notes on
    files that changed since the index run, and the rank among the project's symbols, are left out because they change too often.
    """
    risk = report.risk
    listed = [[(hit.symbol.id, hit.confidence, hit.depth) for hit in hits] for hits in (report.hits, report.tests)]
    return (
        [one.id for one in report.targets],
        listed,
        (risk.level, risk.at_least, risk.factors),
        report.epistemic,
        [one for one in report.causes if one.kind != "stale"],
    )


def _one_ref(ref: str | None, file: str | None, line: int | None, column: int | None) -> str:
    if ref is not None and file is None and line is None and column is None:
        return as_ref(ref)
    if ref is None and file is not None and line is not None:
        return f"{file}:{line}" if column is None else f"{file}:{line}:{column}"
    raise BadInputError("the request does not name a symbol; give either `ref`, or `file` and `line`", argument="ref")


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
    """The GraphQL schema with limits and a cache of parsed documents.

    `graphmem.api.execution.failures` handles errors, and logs each internal error once.
    """

    def __init__(self, limits: ServerLimits) -> None:
        super().__init__(
            query=root_type("query", Query),
            mutation=root_type("mutation", Mutation),
            subscription=Subscription,
            types=[extras.Symbol, extras.File, object_type(answers.MemoryInfo)],
            extensions=[lambda: Guard(self.documents)],
            execution_context_class=PlainExecutor,
            config=StrawberryConfig(scalar_map=SCALARS),
        )
        self.documents = Documents(self.graphql, limits)

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: object | None = None,
        root_value: object | None = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,
    ) -> ExecutionResult:
        """Run a query or mutation, directly if possible; see `direct`."""
        is_usual = not (operation_extensions or {}).get(BRANCH)
        if query and is_usual and (known := self._direct(query, operation_name, variable_values)) is not None:
            arguments = known.arguments(variable_values)
            if arguments is not None:
                result = await known.run(begun(cast("Connection", context_value), operation_extensions), arguments)
                if result is not None:
                    return result
        return await super().execute(
            query, variable_values, context_value, root_value, operation_name, allowed_operation_types, operation_extensions
        )

    def _direct(self, query: str, name: str | None, variables: dict[str, Any] | None) -> Direct | None:
        """Return an object that runs a query without the executor, or None.

        None means that the executor must run or refuse the operation `name` of the document `query`.
        """
        try:
            prepared = self.documents.prepare(query)
            if self.documents.refusal(prepared, name, variables):
                return None
            if name not in prepared.direct:
                prepared.direct[name] = direct(self, query, prepared.document, name, variables)
            return prepared.direct[name]
        except GraphQLError:
            return None

    @property
    def graphql(self) -> GraphQLSchema:
        """The schema as an object of graphql-core."""
        return self._schema

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Ignore errors here, because `graphmem.api.execution.failures` logs them."""


@cache
def build_schema(limits: ServerLimits) -> Schema:
    """Return the GraphQL schema with these limits.

    Equal limits give the same object.
    """
    return Schema(limits)
