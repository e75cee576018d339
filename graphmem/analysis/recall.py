"""Share of calls that graphmem finds, measured for each language.

This share is the recall. Answers that depend on calls report it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphmem.answers.code import KnownCalls, share_in_words
from graphmem.model import FUNCTION_KINDS, EdgeSource
from graphmem.projection.graph.arrays import EDGE_SOURCES, NODE_KINDS
from graphmem.runtime.data.conventions import conventions_of

if TYPE_CHECKING:
    from graphmem.analysis.walk import IntArray
    from graphmem.projection.graph.view import GraphView

_IS_FUNCTION: Final = np.array([kind in FUNCTION_KINDS for kind in NODE_KINDS])  # by code of the kind
_INDEXED_LANGUAGES: WeakKeyDictionary[GraphView, set[str]] = WeakKeyDictionary()


class Measured(NamedTuple):
    """Measured recall and precision of the calls found in one language.

    The recall is the share of all calls that are found. The precision is the share of found calls that are right. Both are measured on the
    calls that graphmem finds in source text, without an indexer.
    """

    language: str  # its name for people
    tree: str  # the measured projects, separated by commas
    recall: float  # share of true calls that are known
    precision: float  # share of known calls that are true
    unseen: bool = False  # whether no rule was developed on these projects

    @property
    def sentence(self) -> str:
        """Warning that calls are missing; "" if the recall is high enough."""
        words = share_in_words(self.recall)
        trees = self.tree.split(", ")
        where = self.tree if len(trees) < 3 else f"{len(trees)} projects"
        return f"{self.language}: {words} of the calls are known ({self.recall:.0%} of those in {where})" if words else ""


@cache
def measured() -> dict[str, Measured]:
    """Return the measured recall and precision of calls, by language.

    `benchmarks/languages.py` measures these values and writes the table. Values are measured on projects that the rules were not developed
    on, if the language has such projects.
    """
    rows = tomllib.loads((files("graphmem.analysis") / "recall.toml").read_text("utf-8"))
    return {
        language: Measured(_title(language), row["tree"], row["recall"], row["precision"], row["unseen"]) for language, row in rows.items()
    }


def _title(language: str) -> str:
    return conventions_of(language).title or language.title()


def _measured_as(language: str) -> str:
    """Return the language that was measured in place of a given language.

    Of several languages with the same resolution rules, such as TypeScript and JavaScript, only one was measured.
    """
    return conventions_of(language).measured_as or language


def known_calls(languages: Iterable[str]) -> list[Measured]:
    """Return the measurements for given languages, lowest recall first.

    The recall is the share of calls that graphmem finds. Languages that were not measured are left out. Languages with shared resolution,
    such as TypeScript and JavaScript, have one measurement.
    """
    wanted = {_measured_as(language) for language in languages}
    return sorted((row for language, row in measured().items() if language in wanted), key=lambda row: row.recall)


def known_in(view: GraphView, nodes: IntArray) -> list[KnownCalls]:
    """Return the share of calls found, for each language of the nodes.

    The lowest share comes first. Languages with edges from an indexer are excluded, because their share is higher. Languages that were
    never measured come last, and are listed only if some of the nodes are functions of the language.
    """
    told = _indexed_languages(view)
    languages = _languages(view, nodes) - told
    rows = [KnownCalls(row.language, row.recall, row.tree, row.unseen) for row in known_calls(languages)]
    if {_measured_as(language) for language in languages} <= measured().keys():
        return rows
    functions = nodes[_IS_FUNCTION[view.kind[nodes]]]
    others = {_measured_as(language) for language in _languages(view, functions) - told} - measured().keys()
    return rows + [KnownCalls(_title(language), None, "", unseen=False) for language in sorted(others)]


def _indexed_languages(view: GraphView) -> set[str]:
    """Return the languages of files with edges from a SCIP indexer.

    The result is cached for each graph.
    """
    known = _INDEXED_LANGUAGES.get(view)
    if known is None:
        known = _INDEXED_LANGUAGES[view] = _languages(view, view.src[view.edge_source == EDGE_SOURCES.index(EdgeSource.SCIP)])
    return known


def _languages(view: GraphView, nodes: IntArray) -> set[str]:
    return {view.languages[number] for number in set(view.path_index[nodes].tolist()) if number >= 0}
