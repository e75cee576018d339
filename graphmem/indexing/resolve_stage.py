"""Compute the new edges of all files that a change affects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import DiskFullError, ResourceError, StoreBusyError
from graphmem.evidence.merge import Outside
from graphmem.indexing.contracts import Contracts, calls_in, has_handlers, is_schema
from graphmem.indexing.delta import Rows, difference, edges_of, everything, external_uses
from graphmem.indexing.inputs import PackedDependencies
from graphmem.indexing.kept_resolver import KeptResolver
from graphmem.indexing.options import IndexOptions
from graphmem.indexing.packed import PackedRows
from graphmem.indexing.past import Undo, undo_of
from graphmem.indexing.recent import Recent
from graphmem.indexing.resolving import Everything, processes_for, resolve_everything
from graphmem.indexing.resolving_worker import BATCH, Job, Resolved
from graphmem.indexing.run import Run
from graphmem.indexing.spill import Spill
from graphmem.indexing.subject import IndexData, IndexedProject
from graphmem.indexing.tree import Tree
from graphmem.model import Diagnostic, EdgeRow, FileRow, GraphDelta, HandlesRow, OccurrencesRow, file_id
from graphmem.parsing.language import languages
from graphmem.parsing.packing import packed_chunks
from graphmem.parsing.worker import parse_file
from graphmem.resolution.resolver import Resolver
from graphmem.runtime.process.faults import CODE as FAULT
from graphmem.runtime.process.free_memory import free_memory
from graphmem.runtime.process.heap import give_back

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts
    from graphmem.parsing.packing import Head, ParsedFile

_PLAIN: Final = Resolved("", "", 0, "", False, ())  # a file of a language without rules


@dataclass(slots=True)
class Change:
    """The change of the graph that a run computed.

    Attributes:
        delta: the rows that are written and removed.
        affected: paths of files whose edges may have changed.
        rows: the new rows of the files; None in a full run.
        undo: the inverse change, which restores the graph as it was; None in a full run.
        resolver: knows the current files; None if other processes resolved the files.
        dependencies: those of all files, if other processes resolved the files.
    """

    delta: GraphDelta
    affected: set[str]
    rows: Rows | None = None
    undo: Undo | None = None
    resolver: Resolver | None = None
    dependencies: PackedDependencies | None = None


class _Outcome(NamedTuple):
    """Results of resolving a file; for the fields see `FileRow`."""

    module: str
    call_sites: int
    fault: str
    is_left_out: bool


class ResolveStage:
    """Computes the edges of files, in this process or in separate processes.

    Attributes:
        handles: framework keys, such as routes, of the functions in the files of this run, by path.
        recent: cache of the rows of the files that were written last.
    """

    def __init__(
        self,
        project: IndexedProject,
        data: IndexData,
        tree: Tree,
        outside: Outside,
        contracts: Contracts,
        kept: KeptResolver,
        options: IndexOptions,
    ) -> None:
        self._project = project
        self._data = data
        self._tree = tree
        self._outside = outside
        self._contracts = contracts
        self._kept = kept
        self._options = options
        self.handles: dict[str, Sequence[HandlesRow]] = {}
        self.recent = Recent()

    def join_contracts(self, run: Run, resolver: Resolver, affected: set[str]) -> None:
        """Link contracts between files, such as a route and its calls.

        The paths of files whose edges change are added to `affected`. In a full run, this method links nothing. Instead, the contract ends
        (offers and uses) of each file are collected while the file is resolved, because the results of parsing it are in memory at that
        time.
        """
        known = self._contracts.begin(self._data.store.meta().get("run", ""), full=run.is_full)
        if run.is_full:
            return
        for path in sorted(affected | run.parsed.keys()) if known else ():
            self._take_contracts(path, resolver, run.parsed)
        if not known:  # lost: the ends of all files are collected again
            for path in resolver.paths():
                self._take_contracts(path, resolver, run.parsed)
            for path, found in self._tree.files.items():
                if found.language == "text" and is_schema(path):
                    self._contracts.take(path, parse_file(found, self._project.name).facts.ends, resolver)
        affected |= self._contracts.join(resolver, run.removed)

    def _take_contracts(
        self, path: str, resolver: Resolver, parsed: Mapping[str, ParsedFile], edges: Sequence[EdgeRow] | None = None
    ) -> bool:
        """Collect the contracts of a file; return whether the file has any.

        A contract is, for example, a route. Both the places that offer a contract and those that use one are collected. `parsed` has the
        parsed files by path. `edges` are the resolved edges out of the file. If they are None and the file names handlers of routes, the
        file is resolved to get its edges.
        """
        facts = resolver.facts(path)
        if facts is None and path in parsed and parsed[path].has_facts and is_schema(path):
            facts = parsed[path].facts
        if facts is not None:
            if edges is None:
                edges = resolver.resolve(path).edges if has_handlers(facts.ends) else ()
            self._contracts.take(path, facts.ends, resolver, edges)
        return facts is not None and bool(facts.ends)

    def resolve(self, run: Run, resolver: Resolver, affected: set[str]) -> Change:
        """Compute the edges of the affected files, and the change of the graph.

        Args:
            run: the index run.
            resolver: knows the current files.
            affected: paths of files whose edges may have changed.

        Raises:
            IndexCancelledError: the caller stopped the run.
        """
        paths = sorted(affected | run.parsed.keys())
        with run.meter.stage("compare"):
            old = self._stored_rows(paths, run) if run.spill is None else Rows.empty(None)
        with run.meter.stage("resolve"):
            new = self._new_rows(run, resolver, paths, affected, {row.path: row for row in old.files})
        with run.meter.stage("compare"):
            if run.spill is not None:
                return Change(everything(new), affected, resolver=resolver)
            ends = {edge.dst for edges in (old.edges, new.edges) for edge in edges}
            view = self._data.projections.graph()
            delta = difference(old, new, external_uses(view, ends))
            return Change(delta, affected, new, undo_of(delta, old, view), resolver)

    def _new_rows(self, run: Run, resolver: Resolver, paths: list[str], affected: set[str], stored: Mapping[str, FileRow]) -> Rows:
        """Return the new rows of the files in `paths`.

        Args:
            run: the index run.
            resolver: knows the current files.
            paths: paths of the parsed and the affected files, ascending.
            affected: paths of files whose edges may have changed.
            stored: the file rows of the graph before this run, by path.
        """
        new = Rows.empty(run.spill)
        called: dict[str, set[tuple[str, str]]] = {}  # ends of calls, of files that have contracts
        self.handles = {}
        for done, path in enumerate(paths):
            if done % 64 == 0:
                run.listener.step("resolve", done, len(paths), path)
                run.listener.check()
            call_sites, fault = 0, ""
            if path in affected:
                call_sites, fault = self._resolve_file(path, run, resolver, new, called)
            elif run.spill is not None:
                self._take_contracts(path, resolver, run.parsed)
            fault = resolver.fault(path) or fault
            outcome = _Outcome(resolver.module_name(path), call_sites, fault, resolver.is_left_out(path))
            if path in run.parsed:
                self._add_file(new, run.parsed[path], outcome, run.notes)
            else:
                new.files.append(self._unparsed_file_row(stored[path], resolver.facts(path), outcome, run.notes))
        if run.spill is not None:
            self._contracts.join(resolver, ())
        for path, calls in called.items():
            new.edges.extend([edge for edge in self._contracts.edges(path) if (edge.src, edge.dst) not in calls])
        run.listener.step("resolve", len(paths), len(paths))
        return new

    def _resolve_file(self, path: str, run: Run, resolver: Resolver, new: Rows, called: dict[str, set[tuple[str, str]]]) -> tuple[int, str]:
        """Resolve the names in one file, and add the file's rows to `new`.

        Returns (number of call sites, fault); the fault is "" if there was none. If the file has contracts (such as routes), `called` gets
        the (source id, destination id) of each of its calls, by path.
        """
        found = resolver.resolve(path)
        resolved = self._outside.merged(path, found)
        if resolved.handles:
            self.handles[path] = resolved.handles
        new.symbols.extend(resolver.symbols(path))
        new.edges.extend(resolved.edges)
        if run.spill is not None:
            has_contracts = self._take_contracts(path, resolver, run.parsed, found.edges)
        else:
            has_contracts = bool(self._contracts.edges(path))
        if has_contracts:
            called[path] = calls_in(resolved.edges)
        new.unresolved.extend(resolved.unresolved)
        if resolved.places:
            new.occurrences.append(OccurrencesRow(file_id(self._project.name, path), path, resolved.places))
        new.externals.update((row.id, row) for row in resolved.externals)
        return resolved.call_sites, resolved.fault

    def _unparsed_file_row(
        self, stored: FileRow, facts: FileFacts | Head | None, outcome: _Outcome, notes: PackedRows[Diagnostic]
    ) -> FileRow:
        """Return the new row of a file whose edges may change, but not its text.

        `stored` is the row before the run, and `outcome` the result of resolving the file. A fault is added to `notes`.
        """
        fault = self._noted_fault(stored.path, outcome.fault, notes)
        said = stored.diagnostic if facts is None else _serious(facts) or fault
        return stored._replace(module=outcome.module, call_sites=outcome.call_sites, diagnostic=said)

    def resolved_apart(self, run: Run) -> Change | None:
        """Resolve all files of a full run in other processes.

        Returns the change of the graph, with all rows, and the dependencies of the files. The result is None if the calling process must
        resolve the files itself. This is so if the run is not full, if there are few files, if reports of other tools must be read, if the
        cache lacks results of parsing, or if the processes failed. No resolver stays in this process; `warm` makes one from the cache for
        the next run.
        """
        if run.spill is None:
            return None
        parsed = run.parsed
        files = [self._tree.files[path] for path in sorted(parsed) if parsed[path].head.language in languages()]
        size = sum(file.size_bytes for file in files)
        processes = processes_for(len(files), size, self._options.workers, free_memory())
        current = [file._replace(content_hash=parsed[file.path].head.content_hash) for file in files]
        if not processes or self._outside.is_due("") or self._data.cache.missing(current):
            return None
        self._kept.drop()
        if self._data.store.local is not None:
            with suppress(DiskFullError, ResourceError, StoreBusyError):  # it only saves memory
                self._data.store.local.rest(0.0)
        give_back()
        layout, niceness = self._tree.layout(), self._options.niceness
        with run.meter.stage("resolve"):
            run.listener.step("resolve", 0, len(files))
            job = Job(self._project.name, self._project.root, self._data.cache.path, self._project.marker, layout, current, niceness, BATCH)
            found = resolve_everything(job, processes, run.spill, run.listener)
            if found is None:
                return None
            new = self._rows_of(run, run.spill, found)
        with run.meter.stage("compare"):
            return Change(everything(new), set(found.dependencies.inputs), dependencies=found.dependencies)

    def _rows_of(self, run: Run, spill: Spill, found: Everything) -> Rows:
        """Return the rows of all files that other processes resolved."""
        new = Rows.empty(spill)
        for part in found.parts:
            for packed, (piece, count) in zip((new.symbols, new.edges, new.unresolved, new.occurrences), part, strict=True):
                assert isinstance(packed, PackedRows)  # noqa: S101 - there is a spill
                packed.extend_pickled(piece, count)
        new.externals.update(found.externals)
        self.handles = {path: one.handles for path, one in found.files.items() if one.handles}
        self._contracts.begin("", full=True)
        for path, parsed_file in run.parsed.items():
            if path in found.files:
                self._contracts.take_rows(path, found.files[path].contracts)
            elif parsed_file.has_facts and is_schema(path):
                self._contracts.take(path, parsed_file.facts.ends, None)
        self._contracts.join(None, ())
        for path, one in found.files.items():
            if one.contracts:
                new.edges.extend([edge for edge in self._contracts.edges(path) if (edge.src, edge.dst) not in one.calls])
        for path in sorted(run.parsed):
            one = found.files.get(path, _PLAIN)
            outcome = _Outcome(one.module, one.call_sites, one.fault or found.faults.get(path, ""), one.is_left_out)
            self._add_file(new, run.parsed[path], outcome, run.notes)
        return new

    def _noted_fault(self, path: str, fault: str, notes: PackedRows[Diagnostic]) -> str:
        """Return why a file was not resolved, or why its statements are ignored.

        A fault of resolving is also added to `notes`. The result is "" if there is neither.
        """
        if fault:
            notes.extend([Diagnostic(path, "error", FAULT, fault, 0)])
        elif path in self._tree.faults():
            return unused(self._tree.faults()[path])
        return fault

    def _add_file(self, new: Rows, one: ParsedFile, outcome: _Outcome, notes: PackedRows[Diagnostic]) -> None:
        fault = self._noted_fault(one.head.path, outcome.fault, notes)
        new.files.append(_file_row(self._project.name, one.head, outcome.module, outcome.call_sites, fault))
        if outcome.is_left_out:
            return  # its chunks belong to definitions that do not exist
        if isinstance(new.chunks, PackedRows):
            new.chunks.extend_packed(*one.spilled_chunks, packed_chunks)
        else:
            new.chunks.extend(one.chunks)

    def _stored_rows(self, paths: list[str], run: Run) -> Rows:
        """Return the rows that the graph has for some files before this run.

        The edges come from the projection (the copy of the graph in memory), the other rows from a cache or the store. Chunks are read only
        for files that were parsed or removed.
        """
        generation = self._data.store.generation()
        if self._data.projections.graph().generation != generation:  # updating after the last commit failed
            self._data.projections.refresh(generation, None)
        touched = sorted({*paths, *run.removed})
        rows = self.recent.rows_of(self._data.store.rows_of, touched, {*run.parsed, *run.removed})
        return Rows(
            rows.files, rows.symbols, rows.chunks, edges_of(self._data.projections.graph(), touched), rows.unresolved, rows.occurrences, {}
        )


def _serious(facts: FileFacts | Head) -> str:
    return next((message for severity, _, message, _ in facts.diagnostics if severity == "error"), "")


def unused(reason: str) -> str:
    """Return the message that a faulty configuration file is ignored.

    `reason` is the fault of the file.
    """
    return f"its statements about the project are ignored: {reason}"


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
