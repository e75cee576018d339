"""Starting the owner of an index on behalf of a client that found none.

Editors start one client for each window, all at once. Each looks for an owner; of those that find none, one at a time may start it, and
the others look again. Should two start all the same (one by hand), the lock of the database lets one of them live.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError, OwnerUnreachableError
from graphmem.maintenance.place import prepare_data_dir
from graphmem.server import owner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graphmem.settings import Location

START_SECONDS: Final = 30.0  # until it listens; a first index goes on behind it
IDLE_SECONDS: Final = 1800.0  # without a question, after which a started owner ends itself
LOG: Final = "server.log"
TURN: Final = "starting.lock"
LOG_BYTES: Final = 1 << 20  # a longer one is put aside before the next server starts


def find_or_start(location: Location) -> owner.Owner:
    """The owner that serves an index, started when there is none; it ends itself after half an hour without a question.

    Raises:
        BadInputError: the directory cannot be made, or not be written to.
        OwnerUnreachableError: it does not answer, or could not be started; the message says where its log is.
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
                f"another process has been starting the server of {location.data_dir} for {START_SECONDS:g} s; look at its log, "
                f"{location.data_dir / LOG}, and try again",
                address="",
                pid=0,
            )
        time.sleep(0.05)


def environment() -> dict[str, str]:
    """What a server that may stand idle for long is started with.

    Python's own allocator gives memory back a megabyte at a time, when all of it is free: after a large index has come and gone, 200 MB
    stay. The system's gives back every free page (see `graphmem.runtime.heap`), for a few percent of processor time.
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
            start_new_session=True,  # it outlives the window that started it, and does not hear that window's Ctrl-C
            close_fds=True,
            env=environment(),
        )
    # It outlives this process, or ends before it: then somebody has to take note of that, or its entry in the process table stays.
    threading.Thread(target=process.wait, name="graphmem-started", daemon=True).start()
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        ended = process.poll() is not None  # asked first: one that ended because another lives did so after that one had said where
        serving = owner.find(location.owner_file)
        if serving is not None:
            return serving
        if ended:
            break
        time.sleep(0.05)
    said = _said_since(log, said_before)
    why = f" ({said[-1]})" if said else ""
    raise OwnerUnreachableError(
        f"the server of this index could not be started{why}; run `graphmem serve` to see why, its log is {log}",
        address="",
        pid=process.pid,
    )


@contextlib.contextmanager
def _turn_to_start(data_dir: Path) -> Iterator[bool]:
    """Whether it is this process's turn to start a server; of many that find none, one starts it and the others look again.

    The turn ends with the process that has it, however that ends.
    """
    try:
        descriptor = os.open(data_dir / TURN, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:  # another account's index, or a disk that may only be read
        raise BadInputError(
            f"{data_dir} cannot be written to ({error.strerror}); make it writable or keep the index elsewhere with --db",
            argument="db",
            path=str(data_dir),
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)


def _make_room(log: Path) -> None:
    """Put a long log aside, in place of the one put aside before it."""
    with contextlib.suppress(OSError):  # another starter has done it, or the folder is read-only, which the server will say
        if log.stat().st_size > LOG_BYTES:
            log.replace(log.with_name(log.name + ".1"))


def _said_since(log: Path, start: int) -> list[str]:
    """The last lines of the log that were not there before."""
    try:
        with log.open("rb") as file:
            file.seek(start if start <= log.stat().st_size else 0)
            return file.read().decode("utf-8", errors="replace").strip().splitlines()
    except OSError:
        return []
