"""New Git worktrees: seconds to the first answer, bytes of the index, and memories that arrive.

    python -m benchmarks worktrees TREE [SYMBOL] [--disk FOLDER]

The tree is copied, committed and indexed. A worktree of a new branch is added, and a command in a new process asks for the impact of a
symbol there. The time is compared with the same command in the first worktree. Bytes are blocks on disk that no other file shares by a hard
link or by shared blocks (Btrfs, XFS; use --disk there). Then one file is edited and indexed in both, and a memory that is stored in one
worktree is searched in the other.
"""

from __future__ import annotations

import fcntl
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import report

EXTENTS = 8_192  # of one file
_FIEMAP, _SYNC, _SHARED = 0xC020660B, 1, 0x2000  # from linux/fiemap.h
_HEAD, _EXTENT = 32, 56  # bytes


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
    found = [path for path in folder.rglob("*") if path.is_file()]
    own = sum(one.lstat().st_blocks * 512 - shared_bytes(one) for one in found if one.lstat().st_nlink == 1)
    return sum(one.lstat().st_blocks for one in found) * 512 / 1e6, own / 1e6


def shared_bytes(path: Path) -> int:
    """Return the bytes of a file in blocks that other files share.

    The file system reports them (FIEMAP).
    """
    with path.open("rb") as file:
        request = bytearray(struct.pack("=QQLLLL", 0, 2**64 - 1, _SYNC, 0, EXTENTS, 0) + bytes(_EXTENT * EXTENTS))
        try:
            fcntl.ioctl(file, _FIEMAP, request)
        except OSError:  # a file system without extents shares nothing
            return 0
    count = struct.unpack_from("=L", request, 20)[0]
    if count == EXTENTS:
        raise SystemExit(f"{path} has too many extents to count; raise EXTENTS")
    rows = [struct.unpack_from("=QQQQQL", request, _HEAD + _EXTENT * number) for number in range(count)]
    return sum(row[2] for row in rows if row[5] & _SHARED)


def main() -> None:
    """Measure one tree and print the figures."""
    parser = report.parser(__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("symbol", nargs="?", default="QuerySet.filter")
    parser.add_argument("--disk", type=Path, default=None, help="folder for the clones; default: the system's temporary one")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="graphmem-worktrees-", dir=given.disk))
    try:
        report.publish("worktrees", measure(given.tree.resolve(), given.symbol, folder), given.out)
    finally:
        shutil.rmtree(folder)


def measure(tree: Path, symbol: str, folder: Path) -> dict[str, Any]:
    """Print and return the figures of one tree."""
    kind = run("stat", "-f", "-c", "%T", str(folder))[0].strip()
    figures: dict[str, Any] = {"tree": tree.name, "file_system": kind}
    first, second = folder / "first", folder / "second"
    shutil.copytree(tree, first, ignore=shutil.ignore_patterns(".git", ".graphmem"), symlinks=True)
    run("git", "init", "-q", at=first)
    run("git", "add", "-A", at=first)
    run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "Add the tree", at=first)
    _, wall, cpu = graphmem(first, "index", "-q")
    whole, _ = megabytes(first / ".graphmem")
    figures |= {"first_index_cpu_s": round(cpu, 2), "first_index_mb": round(whole, 1)}
    print(f"first index: {wall:.1f} s, {cpu:.1f} s of processor, {whole:.1f} MB")
    _, wall, cpu = graphmem(first, "impact", symbol)
    figures["answer_cpu_s"] = round(cpu, 2)
    print(f"answer in the first worktree: {wall:.2f} s, {cpu:.2f} s of processor")
    run("git", "worktree", "add", "-q", "-b", "benchmark", str(second), at=first)
    _, wall, cpu = graphmem(second, "impact", symbol)
    figures |= {"new_worktree_cpu_s": round(cpu, 2), "new_worktree_wall_s": round(wall, 2)}
    print(f"first answer in a new worktree: {wall:.2f} s, {cpu:.2f} s of processor")
    mine, alone = megabytes(second / ".graphmem")
    figures |= {"own_mb": round(alone, 1), "own_share": round(alone / whole, 3)}
    print(f"its index: {mine:.1f} MB, {alone:.1f} MB of its own: {alone / whole:.1%} of the first")
    for path in sorted((second / ".graphmem").iterdir(), key=lambda one: -one.stat().st_size)[:6]:
        print(f"  {path.name}: {path.stat().st_blocks * 512 / 1e6:.1f} MB{', shared' if path.stat().st_nlink > 1 else ''}")
    for root in (second, first):
        edited = next(path for path in sorted(root.rglob("*.py")) if path.stat().st_size > 4_000)
        edited.write_text(edited.read_text(encoding="utf-8") + "\n\ndef of_the_benchmark():\n    return 1\n", encoding="utf-8")
        _, wall, cpu = graphmem(root, "index", "-q")
        _, alone = megabytes(root / ".graphmem")
        figures |= {f"after_edit_{root.name}_mb": round(alone, 1), f"after_edit_{root.name}_cpu_s": round(cpu, 2)}
        print(f"index run after one edit, {root.name}: {wall:.2f} s, {cpu:.2f} s of processor; {alone:.1f} MB of its own")
    graphmem(second, "remember", "The benchmark of worktrees stores this sentence.")
    found, wall, _ = graphmem(first, "recall", "benchmark of worktrees sentence", "-q")
    figures["memory_arrives"] = bool(found.strip())
    print(f"a memory of the second is found in the first: {'yes' if found.strip() else 'NO'}, {wall:.2f} s")
    return figures


if __name__ == "__main__":
    main()
