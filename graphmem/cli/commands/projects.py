"""`graphmem push`: send an index to a server of several projects."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.rendering import rendering_of, show
from graphmem.errors import BadInputError


@command(without=("server", "branch"))
def push(
    here: CommandContext,
    address: Annotated[
        str, typer.Argument(metavar="[URL]", help="Address of the project on the server, https://host/p/NAME; default: the setting server.")
    ] = "",
    branch: Annotated[
        str, typer.Option("--branch", metavar="NAME", help="Name of the branch to send; default: the checked-out branch.")
    ] = "",
    private: Annotated[bool, typer.Option("--private", help="If the branch is new on the server, only you can see it.")] = False,
) -> None:
    """Send this project's index to a server of several projects.

    Run `graphmem index` first. Only files that the server does not have are sent. If a branch is checked out, the server keeps it beside
    the main branch. The token is that of `graphmem login`, or GRAPHMEM_SERVER_TOKEN.
    """
    address = address or here.settings.server
    if not address:
        raise BadInputError("the address of the server is missing; write it as in `graphmem push https://host/p/NAME`", argument="address")
    answer = here.service(here=True).push_index(address, here.server_token(address), branch, private)
    show(here.output, answer, rendering_of("push_index"))
