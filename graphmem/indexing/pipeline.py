"""The write path as one run: discover, parse, resolve, write the difference.

A run looks at every file's content hash and touches only what changed: unchanged files keep their facts
(in memory while the process lives, in the facts cache between processes) and their rows. Nothing is
written before everything is known, so an interrupted run leaves the previous index as it was.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem import __version__
from graphmem._heap import give_back
from graphmem.errors import IndexCancelledError, RepositoryError
from graphmem.indexing.delta import Rows, difference, edges_of, everything, external_uses
from graphmem.indexing.packed import PackedRows
from graphmem.indexing.summary import Meter, summarise
from graphmem.model import Diagnostic, FileRow, GraphDelta, IndexProgress, file_id, stable_id
from graphmem.parsing.discovery import Discovery, DiscoveryOptions, FoundFile, discover
from graphmem.parsing.encoding import to_utf8
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.language import languages
from graphmem.parsing.packing import extraction_key, unpack_chunks
from graphmem.parsing.pool import parse_files
from graphmem.resolution.layout import Layout, is_layout_file, read_layout
from graphmem.resolution.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from graphmem.answers import IndexSummary
    from graphmem.parsing.facts import FileFacts
    from graphmem.parsing.packing import ParsedFile
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What a run may be told."""

    discovery: DiscoveryOptions
    workers: int | None  # processes that parse; None: as many as pay
    keep_warm: bool  # keep the facts of all files for the next run, which then costs what changed


# Parsed files are handed to the cache in batches, so a killed run has most of its work kept.
CACHE_BATCH = 256


class Indexer:
    """Keeps one store equal to one tree. Runs must not overlap; the service sees to that."""

    def __init__(
        self, store: GraphStore, projections: Projections, cache: FactsCache, root: Path, project: str, options: IndexOptions
    ) -> None:
        self._store = store
        self._projections = projections
        self._cache = cache
        self._root = root
        self._project = project
        self._options = options
        self._resolver: Resolver | None = None  # warm: has the facts of every indexed file

    def run(self, *, full: bool = False, on_progress: Callable[[IndexProgress], None], cancelled: Callable[[], bool]) -> IndexSummary:
        """Bring the graph up to date.

        Args:
            full: forget what was known of unchanged files and write everything anew.
            on_progress: told every step, from this thread.
            cancelled: asked between steps; when it says yes, nothing is written.

        Raises:
            RepositoryError: the root is gone, no directory, unreadable, or has nothing to index.
            IndexCancelledError: `cancelled` said yes.
            DiskFullError: the disk refused; the previous index is intact.
        """
        meter = Meter()
        with meter.stage("discover"):
            on_progress(IndexProgress("discover", 0, 0, str(self._root)))
            found = discover(self._root, self._options.discovery, cancelled)
            if not found.files:
                raise RepositoryError(
                    f"there is nothing to index in {self._root} ({_reasons(found)}); point graphmem at a folder with source files",
                    path=str(self._root),
                    skipped=found.skipped,
                )
            made_by = _made_by()
            known = {} if full or self._store.meta().get("made_by") != made_by else self._known()
            changed = [file for file in found.files if known.get(file.path) != file.content_hash]
            removed = sorted(known.keys() - {file.path for file in found.files})
            mode = "full" if not known else "incremental" if changed or removed else "unchanged"
        if mode == "unchanged":
            return self._done(mode, meter, found, 0, [], removed, on_progress)
        parsed = self._parse(meter, changed, on_progress, cancelled)
        notes = PackedRows.of(Diagnostic, (Diagnostic(path, *row) for path, one in parsed.items() for row in one.facts.diagnostics))
        resolver, affected = self._resolver_with(meter, found, parsed, removed, on_progress, cancelled)
        delta = self._resolve(meter, resolver, parsed, removed, affected, mode, on_progress, cancelled)
        if cancelled():
            raise _cancelled()
        parsed.clear()
        affected.clear()
        kept = resolver if self._options.keep_warm else None
        del resolver
        if kept is None:
            gc.collect()  # a resolver is full of cycles, and as large as everything that follows
            give_back()
        with meter.stage("write"):
            on_progress(IndexProgress("write", 0, 0, f"{len(delta.symbols):,} symbols, {len(delta.edges):,} edges"))
            meta = {
                "indexed_at": datetime.now(UTC).isoformat(timespec="seconds"),
                "made_by": made_by,
                "project": self._project,
                "root": str(self._root),
            }
            generation = self._store.replace(delta, meta) if mode == "full" else self._store.apply(delta, meta)
        self._resolver = kept
        with meter.stage("project"):
            on_progress(IndexProgress("project", 0, 0, "search and graph projections"))
            if mode == "full":
                del delta  # as large as the graph, and the projections read the store
                give_back()
                self._projections.refresh(generation, None)
            else:
                self._projections.refresh(generation, delta)
            self._cache.prune({(file.path, file.content_hash) for file in found.files})
        return self._done(mode, meter, found, len(changed), notes, removed, on_progress)

    def _known(self) -> dict[str, str]:
        """Content hashes of the indexed files by path."""
        return {row["path"]: row["content_hash"] for row in self._store.read("file_hashes")}

    def _parse(
        self, meter: Meter, files: list[FoundFile], on_progress: Callable[[IndexProgress], None], cancelled: Callable[[], bool]
    ) -> dict[str, ParsedFile]:
        """Facts and chunks of some files."""
        with meter.stage("parse"):
            parsed: dict[str, ParsedFile] = {}
            on_progress(IndexProgress("parse", 0, len(files), ""))
            fresh: list[ParsedFile] = []
            for one in parse_files(files, project=self._project, workers=self._options.workers, cancelled=cancelled):
                parsed[one.facts.path] = one
                fresh.append(one)
                if len(parsed) % 16 == 0:
                    on_progress(IndexProgress("parse", len(parsed), len(files), one.facts.path))
                if len(fresh) >= CACHE_BATCH:
                    self._keep(fresh)
            self._keep(fresh)
            on_progress(IndexProgress("parse", len(files), len(files), ""))
        return parsed

    def _keep(self, fresh: list[ParsedFile]) -> None:
        """Hand facts to the cache, and let go of their packed form."""
        self._cache.put_many(one for one in fresh if one.facts.language in languages())
        for one in fresh:
            one.forget_packed_facts()
        fresh.clear()

    def _facts(
        self, meter: Meter, files: list[FoundFile], on_progress: Callable[[IndexProgress], None], cancelled: Callable[[], bool]
    ) -> dict[str, FileFacts]:
        """Facts of unchanged files that a grammar reads, from the cache where it has them."""
        files = [file for file in files if file.language in languages()]
        with meter.stage("parse"):
            known = {facts.path: facts for facts in self._cache.get_many(files)}
        missing = [file for file in files if file.path not in known]
        return known | {path: one.facts for path, one in self._parse(meter, missing, on_progress, cancelled).items()}

    def _resolver_with(
        self,
        meter: Meter,
        found: Discovery,
        parsed: dict[str, ParsedFile],
        removed: list[str],
        on_progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
    ) -> tuple[Resolver, set[str]]:
        """A resolver that knows the tree as it is now, and the files whose edges may have changed."""
        layout = _layout(found, self._root.name)
        facts = {path: one.facts for path, one in parsed.items()}
        # Taken away until the write is through: a run that fails leaves the store as it was, and a resolver ahead of it.
        resolver, self._resolver = self._resolver, None
        if resolver is not None and resolver.layout == layout:
            with meter.stage("resolve"):
                return resolver, resolver.update(facts, removed)
        resolver = Resolver(self._project, layout)
        unchanged = [file for file in found.files if file.path not in parsed]
        if unchanged:
            facts |= self._facts(meter, unchanged, on_progress, cancelled)
        with meter.stage("resolve"):
            return resolver, resolver.update(facts, ())

    def _resolve(
        self,
        meter: Meter,
        resolver: Resolver,
        parsed: dict[str, ParsedFile],
        removed: list[str],
        affected: set[str],
        mode: str,
        on_progress: Callable[[IndexProgress], None],
        cancelled: Callable[[], bool],
    ) -> GraphDelta:
        """What the graph has to change: rows of the affected files as they are now, against those it holds."""
        paths = sorted(affected | parsed.keys())
        with meter.stage("compare"):
            old = self._held(paths, parsed, removed) if mode != "full" else Rows.empty(packed=False)
            file_rows = {row.path: row for row in old.files}
        with meter.stage("resolve"):
            new = Rows.empty(packed=mode == "full")
            for done, path in enumerate(paths):
                if done % 64 == 0:
                    on_progress(IndexProgress("resolve", done, len(paths), path))
                    if cancelled():
                        raise _cancelled()
                call_sites = 0
                if path in affected:
                    resolved = resolver.resolve(path)
                    call_sites = resolved.call_sites
                    new.symbols.extend(resolver.symbols(path))
                    new.edges.extend(resolved.edges)
                    new.unresolved.extend(resolved.unresolved)
                    new.externals.update((row.id, row) for row in resolved.externals)
                module = resolver.module_name(path)
                if path in parsed:
                    new.files.append(_file_row(self._project, parsed[path].facts, module, call_sites))
                    if isinstance(new.chunks, PackedRows):
                        packed = parsed[path].packed
                        new.chunks.extend_packed(packed.chunks, packed.chunk_count, unpack_chunks)
                    else:
                        new.chunks.extend(parsed[path].chunks)
                else:
                    new.files.append(file_rows[path]._replace(module=module, call_sites=call_sites))
            on_progress(IndexProgress("resolve", len(paths), len(paths), ""))
        with meter.stage("compare"):
            if mode == "full":
                return everything(new)
            return difference(old, new, external_uses(self._projections.graph(), {edge.dst for edge in old.edges}))

    def _held(self, paths: list[str], parsed: dict[str, ParsedFile], removed: list[str]) -> Rows:
        """What the graph holds of the affected files. Edges come from the projection, which finds them by file."""
        touched = sorted({*paths, *removed})
        rows = self._store.rows_of(touched, sorted({*parsed, *removed}))
        return Rows(rows.files, rows.symbols, rows.chunks, edges_of(self._projections.graph(), touched), rows.unresolved, {})

    def _done(
        self,
        mode: str,
        meter: Meter,
        found: Discovery,
        changed: int,
        notes: Iterable[Diagnostic],
        removed: list[str],
        on_progress: Callable[[IndexProgress], None],
    ) -> IndexSummary:
        summary = summarise(
            mode=mode,
            view=self._projections.graph(),
            files=self._store.read("file_totals"),
            meter=meter,
            changed=changed,
            removed=len(removed),
            skipped=found.skipped,
            chunks=self._store.read("chunk_count")[0]["chunks"],
            diagnostics=sorted([*found.diagnostics, *notes]),
        )
        on_progress(IndexProgress("done", summary.files, summary.files, mode))
        return summary


def _made_by() -> str:
    """What facts and edges of the same sources depend on; an index made by another one is made anew."""
    return stable_id(__version__, *(extraction_key(language) for language in (*sorted(languages()), "text")))


def _layout(found: Discovery, folder: str) -> Layout:
    """What the configuration files among the found ones say, and whether the root is a package itself.

    A configuration file that cannot be read says nothing.
    """
    texts = {
        file.path: to_utf8(Path(file.absolute).read_bytes()).source.decode("utf-8")
        for file in found.files
        if is_layout_file(file.path.rpartition("/")[2])
    }
    is_package = any(file.path == "__init__.py" for file in found.files) and folder.isidentifier()
    return replace(read_layout(texts)[0], root_package=folder if is_package else "")


def _file_row(project: str, facts: FileFacts, module: str, call_sites: int) -> FileRow:
    serious = [message for severity, _, message, _ in facts.diagnostics if severity == "error"]
    definitions = facts.definitions
    return FileRow(
        id=file_id(project, facts.path),
        path=facts.path,
        language=facts.language,
        module=module,
        content_hash=facts.content_hash,
        size_bytes=facts.size_bytes,
        lines=facts.lines,
        is_test=bool(definitions) and "test" in definitions[0].modifiers,
        error_count=facts.error_count,
        diagnostic=serious[0] if serious else "",
        call_sites=call_sites,
    )


def _reasons(found: Discovery) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in found.skipped.items()) or "it is empty"


def _cancelled() -> IndexCancelledError:
    return IndexCancelledError("indexing was interrupted; the previous index is as it was; run it again to go on", stage="interrupted")
