"""Three nodes of PostgreSQL that Patroni manages; another takes over when the primary ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import urlopen

import psycopg

from graphmem.runtime.process.system import give_to, is_root
from graphmem.sharing.local_postgres import ACCOUNT, USER, binaries

START_S: Final = 120
COPIER: Final = "copier"  # the role with which nodes copy the primary
TTL_S: Final = 20  # the least that Patroni accepts


class Node:
    """A node: the processes of Patroni and of its PostgreSQL.

    Args:
        folder: directory of the node's files.
        program: the program `patroni`.
        settings: content of Patroni's configuration file.
        port: TCP port of PostgreSQL on loopback.
        watch: TCP port of Patroni's HTTP interface on loopback.
    """

    def __init__(self, folder: Path, program: str, settings: dict[str, Any], port: int, watch: int) -> None:
        self.folder, self.port, self.watch, self._program = folder, port, watch, program
        folder.mkdir(mode=0o700)
        self._file = folder / "patroni.json"  # JSON is valid YAML
        self._file.write_text(json.dumps(settings), encoding="utf-8")
        if is_root():
            give_to(folder, ACCOUNT)
            self._file.chmod(0o644)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of the database `postgres` of this node."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start Patroni, which starts PostgreSQL."""
        account = {"user": ACCOUNT, "group": ACCOUNT, "extra_groups": []} if is_root() else {}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "PYTHON"))}
        with (self.folder / "patroni.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, str(self._file)],
                cwd=self.folder,
                env=kept | {"LC_ALL": "C", "HOME": str(self.folder)},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **account,  # type: ignore[call-overload]
            )

    def kill(self) -> None:
        """End all processes of the node at once, as a power failure does."""
        pids = list(self._pids())
        for number in (signal.SIGSTOP, signal.SIGKILL):  # first stopped, so that none acts on the end of another one
            for pid in pids:
                with suppress(ProcessLookupError):  # a process of a connection that ended meanwhile
                    os.kill(pid, number)
        if self._process is not None:
            self._process.wait()

    def role(self) -> str:
        """Return the role of the node by Patroni; "" if it does not answer."""
        try:
            with urlopen(f"http://127.0.0.1:{self.watch}/patroni", timeout=2) as answer:
                found = json.load(answer)
        except (URLError, OSError, ValueError) as error:
            found = json.load(error) if hasattr(error, "read") else {}  # 503: the node is starting
        return str(found.get("role", "")) if found.get("state") == "running" else ""

    def _pids(self) -> Iterator[int]:
        """Yield the processes of Patroni and of PostgreSQL, parents first."""
        assert self._process is not None
        yield self._process.pid
        file = self.folder / "data" / "postmaster.pid"
        postmaster = int(file.read_text(encoding="utf-8").split()[0]) if file.exists() else 0
        if postmaster and Path(f"/proc/{postmaster}").exists():
            yield postmaster
            with suppress(FileNotFoundError):  # it ended meanwhile
                yield from map(int, Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text(encoding="utf-8").split())


class Nodes:
    """A cluster of three nodes on loopback.

    Args:
        folder: a directory with a short path that every account may enter.
        program: the program `patroni`, from `pip install 'patroni[raft]'`. As root, the account `postgres` must be able to run it.
        quorum: whether a commit waits until one of the two copies has it.
    """

    def __init__(self, folder: Path, program: str, *, quorum: bool) -> None:
        found = binaries()
        assert found is not None
        ports = list(free_ports(9))
        rafts = [f"127.0.0.1:{port}" for port in ports[6:]]
        mode = {"synchronous_mode": "quorum", "synchronous_mode_strict": True} if quorum else {"synchronous_mode": False}
        self.nodes: list[Node] = []
        for number in range(3):
            place, port, watch = folder / f"n{number}", ports[number], ports[3 + number]
            others = [*rafts[:number], *rafts[number + 1 :]]
            settings = {
                "scope": "team",
                "name": f"n{number}",
                "restapi": {"listen": f"127.0.0.1:{watch}", "connect_address": f"127.0.0.1:{watch}"},
                "raft": {
                    "data_dir": str(place / "raft"),
                    "self_addr": rafts[number],
                    "partner_addrs": others,
                },
                "bootstrap": {
                    "dcs": {"ttl": TTL_S, "loop_wait": 2, "retry_timeout": 5, "postgresql": {"use_pg_rewind": True}, **mode},
                    "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
                },
                "postgresql": {
                    "listen": f"127.0.0.1:{port}",
                    "connect_address": f"127.0.0.1:{port}",
                    "data_dir": str(place / "data"),
                    "bin_dir": str(found),
                    "authentication": {"superuser": {"username": USER}, "replication": {"username": COPIER}, "rewind": {"username": USER}},
                    "parameters": {
                        "unix_socket_directories": str(place),
                        "dynamic_shared_memory_type": "mmap",
                    },  # kills leave no shared memory
                    "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
                },
            }
            self.nodes.append(Node(place, program, settings, port, watch))

    def start(self) -> None:
        """Start all nodes; wait until one takes writes and two copy it."""
        for node in self.nodes:
            node.start()
        self.wait()

    def stop(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            if node._process is not None and node._process.poll() is None:
                node.kill()

    def url(self, name: str) -> str:
        """Return the address of a database, which names all nodes."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgresql://{USER}@{hosts}/{name}?target_session_attrs=read-write"

    def primary(self) -> Node | None:
        """Return the node that takes writes; None if there is none now."""
        return next((node for node in self.nodes if node.role() in {"primary", "master"}), None)

    def wait(self) -> Node:
        """Wait until one node takes writes and two copies are current.

        Returns the node that takes writes.

        Raises:
            TimeoutError: that takes more than `START_S` seconds.
        """
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            if (found := self.primary()) is not None and self._copies(found) == 2:
                return found
            time.sleep(0.5)
        raise TimeoutError("the nodes did not become a cluster; read patroni.log in their directories")

    @staticmethod
    def _copies(node: Node) -> int:
        try:
            with psycopg.connect(node.url, autocommit=True, connect_timeout=2) as db:
                rows = db.execute("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND replay_lsn = sent_lsn").fetchall()
                return int(rows[0][0])
        except psycopg.Error:
            return 0


def free_ports(count: int) -> Iterator[int]:
    """Yield TCP ports on loopback that nobody uses now."""
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    yield from ports


def patroni(given: str) -> str:
    """Return the program `patroni`: the given one, or that on the path.

    Raises:
        SystemExit: it is not installed.
    """
    found = shutil.which(given or "patroni")
    if found is None:
        raise SystemExit("patroni is not installed; run `pip install 'patroni[raft]' 'psycopg[binary]'` and give it with --patroni")
    return found
