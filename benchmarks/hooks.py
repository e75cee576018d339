"""Processor and wall time of a hook process, with and without a server, beside an empty Python.

    python -m benchmarks hooks [--runs 40] [--embedder hashed]

Every run is a new process, as an agent starts it. Runs of the kinds alternate, so the load of the machine is the same for all. The bounds
are 150 ms of wall time with a server and 50 ms of processor time without one.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import report
import starlette

PYTHON = (sys.executable, "-P")
KINDS = ("python -c pass", "no server", "server, tool", "server, prompt")


def run(command: tuple[str, ...], given: bytes, cwd: Path) -> tuple[float, float, bool]:
    """Return processor seconds, wall seconds, and whether it printed anything."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(command, input=given, cwd=cwd, capture_output=True, check=True)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, bool(done.stdout)


def wait_for(server: subprocess.Popen[bytes], project: Path) -> None:
    """Wait until the server has written its address."""
    deadline = time.monotonic() + 120
    while not (project / ".graphmem" / "owner.json").exists():
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the server did not start; its message is above")
        time.sleep(0.1)


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--embedder", default="hashed", choices=("auto", "hashed"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project, empty = Path(folder) / "project", Path(folder) / "empty"
        empty.mkdir()
        shutil.copytree(Path(starlette.__file__).parent, project / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
        from graphmem import GraphMem
        from graphmem.settings import Settings

        with GraphMem.open(repo=project, settings=Settings(embedder=args.embedder), keep_warm=False) as memory:
            memory.index(project)
            memory.remember("Request.stream() may be read once.", "gotcha", files=["starlette/requests.py"])
        environ = {**os.environ, "GRAPHMEM_EMBEDDER": args.embedder}
        server = subprocess.Popen(
            [*PYTHON, "-m", "graphmem", "serve", str(project), "--port", "0", "--quiet"], env=environ, stdout=subprocess.DEVNULL
        )
        try:
            wait_for(server, project)
            measure(args, project, empty)
        finally:
            server.terminate()
            server.wait(30)


def measure(args, project: Path, empty: Path) -> None:
    tool = {
        "tool_name": "Read",
        "tool_input": {"file_path": str(project / "starlette/requests.py")},
        "tool_response": {"file": {"content": "…"}},
    }
    hook = (*PYTHON, "-m", "graphmem", "hook", "claude-code")
    found: dict[str, list[tuple[float, float, bool]]] = {kind: [] for kind in KINDS}

    def payload(event: str, cwd: Path, turn: int, **more) -> bytes:
        return json.dumps({"session_id": f"bench-{turn}", "cwd": str(cwd), "hook_event_name": event, **more}).encode()

    for turn in range(args.runs + 3):
        given = {
            "python -c pass": ((*PYTHON, "-c", "pass"), b"", empty),
            "no server": (hook, payload("PostToolUse", empty, turn, **tool), empty),
            "server, tool": (hook, payload("PostToolUse", project, turn, **tool), project),
            "server, prompt": (hook, payload("UserPromptSubmit", project, turn, prompt="why does stream raise"), project),
        }
        for kind, command in given.items():
            one = run(*command)
            if turn >= 3:  # the first turns fill caches
                found[kind].append(one)
    rows, result = [], {}
    for kind in KINDS:
        cpu = [1000 * one[0] for one in found[kind]]
        wall = [1000 * one[1] for one in found[kind]]
        row = {
            "cpu_ms_p50": report.percentile(cpu, 0.5),
            "cpu_ms_p95": report.percentile(cpu, 0.95),
            "wall_ms_p50": report.percentile(wall, 0.5),
            "wall_ms_p95": report.percentile(wall, 0.95),
            "answered": sum(one[2] for one in found[kind]),
        }
        result[kind] = row
        rows.append((kind, *row.values()))
    report.table(("run", "CPU p50 ms", "CPU p95 ms", "wall p50 ms", "wall p95 ms", f"of {args.runs} answered"), rows)
    print("bounds: 150 ms of wall time with a server, 50 ms of processor time without one")
    report.publish("hooks", {"runs": args.runs, "embedder": args.embedder, "results": result}, args.out)


if __name__ == "__main__":
    main()
