"""Starting the owner of an index on behalf of a client that found none.

Editors start one client for each window, all at once. Each looks for an owner, and each may start one; the lock of the
database lets one of them live, the others end by themselves, and every client finds the one that lives.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

from graphmem.errors import OwnerUnreachableError
from graphmem.service import owner
from graphmem.service.place import prepare_data_dir

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.settings import Location

START_SECONDS: Final = 30.0  # until it listens; a first index goes on behind it
IDLE_SECONDS: Final = 1800.0  # without a question, after which a started owner ends itself
LOG: Final = "server.log"
LOG_BYTES: Final = 1 << 20  # a longer one is put aside before the next server starts


def find_or_start(location: Location) -> owner.Owner:
    """The owner that serves an index, started when there is none; it ends itself after half an hour without a question.

    Raises:
        BadInputError: the directory cannot be made.
        OwnerUnreachableError: it does not answer, or could not be started; the message says where its log is.
    """
    serving = owner.find(location.owner_file)
    if serving is not None:
        return serving
    prepare_data_dir(location.data_dir)
    log = location.data_dir / LOG
    place = [str(location.root)] if location.root is not None else []
    command = [sys.executable, "-P", "-m", "graphmem", "serve", *place, "--db", str(location.data_dir), "--port", "0", "--quiet"]
    _make_room(log)
    with log.open("ab") as output:  # several may start one at once; each adds to what the others said
        said_before = output.tell()
        process = subprocess.Popen(
            [*command, "--end-when-idle", str(IDLE_SECONDS)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # it outlives the window that started it, and does not hear that window's Ctrl-C
            close_fds=True,
        )
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
