"""Open a project: create all its parts and connect them, in one place.

A part is an object that implements some operations. The parts are closed in a fixed order.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers import MemoryChange
from graphmem.embedding.served_reranker import reranker_of
from graphmem.errors import BadInputError, GraphMemError
from graphmem.history import git_mark
from graphmem.history.branches import OtherBranches
from graphmem.history.change_log import HistoryLog
from graphmem.injection.background import Background
from graphmem.injection.feedback import Feedback
from graphmem.injection.hook_events import Hooks
from graphmem.injection.injector import Injector
from graphmem.language_model import configured
from graphmem.location import DATABASE, SHARED, models_dir
from graphmem.maintenance.place import close_to_others, prepare_data_dir, refuse_a_strangers, root_of_copy
from graphmem.maintenance.proving import put_aside_damaged
from graphmem.maintenance.recovery import open_or_mend
from graphmem.maintenance.worktrees import adopt
from graphmem.memory.lifecycle import Policy
from graphmem.memory.repository import MemoryRepository
from graphmem.memory.user_book import UserBook
from graphmem.model import IndexProgress
from graphmem.observe.ledger import LEDGER, Ledger
from graphmem.observe.observer import Observer
from graphmem.observe.switch import LearningSwitch
from graphmem.project.backing_up import Backups
from graphmem.project.boundaries import Boundaries
from graphmem.project.branches import Branches
from graphmem.project.changes import ChangeQuestions
from graphmem.project.context import AgentContext
from graphmem.project.contracts import ContractQuestions
from graphmem.project.cypher import CypherQueries
from graphmem.project.documents import Documents
from graphmem.project.earlier import EarlierGraphs
from graphmem.project.edge_places import EdgeQuestions
from graphmem.project.edit_advice import EditAdvice
from graphmem.project.evaluating import ProjectChurn, SearchWeighing
from graphmem.project.exploring import Pictures
from graphmem.project.graph_source import GraphSource, IndexStatus
from graphmem.project.health import Doctor, IndexHealth
from graphmem.project.history import CoAccess
from graphmem.project.history_source import LOG, HistorySource
from graphmem.project.hovering import Hovers
from graphmem.project.indexer_source import IndexerSource
from graphmem.project.kept import FILE as KEPT
from graphmem.project.known import KnownCode
from graphmem.project.language import Described, LanguageQuestions
from graphmem.project.lazy import Lazy
from graphmem.project.learning import SessionLearning
from graphmem.project.lookups import Lookups
from graphmem.project.map_entries import MapNotes
from graphmem.project.memories import Memories
from graphmem.project.named_in_text import NamedInText
from graphmem.project.organisation import Organisations
from graphmem.project.outlines import Outlines
from graphmem.project.outside_evidence import OutsideEvidence
from graphmem.project.overlays import Overlays
from graphmem.project.paragraphs import PARAGRAPHS, Paragraphs
from graphmem.project.people import PeopleFiles
from graphmem.project.phases import PhaseWeighing
from graphmem.project.positions import Positions
from graphmem.project.progress import Hub
from graphmem.project.pushing import Pushing
from graphmem.project.questions import ImpactQuestions
from graphmem.project.receiving import Receiving
from graphmem.project.reviewing import Reviews
from graphmem.project.runs import IndexRuns
from graphmem.project.searching import SearchQuestions
from graphmem.project.seeding import Seeding
from graphmem.project.semantic import SystemQuestions
from graphmem.project.semantic_source import SemanticSource
from graphmem.project.served import OwnProject
from graphmem.project.session_learner import TRAILS, BookClock, SessionLearner, observer_of
from graphmem.project.session_memories import SessionMemories
from graphmem.project.sessions import Sessions
from graphmem.project.sharing import Sharing
from graphmem.project.sources import Sources
from graphmem.project.stale import StaleFiles
from graphmem.project.upkeep import Upkeep
from graphmem.project.usages import UsageQuestions
from graphmem.project.user_memories import UserMemories
from graphmem.project.watching import Following
from graphmem.projection.projections import Projections
from graphmem.runtime.system import after_fork
from graphmem.runtime.vault import unlock
from graphmem.runtime.worktree import journal_folder
from graphmem.search.accepted import WeightBook
from graphmem.search.phases import PhaseBook
from graphmem.search.searcher import Searcher
from graphmem.settings import Settings, load_settings
from graphmem.vectors.filler import VectorFiller

if TYPE_CHECKING:
    from graphmem.answers.injection import ContextReady
    from graphmem.injection.agent import Check
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.language_model import LanguageModel
    from graphmem.projection.graph import GraphView
    from graphmem.projection.words import WordIndex
    from graphmem.store.base import GraphStore, GraphTables

PATIENCE_S: Final = 60.0
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Parts:
    """The objects that implement the operations of an open project.

    Attributes:
        operations: objects that implement the operations.
        endings: functions that close the parts, in this order.
    """

    data_dir: Path
    store: GraphStore
    projections: Projections
    graph: GraphSource
    book: MemoryRepository
    vectors: VectorFiller
    history: HistorySource
    injector: Injector
    semantics: SemanticSource
    observer: Lazy[Observer]
    ledger: Lazy[Ledger]
    progress: Hub[IndexProgress]
    following: Following
    runs: IndexRuns
    memories: Memories
    sessions: Sessions
    sharing: Sharing
    learner: SessionLearner
    upkeep: Upkeep
    backups: Backups
    receiving: Receiving
    overlays: Overlays
    operations: tuple[object, ...]
    endings: tuple[Callable[[], object], ...]

    def close(self) -> None:
        """Close all parts of the open project. Idempotent."""
        _open.discard(self)
        for end in self.endings:
            end()


def open_project(
    db: str | Path | None = None,
    repo: str | Path | None = None,
    settings: Settings | None = None,
    keep_warm: bool = True,
    patience_s: float = PATIENCE_S,
) -> Parts:
    """Open the index in a directory; see `GraphMem.open`."""
    if db is None and repo is None:
        raise BadInputError("neither an index nor a repository is given; give the directory of one of them", argument="db")
    settings = settings or load_settings(Path(repo) if repo is not None else None)
    data_dir = Path(db) if db is not None else Path(repo or ".") / ".graphmem"
    if data_dir.exists() and not data_dir.is_dir():
        raise BadInputError(f"the index directory {data_dir} is a file; give a directory for the index", argument="db", path=str(data_dir))
    refuse_a_strangers(data_dir)
    shared = bool(settings.store) or _is_there(data_dir / SHARED)
    if repo is not None and not shared:
        adopt(Path(repo), data_dir, settings.engine)
    prepare_data_dir(data_dir)
    unlock(data_dir, settings, is_new=not any(journal_folder(data_dir).glob("journal-*")) and not _is_there(data_dir / DATABASE))
    if shared:
        from graphmem.project.shared_graph import open_shared

        return wired(
            open_shared(data_dir, Path(repo).absolute() if repo is not None else None, settings), data_dir, settings, keep_warm, patience_s
        )
    store = open_or_mend(data_dir / DATABASE, settings)
    if repo is not None and (root := root_of_copy(data_dir, store.meta().get("root", ""), Path(repo))):
        store.set_meta({"root": root})  # otherwise a copied index would use the files of the original
    return wired(store, data_dir, settings, keep_warm, patience_s)


class Overlaid(NamedTuple):
    """Data of the project's main branch that an open branch uses, too.

    Attributes:
        log: path of the file with the main branch's change history.
        elsewhere: called with the id of a memory; returns the names of other branches that have the code to which the memory is linked.
        made: graph and index of words of the branch, derived from the main branch. None if the branch must build both from its own rows.
    """

    log: Path
    elsewhere: Callable[[str], list[str]]
    made: tuple[GraphView, WordIndex] | None


def wired(
    store: GraphStore,
    data_dir: Path,
    settings: Settings,
    keep_warm: bool = True,
    patience_s: float = PATIENCE_S,
    main: Overlaid | None = None,
) -> Parts:
    """Create and return all parts of a project.

    A part is an object that implements some operations, such as search. Every part is created after the parts that it needs.

    Args:
        store: the open store.
        data_dir: the index directory.
        settings: settings of the project.
        keep_warm: see `GraphMem.open`.
        patience_s: see `GraphMem.open`.
        main: parts of the main branch, if the store is that of a branch on a server.
    """
    with contextlib.ExitStack() as opened:  # a failure must not leave the database locked
        opened.callback(store.close)
        parts = _connected(store, data_dir, settings, keep_warm, patience_s, main, opened)
        opened.pop_all()
    return parts


def _connected(
    store: GraphStore,
    data_dir: Path,
    settings: Settings,
    keep_warm: bool,
    patience_s: float,
    main: Overlaid | None,
    opened: contextlib.ExitStack,
) -> Parts:
    """Create and connect the parts; see `wired`.

    `opened` receives the functions that close the parts if the creation of a later one fails.
    """
    model = configured(settings)
    put_aside = put_aside_damaged(data_dir)

    # Stored data.
    projections = Projections(store, data_dir, main.made if main is not None else None)
    opened.callback(projections.close)
    unfollow = _followed(store, projections)
    progress: Hub[IndexProgress] = Hub(replay=True)
    stale, following = StaleFiles(), Following()
    vectors = VectorFiller(store, projections, settings, progress.publish, models_dir(os.environ))
    status = IndexStatus(store, projections, vectors, data_dir, progress, stale, following)
    graph = GraphSource(store, projections, data_dir, status.state)
    memory_news: Hub[MemoryChange] = Hub()

    def memories_changed(delta: KnowledgeDelta) -> None:
        injector.memories_changed(delta)  # created below, because it searches the memories
        changed = sorted({row.id for row in delta.memories}.union(delta.anchored))
        if changed or delta.removed_memories:
            memory_news.publish(MemoryChange(changed, sorted(delta.removed_memories)))

    book = MemoryRepository(
        store,
        projections,
        data_dir,
        embedder=vectors.query_embedder,
        on_change=memories_changed,
        commit_at=partial(_commit_at, data_dir),
        branches_of=partial(_branches_of, OtherBranches(), data_dir),
        elsewhere=main.elsewhere if main is not None else lambda memory: overlays.elsewhere(memory, None),
        journal=journal_folder(data_dir),
        policy=Policy(settings.memory_limit, settings.memory_mb << 20, settings.memory_remove),
    )
    opened.callback(book.close)
    vectors.follow(book)
    history = HistorySource(store, projections, settings, book, Lazy(lambda: HistoryLog(main.log if main is not None else data_dir / LOG)))
    evidence = OutsideEvidence(data_dir)
    ledger = Lazy(lambda: Ledger(data_dir / LEDGER))
    trails = data_dir / TRAILS
    observer = observer_of(trails, graph, book)
    phases = PhaseBook(data_dir)

    # The code.
    indexers = IndexerSource(store, projections, data_dir, settings, keep_warm)
    semantics = SemanticSource(graph, store, history.known, history.commits, data_dir / KEPT)
    seeding = Seeding(book, projections, settings)
    runs = IndexRuns(store, graph, projections, indexers, vectors, book, history, seeding, semantics, stale, following, progress)
    overlays = Overlays(runs, data_dir, Branches(data_dir))
    known = KnownCode(graph, projections.memories, book.clock.now, book.branches_of)
    co_access = CoAccess(graph, projections, history, known)
    contracts = ContractQuestions(graph, data_dir)
    impact = ImpactQuestions(
        graph, evidence, co_access, known, contracts, EarlierGraphs(graph, settings.max_file_kb << 10), NamedInText(projections)
    )
    paragraphs = Paragraphs(data_dir / PARAGRAPHS, model)
    described = Described(paragraphs, settings.paragraphs)
    system = SystemQuestions(graph, semantics, described)
    changes = ChangeQuestions(graph, semantics, history, data_dir, partial(_view_of, settings))

    # Memories, and context for agents.
    user = UserMemories(book, UserBook(Path.home() / ".graphmem" if not settings.projects else data_dir / "user"))
    people = PeopleFiles(book, graph.root_or_none, data_dir, settings)
    switch = LearningSwitch(data_dir, settings.learning, lambda: book.clock.now())
    learning = SessionLearning(
        book,
        ledger,
        data_dir,
        settings,
        model,
        co_access.record_co_access,
        switch,
        lambda session, shown: injector.trust.session_over(session, shown),
    )
    weights = WeightBook(data_dir)
    searcher = Searcher(store, projections, vectors, book, patience_s, phases, reranker_of(settings), model, weights, ProjectChurn(history))
    context_news: Hub[ContextReady] = Hub()
    background = Background()
    advice = EditAdvice(graph, projections, evidence, co_access, known, contracts, background.soon)
    injector = Injector(
        book,
        searcher,
        projections,
        vectors,
        data_dir,
        background,
        state=status.state,
        rules=people.rules,
        root=graph.root_or_none,
        on_ready=context_news.publish,
        summaries=learning.recent_summaries,
        moving=partial(co_access.moving, background.soon),
        relevance=_relevance(model, settings, book, projections),
        advise=advice.consequences,
        command=advice.command,
        refresh=user.refresh,
        unit_of=lambda session: observer().unit_of(session),
    )
    learner = SessionLearner(trails, observer, learning.learn_from, BookClock(book))
    feedback = Feedback(
        book,
        graph.from_root,
        lambda session: bool(observer().strangers(session, others=False)),
        used=lambda session, ids: memories.use_of_session(session, ids),
        doubted=lambda session, doubt: memories.doubt_of_session(session, doubt),
    )
    sessions = Sessions(book, observer, learner, learning.learn_from, feedback.find_uses, switch, user)
    session_memories = SessionMemories(trails, observer, sessions.observe, injector)
    sharing = Sharing(book, graph.root_or_none, data_dir, settings)
    memories = Memories(book, data_dir, memory_news, session_memories, history.forget_sessions, sharing.forget_all, user)
    hooks = Hooks(injector, sessions.observe, graph.root_or_none, learning.pause, advice.rehearse)
    search = SearchQuestions(graph, projections, searcher, semantics, injector.packed)

    # The index itself.
    health = IndexHealth(store, book, projections, vectors, searcher, following, data_dir, learning.cost)
    upkeep = Upkeep(store, book, projections, vectors, data_dir, settings, runs, put_aside, partial(_tables_of, settings))
    backups = Backups(store, book, projections, vectors, data_dir, settings, runs, (history.renew, partial(ledger.renew, Ledger.close)))

    positions = Positions(graph)
    parts = Parts(
        data_dir=data_dir,
        store=store,
        projections=projections,
        graph=graph,
        book=book,
        vectors=vectors,
        history=history,
        injector=injector,
        semantics=semantics,
        observer=observer,
        ledger=ledger,
        progress=progress,
        following=following,
        runs=runs,
        memories=memories,
        sessions=sessions,
        sharing=sharing,
        learner=learner,
        upkeep=upkeep,
        backups=backups,
        receiving=Receiving(runs, data_dir, overlays),
        overlays=overlays,
        operations=(
            status,
            Lookups(graph, known),
            positions,
            Sources(graph, positions),
            Hovers(graph, positions, known, co_access),
            UsageQuestions(graph, positions),
            EdgeQuestions(graph, positions),
            impact,
            Reviews(graph, impact, co_access, book, contracts),
            contracts,
            Outlines(graph, book),
            search,
            runs,
            Pictures(graph, semantics),
            system,
            changes,
            Boundaries(graph),
            MapNotes(graph, semantics),
            LanguageQuestions(search.search, semantics, paragraphs, described, model, settings),
            Documents(store, graph, status.project, system, impact.impact),
            co_access,
            memories,
            people,
            AgentContext(graph.from_root, injector, hooks, context_news, session_memories.tell_shown),
            sessions,
            learning,
            sharing,
            Organisations(book, sharing, memories, settings),
            Pushing(graph, store, history.log, data_dir),
            OwnProject(status, graph, search.search, impact.impact, data_dir),
            PhaseWeighing(book, phases, ledger),
            SearchWeighing(graph, projections, vectors, history, weights, book.clock.now),
            health,
            Doctor(status, health, store, book, projections, vectors, evidence, history, learning, data_dir, sharing.facts),
            CypherQueries(store, book, settings),
            upkeep,
            backups,
        ),
        endings=(
            runs.begin_closing,
            following.stop,
            unfollow,
            vectors.close,
            progress.close,
            memory_news.close,
            context_news.close,
            injector.close,
            paragraphs.close,
            learner.close,
            partial(observer.end, Observer.close),
            runs.close,
            sharing.close,
            book.close,
            overlays.close,
            history.close,
            partial(ledger.end, Ledger.close),
            projections.close,
            indexers.close,
            store.close,
            partial(close_to_others, data_dir),
        ),
    )
    learner.finish_left_soon()
    _open.add(parts)
    return parts


def _is_there(path: Path) -> bool:
    """Return whether a path exists; False without access to it."""
    return os.path.exists(path)  # noqa: PTH110 -- Path.exists raises for such a directory


def _followed(store: GraphStore, projections: Projections) -> Callable[[], None]:
    if store.feed is None:
        return lambda: None
    from graphmem.project.shared_graph import follow

    return follow(store.feed, projections)


def _commit_at(data_dir: Path, root: str) -> str:
    """Return the commit checked out in the project's root; "" if unknown.

    If `root` is "", the directory that contains `.graphmem` is used instead.
    """
    place = _place(data_dir, root)
    return git_mark.head(place) if place is not None else ""


def _branches_of(branches: OtherBranches, data_dir: Path, root: str, commit: str) -> list[str]:
    """Return the other local Git branches that contain `commit`.

    The list is empty if the checked-out branch contains the commit, too.
    """
    place = _place(data_dir, root)
    return branches.of(place, commit) if place is not None else []


def _place(data_dir: Path, root: str) -> Path | None:
    """Return the project's root, or a guess if `root` is "".

    The guess is the parent of `data_dir` if `data_dir` is named `.graphmem`, and None otherwise.
    """
    beside = data_dir.parent if data_dir.name == ".graphmem" else None
    return Path(root) if root else beside


def _relevance(model: LanguageModel | None, settings: Settings, book: MemoryRepository, projections: Projections) -> Check | None:
    """Create the check that drops irrelevant memories; None if it is off.

    The language model checks the memories that are chosen to be shown to an agent. The check is off without a model, or if the settings
    switch it off.
    """
    if model is None or not settings.relevance:
        return None
    from graphmem.injection.relevance import RelevanceCheck

    return RelevanceCheck(model, book, projections)


@contextlib.contextmanager
def _view_of(settings: Settings, tree: Path, folder: Path) -> Iterator[GraphView]:
    """Index the files of `tree` into the database `folder`; yield the graph."""
    with contextlib.closing(open_project(folder, settings=replace(settings, store=""), keep_warm=False)) as other:
        other.runs.index(tree)
        yield other.graph.view()


def _tables_of(settings: Settings, tree: Path, project: str) -> GraphTables:
    """Index a tree of files in a temporary directory; return its graph.

    `project` becomes the project's name, on which every id in the graph depends.
    """
    with (
        tempfile.TemporaryDirectory(prefix="graphmem-verify-") as folder,
        contextlib.closing(open_project(Path(folder), settings=replace(settings, store=""), keep_warm=False)) as other,
    ):
        other.store.set_meta({"project": project})  # ids contain the project's name
        other.runs.index(tree)
        return other.store.tables()


_open: Final[weakref.WeakSet[Parts]] = weakref.WeakSet()


def _close_at_exit() -> None:
    """Close the projects that a script left open, when the process exits.

    A thread that is still inside the engine would abort the process at exit.
    """
    for parts in list(_open):
        try:
            parts.close()
        except GraphMemError as error:
            _log.warning("%s", error)


atexit.register(_close_at_exit)
after_fork(_open.clear)
