"""Choose how an answer is printed: by a function with `@renders`, or JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

from graphmem.cli.output import Output
from graphmem.cli.render.common import HEADING, UNSURE
from graphmem.operations.declare import split
from graphmem.operations.finding import find

A = TypeVar("A")


class Rendering(NamedTuple):
    """Functions and options with which one type of answer is printed.

    The fields are the decorated function and the arguments of `renders`.
    """

    say: Callable[[Output, Any], None]
    bare: Callable[[Any], Iterable[str]] | None = None
    refused: Callable[[Any], bool] | None = None
    fail: str = ""


_renderings: dict[type | str, Rendering] = {}


def renders(
    what: type[A] | str,
    *,
    bare: Callable[[A], Iterable[str]] | None = None,
    refused: Callable[[A], bool] | None = None,
    fail: str = "",
) -> Callable[[Callable[[Output, A], None]], Callable[[Output, A], None]]:
    """Decorator for a function that prints a type of answer for people.

    Args:
        what: the class of the answers, or the name of one operation.
        bare: returns the lines for `--quiet`; default: the first field of each row.
        refused: returns whether the command ends with exit code 1.
        fail: help text of the option `--fail`; if set, `refused` applies only with this option.
    """

    def decorate(function: Callable[[Output, A], None]) -> Callable[[Output, A], None]:
        _renderings[what] = Rendering(function, bare, refused, fail)
        return function

    return decorate


def rendering_of(name: str) -> Rendering:
    """Return the functions that print an operation's answer.

    Raises:
        LookupError: the operation is unknown.
    """
    operation = find(name)
    if operation is None:
        raise LookupError(name)
    module = f"graphmem.cli.render.{operation.function.__module__.rpartition('.')[2]}"
    if find_spec(module) is not None:
        import_module(module)
    answer = split(operation.answer)[0]
    return _renderings.get(operation.name) or (_renderings.get(answer) if isinstance(answer, type) else None) or Rendering(_table)


def show(output: Output, answer: object, rendering: Rendering) -> None:
    """Print an answer as JSON, as bare names, or as text."""
    bare = rendering.bare or (lambda found: [str(_values(row)[0]) for row in _rows(found)])
    output.show(answer, lambda: rendering.say(output, answer), *(bare(answer) if output.quiet else ()))


def _table(output: Output, answer: object) -> None:
    """Print an answer's notes, then its rows as a table with field names."""
    for note in getattr(answer, "notes", ()):
        output.line((note, UNSURE))
    rows = _rows(answer)
    if not rows:
        output.line(("nothing found", UNSURE))
        return
    names = [one.name.replace("_", " ") for one in dataclasses.fields(rows[0])]
    output.rows([[(name, HEADING) for name in names], *([_cell(value) for value in _values(row)] for row in rows)])


def _rows(answer: object) -> Sequence[Any]:
    """Return the rows of an answer, to print as a table.

    If the answer is a list, it is returned. Otherwise the result is the answer's first field that is a list of dataclasses, or an empty
    list.
    """
    if isinstance(answer, list):
        return answer
    lists = [value for value in _values(answer) if isinstance(value, list)]
    return next((value for value in lists if value and dataclasses.is_dataclass(value[0])), [])


def _values(answer: Any) -> list[Any]:
    return [getattr(answer, one.name) for one in dataclasses.fields(answer)]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
