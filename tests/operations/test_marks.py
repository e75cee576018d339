"""Marks in `Annotated` are told apart by their class."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import combinations

import pytest

from graphmem.answers import marks as of_answers
from graphmem.cli import options
from graphmem.operations import marks as of_operations

MARKS = sorted(
    {
        one
        for module in (of_answers, of_operations, options)
        for one in vars(module).values()
        if isinstance(one, type) and is_dataclass(one)
    },
    key=lambda one: one.__name__,
)


@pytest.mark.parametrize("value", ["x", 1, False])
def test_marks_of_different_classes_are_never_equal(value: object) -> None:
    """Python 3.11.2 keeps one `Annotated[str, mark]` for equal marks, so that a place would be read as words."""
    assert len(MARKS) > 15
    made = [one(*[value] * len(fields(one))) for one in MARKS]
    assert [(one, two) for one, two in combinations(made, 2) if one == two] == []
    assert all(one == type(one)(*[value] * len(fields(one))) for one in made)
