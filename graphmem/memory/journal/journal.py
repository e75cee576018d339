"""Append-only journal of memories, the source of truth for them.

Its lines are readable text in files next to the database. An entry is on disk before the write is acknowledged.

One line is one entry (`journal_lines`): the change of one memory, its actor, its time and the changed fields. The lines of one write form a
batch.

The journal is split into files of a thousand entries each, called segments. The newest five segments are plain text, including the one
being written; older segments are compressed. Only `rewrite` changes past entries. It removes text that contains a secret, or that a person
wants erased, and adds an entry about this.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.memory.journal.journal_files import first_entry_of, read_lines, refusal_of, remove_folder, unpacked
from graphmem.memory.journal.journal_lines import START, Entry, Head, Line, Scan, encoded, from_entry, line_of, scanned
from graphmem.runtime.files.sqlite_file import private
from graphmem.runtime.files.vault import vault_of
from graphmem.runtime.identity import index_id
from graphmem.runtime.process import system

SEGMENT_ENTRIES: Final = 1_000
OPEN_SEGMENTS: Final = 5  # uncompressed segments, including the one being written: 4,000 to 5,000 entries

LOST: Final = "lost"  # key in an entry: first and last number of missing entries, whose known content it restates


class Examined(NamedTuple):
    """The damage and the gaps (missing entries) in the whole journal."""

    open: list[str]  # one sentence for each damaged line or stretch that nothing replaces
    settled: list[str]  # the same for damage whose known content a later entry restates
    gaps: list[tuple[int, int]]  # missing entries (first, last) among those in `open`


class Journal:
    """The journal of one index: append, read, check and rewrite entries.

    An entry is the change of one memory. `MemoryRepository` ensures that there is one writer.

    Args:
        folder: directory of the segments; created by the first write.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._vault = vault_of(folder.parent)
        self._begin()

    def _begin(self, *, every: bool = False) -> None:
        """Reset this object, and read the files of the journal.

        If `every` is true, all files are read; otherwise only the files that are not compressed.
        """
        self.notes: list[str] = []  # what was quarantined, one sentence each
        self.damaged = False  # entries of complete batches were lost
        self.head = Head(0, START)
        self._unmended: OSError | None = None  # why damage could not be quarantined yet; the next write tries again
        self._file: int | None = None
        self._path: Path | None = None
        self._entries_here = 0
        self._size = 0
        self._open(every=every)

    @property
    def folder(self) -> Path:
        """The directory of the journal's files."""
        return self._folder

    def stamp(self) -> tuple[object, ...]:
        """Return a value that changes when any process writes to the journal.

        A reader compares two such values to detect a write.
        """
        newest = self._segments()[-1:]
        return (index_id(self._folder), *((path.name, path.stat().st_size) for path in newest))

    def reopen(self) -> None:
        """Read the journal's files again, after another process wrote to them."""
        self.close()
        self._begin()

    # ---- reading

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield the undamaged entries with a number above `after`, oldest first."""
        last = after
        for path in self._segments():
            if (following := self._first_of_next(path)) is not None and following <= after + 1:
                continue
            for entry in scanned(from_entry(read_lines(path), last)).entries:
                if entry.number > last:
                    last = entry.number
                    yield entry

    def newest(self, skip: int, limit: int, wanted: Callable[[Line], bool] | None = None) -> tuple[list[Entry], int]:
        """Return `limit` entries that pass a filter, after `skip` newer ones.

        The newest entry comes first. `wanted` is the filter; without it, all entries pass. The second result is the number of all entries
        that pass.
        """
        found: list[Entry] = []
        total = 0
        for path in reversed(self._segments()):
            for entry in reversed(scanned(read_lines(path)).entries):
                if wanted is None or wanted(entry.body):
                    if skip <= total < skip + limit:
                        found.append(entry)
                    total += 1
        return found, total

    def latest(self, wanted: Callable[[Line], bool]) -> Entry | None:
        """Return the newest entry that `wanted` accepts; None if there is none.

        Files are read from the newest on, only until an entry is found.
        """
        for path in reversed(self._segments()):
            for entry in reversed(scanned(read_lines(path)).entries):
                if wanted(entry.body):
                    return entry
        return None

    def verify(self) -> list[str]:
        """Read the whole journal again; return one sentence for each damage.

        The list is empty if the journal is intact.
        """
        return self.examine().open

    def examine(self) -> Examined:
        """Read the whole journal again and return all damage in it."""
        findings: list[str] = []
        gaps: dict[tuple[int, int], str] = {}
        made_up: set[tuple[int, int]] = set()
        prev, number = START, 0
        for path in self._segments():
            data, is_whole = unpacked(path)
            scan = scanned(data)
            if not is_whole:
                findings.append(f"{path.name} is packed and does not match its hash")
            findings += [f"{path.name} has a line that does not match its hash" for _ in scan.bad]
            for entry in scan.entries:
                made_up.update((first, last) for first, last in entry.body.get(LOST, ()))
                if entry.number > number + 1:
                    missing = f"entry {number + 1} is" if entry.number == number + 2 else f"entries {number + 1} to {entry.number - 1} are"
                    gaps[number + 1, entry.number - 1] = f"{missing} missing before entry {entry.number} in {path.name}"
                elif entry.prev != prev:
                    findings.append(f"entry {number} was replaced: entry {entry.number} in {path.name} follows another one")
                number, prev = entry.number, entry.sum
        if self.head.number and (number, prev) != self.head:
            findings.append(f"the journal ends at entry {number}, not at {self.head.number}")
        settled = [f"{said}; what the database knew of it was written again" for gap, said in gaps.items() if gap in made_up]
        still = {gap: said for gap, said in gaps.items() if gap not in made_up}
        return Examined([*findings, *still.values()], settled, list(still))

    # ---- writing

    def append(self, bodies: Sequence[Line]) -> Head:
        """Append the entries of one write; return once they are on disk.

        `bodies` are the entries as mappings (see `journal_lines.body`). The result has the number and hash of the journal's new last entry.

        Raises:
            DiskFullError, JournalError: no part of the batch was written.
        """
        if not bodies:
            return self.head
        if self._unmended is not None:
            self.close()
            self._begin()
        if self._unmended is not None:
            raise refusal_of(self._folder, self._unmended)
        data, head = encoded(bodies, self.head, self._vault)
        try:
            if self._path is None or self._entries_here >= SEGMENT_ENTRIES:
                self._begin_segment()
            if self._file is None:
                assert self._path is not None  # noqa: S101 - _begin_segment has named one
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | system.OPEN)
            self._write(self._file, data)
        except OSError as error:
            raise refusal_of(self._folder, error) from error
        self.head = head
        self._entries_here += len(bodies)
        self._size += len(data)
        return head

    def rewrite(self, change: Callable[[Line], Line | None], note: Line) -> int:
        """Change or erase past entries of the journal; return how many changed.

        An entry that records this rewrite is added at the end. All hashes are computed again. The new directory replaces the old one in one
        step.

        Args:
            change: called with the body of each entry. It returns the new body, or the same body for no change. None erases the content and
                keeps only number and time.
            note: body of the entry that is added.
        """
        changed = 0
        new = self._folder.with_name(self._folder.name + ".new")
        remove_folder(new)
        fresh = Journal(new)
        batch: list[Line] = []
        for entry in self.entries():
            body = change(entry.body)
            changed += body != entry.body
            batch.append(body if body is not None else {"at": entry.body["at"], "op": "erased"})
            if entry.number == entry.batch + entry.of - 1:
                fresh.append(batch)
                batch = []
        fresh.append([*batch, note | {"note": f"{note.get('note', '')} (before: entry {self.head.number}, {self.head.sum})".strip()}])
        fresh.close()
        self.adopt(new)
        return changed

    def adopt(self, new: Path) -> None:
        """Replace this journal's directory by the directory `new`, in one step.

        The old files are deleted.

        Args:
            new: directory with a complete journal, on the same disk. No process may write to that directory.
        """
        self.close()
        old = self._folder.with_name(self._folder.name + ".old")
        remove_folder(old)
        if self._folder.exists():
            self._folder.rename(old)
        new.rename(self._folder)
        system.sync(self._folder.parent)
        remove_folder(old)
        self._begin()

    def loss(self, known: int) -> str:
        """Return a message about entries that are missing at the journal's end.

        Args:
            known: number of the last journal entry that the database contains. The journal must end before this entry.
        """
        if self.head.number:
            return (
                f"the memories' journal was cut off after entry {self.head.number}: entries {self.head.number + 1} to {known}, "
                "which were acknowledged, are missing"
            )
        how = "was emptied" if self._segments() else "is gone"
        return f"the memories' journal {how}: its {known} entries, which were acknowledged, are missing"

    def mend(self) -> None:
        """Check every file of the journal, and quarantine damaged lines.

        The attributes `notes` and `damaged` then report the damage. Opening a journal checks only the files that are not compressed.

        Raises:
            JournalError: the system cannot read or write a file.
        """
        self.close()
        self._begin(every=True)

    def compress(self) -> None:
        """Compress old files of the journal, all except the newest five.

        The call is cheap when there is nothing to compress.
        """
        plain = [path for path in self._segments() if path.suffix == ".jsonl"]
        for path in plain[: max(0, len(plain) - OPEN_SEGMENTS)]:
            packed = path.with_name(path.name + ".gz")
            scratch = path.with_name(path.name + ".tmp")
            with open(scratch, "wb", opener=private) as out:
                out.write(gzip.compress(path.read_bytes(), mtime=0))
                out.flush()
                os.fsync(out.fileno())
            scratch.replace(packed)
            system.sync(self._folder)
            path.unlink()

    def delete(self) -> list[str]:
        """Delete the whole journal with its quarantined files; return their names."""
        self.close()
        names = sorted(path.name for path in self._folder.iterdir()) if self._folder.is_dir() else []
        remove_folder(self._folder)
        self._begin()
        return names

    def close(self) -> None:
        """Close the file of the journal. Idempotent."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    # ---- inside

    def _open(self, *, every: bool) -> None:
        """Read the journal's files, quarantine damage, and find the newest entry.

        With `every` the compressed files are read as well.
        """
        try:
            self._recover_swap()
            for scratch in self._folder.glob("*.tmp"):
                scratch.unlink()
        except OSError as error:
            self._unmended = error
        if not self._folder.is_dir():
            return
        segments = self._segments()
        for path in segments:
            if path.suffix == ".gz" and path is not segments[-1] and not every:
                continue
            data, is_whole = unpacked(path)
            scan = scanned(data)
            if scan.bad or scan.torn_at is not None or not is_whole:
                try:
                    self._put_aside(path, scan, is_whole=is_whole)
                    scan = scanned(read_lines(path))
                except OSError as error:  # a full or read-only disk; intact entries are read all the same
                    self._unmended = error
                    self.notes.append(f"{path.name} has damaged lines that could not be quarantined yet: {error.strerror or error}")
            if scan.entries:
                if (self.head.number or path is segments[0]) and scan.entries[0].number > self.head.number + 1 and not self.damaged:
                    self.notes.append(
                        f"entries {self.head.number + 1} to {scan.entries[0].number - 1} of the memories' journal are missing; "
                        "what the database knows of them was kept"
                    )
                    self.damaged = True
                self.head = Head(scan.entries[-1].number, scan.entries[-1].sum)
                self._entries_here = len(scan.entries)
        if segments and segments[-1].suffix != ".gz":
            self._path = segments[-1]
            self._size = self._path.stat().st_size

    def _recover_swap(self) -> None:
        """Complete a `rewrite` that did not finish because its process ended.

        `rewrite` renames two directories, so the process may end after the first renaming.
        """
        old, new = (self._folder.with_name(self._folder.name + end) for end in (".old", ".new"))
        if not self._folder.name.endswith(".new"):
            if not self._folder.exists() and old.exists():
                (new if new.exists() else old).rename(self._folder)
            if self._folder.exists():
                remove_folder(old)
                remove_folder(new)

    def _segments(self) -> list[Path]:
        """Return the journal's files, oldest first.

        A file that exists both plain and compressed is listed once.
        """
        if not self._folder.is_dir():
            return []
        by_first = {}
        for path in sorted(self._folder.iterdir(), key=lambda one: one.name, reverse=True):
            if (first := first_entry_of(path)) is not None:
                by_first[first] = path  # the plain one is last and wins
        return [by_first[first] for first in sorted(by_first)]

    def _first_of_next(self, path: Path) -> int | None:
        mine = first_entry_of(path) or 0
        return min((first for one in self._segments() if (first := first_entry_of(one) or 0) > mine), default=None)

    def _begin_segment(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.close()
        path = self._folder / f"journal-{self.head.number + 1:010d}.jsonl"
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | system.OPEN, 0o600)
        self._path, self._entries_here, self._size = path, 0, path.stat().st_size
        system.sync(self._folder)
        self.compress()

    def _write(self, file: int, data: bytes) -> None:
        try:
            at = 0
            while at < len(data):
                at += os.write(file, data[at : at + (1 << 24)])
            os.fsync(file)
        except OSError:
            with contextlib.suppress(OSError):  # report the first error; the next open finds a torn end
                os.ftruncate(file, self._size)
                os.fsync(file)
            raise

    def _put_aside(self, path: Path, scan: Scan, *, is_whole: bool) -> None:
        """Move the damaged lines of a journal file to a quarantine file.

        `scan` has the intact and the damaged lines. The intact lines remain in the journal file. If `is_whole` is False, the file is
        compressed and damaged; then a copy of the whole file is kept, too.
        """
        data = read_lines(path)
        quarantine = self._folder / f"quarantine-{path.name.removesuffix('.gz')}"
        if not is_whole:
            self.damaged = True
            shutil.copyfile(path, packed := self._folder / f"quarantine-{path.name}")
            self.notes.append(f"{path.name} did not match its hash and is kept as {packed.name}; what the database knows of it was kept")
        torn = b"" if scan.torn_at is None else data[scan.torn_at :]
        with open(quarantine, "ab", opener=private) as out:
            for line in [*scan.bad, torn]:
                out.write(line if not line or line.endswith(b"\n") else line + b"\n")
            out.flush()
            os.fsync(out.fileno())
        if torn:
            self.notes.append(
                f"{path.name} ends in the middle of a write, as after a crash; the {len(torn):,} bytes of it are now in {quarantine.name}"
            )
        if scan.bad:
            self.damaged = True
            self.notes.append(
                f"{len(scan.bad)} entries of {path.name} did not match their hash and are now in {quarantine.name}; "
                "what the database knows of them was kept"
            )
        kept = b"".join(line_of(data, entry) for entry in scan.entries)
        scratch = path.with_name(path.name + ".tmp")
        with open(scratch, "wb", opener=private) as out:
            out.write(gzip.compress(kept, mtime=0) if path.suffix == ".gz" else kept)
            out.flush()
            os.fsync(out.fileno())
        scratch.replace(path)
        system.sync(self._folder)
