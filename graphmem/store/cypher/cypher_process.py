"""Run one checked query on a copy of the database, in a separate process.

Usage: `python -m graphmem.store.cypher.cypher_process`.

Some valid Cypher queries crash the engine and its process (measured: about one in a
thousand random queries). Here the engine reads from a copy, with bounded memory and time. The process may not open another file, and may
not write to any file.

The process reads one JSON object from standard input, and prints one JSON object. The printed object has the keys `columns`, `rows` and
`cut`, or the keys `error` and `message`.
"""

from __future__ import annotations

import json
import math
import sys
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypedDict

from graphmem.errors import BadInputError, DeadlineError, GraphMemError, LimitError
from graphmem.runtime.process.system import hard_limit, page_bytes, set_limit, soft_limit
from graphmem.store.engine.engine import Engine

MOST_BYTES: Final = 16 << 20  # of an answer, as JSON
POOL_BYTES: Final = 128 << 20
SPARE_BYTES: Final = 1 << 30  # for a query, in addition to the memory reserved by the open database
_STANDARD: Final = 3  # file descriptors that every process has at its start; a new one would have a higher number
CPU_SECONDS: Final = 10  # for the start, in addition to the query's own time

# The engine's driver imports its converters at the first use of each type, and needs files for that.
_WARM: Final = (
    "RETURN $text, $list, $number, $share, $truth, timestamp('2025-01-01 00:00:00'), date('2025-01-01'), interval('1 day'), "
    "CAST(1 AS DECIMAL(5, 2)), {k: [1]}"
)

# Beginnings of engine messages about faulty queries.
_OF_THE_QUERY: Final = tuple(f"{kind} exception" for kind in ("Binder", "Parser", "Catalog", "Conversion", "Overflow", "Runtime"))


class _Answer(TypedDict):
    """Rows that a Cypher query returns, for JSON."""

    columns: list[str]
    rows: list[list[Any]]
    cut: bool  # whether the query has more rows


def main(engine: str, path: str, max_db_bytes: str) -> int:
    """Run the query that standard input contains, and print the answer.

    Always return 0. If the query fails, the printed answer names the error.
    """
    request = json.load(sys.stdin)
    _confine(request["seconds"])
    answer: _Answer | dict[str, str]
    try:
        answer = _answer(engine, Path(path), int(max_db_bytes), request)
    except MemoryError:
        answer = {"error": "memory", "message": ""}
    except DeadlineError:
        answer = {"error": "time", "message": ""}
    except LimitError as error:
        answer = {"error": "bytes" if error.facts.get("limit") == "bytes" else "memory", "message": ""}
    except GraphMemError as error:
        reason = str(error.facts.get("reason", "")) or error.message
        is_query = isinstance(error, BadInputError) or reason.startswith(_OF_THE_QUERY)
        kind = "memory" if "bad_alloc" in reason else "query" if is_query else "engine"
        answer = {"error": kind, "message": reason[:300]}
    sys.stdout.write(json.dumps(answer))
    return 0


def _confine(seconds: float) -> None:
    """Limit the CPU time, written files and core dumps of this process.

    The limits are permanent. `seconds` is the time limit of the query. `_confine_query` limits the memory.
    """
    cpu = CPU_SECONDS + math.ceil(seconds) * 2
    set_limit("CPU", cpu, cpu)
    set_limit("FSIZE", 0, 0)
    set_limit("CORE", 0, 0)


def _confine_query() -> None:
    """Limit the query's memory, and forbid opening files.

    A query that can open no file cannot read other data of the machine, or load an extension. The memory limit is a fixed amount above the
    address space that this process uses now. The limit must be relative, because the engine decides how much address space it reserves for
    the open database.
    """
    if sys.platform == "linux":  # macOS does not limit the address space; the limits of time and files hold there, too
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * page_bytes()
        given = [one for one in (soft_limit("AS"), hard_limit("AS")) if one is not None]
        most = min([used + SPARE_BYTES, *given])
        set_limit("AS", most, most)
    set_limit("NOFILE", _STANDARD, _STANDARD)


def _answer(engine: str, path: Path, max_db_bytes: int, request: dict[str, Any]) -> _Answer:
    database = Engine(engine).open(path, buffer_pool_bytes=POOL_BYTES, max_db_bytes=max_db_bytes, read_only=True)
    connection = database.connect()
    connection.rows(_WARM, {"text": "", "list": [""], "number": 0, "share": 0.0, "truth": True})
    _confine_query()
    connection.set_timeout(request["seconds"])
    connection.rows("BEGIN TRANSACTION READ ONLY")
    found = connection.first_rows(request["text"], request["params"], request["rows"] + 1)
    rows: list[list[Any]] = []
    room = MOST_BYTES
    for row in found.rows[: request["rows"]]:
        rows.append([_plain(value) for value in row])
        room -= len(json.dumps(rows[-1]))
        if room < 0:
            raise LimitError("the answer of the Cypher query is too large; use a smaller LIMIT or return fewer columns", limit="bytes")
    return {"columns": found.columns, "rows": rows, "cut": len(found.rows) > request["rows"]}


def _plain(value: object) -> Any:
    """Convert a value of a query's result to JSON.

    Times are ISO 8601 in UTC. A number that JSON lacks, such as infinity, becomes null.
    """
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} bytes>"
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return f"{value.isoformat()}+00:00" if value.tzinfo is None else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return str(value)
    return value if isinstance(value, (str, int, bool)) or value is None else str(value)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
