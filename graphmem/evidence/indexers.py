"""SCIP indexers that are installed, as a table, and how each is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import EvidenceError

TIMEOUT_S: Final = 3600
_PASSED_OVER: Final = ("node_modules", "site-packages", "venv", "__pycache__")


class Indexer(NamedTuple):
    """A program that writes a SCIP index."""

    program: str  # on PATH
    endings: tuple[str, ...]  # of the files it reads
    arguments: tuple[str, ...]  # {name} and {output} are filled in; run in the project's root
    install: str


INDEXERS: Final = (
    Indexer(
        "scip-python",
        (".py",),
        ("index", ".", "--project-name", "{name}", "--project-version", "0", "--output", "{output}"),
        "npm install -g @sourcegraph/scip-python",
    ),
    Indexer(
        "scip-typescript",
        (".ts", ".tsx"),
        ("index", "--infer-tsconfig", "--output", "{output}"),
        "npm install -g @sourcegraph/scip-typescript",
    ),
)


def run_installed(root: Path, folder: Path) -> list[Path]:
    """Run every installed indexer that has files to read here.

    Args:
        root: of the project.
        folder: where the indexes go.

    Raises:
        EvidenceError: none is installed that could read this project, or one failed; its last words are in the sentence.
    """
    present = _endings(root, {ending for one in INDEXERS for ending in one.endings})
    fitting = [one for one in INDEXERS if not present.isdisjoint(one.endings)]
    programs = [(one, found) for one in fitting if (found := shutil.which(one.program)) is not None]
    if not programs:
        advice = " or ".join(f"`{one.install}`" for one in fitting or INDEXERS)
        raise EvidenceError(
            f"no SCIP indexer for this project is on PATH; install one with {advice}, or name an index with --scip FILE",
            path=str(root),
            reason="no indexer",
        )
    return [_run(one, program, root, folder) for one, program in programs]


def _run(indexer: Indexer, program: str, root: Path, folder: Path) -> Path:
    output = folder / f"{indexer.program}.scip"
    filled = {"name": root.name or "project", "output": str(output)}
    try:
        done = subprocess.run(
            [program, *(argument.format(**filled) for argument in indexer.arguments)],
            cwd=root,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EvidenceError(
            f"{indexer.program} took more than {TIMEOUT_S} s; run it yourself and name its index with --scip FILE",
            path=str(root),
            reason="timeout",
        ) from None
    if done.returncode or not output.is_file():
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise EvidenceError(
            f"{indexer.program} failed: {said[-1] if said else f'exit code {done.returncode}'}; run it yourself to see more",
            path=str(root),
            reason="indexer failed",
        )
    return output


def _endings(root: Path, wanted: set[str]) -> set[str]:
    """Which of these endings files of a project have."""
    found: set[str] = set()
    for name in _names(root):
        found.update(ending for ending in wanted - found if name.endswith(ending))
        if found == wanted:
            break
    return found


def _names(root: Path) -> Iterator[str]:
    for _, folders, files in os.walk(root):
        folders[:] = _kept(folders)
        yield from files


def _kept(folders: Sequence[str]) -> list[str]:
    return sorted(one for one in folders if not one.startswith(".") and one not in _PASSED_OVER)
