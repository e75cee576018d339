"""Home page at its first visit after an index: seconds from navigation until nothing is loading.

    python -m benchmarks home REPO [--code CHECKOUT …] [--times 3]

Each checkout of --code (default: this one) indexes REPO once by the command line. Each visit uses a new copy of that index, a new
`graphmem serve`, and a browser with an empty profile, which opens Home as soon as the server listens. So no cache of an earlier visit can
help. Visits of the checkouts alternate. The table also has the processor seconds of the server from the navigation on, which other programs
on the machine change less.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from browser import chromium
from report import parser, percentile, publish, table

HERE: Final = Path(__file__).parents[1]
WAIT_S: Final = 120
DONE: Final = "performance.getEntriesByName('map-painted')[0] && !document.querySelector('#main .loading') && performance.now()"
FIRST: Final = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
MAP: Final = "performance.getEntriesByName('map-painted')[0].startTime"


def command(code: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    """Return the command line of a checkout, and its environment."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ |= {"GRAPHMEM_EMBEDDER": "none", "PYTHONPATH": str(code)}
    return [sys.executable, "-P", "-m", "graphmem", *words], environ


def index(code: Path, repo: Path, db: Path) -> dict[str, float]:
    """Index once; return wall and processor seconds, with children."""
    line, environ = command(code, "index", str(repo), "--db", str(db), "--quiet")
    begun = time.monotonic()
    process = subprocess.Popen(line, env=environ, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the index run of {code} failed; its message is above")
    return {"wall_s": time.monotonic() - begun, "cpu_s": usage.ru_utime + usage.ru_stime}


def cpu(pid: int) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def visit(code: Path, repo: Path, db: Path, folder: Path) -> dict[str, float]:
    """Serve a copy of the index and open Home.

    Returns the milliseconds of its paints and until it was complete.
    """
    from graphmem.server import owner

    shutil.copytree(db, folder / "index")
    line, environ = command(code, "serve", str(repo), "--db", str(folder / "index"), "--port", "0", "--quiet", "--no-watch")
    process = subprocess.Popen(line, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        with chromium(folder / "profile") as tab:
            deadline = time.monotonic() + WAIT_S
            while (found := owner.read(folder / "index" / "owner.json")) is None or found.pid != process.pid:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"the server of {code} did not start; its message is above")
                time.sleep(0.01)
            before = cpu(process.pid)
            tab.open(found.address + "/")
            complete = float(tab.until(DONE, WAIT_S))
            spent = cpu(process.pid) - before
            return {"first_ms": float(tab.value(FIRST)), "map_ms": float(tab.value(MAP)), "complete_ms": complete, "server_cpu_s": spent}
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("repo", type=Path, help="the repository; its Git history counts too")
    options.add_argument("--code", type=Path, nargs="+", default=[HERE], help="checkouts of graphmem to compare, earliest first")
    options.add_argument("--times", type=int, default=3, help="visits for each of them")
    given = options.parse_args()
    repo = given.repo.resolve()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="graphmem-home-") as scratch:
        for number, code in enumerate(given.code):
            db = Path(scratch) / f"index{number}"
            results.append({"code": code.resolve().name, "index": index(code.resolve(), repo, db), "visits": []})
        for turn in range(given.times):
            for number, code in enumerate(given.code):
                folder = Path(scratch) / f"visit{number}-{turn}"
                folder.mkdir()
                results[number]["visits"].append(visit(code.resolve(), repo, Path(scratch) / f"index{number}", folder))
                shutil.rmtree(folder)
    columns = ("first_ms", "map_ms", "complete_ms", "server_cpu_s")
    rows = []
    for one in results:
        medians = [percentile([found[name] for found in one["visits"]], 0.5) for name in columns]
        rows.append([one["code"], one["index"]["cpu_s"], *medians, max(found["complete_ms"] for found in one["visits"])])
    head = ["code", "index, CPU s", "contentful paint, ms", "map, ms", "complete, ms (median)", "server, CPU s", "complete, ms (worst)"]
    table(head, rows)
    files = subprocess.run(["git", "-C", str(repo), "ls-files"], capture_output=True, text=True, check=True).stdout.count("\n")
    publish("home", {"repository": repo.name, "files": files, "codes": results}, given.out)


if __name__ == "__main__":
    sys.exit(main())
