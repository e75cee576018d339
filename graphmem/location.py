"""Location of a project's index and of a user's data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import SettingsError
from graphmem.runtime.files.home import home
from graphmem.settings import DEFAULT_ORIGIN, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

JOURNAL: Final = "memories"  # directory of the memories' journal in the data directory
DATABASE: Final = "graph.db"  # file of the graph database in the data directory
BACKUPS: Final = "backups"  # directory of backups in the data directory
OWNER: Final = "owner.json"  # file in the data directory that names its server
SHARED: Final = "graph.shared"  # file in the data directory that says where a graph in PostgreSQL is


@dataclass(frozen=True, slots=True)
class Location:
    """The directory of an index, and the root of its project if known.

    The directory contains the whole index, so it can be moved or deleted as a whole.
    """

    data_dir: Path
    root: Path | None  # root of the project, if known without opening the index

    @property
    def owner_file(self) -> Path:
        """Path of `owner.json`, which names the process that owns the index."""
        return self.data_dir / OWNER

    @property
    def database(self) -> Path:
        """The embedded graph database; it exists after the first index run."""
        return self.data_dir / DATABASE

    @property
    def exists(self) -> bool:
        """Whether an index exists in this directory.

        Returns True for an unreadable index; opening it reports the error.
        """
        try:
            return self.database.exists() or (self.data_dir / SHARED).exists()
        except PermissionError:
            return True

    @property
    def has_memories(self) -> bool:
        """Whether a journal exists, from which memories can be restored."""
        return any((self.data_dir / JOURNAL).glob("journal-*"))


def find_project(start: Path) -> Path:
    """Find the root of the project for a command without a path.

    The root is the nearest directory at or above `start` that has an index. Without an index, it is the nearest one with a git repository;
    without a repository, it is `start`. The search does not go above the root of a linked git worktree.
    """
    start = start.resolve()
    line = [start, *start.parents]
    inner = next((at for at, directory in enumerate(line) if _is_worktree(directory)), len(line))
    line = line[: inner + 1]  # a worktree inside another one is a project of its own
    for mark in (".graphmem", ".git"):
        for directory in line:
            if (directory / mark).exists() and (mark != ".graphmem" or not _is_persons(directory)):
                return directory
    return start


def _is_worktree(directory: Path) -> bool:
    """Whether a directory is the root of a linked worktree of git."""
    link = directory / ".git"
    try:
        return link.is_file() and "/.git/worktrees/" in link.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _is_persons(directory: Path) -> bool:
    """Whether the `.graphmem` in a directory has a user's files, but no index.

    This is assumed of the home directory, if its `.graphmem` contains no database.
    """
    return directory == home().resolve() and not (directory / ".graphmem" / DATABASE).exists()


def locate(root: Path | None, settings: Settings, environ: Mapping[str, str] | None = None) -> Location:
    """Determine the location of the index of the project at `root`.

    `environ` has the environment variables that name the user's data directory.

    If the setting `db` is given, its value is the index directory. If the setting `home` is on, the index is in the user's data directory.
    Otherwise, the index is in the directory `.graphmem` of the project. If this directory is missing and the user's data directory has an
    index of the project, that index is used.

    Raises:
        SettingsError: neither a project nor `db` is given, or `db` is a file.
    """
    if settings.db:
        path = Path(settings.db).expanduser().resolve()
        if path.exists() and not path.is_dir():
            raise SettingsError(
                f"{settings.origin('db')} is {settings.db}, which is a file, but an index is a directory; set it to the directory that "
                "contains this file",
                setting="db",
                value=settings.db,
                origin=settings.origin("db"),
            )
        return Location(path, root)
    if root is None:
        raise SettingsError(
            "neither a project nor an index is given; give the directory of one of them", setting="db", value="", origin=DEFAULT_ORIGIN
        )
    root = root.resolve()
    beside, apart = root / ".graphmem", user_data_dir(environ or {}) / "graphmem" / _directory_name(root)
    if settings.home or (apart.is_dir() and not beside.is_dir()):
        return Location(apart, root)
    return Location(beside, root)


def models_dir(environ: Mapping[str, str]) -> Path:
    """The directory of prepared embedding models, shared by a user's projects.

    The environment variables `environ` name the user's data directory, which contains it.
    """
    return user_data_dir(environ) / "graphmem" / "models"


def user_data_dir(environ: Mapping[str, str]) -> Path:
    """The directory for a user's data: `XDG_DATA_HOME`, or `~/.local/share`.

    `environ` has the environment variables.
    """
    given = environ.get("XDG_DATA_HOME", "")
    return Path(given) if given.startswith("/") else home() / ".local" / "share"


def _directory_name(root: Path) -> str:
    """Return a directory name: the project's name and a hash of its path.

    The hash distinguishes projects of the same name.
    """
    import hashlib

    return f"{root.name or 'root'}-{hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()}"
