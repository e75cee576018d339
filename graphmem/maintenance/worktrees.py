"""Copy the index of a Git repository's main worktree to a new worktree.

The new worktree has code and history at once, and shares the journal of memories. The next index run reads only the files that differ. On
file systems that share blocks (Btrfs, XFS), the copy takes no additional space; elsewhere it leaves out blocks of zeros.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import Final

from graphmem.errors import GraphMemError, StoreBusyError
from graphmem.location import DATABASE, JOURNAL
from graphmem.maintenance.backup import copy_file
from graphmem.maintenance.place import NAME, prepare_data_dir, refuse_a_strangers
from graphmem.runtime.files.vault import FILE as ENCRYPTION
from graphmem.runtime.process.system import clone
from graphmem.runtime.worktree import first_index
from graphmem.store.file.lock import DatabaseLock

LOG: Final = f"{DATABASE}.wal"
ATTEMPTS: Final = 5
QUIET_NS: Final = 50_000_000  # since the last write, before a copy begins; file times are coarser than writes
# Taken from an index that another process has open: both are read consistently while they are written.
_ALWAYS: Final = ("facts.sqlite", "history.sqlite", ENCRYPTION)
_DERIVED: Final = ("graph.projection", "memories.projection", "inputs.sqlite", "explorer.projection", "contracts.json")
_REPLACED: Final = ".projection"  # such files are never changed in place, only replaced, so worktrees can share their bytes
_PART: Final = 1 << 20  # bytes that are read at once
_BLOCK: Final = 4_096
_ZEROS: Final = bytes(_BLOCK)
_WORDS: Final = "words-"
_log = logging.getLogger(__name__)


def adopt(root: Path, data_dir: Path, engine: str) -> bool:
    """Copy the index of the main Git worktree, if this worktree has none.

    If another process keeps writing to the main worktree's database, the database is not copied. The parsed files and the history are
    copied nevertheless. A failed copy is logged.

    Returns:
        Whether anything was copied.
    """
    present = any(os.path.exists(data_dir / name) for name in (DATABASE, JOURNAL))  # noqa: PTH110 -- no error in a closed directory
    if present or data_dir.absolute() != (root / NAME).absolute():
        return False
    source = first_index(data_dir)
    if source is None or not (source / DATABASE).is_file():
        return False
    try:
        refuse_a_strangers(source)
        prepare_data_dir(data_dir)
        return _adopted(source, data_dir, engine)
    except (OSError, GraphMemError) as error:  # an ordinary first index follows
        _log.warning("the index %s was not copied to the new worktree: %s", source, error)
        return False


def _adopted(source: Path, data_dir: Path, engine: str) -> bool:
    lock, in_other_process = None, False
    try:
        lock = DatabaseLock((source / DATABASE).resolve(), engine, shared=False)
    except StoreBusyError as error:  # a handle that this process closes would drop its own engine's lock
        in_other_process = bool(error.owner) and error.owner.get("pid") != os.getpid()
    staging = Path(tempfile.mkdtemp(prefix=".restore-", dir=data_dir))
    try:
        names = [*_ALWAYS]
        words = [one.name for one in source.glob(f"{_WORDS}*.sqlite")]
        if lock is not None and not (source / LOG).exists():
            names += [DATABASE, *_DERIVED, *words]
        elif in_other_process and _snapshot(source, staging):
            names += [*_DERIVED, *words]
        for name in names:
            _take(source / name, staging / name, closed=lock is not None and not (source / f"{name}-wal").exists())
        for one in sorted(staging.iterdir(), key=lambda path: path.name == DATABASE):  # the database last: without it this begins again
            one.replace(data_dir / one.name)
    finally:
        if lock is not None:
            lock.release()
        shutil.rmtree(staging, ignore_errors=True)
    return True


def _snapshot(source: Path, staging: Path) -> bool:
    """Copy a database and its log while another process has them open.

    Returns False if the other process wrote to them during each attempt.
    """
    for _ in range(ATTEMPTS):
        before = [_written(source / name) for name in (DATABASE, LOG)]
        quiet = max((one[2] for one in before if one is not None), default=0) < time.time_ns() - QUIET_NS
        for name, there in zip((DATABASE, LOG), before, strict=True):
            (staging / name).unlink(missing_ok=True)
            if quiet and there is not None:
                copy_with_holes(source / name, staging / name)
                (staging / name).chmod(0o600)
        if quiet and [_written(source / name) for name in (DATABASE, LOG)] == before:
            return True
        time.sleep(QUIET_NS / 1e9)
    for name in (DATABASE, LOG):
        (staging / name).unlink(missing_ok=True)
    return False


def _written(path: Path) -> tuple[int, int, int] | None:
    """Return inode, size and time of the last write of a file.

    The result is None if the path is missing or not a plain file.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _take(source: Path, target: Path, *, closed: bool) -> None:
    """Copy a file of an index from the path `source` to the path `target`.

    If the disk supports it, both files share their blocks. A symbolic link is not copied. `closed` says that no process writes to the file;
    otherwise a SQLite file is copied as of one moment, see `copy_file`.
    """
    if source.is_symlink() or not source.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.name.endswith(_REPLACED):
        target.hardlink_to(source)
    elif not closed:
        copy_file(source, target)
    elif not _cloned(source, target):
        copy_with_holes(source, target)
    target.chmod(0o600)


def copy_with_holes(source: Path, target: Path) -> None:
    """Copy a file; its blocks of zeros take no space in the copy.

    An engine allocates pages in advance, so up to a fifth of a database is zeros. `target` is replaced.
    """
    with source.open("rb") as old, target.open("wb") as new:
        while part := old.read(_PART):
            begun = 0
            for at in range(0, len(part), _BLOCK):
                if part[at : at + _BLOCK] == _ZEROS:
                    new.write(part[begun:at])
                    new.seek(_BLOCK, os.SEEK_CUR)
                    begun = at + _BLOCK
            new.write(part[begun:])
        new.truncate()


def _cloned(source: Path, target: Path) -> bool:
    """Copy a file by sharing its blocks; return whether the disk supports it."""
    try:
        with source.open("rb") as old, target.open("xb") as new:
            is_cloned = clone(old, new)
    except OSError:
        is_cloned = False
    if not is_cloned:
        target.unlink(missing_ok=True)
    return is_cloned
