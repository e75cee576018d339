"""Quarantine an unusable database and rebuild it.

Only derived data is deleted. Memories are restored from their journal when the index is opened. The next index run restores the code.
Projections (copies in memory) are built from both. If the database has another storage format, the engine cannot read it. Then the newest
portable backup of the index is restored first: it has code, vectors and modules. Memories that are newer than the backup come from the
journal.
"""

from __future__ import annotations

import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError, DatabaseDamagedError, MigrationError
from graphmem.location import DATABASE
from graphmem.maintenance import backup as backups
from graphmem.maintenance.archive import PORTABLE
from graphmem.maintenance.place import close_to_others
from graphmem.projection.loading import GRAPH_FILE
from graphmem.runtime.worktree import journal_folder
from graphmem.store import open_store
from graphmem.store.file import files
from graphmem.store.file.lock import DatabaseLock
from graphmem.store.file.opening import proven_damage, resolve

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.settings import Settings
    from graphmem.store.base import GraphReads, GraphStore

LOST_CODE: Final = "lost_code"  # store meta: why the database is new

_log = logging.getLogger(__name__)


def open_or_mend(path: Path, settings: Settings) -> GraphStore:
    """Open the database of an index; quarantine a damaged one first.

    A database in an older storage format is quarantined, too, because only the graphmem version that wrote it can read it. A quarantined
    database is replaced by a new one, or by the newest portable backup. The notes of the returned store report the quarantine.

    Raises:
        SchemaTooNewError, MigrationError, SettingsError: the database is intact, but needs another graphmem or engine.
        StoreBusyError, DiskFullError: see `store.open_store`.
    """
    aside = _folders_aside(path, settings.engine)
    if not path.exists() and any(journal_folder(path.parent).glob("journal-*")):
        said = aside or [f"{path.name} was missing and was replaced by a new one"]
        _remove_derived(path)
        return _emptied(_open(path, settings), said)
    try:
        opened = _open(path, settings)
        return _with_notes(opened, aside) if aside else opened
    except DatabaseDamagedError as error:
        said = put_aside(path, settings.engine, _proof(error, path, settings))
    except MigrationError as error:
        if error.facts.get("found", 0) >= error.facts.get("known", 0):
            raise  # newer, or another cause than the storage format
        form = error.facts["found"]
        why = f"only the graphmem version that made it can read its storage format {form}"
        if (store := _from_dump(path, settings, why)) is not None:
            return store
        if not any(journal_folder(path.parent).glob("journal-*")):
            raise  # the memories exist only in this file
        said = put_aside(path, settings.engine, why)
    return _emptied(_open(path, settings), said)


def _folders_aside(path: Path, engine: str) -> list[str]:
    """Quarantine directories that have the path of the database or lock file.

    A directory that has the path of the database is quarantined only if a journal exists, from which the memories can be restored. Returns
    one sentence for each directory.
    """
    said: list[str] = []
    why = "it is a directory in place of a file"
    if not os.access(path.parent, os.W_OK):
        return said
    locked = files.beside(path, ".lock")
    if locked.is_dir() and not locked.is_symlink():
        said += files.quarantine([locked], why)
    if path.is_dir() and not path.is_symlink() and any(journal_folder(path.parent).glob("journal-*")):
        lock = DatabaseLock(path, engine, shared=False)
        try:
            said += files.quarantine([path], why)
        finally:
            lock.release()
    return said


def _proof(error: DatabaseDamagedError, path: Path, settings: Settings) -> str:
    """Return the reason why a database must be quarantined, or raise `error`.

    `error` is the engine's error in this process. This error alone is not sufficient. A separate process must fail to open the database,
    too.

    Raises:
        DatabaseDamagedError: `error`, if a separate process could open the database, or its directory cannot be changed.
        ResourceError, DiskFullError, BadInputError, StoreBusyError: the check was not possible.
    """
    if not os.access(path.parent, os.W_OK):
        raise error
    if error.facts.get("proven"):
        return str(error.facts["reason"])
    if why := proven_damage(path, settings.engine, settings.buffer_pool_mb << 20, settings.max_db_gb << 30):
        return why
    raise error


def lost_code(store: GraphReads) -> str:
    """Return the reason why the indexed code was lost, or "".

    The result is "" if the database has code, or never had code.
    """
    return store.meta().get(LOST_CODE, "") if not store.generation() else ""


def _emptied(store: GraphStore, notes: list[str]) -> GraphStore:
    """Record in the new database `store` that it replaces a lost one.

    `notes` has sentences on the loss. They stay recorded until code is indexed again. The notes of the returned store contain them, too.
    """
    store.set_meta({LOST_CODE: "; ".join(notes)})
    return _with_notes(store, [*notes, "memories are rebuilt from their journal; run `graphmem index` to index the code again"])


def _from_dump(path: Path, settings: Settings, why: str) -> GraphStore | None:
    """Replace a database by the newest intact portable backup.

    The old database is quarantined for the reason `why`. Without an intact portable backup, nothing is changed and None is returned.
    """
    for dump, known in backups.readable(path.parent):
        if known.engine != PORTABLE:
            continue
        try:
            with backups.opened(dump, settings, beside=path.parent) as (manifest, staging):
                said = put_aside(path, settings.engine, why, instead=staging / DATABASE)
        except (BadInputError, DatabaseDamagedError) as error:
            _log.warning("%s", error)
            continue
        made = f"it was rebuilt from {dump.name} of {manifest.made_at} and the memories' journal; index again to follow the files"
        return _with_notes(_open(path, settings), [*said, made])
    return None


def _with_notes(store: GraphStore, notes: list[str]) -> GraphStore:
    store.notes[:0] = notes
    for note in store.notes:
        _log.info("%s", note)  # a refusal, the summary of the next index run and health report it
    return store


def put_aside(path: Path, engine: str, why: str, instead: Path | None = None) -> list[str]:
    """Quarantine a database and its side files; delete data derived from it.

    Returns one sentence for each quarantined file.

    Args:
        path: path of the database.
        engine: name of the engine that opens the database next.
        why: reason for the quarantine, in words for people.
        instead: a closed file on the same disk that takes the place of the database.
    """
    resolved = resolve(path)
    lock = DatabaseLock(resolved, engine, shared=False)
    try:
        said = files.quarantine([one for one in (resolved, *files.side_files(resolved)) if one.exists()], why)
        _remove_derived(resolved)
        if instead is not None:
            files.put_in_place(instead, resolved)
            lock.write(clean=False, database="", checkpoint=0, log=0)  # the old record belonged to the other file
    finally:
        lock.release()
    return said


def _remove_derived(path: Path) -> None:
    """Delete data derived from a database that was replaced.

    A new database counts its changes from 1 again, so old derived data could be mistaken for current data.
    """
    for derived in (path.parent / GRAPH_FILE, *path.parent.glob("words-*")):
        derived.unlink(missing_ok=True)


def _open(path: Path, settings: Settings) -> GraphStore:
    store = open_store(
        path,
        engine=settings.engine,
        buffer_pool_bytes=settings.buffer_pool_mb << 20,
        max_db_bytes=settings.max_db_gb << 30,
        keep=partial(backups.before_change, path.parent, settings),
        at_rest=True,
    )
    if gone := backups.clear_leftovers(path.parent):
        _log.info("deleted %s of an incomplete backup", ", ".join(gone))
    close_to_others(path.parent)
    return store
