"""The `graphmem` command: its subcommands, and the one place every ending passes."""

from __future__ import annotations

import os
import sys
import threading
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from graphmem import __version__
from graphmem.cli.commands import (
    ask,
    coaccess,
    context,
    cypher,
    exports,
    impact,
    index,
    install,
    manage,
    mcp,
    memory,
    people,
    semantic,
    serve,
    session,
    session_running,
    token,
    upkeep,
)
from graphmem.cli.failures import report_fault_of_thread, report_interrupt, report_unexpected
from graphmem.cli.output import Output

# Arrow's own allocator keeps a hundred megabytes of a large index for itself; has to be said before Arrow is loaded.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


class _Commands(TyperGroup):
    """Lets Ctrl-C through to the entry point: where no command has a sentence for it, typer would end without one."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            report_interrupt(Output(), "")


app = typer.Typer(
    name="graphmem",
    cls=_Commands,
    help="Remembers a codebase the way its senior engineer does: what breaks if this changes, and where is it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(serve.serve)
app.command()(index.index)
app.command()(impact.impact)
app.command()(coaccess.coaccess)
app.command()(ask.search)
app.command()(ask.ask)
app.command()(ask.symbol)
app.command()(ask.path)
app.command()(cypher.cypher)
app.command()(semantic.modules)
app.command()(semantic.flows)
app.command("entry-points")(semantic.entry_points)
app.command()(semantic.describe)
app.command()(semantic.commits)
app.command()(semantic.cycles)
app.command()(semantic.hotspots)
app.command()(semantic.central)
app.command("dead-code")(semantic.dead_code)
app.command()(semantic.duplicates)
app.command()(semantic.drift)
app.command()(mcp.mcp)
app.command()(memory.remember)
app.command()(memory.recall)
app.command()(memory.forget)
app.command()(memory.pin)
app.add_typer(memory.app)
app.command()(session_running.observe)
session.app.command()(session_running.start)
session.app.command()(session_running.end)
session.app.command()(session_running.running)
session.app.command()(session_running.look)
app.add_typer(session.app)
app.add_typer(token.app)
app.command()(people.rules)
app.command("sync-file")(people.sync_file)
app.command("import")(people.import_)
app.command()(context.context)
app.command()(context.plan)
app.command()(context.trust)
memory.app.command()(context.budget)
app.command()(install.install)
app.command()(install.uninstall)
app.command()(install.hook)
app.command()(exports.export)
app.command()(exports.report)
app.command()(manage.doctor)
app.command()(upkeep.backup)
app.command()(upkeep.restore)
app.command()(upkeep.verify)
app.command()(upkeep.rebuild)
app.command()(upkeep.compact)
app.command()(manage.config)
app.command("delete-all")(memory.delete_all)
app.command()(manage.version)


def _print_version(asked: bool) -> None:
    if asked:
        sys.stdout.write(f"graphmem {__version__}\n")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and end.")] = False,
) -> None:
    del version  # its callback did it


def run() -> None:
    """Entry point. Exit codes: 0 done, 1 refused or found, 2 bad usage, 3 internal, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a path that is no text must not end a command
    threading.excepthook = report_fault_of_thread
    try:
        app()
    except Exception as error:  # noqa: BLE001 -- the outermost frame: anything here is a fault of graphmem and is said so
        report_unexpected(error)
