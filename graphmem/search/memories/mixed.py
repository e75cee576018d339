"""Rank code before lessons (memories from commits) in search answers.

A lesson is a memory made of a commit's message. Lessons share words with many questions. Without these rules, they would fill the first
five places of an answer to a question about code. A lesson is a draft until a person confirms it. A search for only memories is not
affected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from graphmem.answers import Factor, SearchHit
from graphmem.knowledge import LESSON_OF_COMMIT, MemoryRow
from graphmem.memory.texts.types import SEEDED
from graphmem.search.memories.finding import ScoredMemory

NEAREST: Final = 5  # code hits whose files a lesson may be about
_BELOW: Final = 0.99  # score of a lesson that ranks below code, relative to the last code hit
_HISTORY: Final = LESSON_OF_COMMIT
_DRAFT: Final = "candidate"
# Questions about knowledge rather than code.
_KNOWN: Final = re.compile(
    r"\b(decid\w*|decisions?|conventions?|agree[ds]?|agreements?|remember\w*|lessons?|gotchas?|pitfalls?|learn(?:ed|t)|prefer\w*|polic(?:y|ies)|"
    r"rationale|why (?:did|do|don't|are|were) we|should (?:i|we)|have we|do we (?:want|use|allow))\b",
    re.IGNORECASE,
)


def is_history(row: MemoryRow) -> bool:
    """Whether a memory is made of a commit's message and still unconfirmed."""
    return row.source == _HISTORY and row.status == _DRAFT


def is_derived(row: MemoryRow) -> bool:
    """Whether a memory comes from the project's files or commits.

    Such a memory is a sentence taken from a file of the project, or an unconfirmed lesson (made of a commit's message).
    """
    return row.source == SEEDED or is_history(row)


def _ranks_last(row: MemoryRow, near: set[str], paths_of: Callable[[str], Collection[str]]) -> bool:
    """Whether a memory must rank below all code hits.

    A seed (a sentence taken from a file of the project) always ranks below. An unconfirmed lesson (made of a commit's message) ranks below,
    unless one of the commit's files is in `near`. `near` has the files of the best code hits, and `paths_of` returns the files of a memory
    by its id.
    """
    return row.source == SEEDED or (is_history(row) and near.isdisjoint(paths_of(row.id)))


def without_strangers(
    scored: Sequence[ScoredMemory], code: Sequence[SearchHit], paths_of: Callable[[str], Collection[str]], *, vectors: bool, coming: bool
) -> tuple[list[ScoredMemory], bool]:
    """Lower the scores of memories that are unrelated to the best code hits.

    Such memories then rank below all code hits.

    A seed is a memory taken from a file of the project. A seed always ranks below code. A lesson is a memory made of a commit's message. An
    unconfirmed lesson ranks below code unless the commit changed a file of one of the best hits.

    Args:
        scored: the memories.
        code: the code hits, best first.
        paths_of: returns the files that a memory is about.
        vectors: whether the code has vectors. Without them, only words connect a lesson with a question, so no lesson ranks above code.
        coming: whether vectors are still being computed. If so, lessons that would rank below code are left out.

    Returns:
        The memories, and whether lessons were left out.
    """
    near = {hit.path for hit in code[:NEAREST]} if vectors else set()
    if not code:
        return list(scored), False
    least = min(hit.score for hit in code) * _BELOW
    kept: list[ScoredMemory] = []
    for one in scored:
        if not _ranks_last(one.row, near, paths_of):
            kept.append(one)
        elif not coming or one.row.source == SEEDED:
            lowered = min(one.score, least)
            factor = Factor("history" if is_history(one.row) else "seed", lowered / one.score if one.score else 0.0, 0.0)
            kept.append(one._replace(score=lowered, factors=[*one.factors, factor]))
    return kept, len(kept) < len(scored)


def with_room(hits: Sequence[SearchHit], query: str, k: int) -> list[SearchHit]:
    """Return the best k hits, with places reserved for code and for memories.

    Half of the places are reserved for code. If the query asks for decisions or lessons (memories made of commit messages), instead a
    quarter is reserved for code and a quarter for memories. Other places, and reserved places that are not needed, go to the best hits of
    any kind. Hits keep their order.

    Args:
        hits: all hits, best first.
        query: the search text.
        k: number of places.
    """
    asks_knowledge = _KNOWN.search(query) is not None
    chosen = list(hits[:k])
    for wanted, places in (("code", k // 4 if asks_knowledge else (k + 1) // 2), ("memory", k // 4 if asks_knowledge else 0)):
        have = sum(_kind(hit) == wanted for hit in chosen)
        spare = [hit for hit in hits[k:] if _kind(hit) == wanted][: max(0, places - have)]
        others = [hit for hit in chosen if _kind(hit) != wanted]
        leaving = {id(hit) for hit in others[len(others) - len(spare) :]} if spare else set()
        chosen = [hit for hit in chosen if id(hit) not in leaving] + spare
    return chosen


def _kind(hit: SearchHit) -> str:
    return "memory" if hit.kind == "memory" else "code"
