"""`graphmem mcp`: answer a coding agent over standard input and output."""

from __future__ import annotations

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext


@command(takes_root=True, without=("as_json", "quiet"), is_quiet=True)
def mcp(here: CommandContext) -> None:
    """Answer a coding agent over standard input and output.

    graphmem speaks the Model Context Protocol, for one editor window or agent.

    All windows of a project share one server. It starts at once if the project has an index, otherwise with the first question, and ends
    half an hour after the last request.
    """
    from graphmem.client.standing import Standing
    from graphmem.mcp_server.stdio import serve_stdio
    from graphmem.server.waking import has_index

    standing = Standing(here.location)
    if has_index(here.location):
        standing.start_beside()  # hooks need the server before the agent calls a tool
    serve_stdio(standing.service)
