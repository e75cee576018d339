"""The file of an open store: read by many, written by one, brought up to date, closed and opened again, and given up when it must be.

reads:  any thread → gate (shared) → a connection of its own
writes: any thread → queue → writer thread → one transaction
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
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
from graphmem.runtime.heap import give_back
from graphmem.runtime.identity import index_id
from graphmem.runtime.limits import disk_refusal
from graphmem.store import files, resting
from graphmem.store.base import EngineInfo
from graphmem.store.building import OpenOptions
from graphmem.store.catalog import load_catalog
from graphmem.store.engine import Connection, RawDatabase
from graphmem.store.engine_errors import BREAKING
from graphmem.store.files import NEXT, beside, damaged
from graphmem.store.gate import Gate
from graphmem.store.lock import DatabaseLock, Record, read_record
from graphmem.store.meta_names import CHECKPOINT, DATABASE, GENERATION
from graphmem.store.migrate import table_names
from graphmem.store.opening import open_current, prepare
from graphmem.store.readers import Readers
from graphmem.store.rebuild import HELD_BYTES
from graphmem.store.tables import EmbeddingTable
from graphmem.store.transaction import CommitError, Transaction
from graphmem.store.writer import Writer

_log = logging.getLogger(__name__)

_Answer = TypeVar("_Answer")

MAX_READERS: Final = 8
QUEUED_WRITES: Final = 32
BUSY_S: Final = 30.0  # how long a call waits for a place, a connection or the gate before it says busy
WAL_BYTES: Final = 16 << 20  # the writer brings the file up to date when the log is longer
# Every change of the code holds one to two megabytes in the engine until a checkpoint, but adds only some 3 kB to the log.
HELD_CHANGES: Final = 12  # after so many the writer brings the file up to date, behind the answer
CHECKPOINT_WAIT_S: Final = 1.0  # how long that waits for reads to end; with reads for longer it is tried again after the next change

_BREAKING: Final = (*BREAKING, CommitError)


class LiveFile:
    """What the parts of a store share. Thread-safe.

    Attributes:
        path: resolved path of the database file.
        engine: which engine, with its sizes.
        notes: what had to be put aside when it was opened or recovered, one sentence each.
    """

    def __init__(self, path: Path, options: OpenOptions, lock: DatabaseLock) -> None:
        spec = options.engine
        self.path = str(path)
        self.engine = EngineInfo(spec.name, spec.version, spec.spec.storage_version, options.buffer_pool_bytes, options.max_db_bytes)
        self._file = path
        self._folder = index_id(path.parent)
        self._options = options
        self._lock = lock
        self._catalog = load_catalog()
        self._gate = Gate()
        self._pid = os.getpid()
        self._lost = False  # an open that failed has left no database object; the next request tries again
        self._refused: GraphMemError | None = None  # why a file that was to be written to is open for reading only
        self._closed = False
        self._used = time.monotonic()  # when somebody last needed the engine
        self._held = 0  # changes of the code since the file was opened
        self.notes: list[str] = []
        known = resting.known(path, options.engine, lock.previous) if options.at_rest and not options.read_only else None
        self._at_rest = known is not None
        if known is not None:
            self._meta, self._vector_tables = known
        else:
            self.notes = [*filter(None, [lock.note])]
            try:
                self._open(lock.previous)
            except BaseException:
                self._doubt(lock)
                raise
        left = lock.previous
        self.proven = left is not None and left.clean and left.checksum != 0 and not self.notes
        lock.note_file()
        # What the file says without its log. The log may hold a higher number, of a checkpoint that a crash kept from happening.
        self._checkpointed = int(self._meta[CHECKPOINT])
        if lock.previous is not None and files.size_of(beside(path, ".wal")):
            self._checkpointed = min(self._checkpointed, lock.previous.checkpoint)
        remembered = lock.previous.compact if lock.previous is not None else 0
        self._compact_bytes = min(remembered, files.size_of(path)) or files.size_of(path)
        if known is not None and lock.previous is not None:
            self._say_closed(lock.previous.checksum)
        else:
            self._say_open()
        self._writer = Writer(f"graphmem-writer-{path.name}", QUEUED_WRITES, BUSY_S)

    def _open(self, previous: Record | None) -> None:
        """Open the file; for reading only when there is no room for what opening it for writing takes."""
        try:
            notes = prepare(self._file, self._options, self._catalog, previous)
            self._attach(open_current(self._file, self._options, self._catalog))
            self._refused = None
        except DiskFullError as refused:
            if self._options.read_only or not self._file.exists():
                raise
            reading = self._options._replace(read_only=True)
            # The attempt may have changed the file: its bytes are tried, not held against their checksum.
            prepare(self._file, reading, self._catalog, previous._replace(clean=False) if previous is not None else None)
            try:
                self._attach(open_current(self._file, reading, self._catalog))
            except MigrationError:  # reading only, an older schema cannot be brought up to date: the disk is what is in the way
                raise refused from None
            self._refused = refused
            notes = [f"the index is open for reading only: {refused}"]
        self.notes = [*self.notes, *(note for note in notes if note not in self.notes)]

    @property
    def _reads_only(self) -> bool:
        return self._options.read_only or self._refused is not None

    def _doubt(self, lock: DatabaseLock) -> None:
        """After an attempt to open it that failed, and may have brought the file up to date: its checksum says nothing any more."""
        left = lock.previous
        if left is not None and left.clean and files.checksum(self._file) != left.checksum:
            lock.write(clean=False, database=left.database, checkpoint=left.checkpoint, log=0, compact=left.compact)

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
        """Bring the file up to date, when no read is running."""
        self._write(self._checkpoint)

    def held_changes(self) -> int:
        """Changes of the code whose memory the engine gives back at the next checkpoint."""
        return self._held

    def rest(self, unused_s: float) -> bool:
        """Close the file until somebody needs it, if nobody did for so long: an open engine holds 100 to 350 MB.

        The lock stays, and says what it says of a file that was closed. Generations and meta are known without the engine; the next
        read or write opens it again, a tenth of a second to a third.

        Returns:
            Whether it was closed now.

        Raises:
            DiskFullError, StoreBusyError: the file could not be brought up to date; it is open as before.
        """
        if self._reads_only or self._lost or self._at_rest or time.monotonic() - self._used < unused_s:
            return False
        self._check_open()
        return self._writer.run(lambda: self._rest(unused_s))

    def close(self) -> None:
        """Finish queued writes, bring the file up to date, close, let others in. Twice is once."""
        if self._closed or os.getpid() != self._pid:
            return  # a forked child has nothing to close: touching the handle would hang it
        self._closed = True
        self._writer.stop()
        try:
            if not self._in_place and not self._lost and not self._at_rest:
                self._database.abandon()  # what closing writes would go to whatever is there now
            elif not self._lost and not self._at_rest:
                with self._gate.exclusive(BUSY_S):
                    if self._reads_only:
                        self._database.close()
                    else:
                        if beside(self._file, ".wal").exists():
                            self._checkpointed += 1
                            self._put_meta({CHECKPOINT: str(self._checkpointed)})
                        self._connection.rows("CHECKPOINT")
                        self._database.close()
                if not self._reads_only:
                    self._say_closed(files.checksum(self._file))
        except (DiskFullError, ResourceError) as error:
            self._database.abandon()
            _log.warning("%s; nothing is lost: what was written stays in the log beside %s and is merged later", error, self.path)
        except (*_BREAKING, StoreBusyError):
            self._database.abandon()  # a write failed, or reads are still running
            raise
        finally:
            self._lock.release()

    # ---- ways in

    def _check_open(self) -> None:
        if os.getpid() != self._pid:
            raise StoreClosedError("this store was opened before a fork and cannot be used in the child; open it there, or use spawn")
        if self._closed:
            raise StoreClosedError("the store is closed; open it again")

    @property
    def _in_place(self) -> bool:
        return index_id(self._file.parent) == self._folder

    def _expect_in_place(self) -> None:
        """Refuse to go on in another folder: the engine opens files by path, and makes those that are missing.

        Raises:
            StoreClosedError: the folder was moved, deleted or replaced.
        """
        if not self._in_place:
            raise StoreClosedError(f"{self._file.parent} was moved or deleted; open the index where it is now")

    @contextmanager
    def _passage(self) -> Iterator[Connection]:
        self._check_open()
        while True:
            self._used = time.monotonic()
            if self._at_rest or self._lost:
                self._by_writer(lambda: None)  # the writer opens it, like whoever comes with a write
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
        if self._options.read_only:
            remedy = (
                "open it for writing"
                if os.access(self._file.parent, os.W_OK)
                else "make its folder writable or keep the index elsewhere with --db"
            )
            raise BadInputError(f"{self.path} is open for reading only; {remedy}", argument="read_only", path=self.path)

        def writing() -> _Answer:
            if self._refused is not None:
                self._open_for_writing()
            return job()

        return self._by_writer(writing)

    def _by_writer(self, job: Callable[[], _Answer]) -> _Answer:
        """Run a job in the writer's thread, with the file open."""

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
        """One transaction of a change, of Meta and of what the change adds to Meta; the generation of the code graph."""
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

    # ---- bringing it up to date, resting, opening it again

    def _let_go_of_changes(self) -> None:
        """Give back the memory that changes hold; nobody waits for it, and what hinders it now will not after another change."""
        if self._closed or self._lost or self._reads_only or self._at_rest or self._held < HELD_CHANGES or not self._in_place:
            return
        with suppress(DiskFullError, ResourceError, StoreBusyError):
            self._checkpoint(CHECKPOINT_WAIT_S)

    def _checkpoint(self, wait_s: float = BUSY_S) -> None:
        """Bring the file up to date and open it anew, when nobody reads.

        With a read open the engine waits seconds and gives up. And kuzu's memory is wrong after a
        checkpoint when edges were created and deleted again since the last one (the next read ends the
        process) while the file is right, so nothing reads on the old handle.
        """
        if not beside(self._file, ".wal").exists():
            return
        files.check_room(self._file, 2 * beside(self._file, ".wal").stat().st_size)
        following = str(self._checkpointed + 1)
        with self._gate.exclusive(wait_s), self._reopened({CHECKPOINT: following}):
            pass
        self._say_open()
        give_back()

    def _rest(self, unused_s: float) -> bool:
        if self._lost or self._at_rest or time.monotonic() - self._used < unused_s:
            return False  # somebody came first
        self._expect_in_place()
        with self._gate.exclusive(BUSY_S):
            with self._on_the_live_file(gated=True):
                if beside(self._file, ".wal").exists():
                    files.check_room(self._file, 2 * files.size_of(beside(self._file, ".wal")))
                    self._put_meta({CHECKPOINT: str(self._checkpointed + 1)})
                    self._connection.rows("CHECKPOINT")
                    self._checkpointed += 1
                self._database.close()
            self._at_rest = True
        self._say_closed(files.checksum(self._file))
        give_back()
        return True

    def _wake(self) -> None:
        """Open the file again, as whoever opens an index would: what happened to its bytes meanwhile is found."""
        with self._gate.exclusive(BUSY_S):
            if not self._file.exists():
                raise damaged(self._file, "it was moved or deleted while it was closed because nobody needed it")
            previous = read_record(self._file)
            if self._at_rest:
                self._say_open()  # first: when it cannot be opened, whoever opens it next has to examine it, not to let it rest again
            self._open(previous)
            self._opened()
            self._at_rest = False

    def _open_for_writing(self) -> None:
        """Leave reading only, when there is room again.

        Raises:
            DiskFullError: there is none; the file is open for reading as before.
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
        """The file up to date and closed inside, open again after, whatever happens; the caller holds the gate."""
        self._expect_in_place()  # whoever rebuilds it may have written for minutes
        with self._on_the_live_file(gated=True):
            self._put_meta(meta)
            self._connection.rows("CHECKPOINT")  # closing would do it, too, but ends the process when it fails
            self._database.close()
        try:
            yield
        finally:
            if self._in_place:
                files.remove(beside(self._file, NEXT))
            self._open_again()

    def _take_place(self, new: Path) -> None:
        """Let a new file take the place of this one, unless the folder is another one by now; inside `_reopened`.

        Raises:
            StoreClosedError: the folder was moved, deleted or replaced.
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
            self._checkpointed = int(self._meta[CHECKPOINT])

    @contextmanager
    def _on_the_live_file(self, gated: bool = False, whole: int | None = None) -> Iterator[None]:
        """After a failed write: abandon the database object and open the file again, as it was before.

        The engine would go on with a half-written log, and closing it ends the process. Opening a log that was torn in
        the middle of a large transaction ends it, too, now and then, so what follows `whole` bytes is cut off.

        Args:
            gated: the caller holds the gate.
            whole: length of the log when the transaction began; not given for a checkpoint, which is not in the log alone.
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
                        raise disk_refusal(error, "undoing a write that failed", self._file) from error
                self._open_again()
            raise

    def _put_meta(self, values: Mapping[str, str]) -> None:
        for name, value in sorted(values.items()):
            self._connection.rows(*self._catalog["meta_put"].bind({"name": name, "value": value}))
        self._meta = {**self._meta, **values}

    # ---- saying how it is

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes = [*self.notes, sentence]

    def _say_open(self) -> None:
        if self._reads_only:
            return  # the lock file says what the last owner left
        log = beside(self._file, ".wal")
        files.restrict(log)
        self._say(clean=False, log=files.size_of(log))

    def _say_closed(self, checksum: int) -> None:
        known = resting.told(self._options.engine, self._meta, self._vector_tables)
        self._say(clean=True, log=0, checksum=checksum, known=known)

    def _say(self, *, clean: bool, log: int, checksum: int = 0, known: str = "") -> None:
        self._lock.write(
            clean=clean,
            database=self._meta[DATABASE],
            checkpoint=self._checkpointed,
            log=log,
            compact=self._compact_bytes,
            checksum=checksum,
            known=known,
        )
