"""Latency of answers over GraphQL and HTTP, compared with calls in process.

    python -m benchmarks graphql_latency REPOSITORY [--db DIR] [--targets 1000] [--seed 1]

The same questions about the same random symbols go to a server process over one open connection, and then to the operations in this
process. The server gets the prepared operations that every client uses, and answers are read to the last byte and not parsed. Questions are
asked one at a time: the figures are latency, not throughput. A health check shows the cost of HTTP, and `state` the cost of the smallest
operation. The index in DIR is used if there is one, else it is made; without --db it is temporary.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import report

SERVER = """
import sys
from graphmem.api import serve
from graphmem.api.app import build_app
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

with GraphMem.open(sys.argv[1], settings=Settings(embedder=sys.argv[2])) as memory:
    serve.run(build_app(memory), "127.0.0.1", 0, lambda host, port: print(port, flush=True))
"""
KINDS = ["function", "method", "class"]
WARM_UP = 20


class Server:
    """A server process and one connection to it."""

    def __init__(self, db: Path, embedder: str) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", SERVER, str(db), embedder], stdout=subprocess.PIPE, text=True)
        self._connection = http.client.HTTPConnection("127.0.0.1", int(self._process.stdout.readline()), timeout=120)  # type: ignore[union-attr]

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._process.pid

    def get(self, path: str) -> bytes:
        """Return the body at a path."""
        self._connection.request("GET", path)
        return self._connection.getresponse().read()

    def ask(self, operation: str, **variables: Any) -> bytes:
        """Return the body of a prepared operation's answer."""
        body = json.dumps({"operationName": operation, "variables": variables})
        self._connection.request("POST", "/graphql", body, {"content-type": "application/json"})
        return self._connection.getresponse().read()

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)


def measure(ask: Callable[[Any], Any], given: Iterable[Any]) -> tuple[list[float], list[Any]]:
    """Return milliseconds and answer of each question."""
    times, answers = [], []
    given = list(given)
    for one in given[:WARM_UP]:
        ask(one)
    for one in given:
        begun = time.perf_counter()
        answer = ask(one)
        times.append((time.perf_counter() - begun) * 1000)
        answers.append(answer)
    return times, answers


def shown(times: list[float]) -> dict[str, float]:
    return {"p50_ms": round(report.percentile(times, 0.5), 3), "p99_ms": round(report.percentile(times, 0.99), 3)}


def refused(answers: Iterable[Any]) -> int:
    return sum(isinstance(one, bytes) and one.startswith(b'{"errors"') for one in answers)


def words_of(name: str) -> str:
    return " ".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)) or name


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--db", type=Path, help="directory of an index; made when there is none")
    parser.add_argument("--targets", type=int, default=1000, help="random symbols to ask about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embedder", default="none", help="none, hashed or sentence-transformers, for search")
    options = parser.parse_args()

    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

    settings = Settings(embedder=options.embedder)
    with tempfile.TemporaryDirectory() as scratch:
        db = options.db or Path(scratch) / "index"
        with GraphMem.open(db, settings=settings) as memory:
            if not memory.state().generation:
                memory.index(options.repository)
                memory.fill_vectors(background=False)
            every: list[Any] = []
            while page := memory.symbols("", KINDS, limit=10_000, offset=len(every))[0]:
                every += page
            state = memory.state()  # after the graph was loaded by the questions above
        chosen = random.Random(options.seed).sample(every, min(options.targets, len(every)))
        ids, queries = [one.id for one in chosen], [words_of(one.name) for one in chosen]

        server = Server(db, options.embedder)
        try:
            over_http: dict[str, tuple[list[float], list[Any]]] = {
                "health": measure(lambda _: server.get("/health"), ids),
                "state": measure(lambda _: server.ask("State"), ids),
                "symbol": measure(lambda one: server.ask("Symbol", ref=one), ids),
                "impact, depth 3": measure(lambda one: server.ask("Impact", targets=[one], maxDepth=3), ids),
                "impact, depth 5": measure(lambda one: server.ask("Impact", targets=[one], maxDepth=5), ids),
                "search, k 10": measure(lambda one: server.ask("Search", query=one), queries),
            }
        finally:
            server.close()
        with GraphMem.open(db, settings=settings) as memory:
            in_process: dict[str, tuple[list[float], list[Any]]] = {
                "state": measure(lambda _: memory.state(), ids),
                "symbol": measure(lambda one: memory.symbol(one), ids),
                "impact, depth 3": measure(lambda one: memory.impact([one], max_depth=3), ids),
                "impact, depth 5": measure(lambda one: memory.impact([one], max_depth=5), ids),
                "search, k 10": measure(lambda one: memory.search(one), queries),
            }

    result: dict[str, Any] = {}
    for name, (times, answers) in over_http.items():
        direct = in_process.get(name)
        result[name] = {
            "http": shown(times),
            "in_process": shown(direct[0]) if direct else None,
            "bytes_p50": int(report.percentile([len(one) for one in answers], 0.5)),
            "bytes_p99": int(report.percentile([len(one) for one in answers], 0.99)),
            "refused": refused(answers),
        }
    for name in ("impact, depth 3", "impact, depth 5"):
        totals = [one.total for one in in_process[name][1]]
        result[name]["dependents"] = {"p50": report.percentile(totals, 0.5), "p99": report.percentile(totals, 0.99), "most": max(totals)}

    print(f"{options.repository.name}: {state.files} files, {state.symbols} symbols, {state.edges} edges; {len(ids)} random symbols\n")
    report.table(
        ["question", "in process p50 ms", "p99", "HTTP p50 ms", "p99", "added p50 ms", "answer p50 KB", "p99 KB", "refused"],
        [
            [
                name,
                one["in_process"]["p50_ms"] if one["in_process"] else "",
                one["in_process"]["p99_ms"] if one["in_process"] else "",
                one["http"]["p50_ms"],
                one["http"]["p99_ms"],
                one["http"]["p50_ms"] - one["in_process"]["p50_ms"] if one["in_process"] else one["http"]["p50_ms"],
                one["bytes_p50"] / 1024,
                one["bytes_p99"] / 1024,
                one["refused"],
            ]
            for name, one in result.items()
        ],
    )
    index = {"files": state.files, "symbols": state.symbols, "edges": state.edges}
    report.publish(
        "graphql_latency",
        {"repository": options.repository.name, "index": index, "seed": options.seed, "targets": len(ids), "questions": result},
        options.out,
    )


if __name__ == "__main__":
    main()
