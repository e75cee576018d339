"""A PostgreSQL server that copies another one, and takes its place when that one ends."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from graphmem.runtime.process.system import give_to, is_root
from graphmem.sharing.local_postgres import ACCOUNT, USER, LocalPostgres


class Replica(LocalPostgres):
    """A copy of a running server, made by its first start.

    Args:
        folder: directory of the copy.
        of: the server to copy.
    """

    def __init__(self, folder: Path, of: LocalPostgres) -> None:
        super().__init__(folder, durable=False)
        self._of = of

    def start(self) -> LocalPostgres:
        if not self._data.exists():
            self.folder.mkdir(mode=0o700)
            if is_root():
                give_to(self.folder, ACCOUNT)
            self._run("pg_basebackup", "-h", str(self._of.folder), "-U", USER, "-D", str(self._data), "-R", "-c", "fast", "--no-sync")
        return super().start()

    def promote(self) -> None:
        """Make the copy a server that takes writes."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "promote")


def kill(server: LocalPostgres) -> None:
    """End a server as a power failure does."""
    os.kill(int((server.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split()[0]), signal.SIGKILL)
