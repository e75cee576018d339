"""The verbs of history: what moved together, and what moves with a file."""

from __future__ import annotations

import dataclasses
import logging
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers import CoAccessAnswer, CoAccessHit, FileHistory, Recorded
from graphmem.answers.history import Reviewers
from graphmem.errors import BadInputError, GitError, HistoryError
from graphmem.history import coaccess, git_history, git_lessons, git_log, git_mark
from graphmem.history.change_log import AGENT, Change, HistoryLog
from graphmem.history.co_edits import MAX_FILES, History
from graphmem.history.coaccess_edges import joined
from graphmem.history.coaccess_often import often_with
from graphmem.history.coaccess_pairs import pairs
from graphmem.history.reviewers import reviewers
from graphmem.injection.planner import Moving
from graphmem.injection.planning import Wanted
from graphmem.memory import validate
from graphmem.runtime.limits import kept_if_possible
from graphmem.runtime.naming import in_project
from graphmem.store.base import CoAccessRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphmem.answers import ImpactReport
    from graphmem.injection.injector import Injector
    from graphmem.memory.repository import MemoryRepository
    from graphmem.model import IndexProgress
    from graphmem.projection.graph import GraphView
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

logger = logging.getLogger(__name__)

LOG: Final = "history.sqlite"
OFF: Final = "the setting git_history is off: there is no history but that of sessions"
MAX_SESSION_FILES: Final = 1_000
MAX_KEY: Final = 200
ALSO_MOVES: Final = 5  # files an impact answer names
ALSO_MOVES_SUPPORT: Final = 3  # fewer are chance
ALSO_MOVES_SHARE: Final = 0.1  # of the changes of the targets' files
MOST_JUDGED: Final = 50
EDGES_EVERY: Final = 200  # changes, after which the edges of the graph are made anew: they are for queries, answers come from the log
CHURN_HALF_LIFE_S: Final = 365 * coaccess.DAY_S


class HistoryVerbs:
    """Part of `GraphMem`."""

    _data_dir: Path
    _store: GraphStore
    _history_log: HistoryLog | None = None
    _history: History | None = None
    _history_turn = threading.Lock()
    _history_notes: Sequence[str] | None = None  # of this process's own reading; None: it has not read
    _history_mark: tuple[git_mark.Mark, Path, str] | None = None  # where git and the log stood when commits were last read
    _book: MemoryRepository
    _injector: Injector
    _projections: Projections
    _settings: Settings

    def record_co_access(
        self,
        files: Sequence[str],
        at: datetime | str | None = None,
        *,
        session: str = "",
        offsets: Sequence[float] = (),
    ) -> Recorded:
        """Keep that these files were touched together. On return it is kept, whatever becomes of this process.

        Args:
            files: from the project's root, at most 1,000; in the order of the first touch when `offsets` is given. A session of
                more than 30 files counts for what is said of each file, not for which of them belong together.
            at: aware time or ISO 8601; default now.
            session: its name; recorded again, it takes the place of what was recorded before. Default: one of its own.
            offsets: seconds from the beginning of the session to the first touch of each file.

        Raises:
            BadInputError: a path leads out of the project, or the lists do not fit each other.
            HistoryError: the log cannot be written; nothing is kept.
        """
        paths = self._history_paths("files", files, MAX_SESSION_FILES)
        if offsets and len(offsets) != len(paths):
            raise BadInputError(
                f"offsets has {len(offsets)} entries for {len(paths)} files; give one for each file, each file once",
                argument="offsets",
                value=len(offsets),
            )
        key = validate.text("session", session, MAX_KEY, lines=False) if session else ""
        self._log().append(
            [Change(AGENT, _seconds(at), paths, key, offsets=tuple(float(one) for one in offsets), counted=len(paths) <= MAX_FILES)]
        )
        return Recorded(len(paths))

    def record_rename(self, old: str, new: str, at: datetime | str | None = None) -> Recorded:
        """Keep that a file goes on under another name: what it did before counts for the new one.

        Raises:
            BadInputError, HistoryError: as for `record_co_access`.
        """
        pair = (self._history_paths("old", [old], 1)[0], self._history_paths("new", [new], 1)[0])
        self._log().append([Change(AGENT, _seconds(at), (), renamed=(pair,))])
        return Recorded(1)

    def co_access(self, files: Sequence[str], limit: int = 10, *, depth: int = 1, min_sessions: int = 0) -> CoAccessAnswer:
        """Files that move with these, best first; the answer iterates over its hits.

        Args:
            files: from the project's root.
            limit: hits wanted, 1 to 200.
            depth: 2 also follows what moves with those, by the product of the shares.
            min_sessions: leave out what moved with them in fewer sessions and commits; 0 also gives files that history has not
                seen with them and that their names speak for.

        Raises:
            BadInputError: no file, or an argument out of its range.
            HistoryError: the log is damaged.
        """
        _check("limit", limit, 1, 200)
        _check("depth", depth, 1, 2)
        _check("min_sessions", min_sessions, 0, 1_000_000)
        paths = self._history_paths("files", files, 100)
        history = self._known_history()
        view = self._projections.graph_if_ready()
        edges = joined(view, paths) if view is not None else {}
        with history.lock:
            ranked = coaccess.rank(history, paths, edges=edges, depth=depth, min_support=min_sessions)[:limit]
            seen = coaccess.evidence(history, paths, [one.node for one in ranked])
            hits = [_hit(history, one, its, edges) for one, its in zip(ranked, seen, strict=True)]
            commits = sum(history.from_git)
            missing = [path for path in paths if history.known(path) is None]
        unknown = [path for path in missing if view is None or path not in view.path_number]
        notes = [
            *(f"history does not know {path}" + (", nor does the index: is it spelt so?" if path in unknown else "") for path in missing),
            *self._what_history_lacks(),
        ]
        return CoAccessAnswer(list(paths), unknown, hits, commits, len(history) - commits, notes)

    def _with_also_moves(self, view: GraphView, report: ImpactReport, files: Sequence[str]) -> ImpactReport:
        """The report with the files that no edge leads to and that moved with its targets' files, at most `ALSO_MOVES`.

        A log of history that cannot be read keeps no impact from being told; `co_access` and `doctor` say what is wrong with it.
        """
        if report.direction != "dependents" or not files or not self._log().exists:
            return report
        try:
            history = self._known_history()
        except HistoryError as error:
            logger.warning("impact without history: %s", error.message)
            return report
        told = {hit.symbol.path for hit in (*report.hits, *report.tests)}
        edges = joined(view, files)
        with history.lock:
            ranked = [
                one
                for one in coaccess.rank(history, files, min_support=ALSO_MOVES_SUPPORT)
                if (path := history.nodes[one.node].path) not in edges and path not in told
            ]
            seen = coaccess.evidence(history, files, [one.node for one in ranked[:MOST_JUDGED]])
            hits = [_hit(history, one, its, edges) for one, its in zip(ranked, seen, strict=False) if its.confidence >= ALSO_MOVES_SHARE]
        return dataclasses.replace(report, also_moves=hits[:ALSO_MOVES])

    def _moving(self, places: Sequence[str], wait: bool) -> Moving:
        """Files that most changes of some files or folders touched, for `Planner`; a history that is not in memory is read behind."""
        log = self._log()
        if not log.exists:
            return Moving([], "")
        if not wait and self._history is None:
            self._injector.soon(self._known_history)
            return Moving([], "the history is being read; ask again for what moves with it")
        try:
            history = self._known_history()
        except HistoryError as error:
            return Moving([], f"without the history: {error.message}")
        with history.lock:
            often = often_with(history, places)
        return Moving([Wanted(one.path, one.share, f"in {one.touched} of {one.changes} changes") for one in often], "")

    def reviewers(self, file: str, limit: int = 10) -> Reviewers:
        """People who know a file; see `history.reviewers`."""
        (path,) = self._history_paths("file", [file], 1)
        return reviewers(Path(self._store.meta().get("root", "")), path, limit, datetime.now(UTC))

    def file_history(self, paths: Sequence[str] | None = None) -> list[FileHistory]:
        """What history knows of each file, by path: how often, how lately and by how many it was changed.

        Args:
            paths: only these, also as file URIs and absolute paths; those that history does not know are left out.
        """
        history = self._known_history()
        root = self._store.meta().get("root", "")
        wanted = None if paths is None else {in_project(one, root) for one in paths}
        with history.lock:
            return [
                FileHistory(one.path, one.changes, one.commits, one.recent, _iso(one.first_at), _iso(one.last_at), one.authors)
                for one in history.files(CHURN_HALF_LIFE_S)
                if wanted is None or one.path in wanted
            ]

    def _read_history(
        self, root: Path, tell: Callable[[IndexProgress], None], cancelled: Callable[[], bool], settings: Settings
    ) -> git_history.Reading | None:
        """Take in the commits that are new; None when there are none.

        What keeps it from that is a note of the answers, no reason not to index.

        Raises:
            IndexCancelledError: `cancelled` said yes.
        """
        if not settings.git_history:
            self._history_notes = [OFF]
            return None
        most = git_lessons.MOST_ASKED if settings.git_lessons else 0
        mark = git_mark.mark(root)
        try:
            if mark is not None and self._history_mark == (mark, root, self._log().meta().get("git_head", "")):
                return None
            reading = git_history.read(
                root, self._log(), is_lesson=git_lessons.may_teach, most_lessons=most, on_progress=tell, cancelled=cancelled
            )
        except (GitError, HistoryError) as error:
            self._history_notes = [f"the history was not read: {error.message}"]
            return None
        self._history_notes = reading.notes
        self._history_mark = None if mark is None else (mark, root, self._log().meta().get("git_head", ""))
        return reading

    def _learn_from_commits(self, root: Path, reading: git_history.Reading | None) -> None:
        """Keep what new commits teach, as candidates. Comes after the index run, so that the files they name are there to be linked."""
        if reading is None or not reading.lessons:
            return
        history = self._known_history()
        try:
            messages, unread = git_log.bodies(root, [one.sha for one in reading.lessons])
        except GitError as error:
            self._history_notes = [*self._what_history_lacks(), f"the messages of commits were not read: {error.message}"]
            return
        faults = [f"the message of commit {sha[:12]} was not read: git refuses it; `git fsck` says what is wrong" for sha in unread]
        with history.lock:
            living = {path for path, node in history.by_path.items() if history.nodes[node].alive}
        items = git_lessons.lessons(reading.lessons, messages, living, faults)
        if faults:
            self._history_notes = [*self._what_history_lacks(), *faults]
        if items:
            self._book.remember_many(items, source="commit_auto", embedding_model=None, skip_invalid=True, actor="git")

    def _derive_co_accessed(self) -> None:
        """Bring the CO_ACCESSED edges of the graph up to the history, when it has grown by `EDGES_EVERY` changes or lost some.

        A log that cannot be read is a note and leaves them as they are.
        """
        log = self._log()
        if not log.exists:
            return
        try:
            epoch, seq = log.mark()
            mark = f"{epoch}:{seq // EDGES_EVERY}"
            if self._store.meta().get("co_accessed") == mark:
                return
            history = self._known_history()
        except HistoryError as error:
            self._history_notes = [f"the history was not read: {error.message}"]
            return
        view = self._projections.graph()
        ids = {path: view.ids[node] for path in view.paths if (node := view.file_node(path)) is not None}
        with history.lock:
            found = pairs(history, ids)
        rows = [
            CoAccessRow(ids[one.path], ids[one.other], one.support, one.confidence, datetime.fromtimestamp(one.last_at, UTC))
            for one in found
        ]
        with kept_if_possible("edges between files that change together"):
            self._store.put_co_accessed(mark, rows)

    def _forget_sessions(self) -> None:
        """Take what agents did out of the history, for good; commits stay."""
        if self._log().exists:
            self._log().erase(AGENT)

    def _history_report(self) -> dict[str, Any]:
        """For `doctor`: what the history is made of."""
        log = self._log()
        return {"changes": log.counts(), "head": log.meta().get("git_head", ""), "notes": self._what_history_lacks()}

    def _what_history_lacks(self) -> list[str]:
        if self._history_notes is not None:
            return list(self._history_notes)
        return git_history.notes_of(self._log()) if self._settings.git_history else [OFF]

    def _log(self) -> HistoryLog:
        with self._history_turn:
            if self._history_log is None:
                self._history_log = HistoryLog(self._data_dir / LOG)
            return self._history_log

    def _known_history(self) -> History:
        log = self._log()
        with self._history_turn:
            if self._history is None:
                self._history = History()
        return self._history.follow(log)

    def _history_paths(self, argument: str, files: Sequence[str], most: int) -> tuple[str, ...]:
        if isinstance(files, (str, bytes)) or not files:
            raise BadInputError(f"{argument} is {files!r}; give a list of at least one path", argument=argument, value=str(files))
        if len(files) > most:
            raise BadInputError(
                f"{argument} has {len(files):,} paths, allowed are {most:,}; give fewer", argument=argument, value=len(files)
            )
        root: Any = self._store.meta().get("root", "")
        return tuple(dict.fromkeys(validate.path(argument, one, root) for one in files))

    def _close_history(self) -> None:
        if self._history_log is not None:
            self._history_log.close()


def _hit(history: History, one: coaccess.Ranked, its: coaccess.Evidence, edges: Mapping[str, Sequence[str]]) -> CoAccessHit:
    return CoAccessHit(
        path=history.nodes[one.node].path,
        score=one.score,
        support=its.support,
        sessions=its.support - its.commits,
        commits=its.commits,
        confidence=its.confidence,
        lift=its.lift,
        direction=its.direction,
        delay_s=its.delay_s,
        last_seen=_iso(its.last_at) if its.support else "",
        explained=list(edges.get(history.nodes[one.node].path, ())),
        depth=one.depth,
        via=history.nodes[one.via].path if one.via >= 0 else "",
        parts=one.parts,
    )


def _check(name: str, value: Any, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadInputError(f"{name} is {value!r}, allowed is {low:,} to {high:,}", argument=name, value=value)


def _seconds(at: datetime | str | None) -> float:
    return (datetime.now(UTC) if at is None else validate.moment("at", at)).timestamp()


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
