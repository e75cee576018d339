"""Join ranked lists of candidates into one, by weighted normalised scores.

Sources: Cormack, Clarke, Buettcher 2009 (reciprocal rank fusion, k = 60 in the paper); Fox and Shaw 1994 (sums of normalised scores).
Measurements chose the default: docs/decisions/0006-fusion.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from graphmem.errors import BadInputError

RRF: Final = "rrf"
MINMAX: Final = "minmax"
ZSCORE: Final = "zscore"
NORMALISERS: Final = (RRF, MINMAX, ZSCORE)


class Ranked(NamedTuple):
    """The candidates that one way of searching found, with their raw scores.

    Attributes:
        name: name of the way of searching, such as "words".
        scores: raw score of each candidate; larger is better.
        weight: weight of the list; at least 0.
        absent: raw score assumed for a candidate that is not in the list. For BM25 it is 0, because a chunk without the words has the score
            0. None means the lowest score in the list.
        full: raw score that is normalised to 1 even if every candidate has less; None for the best score of the list.
    """

    name: str
    scores: Mapping[str, float]
    weight: float
    absent: float | None = 0.0
    full: float | None = None


class Part(NamedTuple):
    """Rank, score and weight of a candidate in one of the ranked lists."""

    name: str
    rank: int  # 1-based; ties in the order of ids
    raw: float
    normalised: float  # minmax: 0..1; zscore: standard deviations from the mean; rrf: (k + 1) / (k + rank)
    weight: float


class Fused(NamedTuple):
    """A candidate with the score that it got from all ranked lists."""

    id: str
    score: float
    parts: list[Part]  # of the paths that found it, in list order


def fuse(lists: Sequence[Ranked], normaliser: str = MINMAX, rrf_k: int = 60, before: Sequence[Fused] = ()) -> list[Fused]:
    """Join ranked lists by weighted sums of normalised scores, best first.

    The order of the lists does not affect the result.

    Args:
        lists: the candidates of each way of searching, such as words or vectors. Lists without candidates or weight are ignored.
        normaliser: makes scores comparable. "minmax" scales each list to 0..1, "zscore" to mean 0 and deviation 1, "rrf"
            uses ranks instead of scores.
        rrf_k: constant of "rrf"; a larger value lowers the effect of rank.
        before: candidates with fused scores, to which the lists are added.

    Raises:
        BadInputError: unknown normaliser, or a negative weight.
    """
    if normaliser not in NORMALISERS:
        raise BadInputError(
            f"unknown normaliser of search scores {normaliser!r}; use one of {', '.join(NORMALISERS)}", argument="normaliser"
        )
    lists = [one for one in lists if one.scores and one.weight]
    for one in lists:
        if one.weight < 0:
            raise BadInputError(f"the weight of the search path {one.name} is {one.weight}; use 0 or more", argument="weight")
    ids = sorted(set().union((hit.id for hit in before), *(one.scores for one in lists)))
    terms: dict[str, list[float]] = {key: [] for key in ids}
    parts: dict[str, list[Part]] = {key: [] for key in ids}
    for hit in before:
        terms[hit.id].append(hit.score)
        parts[hit.id] += hit.parts
    for one in lists:
        normal, otherwise = _normalised(one, ids, normaliser, rrf_k)
        for rank, key in enumerate(sorted(one.scores, key=lambda key: (-one.scores[key], key)), 1):
            value = (rrf_k + 1) / (rrf_k + rank) if normaliser == RRF else normal[key]
            terms[key].append(one.weight * value)
            parts[key].append(Part(one.name, rank, one.scores[key], value, one.weight))
        for key in ids:
            if key not in one.scores:
                terms[key].append(one.weight * otherwise)
    # fsum gives the same total for any order of the lists.
    fused = [Fused(key, math.fsum(terms[key]), parts[key]) for key in ids]
    return sorted(fused, key=lambda hit: (-hit.score, hit.id))


def _normalised(one: Ranked, ids: Sequence[str], normaliser: str, rrf_k: int) -> tuple[dict[str, float], float]:
    """Return a list's normalised scores, and the score of absent candidates."""
    if normaliser == RRF:
        return {}, 0.0
    absent = min(one.scores.values()) if one.absent is None else one.absent
    values = [one.scores.get(key, absent) for key in ids]
    if normaliser == MINMAX:
        low, high = min(*values, absent), max(*values, absent if one.full is None else one.full)
        scale = high - low
        if not scale:
            return dict.fromkeys(one.scores, 1.0), 0.0
        return {key: (score - low) / scale for key, score in one.scores.items()}, (absent - low) / scale
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) or 1.0
    return {key: (score - mean) / deviation for key, score in one.scores.items()}, (absent - mean) / deviation
