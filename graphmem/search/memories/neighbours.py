"""Neighbours of memories: in time, in the graph, by file and by date.

A good hit passes a share of its score to its neighbours; `memories` explains the shares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from graphmem.projection.memories.index import MemoryIndex
from graphmem.search.query.dates import nearness, periods
from graphmem.search.request import Request

_ROOT: Final = 2  # root taken of the total share that a memory receives
_STEPS: Final = (1.0, 0.5)  # share of a neighbour in time, one and two positions away
_MOMENT_S: Final = 3600.0  # seconds after which a neighbour in time counts 1/e, unless both belong to one session
_MAX_SHARED: Final = 500  # maximum memories of one node: more are unrelated
_MOST_DATED: Final = 1000  # memories around one date
_FAINT_DATE: Final = 0.03  # nearness to a date below which it does not count
_SUSPECT: Final = 0.8  # factor for a link whose code has changed
_RELATED: Final[Mapping[str, float]] = {"required_with": 1.0, "validates": 0.5, "derived_from": 0.5, "supersedes": 0.5}


class Near(NamedTuple):
    """A score that a memory gets because a neighbouring memory is a good hit.

    Neighbours are, for example, the memories created just before or after a memory.
    """

    score: float
    by: str  # the neighbour with the largest share


def in_time(index: MemoryIndex, seeds: Mapping[str, float], answer: float) -> dict[str, Near]:
    """Return a score for memories that were learnt just before or after a hit.

    `seeds` maps the best hits to their scores. The memory right after a question counts `answer` times as much, because it may be the
    answer. If a hit and its neighbour in time are both linked to code, the neighbour gets no score. The reason is that the graph of the
    code relates such memories better than the time does.
    """
    total: dict[str, float] = {}
    best: dict[str, tuple[float, str]] = {}
    coded = {seed: bool(index.targets(seed)) for seed in seeds}
    for seed, mass in seeds.items():
        if not mass:
            continue
        asks = index.asking(seed) > 0
        for moment in index.moments(seed, len(_STEPS)):
            if moment.id not in coded:
                coded[moment.id] = bool(index.targets(moment.id))
            if coded[seed] and coded[moment.id]:
                continue
            near = 1.0 if moment.together else math.exp(-moment.gap_s / _MOMENT_S)
            if asks and moment.is_later and moment.steps == 1:
                near *= answer
            _pass_on(total, best, moment.id, _STEPS[moment.steps - 1] * near * mass, seed)
    return _nearness(total, best)


def in_graph(index: MemoryIndex, seeds: Mapping[str, float]) -> dict[str, Near]:
    """Return a score for each memory that is related to one of the best hits.

    `seeds` maps the best hits to their scores. A memory is scored if it is about the same code as a best hit, or if a link joins the two.
    """
    total: dict[str, float] = {}
    best: dict[str, tuple[float, str]] = {}
    arrived: dict[str, dict[str, float]] = {}  # node -> seed -> mass
    for seed, mass in seeds.items():
        links = index.targets(seed) if mass else {}
        for target, anchor in links.items():
            arrived.setdefault(target, {})[seed] = mass * (_SUSPECT if anchor == "suspect" else 1.0) / len(links)
        for link in index.relates(seed) if mass else ():
            other = link.dst if link.src == seed else link.src
            _pass_on(total, best, other, _RELATED.get(link.kind, 0.0) * link.confidence * mass, seed)
    for target in sorted(arrived):
        masses = arrived[target]
        memories = index.live_about(target)
        if not 1 < len(memories) <= _MAX_SHARED:
            continue
        # The two strongest are enough to name one that differs from the memory itself.
        strongest = sorted(masses, key=lambda seed: (-masses[seed], seed))[:2]
        whole = math.fsum(masses.values())
        for one in memories:
            by = strongest[0] if strongest[0] != one or len(strongest) == 1 else strongest[1]
            _pass_on(total, best, one, (whole - masses.get(one, 0.0)) / len(memories), by)
    return _nearness(total, best)


def near_files(index: MemoryIndex, active: Mapping[str, float]) -> dict[str, float]:
    """Return a score for each memory whose code is near the open files.

    `active` maps nodes to their nearness. The nearness of a node is divided among the memories about it. Each of these memories passes its
    share on to all code that it is about. The memories about this code then get the scores.
    """
    own: dict[str, float] = {}
    for node in sorted(active):
        memories = index.live_about(node)
        for one in memories if len(memories) <= _MAX_SHARED else ():
            own[one] = own.get(one, 0.0) + active[node] / len(memories)
    arrived: dict[str, float] = {}
    for one, mass in own.items():
        targets = index.targets(one)
        for target in targets:
            arrived[target] = arrived.get(target, 0.0) + mass / len(targets)
    total: dict[str, float] = {}
    for target in sorted(arrived):
        memories = index.live_about(target)
        for one in memories if len(memories) <= _MAX_SHARED else ():
            total[one] = total.get(one, 0.0) + arrived[target] / len(memories)
    return total


def dated(index: MemoryIndex, request: Request, now: datetime) -> dict[str, float]:
    """Return how near the creation of each memory is to a date in the query.

    `request` has the query. Words like "yesterday" count back from `now`. Nearness is in (0, 1]. Memories that are not near any date are
    left out.
    """
    years = index.years()
    spans = periods(request.query, now, years) if years is not None else []
    created = index.created_between((span.window for span in spans), _MOST_DATED)
    return {one: near for one, at in created.items() if (near := nearness(at, spans)) >= _FAINT_DATE}


def _pass_on(total: dict[str, float], best: dict[str, tuple[float, str]], one: str, mass: float, by: str) -> None:
    if mass > 0:
        total[one] = total.get(one, 0.0) + mass
        if one not in best or mass > best[one][0]:
            best[one] = (mass, by)


def _nearness(total: Mapping[str, float], best: Mapping[str, tuple[float, str]]) -> dict[str, Near]:
    return {one: Near(mass ** (1 / _ROOT), best[one][1]) for one, mass in total.items()}
