"""What is known of a database that lies closed, without opening it: an owner that is only asked starts in a third less time.

Whoever closes a database properly leaves in its lock file, beside size and checksum, the small facts of Meta and which tables of vectors
there are. As long as the bytes are those that were left, these hold, and the engine is opened by the first who needs it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from graphmem.store import files
from graphmem.store.engine import Engine
from graphmem.store.files import NEXT, beside
from graphmem.store.lock import Record
from graphmem.store.migrate import load_migrations
from graphmem.store.tables import EmbeddingTable


class Known(NamedTuple):
    """A closed database, as whoever closed it knew it."""

    meta: dict[str, str]
    vector_tables: list[EmbeddingTable]


def told(engine: Engine, meta: Mapping[str, str], vector_tables: Sequence[EmbeddingTable]) -> str:
    """What to leave in the lock file of a database that was closed properly."""
    return json.dumps({"form": _form(engine), "meta": dict(meta), "dims": [table.dim for table in vector_tables]}, sort_keys=True)


def known(path: Path, engine: Engine, previous: Record | None) -> Known | None:
    """What the last owner left, when the file needs nothing but to be opened; None when only opening it tells.

    Args:
        path: resolved, and locked by the caller.
        engine: the one that would open it.
        previous: what the lock file says.
    """
    if previous is None or not previous.clean or not previous.known or not previous.checksum or not path.exists():
        return None
    if not os.access(path, os.R_OK | os.W_OK):  # which the engine has a sentence for
        return None
    if files.size_of(path) != previous.size or files.side_files(path) or beside(path, NEXT).exists():
        return None
    try:
        left = json.loads(previous.known)
        found = Known(dict(left["meta"]), [EmbeddingTable(dim) for dim in left["dims"]])
    except (ValueError, KeyError, TypeError):
        return None
    return found if left["form"] == _form(engine) and files.checksum(path) == previous.checksum else None


def _form(engine: Engine) -> str:
    """What a file has to be made by to be opened without more ado: this engine, these migrations."""
    parts = [engine.name, engine.version, *(migration.sha256 for migration in load_migrations())]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
