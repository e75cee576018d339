"""What the best hits say of the other candidates: code like theirs, and code that calls it or is called by it.

A description seldom uses the words of all the code it concerns. What the first look found stands for it in a second one: candidates
whose vectors are near those of the best hits, and candidates that an edge of the graph joins with others that scored well. Both are lists
of their own in the sum, over the candidates that are there already; nothing new is looked for.

Source: Rocchio 1971 (relevance feedback in a vector space), here without anybody's judgement: the best hits are taken to be right
("pseudo-relevance feedback"). Measured in docs/decisions/0006-fusion.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from graphmem.projection.graph import GraphView, kind_mask
from graphmem.projection.vectors import VectorIndex
from graphmem.search.fusion import Fused
from graphmem.search.units import Units

F64 = npt.NDArray[np.float64]

# One edge of each row counts, the best; calls count apart by their direction, the others together.
_CALLS: Final = ("CALLS",)
_OTHERS: Final = (("REFERENCES", "USES_TYPE"), ("INHERITS", "OVERRIDES"))


def like_the_best(fused: Sequence[Fused], units: Units, vectors: VectorIndex, count: int) -> dict[str, float]:
    """Cosine of each candidate chunk with the mean vector of the best hits' chunks.

    Args:
        fused: candidates, the best first.
        units: their chunks.
        vectors: of the chunks.
        count: hits that are taken to be right.

    Returns:
        chunk -> cosine; empty when none of the best hits has a vector.
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


def joined_by_edges(view: GraphView, scores: Mapping[str, float], others: float) -> dict[str, float]:
    """What candidates get from those an edge joins them with: the best caller, the best callee, the best by reference and by inheritance.

    Args:
        view: the graph.
        scores: of the candidates; those at or below 0 give nothing.
        others: what references and inheritance count beside calls.

    Returns:
        candidate -> sum of what it gets, each score times the confidence of the edge; candidates that get nothing are left out.
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
    """The best value each receiver is given."""
    best = np.zeros(size)
    for receiver, values in given:
        np.maximum.at(best, receiver, values)
    return best
