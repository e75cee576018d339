"""Get a capability that only some stores have, or raise UnsupportedError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.errors import UnsupportedError

if TYPE_CHECKING:
    from graphmem.store.base import CypherQueries, GraphStore, LocalFile


def local_file(store: GraphStore, purpose: str) -> LocalFile:
    """Return the operations on a store's database file, such as `compact`.

    Args:
        store: an open store.
        purpose: the feature that needs the file, as the subject of the error message, such as "a backup".

    Raises:
        UnsupportedError: the store keeps its data on a server and has no file.
    """
    if store.local is None:
        raise UnsupportedError(
            f"{purpose} needs a database file, but {store.engine.name} keeps this index on a server; use the tools of that server instead",
            needs="local",
        )
    return store.local


def cypher_queries(store: GraphStore) -> CypherQueries:
    """Return a store's executor of user-written Cypher queries.

    Raises:
        UnsupportedError: this store has none.
    """
    if store.cypher is None:
        raise UnsupportedError(
            f"Cypher queries are not supported with {store.engine.name}; use the other commands of graphmem, or the tools of "
            f"{store.engine.name}",
            needs="cypher",
        )
    return store.cypher
