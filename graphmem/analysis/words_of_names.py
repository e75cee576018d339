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

from graphmem.projection.graph.arrays import SYMBOL
from graphmem.runtime.arrow import computed, containing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.analysis.walk import BoolArray, FloatArray, IntArray
    from graphmem.projection.graph.view import GraphView

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
    named = _Names(view, tests)
    found = np.zeros((len(tests), 3), np.float32)
    for words in names:
        found[named.having(words), 0] = 1
    for words in classes:
        found[named.having(words, with_file=True), 1] = 1
    for word in stems:
        found[named.in_files_with(word), 2] = 1
    return found


class _Names:
    """Names of tests and of their files, searched for words."""

    def __init__(self, view: GraphView, tests: IntArray) -> None:
        self._names = computed("take", view.arrays.nodes.qualname, pa.array(tests, pa.int64()))
        self._lower = computed("ascii_lower", self._names)
        self._foreign = ~np.asarray(computed("string_is_ascii", self._names).to_numpy(zero_copy_only=False), np.bool_)
        self._containing: dict[str, BoolArray] = {}
        files, self._file_of = np.unique(view.path_index[tests], return_inverse=True)
        self._files = [_words(_stem(view.paths[file])) if file >= 0 else frozenset[str]() for file in files.tolist()]
        self._having: dict[str, list[int]] = {}  # word -> positions in `_files`
        for position, words in enumerate(self._files):
            for word in words:
                self._having.setdefault(word, []).append(position)

    def having(self, words: frozenset[str], *, with_file: bool = False) -> IntArray:
        """Return the positions of the tests whose name has all words.

        Dividing a name into words is slow. So Arrow first selects the names that contain each word as a substring.

        Args:
            words: the words.
            with_file: whether words of the file's name are included.
        """
        possible = np.ones(len(self._names), np.bool_)
        for word in words:
            possible &= self._contain(word) | self.in_files_with(word) if with_file else self._contain(word)
        rows = np.flatnonzero(possible)
        names = computed("take", self._names, pa.array(rows)).to_pylist()
        others = [words - self._files[file] for file in self._file_of[rows].tolist()] if with_file else [words] * len(rows)
        has_all = [not rest or rest <= _words(name) for rest, name in zip(others, names, strict=True)]
        return rows[np.array(has_all, np.bool_)]

    def in_files_with(self, word: str) -> BoolArray:
        """Whether the name of each test's file has a word."""
        has = np.zeros(len(self._files), np.bool_)
        has[self._having.get(word, [])] = True
        return has[self._file_of]

    def _contain(self, word: str) -> BoolArray:
        """Return, for each name, whether it may contain a word.

        Arrow searches the names. The value is always True for names that Arrow cannot search, and the caller must check these in Python.
        """
        if word not in self._containing:
            found = containing(self._lower, word)
            self._containing[word] = np.asarray(found.to_numpy(zero_copy_only=False), np.bool_) | self._foreign
        return self._containing[word]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


@lru_cache(maxsize=32768)
def _words(name: str) -> frozenset[str]:
    """Return the words of a name in lower case, without words such as "test"."""
    return frozenset(word for word in _BREAK.split(_CAPITAL.sub("_", name).lower()) if word) - _TEST
