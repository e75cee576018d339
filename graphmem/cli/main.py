"""The `graphmem` command: its subcommands and its entry point."""

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

# Arrow's own allocator keeps a hundred megabytes of a large index. The variable must be set before Arrow is loaded.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

# Handwritten commands, functions in modules of `graphmem.cli.commands`. The others are derived from operations.
COMMANDS: Final = {
    "serve": "serve:serve",
    "index": "index:index",
    "impact": "impact:impact",
    "review": "review:review",
    "symbol": "symbol:symbol",
    "cypher": "cypher:cypher",
    "modules": "semantic:modules",
    "describe": "semantic:describe",
    "drift": "semantic:drift",
    "check": "boundaries:check",
    "mcp": "mcp:mcp",
    "lsp": "lsp:lsp",
    "remember": "memory:remember",
    "recall": "memory:recall",
    "forget": "memory:forget",
    "pin": "memory:pin",
    "observe": "session:observe",
    "sync": "organisation:sync",
    "push": "projects:push",
    "login": "server:login",
    "server invite": "server:invite",
    "server role": "server:role",
    "server team": "server:team",
    "server token": "server:token",
    "server enable": "server:enable",
    "server people": "server:people",
    "server audit": "server:audit",
    "server export": "server:export",
    "server erase": "server:erase",
    "organisation try": "organisation:try_",
    "organisation add": "contracts:add",
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
    "eval": "evaluation:evaluate",
    "config": "manage:config",
    "delete-all": "memory_upkeep:delete_all",
    "version": "manage:version",
    "self-check": "self_check:self_check",
    "memory list": "memory:list_",
    "memory verify": "memory:verify",
    "memory alias": "memory:alias",
    "memory status": "memory:status",
    "memory search": "memory:recall",
    "memory edit": "memory:edit",
    "memory onboard": "memory:onboard",
    "memory auto": "memory_upkeep:auto",
    "memory config": "memory_upkeep:config",
    "memory prune": "memory_upkeep:prune",
    "memory encrypt": "memory_upkeep:encrypt",
    "memory decrypt": "memory_upkeep:decrypt",
    "memory scan": "memory_upkeep:scan",
    "memory phases": "memory_upkeep:phases",
    "session show": "session:show",
    "token create": "token:create",
    "token list": "token:list_",
    "token revoke": "token:revoke",
}
FAMILIES: Final = {
    "memory": "Read, review and maintain memories",
    "session": "Sessions of agents and what was learnt from them",
    "organisation": "Memories that are shared with a team",
    "server": "People of a server of many projects",
    "token": "Access tokens of the index's server",
}
# The panels of `--help`, in its order. A command that is not listed here is in the last panel.
PANELS: Final = {
    "Find": "search search-projects ask symbol symbol-at occurrences usages implementations edges path modules flows entry-points central "
    "describe report export cypher",
    "Change": "impact impact-projects review contracts coaccess reviewers people commits cycles boundary hotspots dead-code duplicates "
    "drift check",
    "Memory": "remember recall forget pin memory rules sync organisation sync-file import delete-all",
    "Agents": "install uninstall mcp lsp hook context plan trust session observe",
    "Maintenance": "serve projects push drop-branch login server index doctor verify backup restore rebuild compact eval config token "
    "version self-check",
}
ORDER: Final = {
    "": " ".join(PANELS.values()),
    "memory": "status onboard list search show edit timeline review verify dispute resolve alias auto config "
    "audit prune retract scan rebuild phases encrypt decrypt",
    "organisation": "try add status decide news comments comment found invite people team role enable audit export erase dissolve",
    "server": "invite role team token enable people audit export erase",
    "session": "list show summary running look start end undo groups",
}
"""Order of the commands of a group; one that is not listed here follows them."""
ELSEWHERE: Final = {
    "symbol": "callers callees show definition def info references refs",
    "search": "find grep query",
    "impact": "affected affected-tests tests blast deps dependents dependencies",
    "review": "diff changes pr",
    "reviewers": "blame owner owners codeowners who",
    "commits": "log history",
    "index": "init build update scan reindex analyze analyse",
    "serve": "ui web explore explorer start open",
    "doctor": "status health stats",
    "remember": "add note save store learn",
    "export": "graph dump visualize visualise",
    "install": "setup",
}
"""Words of other tools by the command that does the same here."""
SHORT: Final = re.compile(r"[.;:](\s|$)")
"""End of the help of a command in a list of commands."""


class _Commands(Mapping[str, object]):
    """The commands of a group, such as `memory`.

    Each command is made at its first use, because making all at once would take longer than most commands run.

    Args:
        family: name of the group; "" for the top-level commands.
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
        """Yield the names of commands, in the order of the help's panels."""
        from graphmem.operations.registry import registry

        every = [*FAMILIES, *COMMANDS, *(one.hints.command for one in registry().values() if one.hints.command)]
        mine = [one.removeprefix(self._before) for one in every if one.startswith(self._before)]
        names = [one for one in mine if " " not in one]
        order = ORDER.get(self._before.strip(), "").split()
        return iter(sorted(names, key=lambda one: order.index(one) if one in order else len(order)))

    def __len__(self) -> int:
        return len(list(iter(self)))


class _Program(TyperGroup):
    """The `graphmem` command itself, which makes subcommands when needed.

    After Ctrl-C it prints a message, which typer would not do.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.commands: Any = _Commands()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the subcommand that a person typed.

        Some commands have another name in other tools. If a person types that name, the error suggests graphmem's command.
        """
        try:
            return super().resolve_command(ctx, args)
        except TyperException as error:
            meant = [f"`graphmem {name}`" for name, words in ELSEWHERE.items() if args and args[0] in words.split()]
            if meant:
                error.message = f"No command is named {args[0]!r}; {meant[0]} does the same."
            raise

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            report_interrupt(Output(), "")


app = typer.Typer(
    name="graphmem",
    cls=_Program,
    help=(
        "A knowledge graph of a codebase: what breaks if this changes, where is it, and why is it so.\n\n"
        "Begin in a repository with `graphmem index`, then ask, for example `graphmem impact NAME` or `graphmem search WORDS`. "
        "`graphmem serve` also serves an explorer for your browser."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        sys.stdout.write(f"graphmem {__version__}\n")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")] = False,
) -> None:
    del version  # its callback did it


def _run_for_a_program() -> None:
    """Run the command line for another program; print usage errors as JSON.

    Raises:
        SystemExit: always, with the exit code.
    """
    try:
        code = app(standalone_mode=False)
    except TyperException as error:
        argument = getattr(getattr(error, "param", None), "name", None) or getattr(error, "option_name", None)
        said = {"code": "BAD_INPUT", "message": error.format_message(), "argument": argument}
        Output(as_json=True).json({"error": said})
        raise SystemExit(BAD_USAGE) from error
    raise SystemExit(code if isinstance(code, int) else 0)


def run() -> None:
    """Run the command line of `graphmem`.

    Exit codes: 0 done, 1 request refused or problems found, 2 wrong usage, 3 internal error, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a path that is not valid text must not end a command
    threading.excepthook = report_fault_of_thread
    try:
        if "--json" in sys.argv[1:]:
            _run_for_a_program()
        else:
            app()
    except Exception as error:  # noqa: BLE001 -- the outermost frame: any error here is a fault of graphmem
        report_unexpected(error, Output(as_json="--json" in sys.argv[1:]))
