"""`graphmem coaccess`: which files move with these."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli import options
from graphmem.cli.door import door
from graphmem.cli.failures import REFUSED


def coaccess(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="What you change, from the project's root.")],
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=200, help="How many files.")] = 10,
    depth: Annotated[int, typer.Option("--depth", min=1, max=2, help="2: go on from what moves with them.")] = 1,
    min_sessions: Annotated[
        int, typer.Option("--min-sessions", min=0, help="Only what moved with them so often; 0: what names or code speak for as well.")
    ] = 0,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the files that move with these, in commits and in sessions of agents, best first.

    Ends with 1 when neither the index nor the history has any of them: what is shown then is guessed from names.
    """
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        answer = here.service(whole=True).co_access(files, k, depth=depth, min_sessions=min_sessions)
        if as_json:
            here.output.json(answer)
        elif quiet:
            for hit in answer.hits:
                here.output.line(hit.path)
        else:
            from graphmem.cli.render.coaccess import coaccess as show

            show(here.output, answer)
        if len(answer.unknown) == len(answer.files):
            raise SystemExit(REFUSED)
