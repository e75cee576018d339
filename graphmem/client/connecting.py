"""The verbs of GraphMem over a running server, and `connect`, which finds out who can answer.

One process owns an index (see `graphmem.server.owner`); whoever comes later is its client. `connect`
hides the difference: what it gives has the same verbs and answers with the same dataclasses.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final, TypeAlias

from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import BadInputError, NotIndexedError, StoreBusyError
from graphmem.server import owner
from graphmem.server.starting import find_or_start

if TYPE_CHECKING:
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Location, Settings

Service: TypeAlias = "GraphMem | RemoteGraphMem"

BUSY_PATIENCE_S: Final = 20.0  # two commands at once: the second waits for the first, and so long for each that comes before it
QUEUE_PATIENCE_S: Final = 120.0  # for all that come before it


def connect_or_start(location: Location) -> RemoteGraphMem:
    """The server of an index, started when nobody serves it (see `graphmem.server.starting`).

    Raises:
        OwnerUnreachableError: it does not answer, or could not be started.
    """
    serving = find_or_start(location)
    return RemoteGraphMem(serving.address, serving.token, serving.index_id)


def connect(location: Location, settings: Settings, *, create: bool = False, patience_s: float = BUSY_PATIENCE_S) -> Service:
    """The running server of an index, or the index itself when nobody serves it.

    Args:
        location: where the index is, or is to be.
        settings: for opening it here; a server has its own.
        create: make a new index where there is none.
        patience_s: how long to wait for another process that has it open without serving it, and anew for the next one: of many
            commands at once each has its turn.

    Raises:
        NotIndexedError: there is none, and `create` is not set.
        BadInputError: it is to be made in a directory that holds something else.
        StoreBusyError: another process kept it for longer than `patience_s`, or many one after the other for two minutes.
        OwnerUnreachableError: a server has it and does not answer.
    """
    turns = Turns(patience_s)
    while True:
        serving = owner.find(location.owner_file)
        if serving is not None:
            return RemoteGraphMem(serving.address, serving.token, serving.index_id)
        expect_index(location, create=create)
        from graphmem.project.graphmem import GraphMem

        try:
            return GraphMem.open(db=location.data_dir, repo=location.root, settings=settings, keep_warm=False, patience_s=0)
        except StoreBusyError as busy:
            turns.wait(busy)


class Turns:
    """Waiting for processes that have an index open for a moment each.

    Args:
        patience_s: for each of them.
    """

    def __init__(self, patience_s: float = BUSY_PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._end = time.monotonic() + (QUEUE_PATIENCE_S if patience_s else 0.0)
        self._holder: object = None
        self._deadline = 0.0

    def wait(self, busy: StoreBusyError) -> None:
        """Sleep a little before the next attempt.

        Args:
            busy: what the last attempt said.

        Raises:
            StoreBusyError: `busy`, when the one that has the index has had it for too long.
        """
        now = time.monotonic()
        holder = busy.facts.get("owner")
        if holder != self._holder or not self._deadline:
            self._holder, self._deadline = holder, now + self._patience_s
        if now >= min(self._deadline, self._end):
            raise busy
        time.sleep(random.uniform(0.05, 0.15))  # noqa: S311 - so that many do not all ask at the same moments


def expect_index(location: Location, *, create: bool) -> None:
    """Refuse to go on where there is no index, or, to `create` one, where something else is.

    Raises:
        NotIndexedError, BadInputError: see `connect`.
    """
    directory = location.data_dir
    try:
        if location.database.exists() or location.has_memories:
            return
    except PermissionError as error:
        raise BadInputError(
            f"{directory} cannot be entered ({error.strerror}); give yourself the right to, or name another place with --db",
            argument="db",
            path=str(directory),
        ) from error
    if not create:
        where = f"{location.root} has no index yet" if location.root is not None else f"there is no index in {directory}"
        raise NotIndexedError(f"{where}; make one with `graphmem index`", path=str(directory))
    ignore = directory / ".gitignore"
    ours = ignore.is_file() and ignore.read_text(encoding="utf-8", errors="replace").strip() == "*"
    if directory.is_dir() and not ours and any(one.name != "rules" for one in directory.iterdir()):
        raise BadInputError(
            f"{directory} holds other files; give a new or empty directory for the index", argument="db", path=str(directory)
        )
