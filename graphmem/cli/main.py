"""The `graphmem` command: its subcommands, and the one place every ending passes."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, MutableMapping
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

# What `graphmem NAME` runs: a function, or an application with commands of its own, in a module of `graphmem.cli.commands`.
# In the order in which `--help` lists them.
COMMANDS: Final = {
    "serve": "serve:serve",
    "index": "index:index",
    "impact": "impact:impact",
    "coaccess": "coaccess:coaccess",
    "search": "ask:search",
    "ask": "ask:ask",
    "symbol": "ask:symbol",
    "path": "ask:path",
    "cypher": "cypher:cypher",
    "modules": "semantic:modules",
    "flows": "semantic:flows",
    "entry-points": "semantic:entry_points",
    "describe": "semantic:describe",
    "commits": "semantic:commits",
    "cycles": "semantic:cycles",
    "hotspots": "semantic:hotspots",
    "central": "semantic:central",
    "dead-code": "semantic:dead_code",
    "duplicates": "semantic:duplicates",
    "drift": "semantic:drift",
    "mcp": "mcp:mcp",
    "remember": "memory:remember",
    "recall": "memory:recall",
    "forget": "memory:forget",
    "pin": "memory:pin",
    "observe": "session_running:observe",
    "rules": "people:rules",
    "sync-file": "people:sync_file",
    "import": "people:import_",
    "context": "context:context",
    "plan": "context:plan",
    "trust": "context:trust",
    "install": "install:install",
    "uninstall": "install:uninstall",
    "hook": "install:hook",
    "export": "exports:export",
    "report": "exports:report",
    "doctor": "manage:doctor",
    "backup": "upkeep:backup",
    "restore": "upkeep:restore",
    "verify": "upkeep:verify",
    "rebuild": "upkeep:rebuild",
    "compact": "upkeep:compact",
    "config": "manage:config",
    "delete-all": "memory:delete_all",
    "version": "manage:version",
    "memory": "memory:app",
    "session": "session:app",
    "token": "token:app",
}


class _Commands(MutableMapping[str, Any]):
    """The commands by name, each made when it is asked for: making all takes longer than most of them run."""

    def __init__(self) -> None:
        self._targets: dict[str, str] = dict(COMMANDS)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name in self._targets:
                module, _, attribute = self._targets[name].partition(":")
                found = getattr(import_module(f"graphmem.cli.commands.{module}"), attribute)
            else:
                found = self._derived()[name]
            if isinstance(found, typer.Typer):
                self._made[name] = get_group(found)
            else:
                around = typer.Typer()
                around.command(name)(found)
                self._made[name] = get_group(around).commands[name]
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._targets.setdefault(name, "")
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._targets[name]
        self._made.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._targets or name in self._derived()

    def __iter__(self) -> Iterator[str]:
        return iter([*self._targets, *self._derived()])

    def __len__(self) -> int:
        return len(list(iter(self)))

    @staticmethod
    def _derived() -> dict[str, Any]:
        """Those that follow from operations; looked at when a name is not one of the others, and for help."""
        from graphmem.cli import derived

        return {name: derived.command_of(operation) for name, operation in derived.commands().items()}


class _Program(TyperGroup):
    """The outermost group: makes the command that is asked for, and lets Ctrl-C through to the entry point.

    Where no command has a sentence for Ctrl-C, typer would end without one.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands = _Commands()

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return list(self.commands)

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
