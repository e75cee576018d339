"""GraphMem: one open project and its verbs, the same for every door.

Reads run on the projections and may come from any thread; index runs take turns. Answers are the
dataclasses of `graphmem.answers`, refusals the errors of `graphmem.errors`.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import graphmem
from graphmem.answers import IndexState, MemoryChange, Project, to_json
from graphmem.errors import BadInputError, GraphMemError, NotIndexedError
from graphmem.history import git_mark
from graphmem.injection.hook_events import Hooks
from graphmem.injection.injector import Injector
from graphmem.language_model import configured
from graphmem.maintenance.place import close_to_others, prepare_data_dir, refuse_a_strangers, root_of_copy
from graphmem.maintenance.proving import put_aside_damaged
from graphmem.maintenance.recovery import lost_code, open_or_mend
from graphmem.memory.repository import MemoryRepository
from graphmem.model import IndexProgress
from graphmem.operations.registry import Operations
from graphmem.project.changes import ChangeVerbs
from graphmem.project.context import ContextVerbs
from graphmem.project.cypher import CypherVerbs
from graphmem.project.exploring import ExplorerVerbs
from graphmem.project.health import HealthVerbs
from graphmem.project.history import HistoryVerbs
from graphmem.project.language import LanguageVerbs
from graphmem.project.learning import LearningVerbs
from graphmem.project.lookups import LookupVerbs
from graphmem.project.memories import MemoryVerbs
from graphmem.project.outside_evidence import OutsideEvidence
from graphmem.project.paragraphs import PARAGRAPHS, Paragraphs
from graphmem.project.people import PeopleVerbs
from graphmem.project.phases import PhaseVerbs
from graphmem.project.progress import Feed, Hub
from graphmem.project.questions import QuestionVerbs
from graphmem.project.runs import RunVerbs
from graphmem.project.sessions import SessionVerbs
from graphmem.project.stale import StaleFiles
from graphmem.project.upkeep import UpkeepVerbs
from graphmem.project.watching import Watcher
from graphmem.projection.projections import Projections
from graphmem.reports.exporting import export
from graphmem.runtime.identity import index_id
from graphmem.search.phases import PhaseBook
from graphmem.search.searcher import Searcher
from graphmem.settings import DATABASE, Settings, load_settings, models_dir
from graphmem.vectors.filler import VectorFiller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from graphmem.answers.injection import ContextReady
    from graphmem.indexing.inputs import Inputs
    from graphmem.indexing.pipeline import Indexer
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.parsing.facts_cache import FactsCache
    from graphmem.projection.graph import GraphView
    from graphmem.store.base import GraphStore

_log = logging.getLogger(__name__)

PATIENCE_S: Final = 60.0
MAX_FAILURES: Final = 200  # files of which `doctor` has the reason why they were read in part
MAX_STALE: Final = 20  # changed files an answer names; it counts them all


class GraphMem(
    LookupVerbs,
    QuestionVerbs,
    RunVerbs,
    MemoryVerbs,
    PeopleVerbs,
    ExplorerVerbs,
    HistoryVerbs,
    LearningVerbs,
    PhaseVerbs,
    UpkeepVerbs,
    CypherVerbs,
    HealthVerbs,
    LanguageVerbs,
    ChangeVerbs,
    ContextVerbs,
    SessionVerbs,
    Operations,
):
    """An open index. Use as a context manager, or call `close`.

    Example:
        >>> with GraphMem.open("/tmp/index") as memory:
        ...     memory.index("path/to/repository")
        ...     report = memory.impact("Flask.dispatch_request", max_depth=3)
    """

    def __init__(
        self, store: GraphStore, data_dir: Path, settings: Settings, keep_warm: bool = True, patience_s: float = PATIENCE_S
    ) -> None:
        self._store = store
        self._data_dir = data_dir
        self.index_id = index_id(data_dir)  # what clients know it by, wherever it is moved to
        self._settings = settings
        self._keep_warm = keep_warm
        self._put_aside = put_aside_damaged(data_dir)
        self._projections = Projections(store, data_dir)
        self._cache: FactsCache | None = None
        self._inputs: Inputs | None = None
        self._stale = StaleFiles()
        self._evidence = OutsideEvidence(data_dir)
        self._hub: Hub[IndexProgress] = Hub(replay=True)
        self._memory_news: Hub[MemoryChange] = Hub()
        self._vectors = VectorFiller(store, self._projections, settings, self._hub.publish, models_dir(os.environ))
        self._book = MemoryRepository(
            store,
            self._projections,
            data_dir,
            embedder=self._vectors.query_embedder,
            on_change=self._memories_changed,
            commit_at=self._commit_at,
        )
        self._vectors.follow(self._book)
        self._language_model = configured(settings)
        self._phases = PhaseBook(data_dir)
        self._searcher = Searcher(
            store, self._projections, self._vectors, self._book, patience_s, self._phases, settings.reranker, self._language_model
        )
        self._paragraphs = Paragraphs(data_dir / PARAGRAPHS, self._language_model)
        self._context_news: Hub[ContextReady] = Hub()
        self._injector = Injector(
            self._book,
            self._searcher,
            self._projections,
            self._vectors,
            data_dir,
            state=self.state,
            rules=self.rules,
            root=self._root_or_none,
            on_ready=self._context_news.publish,
            summaries=self.recent_summaries,
            moving=self._moving,
            relevance=self._relevance(),
        )
        self._hooks = Hooks(self._injector, self.observe, self._root_or_none)
        self._turn = threading.Lock()  # index runs take turns
        self._closing = threading.Event()
        self._begun = time.monotonic()
        self._watcher: Watcher | None = None
        self._indexer: Indexer | None = None
        self._run: threading.Thread | None = None
        self._sessions_left()
        _open.add(self)

    @classmethod
    def open(
        cls,
        db: str | Path | None = None,
        repo: str | Path | None = None,
        settings: Settings | None = None,
        keep_warm: bool = True,
        patience_s: float = PATIENCE_S,
    ) -> GraphMem:
        """Open, or make, the index in a directory.

        Args:
            db: the directory of the index; default `.graphmem` in `repo`.
            repo: the project; only needed to find the default of `db`.
            settings: default: those of the project's files and the environment.
            keep_warm: keep what later index runs need in memory; for a single run, False halves the memory.
            patience_s: how long searches wait, in all, for the vectors of what was written before them; 0 answers at once with
                what is there, and says what is not. A program that writes and then searches wants to wait, a server does not.

        Raises:
            BadInputError: neither `db` nor `repo` is given, `db` is a file, or git tracks what is in it.
            StoreBusyError: another process has it open.
            SchemaTooNewError, DiskFullError: what the store says. A damaged database is put aside; see `maintenance.recovery`.
        """
        if db is None and repo is None:
            raise BadInputError("say which index to open: a directory for it, or the repository", argument="db")
        settings = settings or load_settings(Path(repo) if repo is not None else None)
        data_dir = Path(db) if db is not None else Path(repo or ".") / ".graphmem"
        if data_dir.exists() and not data_dir.is_dir():
            raise BadInputError(f"{data_dir} is a file; an index is a directory, name another", argument="db", path=str(data_dir))
        refuse_a_strangers(data_dir)
        prepare_data_dir(data_dir)
        store = open_or_mend(data_dir / DATABASE, settings)
        if repo is not None and (root := root_of_copy(data_dir, store.meta().get("root", ""), Path(repo))):
            store.set_meta({"root": root})  # or the copy would read, compare and write the files of the original
        return cls(store, data_dir, settings, keep_warm, patience_s)

    def __enter__(self) -> GraphMem:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End background work, bring the database file up to date, let it go. Twice is once."""
        _open.discard(self)
        self._closing.set()
        if self._watcher is not None:
            self._watcher.stop()
        self._vectors.pause()
        self._hub.close()
        self._memory_news.close()
        self._context_news.close()
        self._injector.close()
        self._paragraphs.close()
        self._close_sessions()
        if self._run is not None:
            self._run.join()
        self._book.close()
        self._close_history()
        self._close_ledger()
        self._projections.close()
        for kept in (self._cache, self._inputs, self._indexer):
            if kept is not None:
                kept.close()
        self._store.close()
        close_to_others(self._data_dir)

    def wait_until_ready(self, timeout_s: float | None = None) -> bool:
        """Whether all that answers are made of is there, waiting for it at most that long.

        Nobody needs to: verbs answer with what is there and say what is not. A program that asks one question
        and ends would rather wait.
        """
        return self._projections.wait(timeout_s)

    # ---- what is here

    def project(self) -> Project:
        """Which project this is, where it lies, what keeps it."""
        meta = self._store.meta()
        engine = self._store.engine
        return Project(
            name=meta.get("project", ""),
            root=meta.get("root", ""),
            data_dir=str(self._data_dir),
            version=graphmem.__version__,
            engine=f"{engine.name} {engine.version}",
            state=self.state(),
        )

    def state(self) -> IndexState:
        """How far answers can be trusted to be of today. Cheap: no file is looked at."""
        meta = self._store.meta()
        generation = self._store.generation()
        latest = self._hub.latest
        running = latest is not None and latest.stage not in ("done", "failed", "embed")
        view = self._projections.graph() if generation and not running else self._projections.graph_if_ready()
        counts = view.counts if view is not None else {}
        stage = latest if latest is not None and (running or latest.stage == "embed") else None
        stale = self._stale.paths() if generation else []
        return IndexState(
            state="indexing" if running else "empty" if not generation else "stale" if stale else "fresh",
            generation=generation,
            indexed_at=meta.get("indexed_at", ""),
            files=counts.get("files", 0),
            symbols=counts.get("symbols", 0),
            edges=counts.get("edges", 0),
            chunks=self._vectors.chunks(),
            vectors=self._vectors.filled(),
            stage=stage.stage if stage else "",
            done=stage.done if stage else 0,
            total=stage.total if stage else 0,
            stale_files=len(stale),
            note="; ".join(filter(None, (self._projections.note(), self._watcher_note(), self._vectors.note(), self._vectors.switching()))),
            stale=stale[:MAX_STALE],
        )

    def export(self) -> Iterator[dict[str, Any]]:
        """Every node and edge as a JSON object; see `reports.exporting`."""
        self._view()
        return export(self._store.tables(), self._store.read("framework_keys"))

    @property
    def in_place(self) -> bool:
        """Whether the folder is where it was opened. One that was moved is written to by its old path, where another may be now."""
        return index_id(self._data_dir) == self.index_id

    def doctor(self) -> dict[str, Any]:
        """What this index is made of and what is missing from it, for `graphmem doctor`."""
        engine = self._store.engine
        ready = self._projections.graph_if_ready()
        sizes = {entry.name: entry.stat().st_size for entry in sorted(self._data_dir.iterdir()) if entry.is_file()}
        return {
            "project": self.project(),
            "engine": engine._asdict(),
            "files": sizes,
            "projections": self._projections.status(),
            "embedder": self._vectors.status(),
            "memories": self._book.status(),
            "rules": self._store.read("edge_counts"),
            "call_rules": self._store.read("call_rules"),
            "call_sites": sum(row["call_sites"] for row in self._store.read("file_totals")),
            "unresolved": self._store.read("unresolved_counts"),
            "failed_files": ready.failed_paths if ready is not None else [],
            "failures": dict(islice(ready.failures.items(), MAX_FAILURES)) if ready is not None else {},
            "evidence": self._evidence.report(ready, self._store.meta().get("project", "")) if ready is not None else {},
            "history": self._history_report(),
            "learning": self._learning_report(),
            "health": to_json(self.health()),
            "lost_code": lost_code(self._store),
        }

    def subscribe_memories(self) -> Feed[MemoryChange]:
        """Listen to changes of memories: a context manager whose value iterates over them until it is left."""
        return self._memory_news.feed()

    def _commit_at(self, root: str) -> str:
        beside = self._data_dir.parent if self._data_dir.name == ".graphmem" else None
        place = Path(root) if root else beside
        return git_mark.head(place) if place is not None else ""

    def _memories_changed(self, delta: KnowledgeDelta) -> None:
        self._injector.memories_changed(delta)
        changed = sorted({row.id for row in delta.memories}.union(delta.anchored))
        if changed or delta.removed_memories:
            self._memory_news.publish(MemoryChange(changed, sorted(delta.removed_memories)))

    def _root(self) -> Path:
        root = self._store.meta().get("root")
        if not root:
            raise self._empty()
        return Path(root)

    def _empty(self) -> NotIndexedError:
        """Nothing was indexed, or what was had to be put aside: then it says why."""
        why = f" ({'; '.join(self._store.notes)})" if self._store.notes else ""
        return NotIndexedError(f"this index is empty{why}; run `graphmem index` on a repository first", path=str(self._data_dir))

    def _view(self) -> GraphView:
        """The graph of the newest finished run.

        Raises:
            NotIndexedError: there has been none.
        """
        view = self._projections.graph() if self._store.generation() else None
        if view is None or not view.generation:  # between the first commit and its projection there is nothing to answer from
            state = self.state()
            if state.state == "indexing":
                raise NotIndexedError(
                    f"the first index is being made ({state.stage} {state.done:,} of {state.total:,}); ask again in a moment",
                    path=str(self._data_dir),
                )
            raise self._empty()
        return view


_open: Final[weakref.WeakSet[GraphMem]] = weakref.WeakSet()


def _close_at_exit() -> None:
    """Close what a script left open: a thread inside the engine aborts a process that ends under it."""
    for memory in list(_open):
        try:
            memory.close()
        except GraphMemError as error:
            _log.warning("%s", error)


atexit.register(_close_at_exit)
os.register_at_fork(after_in_child=_open.clear)
