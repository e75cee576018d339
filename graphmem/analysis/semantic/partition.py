"""Divide the files of a code graph into groups that belong together.

Files that depend on each other or change together are in one group. A package that is a folder, as in Go, is in one group.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from graphmem.analysis.semantic.acyclic import acyclic
from graphmem.analysis.semantic.communities import communities, without_strangers
from graphmem.analysis.semantic.files import FileGraph, Packages, common_folder
from graphmem.analysis.semantic.naming import ROOT, Known
from graphmem.analysis.semantic.passing import passing
from graphmem.projection.graph.arrays import SYMBOL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphmem.projection.graph.view import GraphView


_MAJOR: Final = re.compile(r"(?<=\w)[./]v\d+$")  # of a Go module, as in `example.org/shop/v2`


class Partition:
    """The files of a graph that belong to modules, and their division.

    Args:
        view: the graph.
        files: the files of the graph with their dependencies.
        packages: languages whose packages are folders, and languages with namespaces; see `Modules`.

    Attributes:
        code: paths of the files with code; text and data files are left out.
    """

    def __init__(self, view: GraphView, files: FileGraph, packages: Packages) -> None:
        self.view = view
        self.files = files
        self.code = self._with_code()
        self._package_of = self._units(self.code, packages.of_folders)

    def groups(self, known: Sequence[Known], co_change: Mapping[tuple[str, str], float], *, current: bool) -> list[list[str]]:
        """Divide the files into groups, the modules; return the paths of each.

        The class `Modules` explains the parameters.
        """
        earlier = {path: one.id for one in known for path in one.paths}
        here, units = set(self.code), self._package_of
        if current and here == set(earlier) and not _divided(units, earlier):
            return sorted(sorted(one.paths) for one in known)
        pairs = {pair: share for pair, share in co_change.items() if here.issuperset(pair)}
        near = communities(self.code, self.links, pairs, earlier, units=units)
        groups = self._with_tests_joined(acyclic(near, units, self.arcs) if units else near)
        return without_strangers(groups, self.tests, units)

    def root_name(self) -> str:
        """Return the name of a module whose files are in the root.

        If most files of the root belong to one package, as in Go, the name is the last part of the package. A major version, such as
        `v5`, is ignored. The package must have at least two of the files, and its name may not be that of a folder. Otherwise the name is
        `ROOT`.
        """
        module, number = self.view.arrays.paths.module, self.view.path_number
        files = [path for path in self.code if "/" not in path and path not in self.tests]
        packages = Counter(str(module[number[path]].as_py()) for path in files)
        package, count = packages.most_common(1)[0] if packages else ("", 0)
        name = re.split(r"[./]", _MAJOR.sub("", package))[-1]
        is_package = name and count > 1 and 2 * count > len(files)
        return name if is_package and not any(path.startswith(f"{name}/") for path in self.code) else ROOT

    def _units(self, code: Sequence[str], packaged: frozenset[str]) -> dict[str, str]:
        """Map each file of `code` to its folder, if the folder is a package.

        Folders are packages in the languages `packaged`. Other files are left out.
        """
        language = self.view.arrays.paths.language
        number = self.view.path_number
        return {path: path.rpartition("/")[0] for path in code if packaged and language[number[path]].as_py() in packaged}

    def _with_tests_joined(self, groups: list[list[str]]) -> list[list[str]]:
        """Join small groups of tests that are in folders with the same parent.

        So a hundred files of tests need only one box on the map.
        """
        tests = self.tests
        small = math.isqrt(sum(map(len, groups)))
        kept: list[list[str]] = []
        joined: dict[str, list[str]] = defaultdict(list)
        for group in groups:
            if len(group) < small and tests.issuperset(group):
                joined[common_folder(group).rpartition("/")[0]].extend(group)
            else:
                kept.append(group)
        return sorted([*kept, *(sorted(group) for group in joined.values())])

    @cached_property
    def tests(self) -> frozenset[str]:
        """Paths of the files that are tests or in folders of tests."""
        return frozenset(self.files.paths[i] for i in np.flatnonzero(self.files.is_test).tolist())

    def _with_code(self) -> list[str]:
        """Paths of the files with code, which appear on the map.

        Text and data files are left out.
        """
        view, files = self.view, self.files
        of = files.file_of(np.flatnonzero(view.label == SYMBOL).astype(np.int32))
        has = np.zeros(len(files), np.bool_)
        has[of[of >= 0]] = True
        return [files.paths[i] for i in np.flatnonzero(has).tolist()]

    @cached_property
    def links(self) -> dict[tuple[str, str], float]:
        """Number of edges from one file to another, by (from, to)."""
        files = self.files
        ends = zip(files.src.tolist(), files.dst.tolist(), files.weight.tolist(), strict=True)
        return {(files.paths[a], files.paths[b]): float(count) for a, b, count in ends}

    @cached_property
    def counted(self) -> npt.NDArray[np.bool_]:
        """Which dependencies between files count as dependencies of modules.

        Dependencies of tests, those of files that only re-export names, and imports that only pass names on are ignored.
        """
        files = self.files
        left_out = files.facade[files.src] | files.facade[files.dst] | files.is_test[files.src] | passing(files)
        found: npt.NDArray[np.bool_] = ~left_out
        return found

    @property
    def arcs(self) -> list[tuple[str, str]]:
        """Pairs of files, of which the first depends on the second.

        Tests, and files that only re-export names, are left out.
        """
        files = self.files
        ends = zip(files.src[self.counted].tolist(), files.dst[self.counted].tolist(), strict=True)
        return [(files.paths[a], files.paths[b]) for a, b in ends]


def _divided(units: Mapping[str, str], module_of: Mapping[str, str]) -> bool:
    """Whether the files of any unit, such as a Go package, are in two modules.

    `units` maps a file to its unit, and `module_of` maps a file to its module.
    """
    return len({(units[path], module_of[path]) for path in units}) > len(set(units.values()))
