"""Rank memories about the code of an answer, without a database query.

For example, if an answer lists the callers of a symbol, the best memories about these callers are added. Each symbol or file of the answer
has a nearness: how closely it is related to the subject of the question. `nearby` ranks the memories by nearness × trust × current
confidence. Current confidence decays with time, and is lower when the code has changed.

A trap is a memory that warns of a mistake. Its score is multiplied by `TRAP`, and traps are listed first. An unconfirmed trap about a whole
file, for example from an old commit, is ranked like any other memory.

An unconfirmed memory is left out if its file is related to the subject only by common changes. Such a relation says little, because
changelogs and test files change with much code. An unconfirmed lesson of a commit is listed in two cases only: the question is about its
file, or a definition that it explains is the subject, encloses it, is a member of it, or is on the path of calls that the question asks
for. Most other code of the file has nothing to do with the lesson.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers.memory import NearbyMemories, NearbyMemory, code_since
from graphmem.knowledge import is_held
from graphmem.memory.reading.describe import Describer
from graphmem.memory.reading.lifecycle import confidence_in_use
from graphmem.memory.texts.types import COMMIT, SOURCES, TRAPS
from graphmem.projection.graph.arrays import FILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from graphmem.answers import MemoryInfo
    from graphmem.knowledge import MemoryRow
    from graphmem.memory.reading.describe import BranchesOf
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.memories.index import MemoryIndex

SHOWN: Final = 5
TRAP: Final = 3.0  # factor of a trap when the best memories are chosen
JUDGED: Final = 400  # memories that are scored, nearest first; the others are only counted

TARGET, AROUND, WAY, HIT, TEST, TOGETHER = "target", "around", "way", "hit", "test", "together"


class Place(NamedTuple):
    """A symbol or file of an answer, with its relation to the question.

    The subject is the code that the question is about. The relation has three parts: nearness (1 for the subject itself, down to 0), a role
    such as "around", and the distance from the subject in steps.
    """

    nearness: float  # 1 for a target, down to 0
    role: str
    steps: int  # from a target


class Places:
    """The symbols and files of one answer, with their nearness.

    Args:
        anchored: ids of all symbols and files that some memory is about. `put` ignores any others.
    """

    def __init__(self, anchored: Container[str]) -> None:
        self._anchored = anchored
        self.found: dict[str, Place] = {}

    def put(self, node_id: str, nearness: float, role: str, steps: int = 0) -> None:
        """Add a symbol or file to the places whose memories are searched.

        A place without any memory is not added. `nearness` is 1 for the subject of the question, down to 0; `steps` is the distance from
        the subject. `role` is the relation to the subject, such as "around". If `node_id` was added before, the entry with the greater
        nearness is kept.
        """
        if node_id in self._anchored:
            known = self.found.get(node_id)
            if known is None or known.nearness < nearness:
                self.found[node_id] = Place(nearness, role, steps)


class _Candidate(NamedTuple):
    weight: float  # score, and more for a warning
    score: float
    id: str
    warns: bool


def nearby(
    index: MemoryIndex,
    view: GraphView,
    now: datetime,
    places: Places,
    limit: int,
    branches: BranchesOf,
    keeps: Callable[[MemoryRow, Place], bool] | None = None,
) -> NearbyMemories:
    """Return the best memories about the symbols and files of an answer.

    If a memory is about several symbols or files of the answer, only the nearest of them counts.

    Args:
        index: index of all memories; it hides those that the caller may not see.
        view: the code graph.
        now: the time for which confidence is computed.
        places: the symbols and files of the answer.
        limit: maximum number of memories.
        branches: returns the branches, except the indexed one, that have the code of a memory.
        keeps: whether a memory at a place may be listed; None keeps all.
    """
    nearest: dict[str, tuple[str, Place]] = {}
    for node_id, place in sorted(places.found.items(), key=lambda one: (-one[1].nearness, one[0])):
        for memory_id in index.live_about(node_id):
            nearest.setdefault(memory_id, (node_id, place))
    judged = list(nearest)[:JUDGED]
    rows = index.rows(judged)
    held = 0
    found: list[_Candidate] = []
    for one in judged:
        row = rows.get(one)
        if row is None:  # forgotten in the meantime
            continue
        if is_held(row):
            held += 1
            continue
        node_id, place = nearest[one]
        node = view.index_of.get(node_id)
        is_of_file = node is None or view.label[node] == FILE
        if _says_little(row, place, is_of_file=is_of_file) or (keeps is not None and not keeps(row, place)):
            continue
        score = place.nearness * SOURCES[row.source].trust * confidence_in_use(row, now, index.about(one))
        warns = row.type in TRAPS and (row.status != "candidate" or not is_of_file)
        found.append(_Candidate(score * (TRAP if warns else 1.0), score, one, warns))
    found.sort(key=lambda one: (-one.weight, one.id))
    describer = Describer(index, view, now, dict, branches)
    chosen = [_described(candidate, describer.info(rows[candidate.id]), *nearest[candidate.id]) for candidate in found[:limit]]
    first = {one.id for one in found[:limit] if one.warns}
    chosen.sort(key=lambda one: (one.id not in first, -one.score, one.id))
    return NearbyMemories(chosen, len(found) - len(chosen) + len(nearest) - len(judged), held)


def _says_little(row: MemoryRow, place: Place, *, is_of_file: bool) -> bool:
    """Whether an unconfirmed memory is unlikely to concern the subject.

    The subject is the code that the question is about. `place` is the code that the memory is about, with its relation to the subject.
    `is_of_file` tells whether this code is a whole file. For a confirmed memory, the result is False.
    """
    if row.status != "candidate":
        return False
    if row.source == COMMIT:
        return place.role not in ((TARGET,) if is_of_file else (TARGET, AROUND, WAY))
    return place.role == TOGETHER


def _described(candidate: _Candidate, info: MemoryInfo, node_id: str, place: Place) -> NearbyMemory:
    """Describe a memory about the symbol or file `node_id` of an answer.

    `info` has the facts about the memory. `place` is the relation of the symbol or file to the subject of the question.
    """
    doubts = ("disputed" if info.disputed else "", "text from outside" if info.contaminated else "", code_since(info))
    return NearbyMemory(
        id=info.id,
        short_id=info.short_id,
        type=info.type,
        title=info.title,
        content=info.content,
        trap=info.type in TRAPS,
        about=next((anchor.name for anchor in info.about if anchor.id == node_id), ""),
        place=place.role,
        steps=place.steps,
        confidence_in_use=info.confidence_in_use,
        trust=info.trust,
        score=round(candidate.score, 4),
        created_at=info.created_at,
        contaminated=info.contaminated,
        doubt="; ".join(filter(None, doubts)),
    )
