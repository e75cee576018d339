"""Types of values: growing ones keep what they had, so that every cycle of questions ends at its fixpoint."""

from __future__ import annotations

import pytest

from graphmem.resolution.values.types import EMPTY, EXTI, MAX_DEPTH, anonymous, box, depth, join, object_of, one, partial, tuple_of

NUMBER = one((EXTI, "builtins", "int", None))
WRAPPERS = {
    "list": lambda value: box("list", value),
    "pair": lambda value: tuple_of([value, NUMBER]),
    "function": anonymous,
    "part of a function": lambda value: partial(anonymous(value)),
    "object": lambda value: object_of({"inner": value}),
    "tuple in a list": lambda value: box("list", tuple_of([value])),
}


@pytest.mark.parametrize("wrapped", WRAPPERS.values(), ids=WRAPPERS)
def test_a_value_that_contains_itself_reaches_its_fixpoint(wrapped):
    value, passes = EMPTY, 0
    while (following := join(NUMBER, wrapped(value))) != value:
        value, passes = following, passes + 1
        assert passes <= MAX_DEPTH + 2, "each pass loses what the pass before it found"
    assert depth(value) <= MAX_DEPTH


def test_a_container_that_is_nested_too_deep_is_only_emptied():
    value = NUMBER
    for _ in range(MAX_DEPTH + 1):
        value = box("list", value)
    assert value == box("list", box("list", box("list", EMPTY)))
