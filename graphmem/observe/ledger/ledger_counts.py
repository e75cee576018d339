"""Counts of modules, files, errors and pairs across agents' sessions.

A fork (a session that began as a copy of another) and its parent count as one independent session.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from graphmem.observe.ledger.ledger_file import LedgerFile


class ErrorStat(NamedTuple):
    """The number of sessions with one error, and its last fix."""

    fingerprint: str
    sessions: int
    fixed: int  # sessions in which it was fixed
    message: str  # the latest one
    fix_files: tuple[str, ...]  # files of the latest fix


class FileUse(NamedTuple):
    """A file with the numbers of sessions that used and that edited it.

    Only sessions of one module are counted.
    """

    path: str
    sessions: int  # sessions that read or edited it
    edited: int  # sessions that edited it


class ModuleStat(NamedTuple):
    """Counts for one module: sessions, average tokens, planned and real steps."""

    module: str
    sessions: int
    tokens: int  # average of its sessions
    steps: tuple[tuple[int, int], ...]  # (actual, planned) of the sessions that had a plan, oldest first


class LedgerCounts(LedgerFile):
    """Base class of `Ledger`: counts over the stored sessions of agents."""

    def session_count(self) -> int:
        """Number of independent sessions.

        A session that began as a copy of another one (fork) counts together with it as one.
        """
        return int(self._one("SELECT count(DISTINCT lineage) FROM session")[0])

    def modules(self) -> dict[str, int]:
        """Return the number of independent sessions of each module, by name.

        A session counts for the modules (folders) in which it mainly worked. A session that began as a copy of another one (fork) counts
        together with it as one.
        """
        rows = self._all(
            "SELECT m.module, count(DISTINCT s.lineage) FROM module m JOIN session s ON s.id = m.session "
            "WHERE m.uses GROUP BY m.module ORDER BY 1"
        )
        return {str(module): int(count) for module, count in rows}

    def module(self, module: str) -> ModuleStat:
        """Count the sessions that worked in one module, with tokens and steps.

        The result also has the average number of tokens of a session. For each session with a plan, the result has (actual steps, planned
        steps).
        """
        rows = self._all(
            "SELECT max(s.tokens), max(s.steps), max(s.planned) FROM module m JOIN session s ON s.id = m.session WHERE m.module = ? "
            "GROUP BY s.lineage ORDER BY min(s.at), s.lineage",
            module,
        )
        tokens = [int(row[0]) for row in rows]
        planned = tuple((int(row[1]), int(row[2])) for row in rows if row[2])
        return ModuleStat(module, len(rows), round(sum(tokens) / len(tokens)) if tokens else 0, planned)

    def module_files(self, module: str) -> list[FileUse]:
        """Return the files that sessions of a module used, most frequent first."""
        rows = self._all(
            "SELECT f.path, count(DISTINCT s.lineage), count(DISTINCT CASE WHEN f.edits > 0 THEN s.lineage END) "
            "FROM module m JOIN session s ON s.id = m.session JOIN file f ON f.session = s.id WHERE m.module = ? "
            "GROUP BY f.path ORDER BY 2 DESC, 1",
            module,
        )
        return [FileUse(str(path), int(sessions), int(edited)) for path, sessions, edited in rows]

    def errors(self, least: int = 2, module: str | None = None) -> list[ErrorStat]:
        """Return errors that occurred in several independent sessions.

        The most frequent errors come first. Sessions that read external text do not count. A session that began as a copy of another one
        (fork) counts together with it as one.

        Args:
            least: minimum number of sessions with the error.
            module: count only sessions of this module; None for all sessions.
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

    def measures(self) -> dict[str, dict[str, Any]]:
        """Return the measured counts of each session, by session id.

        The oldest session comes first. Each session gets two more fields. `again` is the number of the session's abandoned approaches (dead
        ends) that an earlier session had abandoned too. `at` is the end of the session, in seconds since 1970.
        """
        rows = self._all("SELECT s.id, s.lineage, s.at, m.body FROM measure m JOIN session s ON s.id = m.session ORDER BY s.at, s.id")
        first: dict[str, str] = {}  # dead end -> the session that met it first
        found = {}
        for session, lineage, at, raw in rows:
            body = json.loads(raw)
            again = sum(first.setdefault(end, lineage) != lineage for end in body["dead_ends"])
            found[str(session)] = {**body, "again": again, "at": at}
        return found

    def module_pairs(self, least: int) -> list[tuple[str, str, int, int]]:
        """Return pairs of modules that the same sessions used.

        The pairs that most sessions used come first. Pairs that fewer than `least` sessions used are left out.

        Returns:
            (a, b, sessions that used both, sessions that used a). Each pair also occurs as (b, a).
        """
        rows = self._all(
            "WITH of AS (SELECT DISTINCT m.module, s.lineage FROM module m JOIN session s ON s.id = m.session) "
            "SELECT a.module, b.module, count(*), (SELECT count(*) FROM of c WHERE c.module = a.module) FROM of a "
            "JOIN of b ON a.lineage = b.lineage AND a.module <> b.module GROUP BY a.module, b.module "
            "HAVING count(*) >= ? ORDER BY 3 DESC, 1, 2",
            least,
        )
        return [(str(a), str(b), int(both), int(of_a)) for a, b, both, of_a in rows]
