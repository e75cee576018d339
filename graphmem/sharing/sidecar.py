"""The sidecar: an SQLite file with this machine's view of the shared log.

Each memory in it has two versions, `state` and `base`. The state is the memory as the shared log defines it. The base is a copy of this
machine's memory from the last comparison with the log. If the memory now differs from its base, somebody changed it on this machine. Such a
change waits as an operation in the table `outbox` until the shared log has it. If the file is deleted, the next exchange compares all
memories again.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from graphmem.errors import SharingError
from graphmem.runtime.files.checksums import seal, unseal
from graphmem.runtime.files.sqlite_file import Sidefile
from graphmem.runtime.files.vault import SEALED, Vault, connected, store, vault_of
from graphmem.sharing.rows import Record
from graphmem.sharing.state import Shared, packed, unpacked
from graphmem.sharing.wire import Op, decoded, encoded

FILE: Final = "sharing.sqlite"
_SCHEMA: Final = (
    "CREATE TABLE memory (id TEXT PRIMARY KEY, state BLOB, base BLOB, dirty INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID",
    "CREATE TABLE outbox (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, memory TEXT NOT NULL, body BLOB NOT NULL)",
    "CREATE INDEX outbox_memory ON outbox (memory)",
)
_KIND: Final = Sidefile("1", _SCHEMA, "cursor", SharingError, "delete it and run `graphmem sync` again", explicit=True)
DIRTY: Final = 1  # the memory of this machine may differ from the state
UNLINKED: Final = 2  # some code that it is about does not exist here
BY_OTHERS: Final = 4  # since the last comparison, other machines sent operations on it


class Base(NamedTuple):
    """Values that a memory had when it was last compared with the shared log.

    `record` has the values. `heads` maps each field to the ids of the operations that wrote the field's value. `elements` maps each tag,
    link and relation to the ids of the operations that added it.
    """

    record: Record
    heads: dict[str, list[str]]
    elements: dict[str, list[str]]
    past: Sequence[str] = ()  # operations whose words were seen here, and replaced since the last comparison with the state
    upto: int = 0  # last number of the shared log at that comparison


class Sidecar:
    """The file with this machine's copy of the shared log's content.

    Args:
        path: path of the SQLite file, which is created when needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._vault: Vault | None = None  # encrypts the whole file, which is then in memory
        self._lock = threading.RLock()

    @property
    def exists(self) -> bool:
        """Whether the SQLite file exists.

        It exists once this machine has exchanged memories.
        """
        return self._connection is not None or any(self._path.with_name(self._path.name + end).exists() for end in ("", SEALED))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run a block as one transaction of the SQLite file."""
        with self._lock:
            db = self._db()
            if db.in_transaction:
                yield db
                return
            db.execute("BEGIN IMMEDIATE")
            try:
                unseal(db)
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
            if self._vault is not None:
                store(self._path, self._vault, db)

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
                if self._vault is None:
                    seal(self._path)

    def delete(self) -> list[str]:
        """Delete the SQLite file and its logs; return the names of the files.

        The next call of a method creates a new file.
        """
        with self._lock:
            self.close()
            files = sorted(self._path.parent.glob(f"{self._path.name}*"))
            for file in files:
                file.unlink()
            return [file.name for file in files]

    # ---- small facts

    def get(self, key: str, default: str = "") -> str:
        """Return the value of a key, such as `cursor` or `epoch`, or the default."""
        with self._lock:
            row = self._db().execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            return default if row is None else str(row[0])

    def put(self, facts: Mapping[str, object]) -> None:
        """Store the value of each key, which `get` returns; replace older values."""
        with self.writing() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(key, str(value)) for key, value in facts.items()])

    @property
    def device(self) -> str:
        """The random name of this machine's copy of the memories."""
        if not self.get("device"):
            self.put({"device": uuid.uuid4().hex})
        return self.get("device")

    def begin_again(self) -> None:
        """Delete everything about shared memories except unsent changes.

        The next exchange then compares all memories with the shared log.
        """
        with self.writing() as db:
            db.execute("DELETE FROM memory")
            db.execute("DELETE FROM meta WHERE key IN ('pending', 'anchor', 'epoch', 'cursor_id')")
            self.put({"cursor": 0})

    # ---- memories

    def ids(self, *, dirty: int = 0) -> list[str]:
        """Return the ids of all memories, or of those with the flag `dirty`.

        If `dirty` is 0, the ids of all memories are returned. The flags are:

        * DIRTY: the memory must be compared with the shared log again.
        * UNLINKED: the memory is about code that does not exist on this machine yet.
        * BY_OTHERS: other machines changed the memory since the last comparison.
        """
        where = " WHERE dirty & ?" if dirty else ""
        with self._lock:
            return [row[0] for row in self._db().execute(f"SELECT id FROM memory{where} ORDER BY id", (dirty,) if dirty else ())]  # noqa: S608

    def apart(self) -> set[str]:
        """Return the ids of memories about which people may disagree.

        These are memories that have a field with several current values, and memories with unsent changes.
        """
        with self._lock:
            rows = self._db().execute(
                "SELECT id FROM memory WHERE state IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(CAST(state AS TEXT), '$[0]') "
                "WHERE json_array_length(value) > 1) UNION SELECT memory FROM outbox"
            )
            return {row[0] for row in rows}

    def state(self, memory: str) -> Shared | None:
        """Return a memory as the team shares it; None if it is unknown."""
        row = self._one("SELECT state FROM memory WHERE id = ?", memory)
        return None if row is None or row[0] is None else unpacked(memory, row[0])

    def view(self, memory: str) -> Shared | None:
        """Return a memory as it will be after this machine's operations are sent.

        The result is None if neither the shared log nor the outbox (unsent operations) has an operation on the memory.
        """
        state, waiting = self.state(memory), self.outbox(memory)
        if state is None and not waiting:
            return None
        state = state or Shared(memory)
        for op in waiting:
            state.take(op)
        return state

    def base(self, memory: str) -> Base | None:
        """Return a memory's values at its last comparison with the shared log.

        The result is None if the memory was never compared.
        """
        row = self._one("SELECT base FROM memory WHERE id = ?", memory)
        return None if row is None or row[0] is None else _base(row[0])

    def put_state(self, state: Shared, *, by_others: bool = True) -> None:
        """Store a memory as the team shares it, and set its flag DIRTY.

        `by_others` says whether other machines sent some of the changes; then the flag BY_OTHERS is set, too.
        """
        with self.writing() as db:
            db.execute(
                "INSERT INTO memory (id, state, dirty) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET state = ?2, dirty = dirty | ?3",
                (state.id, packed(state), DIRTY | BY_OTHERS if by_others else DIRTY),
            )

    def put_base(self, memory: str, base: Base | None) -> None:
        """Store a memory's values at a comparison with the shared log.

        With None, the stored values are deleted.
        """
        data = None if base is None else orjson.dumps([list(base.record), *base[1:]])
        with self.writing() as db:
            db.execute("INSERT INTO memory (id, base) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET base = ?2", (memory, data))

    def mark(self, memory: str, dirty: int) -> None:
        """Replace the flags of a memory by DIRTY, UNLINKED, their sum, or 0.

        DIRTY marks a memory to compare with the shared log again. UNLINKED marks a memory about code that does not exist on this machine
        yet. A third flag, BY_OTHERS, is kept if `dirty` includes DIRTY; otherwise it is removed.
        """
        with self.writing() as db:
            db.execute(
                "INSERT INTO memory (id, dirty) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET dirty = ?2 | (dirty & ?3)",
                (memory, dirty, BY_OTHERS if dirty & DIRTY else 0),
            )

    # ---- operations that wait

    def outbox(self, memory: str | None = None) -> list[Op]:
        """Return the changes of memories that wait to be sent, oldest first.

        With the id of a memory, only the changes of that memory are returned.
        """
        with self._lock:
            if memory is None:
                rows = self._db().execute("SELECT body FROM outbox ORDER BY n").fetchall()
            else:
                rows = self._db().execute("SELECT body FROM outbox WHERE memory = ? ORDER BY n", (memory,)).fetchall()
            return [decoded(row[0]) for row in rows]

    def queue(self, ops: Iterable[Op]) -> None:
        """Add the changes `ops` to those that wait to be sent.

        A change with a known id is not added again.
        """
        with self.writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO outbox (id, memory, body) VALUES (?, ?, ?)", [(op.id, op.memory, encoded(op)) for op in ops]
            )

    def drop(self, ids: Sequence[str]) -> None:
        """Remove the changes `ids` from those that wait to be sent.

        Call this once the shared log has them.
        """
        with self.writing() as db:
            db.executemany("DELETE FROM outbox WHERE id = ?", [(one,) for one in ids])

    def waiting(self) -> int:
        """Return the number of changes of memories that wait to be sent."""
        with self._lock:
            return int(self._db().execute("SELECT count(*) FROM outbox").fetchone()[0])

    # ---- a write of the journal that is under way

    def put_pending(self, token: str, bases: Mapping[str, Base]) -> None:
        """Store new bases of memories until the write to the journal is certain.

        A base has a memory's values for the next comparison with the shared log. The journal is this machine's log of writes. If the
        process ends during the write, the next exchange looks for `token` in the journal. If the journal has it, the exchange applies
        `bases`.

        Args:
            token: identifies the write in the journal.
            bases: map from the id of a memory to its new base.
        """
        value = {one: [list(base.record), *base[1:]] for one, base in bases.items()}
        self.put({"pending": json.dumps({"token": token, "bases": value})})

    def pending(self) -> tuple[str, dict[str, Base]]:
        """Return the arguments of the last `put_pending`: (token, bases by id).

        If no write is pending, the result is ("", {}).
        """
        said = json.loads(self.get("pending") or '{"token": "", "bases": {}}')
        return said["token"], {one: _base(orjson.dumps(base)) for one, base in said["bases"].items()}

    # ---- inside

    def _one(self, statement: str, memory: str) -> Any:
        with self._lock:
            return self._db().execute(statement, (memory,)).fetchone()

    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            self._vault = vault_of(self._path.parent)
            memory = None if self._vault is None else connected(self._path, self._vault)
            self._connection = _KIND.connect(self._path, create=True, memory=memory)
            self._connection.execute("PRAGMA secure_delete = ON")  # erased words leave no traces
            self._connection.execute("PRAGMA synchronous = FULL")  # the journal, which it is compared with, is flushed too
        return self._connection


def _base(data: bytes) -> Base:
    record, *rest = orjson.loads(data)
    return Base(Record(*record), *rest)
