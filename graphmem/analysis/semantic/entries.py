"""Find entry points: code where execution begins, and public API.

An entry point is, for example, a command or a route that the parser marked, or the public API of a library.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphmem.analysis.semantic.beside import beside
from graphmem.analysis.semantic.files import FileGraph
from graphmem.model import TEST_KINDS, EdgeKind
from graphmem.projection.graph.arrays import EDGE_KINDS, FUNCTION_CODES, NODE_KINDS, SYMBOL
from graphmem.projection.graph.edges import kind_mask
from graphmem.runtime.arrow import computed
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from graphmem.projection.graph.view import GraphView

ENTRY_KINDS: Final = ("main", "command", "route", "event", "task", "export", "test", "fixture")  # in the order of lists
AT_LOAD: Final = ENTRY_KINDS.index("export") - 0.5
"""Place in this order of functions that run when a package is loaded."""
MAX_STEPS: Final = 8  # calls that a flow, or the reach of an entry point, may follow
CONFIDENT: Final = 0.85  # calls that a flow may follow, without those to any of several overrides
_MODULE: Final = NODE_KINDS.index("module")
_CALLABLE: Final = frozenset({*FUNCTION_CODES, NODE_KINDS.index("class")})


class Entries:
    """Entry points of a code graph.

    Attributes:
        kind: kind of each node that is an entry point.
    """

    def __init__(self, files: FileGraph) -> None:
        self.view: GraphView = files.view
        self.files = files
        self._used: dict[str, int] = {}  # results of `_used_files`
        view = self.view
        marked = np.flatnonzero(view.is_entry_point).tolist()
        kinds = computed("take", view.entry_points, pa.array(marked, pa.int64())).to_pylist()
        self.kind: dict[int, str] = dict(zip(marked, kinds, strict=True))
        for node in np.flatnonzero(self.public).tolist():
            self.kind.setdefault(node, "export")

    @cached_property
    def listed(self) -> dict[int, str]:
        """Map each entry point that people should see to its kind.

        Of test code, only tests and fixtures are included. Of a file with a function `main`, only this function is included, because the
        code outside functions only prepares it. A class with routes is not included, because its methods handle the requests,
        unless code registers the class itself, as in Django.
        """
        view, module = self.view, NODE_KINDS.index("module")
        functions = [node for node, kind in self.kind.items() if kind == "main" and view.kind[node] != module]
        with_routes = {int(view.parent[node]) for node, kind in self.kind.items() if kind == "route"}
        with_main = {view.path(node) for node in functions if view.name(node) == "main"}

        def is_listed(node: int, kind: str) -> bool:
            before = kind == "main" and view.kind[node] == module and view.path(node) in with_main
            before = before or (kind == "route" and node in with_routes and not self._is_registered(node))
            return not before and (kind in TEST_KINDS or not view.is_test[node])

        return {node: kind for node, kind in self.kind.items() if is_listed(node, kind)}

    def _is_registered(self, node: int) -> bool:
        """Whether code registers a node as the handler of a route."""
        view = self.view
        rules = view.edge_rule[view.in_edges(node, (EdgeKind.REFERENCES,))]
        return any(view.rules[rule] == "route" for rule in rules.tolist())

    def of_kinds(self, kinds: Collection[str] | None) -> list[int]:
        """Return the nodes of the entry points of given kinds.

        `kinds=None` selects all kinds except tests and fixtures.
        """
        return [node for node, kind in self.listed.items() if (kind in kinds if kinds is not None else kind not in TEST_KINDS)]

    @cached_property
    def beside(self) -> npt.NDArray[np.bool_]:
        """Whether each node is in code outside the product, shape (n,).

        Examples are scripts and generated code.
        """
        return beside(self.view)

    def ordered(self, kinds: Collection[str] | None, named: Collection[str], calls: Calls) -> list[int]:
        """Return entry points of given kinds, in the order in which to read them.

        The rules of the order are, most important first:

        * Code that is not part of the product, such as examples or programs in folders of tests, comes last.
        * Commands that are not in `named` come first, because most of them are programs that a person starts, declared in a manifest such
          as pyproject.toml. Other entry points follow by kind.
        * Variants of a program come after the program itself; see `_variants`.
        * Functions that run when a package is loaded, such as `init` in Go, come after programs, commands, routes, events and tasks.
        * Programs that use many more files come first, because a program often finds its commands without a call. Numbers in the same power
          of two are equal, because in one cycle of files all programs use nearly the same.
        * Programs and commands that run more code come first.
        * Ties are ordered by path and line.

        Args:
            kinds: kinds to return; None for all kinds except tests and fixtures.
            named: ids of symbols that a framework knows by a name, such as a subcommand.
            calls: calls that tell how much code a program runs.
        """
        view, ids = self.view, self.view.ids

        def place(node: int) -> tuple[object, ...]:
            kind = self.kind[node]
            number: float = ENTRY_KINDS.index(kind) if kind in ENTRY_KINDS else len(ENTRY_KINDS)
            typed = kind == "command" and ids[node] not in named
            number = -1 if typed else number
            reach = -calls.reach(node, MAX_STEPS) if typed or kind == "main" else 0
            at_load = kind == "main" and view.kind[node] != _MODULE and view.name(node).lower() != "main"
            number = AT_LOAD if at_load else number
            uses = -self._used_files(view.path(node)).bit_length() if (kind == "main" or typed) and not at_load else 0
            return (
                self.is_last(node),
                number,
                kind,
                uses,
                reach,
                view.path(node),
                int(view.start_line[node]),
                node,
            )

        placed = {node: place(node) for node in self.of_kinds(kinds)}
        programs = [node for node in placed if self.kind[node] in ("main", "command") and ids[node] not in named]
        variants = self._variants(sorted(programs, key=placed.__getitem__))
        return sorted(placed, key=lambda node: (*placed[node][:3], node in variants, *placed[node][3:]))

    def is_last(self, node: int) -> bool:
        """Whether a node is in code outside the product or in a folder of tests.

        Programs in folders of tests, such as broken plugins, are data of tests.
        """
        file = int(self.files.of_path[self.view.path_index[node]]) if self.view.path_index[node] >= 0 else -1
        return bool(self.beside[node]) or (file >= 0 and bool(self.files.is_test[file]))

    def _variants(self, programs: Sequence[int]) -> frozenset[int]:
        """Return those programs that are variants of others in their folder.

        A variant is one of these:

        - A program whose name continues the name of another program, such as `cli-esm.ts` beside `cli.ts`.
        - A second function `main` of one package, which only a build with other options contains, as in Go. The file called `main` has
            the program itself; without such a file, the first of `programs` has it.
        """
        view, modules = self.view, self.view.arrays.paths.module
        folder, name, stem = {}, {}, {}
        for node in programs:
            folder[node], _, name[node] = view.path(node).rpartition("/")
            stem[node] = name[node].partition(".")[0]
        package = {node: (folder[node], modules[int(view.path_index[node])].as_py()) for node in programs if view.name(node) == "main"}
        first: dict[tuple[str, str], int] = {}
        for node in sorted(package, key=lambda one: stem[one] != "main"):
            first.setdefault(package[node], node)

        def is_variant(node: int) -> bool:
            if node in package and package[node][1] and first[package[node]] != node:
                return True
            return any(
                folder[node] == folder[one] and stem[node].startswith(stem[one]) and stem[node][len(stem[one])] in "-_"
                for one in programs
                if len(stem[one]) < len(stem[node])
            )

        return frozenset(node for node in programs if is_variant(node))

    @cached_property
    def _uses(self) -> dict[int, list[int]]:
        """Map each file to the files that it uses directly."""
        found: dict[int, list[int]] = {}
        for src, dst in zip(self.files.src.tolist(), self.files.dst.tolist(), strict=True):
            found.setdefault(src, []).append(dst)
        return found

    def _used_files(self, path: str) -> int:
        """Return how many files a file uses, directly or through others; cached."""
        if path in self._used:
            return self._used[path]
        number = self.view.path_number.get(path, -1)
        start = int(self.files.of_path[number]) if number >= 0 else -1
        seen, left = {start}, [start]
        while left:
            new = [one for one in self._uses.get(left.pop(), ()) if one not in seen]
            seen.update(new)
            left += new
        self._used[path] = len(seen)
        return len(seen)

    @cached_property
    def public(self) -> npt.NDArray[np.bool_]:
        """Top-level functions and classes that external code may use.

        The result is booleans, shape (n,). A definition is public if its language marks it as exported. A Python definition is also public
        if its name does not begin with an underscore, and it is in the `__init__` of a package or in a file that such an `__init__`
        imports. Libraries export their API in `__init__`.
        """
        view, files = self.view, self.files
        top = (view.label == SYMBOL) & (view.parent >= 0)
        top[top] = view.parent[view.parent[top]] < 0
        nodes = np.flatnonzero(top & np.isin(view.kind, list(_CALLABLE)) & ~view.is_test).astype(np.int32)
        at = pa.array(nodes.tolist(), pa.int64())
        modifiers, names = (computed("take", column, at).to_pylist() for column in (view.arrays.nodes.modifiers, view.arrays.nodes.name))
        exported = np.array(["exported" in one.split() for one in modifiers], np.bool_)
        named = np.array([not name.startswith("_") for name in names], np.bool_)
        file = files.file_of(nodes)
        by_init = np.where(file >= 0, self._offered()[file], False)
        found = np.zeros(view.n, np.bool_)
        found[nodes[exported | (by_init & named)]] = True
        return found

    @cached_property
    def declared(self) -> npt.NDArray[np.bool_]:
        """Files of the API that package.json files declare, shape (f,).

        They are the files that a package.json names, such as `src/index.ts`, and the files that these import, also through index files.
        """
        module = NODE_KINDS.index("module")
        named = {self.view.path(node) for node, kind in self.kind.items() if kind == "export" and self.view.kind[node] == module}
        found = first = np.array([path in named for path in self.files.paths], np.bool_)
        indexes = all_conventions().folder_files
        index = np.array([path.rpartition("/")[2].partition(".")[0] in indexes for path in self.files.paths], np.bool_)
        while True:
            wider = self._with_imports(found & (index | first), found)
            if wider.sum() == found.sum():
                return found
            found = wider

    def _with_imports(self, importing: npt.NDArray[np.bool_], found: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return `found`, extended by the files that given files import.

        `importing` has True for each file whose imports are added. All three are booleans, one for each file.
        """
        files, view = self.files, self.view
        imports = EDGE_KINDS.index(EdgeKind.IMPORTS)
        wider = found.copy()
        for link in np.flatnonzero(importing[files.src]).tolist():
            rows = files.rows[files.ptr[link] : files.ptr[link + 1]]
            wider[files.dst[link]] |= bool((view.edge_kind[rows] == imports).any())
        return wider

    def _offered(self) -> npt.NDArray[np.bool_]:
        """Python files that belong to a library's API, as booleans, shape (f,).

        Such a file is a package's `__init__`, or is imported by an `__init__`. Tests and private paths (a part begins with one underscore)
        are excluded.
        """
        files = self.files
        exporting = all_conventions().package_files
        init = np.array([path.rpartition("/")[2] in exporting for path in files.paths], np.bool_)
        found = self._with_imports(init, init)
        private = np.array([any(p.startswith("_") and not p.startswith("__") for p in path.split("/")) for path in files.paths], np.bool_)
        return found & ~private & ~files.is_test


class Calls:
    """Calls with high confidence, by calling node.

    An edge row is the position of an edge in the arrays of the graph.

    Attributes:
        rows: for each node, the edge rows of its calls to symbols, most confident first, then by line.
    """

    def __init__(self, view: GraphView, at_least: float = CONFIDENT) -> None:
        kept = kind_mask((EdgeKind.CALLS,))[view.edge_kind] & (view.confidence >= at_least)
        self.view = view
        self._rows = np.flatnonzero(kept & (view.label[view.dst] == SYMBOL) & (view.src != view.dst))

    @cached_property
    def rows(self) -> dict[int, list[int]]:
        """Calls of each node, as edge rows: most confident first, then by line.

        The result maps a calling node to its edge rows. An edge row is the position of an edge in the arrays of the graph.
        """
        view, rows = self.view, self._rows
        order = np.lexsort((view.dst[rows], view.line[rows], -view.confidence[rows], view.src[rows]))
        found: dict[int, list[int]] = {}
        for row, src in zip(rows[order].tolist(), view.src[rows[order]].tolist(), strict=True):
            found.setdefault(src, []).append(row)
        return found

    @cached_property
    def _called(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Called nodes of all callers, and where the nodes of each caller begin.

        Both are arrays. Node `i` calls `called[begin[i] : begin[i + 1]]`, so `begin` has one entry more than there are nodes.
        """
        src, dst = self.view.src[self._rows], self.view.dst[self._rows]
        begin = np.concatenate(([0], np.cumsum(np.bincount(src, minlength=self.view.n))))
        return begin.astype(np.int64), dst[np.argsort(src, kind="stable")]

    @cached_property
    def outside_tests(self) -> dict[int, list[tuple[int, int]]]:
        """For each node, its calls as (edge row, called node).

        An edge row is the position of an edge in the arrays of the graph. Calls to code in tests are left out.
        """
        rows = np.array([row for some in self.rows.values() for row in some], np.int64)
        targets = self.view.dst[rows].tolist()
        testing = self.view.is_test[self.view.dst[rows]].tolist()
        found: dict[int, list[tuple[int, int]]] = {}
        at = 0
        for node, some in self.rows.items():
            found[node] = [(row, targets[place]) for place, row in enumerate(some, at) if not testing[place]]
            at += len(some)
        return found

    def reach(self, start: int, depth: int) -> int:
        """Return the number of symbols that at most `depth` calls reach.

        The calls begin at the node `start`. `start` itself is not counted.
        """
        seen = {start}
        front = [start]
        begin, called = self._called
        for _ in range(depth):
            front = list({one for node in front for one in called[begin[node] : begin[node + 1]].tolist()} - seen)
            if not front:
                break
            seen.update(front)
        return len(seen) - 1
