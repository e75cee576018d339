"""The directory of an index."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Final

from graphmem.errors import BadInputError, GitError
from graphmem.runtime.sqlite_file import PRIVATE
from graphmem.settings import DATABASE

NAME: Final = ".graphmem"  # of an index beside its project
PRIVATE_FOLDER: Final = 0o700
FOR_PEOPLE: Final = "rules"  # Markdown that may be tracked by git and read by whoever reads the project
# What the names of graphmem's own files begin with: a folder that holds something else is somebody's for other things, too.
_OURS: Final = (
    *("graph.", "memories", "words-", "facts.", "inputs.", "parsing.", "history.", "ledger.", "paragraphs.", "evidence", "inbox"),
    *("tokens.json", ".tokens-", "owner.json", ".owner-", "starting.lock", "server.log", "trust.json", ".trust-", "memory-md.json"),
    *("phases.json", ".phases-"),
    *("backups", ".backup-", ".restore-", "sandbox", "trails", "sessions", FOR_PEOPLE, ".gitignore"),
)

_log = logging.getLogger(__name__)


def prepare_data_dir(data_dir: Path) -> None:
    """Make the directory of an index, hidden from git and closed to other accounts. One that may only be read stays as it is.

    Raises:
        BadInputError: the system refused.
    """
    try:
        data_dir.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        ignore = data_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        if not os.access(data_dir, os.W_OK) and os.access(data_dir / DATABASE, os.R_OK):
            return  # it answers questions all the same
        there = os.path.isdir(data_dir)  # noqa: PTH112 -- says no where Path.is_dir raises
        said = f"{data_dir} cannot be written to ({error.strerror})" if there else f"cannot make {data_dir}: {error.strerror or error}"
        raise BadInputError(f"{said}; name a directory you may write to with --db", argument="db", path=str(data_dir)) from error


def close_to_others(data_dir: Path) -> None:
    """Take the rights of other accounts from an index and its files, whatever umask made them: memories may be private.

    A folder that holds other things as well keeps the rights it has, and so do the folders in it; so do rules, which are for people.
    """
    try:
        entries = sorted(data_dir.iterdir())
        alone = data_dir.name == NAME or all(one.name.startswith(_OURS) for one in entries)
        if alone:
            _restrict(data_dir)
        for entry in entries:
            if entry.name.startswith(_OURS) and entry.name != FOR_PEOPLE:
                if entry.is_file():
                    _restrict(entry)
                elif alone:
                    for one in (entry, *entry.rglob("*")):
                        _restrict(one)
    except OSError as error:  # somebody else's, or a disk that may only be read: then nothing can be taken from it
        _log.info("the rights of %s stay as they are: %s", data_dir, error)


def open_to_others(data_dir: Path) -> bool:
    """Whether other accounts may look into an index."""
    return bool(data_dir.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _restrict(path: Path) -> None:
    """Leave a file or folder to its owner. Links are left alone, and so is what is somebody else's."""
    try:
        found = path.lstat()
        if not stat.S_ISLNK(found.st_mode) and found.st_uid == os.getuid() and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            path.chmod(PRIVATE_FOLDER if stat.S_ISDIR(found.st_mode) else PRIVATE)
    except FileNotFoundError:
        return  # it was there for a moment


def root_of_copy(data_dir: Path, before: str, project: Path) -> str:
    """The root of a project whose index came along when it was copied or moved; "" when the index is of another or of none.

    Args:
        data_dir: the index.
        before: the root it was made of.
        project: the one it was opened for.
    """
    here = project.resolve()
    if not before or data_dir.resolve() != here / NAME or Path(before) == here:
        return ""
    original = Path(before) / NAME
    copied = original.is_dir() and not original.samefile(data_dir)
    return str(here) if copied or not Path(before).is_dir() else ""


def refuse_a_strangers(data_dir: Path) -> None:
    """Refuse an index that came with a repository: its memories would be taken for one's own, its files for graphmem's.

    Git tracks nothing of an index that graphmem made, which hides it; rules are for people and may be tracked.

    Raises:
        BadInputError: git tracks it, or a folder above it may not be entered.
    """
    from graphmem.indexing import git

    place = data_dir.absolute()
    try:
        if not place.exists():
            return
    except PermissionError as error:
        raise BadInputError(
            f"{place} cannot be entered ({error.strerror}); change its permissions, or choose another directory with --db",
            argument="db",
            path=str(place),
        ) from error
    try:
        tracked = git.run(place.parent, "ls-files", "-z", "--cached", "--", place.name)
    except GitError:  # no git, no repository, or one it does not trust: then nothing was cloned here by this user
        return
    name = place.name.encode("utf-8", "surrogateescape")
    allowed = (name + b"/rules/", name + b"/.gitignore")
    strange = [one for one in tracked.split(b"\0") if one and not one.startswith(allowed)]
    if strange:
        raise BadInputError(
            f"{data_dir} came with the repository: git tracks {strange[0].decode('utf-8', 'replace')}. Somebody else's index would be "
            f"taken for yours; delete the folder and index again, or, if it is yours, take it out: `git rm -r --cached {place.name}`",
            argument="db",
            path=str(data_dir),
        )
