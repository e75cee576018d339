"""Keep the resolver of an index run for the next run.

The resolver finds the definitions to which names refer, and makes edges from them. It knows every parsed file. The dependencies of each
file's edges are stored in `inputs.sqlite`, from which a later process restores the resolver.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.indexing.facts_source import FactsByPath, FactsLostError, FactsSource
from graphmem.indexing.inputs import PackedDependencies, pack
from graphmem.indexing.parse_stage import ParseStage
from graphmem.indexing.run import Run
from graphmem.indexing.subject import IndexData, IndexedProject
from graphmem.indexing.tree import Tree
from graphmem.model import HandlesRow, stable_id
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.language import languages
from graphmem.projection.graph.edges import kind_mask
from graphmem.resolution.files.shelf import Shelf
from graphmem.resolution.interfaces.layout import Layout
from graphmem.resolution.resolver import FEW_GROUPS, Resolver
from graphmem.runtime.process.heap import give_back

if TYPE_CHECKING:
    from graphmem.parsing.packing import ParsedFile

MANY_CHANGES: Final = 64
"""Changed files; with fewer, a resolver that continues is always cheap."""

ALL_SHARE: Final = 5
"""With more than one changed file in so many, every file is resolved."""

CORE_FILES: Final = 16
"""Files that are imported most; most other files need answers about them."""


class _Kept(NamedTuple):
    """The index run that stored dependencies last, and how many are stored.

    `keys` is the number of stored inputs (parts of files that were read to resolve other files). `groups` is the number of stored sets of
    inputs. `saved_groups` is the number of sets at the last full save. A full save replaces all stored dependencies; other saves add to
    them.
    """

    run: str = ""
    keys: int = 0
    groups: int = 0
    saved_groups: int = 0  # those of the last whole save; later ones are mostly unused soon


class KeptResolver:
    """Keeps the resolver of names between index runs, or restores it.

    The resolver finds the definitions to which the names in files refer.
    """

    def __init__(
        self,
        project: IndexedProject,
        data: IndexData,
        tree: Tree,
        source: FactsSource,
        parsing: ParseStage,
    ) -> None:
        self._project = project
        self._data = data
        self._tree = tree
        self._source = source
        self._parsing = parsing
        self._resolver: Resolver | None = None  # warm: has the facts of every indexed file
        self._kept = _Kept()

    def keep(self, resolver: Resolver | None) -> None:
        """Keep the resolver of names for the next run; None keeps nothing."""
        self._resolver = resolver

    def drop(self) -> None:
        """Free the kept resolver of names, because this run does not use it."""
        held, self._resolver = self._resolver, None
        if held is not None:
            held.release_memory()

    def resolver_with(self, run: Run) -> tuple[Resolver, set[str]]:
        """Return a resolver for the current files, and the affected paths.

        A file is affected if its edges may have changed. The resolver of the last run is reused if possible.
        """
        parsed, removed, known = run.parsed, run.removed, run.known
        cancelled = run.listener.cancelled
        layout = self._tree.layout()
        facts = self._facts_of((self._tree.files[path] for path in parsed), parsed, cancelled)
        # Unset until the write succeeds: a failed run leaves the store unchanged and the resolver ahead of it.
        resolver, self._resolver = self._resolver, None
        if known and _is_most(len(parsed) + len(removed), len(known)):
            if resolver is not None:
                resolver.release_memory()
            resolver = None
        elif (resolver is None or resolver.layout != layout) and known:
            with run.meter.stage("resolve"):
                resolver = self._revived(layout, known, cancelled)
        if resolver is not None and resolver.layout == layout:
            with run.meter.stage("resolve"), suppress(FactsLostError):
                return resolver, resolver.update(facts, removed)
        self._kept = _Kept()
        resolver = self._new_resolver(layout)
        unchanged = [file for path, file in self._tree.files.items() if path not in parsed and file.language in languages()]
        missing = self._data.cache.missing(unchanged)
        both = {**parsed, **self._parsing.parse(run.meter, missing, run.listener)} if missing else parsed
        with run.meter.stage("resolve"):
            return resolver, resolver.update(self._facts_of(self._tree.files.values(), both, cancelled), ())

    def _facts_of(self, files: Iterable[FoundFile], parsed: Mapping[str, ParsedFile], cancelled: Callable[[], bool]) -> FactsByPath:
        """Map paths of files to the results of parsing, each read when needed.

        `parsed` has the files that this run has parsed. If `cancelled` returns True, a read raises an error. Files without a grammar are
        left out.
        """
        resolved = {file.path: file for file in files if file.language in languages()}
        return FactsByPath(self._source, resolved, parsed, cancelled)

    def _new_resolver(self, layout: Layout) -> Resolver:
        return Resolver(self._project.name, layout, Shelf(self._source))

    def _revived(self, layout: Layout, known: dict[str, str], cancelled: Callable[[], bool]) -> Resolver | None:
        """Return a resolver restored from the data of earlier processes, or None.

        `known` has the content hashes of the indexed files by path; `cancelled` may stop the work. The result is None if parsed files or
        dependencies are missing, or the layout has changed.
        """
        run = self._data.store.meta().get("run", "")
        found = self._data.inputs.load(run, _layout_key(layout))
        if found is None:
            return None
        view = self._data.projections.graph()
        paths = view.arrays.paths
        spoken = zip(paths.path.to_pylist(), paths.language.to_pylist(), strict=True)
        files = [
            FoundFile(path, str(self._project.root / path), 0, known[path], language)
            for path, language in spoken
            if path in known and language in languages()
        ]
        if self._data.cache.missing(files) or len(view.paths) < len(known):
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

    def keep_inputs(
        self, run: str, resolver: Resolver, affected: set[str], removed: list[str], handles: dict[str, Sequence[HandlesRow]]
    ) -> None:
        """Store the dependencies of each file's edges, for later processes.

        `affected` are the files that were resolved, `removed` the deleted files, and `handles` the framework keys (such as routes) by path.
        Dependencies are the parts of other files that were read to resolve a file. They are stored before the graph is written, with the id
        of the run. A later process uses the data only if the graph contains the result of the same run.
        """
        kept, layout = self._kept, _layout_key(resolver.layout)
        follows = bool(kept.run) and kept.run == self._data.store.meta().get("run")
        if follows and kept.groups - kept.saved_groups <= max(FEW_GROUPS, resolver.group_count()):
            made = resolver.dependencies(affected, kept.keys, kept.groups)
            self._data.inputs.follow(run, layout, (kept.keys, kept.groups), pack(made), handles, removed)
            self._kept = _Kept(run, kept.keys + len(made.keys), kept.groups + len(made.groups), kept.saved_groups)
        else:
            made = resolver.dependencies()
            self._data.inputs.save(run, layout, pack(made), handles)
            self._kept = _Kept(run, len(made.keys), len(made.groups), len(made.groups))

    def keep_all_inputs(self, run: str, made: PackedDependencies, handles: dict[str, Sequence[HandlesRow]]) -> None:
        """Store the dependencies of all files, which other processes found.

        `made` is the result of those processes, and `handles` has framework keys (such as routes) by path. A dependency is a part of
        another file on which a file's edges depend.
        """
        self._data.inputs.save(run, _layout_key(self._tree.layout()), made, handles)
        self._kept = _Kept()

    def warm(self, known: dict[str, str], cancelled: Callable[[], bool]) -> bool:
        """Load data that an earlier process stored, so that the next run is fast.

        `known` has the content hashes of the indexed files by path.

        Returns:
            False if data is missing. Then the next run resolves all files.

        Raises:
            IndexCancelledError: `cancelled` returned True.
        """
        if self._resolver is None and known and self._tree.files:
            self._resolver = self._revived(self._tree.layout(), known, cancelled)
        return self._resolver is not None

    def core_files(self) -> list[str]:
        """Return the paths of the most imported files.

        The file with the most importers comes first. Tests are left out. There are at most `CORE_FILES` paths.
        """
        view = self._data.projections.graph()
        imported = Counter(map(view.path, view.dst[kind_mask(("IMPORTS",))[view.edge_kind]].tolist()))
        return [path for path, _ in imported.most_common() if not view.in_tests(path)][:CORE_FILES]

    def answer_ahead(self, path: str) -> None:
        """Resolve the names that a file uses before a run asks for them.

        The results are cached. `path` is usually a core file, on which most other files depend. With the cached results, the first change
        after a start is resolved as fast as later ones. The first file of each language is parsed once, which loads the grammar. The method
        does nothing before `warm` has loaded the data.
        """
        if self._resolver is None:
            return
        self._resolver.answer_ahead(path)
        found = self._tree.files.get(path)
        if found is not None:
            self._parsing.load_grammar(found)

    def end_warming(self) -> None:
        """Index the results that `answer_ahead` cached, for use in the next run.

        The index has, for each input (part of a file), the results that were computed from it. When a file changes, the results that depend
        on it are found and dropped.
        """
        if self._resolver is not None:
            self._resolver.index_answers()

    def release_memory(self) -> bool:
        """Release the memory kept for the next run; return whether there was any.

        The next run reads the data from files instead.
        """
        held, self._resolver = self._resolver, None
        if held is None:
            return False
        held.release_memory()  # its parts refer to each other, and the collector skips what is loaded for long (see `facts_cache`)
        give_back()
        return True


def _is_most(changed: int, files: int) -> bool:
    """Whether so many files have changed that all should be resolved again.

    Many changes affect nearly all edges. To find the affected files takes half the time of a full resolution, and would then save little.
    """
    return changed >= MANY_CHANGES and changed * ALL_SHARE > files


def _layout_key(layout: Layout) -> str:
    """Return a hash of the project's layout, such as its import directories."""
    return stable_id(json.dumps(asdict(layout), sort_keys=True, default=str))
