"""`graphmem organisation add`: register projects to search together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.output import plural
from graphmem.contracts import projects
from graphmem.errors import BadInputError


@command(without=("path", "project", "db", "home", "as_json"))
def add(
    here: CommandContext,
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH…", help="Root directories of projects that use each other's network interfaces (contracts)."),
    ],
    *,
    remove: Annotated[
        bool, typer.Option("--remove", help="Stop searching these projects: remove them from the list instead of adding them.")
    ] = False,
) -> None:
    """Register projects that use each other's contracts.

    A contract is a route, remote procedure or topic that one program offers to others. The list is stored for your account, outside the
    projects. `graphmem contracts` and `graphmem review` search the listed projects.
    """
    roots = [path.expanduser().resolve() for path in paths]
    missing = [path for path in roots if not path.is_dir() and not remove]
    if missing:
        raise BadInputError(f"{missing[0]} is not a directory; give the root directory of a project", argument="paths")
    kept = projects.change(roots, remove=remove)
    here.output.line(f"{plural(len(kept), 'project')} in the organisation:" if kept else "No projects in the organisation.")
    for one in kept:
        note = "" if projects.is_indexed(one) else "  (no index yet; run `graphmem index` there)"
        here.output.line(f"  {one}{note}")
