"""The verbs of GraphMem over a running server, and `connect`, which finds out who can answer.

One process owns an index (see `graphmem.service.owner`); whoever comes later is its client. `connect`
hides the difference: what it gives has the same verbs and answers with the same dataclasses.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from graphmem._remote import LONG_S, RemoteMemoryVerbs, cursor
from graphmem._remote_context import RemoteContextVerbs
from graphmem._remote_history import RemoteHistoryVerbs
from graphmem._remote_learning import RemoteLearningVerbs
from graphmem._remote_semantic import RemoteSemanticVerbs
from graphmem._remote_sessions import RemoteSessionVerbs
from graphmem._remote_upkeep import RemoteUpkeepVerbs
from graphmem._wire import Wire, rebuild
from graphmem.answers import (
    DiffImpact,
    FileInfo,
    ImpactReport,
    IndexState,
    IndexSummary,
    PathAnswer,
    Picture,
    Project,
    SearchAnswer,
    Subgraph,
    SymbolDetail,
    SymbolInfo,
)
from graphmem.errors import BadInputError, GraphMemError, IndexCancelledError, NotIndexedError, StoreBusyError
from graphmem.model import IndexProgress
from graphmem.service import owner
from graphmem.service.starting import find_or_start

if TYPE_CHECKING:
    from graphmem.service.graphmem import GraphMem
    from graphmem.settings import Location, Settings

Service: TypeAlias = "GraphMem | RemoteGraphMem"

TIMEOUT_S: Final = 60.0  # between two pieces of an answer; the server's own limit is shorter
BUSY_PATIENCE_S: Final = 20.0  # two commands at once: the second waits for the first, and so long for each that comes before it
QUEUE_PATIENCE_S: Final = 120.0  # for all that come before it
PAGE: Final = 1_000  # rows one request of a list may bring


def connect_or_start(location: Location) -> RemoteGraphMem:
    """The server of an index, started when nobody serves it (see `graphmem.service.starting`).

    Raises:
        OwnerUnreachableError: it does not answer, or could not be started.
    """
    serving = find_or_start(location)
    return RemoteGraphMem(serving.address, serving.token)


def connect(location: Location, settings: Settings, *, create: bool = False, patience_s: float = BUSY_PATIENCE_S) -> Service:
    """The running server of an index, or the index itself when nobody serves it.

    Args:
        location: where the index is, or is to be.
        settings: for opening it here; a server has its own.
        create: make a new index where there is none.
        patience_s: how long to wait for another process that has it open without serving it, and anew for the next one: of many
            commands at once each has its turn.

    Raises:
        NotIndexedError: there is none, and `create` is not set.
        BadInputError: it is to be made in a directory that holds something else.
        StoreBusyError: another process kept it for longer than `patience_s`, or many one after the other for two minutes.
        OwnerUnreachableError: a server has it and does not answer.
    """
    turns = Turns(patience_s)
    while True:
        serving = owner.find(location.owner_file)
        if serving is not None:
            return RemoteGraphMem(serving.address, serving.token)
        expect_index(location, create=create)
        from graphmem.service.graphmem import GraphMem

        try:
            return GraphMem.open(db=location.data_dir, repo=location.root, settings=settings, keep_warm=False, patience_s=0)
        except StoreBusyError as busy:
            turns.wait(busy)


class Turns:
    """Waiting for processes that have an index open for a moment each.

    Args:
        patience_s: for each of them.
    """

    def __init__(self, patience_s: float = BUSY_PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._end = time.monotonic() + (QUEUE_PATIENCE_S if patience_s else 0.0)
        self._holder: object = None
        self._deadline = 0.0

    def wait(self, busy: StoreBusyError) -> None:
        """Sleep a little before the next attempt.

        Args:
            busy: what the last attempt said.

        Raises:
            StoreBusyError: `busy`, when the one that has the index has had it for too long.
        """
        now = time.monotonic()
        holder = busy.facts.get("owner")
        if holder != self._holder or not self._deadline:
            self._holder, self._deadline = holder, now + self._patience_s
        if now >= min(self._deadline, self._end):
            raise busy
        time.sleep(random.uniform(0.05, 0.15))  # noqa: S311 - so that many do not all ask at the same moments


def expect_index(location: Location, *, create: bool) -> None:
    """Refuse to go on where there is no index, or, to `create` one, where something else is.

    Raises:
        NotIndexedError, BadInputError: see `connect`.
    """
    directory = location.data_dir
    try:
        if location.database.exists() or location.has_memories:
            return
    except PermissionError as error:
        raise BadInputError(
            f"{directory} cannot be entered ({error.strerror}); give yourself the right to, or name another place with --db",
            argument="db",
            path=str(directory),
        ) from error
    if not create:
        where = f"{location.root} has no index yet" if location.root is not None else f"there is no index in {directory}"
        raise NotIndexedError(f"{where}; make one with `graphmem index`", path=str(directory))
    ignore = directory / ".gitignore"
    ours = ignore.is_file() and ignore.read_text(encoding="utf-8", errors="replace").strip() == "*"
    if directory.is_dir() and not ours and any(one.name != "rules" for one in directory.iterdir()):
        raise BadInputError(
            f"{directory} holds other files; give a new or empty directory for the index", argument="db", path=str(directory)
        )


class RemoteGraphMem(
    RemoteMemoryVerbs,
    RemoteUpkeepVerbs,
    RemoteSemanticVerbs,
    RemoteSessionVerbs,
    RemoteContextVerbs,
    RemoteHistoryVerbs,
    RemoteLearningVerbs,
):
    """A GraphMem that lives in another process. Thread-safe; verbs and answers are those of `GraphMem`.

    Args:
        address: of the server, `http://127.0.0.1:8420`.
        token: what it asks for; "" when it asks for nothing.

    Example:
        >>> with RemoteGraphMem("http://127.0.0.1:8420") as memory:
        ...     memory.impact("Flask.dispatch_request", max_depth=3)
    """

    def __init__(self, address: str, token: str = "") -> None:
        self.address = address
        self._wire = Wire(address, token, TIMEOUT_S)

    def __enter__(self) -> RemoteGraphMem:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is held open between requests; the server goes on."""

    def wait_until_ready(self, timeout_s: float | None = None) -> bool:
        """See `GraphMem.wait_until_ready`. The server is asked as it is: it says itself what is not there yet."""
        return True

    def project(self) -> Project:
        """See `GraphMem.project`."""
        return rebuild(Project, self._wire.ask("Project")["project"])

    def state(self) -> IndexState:
        """See `GraphMem.state`."""
        return self.project().state

    def symbol(self, ref: str, source: bool = False) -> SymbolDetail:
        """See `GraphMem.symbol`."""
        found = self._wire.ask("Symbol", ref=ref, source=source, first=PAGE)["symbol"]
        return rebuild(SymbolDetail, {"symbol": found, "source": "", **found})

    def symbols(self, query: str, kinds: Sequence[str] | None = None, limit: int = 50, offset: int = 0) -> tuple[list[SymbolInfo], int]:
        """See `GraphMem.symbols`."""
        names = [kind.upper() for kind in kinds] if kinds is not None else None
        rows, total = self._pages("Symbols", "symbols", limit, offset, query=query, kinds=names)
        return [rebuild(SymbolInfo, row) for row in rows], total

    def files(self, prefix: str = "", limit: int = 100, offset: int = 0, query: str = "") -> tuple[list[FileInfo], int]:
        """See `GraphMem.files`."""
        rows, total = self._pages("Files", "files", limit, offset, prefix=prefix, query=query)
        return [rebuild(FileInfo, row) for row in rows], total

    def impact(
        self,
        targets: str | Sequence[str],
        direction: str = "dependents",
        max_depth: int = 5,
        min_confidence: float = 0.3,
        kinds: Sequence[str] | None = None,
        limit: int = 1000,
    ) -> ImpactReport:
        """See `GraphMem.impact`."""
        answer = self._wire.ask(
            "Impact",
            targets=[targets] if isinstance(targets, str) else list(targets),
            direction=direction.upper(),
            maxDepth=max_depth,
            minConfidence=min_confidence,
            kinds=list(kinds) if kinds is not None else None,
            limit=limit,
        )
        return rebuild(ImpactReport, answer["impact"])

    def impact_of_diff(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: int = 5,
        min_confidence: float = 0.3,
        limit: int = 1000,
    ) -> DiffImpact:
        """See `GraphMem.impact_of_diff`."""
        answer = self._wire.ask(
            "ImpactOfDiff", diff=diff, base=base, head=head, maxDepth=max_depth, minConfidence=min_confidence, limit=limit
        )
        return rebuild(DiffImpact, answer["impactOfDiff"])

    def path(
        self, source: str, target: str, max_depth: int = 10, min_confidence: float = 0.05, kinds: Sequence[str] | None = None
    ) -> PathAnswer:
        """See `GraphMem.path`."""
        names = list(kinds) if kinds is not None else None
        ends = {"from": source, "to": target}  # `from` is no name in Python
        found = self._wire.ask("Path", maxDepth=max_depth, minConfidence=min_confidence, kinds=names, more=ends)
        return rebuild(PathAnswer, found["path"])

    def atlas(self, edges: int = 6_000) -> Picture:
        """See `GraphMem.atlas`."""
        return rebuild(Picture, self._wire.ask("Atlas", edges=edges)["atlas"])

    def atlas_symbols(self, paths: Sequence[str], limit: int = 5_000) -> Picture:
        """See `GraphMem.atlas_symbols`."""
        return rebuild(Picture, self._wire.ask("AtlasSymbols", paths=list(paths), limit=limit)["atlasSymbols"])

    def neighbourhood(
        self, refs: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, min_confidence: float = 0.0, limit: int = 200
    ) -> Picture:
        """See `GraphMem.neighbourhood`."""
        found = self._wire.ask(
            "Neighbourhood",
            refs=list(refs),
            depth=depth,
            kinds=list(kinds) if kinds is not None else None,
            minConfidence=min_confidence,
            limit=limit,
        )
        return rebuild(Picture, found["neighbourhood"])

    def subgraph(self, seeds: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, limit: int = 500) -> Subgraph:
        """See `GraphMem.subgraph`."""
        names = list(kinds) if kinds is not None else None
        found = self._wire.ask("Subgraph", seeds=list(seeds), depth=depth, kinds=names, limit=limit)["subgraph"]
        ids: list[str] = found["columns"]["nodes"]["id"]
        pages = [self._wire.ask("Nodes", ids=ids[at : at + PAGE])["nodes"] for at in range(0, len(ids), PAGE)]
        columns = found["columns"]["edges"]
        edges = [list(row) for row in zip(*(columns[name] for name in ("src", "dst", "kind", "confidence", "rule")), strict=True)]
        return rebuild(Subgraph, {**found, "nodes": [node for page in pages for node in page], "edges": edges})

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
        """See `GraphMem.search`."""
        found = self._wire.ask(
            "Search",
            query=query,
            k=k,
            files=list(files) if files is not None else None,
            within=list(within) if within is not None else None,
            kinds=sorted(kind.upper() for kind in kinds) if kinds is not None else None,
            types=sorted(types) if types is not None else None,
            phase=phase,
            retired=retired,
            asOf=as_of.isoformat() if isinstance(as_of, datetime) else as_of,
            explain=explain,
            budgetTokens=budget_tokens,
        )
        return rebuild(SearchAnswer, found["search"])

    def index(
        self,
        repo: str | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IndexSummary:
        """See `GraphMem.index`. The server does it; `cancelled` ends the waiting, not the run."""
        with self._followed(on_progress):
            answer = self._waited_for(cancelled, path=repo, full=full)
        return rebuild(IndexSummary, answer["index"]["summary"])

    def export(self) -> Iterator[dict[str, Any]]:
        """See `GraphMem.export`."""
        return self._wire.lines("/export.jsonl")

    def _pages(self, operation: str, field: str, limit: int, offset: int, **variables: Any) -> tuple[list[dict[str, Any]], int]:
        """Rows `offset` to `offset + limit` of a connection, by as many requests as its pages ask for; and the total."""
        rows: list[dict[str, Any]] = []
        while True:
            after = cursor(offset + len(rows) - 1) if offset + len(rows) else None
            page = self._wire.ask(operation, first=min(limit - len(rows), PAGE), after=after, **variables)[field]
            rows += [edge["node"] for edge in page["edges"]]
            if len(rows) >= limit or not page["pageInfo"]["hasNextPage"]:
                return rows, int(page["totalCount"])

    def doctor(self) -> dict[str, Any]:
        """See `GraphMem.doctor`."""
        said: dict[str, Any] = self._wire.ask("Doctor", timeout_s=LONG_S)["doctor"]["said"]
        return {**said, "project": self.project(), "served_at": self.address}

    def _waited_for(self, cancelled: Callable[[], bool] | None, **variables: Any) -> dict[str, Any]:
        """The answer of an index run, which takes as long as it takes.

        Raises:
            IndexCancelledError: `cancelled` said yes; the run goes on.
        """
        answers: list[dict[str, Any]] = []
        failures: list[GraphMemError] = []

        def ask() -> None:
            try:
                answers.append(self._wire.ask("Index", timeout_s=0, wait=True, **variables))
            except GraphMemError as failure:
                failures.append(failure)

        thread = threading.Thread(target=ask, name="graphmem-index", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
            if cancelled is not None and cancelled():
                raise IndexCancelledError(f"no longer waiting; the server at {self.address} goes on indexing", stage="waiting")
        if failures:
            raise failures[0]
        return answers[0]

    @contextlib.contextmanager
    def _followed(self, on_progress: Callable[[IndexProgress], None] | None) -> Iterator[None]:
        """Progress of the server's runs while the block runs. Losing it does not end the block: the answer is what counts."""
        if on_progress is None:
            yield
            return
        over = threading.Event()

        def follow() -> None:
            with contextlib.suppress(GraphMemError):
                for step in self._wire.stream("IndexProgress", follow=True):
                    if over.is_set():
                        return
                    on_progress(IndexProgress(**step["indexProgress"]))

        threading.Thread(target=follow, name="graphmem-progress", daemon=True).start()
        try:
            yield
        finally:
            over.set()
