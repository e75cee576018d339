"""Commands derived from operations: required parameters are arguments, the others options, beside the five options every command has.

An operation asks for one with `command="name"`. Its answer is printed by the function that `@renders` the answer's class, in the module of
`graphmem.cli.render` that is called like the answer's, or else as a table of its rows.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, Final, Literal

import typer

from graphmem.cli import options
from graphmem.cli.door import door
from graphmem.cli.output import Output
from graphmem.cli.render.common import HEADING, UNSURE
from graphmem.operations.declare import Bounds, Filled, Local, Operation, Parameter, split
from graphmem.operations.registry import registry

COMMON: Final[Mapping[str, tuple[Any, Any]]] = {
    "project": (options.Project, None),
    "db": (options.Db, None),
    "home": (options.Home, False),
    "as_json": (options.Json, False),
    "quiet": (options.Quiet, False),
}
_renderers: dict[type, Callable[[Output, Any], None]] = {}


def renders(answer: type) -> Callable[[Callable[[Output, Any], None]], Callable[[Output, Any], None]]:
    """Function decorator: it prints answers of a class for people."""

    def decorate(function: Callable[[Output, Any], None]) -> Callable[[Output, Any], None]:
        _renderers[answer] = function
        return function

    return decorate


def commands() -> dict[str, Operation]:
    """The operations that are commands, by the command's name."""
    return {one.hints.command: one for one in registry().values() if one.hints.command}


def command_of(operation: Operation) -> Callable[..., None]:
    """The function that typer makes a command of."""
    parameters = [one for one in operation.parameters if not (one.has(Local) or one.has(Filled))]

    def run(**given: Any) -> None:
        common = {name: given.pop(name) for name in COMMON}
        with door(**common) as here:
            show(here.output, getattr(here.service(whole=True), operation.name)(**given))

    signature = [_option(one) for one in sorted(parameters, key=lambda one: not one.is_required)]
    for name, (hint, default) in COMMON.items():
        signature.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint))
    run.__name__, run.__doc__ = operation.name, operation.doc
    run.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in signature}
    return run


def show(output: Output, answer: Any) -> None:
    """Print an answer as it was asked for: JSON, its bare names, or for people."""
    if output.as_json:
        output.json(answer)
    elif output.quiet:
        for row in _rows(answer):
            output.line(str(_values(row)[0]))
    else:
        _renderer(type(answer))(output, answer)


def _renderer(answer: type) -> Callable[[Output, Any], None]:
    module = f"graphmem.cli.render.{answer.__module__.rpartition('.')[2]}"
    if answer not in _renderers and find_spec(module) is not None:
        import_module(module)
    return _renderers.get(answer, _table)


def _table(output: Output, answer: Any) -> None:
    """The plain fields in a line each, then the rows under their names."""
    for note in getattr(answer, "notes", ()):
        output.line((note, UNSURE))
    rows = _rows(answer)
    if not rows:
        output.line(("nothing found", UNSURE))
        return
    names = [one.name.replace("_", " ") for one in dataclasses.fields(rows[0])]
    output.rows([[(name, HEADING) for name in names], *([_cell(value) for value in _values(row)] for row in rows)])


def _rows(answer: Any) -> Sequence[Any]:
    """The rows of an answer: the first of its lists that holds answers."""
    lists = [value for value in _values(answer) if isinstance(value, list)]
    return next((value for value in lists if value and dataclasses.is_dataclass(value[0])), [])


def _values(answer: Any) -> list[Any]:
    return [getattr(answer, one.name) for one in dataclasses.fields(answer)]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _option(parameter: Parameter) -> inspect.Parameter:
    """A parameter as typer knows it."""
    bounds = parameter.mark(Bounds)
    limits: dict[str, Any] = {"min": bounds.low, "max": bounds.high} if bounds else {}
    hint = _plain(parameter.hint)
    if parameter.is_required:
        said = typer.Argument(help=parameter.described or None, metavar=parameter.name.upper(), **limits)
        return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[hint, said])
    said = typer.Option("--" + parameter.name.replace("_", "-"), help=parameter.described or None, **limits)
    default = parameter.default if not isinstance(parameter.default, tuple) else None
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[hint, said], default=default)


def _plain(hint: Any) -> Any:
    """The type a command line can give: lists of words for sequences, words for closed sets."""
    hint = split(hint)[0]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return str
    if origin in (Sequence, list):
        return list[str]
    if arguments:
        kinds = [one for one in arguments if one is not type(None)]
        inner = _plain(kinds[0]) if len(kinds) == 1 else str
        return inner | None if type(None) in arguments else inner
    return hint
