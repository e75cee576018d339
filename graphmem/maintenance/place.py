"""Create and protect the directory of an index; refuse foreign ones."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Final

from graphmem.errors import BadInputError, GitError
from graphmem.location import DATABASE
from graphmem.runtime.files.inside import is_utf8
from graphmem.runtime.files.own_folder import FOR_PEOPLE, hide_from_git
from graphmem.runtime.files.sqlite_file import PRIVATE
from graphmem.runtime.process.system import is_own
from graphmem.store.file.lock import Holder, read_record

NAME: Final = ".graphmem"  # of an index next to its project
PRIVATE_FOLDER: Final = 0o700
# Stems of files that are replaced by writing `.STEM-…` beside them.
_REPLACED: Final = (
    *("contracts", "encryption", "graph", "learning", "ledger", "map", "memory-md", "owner"),
    *("phases", "sharing", "tokens", "trust", "weights"),
)
# Prefixes of graphmem's own files. A directory with other files also serves other purposes.
_OURS: Final = (
    *(
        "graph.",
        "contracts.json",
        "sharing.",
        "project.key",
        "explorer.",
        "memories",
        "words-",
        "facts.",
        "inputs.",
        "past.",
        "parsing.",
        "unfinished.",
        "history.",
        "ledger.",
        "paragraphs.",
        "evidence",
        "inbox",
    ),
    *(
        "encryption.json",
        "tokens.json",
        "owner.json",
        "starting.lock",
        "server.log",
        "trust.json",
        "learning.json",
        "memory-md.json",
    ),
    *("phases.json", "weights.json", "pushed.json", "pushing", "user", "branches"),
    *(f".{stem}-" for stem in _REPLACED),
    *("backups", ".backup-", ".restore-", "sandbox", "trails", "sessions", ".gitignore"),
    *FOR_PEOPLE,
)

_log = logging.getLogger(__name__)


def prepare_data_dir(data_dir: Path) -> None:
    """Create the index directory, hidden from git and from other accounts.

    A read-only directory is left unchanged.

    Raises:
        BadInputError: the directory cannot be created, or its path is not UTF-8.
    """
    if not is_utf8(data_dir):
        raise BadInputError(
            f"the path of the index {str(data_dir)!a} is not UTF-8, and the database cannot open it; rename the directory",
            argument="db",
            path=ascii(str(data_dir)),
        )
    try:
        data_dir.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        hide_from_git(data_dir)
    except OSError as error:
        if not os.access(data_dir, os.W_OK) and os.access(data_dir / DATABASE, os.R_OK):
            return  # it still answers questions
        there = os.path.isdir(data_dir)  # noqa: PTH112 -- says no where Path.is_dir raises
        said = f"{data_dir} cannot be written to ({error.strerror})" if there else f"cannot make {data_dir}: {error.strerror or error}"
        raise BadInputError(
            f"{said}; change its permissions, or name another directory with --db", argument="db", path=str(data_dir)
        ) from error


def close_to_others(data_dir: Path) -> None:
    """Remove access of other accounts to an index and its files.

    Memories may be private, so the new permissions do not depend on the umask. Files that people wrote keep their permissions, because
    people may share them. If the directory also has other content, the directory and its subdirectories keep their permissions, too.
    """
    try:
        entries = sorted(data_dir.iterdir())
        alone = data_dir.name == NAME or all(one.name.startswith(_OURS) for one in entries)
        if alone:
            _restrict(data_dir)
        for entry in entries:
            if entry.name.startswith(_OURS) and entry.name not in FOR_PEOPLE:
                if entry.is_file():
                    _restrict(entry)
                elif alone:
                    for one in (entry, *entry.rglob("*")):
                        _restrict(one)
    except OSError as error:  # owned by another account, or on a read-only disk: no permission can be removed
        _log.info("the permissions of %s could not be changed: %s", data_dir, error)


def open_to_others(data_dir: Path) -> bool:
    """Return whether other accounts of this machine may read an index."""
    return bool(data_dir.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _restrict(path: Path) -> None:
    """Remove the access of other accounts to a file or directory.

    Links, and files of other accounts, are unchanged.
    """
    try:
        found = path.lstat()
        if not stat.S_ISLNK(found.st_mode) and is_own(found) and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            path.chmod(PRIVATE_FOLDER if stat.S_ISDIR(found.st_mode) else PRIVATE)
    except FileNotFoundError:
        return  # it existed only for a moment


def open_in(database: Path) -> Holder | None:
    """Return the process that has a database open, according to the lock file.

    The result is None without a lock file, or if the last process closed the database properly.
    """
    record = read_record(database)
    return None if record is None or record.clean else record.owner


def root_of_copy(data_dir: Path, before: str, project: Path) -> str:
    """Return the new root of a project whose index was copied or moved.

    The result is "" if the index was neither copied nor moved. It is also "" if `data_dir` is not the `.graphmem` directory of `project`.

    Args:
        data_dir: the index directory.
        before: the root that was indexed.
        project: the root for which the index was opened.
    """
    here = project.resolve()
    if not before or data_dir.resolve() != here / NAME or Path(before) == here:
        return ""
    original = Path(before) / NAME
    copied = original.is_dir() and not original.samefile(data_dir)
    return str(here) if copied or not Path(before).is_dir() else ""


def refuse_a_strangers(data_dir: Path) -> None:
    """Refuse an index that came with a repository.

    Such an index could contain another person's memories, which would pass for the user's own. An index that graphmem creates is hidden
    from git. So an index that git tracks is refused. Only files that people write in the index directory may be tracked.

    Raises:
        BadInputError: git tracks the index, or a directory above it is not accessible.
    """
    from graphmem.indexing import git

    place = data_dir.absolute()
    try:
        if not place.exists():
            return
    except PermissionError as error:
        raise BadInputError(
            f"the index directory {place} cannot be entered ({error.strerror}); change its permissions, or choose another directory "
            "with --db",
            argument="db",
            path=str(place),
        ) from error
    try:
        tracked = git.run(place.parent, "ls-files", "-z", "--cached", "--", place.name)
    except GitError:  # no git, no repository, or one that git does not trust: this user cloned nothing here
        return
    name = place.name.encode("utf-8", "surrogateescape")
    allowed = {name + b"/" + one.encode() for one in (*FOR_PEOPLE, ".gitignore")}
    strange = [one for one in tracked.split(b"\0") if one and b"/".join(one.split(b"/")[:2]) not in allowed]
    if strange:
        raise BadInputError(
            f"git tracks {strange[0].decode('utf-8', 'replace')}, so the index in {data_dir} may come from another person; delete "
            f"the directory and run `graphmem index`, or, if the index is yours, stop tracking it with `git rm -r --cached {place.name}`",
            argument="db",
            path=str(data_dir),
        )
