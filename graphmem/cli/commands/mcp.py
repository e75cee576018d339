"""`graphmem mcp`: answer a coding agent over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli import options
from graphmem.cli.door import door
from graphmem.errors import OwnerUnreachableError, WrongIndexError

if TYPE_CHECKING:
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.settings import Location


def mcp(
    path: Annotated[Path | None, typer.Argument(metavar="[PATH]", help="Root of the repository; default: the project around here.")] = None,
    *,
    db: options.Db = None,
    home: options.Home = False,
) -> None:
    """Speak the Model Context Protocol on standard input and output, for one editor window or agent.

    All windows of a project share one server, which is started when there is none and ends half an hour after the last question.
    """
    with door(quiet=True, db=db, home=home, project=path) as here:
        from graphmem.mcp_server.stdio import serve_stdio

        serve_stdio(_Standing(here.location).service)


class _Standing:
    """The project's server, found again when it has gone."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._found: RemoteGraphMem | None = None

    def service(self) -> RemoteGraphMem:
        """The server as it stands now."""
        from graphmem.client.connecting import connect_or_start

        if self._found is not None:
            try:
                self._found.project()
            except (OwnerUnreachableError, WrongIndexError):
                self._found = None
        if self._found is None:
            self._found = connect_or_start(self._location)
        return self._found
