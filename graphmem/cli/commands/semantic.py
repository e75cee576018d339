"""`graphmem modules`, `cycles`, `flows`, `hotspots`, `dead-code` and the like: the whole, not one symbol."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Annotated, Final

import typer

from graphmem.cli import options
from graphmem.cli.commands.memory import show_answer
from graphmem.cli.door import door
from graphmem.cli.failures import REFUSED


class CycleLevel(StrEnum):
    """Between what cycles are looked for."""

    FILES = "files"
    MODULES = "modules"


class HotLevel(StrEnum):
    """What hot spots are looked for."""

    FILES = "files"
    SYMBOLS = "symbols"


class EntryKind(StrEnum):
    """Kinds of entry points."""

    MAIN = "main"
    COMMAND = "command"
    ROUTE = "route"
    EVENT = "event"
    TASK = "task"
    EXPORT = "export"
    TEST = "test"
    FIXTURE = "fixture"


PROGRESS_S: Final = 5.0  # between two words about how far it is

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="List at most this many; totals stay exact.")]
Kinds = Annotated[list[EntryKind] | None, typer.Option("--kind", help="Only entry points of this kind (repeatable).")]


def modules(
    name: Annotated[str | None, typer.Argument(metavar="[MODULE]", help="Open one: its name, its id, or a file in it.")] = None,
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what the project is made of: groups of files that belong together, their layers, and what depends on what."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        if name is None:
            found = here.service().modules()
            show_answer(here, found, lambda: render.modules(here.output, found), *(one.name for one in found.modules))
        else:
            one = here.service().module(name)
            show_answer(here, one, lambda: render.module(here.output, one), *(file.path for file in one.files))


def describe(
    *,
    wait: Annotated[int, typer.Option("--wait", min=0, help="Seconds to wait for it at most; 0 only says how far it is.")] = 600,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Have the configured language model write a paragraph about each module and flow, and wait for it."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        service = here.service()
        until = time.monotonic() + wait
        found = service.paragraphs()
        while found.running and (left := until - time.monotonic()) > 0:
            here.output.note(f"{found.written:,} of {found.total:,} written")
            found = service.paragraphs(min(PROGRESS_S, left))
        show_answer(here, found, lambda: render.paragraphs(here.output, found), str(found.written))
        if not found.model:
            raise SystemExit(REFUSED)


def commits(
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="How many.")] = 20,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the newest commits with the modules they touched; merges are left out."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().commits(limit)
        show_answer(here, found, lambda: render.commits(here.output, found), *(one.sha for one in found.commits))


def cycles(
    *,
    level: Annotated[CycleLevel, typer.Option("--level", help="Between files (by their imports) or between modules.")] = CycleLevel.FILES,
    limit: Limit = 20,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 when there is one.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show cycles, largest first, each with the cheapest edge to cut and the lines it is made of."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().cycles(level.value, limit)
        show_answer(here, found, lambda: render.cycles(here.output, found), *(" ".join(one.members) for one in found.cycles))
        if fail and found.total:
            raise SystemExit(REFUSED)


def entry_points(
    *,
    kinds: Kinds = None,
    limit: Limit = 50,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show entry points: mains, commands, routes, events, tasks and what a library exports. Tests and fixtures by --kind."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().entry_points([kind.value for kind in kinds] if kinds else None, limit=limit)
        show_answer(here, found, lambda: render.entry_points(here.output, found), *(one.symbol.ref for one in found.entry_points))


def flows(
    module: Annotated[str | None, typer.Argument(metavar="[MODULE]", help="Only flows that pass this module.")] = None,
    *,
    kinds: Kinds = None,
    limit: Limit = 10,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show ways through the code from entry points along confident calls, those through the most modules first."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().flows([kind.value for kind in kinds] if kinds else None, module=module, limit=limit)
        show_answer(here, found, lambda: render.flows(here.output, found), *(one.name for one in found.flows))


def hotspots(
    *,
    level: Annotated[HotLevel, typer.Option("--level", help="Files or symbols.")] = HotLevel.FILES,
    limit: Limit = 20,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show where change hurts: what is often changed, complex, and depended upon."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().hotspots(level.value, limit=limit)
        show_answer(here, found, lambda: render.hotspots(here.output, found), *(one.symbol.ref for one in found.hotspots))


def central(
    *,
    limit: Limit = 20,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the definitions that much of the rest leans on, directly or not."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().central_symbols(limit)
        show_answer(here, found, lambda: render.central(here.output, found), *(one.symbol.ref for one in found.symbols))


def dead_code(
    *,
    min_confidence: Annotated[
        float, typer.Option("--min-confidence", "-c", min=0.0, max=1.0, help="Leave out what is less certain to be dead.")
    ] = 0.6,
    limit: Limit = 50,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 when there is any.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show definitions that nothing seems to need, most certain first, with the reason. Public API is left out and counted."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().dead_code(min_confidence, limit=limit)
        show_answer(here, found, lambda: render.dead_code(here.output, found), *(one.symbol.ref for one in found.symbols))
        if fail and found.total:
            raise SystemExit(REFUSED)


def duplicates(
    *,
    min_tokens: Annotated[int, typer.Option("--min-tokens", min=20, max=10_000, help="Pass over shorter pieces.")] = 50,
    similarity: Annotated[float, typer.Option("--similarity", min=0.5, max=1.0, help="How alike near duplicates have to be.")] = 0.85,
    tests: Annotated[bool, typer.Option("--tests", help="Look in tests as well.")] = False,
    limit: Limit = 20,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show pieces of code that say the same, those with the most lines to save first."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        found = here.service().duplicates(min_tokens, similarity, tests, limit=limit)
        places = (f"{one.path}:{one.start_line}" for group in found.groups for one in group.places)
        show_answer(here, found, lambda: render.duplicates(here.output, found), *places)


def drift(
    base: Annotated[str, typer.Argument(metavar="BASE", help="The older revision; BASE..HEAD names both.")],
    head: Annotated[str | None, typer.Argument(metavar="[HEAD]", help="The newer one; default: the index as it is.")] = None,
    *,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with 1 when there is a new cycle.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show how the architecture changed between two revisions: modules, dependencies, cycles, public API."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import semantic as render

        if head is None and ".." in base:
            base, _, last = base.replace("...", "..").partition("..")
            base, head = base or "HEAD", last or "HEAD"
        here.output.note(("reading both trees; this takes as long as indexing them", "dim"))
        found = here.service().drift(base, head)
        show_answer(here, found, lambda: render.drift(here.output, found), *(one.name for one in found.modules))
        if fail and found.new_cycles:
            raise SystemExit(REFUSED)
