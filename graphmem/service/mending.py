"""A database that cannot be used any more is put aside, and a new one takes its place: it can be made again.

The memories come back from their journal when the index is opened, the code with the next index run, the projections from both. Nothing
is deleted but what was derived.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from graphmem.errors import DatabaseDamagedError, MigrationError
from graphmem.memory.book import FOLDER as JOURNAL
from graphmem.projection.projections import GRAPH_FILE
from graphmem.service import backup as backups
from graphmem.service.place import close_to_others
from graphmem.store import files, open_store
from graphmem.store.lock import DatabaseLock
from graphmem.store.opening import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

_log = logging.getLogger(__name__)


def open_or_mend(path: Path, settings: Settings) -> GraphStore:
    """Open the database of an index; one that is damaged is put aside first, which the store's notes then say.

    One in an older storage format of the engine is put aside as well: no newer engine reads it, the graphmem that made it does.

    Raises:
        SchemaTooNewError, MigrationError, SettingsError: it is whole, but not for this graphmem or this engine.
        StoreBusyError, DiskFullError: see `store.open_store`.
    """
    try:
        return _open(path, settings)
    except DatabaseDamagedError as error:
        said = put_aside(path, settings.engine, str(error.facts.get("reason", error.message)))
    except MigrationError as error:
        if error.facts.get("found", 0) >= error.facts.get("known", 0) or not any((path.parent / JOURNAL).glob("journal-*")):
            raise  # newer, or not the storage format, or the memories are in this file and nowhere else
        form = error.facts["found"]
        said = put_aside(path, settings.engine, f"it is in storage format {form}, which the graphmem that made it opens under its old name")
    store = _open(path, settings)
    store.notes[:0] = [*said, "the memories were made again from their journal; index again to have the code back"]
    for note in store.notes:
        _log.info("%s", note)  # the answers say it: a refusal, the summary of the next index run, health
    return store


def put_aside(path: Path, engine: str, why: str) -> list[str]:
    """Rename a database with all that belongs to it, and delete what was derived from it; one sentence for each file renamed."""
    resolved = resolve(path)
    lock = DatabaseLock(resolved, engine, shared=False)
    try:
        said = files.quarantine([one for one in (resolved, *files.side_files(resolved)) if one.exists()], why)
        for derived in (resolved.parent / GRAPH_FILE, *resolved.parent.glob("words-*")):
            derived.unlink(missing_ok=True)  # of a generation number that the new database will have again
    finally:
        lock.release()
    return said


def _open(path: Path, settings: Settings) -> GraphStore:
    store = open_store(
        path,
        engine=settings.engine,
        buffer_pool_bytes=settings.buffer_pool_mb << 20,
        max_db_bytes=settings.max_db_gb << 30,
        keep=partial(backups.before_change, path.parent, settings),
    )
    if gone := backups.clear_leftovers(path.parent):
        _log.info("of a backup that was never finished: %s deleted", ", ".join(gone))
    close_to_others(path.parent)
    return store
