"""Append-only log of changes of files, in one SQLite file.

The file is next to the database. A change is a commit or an agent's session, with its files, time, renames and deletions. The log is the
source of truth. The graph's `CO_ACCESSED` edges and all numbers about files that change together are derived from it. Each write is one
SQLite transaction in write-ahead mode, so an acknowledged change survives any end of the process.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.errors import HistoryError
from graphmem.runtime.files.checksums import seal, unseal
from graphmem.runtime.files.sqlite_file import Sidefile

AGENT: Final = "agent"
GIT: Final = "git"
_SCHEMA: Final = (
    "CREATE TABLE change (seq INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, key TEXT, at REAL NOT NULL, "
    "author TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (source, key))",
)
_FILE: Final = Sidefile("1", _SCHEMA, "epoch", HistoryError, "delete it and index again", explicit=True)
_MARK: Final = (
    "SELECT meta.value, last.seq FROM (SELECT coalesce(max(seq), 0) AS seq FROM change) AS last "
    "LEFT JOIN (SELECT key, value FROM meta WHERE key IN ('id', 'epoch')) AS meta ORDER BY meta.key"
)
_CHUNK: Final = 2_000  # rows fetched, or keys asked for, at a time


class Change(NamedTuple):
    """A commit or an agent's session, with the files that it touched.

    Files that the change renamed or deleted are listed, too.
    """

    source: str  # AGENT or GIT
    at: float  # seconds since 1970, UTC
    files: tuple[str, ...]  # from the project's root, with '/', each once; in the order of `offsets`, if there are some
    key: str = ""  # commit or session, recorded once; "" equals no other key
    author: str = ""  # hash of the author, or ""
    deleted: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()  # (old, new), before `files` are counted
    offsets: tuple[float, ...] = ()  # seconds from the first touch of the change to the first touch of each file
    counted: bool = True  # False: too many files to relate them; renames and churn still count


class Entry(NamedTuple):
    """A change in the log (commit or session), with its position in the log."""

    seq: int
    change: Change


class HistoryLog:
    """The log of changes (commits and sessions) of one project. Thread-safe.

    Args:
        path: the SQLite file, created by the first change.

    Raises:
        HistoryError: raised by every method. The file is damaged, of another version, or cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether the file of the log exists, because a change was recorded."""
        return self._connection is not None or self.path.exists()

    def close(self) -> None:
        """Close the file of the log. The next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
                seal(self.path)

    def append(self, changes: Iterable[Change]) -> int:
        """Record changes in one transaction; return how many of them are new.

        A change replaces a recorded change with the same source and key. A replacement counts as new only if the two changes differ.
        """
        with self._writing() as db:
            return _put(db, changes)

    def exchange(self, source: str, gone: Iterable[str] | None, changes: Iterable[Change], meta: dict[str, str]) -> int:
        """Remove changes of one source, such as Git, and add others.

        Both happen in one transaction. Returns the number of added changes.

        Args:
            source: source of the removed changes.
            gone: keys of the changes to remove; None removes all changes of the source.
            changes: the changes to add, read during the transaction, `_CHUNK` at a time.
            meta: values to store with the log in the same transaction, by name; see `HistoryLog.meta`. They are read after `changes`.
        """
        with self._writing() as db:
            removed = 0
            if gone is None:
                removed = db.execute("DELETE FROM change WHERE source = ?", (source,)).rowcount
            else:
                for key in gone:
                    removed += db.execute("DELETE FROM change WHERE source = ? AND key = ?", (source, key)).rowcount
            written = _put(db, changes)
            if removed:
                _bump(db)
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", sorted(meta.items()))
            return written

    def erase(self, source: str) -> int:
        """Delete all stored changes from one source, such as Git.

        The bytes of the deleted changes are overwritten. The result is the number of deleted changes.
        """
        with self._writing() as db:
            db.execute("PRAGMA secure_delete = ON")
            removed = db.execute("DELETE FROM change WHERE source = ?", (source,)).rowcount
            _bump(db)
        self._select("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def since(self, seq: int) -> Iterator[Entry]:
        """Yield the changes recorded after a position in the log, in order.

        `seq` is the position.
        """
        while rows := self._select(
            "SELECT seq, source, key, at, author, body FROM change WHERE seq > ? ORDER BY seq LIMIT ?", (seq, _CHUNK)
        ):
            for number, source, key, at, author, body in rows:
                yield Entry(number, _change(source, key or "", at, author, body))
            seq = rows[-1][0]

    def mark(self) -> tuple[str, int]:
        """Return the log's epoch and its newest position.

        The epoch is a value that changes when a change is removed or replaced. Data derived in another epoch is invalid.
        """
        if not self.exists:
            return ("", 0)
        rows = self._select(_MARK)  # one statement: each question that uses the history asks for it
        return ("".join(value for value, _ in rows if value), rows[0][1])

    def counts(self) -> dict[str, int]:
        """Return the number of changes from each source, such as Git, by source."""
        if not self.exists:
            return {}
        return dict(self._select("SELECT source, count(*) FROM change GROUP BY source ORDER BY source"))

    def keys(self, source: str) -> list[str]:
        """Return the identifiers of the changes from one source, sorted.

        For the source `GIT`, these are the hashes of the commits. For `AGENT`, they identify the sessions. Changes without an identifier
        are left out.
        """
        if not self.exists:
            return []
        return [row[0] for row in self._select("SELECT key FROM change WHERE source = ? AND key IS NOT NULL ORDER BY key", (source,))]

    def meta(self) -> dict[str, str]:
        """Return the values that are stored with the log, by name.

        These are the values set by `exchange`, and internal values of the log.
        """
        return dict(self._select("SELECT key, value FROM meta")) if self.exists else {}

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                db = self._open(create=True)
                with db:
                    db.execute("BEGIN IMMEDIATE")
                    unseal(db)
                    yield db
            except sqlite3.Error as error:
                raise HistoryError(
                    f"the history file {self.path} cannot be written ({error}); free disk space, or delete the file and index again",
                    path=str(self.path),
                    reason=str(error),
                ) from error

    def _select(self, statement: str, values: Sequence[str | int] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._open().execute(statement, values).fetchall()
            except sqlite3.Error as error:
                self.close()
                raise _FILE.unreadable(self.path, error) from error

    def _open(self, *, create: bool = False) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = _FILE.connect(self.path, create=create)
        return self._connection


def _put(db: sqlite3.Connection, changes: Iterable[Change]) -> int:
    written = 0
    replaced = False
    for one in changes:
        body = _body(one)
        if one.key:
            found = db.execute("SELECT seq, at, author, body FROM change WHERE source = ? AND key = ?", (one.source, one.key)).fetchone()
            if found is not None:
                if found[1:] == (one.at, one.author, body):
                    continue
                db.execute("UPDATE change SET at = ?, author = ?, body = ? WHERE seq = ?", (one.at, one.author, body, found[0]))
                replaced = True
                written += 1
                continue
        db.execute(
            "INSERT INTO change (source, key, at, author, body) VALUES (?, ?, ?, ?, ?)",
            (one.source, one.key or None, one.at, one.author, body),
        )
        written += 1
    if replaced:
        _bump(db)
    return written


def _bump(db: sqlite3.Connection) -> None:
    """Change the log's epoch, which makes data derived from the log invalid."""
    db.execute("UPDATE meta SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) WHERE key = 'epoch'")


def _body(one: Change) -> str:
    """Encode a change (a commit or a session) as JSON, without empty fields."""
    parts: dict[str, Any] = {"f": one.files}
    parts |= {name: value for name, value in (("d", one.deleted), ("r", one.renamed), ("o", one.offsets)) if value}
    if not one.counted:
        parts["x"] = 1
    return json.dumps(parts, separators=(",", ":"))


def _change(source: str, key: str, at: float, author: str, body: str) -> Change:
    parts = json.loads(body)
    return Change(
        source,
        at,
        tuple(parts["f"]),
        key,
        author,
        tuple(parts.get("d", ())),
        tuple((old, new) for old, new in parts.get("r", ())),
        tuple(parts.get("o", ())),
        "x" not in parts,
    )
