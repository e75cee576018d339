"""Find hot spots: complex code that changes often and is used much.

Source:
    A. Tornhill, Your Code as a Crime Scene (2015), for churn times complexity; dependents are the third factor here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from graphmem.analysis.semantic.files import DEPENDENCY_KINDS
from graphmem.projection.graph.arrays import SYMBOL, distinct
from graphmem.projection.graph.edges import kind_mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmem.analysis.semantic.files import I64, FileGraph

F64 = npt.NDArray[np.float64]

UNSURE: Final = frozenset({"override", "satisfies", "unique_name", "ambiguous_name"})  # rules whose targets are only possible


def churn_of(files: FileGraph, churn: Mapping[str, float] | None) -> F64 | None:
    """Return each file's churn (frequency of change), shape (f,).

    The result is None if the history is not known (`churn` is None).
    """
    return None if churn is None else np.array([churn.get(path, 0.0) for path in files.paths], np.float64)


def file_dependents(files: FileGraph) -> I64:
    """Return the number of other files that depend on each file, shape (f,)."""
    return np.bincount(files.dst, minlength=len(files)).astype(np.int64)


def symbol_dependents(files: FileGraph) -> I64:
    """Return the number of definitions that use each node directly.

    The shape is (n,). Definitions in tests are ignored. Edges with an uncertain target are ignored, such as edges from a call of a base
    method to its overrides.
    """
    view = files.view
    certain = np.array([rule not in UNSURE for rule in view.rules], np.bool_)
    kept = kind_mask(DEPENDENCY_KINDS)[view.edge_kind] & certain[view.edge_rule] & (view.src != view.dst) & ~view.is_test[view.src]
    keys = distinct(view.dst[kept].astype(np.int64) * view.n + view.src[kept])
    return np.bincount(keys // max(1, view.n), minlength=view.n).astype(np.int64)


def scores(churn: F64 | None, complexity: npt.NDArray[np.int64], dependents: npt.NDArray[np.int64]) -> F64:
    """Return the risk of changes, 0 to 100, called heat.

    The heat is a geometric mean of three factors: log(1 + churn), log(1 + complexity) and log(2 + dependents), each divided by its largest
    value. Churn is the frequency of change. Without churn (None), only the other two factors are used. If churn or complexity is 0, the
    heat is 0. Without dependents, the heat is low, but not 0.
    """
    factors = [_share(complexity.astype(np.float64)), _share(dependents.astype(np.float64) + 1)]
    if churn is not None:
        factors.append(_share(churn))
    mean: F64 = np.prod(np.stack(factors), axis=0) ** (1 / len(factors))
    return np.asarray(np.round(100 * mean, 4))


def _share(values: F64) -> F64:
    top = values.max(initial=0.0)
    return np.asarray(np.log1p(values) / np.log1p(top)) if top > 0 else np.zeros_like(values)


def file_heat(files: FileGraph, churn: F64 | None) -> F64:
    """Return the risk of a change of each file, 0 to 100, shape (f,).

    `churn` tells how often each file changes; None if unknown. The risk of files of tests is 0.
    """
    found = scores(churn, np.where(files.is_test, 0, files.complexity), file_dependents(files))
    return np.where(files.is_test, 0.0, found)


def symbol_heat(files: FileGraph, churn: F64 | None) -> tuple[F64, I64]:
    """Return each node's risk of a change, 0 to 100, and number of dependents.

    Both results have the shape (n,). Only definitions that have a body and are outside tests have a score above 0. The churn (frequency of
    change) of a file applies to all its definitions.
    """
    view = files.view
    dependents = symbol_dependents(files)
    wanted = (view.label == SYMBOL) & (view.complexity > 0) & ~view.is_test & (view.parent >= 0)
    file = files.file_of(np.arange(view.n, dtype=np.int32))
    of_file = np.where(file >= 0, churn[file], 0.0) if churn is not None else None
    found = scores(of_file, np.where(wanted, view.complexity, 0).astype(np.int64), np.where(wanted, dependents, 0))
    return np.where(wanted, found, 0.0), dependents
