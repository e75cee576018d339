"""Compare the names of tests with the names of the code that they may run.

The comparison sorts the tests of an impact answer: among tests to which a path leads, those named after the target run it more often.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from graphmem.projection.arrays import SYMBOL
from graphmem.runtime.arrow import computed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.analysis.walk import FloatArray, IntArray
    from graphmem.projection.graph import GraphView

_TEST: Final = frozenset({"test", "tests", "spec", "specs"})
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BREAK: Final = re.compile(r"[\W_]+")


def name_features(view: GraphView, tests: IntArray, targets: Sequence[int]) -> FloatArray:
    """Whether tests are named after one of the targets, shape (tests, 3).

    Each column is 1 or 0. Column 0 is 1 if the test's qualified name has all words of a target's name. Column 1 is 1 if this name and the
    file name together have all words of a target's class. Column 2 is 1 if the test's file name shares a word with the file name of a
    target.

    Args:
        view: the graph.
        tests: node indices.
        targets: node indices of the changed code.
    """
    symbols = [node for node in targets if view.label[node] == SYMBOL]
    names = {_words(view.name(node)) for node in symbols} - {frozenset()}
    owners = {int(view.parent[node]) for node in symbols}
    classes = {_words(view.name(node)) for node in owners if node >= 0 and view.parent[node] >= 0} - {frozenset()}
    stems = {word for path in {view.path(node) for node in targets} for word in _words(_stem(path))}
    found = np.zeros((len(tests), 3), dtype=np.float32)
    qualnames = computed("take", view.arrays.nodes.qualname, pa.array(tests.tolist(), pa.int64())).to_pylist()
    of_file: dict[int, frozenset[str]] = {}
    for row, (qualname, file) in enumerate(zip(qualnames, view.path_index[tests].tolist(), strict=True)):
        words = _words(qualname)
        if file not in of_file:
            of_file[file] = _words(_stem(view.paths[file])) if file >= 0 else frozenset()
        both = words | of_file[file]
        found[row] = (
            any(name <= words for name in names),
            any(name <= both for name in classes),
            not stems.isdisjoint(of_file[file]),
        )
    return found


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


@lru_cache(maxsize=32768)
def _words(name: str) -> frozenset[str]:
    """Return the words of a name in lower case, without words such as "test"."""
    return frozenset(word for word in _BREAK.split(_CAPITAL.sub("_", name).lower()) if word) - _TEST
