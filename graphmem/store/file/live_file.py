"""Open, checkpoint, close, reopen and recover the database file.

The file is closed while it is idle. A read runs in any thread: it holds the lock `gate` shared, and uses its own connection. A write is
queued by any thread; the writer's thread runs it as one transaction.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from graphmem.errors import (
    BadInputError,
    DiskFullError,
    GraphMemError,
    MigrationError,
    ResourceError,
    StoreBusyError,
    StoreClosedError,
)
from graphmem.runtime.identity import index_id
from graphmem.runtime.process.heap import give_back
from graphmem.runtime.process.limits import disk_refusal
from graphmem.store.base import EngineInfo
from graphmem.store.engine.engine import Connection, RawDatabase
from graphmem.store.engine.engine_errors import BREAKING
from graphmem.store.file import files, resting
from graphmem.store.file.building import OpenOptions
from graphmem.store.file.files import NEXT, beside, damaged
from graphmem.store.file.gate import Gate
from graphmem.store.file.lock import DatabaseLock, Record, read_record
from graphmem.store.file.migrate import table_names
from graphmem.store.file.opening import open_current, prepare
from graphmem.store.file.readers import Readers
from graphmem.store.file.rebuild import HELD_BYTES
from graphmem.store.file.recorded_state import RecordedState
from graphmem.store.tables.catalog import Catalog, load_catalog
from graphmem.store.tables.meta_names import CHECKPOINT, GENERATION
from graphmem.store.tables.tables import EmbeddingTable
from graphmem.store.tables.transaction import CommitError, Transaction
from graphmem.store.writes.announcements import Announcements
from graphmem.store.writes.writer import Writer

_log = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")

MAX_READERS: Final = 8
QUEUED_WRITES: Final = 32
BUSY_S: Final = 30.0  # wait for the queue, a connection or the gate before StoreBusyError
WAL_BYTES: Final = 16 << 20  # a longer log makes the writer checkpoint
# Every change of the code holds one to two megabytes in the engine until a checkpoint, but adds only some 3 kB to the log.
HELD_CHANGES: Final = 12  # after so many changes the writer checkpoints, after the answer
CHECKPOINT_WAIT_S: Final = 1.0  # wait of that checkpoint for reads to end; otherwise it is tried again after the next change

_BREAKING: Final = (*BREAKING, CommitError)


class LiveFile:
    """The open database file, with the state shared by all store objects.

    Thread-safe.

    Attributes:
        path: resolved path of the database file.
        engine: the engine and its memory sizes.
        notes: one sentence for each file that was quarantined (renamed because it was unusable) at open or at recovery.
    """

    def __init__(self, path: Path, options: OpenOptions, lock: DatabaseLock) -> None:
        spec = options.engine
        self.path = str(path)
        self.engine = EngineInfo(spec.name, spec.version, spec.spec.storage_version, options.buffer_pool_bytes, options.max_db_bytes)
        self._file = path
        self._folder = index_id(path.parent)
        self._options = options
        self._lock = lock
        self._state = RecordedState(path, options.engine, lock)
        self._gate = Gate()
        self._pid = os.getpid()
        self._lost = False  # a failed open has left no database object; the next request tries again
        self._refused: GraphMemError | None = None  # why a file that should be writable is open read-only
        self._closed = False
        self._used = time.monotonic()  # when the engine was last needed
        self._held = 0  # changes of the code since the file was opened
        self._announcements = Announcements(self.path)
        self.notes: list[str] = []
        known = resting.recorded_facts(path, options.engine, lock.previous) if options.at_rest and not options.read_only else None
        self._at_rest = known is not None
        self._counts = resting.Counts(0, {}, {})  # when the file was closed
        if known is not None:
            self._meta, self._vector_tables, self._counts = known
        else:
            self.notes = [*filter(None, [lock.note])]
            try:
                self._open(lock.previous)
            except BaseException:
                self._state.doubt()
                raise
        left = lock.previous
        self.proven = left is not None and left.clean and left.checksum != 0 and not self.notes
        lock.note_file()
        self._state.begin(self._meta)
        if known is not None and lock.previous is not None:
            self._say_closed(lock.previous.checksum)
        else:
            self._say_open()
        self._writer = Writer(f"graphmem-writer-{path.name}", QUEUED_WRITES, BUSY_S)

    @cached_property
    def _catalog(self) -> Catalog:
        """The named queries, read when the database is opened.

        Most commands do not open it.
        """
        return load_catalog()

    def _open(self, previous: Record | None) -> None:
        """Open the database file for reads and writes.

        If the disk is full, the file is opened for reads only. `previous` is the entry of the last process that had the file open, from the
        lock file.
        """
        try:
            notes = prepare(self._file, self._options, self._catalog, previous)
            self._attach(open_current(self._file, self._options, self._catalog))
            self._refused = None
        except DiskFullError as refused:
            if self._options.read_only or not self._file.exists():
                raise
            reading = self._options._replace(read_only=True)
            # The attempt may have changed the file: its checksum no longer applies.
            prepare(self._file, reading, self._catalog, previous._replace(clean=False) if previous is not None else None)
            try:
                self._attach(open_current(self._file, reading, self._catalog))
            except MigrationError:  # read-only access cannot migrate an older schema: the disk is the obstacle
                raise refused from None
            self._refused = refused
            notes = [f"the index is open for reading only: {refused}"]
        self.notes = [*self.notes, *(note for note in notes if note not in self.notes)]

    @property
    def _reads_only(self) -> bool:
        return self._options.read_only or self._refused is not None

    def _attach(self, database: RawDatabase) -> None:
        try:
            connection = database.connect()
            names = table_names(connection)
            meta = dict(connection.rows(*self._catalog["meta_all"].bind({})).rows)
        except BaseException:
            database.abandon()
            raise
        self._database, self._connection, self._meta = database, connection, meta
        self._held = 0
        self._readers = Readers(database, MAX_READERS)
        self._vector_tables = [table for name in sorted(names) if (table := EmbeddingTable.parse(name)) is not None]

    def checkpoint(self) -> None:
        """Wait until no read is running; merge the write-ahead log into the file."""
        self._write(self._checkpoint)

    def memory_count(self) -> int:
        """Return the number of memories of any status.

        If the file is closed because it was idle, the recorded number is returned without opening the file.
        """
        self._check_open()
        if self._at_rest:
            return self._counts.memories
        with self._passage() as connection:
            return resting.count_memories(connection, self._catalog)

    def covered_chunks(self, model: str) -> int | None:
        """Return how many chunks have a vector of a model; None if unknown.

        The number is known if `record_covered` recorded it after the last write to the file.
        """
        self._check_open()
        return self._counts.covered.get(model)

    def record_covered(self, generation: int, model: str, chunks: int) -> None:
        """Record how many chunks (pieces of files) have a vector of a model.

        The number stays recorded when the file is closed, and is forgotten at the next write. It is ignored if the code has changed since
        `generation`.
        """
        if generation == int(self._meta[GENERATION]):
            self._counts = self._counts._replace(covered={model: chunks})

    @contextmanager
    def announced(self) -> Iterator[int]:
        """Announce the next change of the code inside a `with` block.

        Yields the number of the change.
        """
        self._check_open()
        self._writer.run(int)  # a long write ends before others have to wait
        with self._announcements.held():
            self._writer.run(int)  # so do writes of the meantime, some of which count as a change
            yield self._announcements.announce(int(self._meta[GENERATION]))

    def held_changes(self) -> int:
        """Return how many code changes the engine keeps in RAM.

        A checkpoint frees this memory.
        """
        return self._held

    def rest(self, unused_s: float) -> bool:
        """Close the file if it was unused for some time.

        An open engine holds 100 to 350 MB. The file stays locked. The lock file records facts about the closed database, so counters of
        changes and other metadata can be read without the engine. Any other read or write opens the file again, in 0.1 s to 0.3 s.

        Returns:
            Whether this call closed the file.

        Raises:
            DiskFullError, StoreBusyError: the checkpoint failed; the file stays open.
        """
        if self._reads_only or self._lost or self._at_rest or time.monotonic() - self._used < unused_s:
            return False
        self._check_open()
        return self._writer.run(lambda: self._rest(unused_s))

    def close(self) -> None:
        """Finish queued writes, checkpoint, close and unlock. Idempotent."""
        if self._closed or os.getpid() != self._pid:
            return  # a forked child has nothing to close: touching the handle would hang it
        self._closed = True
        self._writer.stop()
        try:
            if not self._in_place and not self._lost and not self._at_rest:
                self._database.abandon()  # closing would write into the directory that is now at this path
            elif not self._lost and not self._at_rest:
                with self._gate.exclusive(BUSY_S):
                    if self._reads_only:
                        self._database.close()
                    else:
                        if beside(self._file, ".wal").exists():
                            self._state.checkpointed += 1
                            self._put_meta({CHECKPOINT: str(self._state.checkpointed)})
                        self._connection.rows("CHECKPOINT")
                        self._counts = resting.count(self._connection, self._catalog, self._vector_tables, self._counts.covered)
                        self._database.close()
                if not self._reads_only:
                    self._say_closed(files.checksum(self._file))
        except (DiskFullError, ResourceError) as error:
            self._database.abandon()
            level = logging.INFO if isinstance(error, DiskFullError) else logging.WARNING  # `verify` and `doctor` report a full disk
            _log.log(level, "%s; nothing is lost: what was written stays in the log beside %s and is merged later", error, self.path)
        except (*_BREAKING, StoreBusyError):
            self._database.abandon()  # a write failed, or reads are still running
            raise
        finally:
            self._lock.release()

    # ---- ways in

    def _check_open(self) -> None:
        if os.getpid() != self._pid:
            raise StoreClosedError(
                "the store was opened before this process was forked and cannot be used in the child process; open the store in the "
                "child, or start the child with spawn"
            )
        if self._closed:
            raise StoreClosedError("the database is closed; open the index again")

    @property
    def _in_place(self) -> bool:
        return index_id(self._file.parent) == self._folder

    def _expect_in_place(self) -> None:
        """Raise an error if the directory of the database was replaced.

        The engine opens files by path and creates missing ones. So it would write into the new directory.

        Raises:
            StoreClosedError: the directory was moved, deleted or replaced.
        """
        if not self._in_place:
            raise StoreClosedError(f"the index directory {self._file.parent} was moved or deleted; open the index at its new place")

    @contextmanager
    def _passage(self) -> Iterator[Connection]:
        self._check_open()
        while True:
            self._used = time.monotonic()
            if self._at_rest or self._lost:
                self._by_writer(lambda: None)  # the writer opens it, as for any write
            with self._gate.shared(BUSY_S):
                self._check_open()
                if self._at_rest or self._lost:
                    continue
                try:
                    with self._readers.one(BUSY_S) as connection:
                        yield connection
                finally:
                    self._used = time.monotonic()
                return

    def _write(self, job: Callable[[], _Answer]) -> _Answer:
        self._check_open()
        self._announcements.wait(None)  # as in the queue of writes, where it would come after the announced one
        if self._options.read_only:
            remedy = (
                "open it for writing"
                if os.access(self._file.parent, os.W_OK)
                else "make its folder writable or keep the index elsewhere with --db"
            )
            raise BadInputError(f"the database {self.path} is open for reading only; {remedy}", argument="read_only", path=self.path)

        def writing() -> _Answer:
            self._counts = self._counts._replace(covered={})
            if self._refused is not None:
                self._open_for_writing()
            return job()

        return self._by_writer(writing)

    def _by_writer(self, job: Callable[[], _Answer]) -> _Answer:
        """Run the function `job` in the writer's thread, with the file open."""

        def guarded() -> _Answer:
            self._check_open()
            self._expect_in_place()
            if self._at_rest or self._lost:
                self._wake()
            try:
                return job()
            finally:
                self._used = time.monotonic()

        return self._writer.run(guarded)

    def _transact(self, change: Callable[[Transaction], Mapping[str, str] | None], meta: Mapping[str, str]) -> int:
        """Commit a change with metadata; return the counter of code changes."""
        log = beside(self._file, ".wal")
        files.check_room(self._file, 0)  # kuzu may end the process when a commit finds no room
        with self._on_the_live_file(whole=files.size_of(log)), Transaction(self._connection, self._catalog) as transaction:
            meta = {**meta, **(change(transaction) or {})}
            transaction.each("meta_put", {}, [{"name": name, "value": value} for name, value in sorted(meta.items())])
        self._meta = {**self._meta, **meta}
        if self._connection.held_bytes > HELD_BYTES:
            self._connection = self._database.renew(self._connection)
        self._say_open()
        if files.size_of(log) > WAL_BYTES:
            try:
                self._checkpoint()
            except (DiskFullError, ResourceError, StoreBusyError) as error:  # the change is committed; the next one tries again
                self._note(f"the log grows, it could not be merged: {error}")
        elif GENERATION in meta:
            self._held += 1
            if self._held >= HELD_CHANGES:
                self._writer.post(self._let_go_of_changes)
        return int(self._meta[GENERATION])

    # ---- checkpoint, rest, reopen

    def _let_go_of_changes(self) -> None:
        """Start a checkpoint to free memory, if code changes occupy much of it.

        No caller waits for the checkpoint. If it fails, the next code change tries again.
        """
        if self._closed or self._lost or self._reads_only or self._at_rest or self._held < HELD_CHANGES or not self._in_place:
            return
        with suppress(DiskFullError, ResourceError, StoreBusyError):
            self._checkpoint(CHECKPOINT_WAIT_S)

    def _checkpoint(self, wait_s: float = BUSY_S) -> None:
        """Merge the write-ahead log into the file and reopen it, without readers.

        The call waits at most `wait_s` seconds for reads to end. The file is reopened, because a read through the old handle may crash the
        process.
        """
        if not beside(self._file, ".wal").exists():
            return
        files.check_room(self._file, 2 * beside(self._file, ".wal").stat().st_size)
        following = str(self._state.checkpointed + 1)
        with self._gate.exclusive(wait_s), self._reopened({CHECKPOINT: following}):
            pass
        self._say_open()
        give_back(between=True)

    def _rest(self, unused_s: float) -> bool:
        if self._lost or self._at_rest or time.monotonic() - self._used < unused_s:
            return False  # another caller was first
        self._expect_in_place()
        with self._gate.exclusive(BUSY_S):
            with self._on_the_live_file(gated=True):
                if beside(self._file, ".wal").exists():
                    files.check_room(self._file, 2 * files.size_of(beside(self._file, ".wal")))
                    self._put_meta({CHECKPOINT: str(self._state.checkpointed + 1)})
                    self._connection.rows("CHECKPOINT")
                    self._state.checkpointed += 1
                self._counts = resting.count(self._connection, self._catalog, self._vector_tables, self._counts.covered)
                self._database.close()
            self._at_rest = True
        self._say_closed(files.checksum(self._file))
        give_back()
        return True

    def _wake(self) -> None:
        """Reopen the database that was closed while idle, with all checks.

        The checks detect bytes that changed in the meantime.
        """
        with self._gate.exclusive(BUSY_S):
            if not self._file.exists():
                raise damaged(self._file, f"{self._file} was moved or deleted while graphmem did not use it; {files.RECOVER}")
            previous = read_record(self._file)
            if self._at_rest:
                self._say_open()  # first: if the open fails, the next open has to examine the file instead of letting it rest
            self._open(previous)
            self._opened()
            self._at_rest = False

    def _open_for_writing(self) -> None:
        """Reopen a read-only file for writes when there is room again.

        Raises:
            DiskFullError: there is still no room; the file remains open read-only.
        """
        files.check_room(self._file, 0)
        with self._gate.exclusive(BUSY_S):
            self._database.close()
            self._lost = True
            self._open(read_record(self._file))
            self._opened()
        if self._refused is not None:
            raise self._refused
        self._say_open()

    @contextmanager
    def _reopened(self, meta: Mapping[str, str]) -> Iterator[None]:
        """Close the file for a `with` block, after a checkpoint; then reopen it.

        The values in `meta` are stored before the checkpoint. The file is reopened even if the block fails. The caller must hold the lock
        `gate` exclusively.
        """
        self._expect_in_place()  # a rebuild may have written for minutes
        with self._on_the_live_file(gated=True):
            self._put_meta(meta)
            self._connection.rows("CHECKPOINT")  # closing would do it, too, but ends the process if it fails
            self._database.close()
        try:
            yield
        finally:
            if self._in_place:
                files.remove(beside(self._file, NEXT))
            self._open_again()

    def _take_place(self, new: Path) -> None:
        """Replace the closed database file with the file `new`.

        Call this only within a `with` block of `_reopened`, which closes the file before and opens it after.

        Raises:
            StoreClosedError: the directory was moved, deleted or replaced meanwhile; nothing was changed.
        """
        self._expect_in_place()
        files.put_in_place(new, self._file)

    def _open_again(self) -> None:
        self._lost = True
        self._expect_in_place()
        self._attach(open_current(self._file, self._options, self._catalog))
        self._opened()

    def _opened(self) -> None:
        self._lost = False
        if not files.size_of(beside(self._file, ".wal")):
            self._state.checkpointed = int(self._meta[CHECKPOINT])

    @contextmanager
    def _on_the_live_file(self, gated: bool = False, whole: int | None = None) -> Iterator[None]:
        """Undo the write in a `with` block and reopen the file, if it fails.

        After a failed write, the engine's database object must not be used or closed. So the object is abandoned, the end of the log is cut
        off, and a new object opens the file. The error of the write propagates.

        Args:
            gated: whether the caller already holds the lock `gate`.
            whole: length of the log when the transaction began, to which the log is cut. None for a checkpoint, which leaves the log as it
                is.
        """
        try:
            yield
        except _BREAKING:
            with nullcontext() if gated else self._gate.exclusive(BUSY_S):
                self._database.abandon()
                self._lost = True
                if whole is not None:
                    try:
                        files.cut(beside(self._file, ".wal"), whole)
                    except OSError as error:
                        raise disk_refusal(error, "undoing a failed write", self._file) from error
                self._open_again()
            raise

    def _put_meta(self, values: Mapping[str, str]) -> None:
        for name, value in sorted(values.items()):
            self._connection.rows(*self._catalog["meta_put"].bind({"name": name, "value": value}))
        self._meta = {**self._meta, **values}

    # ---- status

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes = [*self.notes, sentence]

    def _say_open(self) -> None:
        if self._reads_only:
            return  # the lock file keeps the last owner's record
        self._state.put_open(self._meta)

    def _say_closed(self, checksum: int) -> None:
        self._state.put_closed(resting.Known(self._meta, self._vector_tables, self._counts), checksum)
