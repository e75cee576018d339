"""Fusion: what each normaliser does, independence of order, and what the parts say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import BadInputError
from graphmem.search.fusion import MINMAX, NORMALISERS, RRF, ZSCORE, Ranked, fuse

scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.1, 100, allow_nan=False), max_size=8)
lists = st.lists(
    st.builds(Ranked, st.just("p"), scores, st.floats(0, 2), st.sampled_from([0.0, None])),
    max_size=4,
).map(lambda many: [one._replace(name=f"p{i}") for i, one in enumerate(many)])


def ids(fused):
    return [hit.id for hit in fused]


def test_reciprocal_ranks_are_those_of_the_paper():
    fused = fuse([Ranked("words", {"a": 9.0, "b": 5.0}, 1.0), Ranked("dense", {"b": 0.9, "c": 0.8}, 1.0)], RRF)
    assert ids(fused) == ["b", "a", "c"]
    assert [hit.score / 61 for hit in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])


def test_minmax_scales_each_list_between_what_absence_means_and_its_best():
    fused = fuse([Ranked("words", {"a": 10.0, "b": 5.0}, 0.5), Ranked("dense", {"a": 0.2, "b": 0.6, "c": 0.4}, 0.5, None)], MINMAX)
    assert {hit.id: hit.score for hit in fused} == pytest.approx({"a": 0.5, "b": 0.25 + 0.5, "c": 0.25})
    assert ids(fused) == ["b", "a", "c"]


def test_zscore_brings_each_list_to_mean_zero_and_deviation_one():
    fused = fuse([Ranked("dense", {"a": 1.0, "b": 2.0, "c": 3.0}, 1.0, None)], ZSCORE)
    assert [hit.score for hit in fused] == pytest.approx([1.5**0.5, 0.0, -(1.5**0.5)])


@given(lists, st.sampled_from(NORMALISERS), st.integers(0, 99))
def test_the_order_of_the_lists_does_not_matter(many, normaliser, seed):
    shuffled = many[:]
    random.Random(seed).shuffle(shuffled)
    first, second = fuse(many, normaliser), fuse(shuffled, normaliser)
    assert [(hit.id, hit.score) for hit in first] == [(hit.id, hit.score) for hit in second]


@given(lists, st.sampled_from(NORMALISERS))
def test_every_candidate_of_a_list_with_weight_is_there_once_best_first_ties_by_id(many, normaliser):
    fused = fuse(many, normaliser)
    assert sorted(ids(fused)) == sorted(set().union(*(one.scores for one in many if one.weight)))
    assert [(hit.score, hit.id) for hit in fused] == sorted(((hit.score, hit.id) for hit in fused), key=lambda row: (-row[0], row[1]))


@given(lists)
def test_parts_say_rank_raw_score_and_weight_and_add_up_to_the_score(many):
    for hit in fuse(many, MINMAX):
        total = 0.0
        by_name = {one.name: one for one in many}
        for part in hit.parts:
            one = by_name[part.name]
            assert part.raw == one.scores[hit.id]
            assert part.weight == one.weight
            assert part.rank == 1 + sum((-score, key) < (-part.raw, hit.id) for key, score in one.scores.items())
            assert 0 <= part.normalised <= 1
            total += part.weight * part.normalised
        # A list that does not have the candidate adds nothing: absence is the bottom of its scale.
        assert total == pytest.approx(hit.score, abs=1e-9)


@given(scores, st.sampled_from(NORMALISERS))
def test_one_list_alone_keeps_its_order(one, normaliser):
    assert ids(fuse([Ranked("words", one, 1.0)], normaliser)) == sorted(one, key=lambda key: (-one[key], key))


def test_a_list_without_weight_says_nothing():
    assert ids(fuse([Ranked("words", {"a": 1.0}, 1.0), Ranked("graph", {"b": 5.0}, 0.0)])) == ["a"]
    assert fuse([]) == []


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(BadInputError, match="unknown method 'magic'"):
        fuse([], "magic")
    with pytest.raises(BadInputError, match="use 0 or more"):
        fuse([Ranked("words", {"a": 1.0}, -1.0)])
