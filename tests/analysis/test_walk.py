"""The best-path walk equals the definition, computed the slow way."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.analysis.walk import Adjacency, walk

edges_strategy = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([0.0, 0.25, 0.5, 0.85, 0.9, 1.0])), max_size=40)


def adjacency(edges, size):
    rows = sorted(range(len(edges)), key=lambda row: (edges[row][0], row))
    counts = np.bincount([edges[row][0] for row in rows], minlength=size) if rows else np.zeros(size, dtype=int)
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return Adjacency(pointers, np.array([edges[row][1] for row in rows], dtype=np.int32), np.array(rows, dtype=np.int32))


def slow(edges, seeds, max_depth, floor):
    """best[d][v]: greatest product over paths of at most d edges, by plain dynamic programming."""
    best = [dict.fromkeys(seeds, 1.0)]
    for _ in range(max_depth):
        now = dict(best[-1])
        for src, dst, value in edges:
            if src in best[-1] and dst not in seeds and value > 0:
                product = best[-1][src] * value
                if product >= floor and product > now.get(dst, 0.0):
                    now[dst] = product
        best.append(now)
    depth = {}
    for number, values in enumerate(best):
        for node in values:
            depth.setdefault(node, number)
    return {node: (depth[node], value) for node, value in best[-1].items() if node not in seeds}


@settings(max_examples=300, deadline=None)
@given(edges_strategy, st.sets(st.integers(0, 11), min_size=1, max_size=3), st.integers(1, 6), st.sampled_from([0.05, 0.3, 0.8]))
def test_walk_finds_the_best_product_and_the_fewest_steps_within_the_bounds(edges, seeds, max_depth, floor):
    values = np.array([value for _, _, value in edges], dtype=np.float32)
    found = walk(adjacency(edges, 12), values, sorted(seeds), max_depth, floor)
    got = {int(n): (int(d), float(c)) for n, d, c in zip(found.nodes, found.depths, found.confidences, strict=True)}
    want = slow(edges, seeds, max_depth, floor)
    assert got.keys() == want.keys()
    for node, (depth, confidence) in want.items():
        assert got[node][0] == depth
        assert got[node][1] == pytest.approx(confidence, rel=1e-5)


@settings(max_examples=200, deadline=None)
@given(edges_strategy, st.integers(1, 5))
def test_every_path_is_real_within_the_depth_and_worth_what_it_says(edges, max_depth):
    values = np.array([value for _, _, value in edges], dtype=np.float32)
    found = walk(adjacency(edges, 12), values, [0], max_depth, 0.05)
    for node, confidence in zip(found.nodes, found.confidences, strict=True):
        (path,) = found.paths([int(node)])
        assert 1 <= len(path) <= max_depth
        assert edges[path[0]][0] == 0
        assert edges[path[-1]][1] == node
        assert all(edges[a][1] == edges[b][0] for a, b in itertools.pairwise(path))
        assert math.prod(edges[row][2] for row in path) == pytest.approx(float(confidence), rel=1e-5)


def test_hits_come_by_depth_then_confidence_then_node():
    edges = [(0, 1, 0.5), (0, 2, 0.9), (2, 3, 1.0), (1, 4, 1.0), (0, 5, 0.9)]
    found = walk(adjacency(edges, 6), np.array([e[2] for e in edges], dtype=np.float32), [0], 5, 0.1)
    assert found.nodes.tolist() == [2, 5, 1, 3, 4]
    assert not found.cut_by_depth


def test_the_depth_bound_says_when_there_is_more_beyond():
    edges = [(0, 1, 1.0), (1, 2, 1.0)]
    values = np.ones(2, dtype=np.float32)
    assert walk(adjacency(edges, 3), values, [0], 1, 0.1).cut_by_depth
    assert not walk(adjacency(edges, 3), values, [0], 2, 0.1).cut_by_depth
