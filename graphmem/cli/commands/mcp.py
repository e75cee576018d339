"""`graphmem mcp`: answer a coding agent over standard input and output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.cli.command import command
from graphmem.cli.door import Door
from graphmem.errors import OwnerUnreachableError, WrongIndexError

if TYPE_CHECKING:
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.settings import Location


@command(takes_root=True, without=("as_json", "quiet"), is_quiet=True)
def mcp(here: Door) -> None:
    """Answer a coding agent over standard input and output.

    It speaks the Model Context Protocol, for one editor window or agent.

    All windows of a project share one server. It is started if needed, and ends half an hour after the last request.
    """
    from graphmem.mcp_server.stdio import serve_stdio

    serve_stdio(_Standing(here.location).service)


class _Standing:
    """The project's server, which is started again when it has ended."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._found: RemoteGraphMem | None = None

    def service(self) -> RemoteGraphMem:
        """The current server."""
        from graphmem.client.connecting import connect_or_start

        if self._found is not None:
            try:
                self._found.project()
            except (OwnerUnreachableError, WrongIndexError):
                self._found = None
        if self._found is None:
            self._found = connect_or_start(self._location)
        return self._found
