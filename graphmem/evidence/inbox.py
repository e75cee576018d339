"""Folder in which files of outside tools wait for the next index run.

Such a file is a recorded test run, a coverage report or a SCIP index. The command line or the pytest plug-in puts it into the folder. The
owner of the index reads the file. The owner may be another process. The suffix of a file determines which function reads it. A file is
deleted when the graph contains its edges. A file that cannot be read is renamed to `*.refused` and reported in the summary of the run. So
it is neither lost nor read again in every run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import EvidenceError
from graphmem.evidence import coverage, reports, scip, trace
from graphmem.model import Diagnostic, stable_id
from graphmem.runtime.files.own_folder import hide_from_git
from graphmem.runtime.process.faults import CODE, fault

if TYPE_CHECKING:
    from graphmem.evidence.observations import Reading
    from graphmem.evidence.sidecar import Sidecar
    from graphmem.resolution.resolver import Resolver

FOLDER: Final = "evidence"
REFUSED: Final = ".refused"


class Inbox:
    """Files of outside tools that wait for the next run of one index.

    Such a file is a recorded test run, a coverage report or a SCIP index.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._taken: list[Path] = []

    def has_any(self) -> bool:
        """Whether a file of an outside tool waits for the next index run."""
        return bool(self._waiting())

    def take_in(self, sidecar: Sidecar, resolver: Resolver, root: Path) -> list[Diagnostic]:
        """Store the edges that waiting files of outside tools report.

        The oldest file comes first. The edges are stored in `sidecar`, the SQLite file of observed edges. The result has diagnostics about
        files that could not be read, and about contents that were skipped.
        """
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
            except Exception as error:  # noqa: BLE001 - the error affects that file only, and is reported
                said = fault(error, "taking it in", path.name)
                path.rename(path.with_name(path.name + REFUSED))
                notes.append(Diagnostic("", "error", CODE, f"{path.name}: {said}", 0))
                continue
            self._taken.append(path)
            notes += [Diagnostic(about, "note", "evidence", sentence, 0) for about, sentence in reading.notes]
        return notes

    def clear(self) -> None:
        """Delete the waiting files that `take_in` read."""
        for path in self._taken:
            path.unlink(missing_ok=True)
        self._taken = []

    def _waiting(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        found = [path for path in self._folder.iterdir() if path.suffix in READERS and path.name != path.suffix]
        return sorted(found, key=lambda path: (path.lstat().st_mtime_ns, path.name))


class Reader(NamedTuple):
    """The functions that check and read one kind of file of outside tools."""

    rule: str  # of its edges
    check: Callable[[Path], object]  # raises EvidenceError for files that can be refused at once
    read: Callable[[Path, Resolver, Path], Reading]


READERS: Final[dict[str, Reader]] = {
    scip.SUFFIX: Reader("scip", scip.parse, scip.read),
    trace.SUFFIX: Reader("runtime", trace.read, lambda path, resolver, root: trace.read(path)),
    reports.SUFFIX: Reader("coverage", reports.unpacked, reports.read),
    coverage.SUFFIX: Reader("coverage", coverage.check, coverage.read),
}
"""Suffix of a file -> its reader."""


def prepared(folder: Path) -> Path:
    """Return the inbox directory of an index, and create it if missing.

    A new index directory also gets a `.gitignore`.
    """
    inbox = folder / FOLDER
    inbox.mkdir(parents=True, exist_ok=True)
    hide_from_git(folder)
    return inbox


def put(file: Path, suffix: str, folder: Path) -> None:
    """Check a file and put a copy into the inbox for the next index run.

    Args:
        file: a file in any directory; it is not changed.
        suffix: kind of the file, as a key of `READERS`.
        folder: directory of the index.

    Raises:
        EvidenceError: the file is not of this kind; nothing is copied.
    """
    READERS[suffix].check(file)
    inbox = prepared(folder)
    name = f"{file.stem or 'given'}-{stable_id(str(file.resolve().parent))[:8]}"  # tools use the same file name in every project
    draft = inbox / f"{name}.part"
    shutil.copy2(file, draft)  # keeps the modification time, which tells the sources that coverage measured
    draft.replace(inbox / f"{name}{suffix}")
