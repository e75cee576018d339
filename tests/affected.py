"""Run the tests that the working tree's changes affect, as graphmem's own impact names them.

`python tests/affected.py [BASE] [--all] [PYTEST OPTIONS]` compares the working tree with BASE, `HEAD` by default. Without `--all`, the
tests that are likely to run changed code run for `SECONDS`, the likeliest first. The number of the others is printed.

The impact is computed by graphmem as of `HEAD`: the working tree may be broken, and a change of the parser would cost a new index.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("graphmem", "queries", "grammars", "pyproject.toml")  # what the package needs
LIMIT = 10_000  # tests in an answer
LIKELY = 0.2  # least chance that a test runs changed code, for tests that run without `--all`
MOST = 100  # tests that run without `--all`
SECONDS = 4  # after which no further test starts without `--all`


def changed_files(base: str) -> set[str]:
    """Files that differ from a revision, or that Git does not know yet."""
    git = ["git", "-C", str(ROOT)]
    differing = subprocess.run([*git, "diff", "--name-only", base], capture_output=True, text=True, check=True).stdout
    unknown = subprocess.run([*git, "ls-files", "--others", "--exclude-standard"], capture_output=True, text=True, check=True).stdout
    return set((differing + unknown).split())


def use_committed_graphmem() -> None:
    """Let `import graphmem` find the package as of `HEAD`, unpacked beside the virtual environment's own files."""
    if not (ROOT / "graphmem" / "__init__.py").exists():
        return  # a test's tree, which has a part of the package only

    def git(*words: str) -> bytes:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=True).stdout

    folder = Path(sys.prefix) / "affected"
    content = hashlib.sha256(git("ls-tree", "HEAD", *PARTS)).hexdigest()
    stamp = folder / ".content"
    if not stamp.exists() or stamp.read_text() != content:
        stamp.unlink(missing_ok=True)
        unpack(git("archive", "HEAD", *PARTS), folder)
        stamp.write_text(content)
    sys.path.insert(0, str(folder))


def unpack(archive: bytes, folder: Path) -> list[str]:
    """Make a folder equal to an archive; return the files that were written.

    Equal files keep their time, so Python does not compile them again: after a commit that takes longer than the question.
    """
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        files = {one.name: opened.extractfile(one) for one in opened if one.isfile()}
        wanted = {name: content.read() for name, content in files.items() if content is not None}
    for path in [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__"]:
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    written = []
    for name, data in wanted.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            written.append(name)
    return written


def affected(base: str) -> dict[str, float]:
    """Ids for pytest with their confidence: changed test files whole, then single tests, the surest first."""
    changed = changed_files(base)
    files = {path for path in changed if path.startswith("tests/") and Path(path).match("test_*.py") and (ROOT / path).exists()}
    if not changed:
        return {}
    use_committed_graphmem()
    from graphmem import GraphMem
    from graphmem.settings import Settings

    with GraphMem.open(repo=ROOT, settings=Settings(embedder="none"), keep_warm=False) as memory:
        memory.index(ROOT)
        tests = memory.impact_of_diff(base=base, limit=LIMIT).impact.tests
    found = dict.fromkeys(sorted(files), 1.0)
    for hit in sorted(tests, key=lambda hit: -hit.confidence):
        name = hit.symbol.qualname.partition(".")[0]  # a function inside a test runs with it
        if name.startswith("test_") and hit.symbol.path not in files:
            found.setdefault(f"{hit.symbol.path}::{name}", hit.confidence)
    return found


def main(arguments: list[str]) -> int:
    """Exit code of pytest; 0 where nothing is affected."""
    base = arguments.pop(0) if arguments and not arguments[0].startswith("-") else "HEAD"
    found = affected(base)
    likely = [test for test, chance in found.items() if chance >= LIKELY][:MOST]
    chosen = list(found) if "--all" in arguments else likely
    print(f"{len(chosen)} affected tests and test files; {len(found) - len(chosen)} less likely ones run with --all", flush=True)
    if not chosen:
        return 0
    options = [one for one in arguments if one != "--all"]
    if "--all" not in arguments:
        options += ["-p", "time_budget", "--seconds", str(SECONDS)]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", *options, *chosen]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support")}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
