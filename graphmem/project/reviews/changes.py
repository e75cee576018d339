"""Operations on changes: commits, changed architecture, risk over time.

Drift compares the modules of two revisions. Heat says how risky a change of a file is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from graphmem.analysis.semantic import heat
from graphmem.analysis.semantic.drift import State
from graphmem.answers import Picture
from graphmem.answers.semantic import CommitInfo, CommitPage
from graphmem.errors import GitError
from graphmem.history import git_log
from graphmem.history.authors import is_routine, one_name_each
from graphmem.indexing import git
from graphmem.memory.repository import fields
from graphmem.operations.arguments import within
from graphmem.project.history.history_source import CHURN_HALF_LIFE_S, iso
from graphmem.project.reviews import drift as drifting
from graphmem.runtime.git import PUSHED
from graphmem.runtime.network.pushes import is_pushed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from graphmem.analysis.semantic.heat import F64
    from graphmem.answers.semantic import Drift
    from graphmem.history.co_edits import History
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.project.history.history_source import HistorySource
    from graphmem.project.structure.semantic_source import SemanticSource

MOST_COMMITS: Final = 2_000
MOST_LOOKED_AT: Final = 2_000  # files of a commit; modules are not listed for larger commits
MOST_SEARCHED: Final = 4_000  # commits that are searched for those of people
PATHS: Final = 30  # paths listed for one commit
NAMED: Final = 3  # authors that a note names
MOST_STEPS: Final = 100
MOST_DRIFTS: Final = 8  # comparisons of revisions that are kept


@dataclass(eq=False, repr=False)
class ChangeQuestions:
    """Operations on changes: commits, changed architecture, risk over time.

    Drift compares the modules of two revisions. Heat says how risky a change of a file is, from its changes, complexity and dependents.
    """

    graph: GraphSource
    semantics: SemanticSource  # modules and dead code derived from the graph
    history: HistorySource
    data_dir: Path
    index: drifting.Index  # reads a tree into a separate index
    _drifts: dict[tuple[int, str, str | None], Drift] = field(default_factory=dict)  # newest answers, because one takes up to minutes

    def drift(self, base: str, head: str | None = None) -> Drift:
        """Compare modules, dependencies, cycles and public API of two revisions.

        The files of each given revision are indexed, which takes a while.

        Args:
            base: the older revision.
            head: the newer revision; None for the current index.

        Raises:
            GitError: git is not installed, or the revision is unknown.
        """
        here = self.semantics.newest()
        root = self.graph.root()
        key = (here.view.generation, git.revision(root, base), None if head is None else git.revision(root, head))
        known = self._drifts.get(key)
        if known is None:
            with here.lock:
                state = State(here.modules, here.entries)
            known = drifting.drift(root, self.data_dir, self.graph.project, base, head, state, self.index)
            self._drifts = {**dict(list(self._drifts.items())[1 - MOST_DRIFTS :]), key: known}
        return known

    def commits(self, limit: int = 20, revision: str = "HEAD", *, path: str = "", programs: bool = False) -> CommitPage:
        """List the newest commits, each with the modules of its files.

        Merges are left out. The modules are those of the current index. Unless `programs` is true, commits of programs (bots) are left out,
        and a note has their number. A person who commits under several names has one name in the list.

        Raises:
            BadInputError: `limit` is out of range, or `path` leads out of the project.
            GitError: the revision is unknown.
            NotIndexedError: nothing was indexed yet.
        """
        within("limit", limit, 1, MOST_COMMITS)
        here = self.semantics.newest()
        root = self.graph.root()
        path = fields.path("path", path, str(root)) if path else ""
        try:
            repository = git_log.repository(root)
            if repository is None or not repository.head:
                missing = PUSHED if is_pushed(root) else "the project is not under git"
                return CommitPage([], [missing if repository is None else "the repository has no commits yet"])
        except GitError as error:
            return CommitPage([], [error.message])
        head = repository.head if revision == "HEAD" else git.revision(root, revision)
        try:
            found, skipped, is_cut = _newest(root, repository, limit, head, path, programs=programs)
            bodies, unread = git_log.bodies(root, [one.sha for one in found])
        except GitError as error:
            return CommitPage([], [error.message])
        notes = [f"git cannot read the messages of {len(unread):,} commits"] if unread else []
        if path and not found and not skipped:
            notes.append(f"no commit changed {path}")
        if repository.boundary:
            notes.append(git_log.SHALLOW)
        if skipped:
            notes.append(f"left out: {_counts(skipped)} by programs that update versions")
        if is_cut:
            notes.append(f"only the newest {MOST_SEARCHED:,} commits were searched for commits of people; older ones are not listed")
        names = one_name_each((one.author, one.email) for one in found)
        with here.lock:
            name_of = here.modules.name_of
            return CommitPage(
                [
                    CommitInfo(
                        sha=one.sha,
                        at=iso(one.at),
                        author=names[one.author, one.email],
                        subject=one.subject,
                        body=bodies.get(one.sha, ""),
                        files=one.files,
                        paths=[*one.touched, *one.deleted][:PATHS],
                        modules=sorted({name for path in one.touched if (name := name_of(path))}),
                        routine=is_routine(one.author),
                    )
                    for one in found
                ],
                notes,
            )

    def heat_history(self, steps: int = 24) -> Picture:
        """Return how risky a change of each file was, from the first commit on.

        This risk is called heat. The answer has four columns. `at` has the time of each moment (ISO 8601), and `commits` the number of
        commits until then. `paths` has the files that were hot at any moment. `scores` has one list for each moment, with a number from 0
        to 100 for each path. Heat combines churn (frequency of change), complexity and dependents. Churn is computed for each moment;
        complexity and dependents are those of the current code.

        Args:
            steps: number of moments, 2 to 100.

        Raises:
            BadInputError: `steps` is out of range.
            NotIndexedError: nothing was indexed yet.
        """
        within("steps", steps, 2, MOST_STEPS)
        here, history = self.semantics.newest(), self.history.known()
        with here.lock:
            files = here.modules.files
            complexity = np.where(files.is_test, 0, files.complexity)
            dependents = heat.file_dependents(files)
        times, owners = _touches(history, {path: i for i, path in enumerate(files.paths)})
        with history.lock:
            commits = np.sort(np.array([at for at, git in zip(history.at, history.from_git, strict=True) if git], np.float64))
        if not len(times):
            return Picture({"at": [], "commits": [], "paths": [], "scores": []}, 0, self.graph.state())
        moments = np.linspace(commits[0], commits[-1], steps)
        rows = []
        for moment in moments:
            past = times <= moment
            weights = 0.5 ** ((moment - times[past]) / CHURN_HALF_LIFE_S)
            churn: F64 = np.bincount(owners[past], weights, minlength=len(files)).astype(np.float64)
            scores = np.where(files.is_test, 0.0, heat.scores(churn, complexity, dependents))
            rows.append(np.where(churn > 0, scores, 0.0))
        table: F64 = np.round(np.stack(rows), 1)
        ever = np.flatnonzero(table.max(axis=0) > 0)
        columns = {
            "at": [iso(float(moment)) for moment in moments],
            "commits": np.searchsorted(commits, moments, side="right").tolist(),
            "paths": [files.paths[i] for i in ever.tolist()],
            "scores": table[:, ever].tolist(),
        }
        return Picture(columns, 0, self.graph.state())


def _touches(history: History, place: dict[str, int]) -> tuple[F64, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return, for each touch of a file by a commit, the time and the file.

    The results are two arrays, sorted by time. A commit that changes three files gives three items. `place` maps paths to numbers; the
    second array has these numbers instead of the paths. Files that are not in `place` are left out.
    """
    times: list[float] = []
    owners: list[int] = []
    with history.lock:
        for path, node in history.by_path.items():
            at = place.get(path)
            if at is not None:
                own = [history.at[one] for one in history.nodes[node].all if history.from_git[one]]
                times += own
                owners += [at] * len(own)
    order = np.lexsort((owners, times))
    return np.array(times, np.float64)[order], np.array(owners, np.int64)[order]


def _newest(
    root: Path, repository: git_log.Repository, limit: int, head: str, path: str, *, programs: bool
) -> tuple[list[git_log.Commit], list[git_log.Commit], bool]:
    """Return the newest commits, the skipped ones, and whether others remain.

    Commits made by programs that update dependencies are skipped, unless `programs` is true. More commits are read until `limit` commits
    are found, or until `MOST_SEARCHED` are read. The last value is true if the reading stopped at `MOST_SEARCHED` with fewer than `limit`
    commits, so older commits were not read.
    """
    count = limit
    while True:
        read = git_log.newest(root, repository, count, MOST_LOOKED_AT, head, path)
        kept = [place for place, one in enumerate(read) if programs or not is_routine(one.author)][:limit]
        if len(kept) == limit or len(read) < count or count >= MOST_SEARCHED:
            end = kept[-1] if len(kept) == limit else len(read)
            skipped = [one for place, one in enumerate(read[:end]) if place not in set(kept)]
            return [read[place] for place in kept], skipped, len(kept) < limit and len(read) == count
        count = min(4 * count, MOST_SEARCHED)


def _counts(commits: Sequence[git_log.Commit]) -> str:
    """Describe commits by their number and authors: "3 commits (a, b)"."""
    names = [name for name, _ in Counter(one.author for one in commits).most_common()]
    return (
        f"{len(commits):,} {'commit' if len(commits) == 1 else 'commits'} ({', '.join(names[:NAMED])}{', …' if len(names) > NAMED else ''})"
    )
