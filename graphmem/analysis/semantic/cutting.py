"""Find where a module can be separated from others or split in two.

Source:
    J. Shi, J. Malik, Normalized cuts and image segmentation, IEEE Trans. PAMI 22 (2000) 888-905: the second eigenvector of the normalised
    Laplacian orders the files, and the files are divided at the cheapest position of that order.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.answers.modules import FileLink
from graphmem.projection.arrays import SYMBOL

if TYPE_CHECKING:
    from graphmem.analysis.semantic.modules import Modules

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


def halves(modules: Modules, place: int) -> tuple[list[str], list[str], int]:
    """Divide the files of a module in two so that few edges cross.

    `place` is the position of the module in `modules.groups`. Tests, and files without edges inside the module, are left out.

    Returns:
        The paths of the two parts, the larger first, and the number of edges between them. The parts are empty if the module has too few or
        too many files.
    """
    files = modules.files
    held = np.flatnonzero((modules.of_file == place) & ~files.is_test)
    none: tuple[list[str], list[str], int] = ([], [], 0)
    if not LEAST <= len(held) <= MOST_FILES:
        return none
    at = np.full(len(files), -1, np.int64)
    at[held] = np.arange(len(held))
    inside = (at[files.src] >= 0) & (at[files.dst] >= 0)
    weight = np.zeros((len(held), len(held)))
    np.add.at(weight, (at[files.src[inside]], at[files.dst[inside]]), files.weight[inside])
    weight = weight + weight.T
    joined = np.flatnonzero(weight.sum(axis=1) > 0)
    if len(joined) < LEAST:
        return none
    some = weight[np.ix_(joined, joined)]
    degree = some.sum(axis=1)
    scale = 1 / np.sqrt(degree)
    _, vectors = np.linalg.eigh(np.eye(len(some)) - scale[:, None] * some * scale[None, :])
    order = np.lexsort((np.arange(len(some)), np.round(vectors[:, 1] * scale, 9)))
    one = np.zeros(len(some), np.bool_)
    best, cut = np.inf, 0.0
    chosen = one.copy()
    for node in order[:-1].tolist():
        one[node] = True
        crossing = float(some[np.ix_(one, ~one)].sum())
        cost = crossing * (1 / degree[one].sum() + 1 / degree[~one].sum())
        if cost < best - 1e-12:
            best, cut, chosen = cost, crossing, one.copy()
    parts = [sorted(files.paths[held[i]] for i in joined[side].tolist()) for side in (chosen, ~chosen)]
    larger, smaller = sorted(parts, key=lambda part: (-len(part), part))
    return larger, smaller, int(cut)
