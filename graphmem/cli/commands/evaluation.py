"""`graphmem eval`: search measured on the project's own commits."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.errors import BadInputError


@command()
def evaluate(
    here: CommandContext,
    *,
    accept: Annotated[bool, typer.Option("--accept", help="Use the proposed search weights from now on.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Restore the built-in search weights.")] = False,
    commits: Annotated[
        int, typer.Option("--commits", min=60, max=1_000, help="The maximum number of commits whose messages are used as test queries.")
    ] = 200,
) -> None:
    """Measure search on the project's own commits; propose weights.

    The messages of recent commits are the queries. The files that each commit changed are the right answers. The command takes up to two
    minutes. Proposed weights apply only after --accept.
    """
    if accept and reset:
        raise BadInputError("--accept and --reset cannot be combined; use one of them", argument="accept")
    from graphmem.cli.render.evaluation import evaluation

    service = here.service()
    if accept or reset:
        found = service.choose_search_weights("proposed" if accept else "built-in", commits=commits)
    else:
        found = service.search_evaluation(commits=commits)
    here.output.show(found, lambda: evaluation(here.output, found), *(f"{one.name} {one.factor:g}" for one in found.weights))
