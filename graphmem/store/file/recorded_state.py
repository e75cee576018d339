"""Record the state of an open or closed database in its lock file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from graphmem.store.engine.engine import Engine
from graphmem.store.file import files, resting
from graphmem.store.file.files import beside
from graphmem.store.file.lock import DatabaseLock
from graphmem.store.file.resting import Known
from graphmem.store.tables.meta_names import CHECKPOINT, DATABASE


class RecordedState:
    """The state of a database, as its lock file has it.

    Attributes:
        checkpointed: number of checkpoints in the database file, without its log.
        compact_bytes: size of the file when it was last written as a whole.
    """

    def __init__(self, path: Path, engine: Engine, lock: DatabaseLock) -> None:
        self.checkpointed = 0
        self.compact_bytes = 0
        self._file = path
        self._engine = engine
        self._lock = lock

    def begin(self, meta: Mapping[str, str]) -> None:
        """Set the attributes from `meta`, after the database was opened.

        `meta` has the database's metadata, one value of which counts the checkpoints. After a crash this count can be too high: the log was
        replayed with the new count, but the checkpoint itself was never made.
        """
        left = self._lock.previous
        self.checkpointed = int(meta[CHECKPOINT])
        if left is not None and files.size_of(beside(self._file, ".wal")):
            self.checkpointed = min(self.checkpointed, left.checkpoint)
        remembered = left.compact if left is not None else 0
        self.compact_bytes = min(remembered, files.size_of(self._file)) or files.size_of(self._file)

    def doubt(self) -> None:
        """Mark the database as not closed properly if a failed open changed it.

        A failed open may have merged the write-ahead log into the file. The checksum was recorded when the file was last closed.
        """
        left = self._lock.previous
        if left is not None and left.clean and files.checksum(self._file) != left.checksum:
            self._lock.write(clean=False, database=left.database, checkpoint=left.checkpoint, log=0, compact=left.compact)

    def put_open(self, meta: Mapping[str, str]) -> None:
        """Record that the database is open, with the length of its log.

        `meta` is the metadata of the database, from which its id is recorded, too.
        """
        log = beside(self._file, ".wal")
        files.restrict(log)
        self._put(meta, clean=False, log=files.size_of(log))

    def put_closed(self, known: Known, checksum: int) -> None:
        """Record that the database was properly closed, with facts about it.

        Args:
            known: the facts.
            checksum: of the whole file.
        """
        self._put(known.meta, clean=True, log=0, checksum=checksum, known=resting.encoded_facts(self._engine, known))

    def _put(self, meta: Mapping[str, str], *, clean: bool, log: int, checksum: int = 0, known: str = "") -> None:
        self._lock.write(
            clean=clean,
            database=meta[DATABASE],
            checkpoint=self.checkpointed,
            log=log,
            compact=self.compact_bytes,
            checksum=checksum,
            known=known,
        )
