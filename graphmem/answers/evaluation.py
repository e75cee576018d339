"""Answers about the quality of search on the project's own history."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import MomentOrNone


@answer
class SearchWay:
    """A search method, with its measured quality on the newer commits."""

    name: str
    first: Annotated[float, Doc("mean reciprocal rank: the mean of 1 / rank of the first changed file in the results, 0 to 1")]
    recall: Annotated[float, Doc("mean share of a commit's changed files that are among the first five results, 0 to 1")]


@answer
class SearchWeight:
    """A weight in the ranking of search results, with its current factor."""

    name: Annotated[
        str,
        Doc(
            "evidence that the weight applies to: words, vectors, names, literal (text exactly as in the query), places "
            "(files that the query names), votes (other hits in the file), alike (similar to the best hits), joined (an "
            "edge to a hit) or churn (files that change often)"
        ),
    ]
    built_in: float
    factor: Annotated[float, Doc("factor by which search currently multiplies the built-in weight")]
    proposed: Annotated[float | None, Doc("proposed new value of `factor`; null if no change is proposed")]


@answer
class SearchEvaluation:
    """Quality of search on the project's own commits, with proposed weights.

    The factors apply to queries that are descriptions, names or error texts. For questions, the built-in weights are used.
    """

    commits: Annotated[int, Doc("number of commits whose messages were used as queries")]
    checked: Annotated[int, Doc("number of commits on which search quality was measured: the newer half of all")]
    model: Annotated[str, Doc("embedding model that computed the vectors; empty if search used no vectors")]
    accepted_at: Annotated[
        MomentOrNone, Doc("time at which a person accepted proposed search weights; null while search uses the built-in weights")
    ]
    ways: Annotated[list[SearchWay], Size(4)]
    weights: Annotated[list[SearchWeight], Size(9)]
    notes: Annotated[list[str], Doc("why no search weights are proposed, and what was not measured")]
