"""One index run: discover, parse, resolve, and write the difference.

A run compares the content hashes of all files, or of files that may have changed. It processes only changed files. The rows, the facts and
the edge dependencies of unchanged files are reused. Within a process they are kept in memory, and between processes in files next to the
database. The run writes only at its end, so an interrupted run leaves the previous index unchanged.
"""

from __future__ import annotations

import gc
import json
import uuid
from collections import Counter
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphmem import __version__
from graphmem.errors import DiskFullError, GraphMemError, IndexCancelledError, ResourceError, StoreBusyError
from graphmem.evidence.merge import Outside
from graphmem.indexing.contracts import Contracts, calls_in, has_handlers, is_schema
from graphmem.indexing.delta import Rows, difference, edges_of, everything, external_uses
from graphmem.indexing.facts_source import FactsByPath, FactsLostError, FactsSource
from graphmem.indexing.inputs import Inputs, PackedDependencies, pack
from graphmem.indexing.outside import paths_with_edges_of
from graphmem.indexing.packed import PackedRows
from graphmem.indexing.past import Kept, Past, Undo, undo_of
from graphmem.indexing.recent import Recent
from graphmem.indexing.resolving import processes_for, resolve_everything
from graphmem.indexing.resolving_worker import BATCH, Job, Resolved
from graphmem.indexing.spill import Spill
from graphmem.indexing.summary import Meter, summarise
from graphmem.indexing.tree import Look, Tree
from graphmem.indexing.unfinished import FILE as UNFINISHED
from graphmem.indexing.unfinished import LEAST_FILES, Unfinished
from graphmem.model import (
    Diagnostic,
    EdgeRow,
    EdgeSource,
    FileRow,
    GraphDelta,
    HandlesRow,
    IndexProgress,
    OccurrencesRow,
    file_id,
    stable_id,
)
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.ignore import DiscoveryOptions
from graphmem.parsing.language import languages
from graphmem.parsing.marker import FILE as MARKER
from graphmem.parsing.packing import collector_paused, extraction_key, packed_chunks
from graphmem.parsing.pool import parse_files
from graphmem.parsing.worker import parse_file
from graphmem.projection.graph import kind_mask
from graphmem.resolution.layout import Layout
from graphmem.resolution.resolver import FEW_GROUPS, Resolver
from graphmem.resolution.shelf import Shelf
from graphmem.runtime.compression import FORMAT as TEXT_FORMAT
from graphmem.runtime.faults import CODE as FAULT
from graphmem.runtime.free_memory import free_memory
from graphmem.runtime.heap import give_back
from graphmem.runtime.resources import digest
from graphmem.store.base import HANDLES_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from graphmem.answers import IndexSummary
    from graphmem.parsing.facts import FileFacts
    from graphmem.parsing.packing import Head, ParsedFile
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of an index run, such as the number of processes."""

    discovery: DiscoveryOptions
    workers: int | None  # processes that parse and resolve; None: chosen by the amount of work
    keep_warm: bool  # keep the facts of all files, so that the next run is small


# Parsed files go to the cache in batches, so that a killed run keeps most of its work.
CACHE_BATCH = 256
MANY_FILES = 1_000  # so many make a collection of cycles between two steps worth its time
MANY_CHANGES = 64  # files; with fewer, a resolver that continues is always cheap
ANEW_SHARE = 5  # with more than one changed file in so many, every file is resolved
CORE_FILES = 16  # those imported most; most other files need answers about them
AHEAD_ROWS = 2_000  # a larger change takes long to commit, and so long readers of the store would wait
BEHIND = 5  # niceness of workers of an open index: requests have priority


_PLAIN = Resolved("", "", 0, "", False, ())  # a file of a language without rules


class _Kept(NamedTuple):
    """The run whose dependencies are stored in `Inputs`, and two counts.

    `keys` counts the stored inputs (parts of files that were read to resolve other files). `groups` counts the stored sets of inputs.
    """

    run: str = ""
    keys: int = 0
    groups: int = 0
    saved_groups: int = 0  # those of the last whole save; later ones are mostly unused soon


class Indexer:
    """Updates the graph in a store to match the files below one root.

    Only one run may be active at a time; the caller must ensure this.
    """

    def __init__(
        self,
        store: GraphStore,
        projections: Projections,
        cache: FactsCache,
        inputs: Inputs,
        past: Past,
        data_dir: Path,
        root: Path,
        project: str,
        options: IndexOptions,
    ) -> None:
        self._store = store
        self._projections = projections
        self._cache = cache
        self._inputs = inputs
        self._data_dir = data_dir
        self._root = root
        self._project = project
        self._options = options
        self._outside = Outside(data_dir, project, root)
        self._contracts = Contracts(data_dir, project)
        self._past = past
        self._tree = Tree(root, options.discovery)
        self._source = FactsSource(cache, root, project, data_dir / MARKER)
        self._indexed: dict[str, str] | None = None  # content hashes by path, as long as only this object writes
        self._recent = Recent()
        self._resolver: Resolver | None = None  # warm: has the facts of every indexed file
        self._handles: dict[str, Sequence[HandlesRow]] = {}  # names frameworks have for functions, of the files of this run
        self._kept = _Kept()
        self._loaded: set[str] = set()  # languages whose grammars `answer_ahead` loaded

    def run(
        self,
        *,
        full: bool = False,
        paths: Collection[str] | None = None,
        on_progress: Callable[[IndexProgress], None],
        on_changed: Callable[[Collection[str]], None] = lambda _: None,
        on_published: Callable[[], None] = lambda: None,
        cancelled: Callable[[], bool],
    ) -> IndexSummary:
        """Bring the graph up to date with the tree.

        Args:
            full: drop the cached data of unchanged files and rebuild everything.
            paths: the only files that may have changed since the last run of this object, from the root with '/'; None if any file may have
                changed.
            on_progress: receives every step, in this thread.
            on_changed: receives the outdated paths before they are processed, and again if a published change was taken back.
            on_published: called when answers contain a small change, shortly before its commit. Not called for a large change or a full
                run: answers contain these only after the commit.
            cancelled: called between steps; True stops without writing.

        Raises:
            RepositoryError: the root is missing, not a directory, unreadable, or has nothing to index.
            IndexCancelledError: `cancelled` returned True.
            DiskFullError: the disk is full. The previous index is intact.
        """
        with collector_paused(), ExitStack() as ends:  # millions of rows and few cycles
            return self._run(ends, full, paths, on_progress, on_changed, on_published, cancelled)

    def _run(
        self,
        ends: ExitStack,
        full: bool,
        paths: Collection[str] | None,
        on_progress: Callable[[IndexProgress], None],
        on_changed: Callable[[Collection[str]], None],
        on_published: Callable[[], None],
        cancelled: Callable[[], bool],
    ) -> IndexSummary:
        meter = Meter()
        with meter.stage("discover"):
            on_progress(IndexProgress("discover", 0, 0, str(self._root)))
            made_by = _made_by()
            known = {} if full or self._store.meta().get("made_by") != made_by else self._indexed_hashes()
            look = self._tree.look(known, paths, cancelled)
            mark = self._store.meta().get("evidence", "")
            is_due = bool(look.changed or look.removed) or self._outside.is_due(mark)
            mode = "full" if not known else "incremental" if is_due else "unchanged"
            if mode == "incremental":
                on_changed([*(file.path for file in look.changed), *look.removed])
        if mode == "unchanged":
            self._indexed = known
            view = self._projections.graph_if_ready()
            if view is not None and view.generation != self._store.generation():  # a write after the last commit failed
                self._projections.refresh(self._store.generation(), None)
            return self._done(mode, meter, look, [], on_progress)
        spill = ends.enter_context(closing(Spill(self._data_dir))) if mode == "full" else None
        unfinished = ends.enter_context(closing(Unfinished(self._data_dir / UNFINISHED, self._project)))
        if full or spill is None:
            unfinished.discard()
        parsed = self._parse(meter, look.changed, on_progress, cancelled, spill, unfinished)
        notes = PackedRows.of(Diagnostic, (Diagnostic(path, *row) for path, one in parsed.items() for row in one.head.diagnostics))
        faults = self._tree.faults()
        notes.extend(Diagnostic(path, "warning", "configuration", _unused(faults[path]), 0) for path in parsed if path in faults)
        apart = self._resolved_apart(meter, parsed, spill, notes, on_progress, cancelled) if spill is not None else None
        resolver: Resolver | None = None
        if apart is not None:
            delta, made = apart
            rows, undo, affected = None, None, set(made.inputs)
        else:
            resolver, affected = self._resolver_with(meter, parsed, look.removed, known, on_progress, cancelled)
            affected |= self._evidence(meter, resolver, [] if mode == "full" else [*parsed, *look.removed], mark, notes)
            with meter.stage("resolve"):
                self._join_contracts(resolver, parsed, look.removed, affected, full=mode == "full")
            delta, rows, undo = self._resolve(meter, resolver, parsed, look.removed, affected, spill, notes, on_progress, cancelled)
        if cancelled():
            raise _cancelled()
        known = known | {path: one.head.content_hash for path, one in parsed.items()}
        for path in look.removed:
            del known[path]
        parsed.clear()
        outdated = [*(file.path for file in look.changed), *look.removed]
        with self._published(ends, delta, outdated, on_changed, on_published) if mode != "full" else nullcontext():
            run = uuid.uuid4().hex
            with meter.stage("resolve"):
                names = mode == "full" or bool(self._handles) or self._inputs.handling([*affected, *look.removed])
                if resolver is not None:
                    self._keep_inputs(run, resolver, affected, look.removed)
                elif apart is not None:
                    self._inputs.save(run, _layout_key(self._tree.layout()), made, self._handles)
                    self._handles, self._kept = {}, _Kept()
                    del made, apart
                self._contracts.keep(run)
            self._outside.let_go()
            kept = resolver if self._options.keep_warm else None
            if kept is None and resolver is not None:
                resolver.let_go()  # it needs as much memory as all later steps
            del resolver
            if kept is None and len(known) >= MANY_FILES:
                gc.collect()  # exceptions hold frames, and these hold facts
            if kept is None:
                give_back(between=True)
            with meter.stage("write"):
                on_progress(IndexProgress("write", 0, 0, f"{len(delta.symbols):,} symbols, {len(delta.edges):,} edges"))
                meta = {
                    "indexed_at": datetime.now(UTC).isoformat(timespec="seconds"),
                    "made_by": made_by,
                    "project": self._project,
                    "root": str(self._root),
                    "run": run,
                    "evidence": self._outside.mark,
                }
                self._keep_past(undo, meta, notes)
                self._indexed = None
                recent, self._recent = self._recent, Recent()
                generation = self._store.replace(delta, meta) if mode == "full" else self._store.apply(delta, meta)
                self._outside.done()
                unfinished.discard()
                if rows is not None:
                    self._recent = recent
                    recent.wrote(rows, {file.path for file in look.changed}, look.removed)
                    del rows
        self._resolver, self._indexed = kept, known
        if names:
            with meter.stage("write"):
                self._name_functions(anew=mode == "full")
        with meter.stage("project"):
            on_progress(IndexProgress("project", 0, 0, "search and graph projections"))
            if mode == "full":
                del delta  # as large as the graph, and no longer needed
                give_back(between=True)
                self._projections.refresh(generation, None)
            else:
                self._projections.refresh(generation, delta)
            if look.is_whole:
                self._cache.prune(known.items())
            else:
                self._cache.prune(known.items(), only=[*(file.path for file in look.changed), *look.removed])
        return self._done(mode, meter, look, notes, on_progress)

    @contextmanager
    def _published(
        self,
        ends: ExitStack,
        delta: GraphDelta,
        outdated: Collection[str],
        on_changed: Callable[[Collection[str]], None],
        on_published: Callable[[], None],
    ) -> Iterator[None]:
        """Show a small change in answers before the `with` block commits it.

        If the process ends before the commit, the next run finds the same changed files again. If the run fails, answers return to the last
        committed graph. A large change is not shown before its commit.

        Args:
            ends: exit stack that is closed at the end of the run.
            delta: the change.
            outdated: paths of the changed and removed files.
            on_changed: called with `outdated` if the run fails.
            on_published: called when answers contain the change.
        """
        local = self._store.local
        if local is None or not self._options.keep_warm or sum(map(len, delta)) > AHEAD_ROWS:
            yield
            return

        def end(kind: type[BaseException] | None, *_: object) -> None:
            self._projections.withdraw()
            if kind is not None:
                on_changed(outdated)

        with local.announced() as generation, ExitStack() as taken_back:
            if self._projections.publish(generation, delta):
                taken_back.push(end)
                on_published()
            yield
            ends.push(taken_back.pop_all())

    def _keep_past(self, undo: Undo | None, meta: Mapping[str, str], notes: PackedRows[Diagnostic]) -> None:
        """Store the state of the graph that this run is about to replace."""
        before = self._store.meta()
        try:
            if undo is None:
                self._past.forget()
            else:
                state = Kept(before.get("run", ""), meta["run"], self._store.generation(), before.get("indexed_at", ""), meta["indexed_at"])
                self._past.keep(state, undo)
        except GraphMemError as error:
            notes.extend([Diagnostic("", "warning", "past", f"the earlier state of the graph was not kept: {error.message}", 0)])

    def warm(self, cancelled: Callable[[], bool]) -> bool:
        """Load data that an earlier process stored, so that the next run is fast.

        Returns:
            False if data is missing. Then the next run resolves all files.

        Raises:
            IndexCancelledError: `cancelled` returned True.
        """
        known = self._indexed_hashes()
        if self._resolver is None and known and self._tree.files and self._store.meta().get("made_by") == _made_by():
            self._resolver = self._revived(self._tree.layout(), known, cancelled)
        return self._resolver is not None

    def core_files(self) -> list[str]:
        """Return the paths of the files that are imported most, most first.

        Tests are left out. There are at most `CORE_FILES` paths.
        """
        view = self._projections.graph()
        imported = Counter(map(view.path, view.dst[kind_mask(("IMPORTS",))[view.edge_kind]].tolist()))
        return [path for path, _ in imported.most_common() if not view.in_tests(path)][:CORE_FILES]

    def answer_ahead(self, path: str) -> None:
        """Resolve the names that a file uses in advance, and cache the results.

        `path` is usually a core file, on which most other files depend. With the cached results, the first change after a start is
        resolved as fast as later ones. The first file of each language is parsed once, which loads the grammar. The method does nothing
        before `warm` has loaded the data.
        """
        if self._resolver is None:
            return
        self._resolver.answer_ahead(path)
        found = self._tree.files.get(path)
        if found is not None and found.language not in self._loaded:
            self._loaded.add(found.language)
            for _ in parse_files([found], project=self._project, cancelled=lambda: False, marker=self._data_dir / MARKER):
                pass

    def end_warming(self) -> None:
        """Prepare the answers that `answer_ahead` cached for the next run.

        Each answer is indexed by the inputs (parts of files) from which it was computed. When a file changes, the answers that depend on it
        are found and dropped.
        """
        if self._resolver is not None:
            self._resolver.index_answers()

    def close(self) -> None:
        """Close the file of observations by outside tools, such as test runs."""
        self._outside.close()

    def let_go(self) -> bool:
        """Release the memory kept for the next run; return whether there was any.

        The next run reads the data from files instead.
        """
        held, self._resolver = self._resolver, None
        if held is None:
            return False
        held.let_go()  # its parts know each other, and what is loaded for long is not looked at by the collector (see `facts_cache`)
        give_back()
        return True

    def _indexed_hashes(self) -> dict[str, str]:
        """Return the content hashes of the files that the index contains, by path."""
        if self._indexed is not None:
            return self._indexed
        view = self._projections.graph()
        if view.generation == self._store.generation():  # this needs no open database
            paths = view.arrays.paths
            rows = zip(paths.path.to_pylist(), paths.content_hash.to_pylist(), paths.node.tolist(), strict=True)
            return {path: content_hash for path, content_hash, node in rows if node >= 0}
        return self._store.file_hashes()

    def _parse(
        self,
        meter: Meter,
        files: list[FoundFile],
        on_progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
        spill: Spill | None = None,
        unfinished: Unfinished | None = None,
    ) -> dict[str, ParsedFile]:
        """Parse files and return the results by path: facts and chunks.

        The facts are moved to the cache, and the chunks to `spill` (a temporary store) if it is given. In a first index of many files, the
        results are also kept in `unfinished`, so that an interrupted run can continue.
        """
        with meter.stage("parse"):
            parsed: dict[str, ParsedFile] = {}
            on_progress(IndexProgress("parse", 0, len(files), ""))
            fresh: list[ParsedFile] = []
            niceness = BEHIND if self._options.keep_warm else 0
            marker = self._data_dir / MARKER
            workers = self._options.workers
            if spill is None or len(files) < LEAST_FILES:
                unfinished = None
            elif unfinished is not None:
                for one in unfinished.take(files, self._cache):
                    one.spill_chunks(spill.write)
                    parsed[one.head.path] = one
            left = [file for file in files if file.path not in parsed]
            for one in parse_files(left, project=self._project, workers=workers, cancelled=cancelled, niceness=niceness, marker=marker):
                parsed[one.head.path] = one
                fresh.append(one)
                if unfinished is not None:
                    unfinished.keep(one)
                if spill is not None:
                    one.spill_chunks(spill.write)
                if len(parsed) % 16 == 0:
                    on_progress(IndexProgress("parse", len(parsed), len(files), one.head.path))
                if len(fresh) >= CACHE_BATCH:
                    self._keep(fresh, unfinished)
            self._keep(fresh, unfinished)
            on_progress(IndexProgress("parse", len(files), len(files), ""))
        return parsed

    def _keep(self, fresh: list[ParsedFile], unfinished: Unfinished | None) -> None:
        """Move the facts of the parsed files `fresh` to the cache; clear `fresh`.

        If the cache cannot be written, the facts stay in memory.
        """
        if self._cache.put_many(one for one in fresh if one.head.language in languages()):
            for one in fresh:
                if one.head.language in languages() or not is_schema(one.head.path):
                    one.forget_facts()
            if unfinished is not None:
                unfinished.flush()
        fresh.clear()

    def _facts_of(self, files: Iterable[FoundFile], parsed: Mapping[str, ParsedFile], cancelled: Callable[[], bool]) -> FactsByPath:
        """Return the parsed facts of files by path, each read when needed.

        Files without a grammar are left out.
        """
        resolved = {file.path: file for file in files if file.language in languages()}
        return FactsByPath(self._source, resolved, parsed, cancelled)

    def _resolver_with(
        self,
        meter: Meter,
        parsed: dict[str, ParsedFile],
        removed: list[str],
        known: dict[str, str],
        on_progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
    ) -> tuple[Resolver, set[str]]:
        """Return a resolver for the current files, and the affected paths.

        A file is affected if its edges may have changed. The resolver of the last run is reused if possible.

        Args:
            meter: measures the time.
            parsed: the files that this run has parsed, by path.
            removed: paths of deleted files.
            known: content hashes of the indexed files, by path.
            on_progress: receives the progress if files must be parsed again.
            cancelled: whether to stop.
        """
        layout = self._tree.layout()
        facts = self._facts_of((self._tree.files[path] for path in parsed), parsed, cancelled)
        # Unset until the write succeeds: a failed run leaves the store unchanged and the resolver ahead of it.
        resolver, self._resolver = self._resolver, None
        if known and _is_most(len(parsed) + len(removed), len(known)):
            if resolver is not None:
                resolver.let_go()
            resolver = None
        elif (resolver is None or resolver.layout != layout) and known:
            with meter.stage("resolve"):
                resolver = self._revived(layout, known, cancelled)
        if resolver is not None and resolver.layout == layout:
            with meter.stage("resolve"), suppress(FactsLostError):
                return resolver, resolver.update(facts, removed)
        self._kept = _Kept()
        resolver = self._new_resolver(layout)
        unchanged = [file for path, file in self._tree.files.items() if path not in parsed and file.language in languages()]
        missing = self._cache.missing(unchanged)
        both = {**parsed, **self._parse(meter, missing, on_progress, cancelled)} if missing else parsed
        with meter.stage("resolve"):
            return resolver, resolver.update(self._facts_of(self._tree.files.values(), both, cancelled), ())

    def _new_resolver(self, layout: Layout) -> Resolver:
        return Resolver(self._project, layout, Shelf(self._source))

    def _revived(self, layout: Layout, known: dict[str, str], cancelled: Callable[[], bool]) -> Resolver | None:
        """Return a resolver restored from the files of earlier processes, or None.

        The result is None if facts or dependencies are missing, or the layout has changed.
        """
        run = self._store.meta().get("run", "")
        found = self._inputs.load(run, _layout_key(layout))
        if found is None:
            return None
        view = self._projections.graph()
        paths = view.arrays.paths
        spoken = zip(paths.path.to_pylist(), paths.language.to_pylist(), strict=True)
        files = [
            FoundFile(path, str(self._root / path), 0, known[path], language)
            for path, language in spoken
            if path in known and language in languages()
        ]
        if self._cache.missing(files) or len(view.paths) < len(known):
            return None
        resolver = self._new_resolver(layout)
        resolver.remember(found)
        facts = self._facts_of(files, {}, cancelled)
        try:
            resolver.update(facts, ())
        except FactsLostError:
            return None
        facts.hide_from_collector()
        self._kept = _Kept(run, len(found.keys), len(found.groups), len(found.groups))
        return resolver

    def _keep_inputs(self, run: str, resolver: Resolver, affected: set[str], removed: list[str]) -> None:
        """Store the dependencies of each file's edges, for later processes.

        Dependencies are other files, and parts of them. They are stored before the graph is written. The stored data names the run. A later
        process uses the data only if the graph contains the result of the same run.
        """
        kept, layout = self._kept, _layout_key(resolver.layout)
        follows = bool(kept.run) and kept.run == self._store.meta().get("run")
        if follows and kept.groups - kept.saved_groups <= max(FEW_GROUPS, resolver.group_count()):
            made = resolver.dependencies(affected, kept.keys, kept.groups)
            self._inputs.follow(run, layout, (kept.keys, kept.groups), pack(made), self._handles, removed)
            self._kept = _Kept(run, kept.keys + len(made.keys), kept.groups + len(made.groups), kept.saved_groups)
        else:
            made = resolver.dependencies()
            self._inputs.save(run, layout, pack(made), self._handles)
            self._kept = _Kept(run, len(made.keys), len(made.groups), len(made.groups))
        self._handles = {}

    def _name_functions(self, *, anew: bool) -> None:
        """Write the framework keys of functions to the graph if they changed.

        A framework key is a route's path, an event or a command that a function handles. If the argument is True, unchanged keys are
        written, too.
        """
        rows = self._inputs.handles()
        if rows is None:
            return
        mark = stable_id("handles", *("\x1e".join(map(str, row)) for row in rows))
        if anew or self._store.meta().get(HANDLES_OF) != mark:
            self._store.put_handles(mark, self._project, rows)

    def _evidence(self, meter: Meter, resolver: Resolver, touched: list[str], mark: str, notes: PackedRows[Diagnostic]) -> set[str]:
        """Read outside evidence, such as from SCIP indexers and test runs.

        Returns the paths of files whose edges this evidence may change.

        Args:
            meter: measures the time.
            resolver: knows the current files.
            touched: paths of files that this run has changed or removed; empty in a first run.
            mark: identifies the evidence that the last run used.
            notes: receives the diagnostics.
        """
        with meter.stage("evidence"):
            graph = self._projections.graph
            begun = paths_with_edges_of(graph, (EdgeSource.SCIP, EdgeSource.RUNTIME))

            def body_before(id_: str) -> str | None:
                at = graph().index_of.get(id_)
                return graph().body_hash(at) if at is not None else None

            paths, said = self._outside.update(resolver, touched, mark, body_before, begun)
            notes.extend(said)
        return paths

    def _join_contracts(
        self, resolver: Resolver, parsed: Mapping[str, ParsedFile], removed: Collection[str], affected: set[str], *, full: bool
    ) -> None:
        """Link contracts between files, such as a route and its calls.

        The paths of files whose edges change are added to `affected`. In a first index run (`full`), contract ends (offers and uses) are
        collected later: while a file is resolved, its parsed facts are in memory.
        """
        known = self._contracts.begin(self._store.meta().get("run", ""), full=full)
        if full:
            return
        for path in sorted(affected | parsed.keys()) if known else ():
            self._take_contracts(path, resolver, parsed)
        if not known:  # lost: the ends of all files are collected again
            for path in resolver.paths():
                self._take_contracts(path, resolver, parsed)
            for path, found in self._tree.files.items():
                if found.language == "text" and is_schema(path):
                    self._contracts.take(path, parse_file(found, self._project).facts.ends, resolver)
        affected |= self._contracts.join(resolver, removed)

    def _take_contracts(
        self, path: str, resolver: Resolver, parsed: Mapping[str, ParsedFile], edges: Sequence[EdgeRow] | None = None
    ) -> bool:
        """Collect the contract ends of a file; return whether it has any.

        `edges` are the resolved edges out of the file. Without them, a file that names handlers of routes is resolved for them.
        """
        facts = resolver.facts(path)
        if facts is None and path in parsed and parsed[path].has_facts and is_schema(path):
            facts = parsed[path].facts
        if facts is not None:
            if edges is None:
                edges = resolver.resolve(path).edges if has_handlers(facts.ends) else ()
            self._contracts.take(path, facts.ends, resolver, edges)
        return facts is not None and bool(facts.ends)

    def _resolve(
        self,
        meter: Meter,
        resolver: Resolver,
        parsed: dict[str, ParsedFile],
        removed: list[str],
        affected: set[str],
        spill: Spill | None,
        notes: PackedRows[Diagnostic],
        on_progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
    ) -> tuple[GraphDelta, Rows | None, Undo | None]:
        """Resolve the affected files and return (delta, new rows, inverse).

        The delta is the change of the graph. New rows and inverse are None in a first load, which has `spill` (a temporary store).

        Args:
            meter: measures the time.
            resolver: knows the current files.
            parsed: the files that this run has parsed, by path.
            removed: paths of deleted files.
            affected: paths of files whose edges may have changed.
            spill: takes the new rows in a first load; None in other runs.
            notes: receives the diagnostics.
            on_progress: receives the progress.
            cancelled: whether to stop.
        """
        paths = sorted(affected | parsed.keys())
        with meter.stage("compare"):
            old = self._stored_rows(paths, parsed, removed) if spill is None else Rows.empty(None)
            file_rows = {row.path: row for row in old.files}
        self._handles = {}
        with meter.stage("resolve"):
            new = Rows.empty(spill)
            called: dict[str, set[tuple[str, str]]] = {}  # ends of calls, of files that have contracts
            for done, path in enumerate(paths):
                if done % 64 == 0:
                    on_progress(IndexProgress("resolve", done, len(paths), path))
                    if cancelled():
                        raise _cancelled()
                call_sites, fault = 0, ""
                if path in affected:
                    found = resolver.resolve(path)
                    resolved = self._outside.merged(path, found)
                    call_sites, fault = resolved.call_sites, resolved.fault
                    if resolved.handles:
                        self._handles[path] = resolved.handles
                    new.symbols.extend(resolver.symbols(path))
                    new.edges.extend(resolved.edges)
                    if (spill is not None and self._take_contracts(path, resolver, parsed, found.edges)) or (
                        spill is None and self._contracts.edges(path)
                    ):
                        called[path] = calls_in(resolved.edges)
                    new.unresolved.extend(resolved.unresolved)
                    if resolved.places:
                        new.occurrences.append(OccurrencesRow(file_id(self._project, path), path, resolved.places))
                    new.externals.update((row.id, row) for row in resolved.externals)
                elif spill is not None:
                    self._take_contracts(path, resolver, parsed)
                module = resolver.module_name(path)
                fault = resolver.fault(path) or fault
                if path in parsed:
                    left_out = resolver.is_left_out(path)
                    self._add_file(new, parsed[path], module, call_sites, fault, notes, is_left_out=left_out)
                    continue
                if fault:
                    notes.extend([Diagnostic(path, "error", FAULT, fault, 0)])
                elif path in self._tree.faults():
                    fault = _unused(self._tree.faults()[path])
                facts = resolver.facts(path)
                said = file_rows[path].diagnostic if facts is None else _serious(facts) or fault
                new.files.append(file_rows[path]._replace(module=module, call_sites=call_sites, diagnostic=said))
            if spill is not None:
                self._contracts.join(resolver, ())
            for path, calls in called.items():
                new.edges.extend([edge for edge in self._contracts.edges(path) if (edge.src, edge.dst) not in calls])
            on_progress(IndexProgress("resolve", len(paths), len(paths), ""))
        with meter.stage("compare"):
            if spill is not None:
                return everything(new), None, None
            ends = {edge.dst for edges in (old.edges, new.edges) for edge in edges}
            view = self._projections.graph()
            delta = difference(old, new, external_uses(view, ends))
            return delta, new, undo_of(delta, old, view)

    def _resolved_apart(
        self,
        meter: Meter,
        parsed: dict[str, ParsedFile],
        spill: Spill,
        notes: PackedRows[Diagnostic],
        on_progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
    ) -> tuple[GraphDelta, PackedDependencies] | None:
        """Resolve all files of a first load in other processes.

        Returns the delta with all rows, and the dependencies of the files. The result is None if the calling process must resolve the files
        itself: there are few files, outside evidence is due, the cache lacks facts, or the processes failed. No resolver stays in this
        process; `warm` makes one from the cache for the next run.
        """
        files = [self._tree.files[path] for path in sorted(parsed) if parsed[path].head.language in languages()]
        size = sum(file.size_bytes for file in files)
        processes = processes_for(len(files), size, self._options.workers, free_memory())
        current = [file._replace(content_hash=parsed[file.path].head.content_hash) for file in files]
        if not processes or self._outside.is_due("") or self._cache.missing(current):
            return None
        held, self._resolver = self._resolver, None
        if held is not None:
            held.let_go()
        if self._store.local is not None:
            with suppress(DiskFullError, ResourceError, StoreBusyError):  # it only saves memory
                self._store.local.rest(0.0)
        give_back()
        layout, niceness = self._tree.layout(), BEHIND if self._options.keep_warm else 0
        with meter.stage("resolve"):
            on_progress(IndexProgress("resolve", 0, len(files), ""))
            job = Job(self._project, self._root, self._cache.path, self._data_dir / MARKER, layout, current, niceness, BATCH)
            found = resolve_everything(job, processes, spill, on_progress, cancelled)
            if found is None:
                return None
            new = Rows.empty(spill)
            for part in found.parts:
                for packed, (piece, count) in zip((new.symbols, new.edges, new.unresolved, new.occurrences), part, strict=True):
                    assert isinstance(packed, PackedRows)  # noqa: S101 - there is a spill
                    packed.extend_pickled(piece, count)
            new.externals.update(found.externals)
            self._handles = {path: one.handles for path, one in found.files.items() if one.handles}
            self._contracts.begin("", full=True)
            for path, parsed_file in parsed.items():
                if path in found.files:
                    self._contracts.take_rows(path, found.files[path].contracts)
                elif parsed_file.has_facts and is_schema(path):
                    self._contracts.take(path, parsed_file.facts.ends, None)
            self._contracts.join(None, ())
            for path, one in found.files.items():
                if one.contracts:
                    new.edges.extend([edge for edge in self._contracts.edges(path) if (edge.src, edge.dst) not in one.calls])
            for path in sorted(parsed):
                one = found.files.get(path, _PLAIN)
                fault = one.fault or found.faults.get(path, "")
                self._add_file(new, parsed[path], one.module, one.call_sites, fault, notes, is_left_out=one.is_left_out)
        with meter.stage("compare"):
            return everything(new), found.dependencies

    def _add_file(
        self, new: Rows, one: ParsedFile, module: str, call_sites: int, fault: str, notes: PackedRows[Diagnostic], *, is_left_out: bool
    ) -> None:
        path = one.head.path
        if fault:
            notes.extend([Diagnostic(path, "error", FAULT, fault, 0)])
        elif path in self._tree.faults():
            fault = _unused(self._tree.faults()[path])
        new.files.append(_file_row(self._project, one.head, module, call_sites, fault))
        if is_left_out:
            return  # its chunks belong to definitions that do not exist
        if isinstance(new.chunks, PackedRows):
            new.chunks.extend_packed(*one.spilled_chunks, packed_chunks)
        else:
            new.chunks.extend(one.chunks)

    def _stored_rows(self, paths: list[str], parsed: dict[str, ParsedFile], removed: list[str]) -> Rows:
        """Return the rows that the graph has for some files before this run.

        The edges come from the projection (the copy of the graph in memory), the other rows from a cache or the store. Chunks are read only
        for files that were parsed or removed.
        """
        generation = self._store.generation()
        if self._projections.graph().generation != generation:  # updating after the last commit failed
            self._projections.refresh(generation, None)
        touched = sorted({*paths, *removed})
        rows = self._recent.rows_of(self._store.rows_of, touched, {*parsed, *removed})
        return Rows(
            rows.files, rows.symbols, rows.chunks, edges_of(self._projections.graph(), touched), rows.unresolved, rows.occurrences, {}
        )

    def _done(
        self, mode: str, meter: Meter, look: Look, notes: Iterable[Diagnostic], on_progress: Callable[[IndexProgress], None]
    ) -> IndexSummary:
        summary = summarise(
            mode=mode,
            view=self._projections.graph(),
            meter=meter,
            changed=0 if mode == "unchanged" else len(look.changed),
            removed=len(look.removed),
            skipped=look.skipped,
            chunks=self._projections.covered()[1],
            diagnostics=sorted([*look.diagnostics, *notes]),
        )
        on_progress(IndexProgress("done", summary.files, summary.files, mode))
        return summary


def _made_by() -> str:
    """Return the version of the code that makes facts and edges, as a hash.

    An index that was made by other code is rebuilt.
    """
    keys = (extraction_key(language) for language in (*sorted(languages()), "text"))
    return stable_id(__version__, TEXT_FORMAT, digest("resolution"), digest("indexing"), digest("grammars"), *keys)


def _is_most(changed: int, files: int) -> bool:
    """Whether so many files have changed that all should be resolved again.

    Many changes affect nearly all edges. To find the affected files takes half the time of a full resolution, and would then save little.
    """
    return changed >= MANY_CHANGES and changed * ANEW_SHARE > files


def _layout_key(layout: Layout) -> str:
    """Return a hash of the project's layout, such as its import directories."""
    return stable_id(json.dumps(asdict(layout), sort_keys=True, default=str))


def _serious(facts: FileFacts | Head) -> str:
    return next((message for severity, _, message, _ in facts.diagnostics if severity == "error"), "")


def _unused(reason: str) -> str:
    return f"what it says of the project is not used: {reason}"


def _file_row(project: str, facts: Head, module: str, call_sites: int, fault: str) -> FileRow:
    return FileRow(
        id=file_id(project, facts.path),
        path=facts.path,
        language=facts.language,
        module=module,
        content_hash=facts.content_hash,
        size_bytes=facts.size_bytes,
        lines=facts.lines,
        is_test=facts.is_test,
        error_count=facts.error_count,
        diagnostic=_serious(facts) or fault,
        call_sites=call_sites,
    )


def _cancelled() -> IndexCancelledError:
    return IndexCancelledError("indexing was interrupted, and the index is unchanged; repeat the command to continue", stage="interrupted")
