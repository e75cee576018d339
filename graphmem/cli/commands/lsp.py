"""`graphmem lsp`: answer an editor over standard input and output."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.errors import BadInputError
from graphmem.location import locate
from graphmem.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graphmem.client.connecting import Service


@command(takes_root=True, without=("as_json", "quiet"), is_quiet=True)
def lsp(
    here: CommandContext,
    port: Annotated[
        int,
        typer.Option(
            "--port", "-p", min=0, max=65_535, help="Serve one editor on this TCP port of this machine; 0: use standard input and output."
        ),
    ] = 0,
) -> None:
    """Answer an editor over standard input and output, or a socket.

    graphmem speaks the Language Server Protocol, in addition to the usual language server of a programming language.

    All windows of a project share one server, which starts when needed and ends half an hour after the last request.
    """
    from graphmem.client.standing import Standing

    if find_spec("pygls") is None:
        raise BadInputError("the Python package pygls is not installed; run `pip install graphmem[lsp]`", argument="lsp")
    standing = Standing(here.location)
    standing.start_beside()  # loading the protocol takes about as long as the start of the server
    from graphmem.lsp.loading import load_protocol

    load_protocol()
    from graphmem.lsp.server import build_server

    def elsewhere(folder: Path) -> Callable[[], Service]:
        return Standing(locate(folder, load_settings(folder, os.environ), os.environ)).service

    server = build_server(standing.service, None if here.settings.db else elsewhere)
    if port:
        server.start_tcp("127.0.0.1", port)
        return
    # The protocol has its own copy of standard output, which it closes. Anything printed goes to standard error.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server.start_io(stdout=output)
