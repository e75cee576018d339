"""Stored branches of a project on a server.

A branch is stored as its differences from the project's main branch. The file `branches.sqlite` has, for each branch, the digest (hash of
the graph rows) of each file that differs. The graph rows of a file are stored once for each digest, even if several branches have the file.
When a push changes a file of the main branch, some branches still have the file's old version. So the old rows are stored for these
branches before the push.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.project.hosted.pushed_rows import text_in
from graphmem.runtime.files.sqlite_file import Sidefile

FILE: Final = "branches.sqlite"
GONE: Final = ""  # instead of the digest of a file that a branch lacks
_connecting: Final = threading.Lock()  # one connection of the process makes the tables of a new file
_MANY: Final = 500  # values in one statement
_FILE: Final = Sidefile(
    format="1",
    schema=(
        "CREATE TABLE branch (name TEXT NOT NULL, person TEXT NOT NULL, born TEXT NOT NULL, pushed_by TEXT NOT NULL, "
        "commit_sha TEXT NOT NULL, pushed_at TEXT NOT NULL, generation INT NOT NULL, facts TEXT NOT NULL, PRIMARY KEY (name, person)) "
        "WITHOUT ROWID",
        "CREATE TABLE file (name TEXT NOT NULL, person TEXT NOT NULL, path TEXT NOT NULL, digest TEXT NOT NULL, changed INT NOT NULL, "
        "PRIMARY KEY (name, person, path)) WITHOUT ROWID",
        "CREATE INDEX file_digest ON file (digest)",
        "CREATE TABLE body (digest TEXT PRIMARY KEY, rows BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE link (memory TEXT NOT NULL, target TEXT NOT NULL, role TEXT NOT NULL, label TEXT NOT NULL, confidence REAL NOT NULL, "
        "body_hash TEXT NOT NULL, commit_sha TEXT NOT NULL, name TEXT NOT NULL, branch TEXT NOT NULL, person TEXT NOT NULL, "
        "PRIMARY KEY (memory, target, role, branch, person)) WITHOUT ROWID",
    ),
    counter="changes",
    error=BadInputError,
    advice="delete the file, and push the branches again",
    explicit=True,
)


class BranchKey(NamedTuple):
    """A branch: its name, and its owner if only that person sees it."""

    name: str
    person: str = ""


class BranchId(NamedTuple):
    """A branch from its first push until it is dropped.

    If a branch of the same name is pushed later, its `born` is different.
    """

    name: str
    person: str
    born: str

    @property
    def key(self) -> BranchKey:
        """Name and owner of the branch.

        Another push of the branch does not change the key. If the branch is dropped and pushed again, the key is the same, but the field
        `born` of this object differs.
        """
        return BranchKey(self.name, self.person)


class Branch(NamedTuple):
    """A branch that was pushed to a server, and its last push."""

    key: BranchKey
    born: str  # random, another one when the branch is pushed again after it was dropped
    pushed_by: str  # login of the person who pushed it first; "" without people
    commit_sha: str
    pushed_at: str
    generation: int
    facts: Mapping[str, Any]  # meta, contracts, handles, commits


class BranchLink(NamedTuple):
    """A link of a memory to code that only a branch has."""

    memory: str
    target: str
    role: str
    label: str
    confidence: float
    body_hash: str
    commit_sha: str
    name: str  # of the code, such as shop/cart.py:Cart.total


class Branches:
    """The branches of one project on a server. Thread-safe.

    Args:
        data_dir: the index directory of the project.
    """

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / FILE
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file. Idempotent."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    # ---- reading

    def all(self) -> list[Branch]:
        """Return all branches, sorted by name and person."""
        found = self._rows("SELECT name, person, born, pushed_by, commit_sha, pushed_at, generation, facts FROM branch ORDER BY 1, 2")
        return [Branch(BranchKey(row[0], row[1]), row[2], row[3], row[4], row[5], row[6], json.loads(row[7])) for row in found]

    def find(self, key: BranchKey) -> Branch | None:
        """Return the stored branch with a key; None if there is none."""
        return next((one for one in self.all() if one.key == key), None)

    def identify(self, name: str, login: str) -> BranchId | None:
        """Return the id of the branch that `name` means to a person.

        `login` names the person. Returns None if the person sees no branch of this name. If both a private branch of this person and a
        branch that everybody sees have the name, the private one is returned. If a branch was dropped and pushed again, its key is the
        same, but its id is new.
        """
        found = sorted((one for one in self.seen_by(login) if one.key.name == name), key=lambda one: not one.key.person)
        return BranchId(*found[0].key, found[0].born) if found else None

    def seen_by(self, login: str) -> list[Branch]:
        """Return branches visible to everybody or to `login`, sorted by name."""
        return [one for one in self.all() if one.key.person in ("", login)]

    def own(self, key: BranchKey) -> dict[str, str]:
        """Return the files in which a branch differs from the main branch.

        The result maps paths to digests. A digest is a hash of the file's graph rows, or `GONE` for a file that the branch lacks.
        """
        return dict(self._rows("SELECT path, digest FROM file WHERE name = ? AND person = ? ORDER BY path", *key))

    def changed(self, key: BranchKey) -> dict[str, str]:
        """Return the files in which a branch differed when it was pushed.

        The result maps paths to digests (hashes of the graph rows), as `own` does. Files that differ only because the main branch changed
        after the push are left out.
        """
        return dict(self._rows("SELECT path, digest FROM file WHERE name = ? AND person = ? AND changed", *key))

    def bodies(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the stored graph rows of files, given the hashes of the rows.

        The result maps each digest (hash) to the rows as packed bytes.

        Raises:
            BadInputError: no rows are stored for a digest.
        """
        wanted = sorted(set(digests))
        found: dict[str, bytes] = {}
        for at in range(0, len(wanted), _MANY):
            some = wanted[at : at + _MANY]
            found.update(self._rows(f"SELECT digest, rows FROM body WHERE digest IN ({', '.join('?' * len(some))})", *some))  # noqa: S608
        if len(found) < len(wanted):
            raise BadInputError(f"the stored branches in {self._path.name} are incomplete; push the branch again", argument="branch")
        return found

    def sizes(self) -> dict[BranchKey, tuple[int, int]]:
        """Return the size of what each branch changes.

        The size is (number of files that differ from the main branch, number of bytes of the stored rows of these files).
        """
        rows = self._rows(
            "SELECT b.name, b.person, count(f.path), coalesce(sum(length(o.rows)), 0) FROM branch b LEFT JOIN file f "
            "ON f.name = b.name AND f.person = b.person LEFT JOIN body o ON o.digest = f.digest GROUP BY 1, 2"
        )
        return {BranchKey(*row[:2]): (row[2], row[3]) for row in rows}

    def fits(self, mark: str) -> bool:
        """Whether the differences of branches refer to a state of the main branch.

        `mark` identifies the state. The result is False if something other than a push changed the main branch, such as the restore of a
        backup.
        """
        return any(row[0] == mark for row in self._rows("SELECT value FROM meta WHERE key IN ('line', 'next_line')"))

    # ---- changing

    def put(self, branch: Branch, own: Mapping[str, str], changed: Iterable[str], bodies: Mapping[str, bytes], mark: str) -> None:
        """Store the state of a branch in one transaction.

        A digest is a hash of a file's graph rows.

        Args:
            branch: the branch; a stored branch of the same key is replaced.
            own: the digest of each path that differs from the main branch.
            changed: the paths of `own` that differ in the pushed commit, and not only because the main branch changed later.
            bodies: packed graph rows by digest; rows that are already stored may be left out.
            mark: identifies the state of the main branch with which `own` was compared.
        """
        touched = set(changed)
        with self._changing() as db:
            db.execute("DELETE FROM file WHERE name = ? AND person = ?", branch.key)
            db.execute(
                "INSERT OR REPLACE INTO branch VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *branch.key,
                    branch.born,
                    branch.pushed_by,
                    branch.commit_sha,
                    branch.pushed_at,
                    branch.generation,
                    json.dumps(branch.facts),
                ),
            )
            db.executemany(
                "INSERT INTO file VALUES (?, ?, ?, ?, ?)", [(*branch.key, path, own[path], path in touched) for path in sorted(own)]
            )
            _keep(db, bodies)
            _mark(db, "line", mark)
            _clean(db)

    def keep(self, kept: Mapping[str, tuple[str, bytes]], mark: str) -> dict[BranchKey, dict[str, str]]:
        """Keep the present version of files for the branches, before a push.

        The push is about to change these files on the main branch. If a branch has the same version of such a file, the branch keeps this
        version. So after the push, the branch differs from the main branch in this file. A digest is a hash of a file's graph rows.

        Args:
            kept: maps each path to its present digest and packed rows; the digest is `GONE` for a path that the main branch lacks.
            mark: identifies the state of the main branch after the push.

        Returns:
            For each branch, the paths that differ from the main branch because of this push, with their old digests.
        """
        added: dict[BranchKey, dict[str, str]] = {}
        with self._changing() as db:
            _keep(db, {digest: body for digest, body in kept.values() if digest != GONE})
            for key in [BranchKey(*row) for row in db.execute("SELECT name, person FROM branch").fetchall()]:
                known = {row[0] for row in db.execute("SELECT path FROM file WHERE name = ? AND person = ?", key)}
                added[key] = {path: digest for path, (digest, _) in kept.items() if path not in known}
                db.executemany("INSERT INTO file VALUES (?, ?, ?, ?, 0)", [(*key, path, digest) for path, digest in added[key].items()])
            _mark(db, "next_line", mark)
        return added

    def settle(self, digests: Mapping[str, str], mark: str) -> None:
        """Delete differences that no longer exist after a push of the main branch.

        A difference no longer exists if the main branch now has the same version of the file. Files in which the branch differed when it
        was pushed are kept in any case.

        Args:
            digests: the digest (hash of the graph rows) of each file of the main branch after the push.
            mark: identifies the state of the main branch after the push.
        """
        with self._changing() as db:
            rows = db.execute("SELECT name, person, path, digest FROM file WHERE NOT changed").fetchall()
            db.executemany(
                "DELETE FROM file WHERE name = ? AND person = ? AND path = ?",
                [row[:3] for row in rows if digests.get(row[2], GONE) == row[3]],
            )
            _mark(db, "line", mark)
            _clean(db)

    def drop(self, key: BranchKey) -> bool:
        """Delete a branch with its rows; return whether it existed."""
        with self._changing() as db:
            gone = db.execute("DELETE FROM branch WHERE name = ? AND person = ?", key).rowcount
            db.execute("DELETE FROM file WHERE name = ? AND person = ?", key)
            db.execute("DELETE FROM link WHERE branch = ? AND person = ?", key)
            _clean(db)
        return bool(gone)

    def named(self, login: str) -> list[Branch]:
        """Return the private branches of a person, and those that they pushed."""
        return [one for one in self.all() if login in (one.key.person, one.pushed_by)]

    def erase(self, login: str) -> None:
        """Delete the private branches of a person for good.

        Branches that everybody sees stay, without the person's name.
        """
        with self._lock:
            self._connection().execute("PRAGMA secure_delete = ON")
            for one in self.named(login):
                if one.key.person:
                    self.drop(one.key)
            with self._changing() as db:
                db.execute("UPDATE branch SET pushed_by = '' WHERE pushed_by = ?", (login,))
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def expired(self, days: float, now: datetime | None = None) -> list[BranchKey]:
        """Return the branches whose last push is more than `days` days ago."""
        limit = (now or datetime.now(UTC)) - timedelta(days=days)
        return [one.key for one in self.all() if datetime.fromisoformat(one.pushed_at) < limit]

    # ---- links of memories

    def add_links(self, key: BranchKey, links: Sequence[BranchLink]) -> None:
        """Store links of memories to code that only a branch has."""
        with self._changing() as db:
            db.executemany("INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [(*one, *key) for one in links])

    def links(self) -> list[tuple[BranchKey, BranchLink]]:
        """Return (branch, link) for each link of a memory to a branch's code.

        The main branch does not have this code.
        """
        rows = self._rows(
            "SELECT branch, person, memory, target, role, label, confidence, body_hash, commit_sha, name FROM link "
            "ORDER BY memory, target, role"
        )
        return [(BranchKey(*row[:2]), BranchLink(*row[2:])) for row in rows]

    def forget_links(self, links: Iterable[BranchLink]) -> None:
        """Delete stored links whose code is on the main branch now."""
        with self._changing() as db:
            db.executemany("DELETE FROM link WHERE memory = ? AND target = ?", [(one.memory, one.target) for one in links])

    # ---- inside

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            with _connecting:
                self._db = _FILE.connect(self._path, create=True)
        return self._db

    def _rows(self, query: str, *values: object) -> list[Any]:
        if not self._path.exists():
            return []
        with self._lock:
            try:
                return self._connection().execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise _FILE.unreadable(self._path, error) from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection inside one transaction."""
        with self._lock:
            db = self._connection()
            try:
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
            except sqlite3.Error as error:
                raise _FILE.unreadable(self._path, error) from error


def _keep(db: sqlite3.Connection, bodies: Mapping[str, bytes]) -> None:
    """Store rows by their digest, and texts of rows that had none.

    `bodies` maps each digest to the row as bytes.
    """
    for digest, body in sorted(bodies.items()):
        found = db.execute("SELECT rows FROM body WHERE digest = ?", (digest,)).fetchone()
        if found is None or (text_in(found[0]) is None and text_in(body) is not None):
            db.execute("INSERT OR REPLACE INTO body VALUES (?, ?)", (digest, body))


def _mark(db: sqlite3.Connection, name: str, mark: str) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, mark))


def _clean(db: sqlite3.Connection) -> None:
    """Delete stored rows of files that no branch refers to any more."""
    db.execute("DELETE FROM body WHERE digest NOT IN (SELECT digest FROM file)")
