"""GraphMem: one open project and its verbs, the same for every door.

Reads run on the projections and may come from any thread; index runs take turns. Answers are the
dataclasses of `graphmem.answers`, refusals the errors of `graphmem.errors`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import graphmem
from graphmem.analysis import diff as diffing
from graphmem.analysis.impact import Question, Start, expand, impact, united_impact
from graphmem.analysis.paths import best_path, subgraph
from graphmem.analysis.refs import resolve_ref
from graphmem.analysis.relations import RELATIONS, find_symbols, nodes_of, sites
from graphmem.analysis.weights import BODY_KINDS, IMPACT_KINDS
from graphmem.answers import ChangedSymbol, DiffImpact, IndexState, MemoryChange, Project, SymbolDetail, SymbolInfo, to_json
from graphmem.errors import (
    BadInputError,
    GraphMemError,
    IndexCancelledError,
    NotIndexedError,
    RepositoryError,
    StaleFileError,
    SymbolNotFoundError,
)
from graphmem.language_model import configured
from graphmem.memory.book import MemoryBook
from graphmem.memory.validate import moment
from graphmem.model import Diagnostic, IndexProgress, symbol_id
from graphmem.parsing.contents import read_regular
from graphmem.parsing.discovery import DiscoveryOptions, content_hash
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.language import language_of_path
from graphmem.projection.arrays import NODE_KINDS, SYMBOL
from graphmem.projection.projections import Projections
from graphmem.search.request import Request
from graphmem.service import diffs
from graphmem.service.changes import ChangeVerbs
from graphmem.service.context import ContextVerbs
from graphmem.service.cypher import CypherVerbs
from graphmem.service.evidence import OutsideEvidence
from graphmem.service.exploring import ExplorerVerbs
from graphmem.service.exporting import export
from graphmem.service.health import HealthVerbs
from graphmem.service.history import HistoryVerbs
from graphmem.service.hooking import Hooks
from graphmem.service.injecting import Injector
from graphmem.service.language import LanguageVerbs
from graphmem.service.learning import LearningVerbs
from graphmem.service.memories import MemoryVerbs
from graphmem.service.mending import open_or_mend
from graphmem.service.paragraphs import PARAGRAPHS, Paragraphs
from graphmem.service.people import PeopleVerbs
from graphmem.service.place import prepare_data_dir, refuse_a_strangers
from graphmem.service.progress import Feed, Hub
from graphmem.service.searching import Searcher
from graphmem.service.sessions import SessionVerbs
from graphmem.service.stale import StaleFiles
from graphmem.service.upkeep import UpkeepVerbs
from graphmem.service.vectors import VectorFiller
from graphmem.service.watching import Watcher
from graphmem.settings import Settings, load_settings, models_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from datetime import datetime
    from types import TracebackType

    from graphmem.answers import FileInfo, ImpactReport, IndexSummary, PathAnswer, SearchAnswer, Site, Subgraph
    from graphmem.answers.injection import ContextReady
    from graphmem.indexing.inputs import Inputs
    from graphmem.indexing.pipeline import Indexer
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.parsing.facts_cache import FactsCache
    from graphmem.projection.graph import GraphView
    from graphmem.store.base import GraphStore

DATABASE: Final = "graph.db"
FACTS: Final = "facts.sqlite"
INPUTS: Final = "inputs.sqlite"
DEFAULT_DEPTH: Final = 5
DEFAULT_CONFIDENCE: Final = 0.3
DEFAULT_LIMIT: Final = 1000
PATIENCE_S: Final = 60.0
MAX_STALE: Final = 20  # changed files an answer names; it counts them all


class GraphMem(
    MemoryVerbs,
    PeopleVerbs,
    ExplorerVerbs,
    HistoryVerbs,
    LearningVerbs,
    UpkeepVerbs,
    CypherVerbs,
    HealthVerbs,
    LanguageVerbs,
    ChangeVerbs,
    ContextVerbs,
    SessionVerbs,
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
        self._settings = settings
        self._keep_warm = keep_warm
        self._projections = Projections(store, data_dir)
        self._cache: FactsCache | None = None
        self._inputs: Inputs | None = None
        self._stale = StaleFiles()
        self._evidence = OutsideEvidence(data_dir)
        self._hub: Hub[IndexProgress] = Hub(replay=True)
        self._memory_news: Hub[MemoryChange] = Hub()
        self._vectors = VectorFiller(store, self._projections, settings, self._hub.publish, models_dir(os.environ))
        self._book = MemoryBook(store, self._projections, data_dir, embedder=self._vectors.query_embedder, on_change=self._memories_changed)
        self._language_model = configured(settings)
        self._searcher = Searcher(store, self._projections, self._vectors, self._book, patience_s, settings.reranker, self._language_model)
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
            SchemaTooNewError, DiskFullError: what the store says. A damaged database is put aside; see `service.mending`.
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
        return cls(store, data_dir, settings, keep_warm, patience_s)

    def __enter__(self) -> GraphMem:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End background work, bring the database file up to date, let it go. Twice is once."""
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
        for kept in (self._cache, self._inputs):
            if kept is not None:
                kept.close()
        self._store.close()

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
            note="; ".join(filter(None, (self._projections.note(), self._watcher_note(), self._vectors.note()))),
            stale=stale[:MAX_STALE],
        )

    def files(self, prefix: str = "", limit: int = 100, offset: int = 0) -> tuple[list[FileInfo], int]:
        """A page of the files whose path begins with `prefix`, by path, and how many there are."""
        _check_page(limit, offset)
        view = self._view()
        paths = [path for path in view.paths if path.startswith(prefix) and view.file_node(path) is not None]
        page = (view.file_info(path) for path in paths[offset : offset + limit])
        return [info for info in page if info is not None], len(paths)

    def symbols(self, query: str, kinds: Sequence[str] | None = None, limit: int = 50, offset: int = 0) -> tuple[list[SymbolInfo], int]:
        """A page of the symbols whose name holds the query, best match first, and how many there are."""
        _check_page(limit, offset)
        return find_symbols(self._view(), query, kinds, limit, offset)

    def symbol(self, ref: str, source: bool = False) -> SymbolDetail:
        """A symbol and what stands around it; at most 1,000 edges of each relation.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
            StaleFileError: `source` is asked for and the file has changed since it was indexed.
        """
        view = self._view()
        node = resolve_ref(view, ref)[0]
        around = {name: sites(view, node, name, DEFAULT_LIMIT) for name in RELATIONS}
        parent = int(view.parent[node])
        return SymbolDetail(
            symbol=view.info(node),
            doc=view.doc(node),
            modifiers=view.modifiers(node),
            complexity=int(view.complexity[node]),
            parent=view.info(parent) if parent >= 0 else None,
            members=[site.symbol for site in around.pop("members")],
            source=self._source(view, node) if source else "",
            **around,
        )

    def resolve(self, ref: str) -> SymbolInfo:
        """The symbol a reference means; of twins with one path and name the first.

        Raises:
            SymbolNotFoundError, AmbiguousSymbolError: see `analysis.refs`.
        """
        view = self._view()
        return view.info(resolve_ref(view, ref)[0])

    def file_info(self, paths: Sequence[str]) -> list[FileInfo | None]:
        """Files by path, in the order asked; None where there is none."""
        view = self._view()
        return [view.file_info(path) for path in paths]

    def symbol_info(self, ids: Sequence[str]) -> list[SymbolInfo | None]:
        """Nodes by id, in the order asked; None where there is none."""
        view = self._view()
        found = nodes_of(view, ids)
        infos = dict(zip(found, view.infos(list(found.values())), strict=True)) if found else {}
        return [infos.get(one) for one in ids]

    def sites(self, ids: Sequence[str], relation: str, limit: int = DEFAULT_LIMIT) -> dict[str, list[Site]]:
        """For each id that is in the graph, the first edges of a relation."""
        view = self._view()
        return {one: sites(view, node, relation, limit) for one, node in nodes_of(view, ids).items()}

    def details(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """For each id that is in the graph: doc, modifiers, complexity and the parent's id or ""."""
        view = self._view()
        return {
            one: {
                "doc": view.doc(node),
                "modifiers": view.modifiers(node),
                "complexity": int(view.complexity[node]),
                "parent": view.ids[view.parent[node]] if view.parent[node] >= 0 else "",
            }
            for one, node in nodes_of(view, ids).items()
        }

    def source(self, id: str) -> str:  # noqa: A002 - the word of the domain
        """The text of a symbol as it was indexed.

        Raises:
            SymbolNotFoundError: no such id.
            StaleFileError: the file has changed since it was indexed, or is gone.
        """
        view = self._view()
        if id not in view.index_of:
            raise SymbolNotFoundError(f"there is no node {id!r} in the index; ids come from other answers", ref=id, suggestions=[])
        return self._source(view, view.index_of[id])

    def _source(self, view: GraphView, node: int) -> str:
        path = view.path(node)
        if not path:
            return ""
        try:
            data = (self._root() / path).read_bytes()
        except OSError:
            data = b""
        number = view.path_number[path]
        if content_hash(data) != view.arrays.paths.content_hash[number].as_py():
            raise StaleFileError(f"{path} has changed since it was indexed; run `graphmem index`", path=path)
        lines = to_utf8(data, language_of_path(path)).source.decode("utf-8").split("\n")
        if view.label[node] != SYMBOL or NODE_KINDS[view.kind[node]] == "module":
            return "\n".join(lines)
        return "\n".join(lines[view.start_line[node] - 1 : view.end_line[node]])

    # ---- questions

    def impact(
        self,
        targets: str | Sequence[str],
        direction: str = "dependents",
        max_depth: int = DEFAULT_DEPTH,
        min_confidence: float = DEFAULT_CONFIDENCE,
        kinds: Sequence[str] | None = None,
        limit: int = DEFAULT_LIMIT,
    ) -> ImpactReport:
        """Everything that could behave differently if the targets change, with the evidence.

        Raises:
            BadInputError: a bound is out of range, or there is no target.
            SymbolNotFoundError, AmbiguousSymbolError: for the first target that is not one symbol.
        """
        question = Question(direction, max_depth, min_confidence, tuple(kinds) if kinds is not None else IMPACT_KINDS, limit)
        view = self._view()
        refs = [targets] if isinstance(targets, str) else list(targets)
        if not refs:
            raise BadInputError("say what changes: at least one target is needed", argument="targets")
        nodes = list(dict.fromkeys(node for ref in refs for node in resolve_ref(view, ref)))
        report = impact(view, nodes, question, self.state(), self._judged(view))
        return self._with_also_moves(view, report, sorted({view.path(node) for node in nodes} - {""}))

    def impact_of_diff(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: int = DEFAULT_DEPTH,
        min_confidence: float = DEFAULT_CONFIDENCE,
        limit: int = DEFAULT_LIMIT,
    ) -> DiffImpact:
        """The united impact of what a diff changes: a unified diff, or a git range (`base` alone: to the working tree).

        Raises:
            BadInputError: both or none are given, the diff is none, or fits the working tree on neither side.
            GitError: git is not there, or does not know a revision.
        """
        if (diff is None) == (base is None):
            raise BadInputError("give either a diff or a base revision", argument="diff")
        question = Question("dependents", max_depth, min_confidence, IMPACT_KINDS, limit)
        view = self._view()
        root = self._root()
        read = diffs.of_text(root, diff) if diff is not None else diffs.of_range(root, base or "HEAD", head)
        project = self._store.meta().get("project", "")
        changed = [(one, _info(view, project, one)) for one in read.changes]
        seeds: dict[str, list[int]] = {"body": [], "name": []}
        targets: list[int] = []
        for one, info in changed:
            node = view.index_of.get(info.id)
            if node is None or one.change == "added":
                continue
            targets.append(node)
            body = one.change == "body"
            seeds["body" if body else "name"].extend([node] if body else expand(view, [node]))
        starts = [Start(seeds["body"], BODY_KINDS), Start(seeds["name"], IMPACT_KINDS)]
        report = united_impact(view, targets, starts, question, self.state(), self._judged(view))
        return DiffImpact(
            base=read.base,
            head=read.head,
            files=read.files,
            changed=[ChangedSymbol(info, one.change, one.lines) for one, info in changed],
            unmapped=read.unmapped,
            impact=self._with_also_moves(view, report, read.files),
        )

    def path(
        self, source: str, target: str, max_depth: int = 10, min_confidence: float = 0.05, kinds: Sequence[str] | None = None
    ) -> PathAnswer:
        """How `source` depends on `target`: the most confident path."""
        view = self._view()
        from_nodes, to_nodes = resolve_ref(view, source), resolve_ref(view, target)
        return best_path(
            view,
            from_nodes,
            to_nodes,
            self.state(),
            max_depth=max_depth,
            min_confidence=min_confidence,
            kinds=tuple(kinds) if kinds is not None else IMPACT_KINDS,
        )

    def subgraph(self, seeds: Sequence[str], depth: int = 1, kinds: Sequence[str] | None = None, limit: int = 500) -> Subgraph:
        """The nodes around some symbols and the edges among them."""
        view = self._view()
        nodes = [node for ref in seeds for node in resolve_ref(view, ref)]
        return subgraph(view, nodes, self.state(), depth=depth, kinds=kinds, limit=limit)

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
        """Hybrid search in code and memories, best hit first; the answer iterates over its hits.

        Args:
            query: words, an identifier, or a question.
            k: hits wanted, 1 to 200.
            files: paths that are open right now: what is near them rises, nothing is left out.
            within: only in these files and below these directories.
            kinds: of code, prose, data, symbol, memory; default all.
            types: only memories of these types.
            phase: of work: define, implement, validate, refine, explore or reflect; decides which types of memories rise.
            retired: also memories that were superseded or deprecated.
            as_of: only memories that were believed at that time.
            explain: fill in `parts` and `factors` of every hit.
            budget_tokens: also write the hits as one text of at most so many tokens: code by file, memories with citations (`packed`).

        Raises:
            BadInputError: see `search.request.check`.
            NotIndexedError: there is neither code nor a memory.
        """
        request = Request(
            query=query,
            k=k,
            files=tuple(files or ()),
            within=tuple(within or ()),
            kinds=frozenset(kinds or ()),
            types=frozenset(types or ()),
            phase=phase,
            retired=retired,
            as_of=None if as_of is None else moment("as_of", as_of),
            explain=explain,
        )
        if request.wants_code and not (request.wants_memories and len(self._projections.memories())):
            self._view()
        answer = self._searcher.search(request, self.state)
        if budget_tokens is None:
            return answer
        return dataclasses.replace(answer, packed=self._injector.packed(answer, budget_tokens))

    def export(self) -> Iterator[dict[str, Any]]:
        """Every node and edge as a JSON object; see `service.exporting`."""
        self._view()
        return export(self._store.tables())

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
            "evidence": self._evidence.report(ready, self._store.meta().get("project", "")) if ready is not None else {},
            "history": self._history_report(),
            "learning": self._learning_report(),
            "health": to_json(self.health()),
        }

    def _judged(self, view: GraphView) -> frozenset[str]:
        """Tests that impact judges by their last run."""
        return self._evidence.judged(view, self._store.meta().get("project", ""))

    # ---- indexing

    def index(
        self,
        repo: str | Path | None = None,
        full: bool = False,
        on_progress: Callable[[IndexProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        paths: Collection[str] | None = None,
    ) -> IndexSummary:
        """Bring the index up to date with the tree and return when it is; runs take turns.

        Args:
            repo: the tree; default the one indexed before.
            full: write everything anew.
            paths: the only files that can have changed since the last run, from the root; default: look at all.
            on_progress: told every step; so is every listener of `subscribe_progress`.
            cancelled: asked often; when it says yes, nothing is written.

        Raises:
            RepositoryError, IndexCancelledError, DiskFullError: see `indexing.pipeline`.
        """

        def tell(step: IndexProgress) -> None:
            self._hub.publish(step)
            if on_progress is not None:
                on_progress(step)

        def stop() -> bool:
            return self._closing.is_set() or (cancelled is not None and cancelled())

        with self._turn:
            try:
                indexer = self._indexer_for(repo)
                self._vectors.pause()
                self._book.flush()  # the run moves the anchors of every memory that was acknowledged before it
                begun = self._stale.now()
                root = Path(repo).resolve() if repo is not None else self._root()
                history = self._read_history(root, tell, stop, self._settings)
                summary = indexer.run(
                    full=full,
                    paths=paths,
                    on_progress=tell,
                    on_changed=lambda changed: self._stale.mark(changed, begun),
                    cancelled=stop,
                )
                self._stale.settle(begun, paths)
            except BaseException as error:
                tell(IndexProgress("failed", 0, 0, str(error) or type(error).__name__))
                raise
        self._vectors.resume()
        self._book.follow_index()
        self._learn_from_commits(root, history)
        self._derive_co_accessed()
        if self._store.notes:
            summary.diagnostics[:0] = [Diagnostic("", "warning", "damaged", note, 0)._asdict() for note in self._store.notes]
            summary = dataclasses.replace(summary, diagnostic_count=summary.diagnostic_count + len(self._store.notes))
        return summary

    def watch(self) -> None:
        """Follow the files from now on: answers say at once which have changed, and half a second later they are indexed.

        A system that cannot tell is asked again and again; the state's note says so. `close` ends it.

        Raises:
            NotIndexedError: nothing was indexed yet, so there is no tree to watch.
        """
        if self._watcher is None:
            self._watcher = Watcher(self._root(), self._discovery_options(), self)
            self._watcher.start()

    def _watcher_note(self) -> str:
        return self._watcher.note if self._watcher is not None else ""

    def mark_stale(self, paths: Collection[str]) -> None:
        """From now on answers say that these files have changed, until a run has looked at them again.

        Args:
            paths: from the root, with '/'.
        """
        self._stale.mark(paths)

    def mark_current(self, paths: Collection[str]) -> None:
        """Take back `mark_stale`."""
        self._stale.settle(self._stale.now(), paths)

    def is_current(self, path: str) -> bool:
        """Whether the index holds this very content of a file, or neither it nor the disk has such a file."""
        view = self._projections.graph_if_ready()
        known = view.path_number.get(path) if view is not None else None
        try:
            data = read_regular(str(self._root() / path), self._settings.max_file_kb << 10)
        except OSError:
            return known is None
        if view is None or known is None or not isinstance(data, bytes):
            return False
        return bool(content_hash(data) == view.arrays.paths.content_hash[known].as_py())

    def indexed_folders(self) -> set[str]:
        """Folders that hold an indexed file, from the root with '/'; "" is the root."""
        view = self._projections.graph_if_ready()
        return {path.rpartition("/")[0] for path in view.paths} if view is not None else set()

    def follow(self, paths: Collection[str] | None) -> None:
        """`index`, for a watcher: these paths alone, or everything.

        Raises:
            GraphMemError: see `index`.
        """
        self.index(paths=paths)

    def warm(self) -> None:
        """Get ready for the next index run, so that it costs what changed; `index` comes first.

        Takes a second or two of processor time for a large project, and does nothing in an index that is warm.
        """
        with self._turn:
            if self._indexer is not None and not self._closing.is_set():
                with contextlib.suppress(IndexCancelledError):
                    self._indexer.warm(self._closing.is_set)

    def start_index(self, repo: str | None = None, full: bool = False) -> str:
        """Index in the background and answer the run's id at once; listen with `subscribe_progress`."""
        run = uuid.uuid4().hex
        thread = threading.Thread(target=self._run_quietly, args=(repo, full), name=f"index-{run[:8]}", daemon=True)
        self._run = thread
        thread.start()
        return run

    def _run_quietly(self, repo: str | None, full: bool) -> None:
        """A background run has nobody to raise to: its failure is the last step listeners see."""
        try:
            self.index(repo, full)
        except GraphMemError:
            return

    def subscribe_progress(self) -> Feed[IndexProgress]:
        """A listener to index runs and the filling of vectors."""
        return self._hub.feed()

    def subscribe_memories(self) -> Feed[MemoryChange]:
        """Listen to changes of memories: a context manager whose value iterates over them until it is left."""
        return self._memory_news.feed()

    def _memories_changed(self, delta: KnowledgeDelta) -> None:
        self._injector.memories_changed(delta)
        changed = sorted({row.id for row in delta.memories}.union(delta.anchored))
        if changed or delta.removed_memories:
            self._memory_news.publish(MemoryChange(changed, sorted(delta.removed_memories)))

    def fill_vectors(self, background: bool = True) -> None:
        """Compute missing vectors: from now on in the background, or in this thread until all are there.

        Raises:
            EmbedderError: the model cannot be loaded; in the background the state's note says so.
        """
        if background:
            self._vectors.start()
        else:
            self._vectors.run()

    def _indexer_for(self, repo: str | Path | None) -> Indexer:
        meta = self._store.meta()
        root = Path(repo).resolve() if repo is not None else Path(meta["root"]) if "root" in meta else None
        if root is None:
            raise NotIndexedError("this index is empty; say which repository to read", path=str(self._data_dir))
        if not root.is_dir():
            kind = "is not a directory" if root.exists() else "does not exist"
            raise RepositoryError(f"{root} {kind}; name the folder of the repository", path=str(root))
        before = meta.get("root")
        if before and Path(before) != root and Path(before).is_dir():
            raise BadInputError(
                f"this index is of {before}, not of {root}; choose another directory with --db",
                argument="repo",
                root=before,
                path=str(root),
            )
        if self._indexer is None or before != str(root):
            # A process that only asks has no need of what parses and resolves: a tenth of a second.
            from graphmem.indexing.inputs import Inputs
            from graphmem.indexing.pipeline import Indexer, IndexOptions
            from graphmem.parsing.facts_cache import FactsCache

            options = IndexOptions(
                self._discovery_options(),
                workers=self._settings.workers or None,
                keep_warm=self._keep_warm,
            )
            project = meta.get("project") or root.name
            self._cache = self._cache or FactsCache(self._data_dir / FACTS, project)
            self._inputs = self._inputs or Inputs(self._data_dir / INPUTS)
            self._indexer = Indexer(self._store, self._projections, self._cache, self._inputs, root, project, options)
        return self._indexer

    def _discovery_options(self) -> DiscoveryOptions:
        return DiscoveryOptions(
            max_file_bytes=self._settings.max_file_kb << 10,
            include_vendored=self._settings.include_vendored,
            include_generated=self._settings.include_vendored,
        )

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
        if not self._store.generation():
            state = self.state()
            if state.state == "indexing":
                raise NotIndexedError(
                    f"the first index is being made ({state.stage} {state.done:,} of {state.total:,}); ask again in a moment",
                    path=str(self._data_dir),
                )
            raise self._empty()
        return self._projections.graph()


def _check_page(limit: int, offset: int) -> None:
    if not 1 <= limit <= 10_000:
        raise BadInputError(f"limit is {limit}, allowed is 1 to 10,000", argument="limit", value=limit)
    if offset < 0:
        raise BadInputError(f"offset is {offset}, it cannot be negative", argument="offset", value=offset)


def _info(view: GraphView, project: str, change: diffing.DefinitionChange) -> SymbolInfo:
    """The symbol a change is about: as the graph has it, else as the diff tells it."""
    one = change.definition
    key = symbol_id(project, change.path, one.qualname, one.kind, one.ordinal)
    if key in view.index_of:
        return view.info(view.index_of[key])
    return SymbolInfo(
        key, one.kind, one.name, one.qualname, change.path, one.start_line, one.end_line, one.signature, "test" in one.modifiers
    )
