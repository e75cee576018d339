"""The `graphmem` command: its subcommands, and the one place every ending passes."""

from __future__ import annotations

import inspect
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from graphmem import __version__
from graphmem.cli.failures import BAD_USAGE, report_fault_of_thread, report_interrupt, report_unexpected
from graphmem.cli.output import Output

# Arrow's own allocator keeps a hundred megabytes of a large index for itself; has to be said before Arrow is loaded.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

# Commands that are written by hand: a function in a module of `graphmem.cli.commands`. The others follow from operations.
COMMANDS: Final = {
    "serve": "serve:serve",
    "index": "index:index",
    "impact": "impact:impact",
    "symbol": "symbol:symbol",
    "cypher": "cypher:cypher",
    "modules": "semantic:modules",
    "describe": "semantic:describe",
    "drift": "semantic:drift",
    "mcp": "mcp:mcp",
    "remember": "memory:remember",
    "recall": "memory:recall",
    "forget": "memory:forget",
    "pin": "memory:pin",
    "observe": "session:observe",
    "import": "people:import_",
    "context": "context:context",
    "trust": "context:trust",
    "install": "install:install",
    "uninstall": "install:uninstall",
    "hook": "install:hook",
    "export": "exports:export",
    "report": "exports:report",
    "doctor": "manage:doctor",
    "backup": "upkeep:backup",
    "restore": "upkeep:restore",
    "rebuild": "upkeep:rebuild",
    "config": "manage:config",
    "delete-all": "memory:delete_all",
    "version": "manage:version",
    "memory list": "memory:list_",
    "memory verify": "memory:verify",
    "memory alias": "memory:alias",
    "memory prune": "memory:prune",
    "memory scan": "memory:scan",
    "memory phases": "memory:phases",
    "session show": "session:show",
    "token create": "token:create",
    "token list": "token:list_",
    "token revoke": "token:revoke",
}
FAMILIES: Final = {
    "memory": "Read, review and look after what is known",
    "session": "What agents did and what was learnt from it",
    "token": "Tokens with which others ask the server",
}
# What `--help` shows, in its order. A command that is not named here stands in the last panel.
PANELS: Final = {
    "Find": "search ask symbol path modules flows entry-points central describe report export cypher",
    "Change": "impact coaccess reviewers commits cycles hotspots dead-code duplicates drift",
    "Memory": "remember recall forget pin memory rules sync-file import delete-all",
    "Agents": "install uninstall mcp hook context plan trust session observe",
    "Maintenance": "serve index doctor verify backup restore rebuild compact config token version",
}
ORDER: Final = {
    "": " ".join(PANELS.values()),
    "memory": "list show timeline review verify dispute resolve alias audit prune retract scan rebuild phases",
    "session": "list show summary running look start end undo groups",
}
"""Of the commands of a family; one that is not named here stands behind them."""
SHORT: Final = re.compile(r"[.;:](\s|$)")
"""Ends what a list of commands says of one."""


class _Commands(Mapping[str, Any]):
    """The commands of a family by name, each made when it is asked for: making all takes longer than most of them run.

    Args:
        family: whose commands; "" for the outermost.
    """

    def __init__(self, family: str = "") -> None:
        self._before = f"{family} " if family else ""
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._make(name, self._before + name)
        return self._made[name]

    def _make(self, name: str, full: str) -> Any:
        panel = next((title for title, names in PANELS.items() if full in names.split()), None)
        if full in FAMILIES:
            family: Any = get_group(typer.Typer(name=name, help=FAMILIES[full], no_args_is_help=True))
            family.rich_help_panel, family.commands = panel, _Commands(full)
            return family
        if full in COMMANDS:
            from graphmem.cli.command import Variant, runnable

            module, _, attribute = COMMANDS[full].partition(":")
            found = getattr(import_module(f"graphmem.cli.commands.{module}"), attribute)
            if isinstance(found, Variant):
                from graphmem.cli.derived import variant_of

                found = variant_of(found)
            else:
                found = runnable(found)
        else:
            from graphmem.cli.derived import command_of
            from graphmem.operations.finding import find_command

            operation = find_command(full)
            if operation is None:
                raise KeyError(name)
            found = command_of(operation)
        around = typer.Typer()
        short = SHORT.split(inspect.getdoc(found) or "", maxsplit=1)[0]
        around.command(name, short_help=short, rich_help_panel=panel)(found)
        return get_group(around).commands[name]

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of the panels."""
        from graphmem.operations.registry import registry

        every = [*FAMILIES, *COMMANDS, *(one.hints.command for one in registry().values() if one.hints.command)]
        mine = [one.removeprefix(self._before) for one in every if one.startswith(self._before)]
        names = [one for one in mine if " " not in one]
        order = ORDER.get(self._before.strip(), "").split()
        return iter(sorted(names, key=lambda one: order.index(one) if one in order else len(order)))

    def __len__(self) -> int:
        return len(list(iter(self)))


class _Program(TyperGroup):
    """The outermost group: makes the command that is asked for, and lets Ctrl-C through to the entry point.

    Where no command has a sentence for Ctrl-C, typer would end without one.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands: Any = _Commands()

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            report_interrupt(Output(), "")


app = typer.Typer(
    name="graphmem",
    cls=_Program,
    help="Remembers a codebase the way its senior engineer does: what breaks if this changes, and where is it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"graphmem {__version__}\n")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and end.")] = False,
) -> None:
    del version  # its callback did it


def _run_for_a_program() -> None:
    """The same where the answer is JSON: so is what is said of arguments that cannot be."""
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        argument = getattr(getattr(error, "param", None), "name", None) or getattr(error, "option_name", None)
        said = {"code": "BAD_INPUT", "message": error.format_message(), "argument": argument}
        Output(as_json=True).json({"error": said})
        raise SystemExit(BAD_USAGE) from error
    raise SystemExit(code if isinstance(code, int) else 0)


def run() -> None:
    """Entry point. Exit codes: 0 done, 1 refused or found, 2 bad usage, 3 internal, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a path that is no text must not end a command
    threading.excepthook = report_fault_of_thread
    try:
        if "--json" in sys.argv[1:]:
            _run_for_a_program()
        else:
            app()
    except Exception as error:  # noqa: BLE001 -- the outermost frame: anything here is a fault of graphmem and is said so
        report_unexpected(error, Output(as_json="--json" in sys.argv[1:]))
