"""Store edges that outside tools observed, across index runs.

The file is SQLite. This file has all observed edges, and the graph has only the valid ones. So if a source file is edited and the edit is
undone, the observed edges of the file return. Every change of this file increments a version, and records the affected source files. The
next run merges the edges of the recorded source files again. So nothing is missed after a failed run, or with a rebuilt index.
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.errors import EvidenceError
from graphmem.evidence.observations import End, Observation, Place, Reading
from graphmem.runtime.files.checksums import seal, unseal
from graphmem.runtime.files.sqlite_file import Sidefile

_SCHEMA: Final = (
    "CREATE TABLE definition (id INTEGER PRIMARY KEY, path TEXT NOT NULL, qualname TEXT NOT NULL, kind TEXT NOT NULL, "
    "ordinal INTEGER NOT NULL, body_hash TEXT NOT NULL, UNIQUE (path, qualname, kind, ordinal, body_hash))",
    "CREATE TABLE observation (rule TEXT NOT NULL, kind TEXT NOT NULL, subject INTEGER NOT NULL, runs INTEGER NOT NULL, "
    "seen BLOB NOT NULL, PRIMARY KEY (subject, rule, kind)) WITHOUT ROWID",
    "CREATE TABLE changed (path TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE origin (rule TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (rule, key)) WITHOUT ROWID",
)
_FILE: Final = Sidefile("1", _SCHEMA, "version", EvidenceError, "delete it, then import the evidence again")


class Kept(NamedTuple):
    """Stored edges from one definition to others, as a tool reported them.

    Each definition is given by its number in the SQLite file.
    """

    rule: str
    kind: str
    subject: int
    runs: int
    seen: tuple[tuple[int, int], ...]  # (definition, offset), ascending


class Sidecar:
    """Stores the edges that outside tools reported for a project.

    An observation has the edges of one kind from one definition. The rule of an observation names the kind of tool, such as `scip` or
    `runtime`. Methods raise `EvidenceError` if the file is damaged, or was written by another version of graphmem. Not thread-safe.

    Args:
        path: the SQLite file. It is created by the first call of `take`, so a project without observations has no file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether any edge that an outside tool observed was stored."""
        return self.path.exists()

    def close(self) -> None:
        """Close the SQLite file; the next query opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            seal(self.path)

    def mark(self) -> str:
        """Return the version of the stored edges of outside tools.

        The version changes whenever edges are stored or removed. The result is "" if nothing is stored.
        """
        if not self.exists:
            self.close()
            return ""
        meta = dict(self._select("SELECT key, value FROM meta"))
        return f"{meta['id']}:{meta['version']}"

    def changed_since(self, mark: str) -> set[str] | None:
        """Return the files whose edges from outside tools changed since a version.

        `mark` is the version, an earlier result of the method `mark()`. The result is None if `mark` belongs to another store. Then any
        file may have changed.
        """
        now = self.mark()
        if not now or not mark or now.partition(":")[0] != mark.partition(":")[0]:
            return None
        rows = self._select("SELECT path FROM changed WHERE version > ?", (int(mark.partition(":")[2]),))
        return {path for (path,) in rows}

    def paths(self) -> set[str]:
        """Return the files in which the stored edges begin."""
        if not self.exists:
            return set()
        return {path for (path,) in self._select("SELECT DISTINCT path FROM observation JOIN definition ON id = subject")}

    def of_file(self, path: str) -> list[Kept]:
        """Return the edges from outside tools that begin in a file.

        The edges are sorted by three keys: the definition where the edges begin, the rule, and the kind.
        """
        rows = self._select(
            "SELECT rule, observation.kind, subject, runs, seen FROM definition JOIN observation ON subject = id WHERE path = ? "
            "ORDER BY subject, rule, observation.kind",
            (path,),
        )
        return [Kept(rule, kind, subject, runs, _unpacked(seen)) for rule, kind, subject, runs, seen in rows]

    def of_kind(self, kind: str) -> Iterator[Kept]:
        """Yield the edges of one kind, such as CALLS, that outside tools reported.

        The edges are sorted by the definition where the edges begin, then by rule.
        """
        if self.exists:
            for rule, subject, runs, seen in self._select(
                "SELECT rule, subject, runs, seen FROM observation WHERE kind = ? ORDER BY subject, rule", (kind,)
            ):
                yield Kept(rule, kind, subject, runs, _unpacked(seen))

    def of_rule(self, rule: str) -> Iterator[Kept]:
        """Yield the edges that one kind of outside tool reported.

        `rule` names the kind of tool, for example `scip` or `runtime`. The edges are sorted by the definition where the edges begin, then
        by kind.
        """
        if self.exists:
            for kind, subject, runs, seen in self._select(
                "SELECT kind, subject, runs, seen FROM observation WHERE rule = ? ORDER BY subject, kind", (rule,)
            ):
                yield Kept(rule, kind, subject, runs, _unpacked(seen))

    def ends(self) -> dict[int, End]:
        """Map numbers to the definitions where stored edges begin or end.

        A definition is given by its number in this SQLite file.
        """
        if not self.exists:
            return {}
        return {row[0]: End(*row[1:]) for row in self._select("SELECT * FROM definition ORDER BY id")}

    def ends_at(self, paths: Iterable[str]) -> dict[int, Place]:
        """Map numbers to the stored definitions that are in the given files.

        A definition is given by its number in this SQLite file.
        """
        if not self.exists:
            return {}
        select = "SELECT id, path, qualname, kind, ordinal FROM definition WHERE path = ?"
        return {row[0]: Place(*row[1:]) for path in paths for row in self._select(select, (path,))}

    def subjects_of(self, seen: set[int]) -> set[str]:
        """Return the files with stored edges to any of the definitions `seen`.

        The result has the files where these edges begin. `seen` has the numbers of the definitions in this SQLite file.
        """
        found = set()
        for path, blob in self._select("SELECT path, seen FROM observation JOIN definition ON id = subject"):
            if path not in found and not seen.isdisjoint(one for one, _ in _unpacked(blob)):
                found.add(path)
        return found

    def origins(self) -> dict[str, dict[str, str]]:
        """Return which tools reported the stored edges, for each kind of tool.

        The result maps the kind of tool, such as `scip`, to a dict with the name of the tool, its version and counts. The dict is shown to
        people.
        """
        found: dict[str, dict[str, str]] = {}
        if self.exists:
            for rule, key, value in self._select("SELECT rule, key, value FROM origin ORDER BY rule, key"):
                found.setdefault(rule, {})[key] = value
        return found

    def take(self, rule: str, reading: Reading) -> None:
        """Store the edges that one outside tool's file reports, in a transaction.

        `reading` has these edges as observations; `rule` names the kind of tool. Earlier observations of a definition with the same rule
        are merged with the new ones. In three cases they are replaced instead:

        - the body of the definition has changed
        - `reading.scope` is set: it lists files, and all earlier observations of these files are replaced
        - a test ran with at least as many parameter sets as in the earlier observation

        Raises:
            EvidenceError: the file cannot be written.
        """
        try:
            connection = self._open(create=True)
            with connection:
                unseal(connection)
                _Taking(connection, rule).take(reading)
        except sqlite3.Error as error:
            raise EvidenceError(
                f"{self.path}, which keeps imported results of tests and tools, cannot be written ({error}); "
                "close other programs that use the file, or delete the file",
                path=str(self.path),
                reason=str(error),
            ) from error

    def _select(self, statement: str, values: Sequence[str | int] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of the SQL query `statement`.

        `values` are inserted for the question marks in the query.

        Raises:
            EvidenceError: the file is damaged.
        """
        try:
            return self._open().execute(statement, values).fetchall()
        except sqlite3.Error as error:
            self.close()
            raise _FILE.unreadable(self.path, error) from error

    def _open(self, *, create: bool = False) -> sqlite3.Connection:
        if self._connection is None or not self.exists:
            self.close()
            self._connection = _FILE.connect(self.path, create=create)
        return self._connection


class _Taking:
    """Stores the edges that one outside tool's file reports."""

    def __init__(self, connection: sqlite3.Connection, rule: str) -> None:
        self._db = connection
        self._rule = rule
        self._numbers: dict[End, int] = {}
        self._places: dict[int, Place] = {}
        self._touched: set[str] = set()

    def take(self, reading: Reading) -> None:
        for path in sorted(reading.scope or ()):
            self._forget_file(path)
        for one in reading.observations:
            self._put(one)
        version = int(self._db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()[0]) + 1
        self._db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(version),))
        self._db.executemany("INSERT OR REPLACE INTO changed VALUES (?, ?)", [(path, version) for path in sorted(self._touched)])
        if reading.scope is None:  # a reading of some files keeps the origins of other files
            self._db.execute("DELETE FROM origin WHERE rule = ?", (self._rule,))
        self._db.executemany(
            "INSERT OR REPLACE INTO origin VALUES (?, ?, ?)", [(self._rule, key, value) for key, value in reading.origin.items()]
        )
        self._sweep()

    def _forget_file(self, path: str) -> None:
        gone = self._db.execute(
            "DELETE FROM observation WHERE rule = ? AND subject IN (SELECT id FROM definition WHERE path = ?)", (self._rule, path)
        )
        if gone.rowcount:
            self._touched.add(path)

    def _put(self, one: Observation) -> None:
        subject = self._number(one.subject)
        seen = {(self._number(step.end), step.offset) for step in one.seen}
        earlier = self._db.execute(
            "SELECT id, seen, runs FROM observation JOIN definition ON id = subject WHERE rule = ? AND observation.kind = ? "
            "AND path = ? AND qualname = ? AND definition.kind = ? AND ordinal = ?",
            (self._rule, one.kind, *one.subject.place),
        ).fetchall()
        runs = one.runs
        for number, blob, before in earlier:
            if number == subject and not (one.runs and one.runs >= before):
                places = {self._place(at) for at, _ in seen}
                seen |= {step for step in _unpacked(blob) if self._place(step[0]) not in places}
                runs = min(runs, before)
            self._db.execute("DELETE FROM observation WHERE rule = ? AND kind = ? AND subject = ?", (self._rule, one.kind, number))
        self._db.execute("INSERT INTO observation VALUES (?, ?, ?, ?, ?)", (self._rule, one.kind, subject, runs, _packed(sorted(seen))))
        self._touched.add(one.subject.path)

    def _number(self, end: End) -> int:
        found = self._numbers.get(end)
        if found is None:
            self._db.execute("INSERT OR IGNORE INTO definition VALUES (NULL, ?, ?, ?, ?, ?)", end)
            row = self._db.execute(
                "SELECT id FROM definition WHERE path = ? AND qualname = ? AND kind = ? AND ordinal = ? AND body_hash = ?", end
            ).fetchone()
            found = self._numbers[end] = int(row[0])
        return found

    def _place(self, number: int) -> Place:
        found = self._places.get(number)
        if found is None:
            found = self._places[number] = self._place_of(number)
        return found

    def _place_of(self, number: int) -> Place:
        return Place(*self._db.execute("SELECT path, qualname, kind, ordinal FROM definition WHERE id = ?", (number,)).fetchone())

    def _sweep(self) -> None:
        """Delete stored definitions that no stored edge needs any more."""
        used: set[int] = set()
        for subject, blob in self._db.execute("SELECT subject, seen FROM observation"):
            used.add(subject)
            used.update(number for number, _ in _unpacked(blob))
        gone = [(number,) for (number,) in self._db.execute("SELECT id FROM definition") if number not in used]
        self._db.executemany("DELETE FROM definition WHERE id = ?", gone)


def _packed(seen: Iterable[tuple[int, int]]) -> bytes:
    return zlib.compress(array("i", [number for pair in seen for number in pair]).tobytes(), 6)


def _unpacked(blob: bytes) -> tuple[tuple[int, int], ...]:
    flat = array("i", zlib.decompress(blob))
    return tuple(zip(flat[::2], flat[1::2], strict=True))
