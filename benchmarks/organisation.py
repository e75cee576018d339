"""Row visibility and forbidden writes for the people of an organisation, checked against the rules.

    python -m benchmarks organisation [--people 100] [--teams 5] [--projects 20] [--memories 20]

The benchmark starts PostgreSQL. Every person has a login role and writes memories and comments with every visibility. Then each table is
read as each person, and each forbidden act is tried. At the end every protection is switched off in turn, and the comparison must fail. The
exit code is 1 if a row is missing or too many, an act succeeds, or the comparison does not notice a missing protection.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import report

from graphmem.sharing.local_postgres import LocalPostgres

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

TIMED: Final = 200  # reads of one page
PUSHED: Final = 1_000  # operations in one transaction


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--teams", type=int, default=5)
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--memories", type=int, default=20, help="memories that each person tries to write")
    given = parser.parse_args()
    from organisations import WALLS, Example

    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gm-bench-", dir=base))
    folder.chmod(0o711)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the database ends, too
    server = LocalPostgres(folder / "pg", durable=False)
    result: dict[str, Any] = {"people": given.people, "teams": given.teams, "projects": given.projects}
    try:
        server.start()
        example = Example(server.make("organisation"), given.people, given.teams, given.projects, given.memories)
        result["memories"] = len(example.memories)
        result["seen"] = sum(example.sees(one, known) for one in example.people for known in example.memories)
        result["leaks"], result["forgeries"] = example.leaks(), example.forgeries()
        result["acts"] = sum(1 for _ in example.acts())
        result["walls"], result["unnoticed"] = len(WALLS), [wall for wall in WALLS if not any(example.without(wall))]
        result["page_ms"] = {name: round(1000 * value, 2) for name, value in _page_times(example).items()}
        result["push_ms"] = {name: round(value, 2) for name, value in _push_times(server).items()}
        example.close()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    counted = {name: len(value) if isinstance(value, list) else value for name, value in result.items()}
    report.table(["", ""], [(name, value) for name, value in counted.items() if not name.endswith("_ms")])
    report.table(["page of 100 operations", "p50 ms"], list(result["page_ms"].items()))
    report.table(["push, for each operation", "ms"], list(result["push_ms"].items()))
    report.publish("organisation", result, given.out)
    return 1 if result["leaks"] or result["forgeries"] or result["unnoticed"] else 0


def _page_times(example: Any) -> dict[str, float]:
    """Return the median time of a page of operations, as owner and person."""
    [project] = example.db.execute("SELECT project FROM graphmem.op GROUP BY 1 ORDER BY count(*) DESC LIMIT 1").fetchone()
    person = next(one for one in example.people if example.level(one, project))
    read = "SELECT seq, body FROM graphmem.op WHERE project = %s AND seq > 0 ORDER BY seq LIMIT 100"
    found = {}
    for name, run in (("owner", None), ("person", person)):
        times = []
        for _ in range(TIMED):
            if run is None:
                begun = time.perf_counter()
                example.db.execute(read, (project,)).fetchall()
            else:
                with example.as_(run) as db:
                    begun = time.perf_counter()
                    db.execute(read, (project,)).fetchall()
            times.append(time.perf_counter() - begun)
        found[name] = sorted(times)[TIMED // 2]
    return found


def _push_times(server: LocalPostgres) -> dict[str, float]:
    """Return the time of one pushed memory, without and with people."""
    from graphmem.sharing.organisation import OrganisationDesk
    from graphmem.sharing.postgres import SharedLog
    from organisations import memory_op

    open_url, people_url = server.make("open"), server.make("people")
    with OrganisationDesk(people_url, new=True) as desk:
        desk.found()
        address = desk.invite("pusher", "Pusher", team="", project="git:push", level="write", admin=False).address
    found = {}
    for name, url in (("open", open_url), ("people", address)):
        ops = [memory_op(f"Words {number}.") for number in range(PUSHED)]
        with SharedLog(url, "git:push") as log:
            begun = time.perf_counter()
            log.push(ops)
            found[name] = 1000 * (time.perf_counter() - begun) / PUSHED
    return found


if __name__ == "__main__":
    sys.exit(main())
