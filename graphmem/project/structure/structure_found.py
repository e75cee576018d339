"""Search modules and flows by their names and descriptions.

A module is a group of files, and a flow is a path of calls from an entry point.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers import SearchHit
from graphmem.projection.words.text import STOP_WORDS, query_words
from graphmem.search.units.stems import stems_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from graphmem.answers.findings import Flow
    from graphmem.answers.modules import ModuleInfo

_LEAST: Final = 0.5  # minimum share of the query's words, by rarity
_UNNAMED: Final = 0.7  # factor if no word is in the name


class _Part(NamedTuple):
    hit: SearchHit
    name: frozenset[str]  # stems
    text: frozenset[str]  # stems of its name and its description


class Structure:
    """Modules and flows, prepared for a search of names and descriptions.

    A module is a group of files, and a flow is a path of calls.

    Args:
        modules: the modules; None if they are not derived yet.
        flows: the flows; None if they are not derived yet.
    """

    def __init__(self, modules: Sequence[ModuleInfo] | None, flows: Sequence[Flow] | None) -> None:
        self._of = (modules, flows)
        self._parts = [*map(_module, modules or ()), *map(_flow, flows or ())]
        self._having: dict[str, list[int]] = {}  # stem -> positions of the parts that have it
        for position, part in enumerate(self._parts):
            for stem in part.text:
                self._having.setdefault(stem, []).append(position)

    def is_of(self, modules: Sequence[ModuleInfo] | None, flows: Sequence[Flow] | None) -> bool:
        """Whether the object was made from exactly the given lists.

        The lists are compared by identity (`is`), because a list of modules or flows is never changed after it is made.
        """
        return self._of[0] is modules and self._of[1] is flows

    def found(self, query: str) -> list[SearchHit]:
        """Return modules and flows that have a query's words, best first.

        The score is the share of the query's words that occur in the name or description; rare words count more. Hits with a share below
        one half are left out. If no word occurs in the name, the score is multiplied by 0.7.
        """
        wanted = frozenset(stems_of([word for word in query_words(query) if word not in STOP_WORDS]).values())
        if not wanted:
            return []
        having = {stem: self._having.get(stem, []) for stem in wanted}
        weight = {stem: math.log(1 + (len(self._parts) + 0.5) / (len(having[stem]) + 0.5)) for stem in wanted}
        whole = math.fsum(weight.values())
        scored = []
        for part in map(self._parts.__getitem__, sorted(set().union(*having.values()))):
            share = math.fsum(weight[stem] for stem in sorted(wanted & part.text)) / whole
            if share >= _LEAST:
                scored.append((share * (1 if wanted & part.name else _UNNAMED), part.hit))
        return [_scored(hit, score) for score, hit in sorted(scored, key=lambda one: (-one[0], one[1].id, one[1].title))]


def _scored(hit: SearchHit, score: float) -> SearchHit:
    return dataclasses.replace(hit, score=score)


def _module(one: ModuleInfo) -> _Part:
    said = one.summary or (f"{one.files:,} files, {one.lines:,} lines" if one.files != 1 else f"1 file, {one.lines:,} lines")
    hit = SearchHit(one.name, "module", "", "", "module", 0, 0, one.name, said, 0.0, [], node=one.id, facet="modules", summary=said)
    return _Part(hit, _stems([one.name]), _stems([one.name, one.path, one.summary, *(symbol.qualname for symbol in one.central)]))


def _flow(one: Flow) -> _Part:
    entry = one.entry
    steps = " → ".join([entry.qualname, *(step.dst.qualname for step in one.steps)])
    hit = SearchHit(
        entry.ref,
        "flow",
        entry.path,
        entry.qualname,
        entry.kind,
        entry.start_line,
        entry.end_line,
        one.name,
        steps,
        0.0,
        [],
        node=entry.id,
        facet="flows",
        summary=f"{one.kind}: {steps}",
    )
    return _Part(hit, _stems([one.name]), _stems([one.name, steps]))


def _stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(stems_of({word for text in texts for word in query_words(text)}).values())
