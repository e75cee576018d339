"""Find where a module can be separated from others or split in two.

Source:
    J. Shi, J. Malik, Normalized cuts and image segmentation, IEEE Trans. PAMI 22 (2000) 888-905: the second eigenvector of the normalised
    Laplacian orders the files, and the files are divided at the cheapest position of that order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.analysis.semantic.passing import passing
from graphmem.answers.modules import CrossingSymbol, FileLink
from graphmem.model import EdgeKind
from graphmem.projection.graph.arrays import EDGE_KINDS, SYMBOL

if TYPE_CHECKING:
    from graphmem.analysis.semantic.files import I64, FileGraph
    from graphmem.analysis.semantic.heat import F64
    from graphmem.analysis.semantic.modules import Modules

_IMPORTS: Final = EDGE_KINDS.index(EdgeKind.IMPORTS)

LEAK: Final = 1 / 4  # largest share of the smaller part's uses that cross a good division
BALANCE: Final = 1 / 5  # least share of the files in the smaller part
MOST_FILES: Final = 1_500  # of a module that is divided; the eigenvectors of more take seconds
LEAST: Final = 4  # files of a module that is divided


def files_between(modules: Modules, src: int, dst: int) -> list[FileLink]:
    """Return the pairs of files of a dependency, most edges first.

    Args:
        modules: the modules.
        src: position in `modules.groups` of the module that uses the other.
        dst: position in `modules.groups` of the module that `src` uses.
    """
    files = modules.files
    of_pair: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    rows = modules.between.get((src, dst), np.zeros(0, np.int64))
    ends = zip(files.file_of(files.view.src[rows]).tolist(), files.file_of(files.view.dst[rows]).tolist(), rows.tolist(), strict=True)
    for a, b, row in ends:
        of_pair[a, b].append(row)
    found = [
        FileLink(files.paths[a], files.paths[b], len(some), files.kinds_of(np.asarray(some, np.int64))) for (a, b), some in of_pair.items()
    ]
    return sorted(found, key=lambda one: (-one.weight, one.src, one.dst))


def surface(modules: Modules, place: int) -> dict[int, dict[str, int]]:
    """Return a module's symbols that other modules use, and the uses.

    The result maps the node of each such symbol to its uses. The uses map the name of another module to the number of edges from that
    module.

    Args:
        modules: the modules of the project.
        place: position of the module in `modules.groups`.
    """
    view, files = modules.view, modules.files
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for (a, b), rows in modules.between.items():
        if b != place:
            continue
        name = modules.groups[a].name
        for node in view.dst[rows].tolist():
            if view.label[node] == SYMBOL and files.file_of(np.array([node], np.int32))[0] >= 0:
                found[node][name] += 1
    return {node: dict(by) for node, by in found.items()}


class Split(NamedTuple):
    """A division of a module's files into two parts.

    Attributes:
        larger: paths of the larger part.
        smaller: paths of the smaller part.
        crossing: edges between the parts, one for each pair of a using and a used symbol.
        inside: number of such pairs inside the smaller part.
    """

    larger: list[str]
    smaller: list[str]
    crossing: npt.NDArray[np.int64]
    inside: int

    @property
    def is_good(self) -> bool:
        """Whether few uses lead from one part to the other.

        At most a quarter of the uses of the smaller part may do so.
        """
        return bool(self.smaller) and len(self.crossing) <= LEAK * (len(self.crossing) + self.inside)


NO_SPLIT: Final = Split([], [], np.zeros(0, np.int64), 0)


def split(modules: Modules, place: int) -> Split:
    """Divide the files of a module in two so that few uses cross.

    Each part has at least a fifth of the files, so that a division is more than a few files that hardly anything needs. Tests, and files
    without uses inside the module, are left out.

    Args:
        modules: the modules of the project.
        place: position of the module in `modules.groups`.

    Returns:
        The division; `NO_SPLIT` if the module has too few or too many files.
    """
    files = modules.files
    held = np.flatnonzero((modules.of_file == place) & ~files.is_test)
    if not LEAST <= len(held) <= MOST_FILES:
        return NO_SPLIT
    at = np.full(len(files), -1, np.int64)
    at[held] = np.arange(len(held))
    rows = _uses(files, at)
    src, dst = at[files.file_of(files.view.src[rows])], at[files.file_of(files.view.dst[rows])]
    weight = np.zeros((len(held), len(held)))
    np.add.at(weight, (src, dst), 1.0)
    weight = weight + weight.T
    joined = np.flatnonzero(weight.sum(axis=1) > 0)
    if len(joined) < LEAST:
        return NO_SPLIT
    one = np.zeros(len(held), np.bool_)
    one[joined[_cheapest(weight[np.ix_(joined, joined)])]] = True
    other = np.zeros(len(held), np.bool_)
    other[joined] = ~one[joined]
    if (one.sum(), files.paths[held[np.argmax(other)]]) > (other.sum(), files.paths[held[np.argmax(one)]]):
        one, other = other, one
    paths = [[files.paths[held[i]] for i in np.flatnonzero(part).tolist()] for part in (other, one)]
    return Split(sorted(paths[0]), sorted(paths[1]), rows[one[src] != one[dst]], int((one[src] & one[dst]).sum()))


def _uses(files: FileGraph, at: I64) -> I64:
    """Return edges between some files, one for each pair of symbols.

    `at` has an integer for each file of the graph; the files whose integer is not negative are used. The result has edge rows: positions in
    the arrays of the graph. An import is included only if nothing but imports connects its two files.
    """
    view = files.view
    found: dict[tuple[int, int], int] = {}
    inside = (at[files.src] >= 0) & (at[files.dst] >= 0) & ~passing(files) & ~files.facade[files.src] & ~files.facade[files.dst]
    for link in np.flatnonzero(inside).tolist():
        rows = files.rows[files.ptr[link] : files.ptr[link + 1]]
        stated = rows[view.edge_kind[rows] != _IMPORTS]
        for row in (stated if len(stated) else rows[:1]).tolist():
            found.setdefault((int(view.src[row]), int(view.dst[row])), row)
    return np.array(list(found.values()), np.int64)


def _cheapest(weight: F64) -> npt.NDArray[np.bool_]:
    """Divide nodes into two parts so that the edges between them are light.

    `weight` is the symmetric matrix of edge weights; each row has a positive sum. Returns one of the parts as booleans, shape (n,). The
    cost of a division is the weight between the parts, relative to the weight of each part.
    """
    degree = weight.sum(axis=1)
    scale = 1 / np.sqrt(degree)
    _, vectors = np.linalg.eigh(np.eye(len(weight)) - scale[:, None] * weight * scale[None, :])
    order = np.lexsort((np.arange(len(weight)), np.round(vectors[:, 1] * scale, 9)))
    least = max(1, math.ceil(BALANCE * len(weight)))
    one = np.zeros(len(weight), np.bool_)
    best, chosen = np.inf, one.copy()
    for count, node in enumerate(order.tolist(), 1):
        one[node] = True
        if least <= count <= len(weight) - least:
            cost = float(weight[np.ix_(one, ~one)].sum()) * (1 / degree[one].sum() + 1 / degree[~one].sum())
            if cost < best - 1e-12:
                best, chosen = cost, one.copy()
    return chosen


def crossing_symbols(modules: Modules, found: Split) -> list[CrossingSymbol]:
    """Return the symbols of each part that the other part of a module uses.

    `found` is the division of the module into two parts. The symbols with most uses come first.
    """
    view = modules.view
    larger = set(found.larger)
    users: dict[int, list[str]] = defaultdict(list)
    for row in found.crossing.tolist():
        users[int(view.dst[row])].append(view.path(int(view.src[row])))
    order = sorted(users, key=lambda node: (-len(users[node]), node))
    infos = view.infos(order)
    return [
        CrossingSymbol(info, len(users[node]), sorted(set(users[node])), info.path in larger)
        for node, info in zip(order, infos, strict=True)
    ]
