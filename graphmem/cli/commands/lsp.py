"""`graphmem lsp`: answer an editor over standard input and output."""

from __future__ import annotations

from graphmem.cli.command import command
from graphmem.cli.door import Door
from graphmem.errors import BadInputError


@command(takes_root=True, without=("as_json", "quiet"), is_quiet=True)
def lsp(here: Door) -> None:
    """Answer an editor over standard input and output.

    It speaks the Language Server Protocol, beside the language server of the language.

    All windows of a project share one server. It is started if needed, and ends half an hour after the last request.
    """
    from graphmem.client.standing import Standing

    try:
        from graphmem.lsp.server import build_server
    except ModuleNotFoundError as error:
        raise BadInputError(f"{error.name} is not installed; run `pip install graphmem[lsp]`", argument="lsp") from error

    build_server(Standing(here.location).service).start_io()
