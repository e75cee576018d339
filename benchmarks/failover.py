"""Memories of a team after kills of the database's primary node: lost and doubled ones.

    python -m benchmarks failover [--kills 10] [--writers 4] [--asynchronous] [--patroni PROGRAM] [--docs PAGE]

Patroni manages three nodes of PostgreSQL. Writers are machines with a real index, journal and sidecar. Each remembers a sentence and
exchanges it, again and again. A sentence is acknowledged when its exchange has succeeded. All processes of the primary node are killed at
once, while exchanges are under way. No exchange begins until another node takes writes and its log was compared with the acknowledged
sentences ("missing at take-over"). Then the writers go on, and the killed node is started again. At the end all machines exchange until
they are equal.

* lost: an acknowledged sentence that a machine lacks at the end, or whose operation the database lacks;
* doubled: a sentence that a machine has twice;
* pause: seconds from a kill until every writer has two more sentences acknowledged.

With `--asynchronous`, a commit waits for no other node, and the copies are cut off before each kill. So the node that takes over lacks
acknowledged sentences; if it never did, the benchmark would prove nothing. The exit code is 1 if anything is lost or doubled, or if nothing
was missing in this mode. With `--docs docs/operating.md --kills 0`, only the table is written.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

import psycopg
import report

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from patroni_nodes import COPIER, Node, Nodes, patroni

from graphmem.errors import SharingError
from machines import KEY, Machine

MODES: Final = ("failover", "failover_asynchronous")
COLUMNS: Final = ("kills", "acknowledged", "missing at take-over", "lost", "doubled", "longest pause, s")
MARKERS: Final = ("<!-- failover: written by benchmarks/failover.py -->", "<!-- end of failover -->")
BETWEEN_S: Final = 5.0  # of writing between two kills
PAUSE_S: Final = 120.0  # after which a writer without an answer is a failure


class Writer(threading.Thread):
    """A machine that remembers and exchanges until `ending` is set.

    Attributes:
        acknowledged: sentences by the id of their memory, after a successful exchange.
        retried: number of exchanges that failed.
    """

    def __init__(self, folder: Path, name: str, url: str, going: threading.Event, ending: threading.Event) -> None:
        super().__init__(name=name, daemon=True)
        self.machine = Machine(folder / name, name, url)
        self.acknowledged: dict[str, str] = {}
        self.retried = 0
        self.broken: BaseException | None = None
        self._going, self._ending = going, ending

    def run(self) -> None:
        """Write until the end; keep an error for the main thread."""
        try:
            number = 0
            while not self._ending.is_set():
                number += 1
                text = f"{self.name} noticed fact number {number} about carts."
                memory = self.machine.say(text)
                self._exchange()
                self.acknowledged[memory.id] = text
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            self.broken = error

    def _exchange(self) -> None:
        until = time.monotonic() + PAUSE_S
        while True:
            self._going.wait()
            try:
                self.machine.sync()
                return
            except SharingError:
                self.retried += 1
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)


class Trial:
    """A cluster, its writers, and what was seen."""

    def __init__(self, folder: Path, program: str, writers: int, *, quorum: bool) -> None:
        self.nodes = Nodes(folder, program, quorum=quorum)
        self.nodes.start()
        with psycopg.connect(self.nodes.url("postgres"), autocommit=True) as db:
            db.execute("CREATE DATABASE team")
        self.quorum = quorum
        self.url = self.nodes.url("team")
        self.going, self.ending = threading.Event(), threading.Event()
        self.going.set()
        self.writers = [Writer(folder, f"W{number}", self.url, self.going, self.ending) for number in range(writers)]
        self.pauses: list[float] = []
        self.missing: list[int] = []

    def run(self, kills: int) -> None:
        """Kill the primary node several times while machines write."""
        for writer in self.writers:
            writer.machine.sync()
            writer.start()
        for number in range(kills):
            self._progress()
            time.sleep(BETWEEN_S)
            self._kill(self.nodes.wait())
            print(f"kill {number + 1}: pause {self.pauses[-1]:.1f} s, missing at take-over {self.missing[-1]}", flush=True)
        self._progress()
        self.ending.set()
        for writer in self.writers:
            writer.join()
        self._check_writers()

    def result(self) -> dict[str, Any]:
        """Exchange until all are equal, and compare."""
        machines = [writer.machine for writer in self.writers]
        for machine in [*machines, *machines]:
            machine.sync()
        acknowledged = {one: text for writer in self.writers for one, text in writer.acknowledged.items()}
        logged = self._logged(self.url)
        lost = sum(one not in logged for one in acknowledged)
        doubled = 0
        for machine in machines:
            found = Counter(machine.contents())
            lost += sum(text not in found for text in acknowledged.values())
            doubled += sum(count > 1 for count in found.values())
        return {
            "kills": len(self.pauses),
            "acknowledged": len(acknowledged),
            "missing at take-over": sum(self.missing),
            "lost": lost,
            "doubled": doubled,
            "exchanges that failed": sum(writer.retried for writer in self.writers),
            "longest pause, s": round(max(self.pauses), 1),
        }

    def close(self) -> None:
        """End the writers and the nodes."""
        self.ending.set()
        self.going.set()
        for writer in self.writers:
            writer.join(PAUSE_S)
            writer.machine.close()
        self.nodes.stop()

    # ---- steps

    def _kill(self, node: Node) -> None:
        copies = [one for one in self.nodes.nodes if one is not node]
        if not self.quorum:
            self._cut_off(node)
            self._progress()  # sentences are acknowledged that the copies do not get
        self.going.clear()
        before = {one for writer in self.writers for one in list(writer.acknowledged)}
        begun = time.monotonic()
        node.kill()
        found = self._taken_over(copies)
        self._run(found, f"ALTER ROLE {COPIER} REPLICATION")
        self.missing.append(len(before - self._logged(found.url.replace("/postgres", "/team"))))
        self.going.set()
        self._progress()
        self.pauses.append(time.monotonic() - begun)
        node.start()

    def _cut_off(self, node: Node) -> None:
        """End the connections of copies to the primary; refuse new ones."""
        self._run(node, f"ALTER ROLE {COPIER} NOREPLICATION")
        until = time.monotonic() + PAUSE_S
        while self._run(node, "SELECT pg_terminate_backend(pid) FROM pg_stat_replication"):
            if time.monotonic() > until:
                raise TimeoutError("the copies are still connected; read patroni.log in their directories")
            time.sleep(0.05)

    def _taken_over(self, copies: list[Node]) -> Node:
        until = time.monotonic() + PAUSE_S
        while time.monotonic() < until:
            for one in copies:
                if one.role() in {"primary", "master"}:
                    return one
            time.sleep(0.1)
        raise TimeoutError("no node took over; read patroni.log in the directories of the nodes")

    def _progress(self) -> None:
        """Wait until every writer has two more acknowledged sentences."""
        counts = [len(writer.acknowledged) for writer in self.writers]
        until = time.monotonic() + PAUSE_S
        while any(len(writer.acknowledged) < count + 2 for writer, count in zip(self.writers, counts, strict=True)):
            self._check_writers()
            if time.monotonic() > until:
                raise TimeoutError("a writer had no sentence acknowledged; read patroni.log in the directories of the nodes")
            time.sleep(0.05)

    def _check_writers(self) -> None:
        for writer in self.writers:
            if writer.broken is not None:
                raise writer.broken

    @staticmethod
    def _logged(url: str) -> set[str]:
        with psycopg.connect(url, autocommit=True) as db:
            return {row[0] for row in db.execute("SELECT memory FROM graphmem.op WHERE project = %s", (KEY,)).fetchall()}

    @staticmethod
    def _run(node: Node, statement: str) -> list[Any]:
        with psycopg.connect(node.url, autocommit=True) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


def write_table(page: Path) -> None:
    """Write the results of both modes between the markers of a page."""
    rows = ["| commits wait for | " + " | ".join(COLUMNS) + " |", "|---" * (1 + len(COLUMNS)) + "|"]
    for mode, name in zip(MODES, ("another node", "no other node"), strict=True):
        found = json.loads((report.RESULTS / f"{mode}.json").read_text(encoding="utf-8"))
        rows.append(f"| {name} | " + " | ".join(f"{found[one]:,}" for one in COLUMNS) + " |")
    before, first, rest = page.read_text(encoding="utf-8").partition(MARKERS[0])
    _, last, after = rest.partition(MARKERS[1])
    if not first or not last:
        raise SystemExit(f"{page} has no table of failovers; put the lines {MARKERS[0]} and {MARKERS[1]} around it")
    page.write_text(before + first + "\n\n" + "\n".join(rows) + f"\n\n{last}{after}", encoding="utf-8")


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument(
        "--asynchronous", action="store_true", help="commits wait for no other node, and the copies are cut off before each kill"
    )
    parser.add_argument("--docs", type=Path, help="page whose table is rewritten from the results of both modes")
    parser.add_argument("--patroni", default="", help="the program; default: that on the path")
    given = parser.parse_args()
    if given.docs and not given.kills:
        write_table(given.docs)
        return 0
    program = patroni(given.patroni)
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gm-bench-", dir=base))
    folder.chmod(0o711)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the nodes end, too
    trial = None
    try:
        trial = Trial(folder, program, given.writers, quorum=not given.asynchronous)
        trial.run(given.kills)
        result = trial.result()
    finally:
        if trial is not None:
            trial.close()
        shutil.rmtree(folder, ignore_errors=True)
    report.table(["", "count"], list(result.items()))
    report.publish(MODES[given.asynchronous], {"writers": given.writers, **result}, given.out)
    if given.docs:
        write_table(given.docs)
    return 1 if result["lost"] or result["doubled"] or (given.asynchronous and not result["missing at take-over"]) else 0


if __name__ == "__main__":
    raise SystemExit(main())
