"""`graphmem mcp`: answer a coding agent over standard input and output."""

from __future__ import annotations

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext


@command(takes_root=True, without=("as_json", "quiet"), is_quiet=True)
def mcp(here: CommandContext) -> None:
    """Answer a coding agent over standard input and output.

    graphmem speaks the Model Context Protocol, for one editor window or agent.

    All windows of a project share one server, which starts when needed and ends half an hour after the last request.
    """
    from graphmem.client.standing import Standing
    from graphmem.mcp_server.stdio import serve_stdio

    serve_stdio(Standing(here.location).service)
