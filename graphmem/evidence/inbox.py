"""Where outside files wait for the next index run, whoever makes it.

A file is put here by the command line or by the pytest plug-in and read by the process that owns the index, which may
be another one. Its name's ending says what it is. It is deleted when the graph holds what it said; one that cannot be read is
renamed to `*.refused` and named in the summary of the run, so that it is neither lost nor tried for ever.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import EvidenceError
from graphmem.evidence import coverage, scip, trace
from graphmem.model import Diagnostic, stable_id
from graphmem.runtime.faults import CODE, fault

if TYPE_CHECKING:
    from graphmem.evidence.observations import Reading
    from graphmem.evidence.sidecar import Sidecar
    from graphmem.resolution.resolver import Resolver

FOLDER: Final = "evidence"
REFUSED: Final = ".refused"


class Inbox:
    """The waiting files of one index.

    Args:
        folder: directory of the index.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._taken: list[Path] = []

    def has_any(self) -> bool:
        """Whether a file waits."""
        return bool(self._waiting())

    def take_in(self, sidecar: Sidecar, resolver: Resolver, root: Path) -> list[Diagnostic]:
        """Read every waiting file into the sidecar, the oldest first, and say what could not be used."""
        notes: list[Diagnostic] = []
        self._taken = []
        for path in self._waiting():
            reader = READERS[path.suffix]
            try:
                reading = reader.read(path, resolver, root)
                sidecar.take(reader.rule, reading)
            except EvidenceError as error:
                path.rename(path.with_name(path.name + REFUSED))
                notes.append(Diagnostic("", "error", "evidence", error.message, 0))
                continue
            except Exception as error:  # noqa: BLE001 - it stays with that file, and is said
                said = fault(error, "taking it in", path.name)
                path.rename(path.with_name(path.name + REFUSED))
                notes.append(Diagnostic("", "error", CODE, f"{path.name}: {said}", 0))
                continue
            self._taken.append(path)
            notes += [Diagnostic(about, "note", "evidence", sentence, 0) for about, sentence in reading.notes]
        return notes

    def clear(self) -> None:
        """Delete what was taken in."""
        for path in self._taken:
            path.unlink(missing_ok=True)
        self._taken = []

    def _waiting(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        found = [path for path in self._folder.iterdir() if path.suffix in READERS and path.name != path.suffix]
        return sorted(found, key=lambda path: (path.lstat().st_mtime_ns, path.name))


class Reader(NamedTuple):
    """How one kind of outside file is read."""

    rule: str  # of what it says
    check: Callable[[Path], object]  # raises EvidenceError for what can be refused at once
    read: Callable[[Path, Resolver, Path], Reading]


READERS: Final[dict[str, Reader]] = {
    scip.SUFFIX: Reader("scip", scip.parse, scip.read),
    trace.SUFFIX: Reader("runtime", trace.read, lambda path, resolver, root: trace.read(path)),
    coverage.SUFFIX: Reader("coverage", coverage.check, coverage.read),
}
"""Ending of a file's name -> its reader."""


def prepared(folder: Path) -> Path:
    """The inbox of an index, made when missing; an index directory that is made with it is hidden from git, as always."""
    inbox = folder / FOLDER
    inbox.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return inbox


def put(file: Path, suffix: str, folder: Path) -> None:
    """Check a file and leave a copy for the next index run.

    Args:
        file: anywhere; it is only read.
        suffix: key of `READERS`: what it is.
        folder: directory of the index.

    Raises:
        EvidenceError: it is not what it should be; nothing is left.
    """
    READERS[suffix].check(file)
    inbox = prepared(folder)
    name = f"{file.stem or 'given'}-{stable_id(str(file.resolve().parent))[:8]}"  # tools give their files the same name everywhere
    draft = inbox / f"{name}.part"
    shutil.copy2(file, draft)  # with its time, which says what coverage was measured on
    draft.replace(inbox / f"{name}{suffix}")
