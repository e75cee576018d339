"""Compare names of tests with names of the code that the tests may run.

The comparison sorts the tests of an impact answer: among tests to which a path leads, those named after the target run the target more
often.
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
    found: list[tuple[bool, bool, bool]] = []
    of_file: dict[int, tuple[list[frozenset[str]], bool]] = {}
    for words, file in zip(_words_of(view, tests.tolist()), view.path_index[tests].tolist(), strict=True):
        if file not in of_file:
            own = _words(_stem(view.paths[file])) if file >= 0 else frozenset()
            of_file[file] = [name - own for name in classes], not stems.isdisjoint(own)
        others, is_akin = of_file[file]
        has_all = words.issuperset  # generators would take longer than the comparisons
        found.append((any(map(has_all, names)), any(map(has_all, others)), is_akin))
    return np.array(found, dtype=np.float32).reshape(len(tests), 3)


def _words_of(view: GraphView, nodes: list[int]) -> list[frozenset[str]]:
    """Return the words of each node's qualified name; cached for each graph."""
    known: dict[int, frozenset[str]] = view.kept.setdefault("words of names", {})
    missing = [node for node in nodes if node not in known]
    if missing:
        qualnames = computed("take", view.arrays.nodes.qualname, pa.array(missing, pa.int64())).to_pylist()
        known.update(zip(missing, map(_words, qualnames), strict=True))
    return [known[node] for node in nodes]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


@lru_cache(maxsize=32768)
def _words(name: str) -> frozenset[str]:
    """Return the words of a name in lower case, without words such as "test"."""
    return frozenset(word for word in _BREAK.split(_CAPITAL.sub("_", name).lower()) if word) - _TEST
