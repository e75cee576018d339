"""A client of a project's server, which restarts the server if it ended."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from graphmem.errors import GraphMemError, OwnerUnreachableError, WrongIndexError
from graphmem.runtime.process.faults import unraised
from graphmem.server import owner

if TYPE_CHECKING:
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.location import Location


class Standing:
    """Returns clients of a project's server; restarts the server if needed.

    Args:
        location: location of the project's index.
    """

    def __init__(self, location: Location) -> None:
        self._location = location
        self._found: RemoteGraphMem | None = None
        self._owner: owner.Owner | None = None
        self._lock = threading.Lock()

    def start_beside(self) -> None:
        """Start the project's server in the background, if none runs.

        An error is reported by the next call of `service`.
        """
        from graphmem.client import connecting  # noqa: F401  # here, because two threads may see a partly loaded module

        def start() -> None:
            try:
                self.service()
            except GraphMemError:
                pass
            except Exception as error:  # noqa: BLE001 - the next call of `service` meets it again, where a person is told
                unraised(error, "starting the server")

        threading.Thread(target=start, name="graphmem-start", daemon=True).start()

    def service(self) -> RemoteGraphMem:
        """Return a client of the running server; start the server if necessary.

        No request is sent to check the server while the process named in `owner.json` is unchanged and runs. Otherwise, one request decides
        whether to start a server.
        """
        from graphmem.client.connecting import connect_or_start

        with self._lock:
            if self._found is not None and not self._is_same():
                try:
                    self._found.project()
                except (OwnerUnreachableError, WrongIndexError):
                    self._found = None
            if self._found is None:
                self._found = connect_or_start(self._location)
                self._owner = owner.read(self._location.owner_file)
            return self._found

    def _is_same(self) -> bool:
        """Whether the server process last found by `service` is still running."""
        return self._owner is not None and owner.read(self._location.owner_file) == self._owner and owner.is_running(self._owner)
