"""Write changes of code and memories to the file of an embedded database.

The writer's thread commits a change as one transaction, or writes a new file that replaces the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import LimitError
from graphmem.model import GraphDelta
from graphmem.runtime.process import system
from graphmem.runtime.process.heap import give_back
from graphmem.runtime.process.limits import disk_refusal
from graphmem.store.engine import times
from graphmem.store.engine.engine import Connection
from graphmem.store.file import files
from graphmem.store.file.building import build
from graphmem.store.file.files import NEXT, beside
from graphmem.store.file.large_knowledge import ClosedDatabase, delta_bytes, write_copy
from graphmem.store.file.live_file import BUSY_S, LiveFile
from graphmem.store.file.opening import open_current
from graphmem.store.file.rebuild import Content
from graphmem.store.tables.meta_names import CHECKPOINT, GENERATION, KNOWLEDGE
from graphmem.store.tables.tables import EmbeddingTable
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes import embeddings
from graphmem.store.writes.delta import apply_delta, weight
from graphmem.store.writes.write_knowledge import apply_knowledge

if TYPE_CHECKING:
    from datetime import datetime

    import pyarrow as pa

    from graphmem.knowledge import KnowledgeDelta

# A change above either limit is written as a new file: that is faster from about a sixth of the graph on, and a transaction of it would not
# fit into the buffer pool (see docs/decisions/0001-engine.md).
LARGE_SHARE: Final = 6
LARGE_ROWS: Final = 20_000
LARGE_TEXT_BYTES: Final = 8 << 20
ROW_BYTES: Final = 200  # of a row in the file, an upper estimate
SMALL_FILE: Final = 16 << 20  # a first index of less leaves little memory to return, and taking it again costs a fifth of the run
VECTOR_BYTES: Final = 16 << 20  # of vectors written in the transaction of their memories
_COUNTERS: Final = (GENERATION, KNOWLEDGE, CHECKPOINT)


class StoreChanges(LiveFile):
    """The part of a store that writes changes of code, memories and vectors."""

    def _apply(self, delta: GraphDelta, meta: Mapping[str, str]) -> int:
        rows, text_bytes = weight(delta)
        if rows + text_bytes == 0:
            return self._transact(lambda _: None, {**meta, **self._next_generation()})
        stored = self._stored_nodes()
        large = rows > LARGE_ROWS or text_bytes > LARGE_TEXT_BYTES
        if stored == 0 or (large and rows * LARGE_SHARE > stored):
            return self._rebuild(delta, meta, keep_code=True)
        moment = times.now()
        try:
            return self._transact(lambda transaction: self._changed_code(transaction, delta, moment), {**meta, **self._next_generation()})
        except LimitError:  # the change does not fit into the buffer pool as one transaction
            return self._rebuild(delta, meta, keep_code=True)

    def _changed_code(self, transaction: Transaction, delta: GraphDelta, moment: datetime) -> dict[str, str]:
        return self._next_knowledge() if apply_delta(transaction, delta, moment) else {}

    def _next_knowledge(self) -> dict[str, str]:
        return {KNOWLEDGE: str(int(self._meta.get(KNOWLEDGE, "0")) + 1)}

    def _next_generation(self) -> dict[str, str]:
        used = self._announcements.used()  # a number that answers had is not used again if its commit failed
        return {GENERATION: str(max(int(self._meta[GENERATION]), used) + 1)}

    def _put_vectors(self, model: str, table: EmbeddingTable, rows: pa.Table) -> None:
        self._transact(lambda transaction: embeddings.put(transaction, model, table, rows, self._vector_tables), {})
        self._note_table(table)

    def _forget_vectors(self, table: EmbeddingTable, rows: pa.Table) -> None:
        self._transact(lambda transaction: embeddings.forget(transaction, table, rows), {})

    def _note_table(self, table: EmbeddingTable) -> None:
        if table not in self._vector_tables:
            self._vector_tables = [*self._vector_tables, table]

    def _apply_knowledge(self, delta: KnowledgeDelta, vectors: embeddings.Vectors | None, meta: Mapping[str, str]) -> int:
        last: pa.Table | None = None
        if vectors is not None:
            # A vector is invisible until its text exists. So of many vectors, all but the last pieces may be written before, because the
            # buffer pool is small.
            *first, last = embeddings.pieces(vectors.rows, VECTOR_BYTES)
            for piece in first:
                self._put_vectors(vectors.model, vectors.table, piece)

        def change(transaction: Transaction) -> None:
            apply_knowledge(transaction, delta, times.now(), self._vector_tables)
            if vectors is not None:
                embeddings.put(transaction, vectors.model, vectors.table, last, self._vector_tables)

        following = {**meta, **self._next_knowledge()}
        try:
            self._transact(change, following)
        except LimitError:  # the change does not fit into the buffer pool as one transaction
            self._rewrite_knowledge(delta, vectors, following)
        if vectors is not None:
            self._note_table(vectors.table)
        return int(self._meta[KNOWLEDGE])

    def _rewrite_knowledge(self, delta: KnowledgeDelta, vectors: embeddings.Vectors | None, meta: Mapping[str, str]) -> None:
        """Apply a change of memories to a copy of the file, then swap the files.

        `meta` has values to store with the change. Use this for a change that is too large for one transaction. Reads wait until the copy
        has replaced the old file.
        """
        files.check_room(self._file, 2 * self._file.stat().st_size + delta_bytes(delta))
        following = str(self._state.checkpointed + 1)
        with self._gate.exclusive(BUSY_S), self._reopened({CHECKPOINT: following}):
            database = ClosedDatabase(self._file, self._options, self._catalog)
            write_copy(database, delta, vectors, self._vector_tables, meta, times.now())
            self._take_place(beside(self._file, NEXT))
        self._lock.note_file()
        self._say_open()

    def _rebuild(self, delta: GraphDelta, meta: Mapping[str, str], *, keep_code: bool) -> int:
        """Write a new database file with a code change; replace the old file.

        `meta` has values to store with the change. If `keep_code` is true, `delta` changes the stored code. Otherwise `delta` is the whole
        new code. After a crash, either the old or the new file is in place, complete. Returns the new counter of code changes.
        """
        rows, text_bytes = weight(delta)
        old, new = self._file.stat().st_size, rows * ROW_BYTES + text_bytes
        files.check_room(self._file, max(old, new))
        changed = {**self._meta, **meta, **self._next_generation(), CHECKPOINT: str(self._state.checkpointed + 1)}
        if self._stored_nodes() or self._anything_to_carry():
            self._build(delta, self._connection, changed, keep_code, size=old + new)
            with self._gate.exclusive(BUSY_S), self._reopened({}):
                self._take_place(beside(self._file, NEXT))
        else:
            unused = (
                (self._meta[GENERATION], self._meta[CHECKPOINT]) == ("0", "0") and not self._vector_tables and KNOWLEDGE not in self._meta
            )
            # There is nothing to read or to keep: the old file is closed first, because its handle takes 90 MB of memory.
            with self._gate.exclusive(BUSY_S), self._reopened({}):
                self._build(delta, None, changed, keep_code, size=new, onto_copy=unused)
                self._take_place(beside(self._file, NEXT))
        self._lock.note_file()
        self._state.compact_bytes = files.size_of(self._file)
        self._say_open()
        give_back(between=self._state.compact_bytes < SMALL_FILE)
        return int(self._meta[GENERATION])

    def _build(
        self, delta: GraphDelta, old: Connection | None, meta: Mapping[str, str], keep_code: bool, *, size: int, onto_copy: bool = False
    ) -> None:
        content = Content(delta, old, self._catalog, keep_code=keep_code, moment=times.now())
        options = self._options.for_a_new_file(size)
        build(self._file, options, self._catalog, content, meta, self._next_knowledge(), onto_copy=onto_copy)

    def _copy_to(self, target: Path) -> None:
        self._checkpoint()
        files.check_room(target, self._file.stat().st_size)
        try:
            files.copy(self._file, target)
            system.sync(target)
        except OSError as error:
            target.unlink(missing_ok=True)
            raise disk_refusal(error, f"copying {self._file.name}", target) from error

    def _exchange(self, new: Path) -> int:
        files.check_header(new, self._options.engine.spec, self._options.engine.name)
        database = open_current(new, self._options._replace(keep=None), self._catalog)  # the source file is kept unchanged
        try:
            connection = database.connect()
            meta = dict(connection.rows(*self._catalog["meta_all"].bind({})).rows)
            above = {name: str(max(int(meta.get(name, "0")), int(self._meta.get(name, "0"))) + 1) for name in _COUNTERS}
            with Transaction(connection, self._catalog) as transaction:
                transaction.each("meta_put", {}, [{"name": name, "value": value} for name, value in sorted(above.items())])
            connection.rows("CHECKPOINT")
            database.close()
        except BaseException:
            database.abandon()
            raise
        with self._gate.exclusive(BUSY_S), self._reopened({}):
            self._take_place(new)
        self._lock.note_file()
        self._state.compact_bytes = files.size_of(self._file)
        self._say_open()
        return int(self._meta[GENERATION])

    def _stored_nodes(self) -> int:
        return sum(row[1] for row in self._connection.rows(*self._catalog["code_node_counts"].bind({})).rows)

    def _anything_to_carry(self) -> bool:
        tables = self._vector_tables
        asked = [self._catalog["carried_count"].bind({}), *(self._catalog["embedding_count"].bind({"table": table}) for table in tables)]
        return any(self._connection.rows(*query).rows[0][0] for query in asked)
