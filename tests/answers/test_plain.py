"""Answers behave like frozen dataclasses with slots, whichever way they are made."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field

import pytest

from graphmem.answers.plain import answer


@answer
class Point:
    """A place."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Plain:
    """The same as a dataclass."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)


@pytest.mark.parametrize("given", [((1,), {}), ((1, 3), {}), ((), {"x": 1, "names": ["a"]}), ((1, 2, ["b"]), {})])
def test_an_answer_takes_what_a_dataclass_takes(given) -> None:
    args, kwargs = given
    assert dataclasses.astuple(Point(*args, **kwargs)) == dataclasses.astuple(Plain(*args, **kwargs))


@pytest.mark.parametrize("given", [((), {}), ((1, 2, [], 4), {}), ((1,), {"z": 1}), ((1,), {"x": 1})])
def test_it_refuses_what_a_dataclass_refuses(given) -> None:
    args, kwargs = given
    for cls in (Point, Plain):
        with pytest.raises(TypeError, match="argument"):
            cls(*args, **kwargs)


def test_lists_made_by_default_are_not_shared() -> None:
    assert Point(1).names is not Point(1).names


def test_it_does_not_change_and_has_no_further_attributes() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    with pytest.raises((AttributeError, TypeError)):
        point.z = 1
    assert not hasattr(point, "__dict__")


def test_it_is_copied_pickled_replaced_and_matched() -> None:
    point = Point(1, 2, ["a"])
    assert copy.copy(point) == point
    assert copy.deepcopy(point).names is not point.names
    assert pickle.loads(pickle.dumps(point)) == point
    assert dataclasses.replace(point, x=5) == Point(5, 2, ["a"])
    match point:
        case Point(x, y, names):
            assert (x, y, names) == (1, 2, ["a"])
