"""Connect to the server that owns an index, or open the index in process.

Only one process can own an index (see `graphmem.server.owner`); other processes are clients of the owner. `connect` returns a client or an
open index. Both have the same operations and return the same dataclasses.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final, TypeAlias, TypeGuard
from urllib.parse import urlsplit

from graphmem.errors import BadInputError, NotIndexedError, StoreBusyError
from graphmem.location import DATABASE, SHARED
from graphmem.runtime.files.own_folder import FOR_PEOPLE, is_hidden
from graphmem.runtime.worktree import first_index
from graphmem.server import owner
from graphmem.server.starting import find_or_start

if TYPE_CHECKING:
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.location import Location
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

Service: TypeAlias = "GraphMem | RemoteGraphMem"

BUSY_PATIENCE_S: Final = 20.0  # maximum wait for each process that has the index open
QUEUE_PATIENCE_S: Final = 120.0  # maximum wait for all of them
LOOK_AGAIN_S: Final = 1.0  # between two attempts while the lock file says that the same process has the index open
_CHANCE: Final = random.SystemRandom()  # of its own: a program's seeded `random` stays as it is


def connect_or_start(location: Location) -> RemoteGraphMem:
    """Return a client of the server of an index; start the server if needed.

    See `server.starting`.

    Raises:
        OwnerUnreachableError: the server does not answer, or could not be started.
    """
    from graphmem.client.remote import RemoteGraphMem

    serving = find_or_start(location)
    return RemoteGraphMem(serving.address, serving.token, serving.index_id)


def checked_server(address: str, token: str) -> str:
    """Check the address of a server from the settings; return it.

    Raises:
        BadInputError: the address is invalid, or the token would be sent unencrypted.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username is not None:
        raise BadInputError(f"{address[:200]!r} is not the address of a project on a server; write https://host/p/NAME", argument="server")
    if token and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise BadInputError("the token would be sent unencrypted to the server; use an https address", argument="server")
    return address.rstrip("/")


def connect(location: Location, settings: Settings, *, create: bool = False, patience_s: float = BUSY_PATIENCE_S) -> Service:
    """Connect to the server of an index, or open the index in process.

    Args:
        location: the directory of the existing or new index.
        settings: settings for opening the index in process; a running server uses its own settings.
        create: create a missing index.
        patience_s: maximum wait for another process that has the index open without serving it. The wait restarts if yet another process
            opens the index, so that simultaneous commands run one after the other.

    Raises:
        NotIndexedError: the index is missing, and `create` is not set.
        BadInputError: the directory of the new index contains other files, or a server serves the index from another store.
        StoreBusyError: another process had the index open for longer than `patience_s`, or several processes had it open in turn for two
            minutes.
        OwnerUnreachableError: a server owns the index and does not answer.
    """
    turns = Turns(patience_s)
    while True:
        serving = owner.find(location.owner_file)
        if serving is not None:
            if settings.store:
                from graphmem.project.team.shared_graph import expect_same_store

                expect_same_store(location.data_dir, settings)
            from graphmem.client.remote import RemoteGraphMem

            return RemoteGraphMem(serving.address, serving.token, serving.index_id)
        expect_index(location, create=create)
        from graphmem.project.graphmem import GraphMem

        try:
            return GraphMem.open(db=location.data_dir, repo=location.root, settings=settings, keep_warm=False, patience_s=0)
        except StoreBusyError as busy:
            turns.wait(busy)


def is_local(service: Service) -> TypeGuard[GraphMem]:
    """Return whether `connect` opened the index in this process.

    The check does not import the classes GraphMem and RemoteGraphMem, because imports take time.
    """
    return hasattr(service, "parts")


class Turns:
    """Limits the wait until other processes have closed an index.

    Args:
        patience_s: maximum wait in seconds for one process. If other processes open the index after it, the whole wait ends after
            `QUEUE_PATIENCE_S` seconds. With 0, `wait` raises its error at once.
    """

    def __init__(self, patience_s: float = BUSY_PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._end = time.monotonic() + (QUEUE_PATIENCE_S if patience_s else 0.0)
        self._holder: object = None
        self._deadline = 0.0

    def wait(self, busy: StoreBusyError) -> None:
        """Sleep until the next attempt to open the index.

        The sleep ends as soon as the lock file shows that the process named in `busy` closed the index. It lasts at most a second.

        Args:
            busy: the error of the last attempt to open the index.

        Raises:
            StoreBusyError: the maximum wait for this process or for all processes is over; the error is `busy`.
        """
        now = time.monotonic()
        holder = busy.facts.get("owner")
        if holder != self._holder or not self._deadline:
            self._holder, self._deadline = holder, now + self._patience_s
        if now >= min(self._deadline, self._end):
            raise busy
        end = min(now + LOOK_AGAIN_S, max(self._deadline, now))
        while True:
            time.sleep(_CHANCE.uniform(0.05, 0.15))  # spreads simultaneous attempts
            if time.monotonic() >= end or not owner.still_busy(busy):
                return


def expect_index(location: Location, *, create: bool) -> None:
    """Check that a directory has an index, or can become one.

    With `create`, a missing directory and a directory without other files are accepted, too.

    Raises:
        NotIndexedError, BadInputError: see `connect`.
    """
    directory = location.data_dir
    try:
        if location.database.exists() or (directory / SHARED).exists() or location.has_memories:
            return
        first = first_index(location.data_dir)
        if first is not None and (first / DATABASE).exists():  # a new worktree begins with the index of the first one
            return
    except PermissionError as error:
        raise BadInputError(
            f"the index directory {directory} cannot be entered ({error.strerror}); change its permissions, or choose another "
            "directory with --db",
            argument="db",
            path=str(directory),
        ) from error
    if not create:
        where = f"{location.root} has no index yet" if location.root is not None else f"{directory} contains no index"
        raise NotIndexedError(f"{where}; create the index with `graphmem index`", path=str(directory))
    if directory.is_dir() and not is_hidden(directory) and any(one.name not in FOR_PEOPLE for one in directory.iterdir()):
        raise BadInputError(
            f"{directory} is not an index and contains other files; give a new or empty directory for the index",
            argument="db",
            path=str(directory),
        )
