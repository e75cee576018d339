"""Operations on the structure of a system: modules, flows, dead code.

A flow is a path of calls from an entry point.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from graphmem.analysis.families import family_of
from graphmem.analysis.semantic import central, cutting, heat
from graphmem.analysis.semantic.duplicates import LEAST_TOKENS, SIMILAR
from graphmem.analysis.semantic.entries import ENTRY_KINDS, MAX_STEPS
from graphmem.answers.findings import (
    CentralPage,
    CentralSymbol,
    DeadCodePage,
    DuplicatePage,
    EntryPoint,
    EntryPointPage,
    FlowPage,
    Hotspot,
    HotspotPage,
)
from graphmem.answers.history import Knowledge, KnownPart, Reviewer
from graphmem.answers.modules import CyclesAnswer, DependencyFiles, ModuleBoundary, ModuleDetail, ModuleMap, SurfaceSymbol
from graphmem.errors import GitError, SymbolNotFoundError
from graphmem.history.knowledge import known_by
from graphmem.operations.arguments import one_of, page, within
from graphmem.parsing.language import language_of_path
from graphmem.project.code import generated_files
from graphmem.runtime.texts.naming import in_project, raw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmem.answers.vocabulary import CycleLevel, EntryKind, HotspotLevel
    from graphmem.history.knowledge import Known
    from graphmem.project.explaining.language import Described
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.structure.derived import Semantics
    from graphmem.project.structure.semantic_source import SemanticSource

LEVELS: Final = ("files", "modules")
PEOPLE: Final = 5  # people listed for one part
HOT_LEVELS: Final = ("files", "symbols")
DEAD_CONFIDENCE: Final = 0.6  # default minimum confidence of dead code in a list


@dataclass(eq=False, repr=False)
class SystemQuestions:
    """Answers about the structure of the project, such as its modules.

    Every operation raises NotIndexedError if nothing was indexed yet.
    """

    graph: GraphSource
    semantics: SemanticSource  # results derived from the graph
    described: Described  # adds paragraphs of a language model

    def modules(self) -> ModuleMap:
        here = self.semantics.newest()
        with here.lock:
            found = here.modules.map(list(here.notes), self.graph.state())
        return dataclasses.replace(found, modules=self.described.modules(here, found.modules))

    def module(self, ref: str) -> ModuleDetail:
        """Return a module with its files and the dependencies of these files.

        Args:
            ref: name or id of the module, or the path of a file in it.

        Raises:
            SymbolNotFoundError: the module is unknown.
        """
        here = self.semantics.newest()
        with here.lock:
            found = here.modules.detail(self._place_of(here, ref), self.graph.state())
        (module,) = self.described.modules(here, [found.module])
        return dataclasses.replace(found, module=module)

    def _place_of(self, here: Semantics, ref: str) -> int:
        """Return a module's position in `modules.groups`, the list of all modules.

        `ref` is the name or id of the module, or the path of a file in it.

        Raises:
            SymbolNotFoundError: the module is unknown.
        """
        ref = in_project(raw(ref), self.graph.root_path)
        with here.lock:
            at = here.modules.find(ref)
            if at is None:
                at = here.modules.find(here.modules.name_of(ref) or ref)
            if at is None:
                names = sorted(group.name for group in here.modules.groups)
                near = [name for name in names if ref.casefold() in name.casefold()][:10] or names[:10]
                raise SymbolNotFoundError(f"unknown module {ref!r}; `graphmem modules` lists them", ref=ref, suggestions=near)
            return at

    def module_dependency(self, src: str, dst: str, limit: int = 50) -> DependencyFiles:
        """List the files of one module that use files of another.

        Raises:
            SymbolNotFoundError: a module is unknown.
        """
        page(limit)
        here = self.semantics.newest()
        source, target = self._place_of(here, src), self._place_of(here, dst)
        with here.lock:
            found = cutting.files_between(here.modules, source, target)
            return DependencyFiles(found[:limit], len(found), sum(one.weight for one in found), self.graph.state())

    def boundary(self, module: str, limit: int = 50) -> ModuleBoundary:
        """Find where a module can be separated from the rest, or split in two.

        The answer has at most `limit` symbols of the module that other modules use. It also has the two parts of the module's files
        between which the fewest uses cross, and at most `limit` symbols that the other part uses.

        Raises:
            SymbolNotFoundError: the module is unknown.
        """
        page(limit)
        here = self.semantics.newest()
        place = self._place_of(here, module)
        with here.lock:
            modules = here.modules
            group = modules.groups[place]
            used = cutting.surface(modules, place)
            order = sorted(used, key=lambda node: (-sum(used[node].values()), node))
            infos = here.view.infos(order[:limit])
            surface = [
                SurfaceSymbol(info, sum(by.values()), sorted(by, key=lambda name: (-by[name], name)))
                for info, by in zip(infos, (used[node] for node in order), strict=False)
            ]
            parts = cutting.split(modules, place)
            return ModuleBoundary(
                group.name,
                surface,
                len(order),
                [one for one in modules.dependencies if one.dst == group.id],
                [one for one in modules.dependencies if one.src == group.id],
                [one for one in modules.module_cycles if group.name in one.members],
                parts.larger,
                parts.smaller,
                len(parts.crossing),
                parts.inside,
                parts.is_good,
                cutting.crossing_symbols(modules, parts)[:limit],
                self.graph.state(),
            )

    def people(self, module: str | None = None, limit: int = 100) -> Knowledge:
        """Find the people who know each module, or each file of one module.

        Without `module`, all modules are listed. With `module`, its files are listed. `module` may also be a directory, whose indexed files
        are listed then.

        Raises:
            SymbolNotFoundError: neither a module nor a directory has this name.
        """
        page(limit)
        here = self.semantics.newest()
        with here.lock:
            if module is None:
                whole, part_of = None, {path: group.name for group in here.modules.groups for path in group.paths}
            else:
                whole, files = self._files_of(here, module)
                part_of = {path: path for path in files}
        try:
            found, gaps = known_by(self.graph.root(), part_of, datetime.now(UTC), whole)
        except GitError as error:
            return Knowledge([], 0, [f"without history: {error.message}"])
        of_all = found.pop(whole, None) if whole is not None else None
        parts = [_known_part(name, one) for name, one in found.items()]
        parts.sort(key=lambda one: (one.bus_factor, -one.commits, one.name))
        missing = len(set(part_of.values()) - set(found))
        unit = "modules" if module is None else "files"
        notes = [f"git has no commit of a person that changed {missing:,} of the {len(set(part_of.values())):,} {unit}"] if missing else []
        notes += gaps
        return Knowledge(parts[:limit], len(parts), notes, _known_part(whole, of_all) if whole is not None and of_all is not None else None)

    def _files_of(self, here: Semantics, ref: str) -> tuple[str, Sequence[str]]:
        """Return the name and the files of a module, or of a directory.

        `ref` is the name or id of the module, a file in it, or a directory. The last folder names of a directory suffice, if no other
        directory at its depth or above ends with them.

        Raises:
            SymbolNotFoundError: neither a module nor a directory has this name.
        """
        try:
            group = here.modules.groups[self._place_of(here, ref)]
        except SymbolNotFoundError:
            paths = here.view.paths
            wanted = in_project(raw(ref), self.graph.root_path).strip("/")
            folders = {folder for path in paths for folder in _folders_above(path)}
            ends = sorted((one for one in folders if f"/{one}".endswith(f"/{wanted}")), key=lambda one: one.count("/"))
            if wanted and ends and (len(ends) == 1 or ends[0] == wanted or ends[0].count("/") < ends[1].count("/")):
                return f"{ends[0]}/", [path for path in paths if path.startswith(f"{ends[0]}/")]
            raise
        return group.name, group.paths

    def cycles(self, level: str = "files", limit: int = 50) -> CyclesAnswer:
        one_of("level", level, LEVELS)
        page(limit)
        here = self.semantics.newest()
        with here.lock:
            found = here.modules.file_cycles if level == "files" else here.modules.module_cycles
        return CyclesAnswer(cast("CycleLevel", level), found[:limit], len(found), self.graph.state())

    def entry_points(self, kinds: Sequence[str] | None = None, limit: int = 100, offset: int = 0) -> EntryPointPage:
        """Return a page of entry points, such as routes and commands.

        The page has `limit` entry points of the given `kinds`, after `offset` others. The commands that the project declares come first,
        then other kinds. Examples and scripts come last.

        Returns:
            The page. Its counts by kind include tests and fixtures.
        """
        wanted = _kinds(kinds)
        page(limit, offset)
        here = self.semantics.newest()
        with here.lock:
            view, entries = here.view, here.entries
            by_kind = Counter(entries.listed.values())
            names = here.framework_names
            chosen = entries.ordered(wanted, names, here.calls)
            rows = chosen[offset : offset + limit]
            found = [
                EntryPoint(
                    info,
                    cast("EntryKind", entries.kind[node]),
                    here.modules.name_of(info.path),
                    here.calls.reach(node, MAX_STEPS),
                    names.get(info.id, []),
                    entries.is_last(node),
                )
                for node, info in zip(rows, view.infos(rows), strict=True)
            ]
        counts = {kind: by_kind[kind] for kind in sorted(by_kind, key=_place)}
        return EntryPointPage(found, len(chosen), counts, self.graph.state())

    def flows(self, kinds: Sequence[str] | None = None, module: str | None = None, limit: int = 50, offset: int = 0) -> FlowPage:
        wanted = _kinds(kinds)
        page(limit, offset)
        here = self.semantics.newest()
        with here.lock:
            if module is not None and module not in {group.name for group in here.modules.groups}:
                module = here.modules.groups[self._place_of(here, module)].name
            found = here.flows(wanted)
        found = [one for one in found if module is None or module in one.modules]
        shown = self.described.flows(here, found[offset : offset + limit])
        return FlowPage(shown, len(found), self.graph.state())

    def hotspots(self, level: str = "files", limit: int = 50, offset: int = 0) -> HotspotPage:
        one_of("level", level, HOT_LEVELS)
        page(limit, offset)
        here = self.semantics.newest()
        with here.lock:
            modules, view = here.modules, here.view
            files, churn = modules.files, modules.churn
            if level == "files":
                score, dependents, complexity, nodes = modules.heat, heat.file_dependents(files), files.complexity, files.node.tolist()
                of = range(len(files))
            else:
                score, dependents = heat.symbol_heat(files, churn)
                complexity, nodes = view.complexity.astype(np.int64), list(range(view.n))
                of = files.file_of(np.arange(view.n, dtype=np.int32)).tolist()
            order = [i for i in np.lexsort((np.arange(len(score)), -score)).tolist() if score[i] > 0]
            rows = order[offset : offset + limit]
            found = [
                Hotspot(
                    info,
                    round(float(churn[of[i]]), 2) if churn is not None else 0.0,
                    int(complexity[i]),
                    int(dependents[i]),
                    float(score[i]),
                )
                for i, info in zip(rows, view.infos([nodes[i] for i in rows]), strict=True)
            ]
        return HotspotPage(cast("HotspotLevel", level), found, len(order), churn is not None, list(here.notes), self.graph.state())

    def central_symbols(self, limit: int = 50) -> CentralPage:
        page(limit)
        here = self.semantics.newest()
        with here.lock:
            nodes = central.central(here.view, here.rank, limit)
            used = here.modules.used
            found = [
                CentralSymbol(info, round(float(here.rank[node]), 2), int(used[node]))
                for node, info in zip(nodes, here.view.infos(nodes), strict=True)
            ]
        return CentralPage(found, self.graph.state())

    def dead_code(self, min_confidence: float = DEAD_CONFIDENCE, limit: int = 100, offset: int = 0) -> DeadCodePage:
        within("min_confidence", min_confidence, 0, 1)
        page(limit, offset)
        here = self.semantics.newest()
        with here.lock:
            found, spared = here.dead
        kept = [one for one in found if one.confidence >= min_confidence]
        notes = []
        if spared:
            notes.append(f"{spared:,} unused public definitions are left out, because code outside may use them")
        if len(found) > len(kept):
            notes.append(f"{len(found) - len(kept):,} more are less certain than {min_confidence}")
        able = {family_of(language_of_path(one.symbol.path)) for one in kept}
        if (left_out := generated_files.cause(able, self.graph.store.meta())) is not None:
            notes.append(f"{left_out.count:,} {left_out.message}")
        lines = sum(one.lines for one in kept)
        return DeadCodePage(kept[offset : offset + limit], len(kept), lines, notes, self.graph.state())

    def duplicates(
        self,
        min_tokens: int = LEAST_TOKENS,
        similarity: float = SIMILAR,
        tests: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> DuplicatePage:
        within("min_tokens", min_tokens, 20, 10_000)
        within("similarity", similarity, 0.5, 1)
        page(limit, offset)
        here = self.semantics.newest()
        with here.lock:
            found = here.duplicates(min_tokens, similarity, tests)
        return DuplicatePage(found[offset : offset + limit], len(found), sum(one.lines for one in found), self.graph.state())


def _kinds(kinds: Sequence[str] | None) -> tuple[str, ...] | None:
    if kinds is None:
        return None
    for kind in kinds:
        one_of("kinds", kind, ENTRY_KINDS)
    return tuple(sorted(set(kinds)))


def _known_part(name: str, one: Known) -> KnownPart:
    """Return a part of the project with the people who know it, best first."""
    in_all = sum(one.weight.values())
    people = [Reviewer(who, one.commits[who], round(one.weight[who] / in_all, 4), one.last[who]) for who in one.order()[:PEOPLE]]
    return KnownPart(name, sum(one.commits.values()), one.bus_factor(), people)


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders that contain a file, the innermost first."""
    while path := path.rpartition("/")[0]:
        yield path


def _place(kind: str) -> tuple[int, str]:
    return (ENTRY_KINDS.index(kind) if kind in ENTRY_KINDS else len(ENTRY_KINDS)), kind
