"""Bring the log of changes up to date with git: what is new is added, what was rebased away is taken out.

Every commit that is no merge counts, whichever branch it came by: where work is merged, the first parents alone would leave out what was
done. A commit of more than 30 files says nothing of which belong together; its renames and deletions are still followed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import GitError
from graphmem.model import IndexProgress
from graphmem.observe import git_log
from graphmem.observe.history import MAX_FILES
from graphmem.observe.history_log import GIT, Change, HistoryLog

READING: Final = "1"  # how commits become changes; another number reads everything again
STEP: Final = 500  # commits between two words about progress


class Reading(NamedTuple):
    """What came of looking at git."""

    commits: int  # new ones
    gone: bool  # whether some were taken out
    lessons: list[git_log.Commit]  # of the new ones those that may have something to teach, oldest first
    notes: list[str]  # what is missing, and why


def read(
    root: Path,
    log: HistoryLog,
    *,
    is_lesson: Callable[[git_log.Commit], bool] = lambda _: False,
    most_lessons: int = 0,
    on_progress: Callable[[IndexProgress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Reading:
    """Take in the commits that the log has not seen, in one transaction.

    Args:
        root: of the project.
        log: where they are kept.
        is_lesson: asked of every new commit.
        most_lessons: how many of those are told, the newest.
        on_progress: told of stage "history".
        cancelled: asked often.

    Raises:
        GitError: git failed on the way; the log is as it was.
        IndexCancelledError: `cancelled` said yes; the log is as it was.
        HistoryError: the log cannot be written.
    """
    here, notes = _repository(root)
    known = log.meta()
    told = {"notes": json.dumps(notes)}  # for processes that answer and have not read git themselves
    if told["notes"] != known.get("notes", "[]"):
        log.exchange(GIT, [], (), told)
    if here is None or not here.head:
        return Reading(0, False, [], notes)
    edge = hashlib.blake2b("\n".join(sorted(here.boundary)).encode(), digest_size=8).hexdigest()
    way = f"{READING} {edge} {here.partial} {here.prefix}"
    before = known.get("git_head", "")
    if before == here.head and known.get("git_way") == way:
        return Reading(0, False, [], notes)
    salt = known.get("salt") or os.urandom(16).hex()
    if known.get("git_way") == way and git_log.is_there(root, before):
        gone: list[str] | None = list(git_log.only_in(root, before, here.head))
        revisions = [here.head, f"^{before}"]
    else:
        gone = None if before else []
        revisions = [here.head]
    total = git_log.count(root, revisions)
    lessons: list[git_log.Commit] = []
    seen = 0
    now = time.time()

    def changes() -> Iterator[Change]:
        nonlocal seen
        for commit in git_log.commits(root, here, revisions, MAX_FILES, cancelled):
            if seen % STEP == 0:
                on_progress(IndexProgress("history", seen, total, commit.subject[:80]))
            seen += 1
            if most_lessons and commit.touched and is_lesson(commit):
                lessons.append(commit)
                del lessons[:-most_lessons]
            if commit.touched or commit.deleted:
                yield _change(commit, salt, now)

    on_progress(IndexProgress("history", 0, total, ""))
    written = log.exchange(GIT, gone, changes(), {"git_head": here.head, "git_way": way, "salt": salt})
    on_progress(IndexProgress("history", total, total, ""))
    return Reading(written, gone is None or bool(gone), lessons, notes)


def notes_of(log: HistoryLog) -> list[str]:
    """What was missing when git was read last.

    Raises:
        HistoryError: the log is damaged.
    """
    found: list[str] = json.loads(log.meta().get("notes", "[]"))
    return found


def _repository(root: Path) -> tuple[git_log.Repository | None, list[str]]:
    """Where the project stands, and what about it keeps the history from being whole."""
    try:
        here = git_log.repository(root)
    except GitError as error:
        return None, [f"the history was not read: {error.message}"]
    if here is None:
        return None, ["the project is not under git: there is no history but that of sessions"]
    notes = []
    if not here.head:
        notes.append("the repository has no commits yet")
    if here.boundary:
        notes.append("the clone is shallow: older history is not there; `git fetch --unshallow` brings it")
    if here.partial:
        notes.append("the clone is partial: renames are followed only where the content stayed the same")
    return here, notes


def _change(commit: git_log.Commit, salt: str, now: float) -> Change:
    """A commit as a change; one whose clock ran ahead is of now, so that it does not make all others old."""
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
