"""What this door needs of the service: the verbs, as a protocol.

`graphmem.service.graphmem.GraphMem` has them. All are synchronous and may be called from any
thread; they return the dataclasses of `graphmem.answers` and raise what is in `graphmem.errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Protocol, TypeVar

from graphmem.answers import (
    AuditPage,
    DeleteAnswer,
    DiffImpact,
    FileInfo,
    Forgotten,
    ImpactReport,
    ImportAnswer,
    IndexState,
    IndexSummary,
    MemoryChange,
    MemoryInfo,
    MemoryPage,
    PathAnswer,
    Picture,
    Project,
    PruneAnswer,
    RebuildAnswer,
    RememberAnswer,
    RememberManyAnswer,
    ReviewQueue,
    Rule,
    ScanAnswer,
    SearchAnswer,
    Site,
    Subgraph,
    SymbolDetail,
    SymbolInfo,
    SyncAnswer,
    TermAlias,
    Timeline,
)
from graphmem.answers.injection import ContextAccepted, ContextReady, HookAnswer, Injection, Prefetch, StepLimit, TrustState
from graphmem.answers.upkeep import BackupInfo, CompactAnswer, CypherAnswer, Health, RebuildAllAnswer, RestoreAnswer, VerifyAnswer
from graphmem.api.verbs_history import HistoryService
from graphmem.api.verbs_learning import LearningService
from graphmem.api.verbs_semantic import SemanticService
from graphmem.api.verbs_sessions import SessionService
from graphmem.model import IndexProgress

Relation = Literal["callers", "callees", "references", "bases", "subclasses", "overrides", "overridden_by", "members", "tests"]
Direction = Literal["dependents", "dependencies"]


News = TypeVar("News", covariant=True)


class NewsFeed(Protocol[News]):
    """News as it happens; leaving the context ends the iteration in any thread."""

    def __enter__(self) -> Iterator[News]:
        """Start listening."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop listening."""


class Service(SemanticService, SessionService, HistoryService, LearningService, Protocol):
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

    def files(self, prefix: str = "", limit: int = 100, offset: int = 0, query: str = "") -> tuple[list[FileInfo], int]:
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

    def atlas(self, edges: int = 6_000) -> Picture:
        """The map of the project."""

    def atlas_symbols(self, paths: Sequence[str], limit: int = 5_000) -> Picture:
        """Symbols of some files where they lie on the map."""

    def neighbourhood(
        self, refs: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, min_confidence: float = 0.0, limit: int = 200
    ) -> Picture:
        """What some symbols depend on and who depends on them, with places."""

    def search(
        self,
        query: str,
        k: int = 10,
        files: Iterable[str] | None = None,
        within: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        types: Iterable[str] | None = None,
        phase: str = "",
        retired: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = True,
        budget_tokens: int | None = None,
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

    def subscribe_progress(self) -> NewsFeed[IndexProgress]:
        """Listen to index runs."""

    def export(self) -> Iterator[dict[str, Any]]:
        """Every node and edge, one JSON object each."""

    def subscribe_memories(self) -> NewsFeed[MemoryChange]:
        """Listen to changes of memories."""

    # ---- memories; ids are full ids, short ids, or beginnings that fit one memory

    @property
    def remember(self) -> Callable[..., RememberAnswer]:
        """Keep a piece of knowledge; the arguments are those of `RememberInput`."""

    def remember_many(self, items: Sequence[Mapping[str, Any]], *, skip_invalid: bool = False, actor: str = "") -> RememberManyAnswer:
        """Keep many in one write."""

    def update_memory(self, id: str, *, actor: str = "", **changes: Any) -> MemoryInfo:  # noqa: A002
        """Change fields of a memory."""

    def forget(self, id: str, hard: bool = False, actor: str = "") -> Forgotten:  # noqa: A002
        """Take a memory out of search, or for good."""

    def pin(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """Always of use."""

    def unpin(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """An ordinary memory again."""

    def verify(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """A person says that it is true."""

    def dispute(self, id: str, reason: str = "", actor: str = "") -> MemoryInfo:  # noqa: A002
        """Somebody says that it is not."""

    def resolve_conflict(self, winner: str, loser: str | None = None, note: str = "", actor: str = "") -> MemoryInfo:
        """A steward decides."""

    def note_use(self, ids: Sequence[str], use: str = "used", session: str | None = None) -> None:
        """Count what was shown, used or agreed with."""

    def set_alias(self, term: str, means: Sequence[str], actor: str = "") -> TermAlias:
        """Words that a search for a term also looks for."""

    def aliases(self) -> list[TermAlias]:
        """All of them."""

    def memory(self, id: str) -> MemoryInfo:  # noqa: A002
        """A memory."""

    def memories(self, query: Mapping[str, Any] | None = None, sort: str = "newest", limit: int = 50, offset: int = 0) -> MemoryPage:
        """A page of those that pass a filter."""

    def timeline(self, id: str, n: int = 5) -> Timeline:  # noqa: A002
        """A memory among its neighbours in time."""

    def review_queue(self, limit: int = 50, offset: int = 0) -> ReviewQueue:
        """Those that want a person's eye."""

    def audit(self, memory: str | None = None, limit: int = 100, offset: int = 0) -> AuditPage:
        """Who did what."""

    def prune(self, dry_run: bool = False, actor: str = "") -> PruneAnswer:
        """Retire what has faded, expired, or is too much."""

    def retract(self, origin: str, hard: bool = False, dry_run: bool = False, actor: str = "") -> Forgotten:
        """Take back everything that came from somewhere."""

    def rebuild_memories(self) -> RebuildAnswer:
        """Make every memory anew from the journal alone."""

    def scan_secrets(self, dry_run: bool = True, actor: str = "") -> ScanAnswer:
        """Look for secrets in everything stored."""

    def delete_all(self, confirm: str, actor: str = "") -> DeleteAnswer:
        """Delete every memory, for good."""

    # ---- what is put in front of an agent

    def context(
        self,
        point: str,
        session: str = "",
        text: str = "",
        files: Sequence[str] = (),
        phase: str = "",
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
        deadline_s: float | None = None,
        begun: float | None = None,
    ) -> Injection:
        """What to show at a point of a session, by its deadline."""

    def context_update(self, session: str, messages: Sequence[str] = (), files: Sequence[str] = (), phase: str = "") -> ContextAccepted:
        """Say what a conversation is about."""

    def context_take(
        self,
        session: str,
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
        deadline_s: float | None = None,
        begun: float | None = None,
    ) -> Injection:
        """What was made ready."""

    def subscribe_context(self) -> NewsFeed[ContextReady]:
        """Listen to contexts that become ready."""

    def plan_context(
        self,
        task: str,
        modules: Sequence[str] = (),
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
        session: str = "",
    ) -> Injection:
        """What past work says about a task."""

    def relay(
        self,
        before: str,
        to: str,
        session: str = "",
        text: str = "",
        format: str = "xml",  # noqa: A002
        remaining: int | None = None,
    ) -> Injection:
        """What one phase hands the next."""

    def prefetch(self, module: str) -> Prefetch:
        """Files to read before work on a module begins."""

    def step_limit(self, module: str, base: int) -> StepLimit:
        """How many steps work on a module may take."""

    def context_budget(self, remaining: int | None = None) -> dict[str, int]:
        """Tokens that may be shown, by section."""

    def trust(self) -> TrustState:
        """How sure a memory must be to be shown unasked."""

    def set_trust_level(self, level: str) -> TrustState:
        """Choose how sure."""

    def hook(self, agent: str, payload: str, begun: float | None = None) -> HookAnswer:
        """An event of a coding agent's hook."""

    # ---- upkeep

    def health(self) -> Health:
        """Whether the index answers, and what it does without."""

    def doctor(self) -> dict[str, Any]:
        """What the index is made of and what is missing from it."""

    def cypher(self, query: str, params: Mapping[str, Any] | None = None, limit: int | None = None) -> CypherAnswer:
        """Rows of a query that a person wrote."""

    def backups(self) -> list[BackupInfo]:
        """Backups in the index's own folder, newest first."""

    def backup(self, dest: str | None = None, portable: bool = False) -> BackupInfo:
        """Write a backup, read it back, open it."""

    def restore(self, file: str, rules: bool = False) -> RestoreAnswer:
        """Go back to a backup."""

    def verify_index(self, deep: bool = False) -> VerifyAnswer:
        """Hold everything against what it was made of."""

    def rebuild(self) -> RebuildAllAnswer:
        """Make everything anew."""

    def compact(self) -> CompactAnswer:
        """Write the database into a new file."""

    # ---- people's files

    def export_memories(self, format: str = "json", personal: bool = True) -> str:  # noqa: A002
        """Everything that is known, as text."""

    def import_memories(self, text: str, path: str = "", format: str = "", actor: str = "") -> ImportAnswer:  # noqa: A002
        """Read memories from an export or a file of another tool."""

    def sync_file(
        self, path: str | None = None, dry_run: bool = False, actor: str = "", *, personal: bool = False, remote: bool = False
    ) -> SyncAnswer:
        """Carry changes between MEMORY.md and the graph."""

    def rules(self, files: Sequence[str] | None = None) -> tuple[list[Rule], list[str]]:
        """The texts that are always put in front of an agent."""
