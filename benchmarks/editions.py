"""Answers of a server with its graph in PostgreSQL, compared with the embedded edition.

    python -m benchmarks editions TREE [TREE …] [--samples 20]

Each tree is copied, committed to Git if it is not a repository, and indexed twice: into a file, and into a PostgreSQL that the benchmark
starts. Both indexes are served in this process. Every committed GraphQL query is sent to both, about symbols spread over the tree. Answers
about the process, its files or its engine are left out. The exit code is 1 if an answer differs in more than timestamps, new ids and
durations.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import report

from graphmem.sharing.local_postgres import LocalPostgres

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
WHO = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--samples", type=int, default=20, help="symbols that the queries are about")
    given = parser.parse_args()
    from editions import compare, editions

    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gm-bench-", dir=base))
    folder.chmod(0o711)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the database ends, too
    server = LocalPostgres(folder / "pg", durable=False)
    rows, different = [], []
    try:
        server.start()
        for number, tree in enumerate(given.trees):
            copied = folder / f"t{number}" / tree.resolve().name
            shutil.copytree(tree, copied, symlinks=True, ignore=shutil.ignore_patterns(".graphmem*", ".venv", "node_modules"))
            commit(copied)
            with editions(copied, folder / f"t{number}", server.make(f"t{number}")) as (embedded, shared):
                found = compare(embedded, shared, given.samples)
            rows.append((copied.name, *found[:-1], len(found.different)))
            different += found.different
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    report.table(["tree", "asked", "operations", "identical bytes", "equal except timestamps", "of these, refusals", "different"], rows)
    sys.stdout.writelines(f"{one}\n" for one in different[:20])
    return 1 if different else 0


def commit(tree: Path) -> None:
    """Commit a copied tree to Git, with two commits."""
    if (tree / ".git").exists():
        return
    for words in (["init", "-q"], ["add", "-A"], [*WHO, "commit", "-qm", "one"], [*WHO, "commit", "-qm", "two", "--allow-empty"]):
        subprocess.run(["git", "-C", str(tree), *words], check=True)


if __name__ == "__main__":
    raise SystemExit(main())
