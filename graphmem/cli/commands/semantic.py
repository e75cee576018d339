"""`graphmem modules`, `describe` and `drift`: the architecture."""

from __future__ import annotations

import time
from typing import Annotated, Final

import typer

from graphmem.cli.command import command
from graphmem.cli.commands.impact import range_of
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED

PROGRESS_S: Final = 5.0  # between two reports of progress


@command()
def modules(
    here: CommandContext,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[MODULE]", help="Show only this module, given by its name, its id, or the path of a file in it."),
    ] = None,
) -> None:
    """Show the modules of the project, their layers and dependencies.

    A module is a group of files that belong together.
    """
    from graphmem.cli.render import semantic as render

    if name is None:
        found = here.service().modules()
        here.output.show(found, lambda: render.modules(here.output, found), *(one.name for one in found.modules))
    else:
        one = here.service().module(name)
        here.output.show(one, lambda: render.module(here.output, one), *(file.path for file in one.files))


@command()
def describe(
    here: CommandContext,
    *,
    wait: Annotated[
        int,
        typer.Option(
            "--wait", min=0, help="Maximum seconds to wait until the model has written all paragraphs; 0: only report the progress."
        ),
    ] = 600,
) -> None:
    """Have a language model describe each module and call flow.

    A module is a group of files that belong together. A call flow is a chain of calls that starts at an entry point, such as a route. The
    configured model writes a paragraph about each. The command waits for the paragraphs.
    """
    from graphmem.cli.render import reasons as render

    service = here.service()
    until = time.monotonic() + wait
    found = service.paragraphs()
    while found.running and (left := until - time.monotonic()) > 0:
        here.output.note(f"{found.written:,} of {found.total:,} written")
        found = service.paragraphs(min(PROGRESS_S, left))
    here.output.show(found, lambda: render.paragraphs(here.output, found), str(found.written))
    if not found.model:
        raise SystemExit(REFUSED)


@command()
def drift(
    here: CommandContext,
    base: Annotated[
        str,
        typer.Argument(
            metavar="BASE", help="The older revision. BASE..HEAD names both, and with BASE...HEAD the older one is their merge base."
        ),
    ],
    head: Annotated[str | None, typer.Argument(metavar="[HEAD]", help="The newer revision; default: the indexed files.")] = None,
    *,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with code 1 when the newer revision adds a cycle of modules.")] = False,
) -> None:
    """Show how the architecture changed between two revisions.

    The command compares modules, dependencies, cycles and the public API.
    """
    from graphmem.cli.render import semantic as render

    if head is None and ".." in base:
        base, head = range_of(base)
        head = head or "HEAD"
    here.output.note(("reading both trees; this takes as long as indexing them", "dim"))
    found = here.service().drift(base, head)
    here.output.show(found, lambda: render.drift(here.output, found), *(one.name for one in found.modules))
    if fail and found.new_cycles:
        raise SystemExit(REFUSED)
