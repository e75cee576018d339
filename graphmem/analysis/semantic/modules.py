"""Modules (groups of files), their dependencies and their layers.

All facts are computed from one partition of the files.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from graphmem.analysis.semantic.communities import modularity
from graphmem.analysis.semantic.cycles import Arc, Pair, cycles, file_arcs
from graphmem.analysis.semantic.files import NO_PACKAGES, FileGraph, Packages
from graphmem.analysis.semantic.heat import churn_of, file_heat, symbol_dependents
from graphmem.analysis.semantic.layering import components, feedback, layers, strata, worth_cutting
from graphmem.analysis.semantic.layout import layered
from graphmem.analysis.semantic.naming import Known, Named, named
from graphmem.analysis.semantic.partition import Partition
from graphmem.answers.modules import FileLink, ModuleDependency, ModuleDetail, ModuleFile, ModuleInfo, ModuleMap
from graphmem.projection.graph.arrays import NODE_KINDS
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphmem.analysis.semantic.files import I64
    from graphmem.analysis.semantic.heat import F64
    from graphmem.answers import IndexState
    from graphmem.answers.modules import Cycle
    from graphmem.projection.graph.view import GraphView

CENTRAL: Final = 5
NAMED: Final = 4  # files named in the summary of a module without documentation
_RULED: Final = re.compile(r"([^\w\s])\1{2,}")
_NOTICE: Final = re.compile(r"\W*(?:copyright\b|\(c\)\s*\d|©|spdx-|licensed under\b|permission is hereby granted\b)", re.IGNORECASE)
BY_ADDRESS: Final = frozenset({"endpoint", "rpc", "topic"})  # rules that match an address, not a name of the other module
SITES: Final = 3  # sites shown for an ordinary dependency
UPWARD_SITES: Final = 20  # sites shown for an upward dependency
HOTTEST: Final = 5  # a module's heat is the mean score of this many hottest files


def _describing_files() -> frozenset[str]:
    """Return names of files, without extension, that describe a folder."""
    known = all_conventions()
    return known.folder_files | known.library_files | known.description_files


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring or page, without underlines.

    Underlines of headings are left out. The result is "" if the sentence is a single word, or if `doc` begins with a notice of copyright or
    license.
    """
    if _NOTICE.match(doc):
        return ""
    sentence = " ".join(_RULED.sub(" ", doc).split()).partition(". ")[0].rstrip(".: ")
    return f"{sentence}." if sentence.count(" ") >= 1 else ""


class Modules:
    """A division of the files of a code graph into modules; immutable.

    Args:
        view: the graph.
        known: modules of an earlier computation; a new module with mostly the same files gets the name and id of the earlier one.
        project: name of the project, from which new ids are made.
        churn: path -> number of commits, where old commits count less; None without history.
        co_change: (path, path) -> strength in [0, 1]; pairs with a file outside the graph are ignored.
        current: whether `known` was computed for this state of the graph. If so, the modules in `known` keep their files.
        packages: languages whose packages are folders, and languages with namespaces. No module divides a package that is a folder, as in
        Go.
        division: divides the paths of the files with code, instead of deriving the modules.

    Attributes:
        groups: the modules, most lines first.
        used: int64 (n,), number of definitions outside tests that use each node.
        of_file: int64 (f,), position in `groups` of each file's module; -1 for files without code.
    """

    def __init__(
        self,
        view: GraphView,
        known: Sequence[Known] = (),
        project: str = "",
        churn: Mapping[str, float] | None = None,
        co_change: Mapping[tuple[str, str], float] | None = None,
        current: bool = False,
        packages: Packages = NO_PACKAGES,
        division: Callable[[Sequence[str]], list[Named]] | None = None,
    ) -> None:
        self.view = view
        self.files = FileGraph(view, packages.of_names)
        self.churn: F64 | None = churn_of(self.files, churn)
        self._partition = Partition(view, self.files, packages)
        self.left_out = len(self.files) - len(self._partition.code)
        used = symbol_dependents(self.files)
        of = self.files.file_of(np.arange(view.n, dtype=np.int32))
        weight = np.bincount(of[of >= 0], used[of >= 0], minlength=len(self.files))
        weights = {path: float(weight[i]) for i, path in enumerate(self.files.paths)}
        if division is None:
            groups = self._partition.groups(known, co_change or {}, current=current)
            found = named(groups, known, weights, self._partition.tests, project, self._partition.root_name())
        else:
            found = division(self._partition.code)
        number = {path: i for i, path in enumerate(self.files.paths)}
        self.groups: list[Named] = sorted(
            found, key=lambda one: (-sum(int(self.files.lines[number[path]]) for path in one.paths), one.name)
        )
        self.of_file: I64 = np.full(len(self.files), -1, np.int64)
        for i, group in enumerate(self.groups):
            self.of_file[[number[path] for path in group.paths]] = i
        self.used = used
        self._weight_of = weights  # of a file's dependents, by path
        self._project = project
        self._number = number

    def is_settled(self) -> bool:
        """Whether another run would keep the names and ids of all modules.

        Such a run takes these modules as the earlier ones, and names the same groups of files again.
        """
        known = [Known(one.id, one.name, frozenset(one.paths)) for one in self.groups]
        groups = sorted(one.paths for one in self.groups)
        again = named(groups, known, self._weight_of, self._partition.tests, self._project, self._partition.root_name())
        return sorted(again) == sorted(self.groups)

    # ---- derived from the partition

    @cached_property
    def between(self) -> dict[tuple[int, int], I64]:
        """Edges from one module to another, by (from, to).

        A module is given by its position in the list `groups`, and an edge by its row: the position in the arrays of the graph. Edges from
        tests, and edges from or to files that only re-export names (façades), are excluded.
        """
        rows: dict[tuple[int, int], list[I64]] = defaultdict(list)
        files = self.files
        counted = self._partition.counted
        ends = zip(self.of_file[files.src].tolist(), self.of_file[files.dst].tolist(), counted.tolist(), strict=True)
        for link, (a, b, counts) in enumerate(ends):
            if counts and a != b and a >= 0 and b >= 0:
                rows[a, b].append(files.rows[files.ptr[link] : files.ptr[link + 1]])
        return {pair: np.concatenate(parts) for pair, parts in sorted(rows.items())}

    @cached_property
    def ordering(self) -> dict[tuple[int, int], I64]:
        """The edges between modules that decide layers and cycles.

        Edges from the sender of a request to the code that answers it are left out if they close a cycle, because two programs that send
        requests to each other remain two programs. A request that closes no cycle is included, so a client is above its server.
        """
        circle = {one: i for i, group in enumerate(components(self.between)) for one in group}
        by_address = np.array([rule in BY_ADDRESS for rule in self.view.rules], np.bool_)
        found = {}
        for (a, b), rows in self.between.items():
            closing = a in circle and circle[a] == circle.get(b)
            kept = rows[~by_address[self.view.edge_rule[rows]]] if closing else rows
            if len(kept):
                found[a, b] = kept
        return found

    @cached_property
    def _against(self) -> frozenset[tuple[int, int]]:
        """Dependencies between modules to ignore when layers are computed.

        Each is (from, to). A module is given by its position in the list `groups`. Without these dependencies, the modules have no cycle.
        """
        return frozenset(feedback(self.weights))

    @cached_property
    def upward(self) -> frozenset[tuple[int, int]]:
        """Dependencies between modules that do not lead to a lower layer.

        Each is (from, to). A module is given by its position in the list `groups`. These dependencies are ignored when layers are computed.
        Requests that would close a cycle are included.
        """
        requests = self.between.keys() - self.ordering.keys()
        return self._against | {(a, b) for a, b in requests if self.layer[a] <= self.layer[b]}

    @cached_property
    def weights(self) -> dict[tuple[int, int], float]:
        """Number of edges from one module to another, by (from, to).

        A module is given by its position in the list `groups`. The edges are those of `ordering`.
        """
        return {pair: float(len(rows)) for pair, rows in self.ordering.items()}

    @cached_property
    def layer(self) -> dict[int, int]:
        """Layer of each module, 0 at the bottom; a module is above what it uses.

        The keys are modules, given by their positions in the list `groups`. Dependencies in `_against` are ignored, so modules of a cycle
        may have different layers. See also `stratum`.
        """
        return layers(range(len(self.groups)), self.weights, sorted(self._against))

    @cached_property
    def knots(self) -> list[list[int]]:
        """Cycles of modules: groups that depend on each other, largest first.

        A module is given by its position in the list `groups`.
        """
        return components(self.weights)

    @cached_property
    def stratum(self) -> dict[int, int]:
        """Layer of each module; all modules of a cycle have the same layer.

        The keys are modules, given by their positions in the list `groups`. In contrast to `layer`, no dependency is ignored.
        """
        return strata(range(len(self.groups)), self.weights)

    @cached_property
    def worth_cutting(self) -> frozenset[tuple[int, int]]:
        """Dependencies to remove first, to take modules out of their cycles.

        Each is (from, to). A module is given by its position in the list `groups`. The removal of any one of them takes a module out of its
        cycle. Of all such dependencies, only the few with the least weight for each freed module are chosen; see `layering.worth_cutting`.
        """
        return frozenset(worth_cutting(self.weights, self._against))

    @cached_property
    def heat(self) -> F64:
        """Risk of a change of each file, 0 to 100, shape (f,).

        The module `heat` has the formula.
        """
        return file_heat(self.files, self.churn)

    @cached_property
    def modularity(self) -> float:
        """Quality of the division of files into modules: modularity.

        The number is Newman's modularity, calculated from the dependencies between files: high if most dependencies stay within a module.
        """
        grouped = {path for group in self.groups for path in group.paths}
        links = {pair: count for pair, count in self._partition.links.items() if pair[0] in grouped and pair[1] in grouped}
        return round(modularity([group.paths for group in self.groups], links), 4)

    def name_of(self, path: str) -> str:
        """Return the name of a file's module; "" if it has none."""
        number = self._number.get(path)
        place = -1 if number is None else int(self.of_file[number])
        return self.groups[place].name if place >= 0 else ""

    def find(self, ref: str) -> int | None:
        """Return the position of the module with id or name `ref`, else None."""
        return next((i for i, group in enumerate(self.groups) if ref in (group.id, group.name)), None)

    # ---- answers

    @cached_property
    def infos(self) -> list[ModuleInfo]:
        """Facts about all modules as the map shows them, most lines first."""
        names = [group.name for group in self.groups]
        lines = {(names[a], names[b]): float(len(rows)) for (a, b), rows in self.between.items()}
        place = layered({name: self.layer[i] for i, name in enumerate(names)}, lines)
        inside, outside = self._weights()
        heats = [float(np.sort(self.heat[self.of_file == i])[::-1][:HOTTEST].mean()) for i in range(len(names))]
        top = max(heats, default=0.0)
        return [
            self._info(
                i,
                heat=round(heats[i] / top, 4) if top else 0.0,
                cohesion=round(inside[i] / (inside[i] + outside[i]), 4) if inside[i] + outside[i] else 1.0,
                at=place[names[i]],
            )
            for i in range(len(names))
        ]

    def _weights(self) -> tuple[list[int], list[int]]:
        """Return each module's numbers of inner edges and of outer edges.

        The first list counts edges between files of the module, the second edges to and from other modules. Modules are in the order of
        `groups`.
        """
        inside, outside = [0] * len(self.groups), [0] * len(self.groups)
        files = self.files
        ends = zip(self.of_file[files.src].tolist(), self.of_file[files.dst].tolist(), files.weight.tolist(), strict=True)
        for a, b, count in ends:
            if a == b:
                inside[a] += count if a >= 0 else 0
                continue
            for one in (a, b):
                outside[one] += count if one >= 0 else 0
        return inside, outside

    def _info(self, i: int, heat: float, cohesion: float, at: tuple[float, float]) -> ModuleInfo:
        group, files, view = self.groups[i], self.files, self.view
        members = np.flatnonzero(self.of_file == i)
        languages = Counter(view.arrays.paths.language[view.path_number[path]].as_py() for path in group.paths)
        nodes = np.concatenate([view.by_path(path) for path in group.paths]) if group.paths else np.zeros(0, np.int32)
        entries = Counter(view.entry_point(node) for node in nodes[view.is_entry_point[nodes]].tolist())
        return ModuleInfo(
            id=group.id,
            name=group.name,
            path=group.path,
            layer=self.layer[i],
            files=len(members),
            symbols=int(files.symbols[members].sum()),
            lines=int(files.lines[members].sum()),
            test_files=int(files.is_test[members].sum()),
            heat=heat,
            cohesion=cohesion,
            languages=dict(sorted(languages.items(), key=lambda one: (-one[1], one[0]))),
            entry_points=dict(sorted(entries.items())),
            central=view.infos(self._central(nodes)),
            x=at[0],
            y=at[1],
            summary=self._summary(group),
        )

    @cached_property
    def _by_top(self) -> I64:
        """Number of dependents of each top-level definition, shape (n,).

        Dependents of a definition's members are included.
        """
        view = self.view
        top = np.arange(view.n, dtype=np.int64)
        while True:
            above = view.parent[top].astype(np.int64)
            inside = (above >= 0) & (view.parent[np.maximum(above, 0)] >= 0)
            if not inside.any():
                return np.bincount(top, self.used, minlength=view.n).astype(np.int64)
            top = np.where(inside, above, top)

    def _central(self, nodes: npt.NDArray[np.int32]) -> list[int]:
        """Return top-level definitions outside tests with the most dependents.

        `nodes` are the nodes of a module. If all of them are tests, definitions in the tests are returned.
        """
        view = self.view
        top = (view.parent[nodes] >= 0) & (view.parent[np.maximum(view.parent[nodes], 0)] < 0)
        wanted = nodes[top & (view.kind[nodes] != NODE_KINDS.index("variable"))]
        outside = wanted[~view.is_test[wanted]]
        chosen = outside if len(outside) else wanted
        order = np.lexsort((view.start_line[chosen], view.path_index[chosen], -self._by_top[chosen]))
        found: list[int] = chosen[order][:CENTRAL].tolist()
        return found

    def documentation(self, group: Named) -> str:
        """Return the first sentence of a module's documentation; "" without one.

        `group` is the module.
        """
        own = self._own(group)
        describing = _describing_files()
        for path in sorted(own, key=lambda one: (one.count("/"), one)):
            folder, _, name = path.rpartition("/")
            speaks = name.partition(".")[0] in describing and (folder == group.path or folder.endswith("/" + group.name))
            if (speaks or len(own) == 1) and (text := self._documented(path)):
                return text
        return ""

    def _own(self, group: Named) -> list[str]:
        """Return the files of a module except tests; all if it has only tests.

        `group` is the module.
        """
        return [path for path in group.paths if not self.files.is_test[self._number[path]]] or group.paths

    def _summary(self, group: Named) -> str:
        """Return a summary of a module, from the documentation of its code.

        The documentation is that of the module's package, or of its only file. For a module without documentation, the summary names the
        files.
        """
        if text := self.documentation(group):
            return text
        own = self._own(group)
        describing = _describing_files()
        weight = {path: (-float(self.heat[self._number[path]]), path) for path in own}
        stems = [path.rpartition("/")[2].partition(".")[0] for path in sorted(own, key=weight.__getitem__)]
        named = list(dict.fromkeys(stem for stem in stems if stem not in describing))
        if not named:
            return ""
        return f"Holds {', '.join(named[:NAMED])}" + (f" and {len(named) - NAMED} more." if len(named) > NAMED else ".")

    def _documented(self, path: str) -> str:
        """Return the first sentence of a file's documentation; "" without one."""
        symbols = self.view.by_path(path)
        return first_sentence(self.view.doc(int(symbols[0]))) if len(symbols) else ""

    @cached_property
    def dependencies(self) -> list[ModuleDependency]:
        """Dependencies between modules, heaviest first."""
        found = [self._dependency(pair, rows) for pair, rows in self.between.items()]
        return sorted(found, key=lambda one: (-one.weight, one.src_name, one.dst_name))

    def _dependency(self, pair: tuple[int, int], rows: I64) -> ModuleDependency:
        src, dst = self.groups[pair[0]], self.groups[pair[1]]
        upward = pair in self.upward
        sites = self.files.evidence(rows, UPWARD_SITES if upward else SITES)
        cut = pair in self.worth_cutting
        return ModuleDependency(src.id, dst.id, src.name, dst.name, len(rows), self.files.kinds_of(rows), upward, sites, cut)

    def map(self, notes: list[str], state: IndexState) -> ModuleMap:
        """Return an overview: the modules, their dependencies and modularity.

        `notes` are sentences on missing data, such as an unread history; they become a field of the overview.
        """
        return ModuleMap(self.infos, self.dependencies, self.modularity, notes, state)

    def detail(self, i: int, state: IndexState) -> ModuleDetail:
        """Return details of one module.

        `i` is the position of the module in the list `groups`.
        """
        group, files, view = self.groups[i], self.files, self.view
        hottest = float(self.heat.max(initial=0.0)) or 1.0
        links = self._inside(i)
        weights = {(one.src, one.dst): float(one.weight) for one in links}
        place = layered(layers(group.paths, weights, feedback(weights)), weights)
        rows = []
        for path in group.paths:
            number = self._number[path]
            language = view.arrays.paths.language[view.path_number[path]].as_py()
            rows.append(
                ModuleFile(
                    path,
                    language,
                    int(files.lines[number]),
                    int(files.symbols[number]),
                    bool(files.is_test[number]),
                    round(float(self.heat[number]) / hottest, 4),
                    *place[path],
                )
            )
        return ModuleDetail(
            module=self.infos[i],
            files=rows,
            links=links,
            dependencies=[one for one in self.dependencies if one.src == group.id],
            dependents=[one for one in self.dependencies if one.dst == group.id],
            state=state,
        )

    def _inside(self, i: int) -> list[FileLink]:
        files = self.files
        inside = np.flatnonzero((self.of_file[files.src] == i) & (self.of_file[files.dst] == i))
        found = []
        for link in inside.tolist():
            rows = files.rows[files.ptr[link] : files.ptr[link + 1]]
            found.append(FileLink(files.paths[files.src[link]], files.paths[files.dst[link]], len(rows), files.kinds_of(rows)))
        return sorted(found, key=lambda one: (-one.weight, one.src, one.dst))

    # ---- cycles

    @cached_property
    def file_cycles(self) -> list[Cycle]:
        """Cycles of imports between files, largest first."""
        return cycles("files", self.files, file_arcs(self.files))

    @cached_property
    def module_cycles(self) -> list[Cycle]:
        """Cycles between modules, largest first."""
        files = self.files
        late = np.zeros(self.view.m, np.bool_)
        for link in np.flatnonzero(files.deferred).tolist():
            late[files.rows[files.ptr[link] : files.ptr[link + 1]]] = True
        names = [group.name for group in self.groups]
        arcs: dict[Pair, Arc] = {(names[a], names[b]): Arc(rows, bool(late[rows].all())) for (a, b), rows in self.ordering.items()}
        return cycles("modules", files, arcs)
