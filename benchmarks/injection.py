"""Latency of injected context for 8 agents at once on a real server, and its processor time alone.

    python -m benchmarks injection [--agents 8] [--steps 60] [--memories 2000] [--pause 0.25] [--embedder hashed]

The project is the installed source of starlette. Each agent is a client with its own session. It reads files and asks for
context at its start, after its first message, after tools and between steps; it waits for each answer.

"Waited" is the time of the client, including HTTP. "Server" is the time that the server counts. "Late with text" is an answer with content
after its deadline by the clock of the server. "Given up" is an empty answer because the content was not ready in time. The point "state" is
the smallest question to the same server. A second table has the processor time of the same answers, one after the other in one process.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import report
import starlette

DEADLINES_MS = {"start": 500.0, "prompt": 2000.0, "tool": 100.0, "step": 50.0, "take": 50.0}
TYPES = ("gotcha", "error_pattern", "dead_end", "decision", "pattern", "fact", "module_insight")


class Agent(threading.Thread):
    """One client."""

    def __init__(self, number: int, address: str, steps: int, files: list[str], pause_s: float) -> None:
        super().__init__(name=f"agent-{number}")
        parts = urlsplit(address)
        self.connection = HTTPConnection(parts.hostname or "", parts.port or 0, timeout=30)
        self.random = random.Random(number)
        self.session = f"agent-{number}"
        self.steps = steps
        self.files = files
        self.pause_s = pause_s
        self.seen: list[tuple[str, float, float, bool, bool]] = []  # point, waited ms, server ms, answered, empty because late

    def ask(self, operation: str, **variables):
        """Return the only field of an answer, and the milliseconds it took."""
        body = json.dumps({"operationName": operation, "variables": variables})
        begun = time.perf_counter()
        self.connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
        answer = json.loads(self.connection.getresponse().read())
        waited = 1000 * (time.perf_counter() - begun)
        if "errors" in answer:
            raise SystemExit(answer["errors"])
        return next(iter(answer["data"].values())), waited

    def context(self, point: str, **variables) -> None:
        """Ask for context at one point, and record the times."""
        found, waited = self.ask("Context", point=point.upper(), session=self.session, **variables)
        self.seen.append((point, waited, 1000 * found["seconds"], bool(found["text"]), found["late"]))

    def run(self) -> None:
        """Run one session."""
        self.context("start")
        self.context("prompt", text="how do requests reach an endpoint", files=self.random.sample(self.files, 2))
        for step in range(self.steps):
            self.context("tool", files=[self.random.choice(self.files)])
            self.ask("ContextUpdate", session=self.session, messages=[f"step {step}: reading {self.random.choice(self.files)}"])
            self.context("step")
            found, waited = self.ask("ContextTake", session=self.session)
            self.seen.append(("take", waited, 1000 * found["seconds"], bool(found["text"]), found["late"]))
            _, floor = self.ask("IndexState")
            self.seen.append(("state", floor, 0.0, True, False))
            time.sleep(self.pause_s * self.random.random() * 2)


def memories(files: list[str], count: int):
    made = random.Random(7)
    for number in range(count):
        path = made.choice(files)
        words = " ".join(made.choices(("pool", "scope", "header", "cookie", "route", "stream", "event", "cache", "retry", "lock"), k=8))
        yield {
            "content": f"In {path} number {number}: {words}.",
            "type": made.choice(TYPES),
            "files": [path],
            "source": "user_taught",
        }


def wait_for(server: subprocess.Popen[bytes], project: Path) -> None:
    """Wait until the server has written its address."""
    deadline = time.monotonic() + 120
    while not (project / ".graphmem" / "owner.json").exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the server did not start; its message is above")
        time.sleep(0.1)


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--pause", type=float, default=0.25, help="seconds an agent works between its steps, on average")
    parser.add_argument("--embedder", default="hashed", choices=("auto", "hashed"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        shutil.copytree(Path(starlette.__file__).parent, project / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
        files = sorted(str(path.relative_to(project)) for path in project.rglob("*.py"))
        from graphmem import GraphMem
        from graphmem.settings import Settings

        with GraphMem.open(repo=project, settings=Settings(embedder=args.embedder), keep_warm=False) as memory:
            memory.index(project)
            memory.remember_many(memories(files, args.memories))
            memory.set_trust_level("standard")
            memory.search("warm", kinds=["memory"])  # blocks until the memories have vectors
        environ = {**os.environ, "GRAPHMEM_EMBEDDER": args.embedder}
        command = [sys.executable, "-P", "-m", "graphmem", "serve", str(project), "--port", "0", "--quiet"]
        server = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
        try:
            wait_for(server, project)
            address = json.loads((project / ".graphmem" / "owner.json").read_text())["address"]
            warm = Agent(999, address, 2, files, 0.0)
            warm.run()
            agents = [Agent(number, address, args.steps, files, args.pause) for number in range(args.agents)]
            for agent in agents:
                agent.start()
            for agent in agents:
                agent.join()
        finally:
            server.terminate()
            server.wait(30)
        processor = alone(project, files, args.steps // 3)
    show(args, [one for agent in agents for one in agent.seen], processor)


def alone(project: Path, files: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Return the processor milliseconds of answers, one after the other.

    Other programs on the machine do not change them.
    """
    from graphmem import GraphMem
    from graphmem.injection.experiment import FULL, group_of
    from graphmem.settings import Settings

    spent: dict[str, list[float]] = {}

    def timed(name, call):
        begun = time.process_time()
        call()
        spent.setdefault(name, []).append(1000 * (time.process_time() - begun))
        memory.parts.injector.settle(30)

    chance = random.Random(5)
    with GraphMem.open(repo=project, settings=Settings(embedder="hashed"), keep_warm=False) as memory:
        name = memory.project().name
        sessions = [one for one in (f"alone-{n}" for n in range(200)) if group_of(one, name) == FULL][:8]
        for session in sessions:
            timed("start", lambda s=session: memory.context("start", s, deadline_s=30))
            first = chance.sample(files, 2)
            timed("prompt", lambda s=session, f=first: memory.context("prompt", s, "how do requests reach an endpoint", f, deadline_s=30))
        for _ in range(rounds):
            for session in sessions:
                file = chance.choice(files)
                timed("tool", lambda s=session, f=file: memory.context("tool", s, files=[f], deadline_s=30))
                memory.context_update(session, [f"reading {file}"])
                memory.parts.injector.settle(30)
                timed("step", lambda s=session: memory.context("step", s, deadline_s=30))
                timed("take", lambda s=session: memory.context_take(s, deadline_s=30))
    return {
        name: {"p50": report.percentile(found, 0.5), "p99": report.percentile(found, 0.99), "answers": len(found)}
        for name, found in spent.items()
    }


def show(args, seen: list[tuple[str, float, float, bool, bool]], processor: dict[str, dict[str, float]]) -> None:
    rows, result = [], {}
    for point in ("start", "prompt", "tool", "step", "take", "state"):
        own = [one for one in seen if one[0] == point]
        waited, counted = [one[1] for one in own], [one[2] for one in own]
        deadline = DEADLINES_MS.get(point, float("inf"))
        row = {
            "answers": len(own),
            "with_text": sum(one[3] for one in own) if point != "state" else 0,
            "empty_in_time": sum(one[4] for one in own),
            "late_with_text": sum(one[3] and one[2] > deadline for one in own),
            "waited_ms_p50": report.percentile(waited, 0.5),
            "waited_ms_p99": report.percentile(waited, 0.99),
            "server_ms_p99": report.percentile(counted, 0.99),
            "deadline_ms": deadline if point != "state" else 0.0,
        }
        result[point] = row
        rows.append((point, *row.values()))
    head = ("point", "answers", "with text", "given up", "late with text", "waited p50 ms", "waited p99 ms", "server p99 ms", "deadline ms")
    report.table(head, rows)
    print("\nOne after the other in one process, processor time:\n")
    report.table(
        ("point", "answers", "p50 ms", "p99 ms"), [(name, row["answers"], row["p50"], row["p99"]) for name, row in processor.items()]
    )
    arguments = {key: value for key, value in vars(args).items() if key != "out"}
    report.publish("injection", {"arguments": arguments, "results": result, "processor_ms": processor}, args.out)


if __name__ == "__main__":
    main()
