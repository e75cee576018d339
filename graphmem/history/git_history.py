"""Update the log of changes from Git.

New commits are added, and commits that were rebased are removed. All commits except merges are read, also from merged branches. The files
of a commit do not count as changed together if there are more than 30. Renames and deletions in such a commit are still followed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import GitError
from graphmem.history import git_log
from graphmem.history.change_log import GIT, Change, HistoryLog
from graphmem.history.co_edits import MAX_FILES
from graphmem.model import IndexProgress

READING: Final = "1"  # version of the conversion from commits to changes; another version reads all commits again
LACKS: Final = "contents of old files are missing here (`git fsck` names them): renames are followed only where the content stayed the same"
_UNTAKEN: Final = "lessons"  # stored with the log: hashes of commits whose lessons were not taken yet, oldest first
STEP: Final = 500  # commits between two reports of progress


class Reading(NamedTuple):
    """The result of copying Git's commits into graphmem's history log."""

    commits: int  # new ones
    gone: bool  # whether some were removed
    lessons: list[git_log.Commit]  # commits that may hold a lesson and were not taken yet, see `take_lessons`; oldest first
    notes: list[str]  # missing data, and why


def read(
    root: Path,
    log: HistoryLog,
    *,
    is_lesson: Callable[[git_log.Commit], bool] = lambda _: False,
    most_lessons: int = 0,
    on_progress: Callable[[IndexProgress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Reading:
    """Read new commits from Git into the log, in one transaction.

    Args:
        root: root directory of the project.
        log: the log of changes.
        is_lesson: returns whether a new commit may explain a trap (a mistake that the code invites).
        most_lessons: maximum number of such commits to return; the newest are returned.
        on_progress: receives the progress of stage "history".
        cancelled: called often; True stops the reading.

    Raises:
        GitError: Git failed. The log is unchanged.
        IndexCancelledError: `cancelled` returned True. The log is unchanged.
        HistoryError: the log cannot be written.
    """
    here, notes = _repository(root)
    known = log.meta()
    if here is None or not here.head:
        _keep(log, notes)
        return Reading(0, False, [], notes)
    reader = _Reader(root, log, here, notes, is_lesson, most_lessons, on_progress, cancelled)
    whole, way = reader.way(""), known.get("git_way", "")
    missing = way.removeprefix(f"{whole} ") if way.startswith(f"{whole} ") else ""
    if missing and git_log.has_object(root, missing):
        missing = ""
    try:
        try:
            return reader.read(known, missing)
        except GitError as error:
            lacks = git_log.missing_object(error)
            if missing or here.partial or not lacks:
                raise
            # A copy of a partial clone: only this shows that old contents are missing.
            return reader.read(known, lacks)
    except GitError as error:
        _keep(log, [*notes, f"the history was not read: {error.message}"])
        raise


class _Reader(NamedTuple):
    """Reads the commits of a repository into the log.

    If the repository lacks a Git object, such as the content of an old file, all commits are read again. Then only renames of unchanged
    files are found.
    """

    root: Path
    log: HistoryLog
    here: git_log.Repository
    notes: list[str]
    is_lesson: Callable[[git_log.Commit], bool]
    most_lessons: int
    on_progress: Callable[[IndexProgress], None]
    cancelled: Callable[[], bool]

    def way(self, missing: str) -> str:
        """Return a string that changes if all commits must be read again.

        The caller compares the string with the one of the last reading. The string depends on this reader's version, the limits of the
        clone, the project's folder in the repository, and `missing`. `missing` names a Git object that the repository lacks, or is "".
        """
        edge = hashlib.blake2b("\n".join(sorted(self.here.boundary)).encode(), digest_size=8).hexdigest()
        return f"{READING} {edge} {self.here.partial} {self.here.prefix}{f' {missing}' if missing else ''}"

    def read(self, known: Mapping[str, str], missing: str) -> Reading:
        """Add new commits to the log, and remove commits that no longer exist.

        Args:
            known: metadata that is stored with the log, by name.
            missing: a Git object that the repository lacks; "" if there is none.
        """
        root, log, here = self.root, self.log, self.here
        notes = [*self.notes, LACKS] if missing else self.notes
        before, way = known.get("git_head", ""), self.way(missing)
        if before == here.head and known.get("git_way") == way:
            _keep(log, notes)
            return Reading(0, False, self.untaken(known, ()), notes)
        salt = known.get("salt") or os.urandom(16).hex()
        if known.get("git_way") == way and git_log.is_there(root, before):
            gone: list[str] | None = list(git_log.only_in(root, before, here.head))
            revisions = [here.head, f"^{before}"]
        else:
            gone = None if before else []
            revisions = [here.head]
        total = git_log.count(root, revisions)
        meta = {"git_head": here.head, "git_way": way, "salt": salt, "notes": json.dumps(notes)}
        lessons = [] if gone is None else self.untaken(known, gone)
        now = time.time()

        def changes() -> Iterator[Change]:
            told = here._replace(partial=here.partial or bool(missing))
            for seen, commit in enumerate(git_log.commits(root, told, revisions, MAX_FILES, self.cancelled)):
                if seen % STEP == 0:
                    self.on_progress(IndexProgress("history", seen, total, commit.subject[:80]))
                if self.most_lessons and commit.touched and self.is_lesson(commit):
                    lessons.append(commit)
                    del lessons[: -self.most_lessons]
                if commit.touched or commit.deleted:
                    yield _change(commit, salt, now)
            meta[_UNTAKEN] = " ".join(one.sha for one in lessons)

        self.on_progress(IndexProgress("history", 0, total, ""))
        written = log.exchange(GIT, gone, changes(), meta)
        self.on_progress(IndexProgress("history", total, total, ""))
        return Reading(written, gone is None or bool(gone), lessons, notes)

    def untaken(self, known: Mapping[str, str], gone: Sequence[str]) -> list[git_log.Commit]:
        """Return commits of earlier readings that were not searched for lessons.

        Args:
            known: metadata that is stored with the log, by name.
            gone: hashes of commits that no longer exist.
        """
        shas = [one for one in known.get(_UNTAKEN, "").split() if one not in gone][-self.most_lessons :] if self.most_lessons else []
        if not shas:
            return []
        found = git_log.commits(self.root, self.here, ["--ignore-missing", "--no-walk=unsorted", *shas], MAX_FILES, self.cancelled)
        return sorted(found, key=lambda one: shas.index(one.sha))


def has_lessons(meta: Mapping[str, str]) -> bool:
    """Whether a log names commits that were not yet searched for lessons.

    A lesson is an explanation in a commit message that becomes a memory. `meta` is the metadata that is stored with the log, by name.
    """
    return meta.get(_UNTAKEN, "") != ""


def take_lessons(log: HistoryLog) -> None:
    """Record that all commits were searched for lessons.

    A lesson is an explanation in a commit message that becomes a memory. Until this call, `read` returns the same commits again, because
    the process may end before the lessons are stored.
    """
    log.exchange(GIT, [], (), {_UNTAKEN: ""})


def _keep(log: HistoryLog, notes: Sequence[str]) -> None:
    """Store notes about missing data, for processes that cannot run Git.

    The notes are stored in the log of changes.
    """
    told = json.dumps(list(notes))
    if told != log.meta().get("notes", "[]"):
        log.exchange(GIT, [], (), {"notes": told})


def notes_of(log: HistoryLog) -> list[str]:
    """Return sentences on data that was missing when Git was last read.

    Raises:
        HistoryError: the log is damaged.
    """
    found: list[str] = json.loads(log.meta().get("notes", "[]"))
    return found


def _repository(root: Path) -> tuple[git_log.Repository | None, list[str]]:
    """Return (repository or None, reasons why the history is incomplete).

    The second result has one sentence for each reason.
    """
    try:
        here = git_log.repository(root)
    except GitError as error:
        return None, [f"the history was not read: {error.message}"]
    if here is None:
        return None, ["the project has no Git repository; its history has only sessions"]
    notes = []
    if not here.head:
        notes.append("the repository has no commits yet")
    if here.boundary:
        notes.append(git_log.SHALLOW)
    if here.partial:
        notes.append("the clone is partial: renames are followed only where the content stayed the same")
    return here, notes


def _change(commit: git_log.Commit, salt: str, now: float) -> Change:
    """Convert a Git commit to an entry of the history log.

    `salt` is used to hash the author's mail address. A time after `now` is replaced by `now`, because otherwise one wrong clock would make
    all other commits look old.
    """
    return Change(
        GIT,
        max(0.0, min(commit.at, now)),
        commit.touched,
        commit.sha,
        git_log.hashed(commit.email, salt),
        commit.deleted,
        commit.renamed,
        counted=commit.files <= MAX_FILES,
    )
