"""Make commands from the declared operations of graphmem.

An operation declares its command with `command="name"`. Required parameters become arguments, and the others become options. A function
with `@renders` prints the operation's answer for people; see `graphmem.cli.rendering`. For example, `graphmem.cli.render.memory` has the
functions for the operations in `operations.memory`.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

import typer

from graphmem.answers.marks import MEMORY
from graphmem.cli.command import Variant, framed
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED
from graphmem.cli.options import Was
from graphmem.cli.positions import with_plain_paths
from graphmem.cli.rendering import rendering_of, show
from graphmem.operations.declare import Operation, Parameter, split
from graphmem.operations.finding import find
from graphmem.operations.marks import Argument, Bounds, Filled, Local, Place, Ref, Spelled, Words

ACTOR: Final = "cli"
SPELLINGS: Final[Mapping[str, tuple[str, str]]] = {
    "limit": ("-n", ""),
    "files": ("-f", "PATH"),
    "types": ("-t", "TYPE"),
    "max_depth": ("-d", ""),
    "min_confidence": ("-c", ""),
    "as_of": ("", "TIME"),
    "phase": ("", "PHASE"),
}
"""Parameter -> short name of its option, and the placeholder of its value."""
FAIL: Final = "fail"


def command_of(operation: Operation) -> Callable[..., None]:
    """Build the function that typer registers for the command of an operation."""
    parameters = [one for one in operation.parameters if one.mark(Local) in (None, Local(by_command=True)) and not one.has(Filled)]
    return _command(operation, parameters, operation.doc, {})


def variant_of(variant: Variant) -> Callable[..., None]:
    """Build the function that typer registers for a second command.

    The second command calls an operation that already has a command of its own; see `Variant`.

    Raises:
        LookupError: the operation is unknown.
    """
    operation = find(variant.operation)
    if operation is None:
        raise LookupError(variant.operation)
    parameters = [
        one._replace(marks=(*one.marks, Spelled(default=variant.defaults[one.name]))) if one.name in variant.defaults else one
        for one in operation.parameters
        if one.name not in variant.fixed
    ]
    return _command(operation, parameters, variant.doc, variant.fixed)


def _command(operation: Operation, parameters: Sequence[Parameter], doc: str, fixed: Mapping[str, object]) -> Callable[..., None]:
    filled: dict[str, Any] = {one.name: ACTOR for one in operation.parameters if one.mark(Filled) == Filled("actor")}
    readers = {one.name: _reader(one) for one in parameters}
    placed = [one.name for one in parameters if one.has(Place)]
    positioned = bool(placed) and any(one.name == "line" for one in parameters)
    if positioned:
        parameters = [_optional(one) if one.name == "line" else one for one in parameters]
    rendering = rendering_of(operation.name)

    def work(here: CommandContext, **given: object) -> None:
        fails = given.pop(FAIL, not rendering.fail)
        asked = {name: readers[name](value) for name, value in given.items() if value not in (None, [])}
        asked = with_plain_paths(asked, placed, fills=positioned)
        answer = getattr(here.service(whole=operation.hints.searches), operation.name)(**asked, **filled, **fixed)
        show(here.output, answer, rendering)
        if fails and rendering.refused is not None and rendering.refused(answer):
            raise SystemExit(REFUSED)

    own = [_declared(one) for one in sorted(parameters, key=lambda one: not (one.is_required or one.has(Argument)))]
    if rendering.fail:
        said = typer.Option("--fail", help=rendering.fail)
        own.append(inspect.Parameter(FAIL, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, said]))
    work.__name__, work.__doc__ = operation.name, doc
    return framed(work, own)


def _reader(parameter: Parameter) -> Callable[[Any], Any]:
    """Return a function that converts a value from the command line.

    The function returns the value for the operation. For example, it removes the # from the id of a memory. Values that need no conversion
    are returned unchanged.
    """
    if parameter.has(Words):
        return " ".join
    if (ref := parameter.mark(Ref)) is not None and ref.to == MEMORY:
        return lambda given: given.removeprefix("#")  # ids are displayed with #, which starts a comment in shells
    return lambda given: given


def _optional(parameter: Parameter) -> Parameter:
    """Make a parameter of a command optional but still positional."""
    return parameter._replace(hint=parameter.hint | None, marks=(*parameter.marks, Argument()), default=None)


def _declared(parameter: Parameter) -> inspect.Parameter:
    """Convert an operation's parameter to a typer one: name, option, help."""
    bounds, spelled = parameter.mark(Bounds), parameter.mark(Spelled) or Spelled()
    limits: dict[str, Any] = {"min": bounds.low, "max": bounds.high} if bounds else {}
    hint = list[str] if parameter.has(Words) else _plain(parameter.hint, parameter.name)
    many = list in (typing.get_origin(hint), *map(typing.get_origin, typing.get_args(hint)))
    if parameter.is_required or parameter.has(Argument):
        ref = parameter.mark(Ref)
        named = "memory" if ref is not None and ref.to == MEMORY and parameter.name == "id" else parameter.name
        named = "symbol" if named == "ref" else named
        name = spelled.metavar or named.rstrip("s" if many and not parameter.has(Words) else "").upper()
        shown = ("" if parameter.is_required else "[") + name + ("" if parameter.is_required else "]") + ("..." if many else "")
        said: Any = typer.Argument(help=_help(parameter), metavar=shown, **limits)
    else:
        letter, value = SPELLINGS.get(parameter.name, ("", ""))
        flags = spelled.flags or (_flag(parameter, many=many), *([letter] if letter else []))
        said = typer.Option(*flags, help=_help(parameter, many=many), metavar=spelled.metavar or value or None, **limits)
    default: Any = inspect.Parameter.empty
    if not parameter.is_required:
        default = spelled.default if spelled.default is not None else parameter.default or None
        if isinstance(parameter.default, (bool, float, int)) and spelled.default is None:
            default = parameter.default
        hint = hint | None if default is None else hint
    marks = (said, Was(spelled.was)) if spelled.was else (said,)
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[(hint, *marks)], default=default)


def _help(parameter: Parameter, *, many: bool = False) -> str | None:
    """Return the help of an option or argument as a sentence for `--help`.

    If `many` is true, the sentence says that the option may be repeated.
    """
    text = parameter.described.rstrip(".")
    return text and f"{text[0].upper()}{text[1:]}{' (repeatable)' if many else ''}."


def _flag(parameter: Parameter, *, many: bool) -> str:
    """Return the option for a parameter: `--max-depth` for `max_depth`.

    If the option may be repeated (`many`), its name is singular: `--kind` for `kinds`. A flag that is on by default can also be turned off:
    `--name/--no-name`.
    """
    name = parameter.name.replace("_", "-")
    return f"--{name}/--no-{name}" if parameter.default is True else f"--{name.removesuffix('s') if many else name}"


def _plain(hint: object, name: str) -> Any:
    """Convert `hint`, the type of an operation's parameter, to one for typer.

    For example, `Sequence[str]` becomes `list[str]`, and a `Literal` becomes an enum called `name`.
    """
    hint = split(hint)[0]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return StrEnum(name, {word: word for word in arguments if word})
    if origin in (Sequence, Iterable, list):
        return list[_plain(arguments[0], name)]  # type: ignore[misc]
    if arguments:
        kinds = [one for one in arguments if one is not type(None)]
        inner = _plain(kinds[0], name) if len(kinds) == 1 else str
        return inner | None if type(None) in arguments else inner
    return hint
