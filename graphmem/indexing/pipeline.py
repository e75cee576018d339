"""One index run: discover, parse, resolve, and write the difference.

A run compares the content hashes of all files, or of files that may have changed. It processes only changed files. The rows, the facts and
the edge dependencies of unchanged files are reused. Within a process they are kept in memory, and between processes in files next to the
database. The run writes only at its end, so an interrupted run leaves the previous index unchanged.
"""

from __future__ import annotations

import gc
import json
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from graphmem import __version__
from graphmem.errors import GraphMemError
from graphmem.evidence.merge import Outside
from graphmem.indexing.contracts import Contracts
from graphmem.indexing.facts_source import FactsSource
from graphmem.indexing.kept_resolver import KeptResolver
from graphmem.indexing.listener import Listener
from graphmem.indexing.meter import Meter
from graphmem.indexing.options import IndexOptions
from graphmem.indexing.outside import paths_with_edges_of
from graphmem.indexing.packed import PackedRows
from graphmem.indexing.parse_stage import ParseStage
from graphmem.indexing.past import Kept, Undo
from graphmem.indexing.publishing import published
from graphmem.indexing.recent import Recent
from graphmem.indexing.resolve_stage import Change, ResolveStage, unused
from graphmem.indexing.run import Mode, Run
from graphmem.indexing.spill import Spill
from graphmem.indexing.subject import IndexData, IndexedProject
from graphmem.indexing.summary import summarise
from graphmem.indexing.tree import Tree
from graphmem.indexing.unfinished import FILE as UNFINISHED
from graphmem.indexing.unfinished import Unfinished
from graphmem.model import GENERATED, SKIPPED, Diagnostic, EdgeSource, GraphDelta, stable_id
from graphmem.parsing.language import languages
from graphmem.parsing.packing import collector_paused, extraction_key
from graphmem.resolution.resolver import Resolver
from graphmem.runtime.data.resources import digest
from graphmem.runtime.data.text_only import LANGUAGE, text_only_files, text_only_note
from graphmem.runtime.process.heap import give_back
from graphmem.runtime.texts.compression import FORMAT as TEXT_FORMAT
from graphmem.store.base import HANDLES_OF

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from graphmem.answers import IndexSummary


MANY_FILES = 1_000  # so many make a collection of cycles between two steps worth its time


class Indexer:
    """Updates the graph in a store to match the files below one root.

    Only one run may be active at a time; the caller must ensure this.
    """

    def __init__(
        self,
        project: IndexedProject,
        data: IndexData,
        options: IndexOptions,
    ) -> None:
        self._project = project
        self._data = data
        self._options = options
        self._outside = Outside(project.data_dir, project.name, project.root)
        self._contracts = Contracts(project.data_dir, project.name)
        self._tree = Tree(project.root, options.discovery)
        self._indexed: dict[str, str] | None = None  # content hashes by path, as long as only this object writes
        self._parsing = ParseStage(project.name, project.data_dir, data.cache, options)
        source = FactsSource(data.cache, project.root, project.name, project.marker)
        self._kept = KeptResolver(project, data, self._tree, source, self._parsing)
        self._resolving = ResolveStage(project, data, self._tree, self._outside, self._contracts, self._kept, options)

    def run(self, listener: Listener, *, full: bool = False, paths: Collection[str] | None = None) -> IndexSummary:
        """Bring the graph up to date with the tree.

        Args:
            listener: functions of the caller.
            full: drop the cached data of unchanged files and rebuild everything.
            paths: the only files that may have changed since the last run of this object, from the root with '/'; None if any file may have
                changed.

        Raises:
            RepositoryError: the root is missing, not a directory, unreadable, or has nothing to index.
            IndexCancelledError: the caller stopped the run.
            DiskFullError: the disk is full. The previous index is intact.
        """
        with collector_paused(), ExitStack() as ends:  # millions of rows and few cycles
            run = self._discover(listener, paths, full=full)
            if run.mode == "unchanged":
                return self._unchanged(run)
            if run.is_full:
                run.spill = ends.enter_context(closing(Spill(self._project.data_dir)))
            run.unfinished = ends.enter_context(closing(Unfinished(self._project.data_dir / UNFINISHED, self._project.name)))
            if full or not run.is_full:
                run.unfinished.discard()
            self._parse(run)
            change = self._compute(run)
            listener.check()
            self._count_in(run)
            with self._published(run, change.delta, ends):
                has_new_keys = self._keep_dependencies(run, change)
                kept = self._without_resolver(run, change)
                generation = self._write(run, change)
            self._kept.keep(kept)
            self._indexed = run.known
            if has_new_keys:
                with run.meter.stage("write"):
                    self._name_functions(rewrite=run.is_full)
            delta = None if run.is_full else change.delta
            del change  # that of a full run is as large as the graph, and no longer needed
            self._project_rows(run, generation, delta)
            return self._done(run)

    def _discover(self, listener: Listener, paths: Collection[str] | None, *, full: bool) -> Run:
        """Find the changed files, and choose whether the run rebuilds the index.

        The result is the run, whose `mode` is "full", "incremental" or "unchanged". `paths` are the only files that may have changed; None
        stands for any file. With `full`, everything is rebuilt.
        """
        meter = Meter()
        with meter.stage("discover"):
            listener.step("discover", message=str(self._project.root))
            made_by, stored = _made_by(), self._data.store.meta()
            known = {} if full or stored.get("made_by") != made_by else self._indexed_hashes()
            look = self._tree.look(known, paths, listener.cancelled)
            reports = self._data.store.meta().get("evidence", "")
            is_due = bool(look.changed or look.removed) or self._outside.is_due(reports)
            mode: Mode = "full" if not known else "incremental" if is_due else "unchanged"
            run = Run(listener, meter, mode, made_by, known, look, reports)
            if mode == "incremental":
                listener.on_changed(run.outdated)
        return run

    def _unchanged(self, run: Run) -> IndexSummary:
        """Return the summary of a run that has nothing to do."""
        self._indexed = run.known
        view = self._data.projections.graph_if_ready()
        if view is not None and view.generation != self._data.store.generation():  # a write after the last commit failed
            self._data.projections.refresh(self._data.store.generation(), None)
        return self._done(run)

    def _parse(self, run: Run) -> None:
        """Parse the changed files, and collect the diagnostics to report."""
        run.parsed = self._parsing.parse(run.meter, run.look.changed, run.listener, run.spill, run.unfinished)
        run.notes = PackedRows.of(Diagnostic, (Diagnostic(path, *row) for path, one in run.parsed.items() for row in one.head.diagnostics))
        if run.is_full:
            unparsed = text_only_files(path for path, one in run.parsed.items() if one.head.language == LANGUAGE)
            run.notes.extend([Diagnostic("", "note", "text_only", text_only_note(unparsed), 0)] if unparsed else [])
        faults = self._tree.faults()
        run.notes.extend(Diagnostic(path, "warning", "configuration", unused(faults[path]), 0) for path in run.parsed if path in faults)

    def _compute(self, run: Run) -> Change:
        """Resolve the affected files; return the change of the graph."""
        change = self._resolving.resolved_apart(run)
        if change is not None:
            return change
        resolver, affected = self._kept.resolver_with(run)
        affected |= self._evidence(run, resolver)
        with run.meter.stage("resolve"):
            self._resolving.join_contracts(run, resolver, affected)
        return self._resolving.resolve(run, resolver, affected)

    def _count_in(self, run: Run) -> None:
        """Add the parsed files to the known ones; free the results of parsing."""
        run.known = run.known | {path: one.head.content_hash for path, one in run.parsed.items()}
        for path in run.removed:
            del run.known[path]
        run.parsed.clear()

    def _published(self, run: Run, delta: GraphDelta, ends: ExitStack) -> AbstractContextManager[None]:
        """Show a small change in answers before the `with` block commits it.

        The block runs without this if the run is a full one, or if data for later runs is not kept.
        """
        if run.is_full or not self._options.keep_warm:
            return nullcontext()
        return published(self._data.store, self._data.projections, ends, delta, run.outdated, run.listener)

    def _keep_dependencies(self, run: Run, change: Change) -> bool:
        """Store the dependencies of the resolved files for later processes.

        Returns whether framework keys of functions, such as routes, may have changed.
        """
        with run.meter.stage("resolve"):
            handles, self._resolving.handles = self._resolving.handles, {}
            has_new_keys = run.is_full or bool(handles) or self._data.inputs.handling([*change.affected, *run.removed])
            if change.resolver is not None:
                self._kept.keep_inputs(run.id, change.resolver, change.affected, run.removed, handles)
            elif change.dependencies is not None:
                self._kept.keep_all_inputs(run.id, change.dependencies, handles)
                change.dependencies = None
            self._contracts.keep(run.id)
        return has_new_keys

    def _without_resolver(self, run: Run, change: Change) -> Resolver | None:
        """Take the resolver from the change; return it if the next run uses it.

        Otherwise its memory is freed, because it needs as much as all later steps.
        """
        self._outside.release_memory()
        resolver, change.resolver = change.resolver, None
        if self._options.keep_warm and resolver is not None:
            return resolver
        if resolver is not None:
            resolver.release_memory()
            del resolver
        if len(run.known) >= MANY_FILES:
            gc.collect()  # exceptions hold frames, and these hold facts
        give_back(between=True)
        return None

    def _write(self, run: Run, change: Change) -> int:
        """Write the change to the store; return the new counter of changes."""
        with run.meter.stage("write"):
            run.listener.step("write", message=f"{len(change.delta.symbols):,} symbols, {len(change.delta.edges):,} edges")
            meta = {
                "indexed_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "made_by": run.made_by,
                "project": self._project.name,
                "root": str(self._project.root),
                "run": run.id,
                "evidence": self._outside.mark,
            }
            if run.look.is_whole:
                meta[SKIPPED] = json.dumps(run.look.skipped)
                meta[GENERATED] = json.dumps(run.look.generated_by_language())
            self._keep_past(change.undo, meta, run.notes)
            self._indexed = None
            recent, self._resolving.recent = self._resolving.recent, Recent()
            generation = self._data.store.replace(change.delta, meta) if run.is_full else self._data.store.apply(change.delta, meta)
            self._outside.done()
            if run.unfinished is not None:
                run.unfinished.discard()
            if change.rows is not None:
                self._resolving.recent = recent
                recent.wrote(change.rows, set(run.changed), run.removed)
                change.rows = None
        return generation

    def _project_rows(self, run: Run, generation: int, delta: GraphDelta | None) -> None:
        """Update the copies of the graph in memory; prune the cache of parses.

        `delta` is the change, and `generation` the new number of changes of the graph. With None as `delta`, the whole graph is loaded. The
        cache has the results of parsing files; those of removed or older files are deleted.
        """
        with run.meter.stage("project"):
            run.listener.step("project", message="search and graph projections")
            if delta is None:
                give_back(between=True)
            self._data.projections.refresh(generation, delta)
            self._data.cache.prune(run.known.items(), only=None if run.look.is_whole else run.outdated)

    def _keep_past(self, undo: Undo | None, meta: Mapping[str, str], notes: PackedRows[Diagnostic]) -> None:
        """Store the state of the graph that this run replaces, to be read later.

        `undo` leads from the new state back to it; without one, all earlier states are deleted. `meta` has the id and the time of this run.
        A sentence about a failure is added to `notes`.
        """
        before = self._data.store.meta()
        try:
            if undo is None:
                self._data.past.forget()
            else:
                state = Kept(
                    before.get("run", ""), meta["run"], self._data.store.generation(), before.get("indexed_at", ""), meta["indexed_at"]
                )
                self._data.past.keep(state, undo)
        except GraphMemError as error:
            notes.extend([Diagnostic("", "warning", "past", f"the earlier state of the graph was not kept: {error.message}", 0)])

    def warm(self, cancelled: Callable[[], bool]) -> bool:
        """Load data that an earlier process stored, so that the next run is fast.

        Returns:
            False if data is missing. Then the next run resolves all files.

        Raises:
            IndexCancelledError: `cancelled` returned True.
        """
        known = self._indexed_hashes() if self._data.store.meta().get("made_by") == _made_by() else {}
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

    def release_memory(self) -> bool:
        """Release the memory kept for the next run; return whether there was any."""
        return self._kept.release_memory()

    def close(self) -> None:
        """Close the file that stores the edges from test runs and other tools."""
        self._outside.close()

    def _name_functions(self, *, rewrite: bool) -> None:
        """Write framework keys and their functions to the graph, if they changed.

        A framework finds a function by its key: a route's path, an event or a command. With `rewrite`, unchanged keys are
        written, too.
        """
        rows = self._data.inputs.handles()
        if rows is None:
            return
        mark = stable_id("handles", *("\x1e".join(map(str, row)) for row in rows))
        if rewrite or self._data.store.meta().get(HANDLES_OF) != mark:
            self._data.store.put_handles(mark, self._project.name, rows)

    def _evidence(self, run: Run, resolver: Resolver) -> set[str]:
        """Read what other tools, such as SCIP indexers and test runs, reported.

        Returns the paths of files whose edges these reports may change.
        """
        touched = [] if run.is_full else [*run.parsed, *run.removed]
        with run.meter.stage("evidence"):
            graph = self._data.projections.graph
            begun = paths_with_edges_of(graph, (EdgeSource.SCIP, EdgeSource.RUNTIME))

            def body_before(id_: str) -> str | None:
                at = graph().index_of.get(id_)
                return graph().body_hash(at) if at is not None else None

            paths, said = self._outside.update(resolver, touched, run.reports, body_before, begun)
            run.notes.extend(said)
        return paths

    def _indexed_hashes(self) -> dict[str, str]:
        """Return the content hashes of the files that the index contains, by path."""
        if self._indexed is not None:
            return self._indexed
        view = self._data.projections.graph()
        if view.generation == self._data.store.generation():  # this needs no open database
            paths = view.arrays.paths
            rows = zip(paths.path.to_pylist(), paths.content_hash.to_pylist(), paths.node.tolist(), strict=True)
            return {path: content_hash for path, content_hash, node in rows if node >= 0}
        return self._data.store.file_hashes()

    def _done(self, run: Run) -> IndexSummary:
        summary = summarise(run, self._data.projections.graph(), self._data.projections.covered()[1])
        run.listener.step("done", summary.files, summary.files, run.mode)
        return summary


def _made_by() -> str:
    """Return a hash of the code that parses files and resolves names.

    An index that was made by other code is rebuilt.
    """
    keys = (extraction_key(language) for language in (*sorted(languages()), "text"))
    return stable_id(__version__, TEXT_FORMAT, digest("resolution"), digest("indexing"), digest("grammars"), *keys)
