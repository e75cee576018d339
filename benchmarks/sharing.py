"""Random offline histories of three machines that share memories: lost and silently overwritten data.

    python -m benchmarks sharing [--histories 10000] [--seed 1] [--processes 2] [--minutes 60] [--together 20] [--organised]

Every machine has a real index, journal and sidecar. They exchange through a PostgreSQL that the benchmark starts. Connections break before
and after the database received operations, and processes end before and after the write of the journal. After each history all machines
exchange until they are equal.

A memory is lost if its text is not live on every machine, and nobody who saw it replaced or forgot it. A title is overwritten if it is
neither in force nor listed as a disagreement, and nobody who saw it chose another. Counts and tags must be exact.

Histories run `--together` on the same machines. Each has its own memories and chooses machines and acts for itself. They share the
exchanges, with the same steps and the same breaks. `schedules` counts the different sequences of exchanges. With --minutes, no series
begins after that time, and the result has the number of histories that ran. The exit code is 1 if anything is lost, overwritten or
different.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
import uuid
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import psycopg
import report
from psycopg import sql

from graphmem.sharing.local_postgres import LocalPostgres

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

ROUNDS: Final = 2  # of histories that run together on the same machines; then new machines are made


def series(folder: str, seed: int, rounds: list[int], until: float, *, organised: bool) -> dict[str, Any]:
    """Run some histories on three new machines, if `until` is not over."""
    from offline_histories import Histories

    place = Path(folder) / f"machines-{seed}"
    begun = time.process_time()
    result: dict[str, Any] = {"histories": 0, "schedules": 0, "steps": 0, "texts": 0, "titles": 0, "disagreements": 0, "wrong": []}
    if time.time() > until:
        return result | {"cpu_seconds": 0.0}
    server, name = LocalPostgres(Path(folder) / "pg", durable=False), f"d{uuid.uuid4().hex}"
    histories = Histories(place, server.make(name), seed, organised=organised)
    try:
        for number, together in enumerate(rounds):
            said, wrong = histories.run(together)
            result["histories"] += together
            result["schedules"] += 1
            for told in said:
                result["steps"] += told.operations
                result["texts"] += len(told.texts)
                result["titles"] += sum(map(len, told.titles.values()))
                result["disagreements"] += told.disagreements
            result["wrong"] += [f"seed {seed}, round {number}: {one}" for one in wrong]
            if wrong:
                break  # the machines keep the fault
    finally:
        histories.close()
        shutil.rmtree(place, ignore_errors=True)
        with psycopg.connect(server.url("postgres"), autocommit=True) as db:
            db.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
    return result | {"cpu_seconds": time.process_time() - begun}


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="seed of the first series; the next numbers follow")
    parser.add_argument("--together", type=int, default=20, help="histories with the same exchanges; 1 for separate exchanges")
    parser.add_argument("--organised", action="store_true", help="in an organisation, with a login for each machine")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=0, help="after which no series begins; 0 for no limit")
    given = parser.parse_args()
    until = time.time() + given.minutes * 60 if given.minutes else float("inf")
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gm-bench-", dir=base))
    folder.chmod(0o711)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the database ends, too
    server = LocalPostgres(folder / "pg", durable=False)
    total: dict[str, Any] = {}
    try:
        server.start()
        rounds = [min(given.together, given.histories - begun) for begun in range(0, given.histories, given.together)]
        with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
            jobs = [
                pool.submit(series, str(folder), given.seed + number, rounds[start : start + ROUNDS], until, organised=given.organised)
                for number, start in enumerate(range(0, len(rounds), ROUNDS))
            ]
            try:
                for job in jobs:
                    for name, value in job.result().items():
                        total[name] = total[name] + value if name in total else value
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # otherwise the waiting series would run first
                raise
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    report.table(["", "count"], [(name, value) for name, value in total.items() if name != "wrong"] + [("wrong", len(total["wrong"]))])
    for one in total["wrong"][:20]:
        print(one)
    report.publish(
        "sharing_organised" if given.organised else "sharing",
        {"first_seed": given.seed, "asked": given.histories, "together": given.together, "organised": given.organised, **total},
        given.out,
    )
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
