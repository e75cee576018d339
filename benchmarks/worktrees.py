"""Measures a new worktree of git: seconds to the first answer, bytes of its index, and memories that arrive.

    python -m benchmarks worktrees TREE [SYMBOL] [--disk FOLDER]

The tree is copied, committed and indexed. A worktree of a new branch is added, and a command in a fresh process asks for the impact of a
symbol there. The time is compared with the same command in the first worktree. Bytes count blocks on disk that no other index shares.
Then one file is edited and indexed in both, and a memory that is stored in one worktree is searched in the other.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(*arguments: str, at: Path | None = None) -> tuple[str, float, float]:
    """Run a command; return its output, wall seconds and processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(arguments, cwd=at, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def graphmem(root: Path, *arguments: str) -> tuple[str, float, float]:
    """Run a command of graphmem in a fresh process."""
    return run(sys.executable, "-m", "graphmem", *arguments, at=root)


def megabytes(folder: Path) -> tuple[float, float]:
    """Return the MB on disk of an index, and those that no other one shares."""
    found = [path.lstat() for path in folder.rglob("*") if path.is_file()]
    return sum(one.st_blocks for one in found) * 512 / 1e6, sum(one.st_blocks for one in found if one.st_nlink == 1) * 512 / 1e6


def main() -> None:
    """Measure one tree and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("symbol", nargs="?", default="QuerySet.filter")
    parser.add_argument("--disk", type=Path, default=None, help="folder for the clones; default: the system's temporary one")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="graphmem-worktrees-", dir=given.disk))
    try:
        measure(given.tree.resolve(), given.symbol, folder)
    finally:
        shutil.rmtree(folder)


def measure(tree: Path, symbol: str, folder: Path) -> None:
    """Print the figures of one tree."""
    first, second = folder / "first", folder / "second"
    shutil.copytree(tree, first, ignore=shutil.ignore_patterns(".git", ".graphmem"), symlinks=True)
    run("git", "init", "-q", at=first)
    run("git", "add", "-A", at=first)
    run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "Add the tree", at=first)
    _, wall, cpu = graphmem(first, "index", "-q")
    whole, _ = megabytes(first / ".graphmem")
    print(f"first index: {wall:.1f} s, {cpu:.1f} s of processor, {whole:.1f} MB")
    _, wall, cpu = graphmem(first, "impact", symbol)
    print(f"answer in the first worktree: {wall:.2f} s, {cpu:.2f} s of processor")
    run("git", "worktree", "add", "-q", "-b", "benchmark", str(second), at=first)
    _, wall, cpu = graphmem(second, "impact", symbol)
    print(f"first answer in a new worktree: {wall:.2f} s, {cpu:.2f} s of processor")
    mine, alone = megabytes(second / ".graphmem")
    print(f"its index: {mine:.1f} MB, {alone:.1f} MB of its own: {alone / whole:.1%} of the first")
    for path in sorted((second / ".graphmem").iterdir(), key=lambda one: -one.stat().st_size)[:6]:
        print(f"  {path.name}: {path.stat().st_blocks * 512 / 1e6:.1f} MB{', shared' if path.stat().st_nlink > 1 else ''}")
    for root in (second, first):
        edited = next(path for path in sorted(root.rglob("*.py")) if path.stat().st_size > 4_000)
        edited.write_text(edited.read_text(encoding="utf-8") + "\n\ndef of_the_benchmark():\n    return 1\n", encoding="utf-8")
        _, wall, cpu = graphmem(root, "index", "-q")
        _, alone = megabytes(root / ".graphmem")
        print(f"index run after one edit, {root.name}: {wall:.2f} s, {cpu:.2f} s of processor; {alone:.1f} MB of its own")
    graphmem(second, "remember", "The benchmark of worktrees stores this sentence.")
    found, wall, _ = graphmem(first, "recall", "benchmark of worktrees sentence", "-q")
    print(f"a memory of the second is found in the first: {'yes' if found.strip() else 'NO'}, {wall:.2f} s")


if __name__ == "__main__":
    main()
