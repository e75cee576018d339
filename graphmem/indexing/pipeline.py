"""One index run: discover, parse, resolve, and write the difference.

A run compares the content hashes of all files, or of files that may have changed. It processes only changed files. The rows, the facts and
the edge dependencies of unchanged files are reused. Within a process they are kept in memory, and between processes in files next to the
database. The run writes only at its end, so an interrupted run leaves the previous index unchanged.
"""

from __future__ import annotations

import gc
import uuid
from contextlib import ExitStack, closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem import __version__
from graphmem.errors import GraphMemError
from graphmem.evidence.merge import Outside
from graphmem.indexing.contracts import Contracts
from graphmem.indexing.facts_source import FactsSource
from graphmem.indexing.inputs import Inputs
from graphmem.indexing.interruption import interrupted
from graphmem.indexing.kept_resolver import KeptResolver
from graphmem.indexing.options import IndexOptions
from graphmem.indexing.outside import paths_with_edges_of
from graphmem.indexing.packed import PackedRows
from graphmem.indexing.parse_stage import ParseStage
from graphmem.indexing.past import Kept, Past, Undo
from graphmem.indexing.publishing import published
from graphmem.indexing.recent import Recent
from graphmem.indexing.resolve_stage import ResolveStage, unused
from graphmem.indexing.spill import Spill
from graphmem.indexing.summary import Meter, summarise
from graphmem.indexing.tree import Look, Tree
from graphmem.indexing.unfinished import FILE as UNFINISHED
from graphmem.indexing.unfinished import Unfinished
from graphmem.model import (
    Diagnostic,
    EdgeSource,
    IndexProgress,
    stable_id,
)
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.language import languages
from graphmem.parsing.marker import FILE as MARKER
from graphmem.parsing.packing import collector_paused, extraction_key
from graphmem.resolution.resolver import Resolver
from graphmem.runtime.compression import FORMAT as TEXT_FORMAT
from graphmem.runtime.heap import give_back
from graphmem.runtime.resources import digest
from graphmem.runtime.text_only import LANGUAGE, text_only_files, text_only_note
from graphmem.store.base import HANDLES_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from graphmem.answers import IndexSummary
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore


MANY_FILES = 1_000  # so many make a collection of cycles between two steps worth its time


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
        self._indexed: dict[str, str] | None = None  # content hashes by path, as long as only this object writes
        self._parsing = ParseStage(project, data_dir, cache, options)
        source = FactsSource(cache, root, project, data_dir / MARKER)
        self._kept = KeptResolver(project, root, self._tree, store, projections, cache, source, inputs, self._parsing)
        self._resolving = ResolveStage(
            project, root, data_dir, self._tree, store, projections, cache, self._outside, self._contracts, self._kept, options
        )

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
        parsed = self._parsing.parse(meter, look.changed, on_progress, cancelled, spill, unfinished)
        notes = PackedRows.of(Diagnostic, (Diagnostic(path, *row) for path, one in parsed.items() for row in one.head.diagnostics))
        if mode == "full":
            unparsed = text_only_files(path for path, one in parsed.items() if one.head.language == LANGUAGE)
            notes.extend(Diagnostic("", "note", "text_only", text_only_note(name, count), 0) for name, count in unparsed.most_common())
        faults = self._tree.faults()
        notes.extend(Diagnostic(path, "warning", "configuration", unused(faults[path]), 0) for path in parsed if path in faults)
        apart = self._resolving.resolved_apart(meter, parsed, spill, notes, on_progress, cancelled) if spill is not None else None
        resolver: Resolver | None = None
        if apart is not None:
            delta, made = apart
            rows, undo, affected = None, None, set(made.inputs)
        else:
            resolver, affected = self._kept.resolver_with(meter, parsed, look.removed, known, on_progress, cancelled)
            affected |= self._evidence(meter, resolver, [] if mode == "full" else [*parsed, *look.removed], mark, notes)
            with meter.stage("resolve"):
                self._resolving.join_contracts(resolver, parsed, look.removed, affected, full=mode == "full")
            delta, rows, undo = self._resolving.resolve(
                meter, resolver, parsed, look.removed, affected, spill, notes, on_progress, cancelled
            )
        if cancelled():
            raise interrupted()
        known = known | {path: one.head.content_hash for path, one in parsed.items()}
        for path in look.removed:
            del known[path]
        parsed.clear()
        outdated = [*(file.path for file in look.changed), *look.removed]
        is_shown = mode != "full" and self._options.keep_warm
        with published(self._store, self._projections, ends, delta, outdated, on_changed, on_published) if is_shown else nullcontext():
            run = uuid.uuid4().hex
            with meter.stage("resolve"):
                handles, self._resolving.handles = self._resolving.handles, {}
                names = mode == "full" or bool(handles) or self._inputs.handling([*affected, *look.removed])
                if resolver is not None:
                    self._kept.keep_inputs(run, resolver, affected, look.removed, handles)
                elif apart is not None:
                    self._kept.keep_all_inputs(run, made, handles)
                    del made, apart
                del handles
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
                recent, self._resolving.recent = self._resolving.recent, Recent()
                generation = self._store.replace(delta, meta) if mode == "full" else self._store.apply(delta, meta)
                self._outside.done()
                unfinished.discard()
                if rows is not None:
                    self._resolving.recent = recent
                    recent.wrote(rows, {file.path for file in look.changed}, look.removed)
                    del rows
        self._kept.keep(kept)
        self._indexed = known
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

    def _keep_past(self, undo: Undo | None, meta: Mapping[str, str], notes: PackedRows[Diagnostic]) -> None:
        """Store the state of the graph that this run replaces, to be read later."""
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
        known = self._indexed_hashes() if self._store.meta().get("made_by") == _made_by() else {}
        return self._kept.warm(known, cancelled)

    def core_files(self) -> list[str]:
        """Return the paths of the most imported files, the most imported first."""
        return self._kept.core_files()

    def answer_ahead(self, path: str) -> None:
        """Resolve the names in a file in advance; cache the results.

        The next index run then need not resolve them.
        """
        self._kept.answer_ahead(path)

    def end_warming(self) -> None:
        """Index the results that `answer_ahead` cached, for use in the next run."""
        self._kept.end_warming()

    def let_go(self) -> bool:
        """Release the memory kept for the next run; return whether there was any."""
        return self._kept.let_go()

    def close(self) -> None:
        """Close the file that stores the edges from test runs and other tools."""
        self._outside.close()

    def _name_functions(self, *, anew: bool) -> None:
        """Write framework keys and their functions to the graph, if they changed.

        A framework finds a function by its key: a route's path, an event or a command. If the parameter is True, unchanged keys are
        written, too.
        """
        rows = self._inputs.handles()
        if rows is None:
            return
        mark = stable_id("handles", *("\x1e".join(map(str, row)) for row in rows))
        if anew or self._store.meta().get(HANDLES_OF) != mark:
            self._store.put_handles(mark, self._project, rows)

    def _evidence(self, meter: Meter, resolver: Resolver, touched: list[str], mark: str, notes: PackedRows[Diagnostic]) -> set[str]:
        """Read what other tools, such as SCIP indexers and test runs, reported.

        Returns the paths of files whose edges these reports may change.

        Args:
            meter: measures the time.
            resolver: knows the current files.
            touched: paths of files that this run has changed or removed; empty in a first run.
            mark: identifies the reports that the last run used.
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
    """Return a hash of the code that parses files and resolves names.

    An index that was made by other code is rebuilt.
    """
    keys = (extraction_key(language) for language in (*sorted(languages()), "text"))
    return stable_id(__version__, TEXT_FORMAT, digest("resolution"), digest("indexing"), digest("grammars"), *keys)
