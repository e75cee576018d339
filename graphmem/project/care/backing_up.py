"""Backups of an index: create on request or at intervals, and restore."""

from __future__ import annotations

import logging
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.answers.upkeep import BackupInfo, RestoreAnswer
from graphmem.errors import BadInputError, EncryptionError
from graphmem.location import BACKUPS, DATABASE, JOURNAL
from graphmem.maintenance import archive as archives
from graphmem.maintenance import backup as backups
from graphmem.memory.files.rules import FOLDER as RULES
from graphmem.runtime.files.vault import FILE as ENCRYPTION
from graphmem.runtime.files.vault import read_mark
from graphmem.store.capabilities import local_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.project.care.runs import IndexRuns
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore
    from graphmem.vectors.filler import VectorFiller

_log = logging.getLogger(__name__)


def _is_rule(name: str) -> bool:
    """Whether a file in a backup is in the directory of rules for agents.

    `name` is the path of the file inside the backup. The comparison ignores upper and lower case.
    """
    return name.partition("/")[0].casefold() == RULES


def _new_rules(manifest: archives.Manifest, staging: Path, data_dir: Path) -> list[str]:
    """Return names of the new or changed rule files in a backup.

    A rule file holds instructions for agents. A rule file that the project has with the same content is left out. `staging` is the
    directory with the unpacked backup.
    """
    return sorted(
        name.partition("/")[2] or name
        for name in manifest.files
        if _is_rule(name) and not ((data_dir / name).is_file() and (data_dir / name).read_bytes() == (staging / name).read_bytes())
    )


def _expect_same_key(archive: Path, staging: Path, data_dir: Path) -> None:
    """Refuse a backup whose memories are encrypted with a different key.

    An encrypted backup of a plain index, or a plain backup of an encrypted index, is refused, too. `archive` is the backup, and `staging`
    the directory with its unpacked files.

    Raises:
        EncryptionError: restoring would mix plain and encrypted texts, or texts encrypted with two keys.
    """
    theirs, mine = (mark["key_id"] if mark is not None else "" for mark in map(read_mark, (staging, data_dir)))
    if theirs != mine:
        said = f"encrypted with key {theirs}" if theirs else "not encrypted"
        remedy = (
            f"run `graphmem memory {'decrypt' if mine else 'encrypt --key-file FILE'}` first"
            if not (mine and theirs)
            else "restore the backup into a new directory with --db, and set GRAPHMEM_MEMORY_KEY_FILE to the key of the backup"
        )
        raise EncryptionError(
            f"the memories in the backup {archive.name} are {said}, unlike the memories of this index; {remedy}", path=str(archive)
        )


@dataclass(eq=False, repr=False)
class Backups:
    """Creates and restores backups of an index."""

    store: GraphStore
    book: MemoryRepository
    projections: Projections
    vectors: VectorFiller
    data_dir: Path
    settings: Settings
    runs: IndexRuns
    reopen: Sequence[Callable[[], object]]  # each closes a file that a restore replaces; the next question opens the new one

    def backup(self, dest: str | Path | None = None, portable: bool = False) -> BackupInfo:
        """Back up the database and other data that graphmem cannot rebuild.

        Before the call returns, the backup is read back and opened as a check. Queries continue meanwhile. Writes of memories wait while
        the database file is copied, but not with `portable`.

        Args:
            dest: a directory, or the name of a new .zip; None for `backups` in the index directory.
            portable: make a slower backup that every engine and every later graphmem can read.

        Raises:
            BadInputError, DiskFullError, DatabaseDamagedError: see `maintenance.backup.make`.
        """
        return self._made(Path(dest).expanduser() if dest is not None else None, portable=portable)

    def _made(self, path: Path | None = None, *, portable: bool = False, kind: str = "") -> BackupInfo:
        """Make a backup of the index, with `kind` as a part of its file name.

        With `portable`, the backup has tables instead of the engine's file. `path` is a directory or a new .zip file; None for `backups` in
        the index directory.
        """
        self.book.flush()
        return backups.make(self.store, self.book, self.data_dir, self.settings, path, portable=portable, kind=kind)

    def backups(self) -> list[BackupInfo]:
        found = []
        for path, said in backups.readable(self.data_dir):
            facts = (said.made_at, said.project, said.engine, path.stat().st_size, said.generation, said.memories, said.entries, 0.0)
            found.append(BackupInfo(str(path), *facts))
        return found

    def restore(self, file: str | Path, rules: bool = False) -> RestoreAnswer:
        """Restore a backup: code, memories and everything else it holds.

        The current state is backed up first.

        Args:
            file: a path, or the file name of a backup in the index's `backups` directory.
            rules: also restore the rule files in the backup, which are instructions for agents. Otherwise the answer names these files.

        Raises:
            BadInputError: the file is not a backup, or belongs to another project.
            DatabaseDamagedError, SettingsError: the backup is incomplete, or was made by another engine; nothing was changed.
            UnsupportedError: the store has no database file.
        """
        local = local_file(self.store, "restoring a backup")
        archive = self._archive(file)
        manifest = archives.read_manifest(archive)
        archives.expect_engine(manifest, archive, self.settings.engine)
        with self.runs.turn:
            self._expect_same_project(manifest, archive)
            self.vectors.pause()
            with backups.opened(archive, self.settings, beside=self.data_dir) as (manifest, staging):
                _expect_same_key(archive, staging, self.data_dir)
                something = bool(self.store.generation() or self.book.journal.head.number)
                before = self._made(kind="before-restore").path if something else ""
                with self.book.writing():
                    self.book.flush()
                    local.exchange(staging / DATABASE)
                    self._adopt_journal(staging)
                for close in self.reopen:
                    close()
                brought = _new_rules(manifest, staging, self.data_dir)
                self._put_files(manifest, staging, rules=rules)
            self.vectors.look_again()
            self.runs.forget_indexer()
            if self.store.generation():
                self.projections.refresh(self.store.generation(), None)
        self.vectors.resume()
        files = len(self.store.file_hashes())
        return RestoreAnswer(str(archive), manifest.made_at, files, len(self.book.index()), before, list(self.book.notes), brought, rules)

    def _archive(self, file: str | Path) -> Path:
        """Return the absolute path of a backup, which may be missing.

        `file` is a path, or the file name of a backup in the index's `backups` directory.

        Raises:
            BadInputError: the path is invalid.
        """
        try:
            archive = Path(file).expanduser()
            archive.stat()
        except FileNotFoundError:
            pass  # reported by the caller, unless it is in the index's own folder
        except (OSError, ValueError, RuntimeError) as error:  # the name is too long, contains a null, or has an unknown ~user
            raise BadInputError(
                f"the backup {str(file)[:200]!r} cannot be read ({error}); give the path of a backup", argument="file"
            ) from error
        own = self.data_dir / BACKUPS / archive.name
        return own.absolute() if archive.name == str(file) and not archive.exists() and own.exists() else archive.absolute()

    def _expect_same_project(self, manifest: archives.Manifest, archive: Path) -> None:
        here = self.store.meta().get("project", "")
        if here and manifest.project != here and (self.store.generation() or len(self.book.index())):
            raise BadInputError(
                f"{archive.name} is a backup of the project {manifest.project}, but this index belongs to {here}; restore the backup "
                "into another directory with --db",
                argument="file",
                project=manifest.project,
            )

    def _adopt_journal(self, staging: Path) -> None:
        """Replace the journal of memories by that of an unpacked backup."""
        journal = staging / JOURNAL
        journal.mkdir(exist_ok=True)
        adopted = self.book.journal.folder.with_name(JOURNAL + ".new")
        shutil.rmtree(adopted, ignore_errors=True)
        journal.rename(adopted)
        self.book.adopt_journal(adopted)

    def _put_files(self, manifest: archives.Manifest, staging: Path, *, rules: bool) -> None:
        """Move the files of an unpacked backup to the index directory.

        The database, the journal and the key stay. `rules` includes the files with rules for agents.
        """
        for name in manifest.files:
            if (not rules and _is_rule(name)) or name == ENCRYPTION:
                continue
            if name != DATABASE and not name.startswith((JOURNAL + "/", archives.DUMP + "/")):
                target = self.data_dir / name
                target.parent.mkdir(parents=True, exist_ok=True)
                (staging / name).replace(target)
                for side in ("-wal", "-shm"):  # they belong to the old file; the engine would replay them into the new one
                    target.with_name(target.name + side).unlink(missing_ok=True)

    def backup_when_due(self) -> BackupInfo | None:
        """Make a portable backup if one is due, and delete old ones.

        A backup is due if something changed since the last backup, and that backup is older than the setting `backup_hours`. If there is no
        backup, the first one is due as soon as the index has content. Of the backups made here, only the newest `backup_keep` are kept.

        Returns:
            The new backup; None if none was due.
        """
        if self.store.local is None:  # the database's own tools save it
            return None
        hours = self.settings.backup_hours
        newest = backups.listed(self.data_dir)[-1:]
        if not hours or (newest and time.time() - newest[0].stat().st_mtime < hours * 3600):
            return None
        here = (self.store.generation(), self.book.journal.head.number)
        if here == (0, 0):
            return None
        intact = next(backups.readable(self.data_dir), None)
        if intact is not None:
            path, said = intact
            if (said.generation, said.entries) == here:
                os.utime(path)  # nothing changed since, so it counts as new
                return None
        made = self._made(portable=True, kind=backups.AUTO)  # portable: readable after the engine's storage format changes
        for gone in backups.rotate(self.data_dir, self.settings.backup_keep):
            _log.info("deleted the backup %s, a newer one replaces it", gone.name)
        return made
