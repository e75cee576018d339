"""What this door needs of the service: the verbs, as a protocol.

`graphmem.service.graphmem.GraphMem` has them. All are synchronous and may be called from any
thread; they return the dataclasses of `graphmem.answers` and raise what is in `graphmem.errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Protocol

from graphmem.answers import (
    DiffImpact,
    FileInfo,
    ImpactReport,
    IndexState,
    IndexSummary,
    PathAnswer,
    Project,
    SearchAnswer,
    Site,
    Subgraph,
    SymbolDetail,
    SymbolInfo,
)
from graphmem.model import IndexProgress

Relation = Literal["callers", "callees", "references", "bases", "subclasses", "overrides", "overridden_by", "members", "tests"]
Direction = Literal["dependents", "dependencies"]


class ProgressFeed(Protocol):
    """Progress of index runs as it happens; leaving the context ends the iteration in any thread."""

    def __enter__(self) -> Iterator[IndexProgress]:
        """Start listening."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop listening."""


class Service(Protocol):
    """The verbs."""

    def project(self) -> Project:
        """The project this database belongs to."""

    def state(self) -> IndexState:
        """How far answers can be trusted to be of today."""

    def symbol(self, ref: str, source: bool = False) -> SymbolDetail:
        """The symbol a reference means: id, `path:name`, `path:line[:column]`, qualified or bare name."""

    def resolve(self, ref: str) -> SymbolInfo:
        """The same, without what stands around it."""

    def file_info(self, paths: list[str]) -> list[FileInfo | None]:
        """Files by path, in the order asked; None where there is none."""

    def symbol_info(self, ids: list[str]) -> list[SymbolInfo | None]:
        """Symbols by id, in the order asked; None where there is none."""

    def symbols(self, query: str, kinds: Sequence[str] | None = None, limit: int = 50, offset: int = 0) -> tuple[list[SymbolInfo], int]:
        """A page of the symbols whose name matches, and how many there are."""

    def files(self, prefix: str = "", limit: int = 100, offset: int = 0) -> tuple[list[FileInfo], int]:
        """A page of the files below a prefix, by path, and how many there are."""

    def sites(self, ids: list[str], relation: Relation, limit: int) -> dict[str, list[Site]]:
        """For each id the first `limit` edges of a relation."""

    def details(self, ids: list[str]) -> Mapping[str, Mapping[str, Any]]:
        """For each id `doc`, `modifiers`, `complexity` and `parent` (an id or "")."""

    def source(self, id: str) -> str:  # noqa: A002 - the word of the domain
        """The text of a symbol."""

    def impact(
        self,
        targets: Sequence[str],
        direction: Direction = "dependents",
        max_depth: int = 5,
        min_confidence: float = 0.3,
        kinds: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> ImpactReport:
        """Who could behave differently if the targets change."""

    def impact_of_diff(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: int = 5,
        min_confidence: float = 0.3,
        limit: int = 1000,
    ) -> DiffImpact:
        """The same for a unified diff or a git range."""

    def path(
        self, source: str, target: str, max_depth: int = 10, min_confidence: float = 0.05, kinds: Sequence[str] | None = None
    ) -> PathAnswer:
        """The most confident dependency path between two symbols."""

    def subgraph(self, seeds: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, limit: int = 500) -> Subgraph:
        """The piece of the graph around some symbols."""

    def search(
        self,
        query: str,
        k: int = 10,
        files: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        explain: bool = True,
    ) -> SearchAnswer:
        """Hybrid search, best hit first."""

    def index(
        self,
        repo: str | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexSummary:
        """Index and return when it is done."""

    def start_index(self, repo: str | None = None, full: bool = False) -> str:
        """Index in the background; the id of the run."""

    def subscribe_progress(self) -> ProgressFeed:
        """Listen to index runs."""

    def export(self) -> Iterator[dict[str, Any]]:
        """Every node and edge, one JSON object each."""
