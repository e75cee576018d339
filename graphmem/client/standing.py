"""A connection that starts the project's server again when it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.errors import OwnerUnreachableError, WrongIndexError

if TYPE_CHECKING:
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.settings import Location


class Standing:
    """Connection to the project's server, which it restarts when it has ended.

    Args:
        location: location of the project's index.
    """

    def __init__(self, location: Location) -> None:
        self._location = location
        self._found: RemoteGraphMem | None = None

    def service(self) -> RemoteGraphMem:
        """A client of the running server, which is started if necessary."""
        from graphmem.client.connecting import connect_or_start

        if self._found is not None:
            try:
                self._found.project()
            except (OwnerUnreachableError, WrongIndexError):
                self._found = None
        if self._found is None:
            self._found = connect_or_start(self._location)
        return self._found
