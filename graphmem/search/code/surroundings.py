"""Score candidates by their relation to the best hits of a search.

A description rarely uses the words of all the code it concerns. So the best hits serve as a second query. A candidate gains if its vector
is near those of the best hits, or if it shares rare words with them. It also gains if an edge joins it to a candidate with a high score.
Each of these scores is a separate list in the fusion. No new candidates are found.

Source: Rocchio 1971 (relevance feedback in a vector space), here without feedback from a person: the best hits are assumed to be relevant
("pseudo-relevance feedback"). Measured in docs/decisions/0006-fusion.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from graphmem.projection.graph.edges import kind_mask
from graphmem.projection.graph.view import GraphView
from graphmem.projection.vectors import VectorIndex
from graphmem.search.fusion import Fused
from graphmem.search.units.units import StemsOfUnits, Units

F64 = npt.NDArray[np.float64]

# The best edge of each row counts. Calls have one row for each direction, all other edges share one.
_CALLS: Final = ("CALLS",)
_ECHOED: Final = 15  # words of the best hits that count
_OTHERS: Final = (("REFERENCES", "USES_TYPE"), ("INHERITS", "OVERRIDES"))


def like_the_best(fused: Sequence[Fused], units: Units, vectors: VectorIndex, count: int) -> dict[str, float]:
    """Compare the vectors of candidate chunks with those of the best hits.

    Args:
        fused: candidates, best first.
        units: units (symbols, or chunks without symbols) of the candidates, with their chunks.
        vectors: vectors of the chunks.
        count: number of hits that are assumed to be relevant.

    Returns:
        Map from chunk to the cosine of its vector and the mean vector of the best hits. The map is empty if no best hit has a vector.
    """
    chunk_of: dict[str, str] = {}
    for chunk, segments in units.segments.items():
        for segment in segments:
            chunk_of.setdefault(segment.unit, chunk)
    best = [units.entries[chunk_of[hit.id]].text_hash for hit in fused[:count] if hit.id in chunk_of]
    mean = vectors.mean(best)
    if mean is None:
        return {}
    cosines = vectors.cosines(mean, [units.entries[chunk].text_hash for chunk in units.segments])
    return {chunk: cosines[key] for chunk in units.segments if (key := units.entries[chunk].text_hash) in cosines}


def echoes(fused: Sequence[Fused], stems: StemsOfUnits, count: int) -> dict[str, float]:
    """Return a score for candidates that share rare words with the best hits.

    Source: Abdul-Jaleel et al. 2004 (RM3), here applied only to the candidates.

    Args:
        fused: candidates, best first.
        stems: words of the candidates.
        count: number of hits that are assumed to be relevant.
    """
    place = {unit: at for at, unit in enumerate(stems.units)}
    best = {place[hit.id]: max(0.0, hit.score) for hit in fused if hit.id in place}
    best = dict(list(best.items())[:count])
    if not best:
        return {}
    worth = np.zeros(len(place))
    is_best = np.zeros(len(place), np.bool_)
    worth[list(best)], is_best[list(best)] = list(best.values()), True
    is_theirs = np.zeros(int(stems.stems.max(initial=0)) + 1, np.bool_)
    is_theirs[stems.stems[is_best[stems.owner]]] = True
    column, count_of_words = np.cumsum(is_theirs) - 1, int(is_theirs.sum())
    length = np.bincount(stems.owner, minlength=len(place))
    at = np.flatnonzero(is_theirs[stems.stems])
    table = np.bincount(stems.owner[at] * count_of_words + column[stems.stems[at]], minlength=len(place) * count_of_words)
    pairs = np.flatnonzero(table)
    unit, word = np.divmod(pairs, count_of_words)
    times = table[pairs]
    rarity = np.log(len(place) / np.bincount(word, minlength=count_of_words))
    weight = np.bincount(word, worth[unit] * times / length[unit], count_of_words) * rarity
    weight[np.argsort(-weight, kind="stable")[_ECHOED:]] = 0.0
    scores = np.bincount(unit, weight[word] * times / (times + 1), len(place)).tolist()
    return {key: score for key, score in zip(stems.units, scores, strict=True) if score > 0}


def joined_by_edges(view: GraphView, scores: Mapping[str, float], others: float) -> dict[str, float]:
    """Return a score for candidates that an edge joins to good candidates.

    A good candidate has a high score. Each candidate receives the scores of at most four others: its best caller, its best callee, the best
    candidate at the other end of a reference, and its best base or subclass.

    Args:
        view: the graph.
        scores: scores of the candidates; candidates with a score of 0 or less give nothing.
        others: weight of references and inheritance relative to calls.

    Returns:
        Map from candidate to the sum of received scores, each times the edge's confidence. Candidates that receive nothing are left out.
        Cost: one pass over the edges that leave candidates.
    """
    known = sorted((node, score, key) for key, score in scores.items() if (node := view.index_of.get(key)) is not None)
    if not known:
        return {}
    nodes = np.fromiter((node for node, _, _ in known), np.int64, len(known))
    worth = np.fromiter((max(0.0, score) for _, score, _ in known), np.float64, len(known))
    first, last = view.out_ptr[nodes].astype(np.int64), view.out_ptr[nodes + 1].astype(np.int64)
    source = np.repeat(np.arange(len(nodes)), last - first)
    rows = np.arange(len(source)) - np.repeat(np.cumsum(last - first) - (last - first), last - first) + np.repeat(first, last - first)
    ends = view.dst[rows]
    target = np.minimum(np.searchsorted(nodes, ends), len(nodes) - 1)
    inside = (nodes[target] == ends) & (source != target)
    source, target, rows = source[inside], target[inside], rows[inside]
    kind, sure = view.edge_kind[rows], view.confidence[rows].astype(np.float64)
    got = np.zeros(len(nodes))
    calls = kind_mask(_CALLS)[kind]
    got += _best(len(nodes), [(source[calls], worth[target[calls]] * sure[calls])])
    got += _best(len(nodes), [(target[calls], worth[source[calls]] * sure[calls])])
    for kinds in _OTHERS:
        of = kind_mask(kinds)[kind]
        got += others * _best(len(nodes), [(source[of], worth[target[of]] * sure[of]), (target[of], worth[source[of]] * sure[of])])
    return {key: value for (_, _, key), value in zip(known, got.tolist(), strict=True) if value > 0}


def _best(size: int, given: Sequence[tuple[npt.NDArray[np.int64], F64]]) -> F64:
    """Return for each candidate the highest of its values in `given`.

    A candidate without a value gets 0. `size` is the number of candidates. Each item of `given` is (positions of candidates, their values).
    """
    best = np.zeros(size)
    for receiver, values in given:
        np.maximum.at(best, receiver, values)
    return best
