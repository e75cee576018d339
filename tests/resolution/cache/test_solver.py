"""The engine under inference: cycles end, answers do not depend on who asks first, inputs are recorded."""

from __future__ import annotations

import itertools
import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.resolution.cache import dependents
from graphmem.resolution.cache import solver as solver_module
from graphmem.resolution.cache.dependents import AnswersOf
from graphmem.resolution.cache.solver import Groups, Solver
from graphmem.resolution.values.types import EMPTY


class Graph:
    """Reachable letters: the answer for a node is its own letter and those of its successors."""

    def __init__(self, successors):
        self.successors = successors
        self.solver = Solver()
        self.memo = {}
        self.asked = 0

    def ask(self, node):
        return self.solver.ask(self.memo, node, self.answer, node)

    def answer(self, node):
        self.asked += 1
        self.solver.touch(int(node[1:]) if node[1:] else ord(node))
        found = frozenset({node})
        for successor in self.successors.get(node, ()):
            found |= self.ask(successor)
        return found


CYCLES = {"a": "bc", "b": "d", "c": "a", "d": "be", "e": "", "f": "a", "g": "g"}


@pytest.mark.parametrize("order", list(itertools.islice(itertools.permutations("abcdefg"), 0, 5040, 97)), ids="".join)
def test_answers_in_cycles_do_not_depend_on_the_first_question(order):
    graph = Graph(CYCLES)
    answers = {node: graph.ask(node) for node in order}
    assert answers == {
        "a": frozenset("abcde"),
        "b": frozenset("bde"),
        "c": frozenset("abcde"),
        "d": frozenset("bde"),
        "e": frozenset("e"),
        "f": frozenset("abcdef"),
        "g": frozenset("g"),
    }


def test_a_new_question_does_not_read_all_that_wait_to_be_computed_again(monkeypatch):
    """Of 73% of the time of a large tree's base classes, each new question read a list of thousands."""
    reads = 0

    class Counted(solver_module._Question):
        __slots__ = ("position",)

        @property
        def index(self):
            nonlocal reads
            reads += 1
            return self.position

        @index.setter
        def index(self, position):
            self.position = position

    monkeypatch.setattr(solver_module, "_Question", Counted)
    many = range(300)
    successors = {f"c{i}": ["x", "r"] for i in many}  # they read x before it is final, and wait for r
    graph = Graph(successors | {"r": ["x", *(f"l{i}" for i in many)], "x": [f"c{i}" for i in many]})
    assert len(graph.ask("r")) == 2 + 2 * len(many)
    assert all(len(graph.ask(f"c{i}")) == 2 + 2 * len(many) for i in many)
    assert reads < 100 * len(many)


def test_inputs_of_an_answer_are_all_that_was_read_for_it():
    graph = Graph(CYCLES)
    graph.ask("f")
    assert inputs(graph, [graph.memo["b"][1]]) == {ord(c) for c in "bde"}
    assert inputs(graph, [graph.memo["e"][1]]) == {ord("e")}
    assert inputs(graph, [graph.memo["f"][1]]) == {ord(c) for c in "abcdef"}


def inputs(graph, numbers):
    return graph.solver.groups.inputs(numbers)


@pytest.mark.parametrize("few", [0, dependents.FEW_GROUPS])
@pytest.mark.parametrize("changed", CYCLES)
def test_answers_made_from_an_input_are_found_however_deep_they_lie(changed, few, monkeypatch):
    monkeypatch.setattr(dependents, "FEW_GROUPS", few)
    graph = Graph(CYCLES)
    for node in CYCLES:
        graph.ask(node)
    graph.solver.groups.keep({number for _, number in graph.memo.values()})
    stale = {ord(changed)}
    graph.solver.groups.spread(stale)
    assert {node for node, (_, number) in graph.memo.items() if number in stale} == {n for n in CYCLES if changed in graph.ask(n)}


@given(seed=st.integers(0, 2**32), few=st.integers(0, 12))
def test_the_reverse_indexes_find_what_looking_at_everything_would(seed, few):
    rng = random.Random(seed)
    groups, memos = Groups(), {f"f{i}": {} for i in range(4)}
    answers = AnswersOf()
    numbers = list(range(8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dependents, "FEW_GROUPS", few)
        patch.setattr(dependents, "FEW_ANSWERS", few)
        for step in range(12):
            for key in range(rng.randrange(6)):
                numbers.append(groups.number(set(rng.choices(numbers, k=rng.randrange(4)))))
                memos[rng.choice(sorted(memos))][step, key] = (None, rng.choice(numbers))
            stale = set(rng.sample(range(8), 2))
            expected = set(stale)
            for members, number in groups._numbers.items():
                if expected & set(members):
                    expected.add(number)
            groups.spread(stale)
            assert stale == expected
            found = answers.files(memos, stale)
            for path, memo in memos.items():
                gone = [key for key, (_, number) in memo.items() if number in stale]
                assert path in found or not gone
                for key in gone:
                    del memo[key]
                if gone:
                    answers.changed(path)
            if rng.random() < 0.2:
                memos[rng.choice(sorted(memos))] = {}
            if rng.random() < 0.2:
                used = {number for memo in memos.values() for _, number in memo.values()}
                groups.keep(used)
                numbers = [*range(8), *sorted(used - set(range(8)))]


def test_groups_nobody_uses_are_forgotten():
    graph = Graph({"a": "b", "b": "c", "c": ""})
    graph.ask("a")
    groups = graph.solver.groups
    before = len(groups)
    groups.keep({graph.memo["a"][1]})
    assert len(groups) == before
    groups.keep({graph.memo["b"][1]})
    assert len(groups) == before - 1
    assert inputs(graph, [graph.memo["b"][1]]) == {ord("b"), ord("c")}


def test_an_answer_is_made_once():
    graph = Graph({"a": "bb", "b": "cc", "c": ""})
    graph.ask("a")
    graph.ask("a")
    assert graph.asked == 3


def test_reading_a_remembered_answer_reads_its_inputs():
    graph = Graph({"a": "b", "b": ""})
    graph.ask("a")
    reads = graph.solver.listen()
    graph.ask("a")
    assert inputs(graph, reads) == {ord("a"), ord("b")}


def test_a_chain_deeper_than_the_stack_is_answered_in_full():
    length = solver_module.MAX_STACK * 10
    graph = Graph({f"n{i}": [f"n{i + 1}"] for i in range(length)})
    assert len(graph.ask("n0")) == length + 1


def test_a_cycle_longer_than_the_stack_ends():
    length = solver_module.MAX_STACK * 3
    graph = Graph({f"n{i}": [f"n{(i + 1) % length}"] for i in range(length)})
    assert graph.ask("n0") >= frozenset({"n0"})


@pytest.mark.parametrize("seed", range(4))
def test_a_component_of_thousands_of_questions_is_answered_in_full_with_few_computations(seed):
    count = 2_000
    drawn = random.Random(seed)
    graph = Graph({f"n{i}": [f"n{drawn.randrange(count)}" for _ in range(3)] for i in range(count)})
    answer = graph.ask("n0")
    assert answer == reached(graph.successors, "n0")
    assert len(answer) > count / 2
    assert graph.asked < 20 * count  # more than 150 * count when a question that is too deep drops the answers around it
    assert all(graph.ask(node) == reached(graph.successors, node) for node in list(answer)[:20])


def reached(successors, first):
    found, pending = {first}, [first]
    while pending:
        new = set(successors[pending.pop()]) - found
        found |= new
        pending += new
    return frozenset(found)


@given(seed=st.integers(0, 2**32), deepest=st.integers(2, 12))
def test_answers_do_not_depend_on_the_depth_that_the_stack_allows(seed, deepest):
    rng = random.Random(seed)
    count = rng.randrange(2, 30)
    successors = {f"n{i}": [f"n{rng.randrange(count)}" for _ in range(rng.randrange(4))] for i in range(count)}
    graph = Graph(successors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver_module, "MAX_STACK", deepest)
        for node in rng.sample(sorted(successors), count):
            assert graph.ask(node) == reached(successors, node)
    numbers = {node: int(node[1:]) for node in successors}
    for node in successors:
        assert inputs(graph, [graph.memo[node][1]]) == {numbers[one] for one in reached(successors, node)}


def test_an_error_in_an_answer_leaves_the_solver_usable():
    solver, memo = Solver(), {}

    def fails():
        raise KeyError("x")

    with pytest.raises(KeyError):
        solver.ask(memo, "outer", lambda: solver.ask(memo, "inner", fails))
    assert solver.ask(memo, "outer", lambda: EMPTY) == EMPTY


def test_the_stack_fits_into_the_recursion_limit():
    assert sys.getrecursionlimit() > solver_module.MAX_STACK


def test_a_question_that_is_answered_along_with_one_below_it_is_not_asked_again():
    length = solver_module.MAX_STACK
    chain = {number: (number + 1,) for number in range(length)}
    chain[length] = (5, 0)  # closes the cycle by two ways, of which the first is short enough
    graph = Graph({f"{number}": tuple(f"{one}" for one in following) for number, following in chain.items()})
    assert graph.ask("0") == frozenset(graph.successors)
    assert inputs(graph, [graph.memo["0"][1]]) == {ord(one) if len(one) == 1 else int(one[1:]) for one in graph.successors}
