"""Read commits into the change history of a project, and query it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from graphmem.errors import BadInputError, GitError, HistoryError
from graphmem.history import coaccess, git_history, git_lessons, git_log, git_mark
from graphmem.history.change_log import AGENT, GIT, HistoryLog
from graphmem.history.co_edits import History
from graphmem.history.coaccess_pairs import pairs
from graphmem.memory.texts.types import COMMIT
from graphmem.project.history import surviving
from graphmem.runtime.lazy import Lazy
from graphmem.runtime.network.pushes import is_pushed
from graphmem.runtime.process.limits import kept_if_possible
from graphmem.store.base import CoAccessRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.model import IndexProgress
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

LOG: Final = "history.sqlite"
WITHOUT_COMMITS: Final = "the project was pushed to this server without commits; run `graphmem push` where its repository is"
OFF: Final = "the setting git_history is off; the history contains sessions only"
NAMED: Final = 3  # commits in a note
EDGES_EVERY: Final = 200  # changes until edges are rebuilt; only Cypher queries use them, answers use the log
CHURN_HALF_LIFE_S: Final = 365 * coaccess.DAY_S


class HistoryStatus(TypedDict):
    """Contents of the history of changes, for `graphmem doctor`."""

    changes: dict[str, int]  # number of changes by kind
    head: str  # the newest Git commit that was read; "" without one
    notes: list[str]  # what is missing, one sentence each


@dataclass(eq=False, repr=False)
class HistorySource:
    """The log of a project's changes, and the history in memory made from it.

    Thread-safe.
    """

    store: GraphStore
    projections: Projections
    settings: Settings
    book: MemoryRepository
    log: Lazy[HistoryLog]
    _known: Lazy[History] = field(default_factory=lambda: Lazy(History), init=False)
    _notes: Sequence[str] | None = field(default=None, init=False)  # notes of this process's own reading; None before the first
    _counted: tuple[tuple[str, int], int] | None = field(default=None, init=False)  # commits at a mark of the log
    _mark: tuple[git_mark.Mark, Path, str] | None = field(default=None, init=False)  # state of git and the log at the last reading

    @property
    def is_known(self) -> bool:
        """Whether the history is loaded into memory, so that `known` is fast."""
        return self._known.is_made

    def known(self) -> History:
        """The history of changes in memory, up to date with the log on disk.

        Raises:
            HistoryError: the log is damaged.
        """
        log = self.log()
        return self._known().follow(log)

    def commits(self) -> int:
        """Number of commits in the log; the history is not read into memory."""
        log = self.log()
        mark = log.mark()
        if self._counted is None or self._counted[0] != mark:
            self._counted = (mark, log.counts().get(GIT, 0))
        return self._counted[1]

    def read_commits(self, root: Path, tell: Callable[[IndexProgress], None], cancelled: Callable[[], bool]) -> git_history.Reading | None:
        """Read new commits from Git into the log.

        Returns None if Git has no new commits, if the settings switch the history off, or if the reading fails. A failure does not stop the
        index run; answers report the failure in a note.

        Args:
            root: root of the working tree.
            tell: called with the progress.
            cancelled: polled often; when it returns true, the reading stops.

        Raises:
            IndexCancelledError: `cancelled` returned true.
        """
        if not self.settings.git_history:
            self._notes = [OFF]
            return None
        most = git_lessons.MOST_ASKED if self.settings.git_lessons else 0
        mark = git_mark.mark(root)
        try:
            meta = self.log().meta()
            if mark is not None and self._mark == (mark, root, meta.get("git_head", "")) and not git_history.has_lessons(meta):
                return None
            reading = git_history.read(
                root, self.log(), is_lesson=git_lessons.may_teach, most_lessons=most, on_progress=tell, cancelled=cancelled
            )
        except (GitError, HistoryError) as error:
            self._notes = [f"the history was not read: {error.message}"]
            return None
        self._notes = reading.notes
        self._mark = None if mark is None else (mark, root, self.log().meta().get("git_head", ""))
        return reading

    def learn_from_commits(self, root: Path, reading: git_history.Reading | None) -> None:
        """Make memories from new commits that explain a fix.

        `reading` is the result of `read_commits`. The memories are unconfirmed (candidates) at first. Call the method after the index run,
        so that the memories can be linked to the files that they name.
        """
        if reading is None or not reading.lessons:
            return
        history = self.known()
        try:
            messages, unread = git_log.bodies(root, [one.sha for one in reading.lessons])
        except GitError as error:
            self._notes = [*self.gaps(), f"the messages of commits were not read: {error.message}"]
            return
        faults = [f"the message of commit {sha[:12]} was not read: git refuses it; `git fsck` says what is wrong" for sha in unread]
        with history.lock:
            living = {path for path, node in history.by_path.items() if history.nodes[node].alive}
        view = self.projections.graph()
        unseen: dict[str, str] = {}  # commits whose change was not compared with the code, and why

        def left(sha: str, files: Sequence[str]) -> list[str] | None:
            try:
                return surviving.definitions_left(root, sha, files, view)
            except (GitError, BadInputError) as error:
                unseen[sha] = error.message
                return []

        items = git_lessons.lessons(reading.lessons, messages, living, faults, left)
        if some := [sha for sha in (one["commit_sha"] for one in items) if sha in unseen]:
            fixes, lessons = ("fix was", "its lesson") if len(some) == 1 else ("fixes were", "their lessons")
            named = ", ".join(sha[:12] for sha in some[:NAMED])
            faults.append(
                f"{len(some)} {fixes} not compared with the current code ({named}), so {lessons} may be about code that was rewritten: "
                f"{unseen[some[0]]}"
            )
        if faults:
            self._notes = [*self.gaps(), *faults]
        if items:
            self.book.remember_many(items, source=COMMIT, embedding_model=None, skip_invalid=True, actor="git")
        git_history.take_lessons(self.log())

    def derive_edges(self) -> None:
        """Update the graph's edges between files that change together.

        The edges have the kind CO_ACCESSED. When `EDGES_EVERY` more changes are in the history, or when changes were removed, all edges are
        derived again. Otherwise nothing happens. If the log cannot be read, a note reports the fault, and the edges stay as they are.
        """
        log = self.log()
        if not log.exists:
            return
        try:
            epoch, seq = log.mark()
            mark = f"{epoch}:{seq // EDGES_EVERY}"
            if self.store.meta().get("co_accessed") == mark:
                return
            history = self.known()
        except HistoryError as error:
            self._notes = [f"the history was not read: {error.message}"]
            return
        view = self.projections.graph()
        ids = {path: view.ids[node] for path in view.paths if (node := view.file_node(path)) is not None}
        with history.lock:
            found = pairs(history, ids)
        rows = [
            CoAccessRow(ids[one.path], ids[one.other], one.support, one.confidence, datetime.fromtimestamp(one.last_at, UTC))
            for one in found
        ]
        with kept_if_possible("edges between files that change together"):
            self.store.put_co_accessed(mark, rows)

    def forget_sessions(self) -> None:
        """Delete agents' sessions from the history; keep the commits."""
        if self.log().exists:
            self.log().erase(AGENT)

    def status(self) -> HistoryStatus:
        """Return what the history of changes contains, for `doctor`."""
        log = self.log()
        return {"changes": log.counts(), "head": log.meta().get("git_head", ""), "notes": self.gaps()}

    def gaps(self) -> list[str]:
        """Return what the history of changes lacks, one sentence for each gap."""
        if self._notes is not None:
            return list(self._notes)
        if self.settings.git_history:
            return git_history.notes_of(self.log())
        if is_pushed(self.log().path.parent.parent):
            return [] if self.commits() else [WITHOUT_COMMITS]
        return [OFF]

    def renew(self) -> None:
        """Close the log after its file was replaced; the next query reopens it."""
        self.log.renew(HistoryLog.close)
        self._known.renew(lambda history: None)

    def close(self) -> None:
        """Close the file with the log of commits and sessions."""
        self.log.end(HistoryLog.close)


def iso(at: float) -> str:
    """Convert `at`, seconds since 1970, to a time in ISO 8601."""
    return git_log.moment(at).isoformat(timespec="seconds")
