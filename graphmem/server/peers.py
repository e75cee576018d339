"""The servers of one directory of projects, which find each other.

Each server writes its address and its secret to a file in `servers`. A project is open in one server at a time. The lock file of the
project names this server's process, and the other servers pass requests for the project to it.
"""

from __future__ import annotations

import hmac
import os
import socket
from pathlib import Path
from typing import Final

import graphmem
from graphmem.location import DATABASE
from graphmem.maintenance.place import open_in
from graphmem.runtime.limits import disk_refusal
from graphmem.runtime.system import is_alive
from graphmem.server import owner
from graphmem.server.owner import Owner

FOLDER: Final = "servers"


class Peers:
    """The other servers of a directory, as one server sees them.

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
            for one in self._folder.glob(f"{socket.gethostname()}-*.json"):
                known = owner.read(one)
                if known is None or not is_alive(known.pid) or owner.process_start(known.pid) != known.started:
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
        """Return the other server that has an index open; None without one.

        A server that was killed is returned, too, until another one has opened the index.
        """
        holder = open_in(data_dir / DATABASE)
        if holder is None or holder["host"] != socket.gethostname() or holder["pid"] == os.getpid():
            return None
        return owner.read(self._place(holder["pid"]))

    def of_other_versions(self) -> list[Owner]:
        """Return the servers of this machine that run another version of graphmem."""
        known = map(owner.read, sorted(self._folder.glob(f"{socket.gethostname()}-*.json")))
        return [one for one in known if one is not None and one.version != graphmem.__version__]

    def _place(self, pid: int) -> Path:
        return self._folder / f"{socket.gethostname()}-{pid}.json"
