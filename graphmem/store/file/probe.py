"""Open a database in a separate process and report whether it works.

Usage: `python -m graphmem.store.file.probe`. If the database works, the process prints `ok`, the database's identity and the number of its
checkpoint, separated by tabs. Otherwise it prints one sentence. The exit code is the result: only `DAMAGED` means that the file's bytes are
wrong. If the system refuses memory or access, the file may still be intact.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from graphmem.errors import BadInputError, DatabaseDamagedError, DiskFullError, GraphMemError, LimitError, ResourceError, StoreBusyError
from graphmem.runtime.process.limits import limited_memory
from graphmem.store.engine.engine import Engine
from graphmem.store.file.migrate import table_names
from graphmem.store.tables.catalog import load_catalog
from graphmem.store.tables.tables import EmbeddingTable, NodeTable, RelTable

# Exit codes, from sysexits.h.
DAMAGED: Final = 65
CANNOT_SAY: Final = 69  # the system refused this process something
FULL: Final = 74
BUSY: Final = 75


def main(engine: str, path: str, buffer_pool_bytes: str, max_db_bytes: str, read_only: str = "") -> int:
    """Open the database and read all its tables; return the exit code.

    The exit code is 0 if the database works. The arguments are those of `Engine.open`, as strings; for `read_only`, "" means false.
    """
    try:
        sys.stdout.write(_read(Engine(engine), Path(path), int(buffer_pool_bytes), int(max_db_bytes), bool(read_only)))
    except StoreBusyError as error:
        return _say(error.message, BUSY)
    except ResourceError as error:  # without a limit, only a garbage length is refused
        return _say(error.message, DAMAGED if error.limit == "memory" and not limited_memory() else CANNOT_SAY)
    except DiskFullError as error:
        return _say(error.message, FULL)
    except (BadInputError, LimitError) as error:
        return _say(error.message, CANNOT_SAY)
    except DatabaseDamagedError as error:
        return _say(str(error.facts.get("reason", error.message)), DAMAGED)
    except (GraphMemError, LookupError, ValueError, OverflowError) as error:  # the engine could not interpret the file
        return _say(str(error), DAMAGED)
    except OSError as error:
        return _say(str(error), CANNOT_SAY)
    return 0


def _read(engine: Engine, path: Path, buffer_pool_bytes: int, max_db_bytes: int, read_only: bool) -> str:
    queries = load_catalog()
    database = engine.open(path, buffer_pool_bytes=buffer_pool_bytes, max_db_bytes=max_db_bytes, read_only=read_only)
    connection = database.connect()
    names = table_names(connection)
    for query, fills in _counts(names):
        connection.rows(*queries[query].bind(fills))
    meta = dict(connection.rows(*queries["meta_all"].bind({})).rows) if NodeTable.META in names else {}
    database.close()
    return f"ok\t{meta.get('store.database', '')}\t{meta.get('store.checkpoint', '0')}"


def _say(sentence: str, code: int) -> int:
    sys.stdout.write(" ".join(sentence.split()))
    return code


def _counts(names: set[str]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the queries that count each table's rows, with their parameters.

    `names` are the tables of the database. Tables that the schema does not know are skipped.
    """
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
