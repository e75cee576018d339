"""Answers behave like frozen dataclasses with slots, whichever way they are made."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import random
from dataclasses import field
from typing import Any, NamedTuple

import pytest

from graphmem.answers.plain import answer, json_text, to_json


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


class Pair(NamedTuple):
    """A tuple with names."""

    first: float
    second: Any


TEXTS = ["", "1e-5", "a: 0.00001", "x\n1.5e-7", '\x7f\u2028\x00\t"\\/', "é☃\U0001f600", "0.00001,", "5e-9"]
NUMBERS = [1e-05, -1.5e-07, 0.00002, 1e16, 1e-300, 0.0001, 0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, 0, -1, 2**63, True, None]


def python_writes(value: object) -> str:
    return json.dumps(to_json(value), indent=2, ensure_ascii=False)


@pytest.mark.parametrize("odd", [2**70, "\ud800", {1: "a", None: "b"}, {2.5: [1e-7]}, Pair(1e-6, Pair(2.0, {})), [], {}, (), [[], {}]])
def test_an_answer_is_written_as_python_writes_it(odd) -> None:
    nested = Point(1, 2, [*TEXTS, *NUMBERS, {"k": [Point(3), odd]}, *NUMBERS])
    for value in (odd, nested, {"1e-5": nested, "0.00001": 1e-5}):
        assert json_text(value) == python_writes(value)


def test_every_number_is_written_as_python_writes_it() -> None:
    some = random.Random(25)
    numbers = [some.choice((1, -1)) * some.random() * 10.0 ** some.randint(-320, 300) for _ in range(20_000)]
    numbers += [round(some.random() / 10**digits, 9) for digits in range(9) for _ in range(300)]
    assert json_text(numbers) == python_writes(numbers)
