"""Answers about the quality of search on the project's own history."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import MomentOrNone


@answer
class SearchWay:
    """One way to search, and how good it is on the newer commits."""

    name: str
    first: Annotated[float, Doc("mean of 1 / place of the first changed file, 0 to 1")]
    recall: Annotated[float, Doc("mean share of the changed files among the first five files, 0 to 1")]


@answer
class SearchWeight:
    """A factor on the weights of search."""

    name: Annotated[str, Doc("words, vectors, names, literal, places, votes, alike, joined or churn (files that change often)")]
    built_in: float
    factor: Annotated[float, Doc("the factor in use")]
    proposed: Annotated[float | None, Doc("null if no change is proposed")]


@answer
class SearchEvaluation:
    """Quality of search on the project's own commits, with proposed weights.

    The factors hold for descriptions, names and error texts. Questions keep the built-in weights.
    """

    commits: Annotated[int, Doc("number of commits whose messages were searched for")]
    checked: Annotated[int, Doc("number of those, the newer half, on which the ways were measured")]
    model: Annotated[str, Doc("the model of the vectors; empty for none")]
    accepted_at: Annotated[MomentOrNone, Doc("none while the built-in weights are in use")]
    ways: Annotated[list[SearchWay], Size(4)]
    weights: Annotated[list[SearchWeight], Size(9)]
    notes: Annotated[list[str], Doc("why nothing is proposed")]
