"""Processor time and latency of answers over HTTP, also in comparison with another checkout.

    python -m benchmarks over_http INDEX [--against CHECKOUT] [--asked 200] [--embedder none] [--kinds search,impact,symbol]

INDEX is the directory of an index. Each checkout runs `graphmem serve` on its own copy. Questions are asked one at a time, in blocks of 20
that alternate between the servers, after 20 warm-up questions. Questions of `search` are the question set, words of names of random
symbols, and first sentences of documentation. `impact` and `symbol` get random symbols.

CPU is the processor time of the server process for one answer. With --against, the ratio of the means is printed, and answers must be
equal. The exit code is 1 if one differs.
"""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import report
from graphql_latency import KINDS, Server, words_of

BLOCK = 20
QUIET_NS = 10_000_000
READY = """
import sys
from graphmem.project.graphmem import GraphMem
with GraphMem.open(sys.argv[1]) as memory:
    memory.wait_until_ready()
"""


class Measured(Server):
    """A server of one checkout with readable processor time."""

    def __init__(self, checkout: Path, db: Path, embedder: str) -> None:
        # A backup would add its processor time to that of an answer.
        environment = os.environ | {"PYTHONPATH": str(checkout), "GRAPHMEM_BACKUP_HOURS": "0"}
        subprocess.run([sys.executable, "-c", READY, str(db)], env=environment, cwd=checkout, check=True)
        command = ["serve", "--db", str(db), "--port", "0", "--no-index", "--no-watch", "--embedder", embedder]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "graphmem", *command], stdout=subprocess.PIPE, text=True, env=environment, cwd=checkout
        )
        said = itertools.takewhile(bool, iter(self._process.stdout.readline, ""))  # type: ignore[union-attr]
        port = next(found[1] for line in said if (found := re.search(r":(\d+)/graphql", line)))
        self._connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=120)
        self._clock = ~self._process.pid << 3 | 2  # the processor clock of that process, all its threads

    def rest(self) -> None:
        """Wait until the server has used no processor time for a second.

        The wait ends after two minutes.
        """
        for _ in range(120):
            before = time.clock_gettime_ns(self._clock)
            time.sleep(1)
            if time.clock_gettime_ns(self._clock) - before < QUIET_NS:
                return

    def reconnect(self) -> None:
        """Close the connection; the next request opens another one.

        The server closes idle connections.
        """
        self._connection.close()

    def ask_timed(self, operation: str, variables: dict[str, Any]) -> tuple[float, float, bytes]:
        """Return wall and processor milliseconds of an answer, and its bytes."""
        cpu, begun = time.clock_gettime_ns(self._clock), time.perf_counter_ns()
        body = self.ask(operation, **variables)
        return (time.perf_counter_ns() - begun) / 1e6, (time.clock_gettime_ns(self._clock) - cpu) / 1e6, body


def asked_of(db: Path, count: int) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Return the questions by kind, as operations with variables."""
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

    with GraphMem.open(db, settings=Settings(embedder="none")) as memory:
        every: list[Any] = []
        while page := memory.symbols("", KINDS, limit=10_000, offset=len(every))[0]:
            every += page
        chosen = random.Random(1).sample(every, min(2 * count, len(every)))
        docs = [memory.symbol(one.id).doc for one in chosen]
    said = [doc.strip().split("\n\n")[0].split(". ")[0] for doc in docs if len(doc.split()) > 3]
    questions = [
        one["question"]
        for file in sorted((Path(__file__).parent / "question_set").glob("*.json"))
        for one in json.loads(file.read_text(encoding="utf-8"))["questions"]
    ]
    names = [words_of(one.name) for one in chosen]
    texts = list(dict.fromkeys(itertools.chain.from_iterable(zip(questions, said, names, strict=False))))
    ids = [one.id for one in chosen[:count]]
    return {
        "search": [("Search", {"query": text}) for text in texts[:count]],
        "impact": [("Impact", {"targets": [one]}) for one in ids],
        "symbol": [("Symbol", {"ref": one}) for one in ids],
    }


def known_part(body: bytes) -> bytes:
    """Return an answer without memories, whose scores depend on the clock.

    Returns b"" if the server searched less to meet its deadline.
    """
    answer = json.loads(body)["data"].get("search")
    if answer is None:
        return body
    if any("slow" in note for note in answer["notes"]) or "deadline" in json.dumps(answer["missing"]):
        return b""
    answer["hits"] = [hit | {"memories": []} for hit in answer["hits"] if hit["kind"] != "MEMORY"]
    return json.dumps(answer).encode()


def summary(values: list[tuple[float, float, bytes]]) -> list[float]:
    """Return mean, p50, p99 of processor time, then p50, p99 of wall time."""
    wall, cpu = [one[0] for one in values], [one[1] for one in values]
    return [round(float(value), 2) for value in (np.mean(cpu), *np.percentile(cpu, (50, 99)), *np.percentile(wall, (50, 99)))]


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("index", type=Path)
    parser.add_argument("--against", type=Path, help="another checkout of graphmem")
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--kinds", default="search,impact,symbol")
    options = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    checkouts = {"this": here} | ({"against": options.against.resolve()} if options.against else {})
    rows, result, unequal = [], {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in checkouts:
            shutil.copytree(options.index, Path(scratch) / name)
        shutil.copytree(options.index, Path(scratch) / "asked")
        every = asked_of(Path(scratch) / "asked", options.asked)
        servers = {name: Measured(checkout, Path(scratch) / name, options.embedder) for name, checkout in checkouts.items()}
        try:
            for kind in options.kinds.split(","):
                given = every[kind]
                found: dict[str, list[tuple[float, float, bytes]]] = {name: [] for name in servers}
                for server in servers.values():
                    for question in given[-BLOCK:]:
                        server.ask_timed(*question)
                    server.rest()
                for at in range(0, len(given), BLOCK):
                    for name, server in servers.items():
                        server.reconnect()
                        found[name] += [server.ask_timed(*question) for question in given[at : at + BLOCK]]
                sums = {name: hashlib.sha256(b"\0".join(one[2] for one in values)).hexdigest()[:16] for name, values in found.items()}
                compared = [[known_part(one[2]) for one in answers] for answers in zip(*found.values(), strict=True)]
                degraded = sum(b"" in bodies for bodies in compared)
                differing = sum(len(set(bodies)) > 1 for bodies in compared if b"" not in bodies)
                unequal += differing
                for name, values in found.items():
                    numbers = summary(values)
                    size = int(np.percentile([len(one[2]) for one in values], 99))
                    rows.append([kind, name, len(values), *numbers, size // 1024, sums[name]])
                    result[f"{kind}, {name}"] = dict(zip(("cpu_mean", "cpu_p50", "cpu_p99", "wall_p50", "wall_p99"), numbers, strict=True))
                    result[f"{kind}, {name}"] |= {"sha256": sums[name], "differing": differing, "degraded": degraded, "bytes_p99": size}
        finally:
            for server in servers.values():
                server.close()
    report.table(["question", "checkout", "asked", "CPU ms mean", "p50", "p99", "wall ms p50", "p99", "p99 KB", "sha256"], rows)
    for kind in options.kinds.split(",") if len(checkouts) > 1 else ():
        one, other = result[f"{kind}, this"], result[f"{kind}, against"]
        compared = f"{one['differing']} answers differ, {one['degraded']} not compared because the server was late"
        print(f"{kind}: CPU {one['cpu_mean'] / other['cpu_mean']:.2f} of the other checkout's, {compared}")
    report.publish("over_http", {"index": options.index.name, "answers": result}, options.out)
    return 1 if unequal else 0


if __name__ == "__main__":
    raise SystemExit(main())
