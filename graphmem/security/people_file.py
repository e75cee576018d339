"""The file `people.sqlite` of a server: tables, transactions, audit log."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from graphmem.errors import BadInputError
from graphmem.runtime.files.sqlite_file import Sidefile

FILE: Final = "people.sqlite"
_FILE: Final = Sidefile(
    format="1",
    schema=(
        "CREATE TABLE person (login TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, subject TEXT NOT NULL DEFAULT '', "
        "disabled INT NOT NULL DEFAULT 0, made TEXT NOT NULL)",
        "CREATE TABLE member (team TEXT NOT NULL, login TEXT NOT NULL REFERENCES person, PRIMARY KEY (team, login)) WITHOUT ROWID",
        "CREATE TABLE role (project TEXT NOT NULL, login TEXT NOT NULL DEFAULT '', team TEXT NOT NULL DEFAULT '', level TEXT NOT NULL, "
        "PRIMARY KEY (project, login, team)) WITHOUT ROWID",
        "CREATE TABLE credential (id TEXT PRIMARY KEY, kind TEXT NOT NULL, hash TEXT NOT NULL, login TEXT NOT NULL REFERENCES person, "
        "name TEXT NOT NULL, team TEXT NOT NULL, made TEXT NOT NULL, expires TEXT NOT NULL)",
        "CREATE TABLE owner (project TEXT NOT NULL, memory TEXT NOT NULL, login TEXT NOT NULL, team TEXT NOT NULL, "
        "PRIMARY KEY (project, memory)) WITHOUT ROWID",
        "CREATE INDEX owner_login ON owner (project, login)",
        "CREATE INDEX owner_team ON owner (project, team)",
        "CREATE TABLE act (n INTEGER PRIMARY KEY, at TEXT NOT NULL, login TEXT NOT NULL, action TEXT NOT NULL, project TEXT NOT NULL, "
        "details TEXT NOT NULL, by TEXT NOT NULL DEFAULT '')",
    ),
    counter="changes",
    error=BadInputError,
    advice="move the file away, and invite the people again",
    explicit=True,
)

OPERATOR: Final = "operator"
"""Begins the name of an account of the server's machine in the audit log. A login has no space, so it cannot equal `operator NAME`."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S", bound="PeopleFile")


def at_once(method: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """Decorate a method: make all its changes in one transaction.

    If the file does not exist, the method is called without one. Only `invite` creates the file.
    """

    @wraps(method)
    def whole(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self.transaction() if self.exist else nullcontext():
            return method(self, *args, **kwargs)

    return whole


class PeopleFile:
    """The file with people, teams, roles, credentials and owners of memories.

    Thread-safe. Several processes may change the file.

    Args:
        folder: the server's directory.
        by: account of the server's machine that makes the changes, for the audit log.
    """

    def __init__(self, folder: Path, by: str = "") -> None:
        self._path = folder / FILE
        self._by = f"{OPERATOR} {by}" if by else OPERATOR
        self._lock = threading.RLock()  # a method may call another
        self._db: sqlite3.Connection | None = None

    @property
    def exist(self) -> bool:
        """Whether anybody was ever invited; then a server requires credentials."""
        return self._path.exists()

    def close(self) -> None:
        """Close the file with people, teams and roles. Idempotent."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def note(self, login: str, action: str, project: str, details: str, by: str = "") -> int:
        """Record an action in the audit log; return the number of the entry.

        `action` says what was done, and `project` where; "" for the whole server. `login` is the person concerned, and `by` the person who
        acted; default: the operator.
        """
        with self.opened() as db:
            made = db.execute(
                "INSERT INTO act (at, login, action, project, details, by) VALUES (?, ?, ?, ?, ?, ?) RETURNING n",
                (timestamp(), login, action, project, details[:200], by or self._by),
            )
            return int(made.fetchone()[0])

    def outcome(self, entry: int, details: str) -> None:
        """Replace the details of an audit log entry that `note` made."""
        self.change("UPDATE act SET details = ? WHERE n = ?", details[:200], entry)

    def expect(self, login: str) -> None:
        """Raise `BadInputError` if a person is unknown."""
        if not self.rows("SELECT 1 FROM person WHERE login = ?", login):
            raise BadInputError(f"unknown person {login[:60]!r}; invite the person first", argument="login", value=login[:60])

    def rows(self, statement: str, *values: object) -> list[Any]:
        """Return the rows of an SQL query; none if the file does not exist."""
        if not self.exist:
            return []
        with self.opened() as db:
            return db.execute(statement, values).fetchall()

    def change(self, statement: str, *values: object) -> int:
        """Run an SQL statement that changes rows; return their number."""
        with self.opened() as db:
            return db.execute(statement, values).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes of a `with` block, or none; other processes wait."""
        with self.opened() as db:
            if db.in_transaction:  # a method that calls another
                yield
                return
            db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                db.rollback()
                raise
            db.commit()

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Yield the file's database connection; other threads wait meanwhile."""
        with self._lock:
            if self._db is None:
                db = _FILE.connect(self._path, create=True)
                try:
                    _add_actor(db)
                except sqlite3.Error as error:
                    db.close()
                    raise _FILE.unreadable(self._path, error) from error
                self._db = db
            try:
                yield self._db
            except sqlite3.Error as error:
                raise _FILE.unreadable(self._path, error) from error


def _add_actor(db: sqlite3.Connection) -> None:
    """Add the column `by` to the audit log of a graphmem that did not have it.

    Such a graphmem can still use the file.
    """
    if _has_actor(db):
        return
    db.execute("BEGIN IMMEDIATE")  # another process may be adding it
    if not _has_actor(db):
        db.execute("ALTER TABLE act ADD COLUMN by TEXT NOT NULL DEFAULT ''")
    db.execute("COMMIT")


def _has_actor(db: sqlite3.Connection) -> bool:
    return any(row[1] == "by" for row in db.execute("PRAGMA table_info(act)"))


def timestamp() -> str:
    """Return the current time, as the file stores it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
