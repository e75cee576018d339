"""Open a copy of a database in a process of its own and say whether that worked: `python -m graphmem.store.probe`.

Prints `ok`, the database's identity and its checkpoint, separated by tabs. Exit code 75 says that it could not be tried; any
other end, a signal included, means that the file must not be opened by a process that has something to lose.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from graphmem.errors import DiskFullError, GraphMemError, SettingsError, StoreBusyError
from graphmem.store.catalog import load_catalog
from graphmem.store.engine import Engine
from graphmem.store.migrate import table_names
from graphmem.store.tables import EmbeddingTable, NodeTable, RelTable

CANNOT_SAY: Final = 75  # sysexits.h: try again later


def main(engine: str, path: str, buffer_pool_bytes: str, max_db_bytes: str) -> int:
    """Open, count every table, read Meta, close; 0 when all of that worked."""
    queries = load_catalog()
    try:
        database = Engine(engine).open(Path(path), buffer_pool_bytes=int(buffer_pool_bytes), max_db_bytes=int(max_db_bytes))
        connection = database.connect()
        names = table_names(connection)
        for query, fills in _counts(names):
            connection.rows(*queries[query].bind(fills))
        meta = dict(connection.rows(*queries["meta_all"].bind({})).rows) if NodeTable.META in names else {}
        database.close()
    except (StoreBusyError, DiskFullError, SettingsError) as error:  # about this machine, not about the file
        sys.stdout.write(error.message + "\n")
        return CANNOT_SAY
    except GraphMemError as error:
        sys.stdout.write(error.message + "\n")
        return 1
    sys.stdout.write(f"ok\t{meta.get('store.database', '')}\t{meta.get('store.checkpoint', '0')}")
    return 0


def _counts(names: set[str]) -> Iterator[tuple[str, dict[str, object]]]:
    """A query for each table of ours that is there; what is not of ours refuses the database later, in words."""
    nodes, edges = set(map(str, NodeTable)), set(map(str, RelTable))
    for name in sorted(names):
        if (vectors := EmbeddingTable.parse(name)) is not None:
            yield "embedding_count", {"table": vectors}
        elif name in nodes:
            yield "node_count", {"label": NodeTable(name)}
        elif name in edges:
            yield "edge_count", {"edge": RelTable(name)}


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
