"""Operations on the change history: files that change together.

The operations also list the changes of a file, and record sessions and renames.
"""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.answers import CoAccessAnswer, CoAccessHit, FileHistory, Recorded
from graphmem.answers.history import Reviewers
from graphmem.errors import BadInputError, HistoryError
from graphmem.history import coaccess
from graphmem.history.change_log import AGENT, Change
from graphmem.history.co_edits import MAX_FILES, History
from graphmem.history.coaccess_edges import joined
from graphmem.history.coaccess_often import often_with
from graphmem.history.reviewers import reviewers
from graphmem.injection.planner import Moving
from graphmem.injection.planning import Wanted
from graphmem.memory.repository import fields
from graphmem.project.history.history_source import CHURN_HALF_LIFE_S, iso
from graphmem.runtime.texts.naming import in_project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphmem.answers import ImpactReport
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.history.history_source import HistorySource
    from graphmem.project.memories.known import KnownCode
    from graphmem.projection.graph.view import GraphView
    from graphmem.projection.projections import Projections

logger = logging.getLogger(__name__)

MAX_SESSION_FILES: Final = 1_000
MAX_KEY: Final = 200
ALSO_MOVES: Final = 5  # files that an impact answer names
ALSO_MOVES_SUPPORT: Final = 3  # with fewer common changes it may be chance
ALSO_MOVES_SHARE: Final = 0.1  # minimum share of the changes of the targets' files
MOST_JUDGED: Final = 50


@dataclass(eq=False, repr=False)
class CoAccess:
    """Answers which files change together in commits and agents' sessions."""

    graph: GraphSource
    projections: Projections
    history: HistorySource
    known: KnownCode  # memories about files

    def record_co_access(
        self,
        files: Sequence[str],
        at: datetime | str | None = None,
        *,
        session: str = "",
        offsets: Sequence[float] = (),
    ) -> Recorded:
        """Record that files were touched together. Durable on return.

        If a session has more than 30 files, it is recorded as a change of each file, but not as a sign that the files belong together.

        Args:
            files: at most 1,000 paths from the project's root; in the order of the first touch if `offsets` is given.
            at: an aware time, or ISO 8601; None for now.
            session: name of the session. If the name was recorded before, the new record replaces the old one. "" generates a new name.
            offsets: seconds from the beginning of the session to the first touch of each file.

        Raises:
            BadInputError: a path is outside the project, or `offsets` does not fit `files`.
            HistoryError: the log cannot be written; nothing is kept.
        """
        paths = self._paths("files", files, MAX_SESSION_FILES)
        if offsets and len(offsets) != len(paths):
            raise BadInputError(
                f"offsets has {len(offsets)} entries for {len(paths)} files; give one number of seconds for each file",
                argument="offsets",
                value=len(offsets),
            )
        key = fields.text("session", session, MAX_KEY, lines=False) if session else ""
        self.history.log().append(
            [Change(AGENT, _seconds(at), paths, key, offsets=tuple(float(one) for one in offsets), counted=len(paths) <= MAX_FILES)]
        )
        return Recorded(len(paths))

    def record_rename(self, old: str, new: str, at: datetime | str | None = None) -> Recorded:
        """Record a rename of a file, so that its past counts for the new name.

        Raises:
            BadInputError, HistoryError: as for `record_co_access`.
        """
        pair = (self._paths("old", [old], 1)[0], self._paths("new", [new], 1)[0])
        self.history.log().append([Change(AGENT, _seconds(at), (), renamed=(pair,))])
        return Recorded(1)

    def co_access(self, files: Sequence[str], limit: int = 10, *, depth: int = 1, min_sessions: int = 0) -> CoAccessAnswer:
        """Return files that change together with given files, best first.

        For `depth` and `min_sessions`, see `HistoryOperations.co_access`. Iterating over the answer yields its hits. If neither the history
        nor the index knows a given file, only files with similar names are returned, because nothing else is known.

        Raises:
            BadInputError: no file is given, or an argument is out of range.
            HistoryError: the log is damaged.
        """
        _check("limit", limit, 1, 200)
        _check("depth", depth, 1, 2)
        _check("min_sessions", min_sessions, 0, 1_000_000)
        return self.together(self._paths("files", files, 100), limit, depth, min_sessions)

    def together(self, paths: Sequence[str], limit: int, depth: int = 1, min_sessions: int = 0) -> CoAccessAnswer:
        """Return files that change together with given files, as `co_access` does.

        For `depth` and `min_sessions`, see `HistoryOperations.co_access`. The paths are those of git or of the index. So a path may contain
        what a person's input may not, such as control characters, a tilde at its beginning, or bytes that are not UTF-8.

        Raises:
            HistoryError: the log is damaged.
        """
        history = self.history.known()
        view = self.projections.graph_if_ready()
        edges = joined(view, paths) if view is not None else {}
        with history.lock:
            missing = [path for path in paths if history.known(path) is None]
            unknown = [path for path in missing if view is None or path not in view.path_number]
            ranked = coaccess.rank(history, paths, edges=edges, depth=depth, min_support=min_sessions)
            if len(unknown) == len(paths):
                ranked = [one for one in ranked if one.parts["names"]]
            seen = coaccess.evidence(history, paths, [one.node for one in ranked[:limit]])
            hits = [_hit(history, one, its, edges) for one, its in zip(ranked[:limit], seen, strict=True)]
            commits = sum(history.from_git)
        notes = [
            *(
                f"the history does not know {path}" + (", and the index does not either; check its spelling" if path in unknown else "")
                for path in missing
            ),
            *self.history.gaps(),
        ]
        known = self.known.of_files(view, paths, hits)
        return CoAccessAnswer(list(paths), unknown, hits, commits, len(history) - commits, notes, known)

    def with_also_moves(self, view: GraphView, report: ImpactReport, files: Sequence[str]) -> ImpactReport:
        """Add files that change together with the targets to an impact report.

        `files` has the paths of the targets' files. A file is left out if the report already has it, or if an edge joins it with `files`.
        At most `ALSO_MOVES` files are added. If the history log cannot be read, the report is returned unchanged. The operations
        `co_access` and `doctor` report the fault.
        """
        if report.direction != "dependents" or not files or not self.history.log().exists:
            return report
        try:
            history = self.history.known()
        except HistoryError as error:
            logger.warning("impact without history: %s", error.message)
            return report
        told = {hit.symbol.path for hit in (*report.hits, *report.tests)}
        with history.lock:
            ranked = coaccess.rank(history, files, min_support=ALSO_MOVES_SUPPORT)
            paths = [history.nodes[one.node].path for one in ranked]
            if told.issuperset(paths):
                return report
            edges = joined(view, files)
            ranked = [one for one, path in zip(ranked, paths, strict=True) if path not in edges and path not in told][:MOST_JUDGED]
            seen = coaccess.evidence(history, files, [one.node for one in ranked])
            hits = [_hit(history, one, its, edges) for one, its in zip(ranked, seen, strict=True) if its.confidence >= ALSO_MOVES_SHARE]
        return dataclasses.replace(report, also_moves=hits[:ALSO_MOVES])

    def often(
        self, files: Sequence[str], share: float, among: Callable[[str], bool] = lambda path: True, most: int = ALSO_MOVES
    ) -> list[tuple[CoAccessHit, coaccess.Evidence]]:
        """Return files that often change with given files, best first.

        Each file comes with its evidence, such as the chance that the next change touches it. Unlike in `with_also_moves`, files with an
        edge to the given files are included. The list is empty if the log cannot be read.

        Args:
            files: the given files.
            share: the minimum of `coaccess.Evidence.focus`, 0 to 1. For 0.5, a file is returned if at least half of the small changes of
                the given files also touched the file. A small change touches few files.
            among: called with a path; returns whether the path may be in the result.
            most: the maximum number of files in the result; at most `MOST_JUDGED` are compared.
        """
        try:
            history = self.history.known()
        except HistoryError as error:
            logger.warning("files that change together are unknown: %s", error.message)
            return []
        with history.lock:
            ranked = coaccess.rank(history, files, min_support=coaccess.LEAST_SMALL)[:MOST_JUDGED]
            seen = coaccess.evidence(history, files, [one.node for one in ranked])
            hits = [(_hit(history, one, its, {}), its) for one, its in zip(ranked, seen, strict=True) if its.focus >= share]
        return list(islice((one for one in hits if among(one[0].path)), most))

    def moving(self, soon: Callable[[Callable[[], object]], object], places: Sequence[str], wait: bool) -> Moving:
        """Return the files that change most often together with given files.

        The list is empty if the history is damaged or not loaded yet. The result then also has a sentence with the reason.

        Args:
            soon: runs a function in the background; used to read the history when `wait` is false.
            places: paths of the given files and folders.
            wait: whether to read the history now if it is not in memory.
        """
        log = self.history.log()
        if not log.exists:
            return Moving([], "")
        if not wait and not self.history.is_known:
            soon(self.history.known)
            return Moving([], "the history is still being read; repeat the call to get files that change together with it")
        try:
            history = self.history.known()
        except HistoryError as error:
            return Moving([], f"without the history: {error.message}")
        with history.lock:
            often = often_with(history, places)
        return Moving([Wanted(one.path, one.share, f"changed in {one.touched} of {one.changes} changes") for one in often], "")

    def reviewers(self, file: str, limit: int = 10) -> Reviewers:
        (path,) = self._paths("file", [file], 1)
        return reviewers(Path(self.graph.root_path), path, limit, datetime.now(UTC))

    def file_history(self, paths: Sequence[str]) -> list[FileHistory]:
        """Return how often, when and by whom each file was changed.

        Args:
            paths: paths of files, also as file URIs or absolute paths; files that the history does not know are left out.
        """
        history = self.history.known()
        root = self.graph.root_path
        wanted = {in_project(one, root) for one in paths}
        with history.lock:
            return [
                FileHistory(one.path, one.changes, one.commits, one.recent, iso(one.first_at), iso(one.last_at), one.authors)
                for one in history.files(CHURN_HALF_LIFE_S)
                if one.path in wanted
            ]

    def _paths(self, argument: str, files: Sequence[str], most: int) -> tuple[str, ...]:
        if isinstance(files, (str, bytes)) or not files:
            raise BadInputError(f"{argument} is {files!r}; give a list of at least one path", argument=argument, value=str(files))
        if len(files) > most:
            raise BadInputError(f"{argument} has {len(files):,} paths; give at most {most:,}", argument=argument, value=len(files))
        root = self.graph.root_path
        return tuple(dict.fromkeys(fields.path(argument, one, root) for one in files))


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
        last_seen=iso(its.last_at) if its.support else "",
        explained=list(edges.get(history.nodes[one.node].path, ())),
        depth=one.depth,
        via=history.nodes[one.via].path if one.via >= 0 else "",
        parts=one.parts,
    )


def _check(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadInputError(f"{name} is {value!r}; use a number from {low:,} to {high:,}", argument=name, value=value)


def _seconds(at: datetime | str | None) -> float:
    return (datetime.now(UTC) if at is None else fields.moment("at", at)).timestamp()
