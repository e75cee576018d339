"""Recorded facts about a closed database, which need not be opened.

The facts are the metadata, the names of the tables of vectors, and the numbers of memories, vectors and chunks with a vector. When a
database is closed properly, the facts are recorded in the lock file. They are valid while the bytes of the database file are unchanged. A
server that only needs these facts starts in a third less time, and a new process answers most questions with them.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphmem.store.engine.engine import Engine
from graphmem.store.file import files
from graphmem.store.file.files import NEXT, beside
from graphmem.store.file.lock import Record
from graphmem.store.file.migrate import load_migrations
from graphmem.store.tables.tables import EmbeddingTable
from graphmem.store.writes import embeddings

if TYPE_CHECKING:
    import pyarrow as pa

    from graphmem.store.engine.engine import Connection
    from graphmem.store.tables.catalog import Catalog


class Counts(NamedTuple):
    """Numbers of memories, vectors and chunks with a vector in a database."""

    memories: int
    vectors: dict[str, int]  # by the id of their embedding model
    covered: dict[str, int]  # chunks (pieces of files) with a vector, by model; a model is missing if nobody counted them


class Known(NamedTuple):
    """Recorded facts about a closed database."""

    meta: dict[str, str]
    vector_tables: list[EmbeddingTable]
    counts: Counts


def count(connection: Connection, catalog: Catalog, vector_tables: list[EmbeddingTable], covered: dict[str, int]) -> Counts:
    """Count the memories and vectors of an open database.

    `catalog` has the stored queries, and `vector_tables` the tables with vectors. `covered` is the number of chunks with a vector, by
    embedding model. The database cannot count them, because it packs chunks by file.
    """

    def ask(query: str, **values: object) -> pa.Table:
        return connection.arrow(*catalog[query].bind(values))

    return Counts(count_memories(connection, catalog), embeddings.models(ask, vector_tables), covered)


def count_memories(connection: Connection, catalog: Catalog) -> int:
    """Return the number of memories of any status in an open database."""
    return sum(int(row[-1]) for row in connection.rows(*catalog["memory_counts"].bind({})).rows)


def encoded_facts(engine: Engine, known: Known) -> str:
    """Return, as JSON, the facts that the lock file records about a database.

    The caller records the result when the database is closed properly.
    """
    dims = [table.dim for table in known.vector_tables]
    return json.dumps({"form": _form(engine), "meta": dict(known.meta), "dims": dims, **known.counts._asdict()}, sort_keys=True)


def recorded_facts(path: Path, engine: Engine, previous: Record | None) -> Known | None:
    """Return the facts that the lock file records about a closed database.

    The result is None if the file must be opened for checks or migrations.

    Args:
        path: the resolved path, which the caller has locked.
        engine: the engine that would open the file.
        previous: the content of the lock file.
    """
    if previous is None or not previous.clean or not previous.known or not previous.checksum or not path.exists():
        return None
    if not os.access(path, os.R_OK | os.W_OK):  # the engine reports this with a message of its own
        return None
    if files.size_of(path) != previous.size or files.side_files(path) or beside(path, NEXT).exists():
        return None
    try:
        left = json.loads(previous.known)
        counts = Counts(int(left["memories"]), dict(left["vectors"]), dict(left["covered"]))
        found = Known(dict(left["meta"]), [EmbeddingTable(dim) for dim in left["dims"]], counts)
    except (ValueError, KeyError, TypeError):
        return None
    return found if left["form"] == _form(engine) and files.checksum(path) == previous.checksum else None


def _form(engine: Engine) -> str:
    """Return a hash of the engine's version and the schema's migrations.

    If the lock file of a closed database has the same hash, the database needs no migration.
    """
    parts = [engine.name, engine.version, *(migration.sha256 for migration in load_migrations())]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
