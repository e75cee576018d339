"""What is known across sessions: which findings, files, errors and modules were seen in which of them, and what became of it.

One SQLite file beside the database. Every row names its session, and every count counts sessions, so that a session that is taken in
ten times is there once. The journal stays the memories' truth: what is lost with this file is how often things were seen, and the receipts.
A fork, with what it brought from its parent, counts with the session it comes from.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from graphmem.errors import LedgerError
from graphmem.observe.model import Finding, SessionRecord, as_json
from graphmem.observe.scratchpad import module_of

LEDGER: Final = "ledger.sqlite"
FORMAT: Final = 1
KEPT_SESSIONS: Final = 5_000  # the oldest beyond go, with their rows; receipts stay
MAX_FILES: Final = 1_000  # of one session, the most used
MAX_FINDINGS: Final = 1_000
MAX_ERRORS: Final = 200
MAIN: Final = 0.4  # of a session's edits, or of its uses when it edited nothing: it is a session of that module
_TESTS: Final = frozenset({"tests", "test", "spec", "specs", "__tests__", "testing"})
_OWN: Final = frozenset({"id", "parent", "group", "members", "agents"})  # what a copy of a session does not share with it
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
CREATE TABLE IF NOT EXISTS done (what TEXT NOT NULL, for_ TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (what, for_)) WITHOUT ROWID;
"""


class Seen(NamedTuple):
    """How often a finding was made."""

    sessions: int  # independent ones
    agents: int  # distinct, of those that have a name


class ErrorStat(NamedTuple):
    """An error across sessions."""

    fingerprint: str
    sessions: int
    fixed: int  # sessions in which it was fixed
    message: str  # the latest one
    fix_files: tuple[str, ...]  # of the latest fix


class FileUse(NamedTuple):
    """A file across the sessions of a module."""

    path: str
    sessions: int  # that read or edited it
    edited: int  # of those: sessions that edited it


class ModuleStat(NamedTuple):
    """A module across sessions."""

    module: str
    sessions: int
    tokens: int  # average of its sessions
    steps: tuple[tuple[int, int], ...]  # (actual, planned) of the sessions that had a plan, oldest first


class Ledger:
    """The statistics of one project. Any thread may call it.

    Args:
        path: the SQLite file; made by the first write. A damaged one is set aside and said so in `notes`.

    Raises:
        LedgerError: from every method: the disk refuses, or the file is of a later version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Let go of the file; it is opened again when it is asked."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # ---- taking in

    def take(self, record: SessionRecord, summary: Mapping[str, Any], findings: Sequence[Finding] | None = None) -> None:
        """Keep what a session has seen, in place of what was kept of it before.

        Args:
            record: of the session.
            summary: of the session, as JSON; see `observe.summary`.
            findings: that count; default all.
        """
        info, digest = record.info, digest_of(record)
        at = (info.ended_at or info.started_at or _latest(record)).timestamp()
        with self._writing() as db:
            lineage = self._lineage(db, info.id, info.parent)
            self._forget(db, info.id)
            db.execute(
                "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    info.id,
                    lineage,
                    digest,
                    at,
                    info.kind,
                    info.agent,
                    info.outcome,
                    record.steps,
                    info.planned_steps,
                    record.tokens,
                    int(record.contaminated),
                    json.dumps(summary, ensure_ascii=False, sort_keys=True),
                ),
            )
            made = list(record.findings if findings is None else findings)[:MAX_FINDINGS]
            db.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", [(one.key, info.id, lineage, info.agent) for one in made])
            used = sorted((one for one in record.files if one.reads or one.edits), key=lambda one: (-one.edits, -one.reads, one.path))
            db.executemany(
                "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)",
                [(one.path, info.id, one.reads, one.edits, one.tokens) for one in used[:MAX_FILES]],
            )
            db.executemany(
                "INSERT OR REPLACE INTO error VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (one.fingerprint, info.id, one.times, int(one.fixed), one.message, json.dumps(list(one.fix_files)))
                    for one in record.errors[:MAX_ERRORS]
                ],
            )
            main = main_module(record)
            counts = {**({main: 0} if main else {}), **modules_of(record)}
            rows = [(module, info.id, uses, int(module == main)) for module, uses in sorted(counts.items())]
            db.executemany("INSERT OR REPLACE INTO module VALUES (?, ?, ?, ?)", rows)
            for (old,) in db.execute("SELECT id FROM session ORDER BY at DESC, id LIMIT -1 OFFSET ?", (KEPT_SESSIONS,)).fetchall():
                self._forget(db, old)

    def twin(self, session: str, digest: str) -> str:
        """Another session that this one is a copy of, event for event; "" for none."""
        row = self._first("SELECT id FROM session WHERE digest = ? AND id <> ? ORDER BY at, id LIMIT 1", digest, session)
        return str(row[0]) if row else ""

    def _lineage(self, db: sqlite3.Connection, session: str, parent: str) -> str:
        """The session that this one counts with: the one it was forked from, else itself."""
        if not parent:
            return session
        known = db.execute("SELECT lineage FROM session WHERE id = ?", (parent,)).fetchone()
        return str(known[0]) if known is not None else parent

    def _forget(self, db: sqlite3.Connection, session: str) -> None:
        db.execute("DELETE FROM session WHERE id = ?", (session,))
        for table in ("seen", "file", "error", "module"):
            db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - names of this file

    # ---- findings

    def seen(self, keys: Iterable[str]) -> dict[str, Seen]:
        """How often each finding was made, by key."""
        found = {}
        for key in keys:
            row = self._one("SELECT count(DISTINCT lineage), count(DISTINCT nullif(agent, '')) FROM seen WHERE key = ?", key)
            found[key] = Seen(*row)
        return found

    def seen_in(self, key: str, module: str) -> int:
        """Independent sessions that made a finding, of those with most edits in a module."""
        joined = "FROM seen s JOIN module m ON m.session = s.session"
        return int(self._one(f"SELECT count(DISTINCT s.lineage) {joined} WHERE s.key = ? AND m.module = ? AND m.main", key, module)[0])

    def sessions_of(self, module: str) -> int:
        """Independent sessions with most edits in a module."""
        query = "SELECT count(DISTINCT s.lineage) FROM module m JOIN session s ON s.id = m.session WHERE m.module = ? AND m.main"
        return int(self._one(query, module)[0])

    def file_sessions(self, path: str, *, edited: bool) -> int:
        """Independent sessions that used a file, or edited it."""
        query = "SELECT count(DISTINCT s.lineage) FROM file f JOIN session s ON s.id = f.session WHERE f.path = ? AND f.edits >= ?"
        return int(self._one(query, path, int(edited))[0])

    def pair_sessions(self, a: str, b: str, *, edited: bool) -> int:
        """Independent sessions that used two files, or edited both."""
        query = (
            "SELECT count(DISTINCT s.lineage) FROM file f JOIN file g ON g.session = f.session JOIN session s ON s.id = f.session "
            "WHERE f.path = ? AND g.path = ? AND f.edits >= ? AND g.edits >= ?"
        )
        return int(self._one(query, a, b, int(edited), int(edited))[0])

    def file_share_where(self, path: str, *, beside: str, edited: bool) -> float:
        """Share of sessions with a file, among those of the modules that another file was ever used in."""
        query = (
            "WITH around AS (SELECT DISTINCT m.session FROM module m WHERE m.module IN "
            "(SELECT n.module FROM module n JOIN file f ON f.session = n.session WHERE f.path = ?)) "
            "SELECT count(*), (SELECT count(*) FROM around JOIN file g ON g.session = around.session WHERE g.path = ? AND g.edits >= ?) "
            "FROM around"
        )
        total, with_it = self._one(query, beside, path, int(edited))
        return with_it / total if total else 0.0

    def memory_of(self, key: str) -> str:
        """Id of the memory a finding became; "" for none."""
        row = self._first("SELECT memory FROM learnt WHERE key = ?", key)
        return str(row[0]) if row else ""

    def keys_of(self, memories: Iterable[str]) -> dict[str, str]:
        """The findings that memories were made of, by id of the memory."""
        found = {}
        for one in memories:
            row = self._first("SELECT key FROM learnt WHERE memory = ?", one)
            if row:
                found[one] = str(row[0])
        return found

    def put_learnt(self, session: str, memories: Mapping[str, str], at: datetime) -> None:
        """Note which memory each finding became.

        Args:
            session: it was learnt in.
            memories: their ids, by key of the finding.
            at: when.
        """
        with self._writing() as db:
            rows = [(key, memory, session, at.timestamp()) for key, memory in memories.items()]
            db.executemany("INSERT OR REPLACE INTO learnt (key, memory, session, at) VALUES (?, ?, ?, ?)", rows)

    def unsettled(self, before: datetime) -> list[str]:
        """Memories learnt before a time whose trial has not been judged, by id."""
        rows = self._all("SELECT memory FROM learnt WHERE settled = 0 AND at <= ? ORDER BY memory", before.timestamp())
        return [str(row[0]) for row in rows]

    def settle(self, memories: Iterable[str]) -> None:
        """Note that the trial of these memories is over."""
        with self._writing() as db:
            db.executemany("UPDATE learnt SET settled = 1 WHERE memory = ?", [(one,) for one in memories])

    def bar(self, keys: Iterable[str], at: datetime) -> None:
        """Note that somebody took back what was learnt of these findings: they are not learnt again by themselves."""
        with self._writing() as db:
            db.executemany("INSERT OR REPLACE INTO barred VALUES (?, ?)", [(key, at.timestamp()) for key in keys])

    def is_barred(self, key: str) -> bool:
        """Whether somebody took it back."""
        return self._first("SELECT 1 FROM barred WHERE key = ?", key) is not None

    # ---- receipts

    def put_receipt(self, session: str, part: str, digest: str, at: datetime, body: Mapping[str, Any]) -> None:
        """Keep what became of a session, or of one unit of work in it."""
        with self._writing() as db:
            raw = json.dumps(body, ensure_ascii=False, sort_keys=True)
            db.execute("INSERT OR REPLACE INTO receipt VALUES (?, ?, ?, ?, ?, 0)", (session, part, digest, at.timestamp(), raw))

    def receipts(self, session: str) -> list[tuple[str, str, dict[str, Any], bool]]:
        """(part, digest of the record, body, undone) of a session, oldest first."""
        rows = self._all("SELECT part, digest, body, undone FROM receipt WHERE session = ? ORDER BY rowid", session)
        return [(part, digest, json.loads(body), bool(undone)) for part, digest, body, undone in rows]

    def undo(self, session: str) -> None:
        """Mark a session's receipts as undone."""
        with self._writing() as db:
            db.execute("UPDATE receipt SET undone = 1 WHERE session = ?", (session,))

    def sessions_like(self, prefix: str, most: int = 20) -> list[str]:
        """Ids of known sessions that begin so, sorted."""
        safe = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = self._all(
            "SELECT id FROM session WHERE id LIKE ? ESCAPE '\\' UNION SELECT session FROM receipt WHERE session LIKE ? ESCAPE '\\' "
            "ORDER BY 1 LIMIT ?",
            safe + "%",
            safe + "%",
            most,
        )
        return [str(row[0]) for row in rows]

    def summaries(self, since: datetime | None, until: datetime, most: int, offset: int = 0) -> list[dict[str, Any]]:
        """Summaries of sessions that ended in a time, newest first."""
        rows = self._all(
            "SELECT summary FROM session WHERE at >= ? AND at <= ? ORDER BY at DESC, id LIMIT ? OFFSET ?",
            since.timestamp() if since is not None else 0.0,
            until.timestamp(),
            most,
            offset,
        )
        return [json.loads(row[0]) for row in rows]

    def summary(self, session: str) -> dict[str, Any] | None:
        """A session's summary."""
        row = self._first("SELECT summary FROM session WHERE id = ?", session)
        return json.loads(row[0]) if row else None

    # ---- once

    def claim(self, what: str, for_: str, at: datetime) -> bool:
        """True the first time something is to be done for somebody, and never again."""
        with self._writing() as db:
            return db.execute("INSERT OR IGNORE INTO done VALUES (?, ?, ?)", (what, for_, at.timestamp())).rowcount == 1

    def is_done(self, what: str, for_: str) -> bool:
        """Whether it was claimed."""
        return self._first("SELECT 1 FROM done WHERE what = ? AND for_ = ?", what, for_) is not None

    # ---- across sessions

    def session_count(self) -> int:
        """Independent sessions."""
        return int(self._one("SELECT count(DISTINCT lineage) FROM session")[0])

    def modules(self) -> dict[str, int]:
        """Independent sessions of each module, by name."""
        rows = self._all(
            "SELECT m.module, count(DISTINCT s.lineage) FROM module m JOIN session s ON s.id = m.session "
            "WHERE m.uses GROUP BY m.module ORDER BY 1"
        )
        return {str(module): int(count) for module, count in rows}

    def module(self, module: str) -> ModuleStat:
        """What the sessions of a module have cost."""
        rows = self._all(
            "SELECT max(s.tokens), max(s.steps), max(s.planned) FROM module m JOIN session s ON s.id = m.session WHERE m.module = ? "
            "GROUP BY s.lineage ORDER BY min(s.at), s.lineage",
            module,
        )
        tokens = [int(row[0]) for row in rows]
        planned = tuple((int(row[1]), int(row[2])) for row in rows if row[2])
        return ModuleStat(module, len(rows), round(sum(tokens) / len(tokens)) if tokens else 0, planned)

    def module_files(self, module: str) -> list[FileUse]:
        """Files used in the sessions of a module, in most sessions first."""
        rows = self._all(
            "SELECT f.path, count(DISTINCT s.lineage), count(DISTINCT CASE WHEN f.edits > 0 THEN s.lineage END) "
            "FROM module m JOIN session s ON s.id = m.session JOIN file f ON f.session = s.id WHERE m.module = ? "
            "GROUP BY f.path ORDER BY 2 DESC, 1",
            module,
        )
        return [FileUse(str(path), int(sessions), int(edited)) for path, sessions, edited in rows]

    def errors(self, least: int = 2, module: str | None = None) -> list[ErrorStat]:
        """Errors seen in several independent sessions, most first; sessions that read from the web have no say.

        Args:
            least: sessions.
            module: only its sessions.
        """
        rows = self._all(
            "SELECT e.fingerprint, count(DISTINCT s.lineage), count(DISTINCT CASE WHEN e.fixed THEN s.lineage END) "
            "FROM error e JOIN session s ON s.id = e.session AND NOT s.contaminated "
            "WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM module m WHERE m.session = e.session AND m.module = ?1) "
            "GROUP BY e.fingerprint HAVING count(DISTINCT s.lineage) >= ?2 ORDER BY 2 DESC, 1",
            module,
            least,
        )
        found = []
        for fingerprint, sessions, fixed in rows:
            latest = self._one(
                "SELECT e.message, e.fix FROM error e JOIN session s ON s.id = e.session AND NOT s.contaminated WHERE e.fingerprint = ? "
                "ORDER BY e.fixed DESC, s.at DESC, s.id LIMIT 1",
                fingerprint,
            )
            found.append(ErrorStat(str(fingerprint), int(sessions), int(fixed), str(latest[0]), tuple(json.loads(latest[1]))))
        return found

    def module_pairs(self, least: int) -> list[tuple[str, str, int, int]]:
        """Modules used in the same sessions: (a, b, sessions of both, sessions of a), for each direction, most first."""
        rows = self._all(
            "WITH of AS (SELECT DISTINCT m.module, s.lineage FROM module m JOIN session s ON s.id = m.session) "
            "SELECT a.module, b.module, count(*), (SELECT count(*) FROM of c WHERE c.module = a.module) FROM of a "
            "JOIN of b ON a.lineage = b.lineage AND a.module <> b.module GROUP BY a.module, b.module "
            "HAVING count(*) >= ? ORDER BY 3 DESC, 1, 2",
            least,
        )
        return [(str(a), str(b), int(both), int(of_a)) for a, b, both, of_a in rows]

    def sizes(self) -> dict[str, int]:
        """Rows of each table; what must not grow when a session is taken in again."""
        tables = ("session", "seen", "file", "error", "module", "learnt", "barred", "receipt", "done")
        return {table: int(self._one(f"SELECT count(*) FROM {table}")[0]) for table in tables}  # noqa: S608 - names of this file

    # ---- inside

    def _one(self, query: str, *values: Any) -> tuple[Any, ...]:
        row = self._first(query, *values)
        assert row is not None  # noqa: S101 - an aggregate always gives a row
        return row

    def _first(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        rows = self._all(query, *values)
        return rows[0] if rows else None

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._open().execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise self._refusal(error) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        with self._lock:
            db = self._open()
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException as error:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._refusal(error) from error
                raise

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = self._connected()
            except sqlite3.OperationalError as error:
                raise self._refusal(error) from error
            except sqlite3.DatabaseError:
                aside = next(name for n in range(1_000) if not (name := self.path.with_suffix(f".damaged-{n}")).exists())
                self.path.replace(aside)
                for suffix in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
                self.notes.append(f"what was counted across sessions could not be read and begins anew; the old file is {aside.name}")
                self._connection = self._connected()
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > FORMAT:
                raise LedgerError(
                    f"{self.path.name} is of version {version}, this program knows {FORMAT}; use the newer graphmem, or move the file away",
                    path=str(self.path),
                )
            if version < FORMAT:
                db.executescript(_SCHEMA)
                db.execute(f"PRAGMA user_version = {FORMAT}")
        except BaseException:
            db.close()
            raise
        return db

    def _refusal(self, error: sqlite3.Error) -> LedgerError:
        return LedgerError(f"{self.path.name} cannot be read or written: {error}; nothing was counted, try again", path=str(self.path))


def main_module(record: SessionRecord) -> str:
    """The module of most edited files, as findings name it; "" when nothing was edited."""
    counts = Counter(module_of(one.path) for one in record.files if one.edits)
    return min(counts, key=lambda name: (-counts[name], name), default="")


def modules_of(record: SessionRecord) -> dict[str, int]:
    """The modules a session is of: those with two fifths of its edits, or of its uses when it edited nothing; folders of tests are none."""
    counts: Counter[str] = Counter()
    for one in record.files:
        counts[module_of(one.path)] += one.edits
    if not +counts:
        counts = Counter(record.modules)
    plain = Counter({name: count for name, count in counts.items() if count > 0 and name.partition("/")[0] not in _TESTS})
    total = sum(plain.values())
    return {name: count for name, count in plain.items() if count >= MAIN * total}


def digest_of(record: SessionRecord) -> str:
    """What a session and its copies have in common: all but its ids."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items() if key not in _OWN}
        return [plain(inner) for inner in value] if isinstance(value, list) else value

    raw = json.dumps(plain(as_json(record)), sort_keys=True, ensure_ascii=False, default=str)
    return blake2b(raw.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _latest(record: SessionRecord) -> datetime:
    """When a session that does not say was last seen."""
    from datetime import UTC

    times = [one.last_at for one in record.files if one.last_at is not None]
    return max(times, default=datetime(1970, 1, 1, tzinfo=UTC))
