"""Define commands: the options that all share, and how each one runs.

A command is a function whose first parameter is the open `CommandContext`. `@command` declares how the command differs from others. Two
annotations extend typer's annotations: `Was` is an earlier name of an option, and `Setting` marks an option whose value is a setting.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import typer

from graphmem.cli import options
from graphmem.cli.context import CommandContext, IndexChoice, command_context
from graphmem.cli.options import Setting, Was
from graphmem.operations.declare import split

F = TypeVar("F", bound=Callable[..., Any])

ROOT: Final = "path"
COMMON: Final[Mapping[str, tuple[Any, Any]]] = MappingProxyType(
    {
        ROOT: (options.Root, None),
        "project": (options.Project, None),
        "db": (options.Db, None),
        "home": (options.Home, False),
        "server": (options.Server, None),
        "branch": (options.Branch, None),
        "as_json": (options.Json, False),
        "quiet": (options.Quiet, False),
    }
)
MARK: Final = "__command__"


class Frame(NamedTuple):
    """The arguments of the decorator `@command`, by which commands differ.

    `without` lists the common options that the command does not have. `is_quiet` makes the command print only its answer.
    """

    without: Collection[str] = (ROOT,)
    is_quiet: bool = False


class Variant(NamedTuple):
    """A second command for an operation, with some parameters fixed.

    Args:
        operation: name of the operation.
        doc: help text of the command.
        fixed: values of the operation's parameters that are not options of the command, by name.
        defaults: maps a parameter to its default in this command, if that differs from the operation's default.
    """

    operation: str
    doc: str
    fixed: Mapping[str, Any] = MappingProxyType({})
    defaults: Mapping[str, Any] = MappingProxyType({})


def command(*, takes_root: bool = False, without: Collection[str] = (), is_quiet: bool = False) -> Callable[[F], F]:
    """Decorator that declares a function as a command of the command line.

    Args:
        takes_root: the project is the command's first argument, instead of the option `--project`.
        without: common options that the command does not have.
        is_quiet: the command prints only its answer, as with `--quiet`.
    """
    local: tuple[str, ...] = ("server",) if takes_root or "db" in without else ()  # nothing to ask a server
    local += ("branch",) if "server" in {*without, *local} else ()
    frame = Frame({*without, *local, "project" if takes_root else ROOT}, is_quiet)

    def decorate(function: F) -> F:
        setattr(function, MARK, frame)
        return function

    return decorate


def runnable(function: Callable[..., Any]) -> Callable[..., None]:
    """Build the function that typer registers for a function with `@command`.

    A function without `@command` is returned unchanged, because typer can register it as it is.
    """
    frame: Frame | None = getattr(function, MARK, None)
    if frame is None:
        return function
    names = vars(inspect.getmodule(function))
    own = [
        one.replace(annotation=eval(one.annotation, names))  # noqa: S307 - an annotation of this package
        for one in list(inspect.signature(function).parameters.values())[1:]
    ]
    return framed(function, own, frame)


def framed(work: Callable[..., Any], own: list[inspect.Parameter], frame: Frame = Frame()) -> Callable[..., None]:  # noqa: B008
    """Build the function that typer registers for a command that calls `work`.

    The function takes the parameters in `own` and the options that all commands share.

    Args:
        work: receives the open `CommandContext` and the command's own parameters by name.
        own: the command's own parameters; their annotations must be types, not strings.
        frame: options of this command that differ from the default.
    """
    marks = {one.name: split(one.annotation)[1] for one in own}
    settings = [name for name, said in marks.items() if any(isinstance(one, Setting) for one in said)]
    was = {f"{name}_was": name for name, said in marks.items() if any(isinstance(one, Was) for one in said)}
    common = [name for name in COMMON if name not in frame.without and name not in marks]

    def run(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in common}
        earlier = {name: value for name in was if (value := given.pop(name)) is not None}
        flags = {name: _as_setting(given.pop(name)) for name in settings}
        place = chosen.pop(ROOT, None) or chosen.pop("project", None)
        shown = {"quiet": frame.is_quiet, **{name: chosen.pop(name) for name in ("as_json", "quiet") if name in chosen}}
        with command_context(IndexChoice(**{**chosen, "project": place}), flags, **shown) as here:
            for name, value in earlier.items():
                given[was[name]] = value
                _warn(here, next(one for one in marks[was[name]] if isinstance(one, Was)), was[name])
            work(here, **given)

    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    parameters += [_earlier(one, marks[one.name], name) for name, now in was.items() for one in own if one.name == now]
    for name in common:
        hint, default = COMMON[name]
        at = 0 if name == ROOT else len(parameters)
        parameters.insert(at, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint))
    run.__name__, run.__doc__ = work.__name__, work.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _as_setting(value: object) -> Any:
    """Convert the value of a command's option to the value of a setting.

    A path becomes a string. False becomes None, because the user did not give the flag. Then the setting stays unchanged.
    """
    return str(value) if isinstance(value, Path) else None if value is False else value


def _earlier(parameter: inspect.Parameter, marks: tuple[object, ...], name: str) -> inspect.Parameter:
    """Make a hidden option that accepts the earlier names of an option.

    Args:
        parameter: the option under its current name.
        marks: metadata of the option's annotation; a `Was` in it has the earlier names.
        name: name of the parameter for the hidden option.
    """
    was = next(one for one in marks if isinstance(one, Was))
    hint, default = split(parameter.annotation)[0], parameter.default
    said = typer.Option(*was.flags, hidden=True, help=f"Deprecated; use --{parameter.name.replace('_', '-')} instead.")
    kind = hint if default is None else hint | None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, said])


def _warn(here: CommandContext, was: Was, now: str) -> None:
    here.output.stderr.line(
        ("graphmem: ", "yellow"), f"{' and '.join(was.flags)} will be removed in the next release; use --{now.replace('_', '-')}"
    )
