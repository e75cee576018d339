"""The ledger's SQLite file: its tables, transactions and checks.

A damaged file is quarantined, and a file of a later version is refused.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from graphmem.errors import LedgerError
from graphmem.runtime.files import vault
from graphmem.runtime.files.checksums import MISMATCH, SIDES, Proof, proof, seal, unseal
from graphmem.runtime.files.sqlite_file import private_file

FORMAT: Final = 2
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, lineage TEXT NOT NULL, digest TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,
  agent TEXT NOT NULL, outcome TEXT NOT NULL, steps INTEGER NOT NULL, planned INTEGER, tokens INTEGER NOT NULL,
  contaminated INTEGER NOT NULL,
  summary TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS session_at ON session (at);
CREATE INDEX IF NOT EXISTS session_digest ON session (digest);
CREATE TABLE IF NOT EXISTS seen (key TEXT NOT NULL, session TEXT NOT NULL, lineage TEXT NOT NULL, agent TEXT NOT NULL,
  PRIMARY KEY (key, session)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS file (path TEXT NOT NULL, session TEXT NOT NULL, reads INTEGER NOT NULL, edits INTEGER NOT NULL,
  tokens INTEGER NOT NULL, PRIMARY KEY (path, session)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS error (fingerprint TEXT NOT NULL, session TEXT NOT NULL, count INTEGER NOT NULL, fixed INTEGER NOT NULL,
  message TEXT NOT NULL, fix TEXT NOT NULL, PRIMARY KEY (fingerprint, session)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS module (module TEXT NOT NULL, session TEXT NOT NULL, uses INTEGER NOT NULL,
  main INTEGER NOT NULL, PRIMARY KEY (module, session)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS file_session ON file (session);
CREATE INDEX IF NOT EXISTS error_session ON error (session);
CREATE INDEX IF NOT EXISTS seen_session ON seen (session);
CREATE INDEX IF NOT EXISTS module_session ON module (session);
CREATE TABLE IF NOT EXISTS learnt (key TEXT PRIMARY KEY, memory TEXT NOT NULL, session TEXT NOT NULL, at REAL NOT NULL,
  settled INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS barred (key TEXT PRIMARY KEY, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS receipt (session TEXT NOT NULL, part TEXT NOT NULL, digest TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL,
  undone INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session, part));
CREATE TABLE IF NOT EXISTS measure (session TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS done (what TEXT NOT NULL, for_ TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (what, for_)) WITHOUT ROWID;
"""


class LedgerFile:
    """The SQLite file with the statistics of sessions. Thread-safe.

    Args:
        path: the file, created by the first write. A damaged file is quarantined and reported in `notes`.

    Raises:
        LedgerError: raised by every method: the file cannot be read or written, or a later version wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._vault: vault.Vault | None = None  # encrypts the whole file, which is then in memory

    def close(self) -> None:
        """Close the file of statistics; the next call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
                if self._vault is None:
                    seal(self.path)

    @property
    def exists(self) -> bool:
        """Whether the file of statistics exists: a session was counted before."""
        return any(self.path.with_name(self.path.name + end).exists() for end in ("", vault.SEALED))

    def sizes(self) -> dict[str, int]:
        """Map each table in the file of statistics to its number of rows."""
        tables = ("session", "seen", "file", "error", "module", "measure", "learnt", "barred", "receipt", "done")
        return {table: int(self._one(f"SELECT count(*) FROM {table}")[0]) for table in tables}  # noqa: S608 - names of this file

    def _one(self, query: str, *values: object) -> tuple[Any, ...]:
        row = self._first(query, *values)
        assert row is not None  # noqa: S101 - an aggregate always gives a row
        return row

    def _first(self, query: str, *values: object) -> tuple[Any, ...] | None:
        rows = self._all(query, *values)
        return rows[0] if rows else None

    def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._open().execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise self._refusal(error) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open the statistics' file for one atomic transaction."""
        with self._lock:
            db = self._open()
            try:
                db.execute("BEGIN IMMEDIATE")
                unseal(db)
                yield db
                db.execute("COMMIT")
                if self._vault is not None:
                    vault.store(self.path, self._vault, db)
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if isinstance(error, (sqlite3.Error, OSError)):
                    raise self._refusal(error) from error
                raise

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = self._connected()
            except sqlite3.OperationalError as error:
                raise self._refusal(error) from error
            except sqlite3.DatabaseError:
                quarantined = next(name for n in range(1_000) if not (name := self.path.with_suffix(f".damaged-{n}")).exists())
                (self.path if self._vault is None else self.path.with_name(self.path.name + vault.SEALED)).replace(quarantined)
                for side in SIDES:
                    self.path.with_name(self.path.name + side).unlink(missing_ok=True)
                self.notes.append(f"the counts across sessions were unreadable and start again at zero; the old file is {quarantined.name}")
                self._connection = self._connected()
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        self._vault = vault.vault_of(self.path.parent)
        if self._vault is not None:
            db = vault.connected(self.path, self._vault)
        else:
            if self.path.exists() and proof(self.path) is Proof.DAMAGED:
                raise sqlite3.DatabaseError(MISMATCH)
            db = sqlite3.connect(private_file(self.path), isolation_level=None, check_same_thread=False)
        try:
            if self._vault is None:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > FORMAT:
                raise LedgerError(
                    f"the session statistics {self.path.name} have version {version}, and this graphmem reads version {FORMAT}; update "
                    "graphmem, or move the file to another place to start new statistics",
                    path=str(self.path),
                )
            if version < FORMAT:
                unseal(db)
                db.executescript(_SCHEMA)
                db.execute(f"PRAGMA user_version = {FORMAT}")
        except BaseException:
            db.close()
            raise
        return db

    def _refusal(self, error: sqlite3.Error | OSError) -> LedgerError:
        return LedgerError(f"{self.path.name} cannot be read or written: {error}; nothing was counted, so try again", path=str(self.path))
