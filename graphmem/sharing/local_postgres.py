"""A private PostgreSQL server on this machine, for trials and tests.

The server listens on a socket in a directory that only the server's user may enter. It does not listen on a network address.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from graphmem.errors import SharingError
from graphmem.runtime.process.system import give_to, has_account, is_root

BINARIES: Final = "/usr/lib/postgresql"
ACCOUNT: Final = "postgres"  # of Debian's package; PostgreSQL refuses to run as root
USER: Final = "graphmem"
START_S: Final = 60
_SOCKET_CHARACTERS: Final = 90  # a socket's path may have 107


def binaries() -> Path | None:
    """Return the directory of the newest PostgreSQL; None if not installed."""
    found = sorted(Path(BINARIES).glob("*/bin/initdb"), key=lambda path: int("0" + path.parts[-3].partition(".")[0]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def missing() -> str:
    """Return why PostgreSQL cannot be started on this machine; "" if it can."""
    if binaries() is None:
        return "PostgreSQL is not installed; run `apt-get install postgresql`"
    if is_root() and not has_account(ACCOUNT):
        return f"PostgreSQL cannot run as root, and the account {ACCOUNT} does not exist; run this as another user"
    try:
        import psycopg  # noqa: F401 - only whether it is there
    except ImportError as error:  # psycopg without its library raises this too
        return f"{error.name or 'psycopg'} cannot be imported; run `pip install graphmem[organisation]`"
    return ""


class LocalPostgres:
    """A PostgreSQL server in a directory. Started by `start`, ended by `stop`.

    Args:
        folder: directory of the server's files, created if needed; its path must be short.
        durable: flush every commit to disk.

    Raises:
        SharingError: PostgreSQL cannot be started on this machine; the message says why.
    """

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        if reason := missing():
            raise SharingError(reason, reason="missing")
        if len(str(folder)) > _SOCKET_CHARACTERS:
            raise SharingError(f"the path {folder} is too long for the socket of PostgreSQL; use a shorter path", reason="path")
        self.folder = folder
        self._durable = durable
        self._data = folder / "data"

    def start(self) -> LocalPostgres:
        """Create the PostgreSQL server's files if needed, and start the server."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_root():
            give_to(self.folder, ACCOUNT)
        if not (self._data / "PG_VERSION").exists():
            sync = [] if self._durable else ["--no-sync"]
            self._run("initdb", "-D", str(self._data), "-U", USER, "--auth=trust", "-E", "UTF8", "--locale=C", *sync)
        options = ["listen_addresses=''", f"unix_socket_directories='{self.folder}'"]
        options += (
            [] if self._durable else ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "dynamic_shared_memory_type=mmap"]
        )
        given = " ".join(f"-c {one}" for one in options)
        log = str(self.folder / "server.log")
        self._run("pg_ctl", "-D", str(self._data), "-w", "-t", str(START_S), "-l", log, "-o", given, "start")
        return self

    def stop(self) -> None:
        """Stop the PostgreSQL server. Idempotent."""
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self._data), "-w", "-t", str(START_S), "-m", "fast", "stop")

    def make(self, name: str) -> str:
        """Create a database in this server; return its address."""
        self._run("createdb", "-h", str(self.folder), "-U", USER, name)
        return self.url(name)

    def url(self, name: str) -> str:
        """Return the `postgresql://` address of a database in this server."""
        return f"postgresql://{USER}@/{name}?host={quote(str(self.folder), safe='')}"

    def _run(self, program: str, *arguments: str) -> None:
        found = binaries()
        assert found is not None  # noqa: S101 - `missing` has looked
        command: Sequence[str] = [str(found / program), *arguments]
        as_root = is_root()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            timeout=2 * START_S,
            check=False,
            user=ACCOUNT if as_root else None,
            group=ACCOUNT if as_root else None,
            extra_groups=[] if as_root else None,
        )
        if done.returncode:
            said = (done.stderr or b"").decode("utf-8", "replace").strip().splitlines()[-1:]
            log = self.folder / "server.log"
            said = said or log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:] if log.exists() else said
            raise SharingError(
                f"the PostgreSQL program {program} failed ({' '.join(said) or done.returncode}); read its log, {log}", reason="failed"
            )
