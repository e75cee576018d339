"""Open a copy of a database in a process of its own and say whether that worked: `python -m graphmem.store.probe`.

Prints `ok`, the database's identity and its checkpoint, separated by tabs. Exit code 75 says that it could not be tried; any
other end, a signal included, means that the file must not be opened by a process that has something to lose.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from graphmem.errors import DiskFullError, GraphMemError, SettingsError, StoreBusyError
from graphmem.store.engine import Engine
from graphmem.store.migrate import table_names

CANNOT_SAY: Final = 75  # sysexits.h: try again later


def main(engine: str, path: str, buffer_pool_bytes: str, max_db_bytes: str) -> int:
    """Open, count every table, read Meta, close; 0 when all of that worked."""
    try:
        database = Engine(engine).open(Path(path), buffer_pool_bytes=int(buffer_pool_bytes), max_db_bytes=int(max_db_bytes))
        connection = database.connect()
        rows = connection.rows("CALL show_tables() RETURN name, type").rows
        for name, kind in rows:
            connection.rows(f"MATCH (n:{name}) RETURN count(*)" if kind == "NODE" else f"MATCH ()-[e:{name}]->() RETURN count(*)")
        meta = {}
        if "Meta" in table_names(connection):
            meta = dict(connection.rows("MATCH (m:Meta) RETURN m.name, m.value").rows)
        database.close()
    except (StoreBusyError, DiskFullError, SettingsError) as error:  # about this machine, not about the file
        sys.stdout.write(error.message + "\n")
        return CANNOT_SAY
    except GraphMemError as error:
        sys.stdout.write(error.message + "\n")
        return 1
    sys.stdout.write(f"ok\t{meta.get('store.database', '')}\t{meta.get('store.checkpoint', '0')}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
