"""Find the directories that several worktrees of a Git repository share.

Worktrees are checkouts of one repository. They share one journal of memories.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from graphmem.errors import StoreBusyError
from graphmem.location import JOURNAL
from graphmem.runtime.process import system

INDEX: Final = ".graphmem"  # index directory in its project
LOCK: Final = JOURNAL + ".lock"  # held while one of the worktrees writes memories
LOCK_S: Final = 30.0
LOOK_S: Final = 0.01


def first_worktree(root: Path) -> Path | None:
    """Return the main worktree of the linked Git worktree at `root`.

    The result is None if `root` is not a linked worktree.
    """
    link = root / ".git"
    try:
        if link.is_symlink() or not link.is_file():
            return None
        said = link.read_text(encoding="utf-8", errors="surrogateescape")
        if not said.startswith("gitdir:"):
            return None
        own = Path(root, said.removeprefix("gitdir:").strip()).resolve()
        common = (own / Path((own / "commondir").read_text(encoding="utf-8", errors="surrogateescape").strip())).resolve()
        back = Path((own / "gitdir").read_text(encoding="utf-8", errors="surrogateescape").strip())
    except (OSError, ValueError):
        return None
    is_linked = common.name == ".git" and own.parent == common / "worktrees" and back.parent.resolve() == root.resolve()
    return common.parent if is_linked and common.parent != root.resolve() else None


def first_index(data_dir: Path) -> Path | None:
    """Return the index directory of the main Git worktree.

    The result is None if `data_dir` is not that of a linked worktree. It is also None if the main worktree has no index. An index that is a
    symbolic link or belongs to another account does not count.

    Args:
        data_dir: the index directory of a linked worktree, which need not exist.
    """
    first = first_worktree(data_dir.absolute().parent) if data_dir.name == INDEX else None
    index = first / INDEX if first is not None else None
    try:
        usable = index is not None and index.is_dir() and not index.is_symlink() and system.is_own(index.stat())
    except OSError:
        return None
    return index if usable else None


def journal_folder(data_dir: Path) -> Path:
    """Return the directory of the journal of memories that an index uses.

    A linked Git worktree uses the journal of the main worktree, if the main worktree has an index. But a linked worktree that already has a
    journal keeps its own.
    """
    own = data_dir / JOURNAL
    index = None if any(own.glob("journal-*")) else first_index(data_dir)
    return own if index is None else index / JOURNAL


def is_shared(data_dir: Path, journal: Path) -> bool:
    """Whether several Git worktrees may write to the journal of memories.

    `data_dir` is an index directory, and `journal` the directory of its journal.
    """
    return journal.parent != data_dir or (data_dir.name == INDEX and (data_dir.parent / ".git" / "worktrees").is_dir())


@contextlib.contextmanager
def journal_lock(journal: Path) -> Iterator[None]:
    """Lock the journal of memories for a `with` block.

    Raises:
        StoreBusyError: another Git worktree held the lock for 30 s.
    """
    try:
        descriptor = os.open(journal.with_name(LOCK), os.O_RDWR | os.O_CREAT | system.OPEN, 0o600)
    except OSError:  # a read-only or full disk, on which the write itself is refused
        yield
        return
    try:
        until = time.monotonic() + LOCK_S
        while True:
            try:
                system.lock(descriptor)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise StoreBusyError(
                        f"another git worktree of this repository has been writing memories for {LOCK_S:g} s; try again", path=str(journal)
                    ) from None
                time.sleep(LOOK_S)
        yield
    finally:
        os.close(descriptor)
