"""Find and run the SCIP indexers that support files of a project.

The table of programs is `grammars/indexers.toml`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import EvidenceError
from graphmem.parsing.ignore import skipped_files
from graphmem.runtime.data.conventions import all_conventions
from graphmem.runtime.data.resources import data_root

TIMEOUT_S: Final = 3600
MAX_PROJECTS: Final = 500  # maximum folders in the arguments of one program


class Indexer(NamedTuple):
    """A program that writes a SCIP index; a row of `indexers.toml`."""

    program: str  # on PATH
    endings: tuple[str, ...]
    arguments: tuple[str, ...]
    install: str
    needs: tuple[str, ...]
    without: Mapping[str, Sequence[str]]
    projects: str
    leaves: tuple[str, ...]

    @property
    def how_to_install(self) -> str:
        """A sentence that tells a person how to install this program."""
        return self.install if self.install.startswith("download") else f"install it with `{self.install}`"


class Fitting(NamedTuple):
    """A SCIP indexer for a project's files, and whether it can run."""

    indexer: Indexer
    files: int  # number of files with its suffixes
    found: str  # path of the installed program; "" if it is not installed
    needed: str  # its project file in the root; "" if it needs none
    missing: tuple[str, ...]  # patterns of its project file, if the root has no match


class Ran(NamedTuple):
    """Result of running SCIP indexers: the written indexes and the failures."""

    indexes: list[Path]
    notes: list[str]  # programs that were not run or failed, and what to do


@cache
def indexers() -> tuple[Indexer, ...]:
    """Return the table of all known SCIP indexers, from `indexers.toml`."""
    rows = tomllib.loads((data_root() / "grammars" / "indexers.toml").read_text("utf-8"))
    return tuple(
        Indexer(
            name,
            tuple(row["endings"]),
            tuple(row["arguments"]),
            row["install"],
            tuple(row.get("needs", ())),
            row.get("without", {}),
            row.get("projects", ""),
            tuple(row.get("leaves", ())),
        )
        for name, row in rows.items()
    )


def fitting(root: Path, names: Iterable[str]) -> list[Fitting]:
    """Return the SCIP indexers that support files of a project.

    The indexers are in the order of `indexers.toml`.

    Args:
        root: root directory of the project.
        names: names of the project's files, with or without directories.
    """
    count = Counter(os.path.splitext(name)[1] for name in names)  # noqa: PTH122 - faster for very many names
    found = []
    for one in indexers():
        own = sum(count[ending] for ending in one.endings)
        if own:
            needed = next((path for pattern in one.needs for path in sorted(root.glob(pattern))), None)
            missing = one.needs if needed is None else ()
            name = needed.relative_to(root).as_posix() if needed is not None else ""
            found.append(Fitting(one, own, shutil.which(one.program) or "", name, missing))
    return found


def run_installed(root: Path, folder: Path) -> Ran:
    """Run every installed SCIP indexer that supports files of the project.

    The failure of one program does not affect the others.

    Args:
        root: root directory of the project.
        folder: directory for the SCIP indexes.

    Raises:
        EvidenceError: no SCIP index was created; the message has the reason for each program.
    """
    indexes, notes = [], []
    for one in fitting(root, _names(root)):
        name = one.indexer.program
        if one.missing:
            notes.append(
                f"{name} needs one of {', '.join(one.missing)}, and {root.name} has none; run {name} yourself, then use --scip FILE"
            )
        elif not one.found:
            notes.append(f"{name} is not installed, so {one.files:,} files are not checked; {one.indexer.how_to_install}")
        else:
            try:
                indexes.append(_run(one, root, folder))
            except EvidenceError as error:
                notes.append(error.message)
    if not indexes:
        reasons = "; ".join(notes or ["no known indexer supports files of this project; import an index with --scip FILE"])
        raise EvidenceError(
            f"none of the SCIP indexers could create an index; {reasons}",
            path=str(root),
            reason="no indexer",
        )
    return Ran(indexes, notes)


def _run(one: Fitting, root: Path, folder: Path) -> Path:
    indexer = one.indexer
    output = folder / f"{indexer.program}.scip"
    filled = {"name": root.name or "project", "output": str(output), "needed": one.needed}
    arguments = [argument.format(**filled) for argument in indexer.arguments]
    arguments += [argument for name, more in indexer.without.items() if not (root / name).exists() for argument in more]
    arguments += _projects(root, indexer.projects)
    new = [root / name for name in indexer.leaves if not (root / name).exists()]
    try:
        done = subprocess.run(
            [one.found, *arguments], cwd=root, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise EvidenceError(
            f"the SCIP indexer {indexer.program} took more than {TIMEOUT_S} s; run {indexer.program} yourself and import its index "
            "with --scip FILE",
            path=str(root),
            reason="timeout",
        ) from None
    except OSError as error:
        raise EvidenceError(
            f"the SCIP indexer {indexer.program} cannot be started: {error.strerror}; {indexer.how_to_install}",
            path=str(root),
            reason="unreadable",
        ) from error
    finally:
        for path in new:
            path.unlink(missing_ok=True)
    if done.returncode or not output.is_file():
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise EvidenceError(
            f"the SCIP indexer {indexer.program} failed: {_telling(said) or f'exit code {done.returncode}'}; run {indexer.program} "
            f"yourself for details, or {indexer.how_to_install}",
            path=str(root),
            reason="indexer failed",
        )
    return output


def _telling(output: Sequence[str]) -> str:
    """Return the line of a failed program's output that explains the failure.

    The result is the first line with the word "error", or else the last line.
    """
    return next((line.strip() for line in output if "error" in line.lower()), output[-1].strip() if output else "")[:300]


def _projects(root: Path, marker: str) -> list[str]:
    """Return the directories below the root that have a file named `marker`.

    An example of a marker is `tsconfig.json`. If the root itself has the file, the list is empty, because the indexer then finds all
    projects by itself.
    """
    if not marker or (root / marker).exists():
        return []
    found = [Path(at).relative_to(root).as_posix() for at, _, names in _walk(root) if marker in names]
    return found[:MAX_PROJECTS]


def _names(root: Path) -> Iterator[str]:
    for _, _, names in _walk(root):
        yield from names


def _walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk through the directories of a project's own code, as `os.walk` does.

    Yields (directory, subdirectories, file names). Hidden directories, caches, builds and directories of libraries are left out.
    """
    skipped, conventions = skipped_files(), all_conventions()
    others = skipped.cache_folders | skipped.vendored_folders | conventions.library_folders | conventions.build_folders
    for at, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in others)
        yield at, folders, names
