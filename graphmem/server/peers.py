"""The servers of one directory of projects, which find each other.

Each server writes its address and its secret to a file in `.servers`. A project is open in one server at a time. The lock file of the
project names this server's process, and the other servers pass requests for the project to it.

Requests carry people's credentials. So a file counts only while the process that wrote it runs. Otherwise any other process could listen on
the address of a killed server.
"""

from __future__ import annotations

import hmac
import os
import socket
import time
from pathlib import Path
from typing import Final

import graphmem
from graphmem.errors import StoreBusyError
from graphmem.hooks.here import is_here
from graphmem.location import DATABASE
from graphmem.maintenance.place import open_in
from graphmem.runtime.process.limits import disk_refusal
from graphmem.server import owner
from graphmem.server.owner import Owner

FOLDER: Final = ".servers"  # not a valid project name, so no pushed file can be here
RETRY_S: Final = 0.1
_MOVING_S: Final = 10.0


class Peers:
    """The other servers that serve the same directory of projects.

    Args:
        folder: the directory of the projects.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._own: Owner | None = None

    def join(self, address: str, token: str) -> None:
        """Register this server, and remove the files of servers that have ended.

        `token` is a secret of this server, for the other servers.

        Raises:
            DiskFullError: the file cannot be written.
        """
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for one in self._places():
                if _running(one) is None:
                    one.unlink(missing_ok=True)
            self._own = owner.publish(self._place(os.getpid()), address, token, graphmem.__version__)
        except OSError as error:
            raise disk_refusal(error, "registering the server", self._folder) from error

    def leave(self) -> None:
        """Remove the registration of this server. Idempotent."""
        own, self._own = self._own, None
        if own is not None:
            owner.withdraw(self._place(own.pid), own)

    def is_peer(self, token: str) -> bool:
        """Whether `token` is this server's secret, which only its peers can read."""
        return self._own is not None and hmac.compare_digest(token.encode(), self._own.token.encode())

    def holding(self, data_dir: Path) -> Owner | None:
        """Return the other running server that has an index open, or None."""
        holder = open_in(data_dir / DATABASE)
        if holder is None or holder["host"] != socket.gethostname() or holder["pid"] == os.getpid():
            return None
        found = _running(self._place(holder["pid"]))
        return found if found is not None and found.pid == holder["pid"] else None

    def of_other_versions(self) -> list[Owner]:
        """Return the servers of this machine that run another version of graphmem.

        Servers whose process is stopped are left out.
        """
        known = map(_running, self._places())
        other = [one for one in known if one is not None and one.version != graphmem.__version__]
        return [one for one in other if owner.refusal_if_stopped(one) is None]

    def _places(self) -> list[Path]:
        """Return the files of servers on this machine, sorted.

        The name of another machine may begin with this machine's name: `web-2-17.json` is a file of `web-2`, and not of `web`.
        """
        start = f"{socket.gethostname()}-"
        every = self._folder.glob("*.json")
        return sorted(one for one in every if one.stem.startswith(start) and one.stem.removeprefix(start).isdecimal())

    def _place(self, pid: int) -> Path:
        return self._folder / f"{socket.gethostname()}-{pid}.json"


class Patience:
    """Limits the wait while a project moves from one server to another."""

    def __init__(self) -> None:
        self._end = time.monotonic() + _MOVING_S

    def lasts(self, error: Exception) -> bool:
        """Whether an error is temporary, so the request should be repeated.

        After the end of a server, the lock of its project becomes free only when its process has ended. When a server opens a project, it
        takes the lock before the lock file names the server.
        """
        return isinstance(error, StoreBusyError) and time.monotonic() < self._end


def _running(place: Path) -> Owner | None:
    """Return the server that a file names, if its process runs.

    The file of a process that has ended is deleted. A file with an address on another machine is ignored.
    """
    found = owner.read(place)
    if found is None or not is_here(found.address):
        return None
    if owner.is_running(found):
        return found
    owner.withdraw(place, found)
    return None
