"""GraphQL types about the index itself: the project, its state, what a run did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import strawberry

from graphmem import answers, model
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.enums import IndexStatus


@gql_type
class IndexState:
    """How far the answers can be trusted to be of today."""

    generation: int = field("counts completed changes of the graph; 0 before the first index")
    indexed_at: str = field("ISO 8601, UTC; empty before the first index")
    files: int
    symbols: int
    edges: int
    chunks: int
    vectors: int = field("chunks that have a vector of the current model")
    stage: str = field("of a run that is under way, else empty")
    done: int
    total: int = field("0 when not known")
    stale_files: int = field("files known to have changed since they were indexed")
    note: str
    stale: list[str] = field("the first 20 of those files, by path", directives=[assumed(20)])

    @resolved(IndexStatus)
    @staticmethod
    def status(parent: strawberry.Parent[answers.IndexState]) -> str:
        """Empty before the first index, indexing while a run is under way."""
        return parent.state


@gql_type
class Project:
    """The project this database belongs to."""

    name: str
    root: str
    data_dir: str
    version: str = field("of graphmem")
    engine: str = field("the graph database and its version")

    @resolved(IndexState)
    @staticmethod
    def index_state(parent: strawberry.Parent[answers.Project]) -> answers.IndexState:
        """State of the index."""
        return parent.state


@gql_type
class Count:
    """How many there are of something."""

    name: str
    count: int


@gql_type
class Duration:
    """How long something took."""

    name: str
    seconds: float


@gql_type
class Diagnostic:
    """Something a person should know about one file."""

    path: str
    severity: str = field("error, warning or note")
    code: str
    message: str
    line: int = field("1-based; 0 when it is about the whole file")


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of a mapping, as a list shows it."""

    name: str
    count: int = 0
    seconds: float = 0.0


def counts(mapping: dict[str, int]) -> list[Row]:
    """A mapping as a list of `Count`, in its own order."""
    return [Row(name, count=count) for name, count in mapping.items()]


def state() -> Any:
    """The field of an answer that says what state of the index gave it."""

    def resolve(parent: strawberry.Parent[Any]) -> Any:
        return parent.state

    return strawberry.field(resolver=resolve, description="State of the index that answered.", graphql_type=IndexState)


@gql_type
class IndexSummary:
    """What one run did."""

    mode: str = field("full, incremental or unchanged")
    generation: int
    files: int = field("in the index afterwards")
    changed: int
    removed: int
    symbols: int
    chunks: int
    call_sites: int
    unresolved: int = field("call sites whose target could not be told")
    diagnostic_count: int
    cpu_seconds: float = field("of the process and its workers")
    peak_memory_mb: float

    @resolved(list[Count], [assumed(10)])
    @staticmethod
    def skipped(parent: strawberry.Parent[answers.IndexSummary]) -> list[Row]:
        """Files that were skipped, by reason."""
        return counts(parent.skipped)

    @resolved(list[Count], [assumed(10)])
    @staticmethod
    def languages(parent: strawberry.Parent[answers.IndexSummary]) -> list[Row]:
        """Files by language."""
        return counts(parent.languages)

    @resolved(list[Count], [assumed(10)])
    @staticmethod
    def edges_by_kind(parent: strawberry.Parent[answers.IndexSummary]) -> list[Row]:
        """Edges by kind."""
        return counts(parent.edges_by_kind)

    @resolved(list[Count], [assumed(20)])
    @staticmethod
    def edges_by_rule(parent: strawberry.Parent[answers.IndexSummary]) -> list[Row]:
        """Edges by the rule that resolved them."""
        return counts(parent.edges_by_rule)

    @resolved(list[Count], [assumed(10)])
    @staticmethod
    def unresolved_by_reason(parent: strawberry.Parent[answers.IndexSummary]) -> list[Row]:
        """Unresolved call sites by reason."""
        return counts(parent.unresolved_by_reason)

    @resolved(list[Duration], [assumed(10)])
    @staticmethod
    def seconds(parent: strawberry.Parent[answers.IndexSummary]) -> list[Row]:
        """Wall time by stage, in order."""
        return [Row(name, seconds=seconds) for name, seconds in parent.seconds.items()]

    @resolved(list[Diagnostic], [assumed(200)])
    @staticmethod
    def diagnostics(parent: strawberry.Parent[answers.IndexSummary]) -> list[model.Diagnostic]:
        """The first diagnostics; `diagnosticCount` says how many there are."""
        return [model.Diagnostic(**row) for row in parent.diagnostics]


@gql_type
class IndexProgress:
    """One step of a run."""

    stage: str = field("discover, parse, resolve, write, project, embed, done or failed")
    done: int
    total: int = field("0 when not known yet")
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """What the `index` mutation answers."""

    run_id: str
    summary: answers.IndexSummary | None
    index_state: answers.IndexState


@gql_type
class IndexRun:
    """An index run."""

    run_id: str = field("empty when it was waited for")
    summary: IndexSummary | None = field("when it was waited for")
    index_state: IndexState
