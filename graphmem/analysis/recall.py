"""Measured recall of calls by language: the share of calls found.

Answers that depend on calls report the recall.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphmem.answers import Cause
from graphmem.model import EdgeSource
from graphmem.projection.arrays import EDGE_SOURCES

if TYPE_CHECKING:
    from graphmem.analysis.walk import IntArray
    from graphmem.projection.graph import GraphView

ENOUGH: Final = 0.9  # recall of calls; at or above it an answer has no warning
_ONE_WITH: Final = {"tsx": "typescript", "javascript": "typescript"}  # languages with shared resolution, of which one was measured
_NAMES: Final = {"c": "C", "cpp": "C++", "csharp": "C#", "php": "PHP", "typescript": "TypeScript"}
_WORDS: Final = (
    (0.40, "less than half"),
    (0.55, "about half"),
    (0.63, "about three fifths"),
    (0.71, "about two thirds"),
    (0.78, "about three quarters"),
    (0.84, "about four fifths"),
    (ENOUGH, "about seven eighths"),
)
"""Words for shares below a bound."""

_TOLD: WeakKeyDictionary[GraphView, set[str]] = WeakKeyDictionary()


class Measured(NamedTuple):
    """Recall and precision of calls in one language, from text alone."""

    language: str  # its name for people
    tree: str  # the measured projects, separated by commas
    recall: float  # share of true calls that are known
    precision: float  # share of known calls that are true

    @property
    def sentence(self) -> str:
        """Warning that calls are missing; "" if the recall is high enough."""
        words = next((words for bound, words in _WORDS if self.recall < bound), "")
        trees = self.tree.split(", ")
        where = self.tree if len(trees) < 3 else f"{len(trees)} projects"
        return f"{self.language}: {words} of the calls are known ({self.recall:.0%} of those in {where})" if words else ""


@cache
def measured() -> dict[str, Measured]:
    """Measured recall and precision of calls, by language.

    `benchmarks/languages.py` measures these values and writes the table.
    """
    rows = tomllib.loads((files("graphmem.analysis") / "recall.toml").read_text("utf-8"))
    return {
        language: Measured(_NAMES.get(language, language.title()), row["tree"], row["recall"], row["precision"])
        for language, row in rows.items()
    }


def known_calls(languages: Iterable[str]) -> list[Measured]:
    """Measured recall and precision of given languages, lowest recall first."""
    wanted = {_ONE_WITH.get(language, language) for language in languages}
    return sorted((row for language, row in measured().items() if language in wanted), key=lambda row: row.recall)


def sentences(languages: Iterable[str]) -> list[str]:
    """One sentence for each of the given languages with low recall of calls."""
    return [row.sentence for row in known_calls(languages) if row.sentence]


def causes(view: GraphView, nodes: IntArray) -> list[Cause]:
    """Reasons why an answer may lack calls, for languages with low recall.

    Languages with edges from an indexer are excluded.
    """
    return [Cause("language", sentence, 0) for sentence in sentences(_languages(view, nodes) - _told(view))]


def _told(view: GraphView) -> set[str]:
    """Languages of files with edges from a SCIP indexer; cached for a graph."""
    known = _TOLD.get(view)
    if known is None:
        known = _TOLD[view] = _languages(view, view.src[view.edge_source == EDGE_SOURCES.index(EdgeSource.SCIP)])
    return known


def _languages(view: GraphView, nodes: IntArray) -> set[str]:
    numbers = np.unique(view.path_index[nodes])
    return set(view.arrays.paths.language.take(numbers[numbers >= 0]).to_pylist())
