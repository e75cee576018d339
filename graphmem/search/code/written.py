"""Recognise text that only mentions code: release notes and help texts.

Words of a question often occur in release notes, in scripts that complete a command line, and in functions that only return a help text.
None of these texts does what the question asks about. Documents and scripts are recognised by their paths, and such functions by their
words and calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

import numpy as np

from graphmem.projection.graph.view import GraphView
from graphmem.projection.words.index import WordIndex
from graphmem.projection.words.stem_numbers import having
from graphmem.projection.words.text import STOP_WORDS
from graphmem.search.units.facts import is_function
from graphmem.search.units.stems import stems_of
from graphmem.search.units.units import StemsOfUnits

_PROSE: Final = 0.3  # share of English function words in sentences; half of all code has less than 0.12
_LEAST: Final = 25  # minimum words of such a function
_LOG: Final = re.compile(
    r"(^|/)(change(s|[-_]?log)?|history|news|release[-_ ]?notes?|what'?s[-_]?new|upgrad(e|ing))([-_]?v?\d[\w.-]*)?(\.[a-z]+)?$"
    r"|(^|/)(releases?|change[-_]?logs?|history|release[-_]notes|what'?s[-_]?new|news)/",
    re.IGNORECASE,
)
_COMPLETION: Final = re.compile(
    r"\.(zsh|fish|nu|elv)$|(^|/)(bash|zsh|shell)?[-_]?complet(e|ions?)/[^/]*\.(sh|bash|ps1)$|(^|/)_[\w-]+$", re.IGNORECASE
)


def is_log(path: str) -> bool:
    """Whether a document is a log of changes, such as release notes."""
    return _LOG.search(path) is not None


def is_completion(path: str) -> bool:
    """Whether a file is a script that completes words of a command line."""
    return _COMPLETION.search(path) is not None


def texts_among(view: GraphView, units: StemsOfUnits, nodes: dict[str, int], words: WordIndex) -> Collection[str]:
    """Return the functions that only hold a long string, such as a help text.

    Such a function has no documentation and calls nothing. Like a sentence, it has many words such as "the".

    Args:
        view: the graph of the units.
        units: the candidates with their words.
        nodes: the node of each unit that is a symbol.
        words: the word index that numbered the words.
    """
    name = f"numbers of function words in {words.path}"
    stops: list[int] | None = view.kept.get(name)
    if stops is None:
        stops = view.kept[name] = list(words.numbers_of(frozenset(stems_of(STOP_WORDS).values())).values())
    length = np.bincount(units.owner, minlength=len(units.units))
    told = np.bincount(units.owner[having(units.stems, stops)], minlength=len(units.units))
    found = set()
    for at in np.flatnonzero((length >= _LEAST) & (told >= _PROSE * length)).tolist():
        node = nodes.get(units.units[at])
        if node is not None and is_function(view, node) and not view.doc(node) and not len(view.out_edges(node, {"CALLS"})):
            found.add(units.units[at])
    return found
