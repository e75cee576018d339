"""Start the server of an index for a client that found none.

An editor may start one client for each window, all at once. If several clients find no server, one of them starts it, and the others look
for the server again. If two servers start anyway, for example one by hand, the lock of the database stops one of them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError, OwnerUnreachableError
from graphmem.maintenance.place import prepare_data_dir
from graphmem.runtime.process import system
from graphmem.server import owner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graphmem.location import Location

START_SECONDS: Final = 30.0  # until the server listens; a first index continues in the background
IDLE_SECONDS: Final = 1800.0  # without a request, after which a started server ends
LOG: Final = "server.log"
TURN: Final = "starting.lock"
LOG_BYTES: Final = 1 << 20  # a longer log is rotated before the next server starts


def find_or_start(location: Location) -> owner.Owner:
    """Find the server of an index, or start it.

    A server that was started in this way ends after half an hour without a request.

    Raises:
        BadInputError: the directory cannot be created or written to.
        OwnerUnreachableError: the server does not answer or could not start. If it could not start, the message names the server's log.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        serving = owner.find(location.owner_file)
        if serving is not None:
            return serving
        prepare_data_dir(location.data_dir)
        with _turn_to_start(location.data_dir) as mine:
            if mine:
                return owner.find(location.owner_file) or _start(location)
        if time.monotonic() >= deadline:
            raise OwnerUnreachableError(
                f"another process has been starting the server of the index in {location.data_dir} for {START_SECONDS:g} s; read the "
                f"server's log, {location.data_dir / LOG}, and try again",
                address="",
                pid=0,
            )
        time.sleep(0.05)


def environment() -> dict[str, str]:
    """Return environment variables that make an idle server use less memory.

    Python's own allocator frees only whole megabytes, so 200 MB remain in use after a large index run. These variables select the system's
    allocator, which can free every page (see `graphmem.runtime.process.heap`) but takes a few percent more processor time.
    """
    return {"PYTHONMALLOC": "malloc", **os.environ}


def _start(location: Location) -> owner.Owner:
    log = location.data_dir / LOG
    place = [str(location.root)] if location.root is not None else []
    command = [sys.executable, "-P", "-m", "graphmem", "serve", *place, "--db", str(location.data_dir), "--port", "0", "--quiet"]
    _make_room(log)
    with log.open("ab") as output:
        said_before = output.tell()
        process = subprocess.Popen(
            [*command, "--end-when-idle", str(IDLE_SECONDS)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            **system.detached(),
            close_fds=True,
            env=environment(),
        )
    # The server outlives this process, or ends before it. Then it must be waited for, or it stays in the process table.
    threading.Thread(target=process.wait, name="graphmem-started", daemon=True).start()
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        ended = (
            process.poll() is not None
        )  # asked first: a server that ended because another one runs ended after that one wrote its record
        serving = owner.find(location.owner_file)
        if serving is not None:
            return serving
        if ended:
            break
        time.sleep(0.05)
    said = _said_since(log, said_before)
    why = f" ({said[-1]})" if said else ""
    raise OwnerUnreachableError(
        f"the server of this index could not be started{why}; run `graphmem serve` to see the reason, or read the server's log, {log}",
        address="",
        pid=process.pid,
    )


@contextlib.contextmanager
def _turn_to_start(data_dir: Path) -> Iterator[bool]:
    """Try to take the lock for starting a server; yield whether it was free.

    The lock is held until the block or the process ends.

    Raises:
        BadInputError: the index directory cannot be written to.
    """
    try:
        descriptor = os.open(data_dir / TURN, os.O_RDWR | os.O_CREAT | system.OPEN, 0o600)
    except OSError as error:  # another account's index, or a read-only disk
        raise BadInputError(
            f"the index directory {data_dir} cannot be written to ({error.strerror}); make it writable, or keep the index in "
            "another directory with --db",
            argument="db",
            path=str(data_dir),
        ) from error
    try:
        try:
            system.lock(descriptor)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def _make_room(log: Path) -> None:
    """Rename the server log if it is too long, so that a new one begins.

    The new name ends with `.1`. An older log of this name is replaced.
    """
    with contextlib.suppress(OSError):  # another client rotated it, or the folder is read-only, which the server will report
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_name(log.name + ".1"))


def _said_since(log: Path, start: int) -> list[str]:
    """Return the lines of a server's log after byte `start`.

    If the log is shorter than `start`, a new log has replaced it, and all lines are returned.
    """
    try:
        with log.open("rb") as file:
            file.seek(start if start <= log.stat().st_size else 0)
            return file.read().decode("utf-8", errors="replace").strip().splitlines()
    except OSError:
        return []
