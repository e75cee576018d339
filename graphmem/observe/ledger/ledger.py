"""The ledger: statistics across sessions of agents, in one SQLite file.

The ledger counts findings, files, errors and modules, and keeps receipts. A finding is a pattern found in a session, such as a fixed error.
A receipt is the record of what was learnt from a session, with the outcome of each finding.

Every row names its session, so a session that is added ten times counts once. A fork (a session that began as a copy of its parent) and the
parent count as one.

The file is next to the database. If the file is lost, only counts and receipts are lost, because memories are in the journal.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from graphmem.observe.ledger.ledger_counts import LedgerCounts
from graphmem.observe.ledger.measures import measured
from graphmem.observe.ledger.record_facts import digest_of, latest, main_module, modules_of
from graphmem.observe.model import Finding, SessionRecord

LEDGER: Final = "ledger.sqlite"
KEPT_SESSIONS: Final = 5_000  # older sessions are removed with their rows; receipts stay
MAX_FILES: Final = 1_000  # of one session, the most used
MAX_FINDINGS: Final = 1_000
MAX_ERRORS: Final = 200


class Seen(NamedTuple):
    """Numbers of sessions and of agents that made the same finding.

    A finding is a pattern found in a session, such as a fixed error.
    """

    sessions: int  # independent sessions
    agents: int  # distinct agents, of those with a name


class Ledger(LedgerCounts):
    """Statistics across the sessions of one project. Thread-safe.

    Args:
        path: the SQLite file; made by the first write. A damaged file is quarantined and reported in `notes`.

    Raises:
        LedgerError: raised by every method: the file cannot be read or written, or a later version wrote it.
    """

    # ---- taking in

    def take(self, record: SessionRecord, summary: Mapping[str, object], findings: Sequence[Finding] | None = None) -> None:
        """Store the findings and the counts of a session.

        What was stored for the same session before is replaced.

        Args:
            record: the session's record, which contains findings and counts.
            summary: the session's summary as JSON; see `observe.learning.summary`.
            findings: the findings to store; by default all findings of the record.
        """
        info, digest = record.info, digest_of(record)
        at = (info.ended_at or info.started_at or latest(record)).timestamp()
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
            db.execute("INSERT INTO measure VALUES (?, ?)", (info.id, json.dumps(measured(record))))
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
        """Return the id of another session with the same `digest`; "" if none.

        `digest` is a hash of the record of the session `session`, without ids. So a copy of this session under another id is found.
        """
        row = self._first("SELECT id FROM session WHERE digest = ? AND id <> ? ORDER BY at, id LIMIT 1", digest, session)
        return str(row[0]) if row else ""

    def _lineage(self, db: sqlite3.Connection, session: str, parent: str) -> str:
        """Return the session id under which a session is counted.

        A fork is a session that began as a copy of `parent`. A fork is counted under the first session in the chain of parents. A session
        without a parent is counted under its own id.
        """
        if not parent:
            return session
        known = db.execute("SELECT lineage FROM session WHERE id = ?", (parent,)).fetchone()
        return str(known[0]) if known is not None else parent

    def _forget(self, db: sqlite3.Connection, session: str) -> None:
        db.execute("DELETE FROM session WHERE id = ?", (session,))
        for table in ("seen", "file", "error", "module", "measure"):
            db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))  # noqa: S608 - names of this file

    # ---- findings

    def counts_of(self, keys: Iterable[str]) -> dict[str, Seen]:
        """Return the numbers of sessions and agents with each finding, by key.

        A key identifies a finding and is the same in all sessions.
        """
        found = {}
        for key in keys:
            row = self._one("SELECT count(DISTINCT lineage), count(DISTINCT nullif(agent, '')) FROM seen WHERE key = ?", key)
            found[key] = Seen(*row)
        return found

    def seen_in(self, key: str, module: str) -> int:
        """Return how many independent sessions of a module made one finding.

        `key` identifies the finding. A session belongs to the module (folder) in which it edited most files. A session that began as a copy
        (fork) and its parent count as one.
        """
        joined = "FROM seen s JOIN module m ON m.session = s.session"
        return int(self._one(f"SELECT count(DISTINCT s.lineage) {joined} WHERE s.key = ? AND m.module = ? AND m.main", key, module)[0])

    def sessions_of(self, module: str) -> int:
        """Count the independent sessions that edited most files in one module.

        A session that began as a copy of another one (fork) counts together with it as one. A module is a folder.
        """
        query = "SELECT count(DISTINCT s.lineage) FROM module m JOIN session s ON s.id = m.session WHERE m.module = ? AND m.main"
        return int(self._one(query, module)[0])

    def file_sessions(self, path: str, *, edited: bool) -> int:
        """Count the independent sessions that used a file.

        A session and the sessions that began as copies of it (forks) count as one. If `edited` is true, only sessions that edited the file
        count.
        """
        query = "SELECT count(DISTINCT s.lineage) FROM file f JOIN session s ON s.id = f.session WHERE f.path = ? AND f.edits >= ?"
        return int(self._one(query, path, int(edited))[0])

    def pair_sessions(self, a: str, b: str, *, edited: bool) -> int:
        """Count the independent sessions that used both `a` and `b`.

        `a` and `b` are paths of files. A session that began as a copy of another one (fork) counts together with it as one. With `edited`,
        only sessions that edited both files count.
        """
        query = (
            "SELECT count(DISTINCT s.lineage) FROM file f JOIN file g ON g.session = f.session JOIN session s ON s.id = f.session "
            "WHERE f.path = ? AND g.path = ? AND f.edits >= ? AND g.edits >= ?"
        )
        return int(self._one(query, a, b, int(edited), int(edited))[0])

    def file_share_where(self, path: str, *, beside: str, edited: bool) -> float:
        """Return the share of the sessions near `beside` that used `path`.

        A session is near `beside` if it worked in the same module (folder) as a session that used `beside`. With `edited`, only sessions
        that edited `path` count as using it. The result is 0 if no session is near.
        """
        query = (
            "WITH around AS (SELECT DISTINCT m.session FROM module m WHERE m.module IN "
            "(SELECT n.module FROM module n JOIN file f ON f.session = n.session WHERE f.path = ?)) "
            "SELECT count(*), (SELECT count(*) FROM around JOIN file g ON g.session = around.session WHERE g.path = ? AND g.edits >= ?) "
            "FROM around"
        )
        total, with_it = self._one(query, beside, path, int(edited))
        return with_it / total if total else 0.0

    def memory_of(self, key: str) -> str:
        """Return the id of the memory learnt from a finding; "" if there is none.

        `key` identifies the finding and is the same in all sessions.
        """
        row = self._first("SELECT memory FROM learnt WHERE key = ?", key)
        return str(row[0]) if row else ""

    def keys_of(self, memories: Iterable[str]) -> dict[str, str]:
        """Return the key of the pattern from which each memory was learnt.

        `memories` are ids of memories; the result maps each id to a key. A pattern, such as an error that was fixed, has the same key in
        all sessions. Memories that were not learnt from sessions are left out.
        """
        found = {}
        for one in memories:
            row = self._first("SELECT key FROM learnt WHERE memory = ?", one)
            if row:
                found[one] = str(row[0])
        return found

    def put_learnt(self, session: str, memories: Mapping[str, str], at: datetime) -> None:
        """Record which memories were learnt from the findings of a session.

        Args:
            session: the session in which the findings were made.
            memories: ids of the memories, by key of the finding.
            at: time of learning.
        """
        with self._writing() as db:
            rows = [(key, memory, session, at.timestamp()) for key, memory in memories.items()]
            db.executemany("INSERT OR REPLACE INTO learnt (key, memory, session, at) VALUES (?, ?, ?, ?)", rows)

    def unsettled(self, before: datetime) -> list[str]:
        """Return ids of memories still on trial that were learnt before a time.

        When the trial of a memory ends, the memory is confirmed if it was used; see `observe.learning.trial`.
        """
        rows = self._all("SELECT memory FROM learnt WHERE settled = 0 AND at <= ? ORDER BY memory", before.timestamp())
        return [str(row[0]) for row in rows]

    def settle(self, memories: Iterable[str]) -> None:
        """Record that the trial period of some memories is over.

        `memories` are ids of the memories. A trial is the first day after a memory was learnt; see `observe.learning.trial`.
        """
        with self._writing() as db:
            db.executemany("UPDATE learnt SET settled = 1 WHERE memory = ?", [(one,) for one in memories])

    def bar(self, keys: Iterable[str], at: datetime) -> None:
        """Record findings that a person rejected, so they are not learnt again.

        `keys` identify the findings and are the same in all sessions.
        """
        with self._writing() as db:
            db.executemany("INSERT OR REPLACE INTO barred VALUES (?, ?)", [(key, at.timestamp()) for key in keys])

    def is_barred(self, key: str) -> bool:
        """Return whether a person rejected the finding with the key `key`.

        A key identifies a finding and is the same in all sessions. A rejected finding is not learnt again.
        """
        return self._first("SELECT 1 FROM barred WHERE key = ?", key) is not None

    # ---- receipts

    def put_receipt(self, session: str, part: str, digest: str, at: datetime, body: Mapping[str, object]) -> None:
        """Store a receipt: which findings of a session became memories, and why.

        Args:
            session: id of the session.
            part: label of the task that the receipt is about; "" for the whole session.
            digest: hash of the session's record, to recognise a repeated call.
            at: time of learning.
            body: the receipt as JSON, with the outcome of each finding, such as "learnt".
        """
        with self._writing() as db:
            raw = json.dumps(body, ensure_ascii=False, sort_keys=True)
            db.execute("INSERT OR REPLACE INTO receipt VALUES (?, ?, ?, ?, ?, 0)", (session, part, digest, at.timestamp(), raw))

    def receipts(self, session: str) -> list[tuple[str, str, dict[str, Any], bool]]:
        """Return a session's receipts, oldest first.

        A receipt is the record of what was learnt from a session, with the outcome of each finding.

        Returns:
            (part, digest, body, undone) for each receipt. `part` is the label of a task, or "" for the whole session. `digest` is a hash of
                the session's record. `body` is the receipt as JSON. `undone` tells whether the memories that were learnt were retracted.
        """
        rows = self._all("SELECT part, digest, body, undone FROM receipt WHERE session = ? ORDER BY rowid", session)
        return [(part, digest, json.loads(body), bool(undone)) for part, digest, body, undone in rows]

    def undo(self, session: str) -> None:
        """Record that the memories learnt from a session were retracted.

        All receipts of the session (records of what was learnt) are marked as undone.
        """
        with self._writing() as db:
            db.execute("UPDATE receipt SET undone = 1 WHERE session = ?", (session,))

    def sessions_like(self, prefix: str, most: int = 20) -> list[str]:
        """Return up to `most` stored session ids that begin with `prefix`, sorted."""
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
        """Return summaries of sessions that ended in a period, newest first.

        Args:
            since: beginning of the period; None for no limit.
            until: end of the period.
            most: maximum number of summaries.
            offset: number of the newest summaries to skip.
        """
        rows = self._all(
            "SELECT summary FROM session WHERE at >= ? AND at <= ? ORDER BY at DESC, id LIMIT ? OFFSET ?",
            since.timestamp() if since is not None else 0.0,
            until.timestamp(),
            most,
            offset,
        )
        return [json.loads(row[0]) for row in rows]

    def summary(self, session: str) -> dict[str, Any] | None:
        """Return a session's stored summary as JSON data; None if unknown."""
        row = self._first("SELECT summary FROM session WHERE id = ?", session)
        return json.loads(row[0]) if row else None

    # ---- once

    def claim(self, what: str, for_: str, at: datetime) -> bool:
        """Record an action as done; return False if it was recorded before.

        For example, the action `what` is "synthesis-10", and `for_` is the module for which it was done.
        """
        with self._writing() as db:
            return db.execute("INSERT OR IGNORE INTO done VALUES (?, ?, ?)", (what, for_, at.timestamp())).rowcount == 1

    def is_done(self, what: str, for_: str) -> bool:
        """Return whether an action was recorded as done.

        `what` and `for_` are the action and its subject, as they were given to `claim`.
        """
        return self._first("SELECT 1 FROM done WHERE what = ? AND for_ = ?", what, for_) is not None
