"""Open a graph in PostgreSQL for an index directory.

The directory keeps copies of the graph for fast reads (projections), caches, and a journal of the memories. Projections and caches fit one
graph, so they are deleted if the directory is opened with another graph. The journal has only the writes from this directory. If another
directory wrote to the graph after this one, the journal is renamed, because it is then incomplete.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import BadInputError, StoreUnreachableError
from graphmem.location import DATABASE, JOURNAL, SHARED
from graphmem.project.team.sharing import choose_key, kept_key
from graphmem.projection.loading import GRAPH_FILE
from graphmem.projection.memories.file import FILE as MEMORIES_FILE
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.network.server_address import SCHEMES, shown
from graphmem.settings import Settings
from graphmem.store.postgres.connections import Connections
from graphmem.store.postgres.store import PostgresStore, open_postgres

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.model import GraphDelta
    from graphmem.projection.projections import Projections
    from graphmem.store.base import Feed

_DERIVED: Final = (GRAPH_FILE, MEMORIES_FILE, "words-*", "inputs.sqlite*", "explorer.projection")


class _Mark(NamedTuple):
    """The PostgreSQL graph to which an index directory belongs.

    The file `graph.shared` in the index directory stores the fields.
    """

    address: str  # without a password
    home: str  # identity of this index directory
    database: str = ""  # identity of the graph at the last open


def expect_reachable(address: str) -> None:
    """Check that a PostgreSQL database answers.

    Raises:
        BadInputError: the address is invalid.
        StoreUnreachableError: the database does not answer, or the driver is missing.
    """
    _expect_postgres(address)
    Connections(address, "public").connect().close()


def open_shared(data_dir: Path, root: Path | None, settings: Settings) -> PostgresStore:
    """Open the graph of an index in PostgreSQL.

    Args:
        data_dir: the index directory, which exists.
        root: the project's directory; None if unknown.
        settings: `store` is the address of the database. If it is empty, the address of the last call is used. The password in an address
            is not stored.

    Raises:
        BadInputError: the index directory already has a database file of its own, or the address is invalid.
        StoreUnreachableError, StoreBusyError: see `open_postgres`.
    """
    mark = _read(data_dir / SHARED)
    if mark is None and (data_dir / DATABASE).exists():
        raise BadInputError(
            f"the index in {data_dir} keeps its graph in a file, not in PostgreSQL; choose another directory with --db to use PostgreSQL",
            argument="store",
            path=str(data_dir),
        )
    if settings.store:
        _expect_postgres(settings.store)
    mark = mark or _Mark("", uuid.uuid4().hex)
    beside = data_dir.parent if data_dir.name == ".graphmem" else None
    key = kept_key(data_dir) or choose_key(data_dir, root or beside)
    try:
        place = str(root) if root else ""
        store = open_postgres(settings.store or mark.address, key, data_dir / DATABASE, place, mark.home, follow=settings.follow)
    except StoreUnreachableError as error:
        if settings.store or not error.facts.get("address"):  # without an address, no other one would help
            raise
        fault, _, advice = error.message.rpartition("; ")
        raise StoreUnreachableError(
            f"{fault}; {advice}. The address is that of the last run, so if the database has moved, give the new one with --store",
            **error.facts,
        ) from error
    if mark.database not in ("", store.database):
        store.notes.append(f"{mark.address} has another graph than at the last run; projections are built again")
    if mark.database != store.database:
        for derived in (one for pattern in _DERIVED for one in data_dir.glob(pattern)):
            derived.unlink()
    if not settings.follow and store.before not in ("", mark.home) and any((data_dir / JOURNAL).glob("journal-*")):
        renamed = data_dir / f"{JOURNAL}-{uuid.uuid4().hex[:8]}"
        (data_dir / JOURNAL).rename(renamed)
        store.notes.append(f"memories were written from another index directory; the journal of this one was kept as {renamed.name}")
    kept = _Mark(shown(settings.store) or mark.address, mark.home, store.database)
    replace_file(data_dir / SHARED, json.dumps(kept._asdict()).encode(), durable=True)
    return store


def expect_same_store(data_dir: Path, settings: Settings) -> None:
    """Check that a served index keeps its graph where the settings say.

    Raises:
        BadInputError: the graph is in a file, or in another database.
    """
    mark = _read(data_dir / SHARED)
    if mark is None or mark.address != shown(settings.store):
        place = mark.address if mark is not None else f"a file in {data_dir}"
        raise BadInputError(
            f"a server serves this project from {place}, not from {shown(settings.store)}; stop that server, or name another directory "
            "with --db",
            argument="store",
        )


def follow(feed: Feed, projections: Projections) -> Callable[[], None]:
    """Update this machine's copies of the graph after changes elsewhere.

    `feed` reports the changes, and `projections` are the copies for fast reads. Returns a function that ends the updates.
    """
    is_new = False

    def code(generation: int, delta: GraphDelta | None) -> None:
        nonlocal is_new
        is_new = delta is None
        if is_new or projections.graph().generation < generation:  # reading everything may have overtaken the feed
            projections.refresh(generation, delta, again=is_new)

    def knowledge(generation: int) -> None:
        nonlocal is_new
        projections.refresh_knowledge(generation, None, again=is_new)
        is_new = False

    feed.follow(code, knowledge)
    return feed.close


def _read(path: Path) -> _Mark | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return _Mark(str(found["address"]), str(found["home"]), str(found["database"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInputError(
            f"{path}, which keeps the address of the PostgreSQL database, is damaged; delete the file and give the address with --store",
            argument="store",
            path=str(path),
        ) from error


def _expect_postgres(address: str) -> None:
    if not address.startswith(SCHEMES):
        raise BadInputError(
            "the value of --store must be the address of a PostgreSQL database; write postgresql://host/name", argument="store"
        )
