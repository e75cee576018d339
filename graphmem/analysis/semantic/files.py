"""Graph of dependencies between files.

Modules and cycles are computed from it. A dependency (link) between two files stands for all edges between their symbols.
"""

from __future__ import annotations

from functools import cached_property
from os.path import commonprefix
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.answers import PathStep
from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import EDGE_KINDS, FUNCTION_CODES, NODE_KINDS, SYMBOL
from graphmem.projection.graph.edges import kind_mask
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from graphmem.projection.graph.view import GraphView

I64 = npt.NDArray[np.int64]

DEPENDENCY_KINDS: Final = (EdgeKind.IMPORTS, EdgeKind.CALLS, EdgeKind.INHERITS, EdgeKind.REFERENCES, EdgeKind.USES_TYPE)
# Rules that find runtime behaviour, or guess. A map shows only names that the source states.
NOT_WRITTEN: Final = frozenset(
    {
        *("override", "implicit", "inferred_type", "function_value", "wrapped", "satisfies"),
        *("unique_name", "ambiguous_name", "runtime", "runtime_before", "coverage"),
    }
)
_TESTS: Final = frozenset({"test", "tests", "testing", "spec", "specs"})  # folder names, by convention of most languages
_BY_RECEIVER: Final = "receiver_type"
_CALLS: Final = EDGE_KINDS.index(EdgeKind.CALLS)
_IMPORTS: Final = EDGE_KINDS.index(EdgeKind.IMPORTS)
_RANKS: Final[dict[str, int]] = {EdgeKind.CALLS: 0, EdgeKind.INHERITS: 0, EdgeKind.USES_TYPE: 0, EdgeKind.REFERENCES: 1}
_EVIDENCE: Final = np.array([_RANKS.get(kind, 2) for kind in EDGE_KINDS])  # of each kind of edge, the best first
_VARIABLE: Final = NODE_KINDS.index("variable")


def _dispatched(view: GraphView, rows: I64, files: I64) -> npt.NDArray[np.bool_]:
    """Return which calls may reach methods of several files.

    The receiver of such a call is an interface, so its type determines the method at run time. The source names none of the
    implementations. `rows` are edges, and `files` has the file of each edge's target. The result has a boolean for each edge.
    """
    out = np.zeros(len(rows), np.bool_)
    if _BY_RECEIVER not in view.rules:
        return out
    chosen = np.flatnonzero((view.edge_rule[rows] == view.rules.index(_BY_RECEIVER)) & (view.edge_kind[rows] == _CALLS))
    sources = view.src[rows[chosen]]
    several = np.bincount(sources, minlength=view.n)[sources] > 1 if len(sources) else np.zeros(0, np.bool_)
    sites: dict[tuple[int, str, int], list[int]] = {}
    for place in chosen[several].tolist():
        row = int(rows[place])
        for line in view.lines_of(row):
            sites.setdefault((int(view.src[row]), view.name(int(view.dst[row])), line), []).append(place)
    for places in sites.values():
        if len({int(files[place]) for place in places}) > 1:
            out[places] = True
    return out


class Packages(NamedTuple):
    """Languages by the meaning of their packages: folders, or namespaces."""

    of_folders: frozenset[str] = frozenset()  # the files of a folder form one package
    of_names: frozenset[str] = frozenset()  # an import names a namespace, which may be spread over many files


NO_PACKAGES: Final = Packages()


class FileGraph:
    """Files and the dependencies (links) between them.

    Args:
        view: the code graph.
        namespaced: languages whose imports name a namespace. Such an import makes a link only to files whose code is used.

    Attributes (f files, l links):
        paths: paths of the files, ascending.
        node: int32 (f,), node of each file in the code graph.
        of_path: int32 (paths of the code graph,), index of the file at each path; -1 if it is not a file.
        rows: int64, edge rows between different files, grouped by link.
        ptr: int64 (l + 1,), link i has rows[ptr[i]:ptr[i + 1]].
        src, dst: int64 (l,), ends of each link; links are sorted by (src, dst).
    """

    def __init__(self, view: GraphView, namespaced: Collection[str] = ()) -> None:
        self.view = view
        nodes = view.arrays.paths.node
        present = np.flatnonzero(nodes >= 0)
        self.paths = [view.paths[number] for number in present.tolist()]
        self.node = nodes[present]
        self._language = [view.arrays.paths.language[number].as_py() for number in present.tolist()]
        self.of_path = np.full(len(nodes), -1, np.int32)
        self.of_path[present] = np.arange(len(present), dtype=np.int32)
        self.lines = view.arrays.paths.lines[present].astype(np.int64)

        written = np.array([rule not in NOT_WRITTEN for rule in view.rules], np.bool_)
        kept = kind_mask(DEPENDENCY_KINDS)[view.edge_kind] & written[view.edge_rule]
        rows = np.flatnonzero(kept & (view.label[view.dst] <= SYMBOL))
        src, dst = self.file_of(view.src[rows]), self.file_of(view.dst[rows])
        between = (src != dst) & (src >= 0) & (dst >= 0)
        between[between] = ~_dispatched(view, rows[between], dst[between])
        rows, src, dst = rows[between], src[between], dst[between]
        keys = src * len(self.paths) + dst
        stated = ~self._of_namespaces(rows, src, namespaced)
        used = stated | np.isin(keys, keys[stated])
        rows, src, dst, keys = rows[used], src[used], dst[used], keys[used]
        order = np.argsort(keys, kind="stable")
        self.rows: I64 = rows[order]
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
        self.ptr: I64 = np.concatenate((starts, [len(keys)]))
        self.src: I64 = keys[starts] // max(1, len(self.paths))
        self.dst: I64 = keys[starts] % max(1, len(self.paths))

    def _of_namespaces(self, rows: I64, src: I64, namespaced: Collection[str]) -> npt.NDArray[np.bool_]:
        """Return which edges are imports of a namespace, and not of a file.

        `rows` are edges, and `src` has the file of each. Such an import alone does not show that a file of the namespace is used.
        """
        is_namespaced = np.array([one in namespaced for one in self._language], np.bool_)
        found: npt.NDArray[np.bool_] = (self.view.edge_kind[rows] == _IMPORTS) & is_namespaced[src]
        return found

    def file_of(self, nodes: npt.NDArray[np.int32]) -> I64:
        """Return the index of each node's file; -1 for symbols of packages."""
        path = self.view.path_index[nodes]
        return np.where(path >= 0, self.of_path[path], -1).astype(np.int64)

    def __len__(self) -> int:
        return len(self.paths)

    @cached_property
    def weight(self) -> I64:
        """Number of edges behind each of the l links between files, shape (l,)."""
        return np.diff(self.ptr)

    @cached_property
    def is_test(self) -> npt.NDArray[np.bool_]:
        """Which files are tests or in folders of tests: booleans, shape (f,)."""
        view = self.view
        nodes = np.flatnonzero(view.is_test & (view.kind == NODE_KINDS.index("module"))).astype(np.int32)
        holds = np.bincount(self.file_of(nodes), minlength=len(self)) > 0
        named = _TESTS | all_conventions().test_folders
        folders = {path.rpartition("/")[0] for path in self.paths if named & set(path.split("/")[:-1])}
        placed = np.array([path.rpartition("/")[0] in folders for path in self.paths], np.bool_)
        found: npt.NDArray[np.bool_] = view.is_test[self.node] | holds | placed
        return found

    @cached_property
    def facade(self) -> npt.NDArray[np.bool_]:
        """Which files only re-export names, as a package's `__init__` often does.

        The result is booleans, shape (f,). A file that only re-exports names is called a façade: it depends on other files, but defines no
        functions or classes. If code uses a re-exported name, the edge leads to the original definition. So a map shows no dependency from
        or to a façade.
        """
        out = np.bincount(self.src, minlength=len(self)) > 0
        found: npt.NDArray[np.bool_] = out & (self.functions == 0) & ~self.is_test
        return found

    @cached_property
    def functions(self) -> I64:
        """Number of functions and classes in each file, shape (f,)."""
        view = self.view
        inside = np.flatnonzero((view.label == SYMBOL) & (view.parent >= 0) & (view.kind != _VARIABLE)).astype(np.int32)
        files = self.file_of(inside)
        return np.bincount(files[files >= 0], minlength=len(self))

    @cached_property
    def symbols(self) -> I64:
        """Number of definitions in each file, shape (f,).

        The symbol that stands for the whole file (module) is not counted.
        """
        view = self.view
        inside = (view.label == SYMBOL) & (view.parent >= 0)
        files = self.file_of(np.flatnonzero(inside).astype(np.int32))
        return np.bincount(files[files >= 0], minlength=len(self))

    @cached_property
    def complexity(self) -> I64:
        """Sum of the complexities of each file's definitions, shape (f,)."""
        files = self.file_of(np.arange(self.view.n, dtype=np.int32))
        known = files >= 0
        return np.bincount(files[known], self.view.complexity[known], minlength=len(self)).astype(np.int64)

    def kinds_of(self, rows: I64) -> dict[str, int]:
        """Return the number of edges of each kind, the most frequent kind first.

        `rows` are the edges to count, as positions in the arrays of the graph. The result maps a kind, such as CALLS, to its number. Kinds
        with equal numbers are sorted by name.
        """
        counts = np.bincount(self.view.edge_kind[rows], minlength=len(EDGE_KINDS)).tolist()
        named = [(EDGE_KINDS[code], count) for code, count in enumerate(counts) if count]
        return dict(sorted(named, key=lambda one: (-one[1], one[0])))

    def steps(self, rows: Sequence[int] | I64, limit: int) -> list[PathStep]:
        """Return at most `limit` of some edges as `PathStep` objects, for answers.

        `rows` are positions of edges in the arrays of the graph. Imports come first because people edit them. Other edges are sorted by
        confidence, path and line.
        """
        view = self.view
        chosen = np.asarray(rows, np.int64)
        order = np.lexsort(
            (
                chosen,
                view.line[chosen],
                view.path_index[view.src[chosen]],
                -view.confidence[chosen],
                view.edge_kind[chosen] != EDGE_KINDS.index(EdgeKind.IMPORTS),
            )
        )
        return [step_of(view, row) for row in chosen[order][:limit].tolist()]

    def evidence(self, rows: Sequence[int] | I64, limit: int) -> list[PathStep]:
        """Return the edges that best show a dependency, at most `limit`.

        `rows` are the edges of the dependency, as positions in the arrays of the graph. Calls, base classes and uses of types come before
        other references, and those before imports, which show only that names are within reach. Edges to the symbols with the most edges
        come first. Of the edges between two symbols, only the first is returned.
        """
        view = self.view
        chosen = np.asarray(rows, np.int64)
        targets, place, counts = np.unique(view.dst[chosen], return_inverse=True, return_counts=True)
        rank = _EVIDENCE[view.edge_kind[chosen]]
        often = counts[place] if len(targets) else np.zeros(0, np.int64)
        order = np.lexsort((chosen, view.line[chosen], view.path_index[view.src[chosen]], -view.confidence[chosen], -often, rank))
        first: dict[tuple[int, int], int] = {}
        for row in chosen[order].tolist():
            first.setdefault((int(view.src[row]), int(view.dst[row])), row)
        return [step_of(view, row) for row in list(first.values())[:limit]]

    @cached_property
    def deferred(self) -> npt.NDArray[np.bool_]:
        """Which dependencies between files need no import when the file is loaded.

        The result is booleans, shape (l,), one for each dependency. The value is True if all imports of the dependency are inside
        functions, because these imports do not run when the file is loaded. It is also True for a dependency without imports.
        """
        view = self.view
        imports = EDGE_KINDS.index(EdgeKind.IMPORTS)
        late = np.ones(len(self.src), np.bool_)
        for link in range(len(self.src)):
            rows = self.rows[self.ptr[link] : self.ptr[link + 1]]
            rows = rows[view.edge_kind[rows] == imports]
            spans = self._function_lines(int(self.src[link])) if len(rows) else ()
            late[link] = all(any(start <= line <= end for start, end in spans) for row in rows.tolist() for line in view.lines_of(row))
        return late

    def _function_lines(self, file: int) -> list[tuple[int, int]]:
        if file not in self._spans:
            view = self.view
            self._spans[file] = [
                (int(view.start_line[node]), int(view.end_line[node]))
                for node in view.by_path(self.paths[file]).tolist()
                if view.kind[node] in FUNCTION_CODES
            ]
        return self._spans[file]

    @cached_property
    def _spans(self) -> dict[int, list[tuple[int, int]]]:
        return {}


def step_of(view: GraphView, row: int) -> PathStep:
    """Convert an edge to a step of a path, as all answers show it.

    `row` is the position of the edge in the arrays of the graph.
    """
    src, dst = view.infos((int(view.src[row]), int(view.dst[row])))
    confidence = round(float(view.confidence[row]), 4)
    return PathStep(src, dst, view.kind_of(row), confidence, view.source_of(row), view.rule_of(row), int(view.line[row]))


def common_folder(paths: Iterable[str]) -> str:
    """Return the deepest folder that contains all paths; "" is the root."""
    every = list(paths)
    # The beginning that the first and the last of sorted strings have in common, all have. Up to its last "/", it is a folder.
    return commonprefix((min(every), max(every))).rpartition("/")[0] if every else ""  # noqa: RUF071
