"""What is ranked: a symbol together with the chunks cut at it, or a chunk that belongs to no symbol.

A chunk is cut to the size an embedding model reads, so it may hold a whole small class or several small functions. It is
ranked as one, and the best hits are then divided among the symbols in them by the words each of them has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from graphmem.projection.graph import GraphView
from graphmem.projection.projections import Snapshot
from graphmem.projection.text import STOP_WORDS, normalise, query_words
from graphmem.projection.words import Entry
from graphmem.search.fusion import Fused

# Measured, with the tables in docs/decisions/0006-fusion.md: dividing chunks adds 11 points of function recall@10 on
# questions about code without documentation, and 1 on descriptions of changes.
_STEM: Final = 6  # letters by which forms of a word are compared
_OWN_NAME: Final = 0.5  # what a word of the query counts more in a symbol's name than in its text
_ENOUGH: Final = 0.3  # share of a chunk's words that makes a symbol in it the hit
_SHARE_POWER: Final = 0.15  # how a smaller share lowers the score: share ** power


class Units(NamedTuple):
    """Candidates as units: a node's id or a chunk's id."""

    chunk_of: dict[str, str]  # unit -> its best chunk
    entries: dict[str, Entry]  # chunk -> what stands behind it, without text
    unit_of: dict[str, str]  # chunk -> unit


class Voted(NamedTuple):
    """A fused candidate with what its file added."""

    hit: Fused
    score: float
    boost: float
    boosted_by: str


def unit_of_chunk(view: GraphView, entry: Entry, named: dict[str, float], asked: set[str]) -> str:
    """The symbol a chunk stands for, or the chunk itself.

    Small neighbours share a chunk: it stands for the one the query names, else the one whose name has most of its words, else
    the first.
    """
    node = view.index_of.get(entry.symbol) if entry.symbol else None
    if node is None:
        return entry.id
    if view.start_line[node] <= entry.start_line and view.end_line[node] >= entry.end_line:
        return entry.symbol
    together = _inside(view, entry)
    outermost = [i for i in together if int(view.parent[i]) not in together]

    def fit(i: int) -> tuple[float, int]:
        return named.get(view.ids[i], 0.0), len(asked.intersection(normalise(view.qualname(i)).split()))

    # max keeps the first of equals, and the symbols of a file come by line.
    best = max(outermost, key=fit, default=node)
    return view.ids[best] if any(fit(best)) else entry.symbol


def refine(shot: Snapshot, voted: Sequence[Voted], units: Units, query: str, k: int) -> list[Voted]:
    """The best k, each chunk divided among the symbols in it.

    The smallest symbol that has every word of the query the chunk has takes the chunk's score; if there is none but the
    whole, the one that has most of them. Other symbols in the chunk follow with a score lowered by their share. A symbol
    that is reached twice counts once, with its better score.
    """
    if shot.words is None:
        return list(voted[:k])
    view = shot.graph
    head = voted[: 2 * k]
    # What the query names is what it wants, however large.
    chunk_of = {one.hit.id: units.chunk_of.get(one.hit.id, "") for one in head if all(part.name != "exact" for part in one.hit.parts)}
    inside = {unit: _inside(view, units.entries[chunk]) for unit, chunk in chunk_of.items() if chunk}
    texts = shot.words.entries(chunk_of[unit] for unit, symbols in inside.items() if len(symbols) > 1)
    asked = {word[:_STEM] for word in query_words(query) if word not in STOP_WORDS}
    shares = {unit: _shares(view, texts[chunk], inside[unit], asked, unit) for unit, chunk in chunk_of.items() if chunk in texts}
    taken_by = {unit: next(iter(parts)) for unit, parts in shares.items()}
    chosen: dict[str, Voted] = {}
    for one in head:
        by = taken_by.get(one.boosted_by, one.boosted_by)
        for unit, share in shares.get(one.hit.id, {one.hit.id: 1.0}).items():
            score = one.score * share**_SHARE_POWER if one.score > 0 else one.score
            if unit not in chosen or score > chosen[unit].score:
                units.chunk_of.setdefault(unit, units.chunk_of.get(one.hit.id, ""))
                # The loss stands in the boost, so that parts and boost go on adding up to the score.
                chosen[unit] = Voted(one.hit._replace(id=unit), score, one.boost + score - one.score, by if by != unit else "")
    return sorted(chosen.values(), key=lambda one: (-one.score, one.hit.id))[:k]


def _inside(view: GraphView, entry: Entry) -> list[int]:
    """Symbols that lie wholly in the lines of a chunk, by line, enclosing ones first."""
    of_file = view.by_path(entry.path)
    starts = view.start_line[of_file]
    begin, end = np.searchsorted(starts, entry.start_line), np.searchsorted(starts, entry.end_line, side="right")
    return [int(i) for i in of_file[begin:end] if view.end_line[i] <= entry.end_line]


def _shares(view: GraphView, entry: Entry, symbols: list[int], asked: set[str], unit: str) -> dict[str, float]:
    """Symbols of a chunk and the share of its words each has; 1 for the one that takes its place (`unit` when none does)."""
    of_line = [asked.intersection(word[:_STEM] for word in query_words(line)) for line in entry.text.split("\n")]
    wanted: set[str] = set().union(*of_line)
    if not wanted:
        return {unit: 1.0}
    holders = {int(view.parent[i]) for i in symbols}
    best, size = unit, entry.end_line - entry.start_line + 2
    share: dict[str, float] = {}
    for node in symbols:
        first, last = int(view.start_line[node]) - entry.start_line, int(view.end_line[node]) - entry.start_line + 1
        has = set().union(*of_line[first:last])
        if has == wanted and last - first < size:
            best, size = view.ids[node], last - first
        if node not in holders:
            name = {word[:_STEM] for word in normalise(view.qualname(node)).split()}
            share[view.ids[node]] = (len(has) + _OWN_NAME * len(has & name)) / ((1 + _OWN_NAME) * len(wanted))
    if best == unit and share:
        # max keeps the first of equals, and the symbols of a chunk come by line.
        most = max(share, key=share.__getitem__)
        best = most if share[most] > _ENOUGH else unit
    return {best: 1.0} | {key: value for key, value in share.items() if key != best and value}
