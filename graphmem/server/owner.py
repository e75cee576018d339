"""The file `owner.json`, which names the server process of an index.

Only one process can write to an embedded graph database. If this process is `graphmem serve`, it writes its address and token into the
file. Every other process reads the file before it opens the database, because a server may already have the database open. The record of a
process that has ended is replaced. This module never ends a process.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from graphmem.errors import OwnerUnreachableError, StoreBusyError
from graphmem.hooks.here import is_here, is_stopped
from graphmem.location import OWNER
from graphmem.maintenance.place import open_in
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.identity import INDEX_HEADER, index_id
from graphmem.runtime.network.paths import HEALTH_PATH
from graphmem.runtime.process.system import is_alive

HEALTH_SECONDS = 2.0  # a loaded machine answers slowly; a dead one refuses at once
STARTING_SECONDS = 12.0  # how long to wait for a running process; a busy server answers within 10
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 -- read, never bound: where one's own machine answers

_log = logging.getLogger(__name__)


class Owner(NamedTuple):
    """The content of `owner.json`: the server process that owns an index.

    The fields are the server's address, its token, and the identity of its process.
    """

    address: str  # http://127.0.0.1:8420
    pid: int
    started: str  # boot id and the process's start time in clock ticks since then; "" where /proc is missing
    token: str  # "" if the server needs none
    version: str  # of graphmem
    index_id: str = ""  # the folder it serves, see `graphmem.runtime.identity.index_id`; "" in files of an earlier graphmem


def publish(path: Path, address: str, token: str, version: str) -> Owner:
    """Register this process as the server of an index, in `owner.json`.

    The file is replaced atomically. Only the account of this process may read the file, because it has the token. Returns the content of
    the file.
    """
    owner = Owner(address, os.getpid(), process_start(os.getpid()), token, version, index_id(path.parent))
    try:
        replace_file(path, json.dumps(owner._asdict(), indent=2).encode(), durable=True)
    except OSError:
        if not path.exists():
            raise
        # The disk is full, but the record of a killed owner can be overwritten in place.
        with path.open("r+", encoding="utf-8") as file:
            json.dump(owner._asdict(), file, indent=2)
            file.truncate()
    return owner


def still_busy(busy: StoreBusyError) -> bool:
    """Whether a client must still wait for the process named in `busy`.

    The result is False in three cases: `busy` names no process, the process has closed the index, or the process has become the index's
    server, to which a client can connect. Only two small files are read, which is cheaper than an attempt to open the index.
    """
    path, holder = busy.facts.get("path"), busy.facts.get("owner")
    if path is None or holder is None or open_in(database := Path(path)) != holder:
        return False
    serving = read(database.with_name(OWNER))
    return serving is None or serving.pid != holder["pid"]


def withdraw(path: Path, owner: Owner) -> None:
    """Delete `owner.json` if it still names the server `owner`."""
    if read(path) == owner:
        path.unlink(missing_ok=True)


def read(path: Path) -> Owner | None:
    """Read `owner.json`, even if its process has ended; None if missing."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        texts = (str(found["address"]), int(found["pid"]), str(found["started"]), str(found["token"]), str(found["version"]))
        return Owner(*texts, str(found.get("index_id", "")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find(path: Path, patience_s: float = STARTING_SECONDS) -> Owner | None:
    """Find the running server of an index by `owner.json`; None without one.

    A server that answers is running, even if its process is not in the process table, as for a server in another container. If the server
    does not answer but its process exists, the call waits for at most `patience_s`. A process number that was reused after a crash is
    detected by the start time of the process.

    Two kinds of `owner.json` are ignored: a file whose address is on another machine, and a file with the id of another directory. Such
    files come from a copied project.

    Raises:
        OwnerUnreachableError: the process exists but does not answer within `patience_s`, or is stopped.
    """
    deadline = time.monotonic() + patience_s
    wait_s = HEALTH_SECONDS
    while (owner := read(path)) is not None:
        if not is_here(owner.address):
            _log.warning("%s names %r, which is not on this machine; it is passed over", path, owner.address[:200])
            return None
        if owner.index_id != index_id(path.parent):
            _log.info("%s was written for another folder; its server is not this one's", path)
            return None
        if (stopped := refusal_if_stopped(owner)) is not None:
            raise stopped
        if _answers(owner, wait_s):
            return owner
        if not is_running(owner):
            return None
        if time.monotonic() >= deadline:
            raise OwnerUnreachableError(
                f"process {owner.pid}, which serves this index at {owner.address}, does not answer; try again, or end the process with "
                f"`kill -KILL {owner.pid}`, which loses no confirmed change",
                address=owner.address,
                pid=owner.pid,
            )
        # A server answers its connections in order, so each retry goes to the end of the queue.
        wait_s = max(HEALTH_SECONDS, deadline - time.monotonic())
        time.sleep(0.1)
    return None


def is_running(owner: Owner) -> bool:
    """Whether the process that wrote an `owner.json` is running."""
    if owner.pid <= 0:
        return False
    if owner.started:
        return process_start(owner.pid) == owner.started
    return is_alive(owner.pid)


def refusal_if_stopped(owner: Owner) -> OwnerUnreachableError | None:
    """Return the error for a server whose process is stopped, or None."""
    if not is_stopped(owner.pid, owner.started):
        return None
    return OwnerUnreachableError(
        f"process {owner.pid}, which serves this index, is stopped (Ctrl-Z or SIGSTOP); continue it with `kill -CONT {owner.pid}`, "
        f"or end it with `kill -KILL {owner.pid}`, which loses no confirmed change",
        address=owner.address,
        pid=owner.pid,
    )


def process_start(pid: int) -> str:
    """Return the system's boot id and a process's start time, as one string.

    `pid` is the number of the process. A later process with the same number has a different result. The result is "" if the process is gone
    or unknown.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()  # the name in parentheses may hold anything
    if fields[0] in "ZX":  # ended, waiting for its parent to notice
        return ""
    return f"{boot}:{fields[19]}"  # field 22 of stat, counted from the third


def local_address(host: str, port: int) -> str:
    """Return the URL by which this machine reaches a server on host and port."""
    host = WILDCARDS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _answers(owner: Owner, wait_s: float) -> bool:
    """Whether the server that `owner.json` names answers within `wait_s`.

    The answer must come from the same process and index. Proxies are not used.
    """
    from http.client import HTTPConnection, HTTPException

    parts = urlsplit(owner.address)
    if not parts.hostname or not parts.port:
        return False
    connection = HTTPConnection(parts.hostname, parts.port, timeout=wait_s)
    with contextlib.closing(connection):
        try:
            headers = {"Authorization": f"Bearer {owner.token}"} if owner.token else {}
            connection.request("GET", HEALTH_PATH, headers=headers)
            answer = connection.getresponse()
            body = json.loads(answer.read(65_536))
        except (OSError, HTTPException, ValueError):
            return False
    ours = answer.status == 200 and isinstance(body, dict) and body.get("pid") == owner.pid
    return ours and answer.getheader(INDEX_HEADER, "") == owner.index_id
