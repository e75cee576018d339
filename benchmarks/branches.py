"""Size of pushed branches on a server, compared with pushing each branch as a whole project.

    python -m benchmarks branches [--files 100]

The benchmark starts PostgreSQL and a server of several projects, and pushes a generated project. Then it pushes branches that change 1, 10
and 40 files, and pushes each also as a project of its own. The size of a branch is the growth of `branches.sqlite`. The size of a whole
project is the growth of the database and of its directory. An open branch also has projections, which are deleted when it is closed. At the
end a push of the main branch changes 20 files, whose old rows the branches keep. The exit code is 1 if a branch and its whole push answer
differently.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import psycopg
import report
from followers import SETTINGS, text_of

from graphmem.answers import to_json
from graphmem.client.remote import RemoteGraphMem
from graphmem.project.graphmem import GraphMem
from graphmem.sharing.local_postgres import LocalPostgres

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

CHANGED: Final = (1, 10, 40)  # files of each branch
LATER: Final = 20  # files changed by the main branch


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("--files", type=int, default=100)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gm-bench-"))
    folder.chmod(0o711)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the database ends, too
    database = LocalPostgres(folder / "pg", durable=False)
    try:
        database.start()
        result = measured(folder, database.make("branches"), given.files)
    finally:
        database.stop()
        shutil.rmtree(folder, ignore_errors=True)
    report.table(
        ["files changed", "branch, KB", "whole, KB", "open branch, KB", "push CPU s", "whole push CPU s"],
        [[one[name] for name in ("files", "kb", "whole_kb", "open_kb", "cpu_s", "whole_cpu_s")] for one in result["branches"]],
    )
    print(f"all branches after the main branch changed {LATER} files: {result['later_kb']} KB; answers that differ: {result['differing']}")
    report.publish("branches", result, given.out)
    return 1 if result["differing"] else 0


def measured(folder: Path, url: str, files: int) -> dict[str, Any]:
    """Push the project, its branches and whole copies; return the figures."""
    from hosted import hosted

    root, server_folder = folder / "app", folder / "srv"
    (root / "app").mkdir(parents=True)
    for number in range(files):
        (root / "app" / f"m{number}.py").write_text(text_of(number, files, 0), encoding="utf-8")
    branches: list[dict[str, Any]] = []
    with (
        hosted(server_folder, replace(SETTINGS, store=url)) as server,
        GraphMem.open(repo=root, settings=SETTINGS) as own,
        psycopg.connect(url, autocommit=True) as db,
    ):

        def used() -> int:
            db.execute("CHECKPOINT")
            found = db.execute("SELECT pg_database_size(current_database())").fetchone()
            return int(found[0]) if found else 0

        def stored() -> int:
            with server.hosting.branches("app") as kept:
                return sum(row[0] for row in kept._rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"))

        def answer(address: str) -> str:
            remote = RemoteGraphMem(server.project(address))
            return repr([to_json(remote.impact([f"app.m{one}.f{one % 25}"]))["hits"] for one in range(0, files, files // 10)])

        own.index(root)
        own.push_index(server.project("app"))
        differing = 0
        for number, changed in enumerate(CHANGED):
            for one in range(files):
                version = number + 1 if one < changed else 0
                (root / "app" / f"m{one}.py").write_text(text_of(one, files, version), encoding="utf-8")
            own.index(root)
            before, begun = stored(), time.process_time()
            own.push_index(server.project("app"), "", f"b{number}")
            cpu_s, size = time.process_time() - begun, stored() - before
            copy = shutil.copytree(root, folder / f"whole{number}" / "app", ignore=shutil.ignore_patterns(".graphmem"))
            with GraphMem.open(repo=copy, settings=SETTINGS) as other:  # with a key of its own, so another schema of the database
                other.index(copy)
                database, begun = used(), time.process_time()
                other.push_index(server.project(f"whole{number}"))
                whole_cpu_s = time.process_time() - begun
            whole = used() - database + disk(server_folder / f"whole{number}")
            differing += answer(f"app@b{number}") != answer(f"whole{number}")
            opened = disk(server_folder / "app" / ".graphmem" / "branches")
            branches.append(
                {
                    "files": changed,
                    "kb": size // 1024,
                    "whole_kb": whole // 1024,
                    "open_kb": (opened - sum(one["open_bytes"] for one in branches)) // 1024,
                    "open_bytes": opened - sum(one["open_bytes"] for one in branches),
                    "cpu_s": round(cpu_s, 2),
                    "whole_cpu_s": round(whole_cpu_s, 2),
                }
            )
        before = stored()
        for one in range(files):
            version = 9 if one >= files - LATER else 0
            (root / "app" / f"m{one}.py").write_text(text_of(one, files, version), encoding="utf-8")
        own.index(root)
        own.push_index(server.project("app"))
        later = stored() - before
        differing += sum(answer(f"app@b{number}") != answer(f"whole{number}") for number in range(len(CHANGED)))
    return {"files": files, "branches": branches, "later": LATER, "later_kb": later // 1024, "differing": differing}


def disk(folder: Path) -> int:
    """Return the bytes of a directory's files, without files of several links."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and one.stat().st_nlink == 1)


if __name__ == "__main__":
    raise SystemExit(main())
