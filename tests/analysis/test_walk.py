"""The best-path walk equals the definition, computed the slow way."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.analysis.walk import Adjacency, reached, walk

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


@settings(max_examples=300)
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


def through_stand_ins(edges, begins, seeds, max_depth, floor, *, is_forward):
    """The same where some edges may only begin a path of dependencies: of a walk the first step, or the last."""
    plain = [edge for row, edge in enumerate(edges) if row not in begins]
    found = {}

    def keep(node, depth, value):
        if node not in seeds and value >= floor and depth <= max_depth:
            known = found.get(node, (depth, value))
            found[node] = (min(known[0], depth), max(known[1], value))

    for length in range(1, max_depth + 1):
        for node, (depth, value) in slow(plain, seeds, length, floor).items():
            keep(node, depth, value)
            if not is_forward:
                for row in begins:
                    if edges[row][0] == node and edges[row][2]:
                        keep(edges[row][1], depth + 1 if depth == length else length + 1, value * edges[row][2])
    for row in begins:
        src, dst, first = edges[row]
        if src in seeds and first >= floor:
            keep(dst, 1, first)
            if is_forward and dst not in seeds and max_depth > 1:
                for node, (depth, value) in slow([e for e in plain if e[1] not in seeds], {dst}, max_depth - 1, floor / first).items():
                    keep(node, depth + 1, value * first)
    return found


@settings(max_examples=300)
@given(edges_strategy, st.sets(st.integers(0, 39), max_size=8), st.integers(0, 11), st.integers(1, 5), st.booleans())
def test_an_edge_from_a_stand_in_only_begins_a_path_of_dependencies(edges, rows, seed, max_depth, is_forward):
    begins = sorted(row for row in rows if row < len(edges))
    plain = adjacency(edges, 12)
    near = np.array([edge[0] for edge in edges], dtype=np.int32)
    far = np.array([edge[1] for edge in edges], dtype=np.int32)
    values = np.array([value for _, _, value in edges], dtype=np.float32)
    is_begin = np.isin(np.arange(len(edges)), begins)
    at_begin = np.isin(np.arange(12), near[begins])
    special = plain._replace(
        is_forward=is_forward, begins=np.array(begins, dtype=np.int64), near=near, far=far, is_begin=is_begin, at_begin=at_begin
    )
    found = walk(special, values, [seed], max_depth, 0.05)
    got = {int(n): (int(d), float(c)) for n, d, c in zip(found.nodes, found.depths, found.confidences, strict=True)}
    want = through_stand_ins(edges, begins, {seed}, max_depth, 0.05, is_forward=is_forward)
    assert got.keys() == want.keys()
    for node, (depth, confidence) in want.items():
        assert got[node] == (depth, pytest.approx(confidence, rel=1e-5))
    for node, path in zip(found.nodes.tolist(), found.paths(found.nodes.tolist()), strict=True):
        assert math.prod(edges[row][2] for row in path) == pytest.approx(got[node][1], rel=1e-5)
        assert [far[row] for row in path[:-1]] == [near[row] for row in path[1:]]
        assert (near[path[0]], far[path[-1]]) == (seed, node)
        assert not set(path[1:] if is_forward else path[:-1]) & set(begins)
        assert len(path) <= max_depth
    anywhere = walk(special, values, [seed], 60, 0.05)
    assert reached(special, values, [seed], 0.05).tolist() == sorted(anywhere.nodes.tolist())


@settings(max_examples=200)
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
