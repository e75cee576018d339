"""Files of agents' sessions: checkpoint logs, records, and marks.

A mark is an empty file; it means that a session's record was not learnt from yet. A separate thread forces logs to the disk, so that other
threads do not wait. A failing disk is reported once, and sessions continue in memory.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from graphmem.observe.model import SessionInfo, SessionRecord
from graphmem.observe.running.checkpoint import RECORD, TRAIL, UNLEARNT, Reader, Trail, file_name, info_of, keep_record, read_record

KEPT_RECORDS: Final = 500  # of sessions that have ended
log = logging.getLogger("graphmem.observe")


class SessionFiles:
    """The folder with the checkpoint logs and records of agents' sessions.

    Not thread-safe: the caller must hold the observer's lock.

    Args:
        folder: created on first use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._disk: ThreadPoolExecutor | None = None
        self._fails = False

    # ---- checkpoint logs

    def trail(self, named: str) -> Path:
        """Return the path of the checkpoint log of the session with id `named`."""
        return self.folder / (file_name(named) + TRAIL)

    def left(self) -> list[tuple[Path, SessionInfo]]:
        """Return (path, session information) of each checkpoint log, by file name.

        At the start of a process, these are the logs that an earlier process left. A file that is not a checkpoint log is quarantined.
        """
        found: list[tuple[Path, SessionInfo]] = []
        for path in sorted(self.folder.glob("*" + TRAIL)) if self.folder.is_dir() else []:
            first = next(iter(Reader(path)), None)
            try:
                if first is None or first.kind != "start":
                    raise ValueError(
                        "the first line of the session log is incomplete; graphmem renames the file, so you need not do anything"
                    )
                found.append((path, info_of(first.body)[0]))
            except (KeyError, TypeError, ValueError) as error:
                log.warning("the file %s is not a checkpoint log and is quarantined: %s", path.name, error)
                path.replace(path.with_suffix(".damaged"))
        return found

    def write(self, trail: Trail) -> None:
        """Write the pending lines of a session's log to its file."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            trail.write()
            self._fails = False
        except OSError as error:
            self.refused(error)

    def force(self, trail: Trail) -> None:
        """Make the disk store a session's log durably (fsync), in the background."""
        if self._disk is None:
            self._disk = ThreadPoolExecutor(1, "graphmem-checkpoint")
        self._disk.submit(_forced, trail)

    def refused(self, error: OSError) -> None:
        """Log, the first time, that a write failed; sessions stay in memory."""
        if not self._fails:
            log.warning("sessions cannot be written to %s: %s; they continue in memory until this process ends", self.folder, error)
        self._fails = True

    def idle(self) -> ThreadPoolExecutor | None:
        """Hand over the thread that forces logs to the disk, to be ended.

        The result is None if no such thread runs. The caller ends the thread, and need not hold the lock for that. A new thread is started
        when needed.
        """
        disk, self._disk = self._disk, None
        return disk

    # ---- records

    def has_ended(self, named: str) -> bool:
        """Whether the session with id `named` has ended: its record exists."""
        return (self.folder / (file_name(named) + RECORD)).exists()

    def end(self, named: str, record: SessionRecord) -> bool:
        """Write the record of an ended session, and delete its checkpoint log.

        Returns:
            False if the write failed.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            keep_record(self.folder, record)
        except OSError as error:
            self.refused(error)
            return False
        self.trail(named).unlink(missing_ok=True)
        return True

    def record(self, named: str) -> SessionRecord | None:
        """Return the record of session `named`; None if it has not ended."""
        return read_record(self.folder / (file_name(named) + RECORD))

    def records(self) -> list[SessionRecord]:
        """Return the records of ended sessions, newest first.

        Only the newest KEPT_RECORDS files are kept; older ones are deleted.
        """
        found = [record for path in self._record_paths() if (record := read_record(path)) is not None]
        return sorted(found, key=lambda one: (str(one.info.ended_at), one.info.id), reverse=True)

    def unlearnt(self) -> list[SessionRecord]:
        """Return the records of sessions that were not learnt from yet.

        The records are sorted by file name.
        """
        names = [path.name.removesuffix(UNLEARNT) for path in sorted(self.folder.glob("*" + UNLEARNT))]
        return [record for name in names if (record := read_record(self.folder / (name + RECORD))) is not None]

    def settled(self, named: str) -> None:
        """Record that a session was learnt from.

        The mark, an empty file that means "not learnt from yet", is deleted.
        """
        (self.folder / (file_name(named) + UNLEARNT)).unlink(missing_ok=True)

    def _record_paths(self) -> list[Path]:
        paths = (
            sorted(self.folder.glob("*" + RECORD), key=lambda path: (-path.stat().st_mtime_ns, path.name)) if self.folder.is_dir() else []
        )
        for old in paths[KEPT_RECORDS:]:
            old.unlink(missing_ok=True)
            old.with_name(old.name.removesuffix(RECORD) + UNLEARNT).unlink(missing_ok=True)
        return paths[:KEPT_RECORDS]


def _forced(trail: Trail) -> None:
    try:
        trail.force()
    except FileNotFoundError:
        return  # the session has ended since: its record is on disk
    except OSError as error:
        log.warning("the checkpoint %s could not be forced to the disk: %s", trail.path.name, error)
