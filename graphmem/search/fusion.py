"""Merge ranked lists of candidates into one, by weighted scores.

Sources: Cormack, Clarke, Buettcher 2009 (reciprocal rank fusion, k = 60 in the paper); Fox and Shaw 1994 (sums of normalised scores).
Measurements chose the default: docs/decisions/0006-fusion.md.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import itemgetter
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
        full: raw score that becomes 1 when scores are normalised. None means the best score of the list.
    """

    name: str
    scores: Mapping[str, float]
    weight: float
    absent: float | None = 0.0
    full: float | None = None


class Part(NamedTuple):
    """A candidate's rank, score and weight in one of the ranked lists."""

    name: str
    rank: int  # 1-based; ties in the order of ids
    raw: float
    normalised: float  # minmax: 0..1; zscore: standard deviations from the mean; rrf: (k + 1) / (k + rank)
    weight: float


class Fused(NamedTuple):
    """A candidate with the score that it got from all ranked lists.

    Attributes:
        id: id of the candidate.
        score: the weighted sum, times `by`.
        lists: the ranked lists from which the score was computed.
        by: factor by which the score and its parts were multiplied; see `times`.
    """

    id: str
    score: float
    lists: Sequence[Scaled] = ()
    by: float = 1.0

    @property
    def parts(self) -> list[Part]:
        """The parts of the candidate's score, one for each list that contains it."""
        found = [part for one in self.lists if (part := one.part(self.id)) is not None]
        return [part._replace(weight=part.weight * self.by) for part in found] if self.by != 1 else found

    def times(self, by: float) -> Fused:
        """Return the candidate with its score multiplied by a number."""
        return Fused(self.id, self.score * by, self.lists, self.by * by)


class Scaled:
    """A ranked list with scores that are comparable with those of other lists.

    Args:
        ranked: the list.
        ids: sorted ids of all candidates, including those that only other lists have.
        normaliser: a name from NORMALISERS.
        rrf_k: constant of "rrf".
    """

    def __init__(self, ranked: Ranked, ids: Sequence[str], normaliser: str, rrf_k: int) -> None:
        self._ranked = ranked
        scores, absent = ranked.scores, min(ranked.scores.values()) if ranked.absent is None else ranked.absent
        if normaliser == RRF:
            known = {key: (rrf_k + 1) / (rrf_k + rank) for key, rank in self._ranks.items()}
            self._values = [known.get(key, 0.0) for key in ids]
        else:
            values = [scores.get(key, absent) for key in ids]
            if normaliser == MINMAX:
                low, high = min(*values, absent), max(*values, absent if ranked.full is None else ranked.full)
                scale = high - low
                self._values = [(value - low) / scale for value in values] if scale else [float(key in scores) for key in ids]
            else:
                mean = math.fsum(values) / len(values)
                deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) or 1.0
                self._values = [(value - mean) / deviation for value in values]
        self._ids = ids

    def terms(self) -> list[float]:
        """Return each candidate's normalised score in this list, times its weight.

        The order is that of `ids`.
        """
        weight = self._ranked.weight
        return [weight * value for value in self._values]

    def part(self, key: str) -> Part | None:
        """Return the rank and scores of candidate `key`; None if it is not listed."""
        ranked = self._ranked
        if key not in ranked.scores:
            return None
        return Part(ranked.name, self._ranks[key], ranked.scores[key], self._values[bisect_left(self._ids, key)], ranked.weight)

    @cached_property
    def _ranks(self) -> dict[str, int]:
        scores = self._ranked.scores
        return {key: rank for rank, key in enumerate(sorted(scores, key=lambda key: (-scores[key], key)), 1)}


def fuse(lists: Sequence[Ranked], normaliser: str = MINMAX, rrf_k: int = 60, before: Sequence[Fused] = ()) -> list[Fused]:
    """Merge ranked lists by weighted sums of normalised scores, best first.

    The order of the lists does not affect the result.

    Args:
        lists: the candidates of each way of searching, such as words or vectors. Lists without candidates or weight are ignored.
        normaliser: makes scores comparable. "minmax" scales each list to 0..1, "zscore" to mean 0 and deviation 1, "rrf" uses ranks instead
            of scores.
        rrf_k: constant of "rrf"; a larger value lowers the effect of rank.
        before: result of an earlier call; its scores and those of `lists` are added.

    Raises:
        BadInputError: unknown normaliser, or a negative weight.
    """
    if normaliser not in NORMALISERS:
        raise BadInputError(
            f"unknown method {normaliser!r} to normalise search scores; use one of {', '.join(NORMALISERS)}", argument="normaliser"
        )
    lists = [one for one in lists if one.scores and one.weight]
    for one in lists:
        if one.weight < 0:
            raise BadInputError(f"the weight of the search method {one.name!r} is {one.weight}; use 0 or more", argument="weight")
    base = {hit.id: hit.score for hit in before}
    ids = sorted(base.keys() | set().union(*(one.scores for one in lists)))
    scaled = [Scaled(one, ids, normaliser, rrf_k) for one in lists]
    terms = [[base.get(key, 0.0) for key in ids], *(one.terms() for one in scaled)]
    together = (*before[0].lists, *scaled) if before else tuple(scaled)
    # fsum gives the same total for any order of the lists. The sort keeps the order of ids with equal scores.
    fused = [Fused(key, score, together) for key, score in zip(ids, map(math.fsum, zip(*terms, strict=True)), strict=True)]
    return sorted(fused, key=itemgetter(1), reverse=True)
