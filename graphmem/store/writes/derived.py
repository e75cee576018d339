"""Store data derived from the code: modules, flows and more.

All functions work inside the caller's transaction. Modules (groups of files) and flows (paths of calls from entry points) are derived from
one state of the code. Each function replaces all stored edges of its kind. A module that no longer exists is deleted. If a memory is linked
to the module, the module is marked as stale instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from graphmem.model import HandlesRow, stable_id
from graphmem.store.base import CoAccessRow, FlowRow, ModuleRow, StoredModule
from graphmem.store.engine.times import to_naive_utc
from graphmem.store.tables.arrow_rows import SLICE
from graphmem.store.tables.tables import NodeTable, Pair, RelTable
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes.write_edges import ends

CO_ACCESSED: Final = Pair(RelTable.CO_ACCESSED, NodeTable.FILE, NodeTable.FILE)
_CONTAINS: Final = Pair(RelTable.CONTAINS, NodeTable.MODULE, NodeTable.FILE)
_DEPENDS: Final = Pair(RelTable.DEPENDS_ON, NodeTable.MODULE, NodeTable.MODULE)
_STARTS: Final = Pair(RelTable.STARTS_AT, NodeTable.FLOW, NodeTable.SYMBOL)
_HANDLES: Final = Pair(RelTable.HANDLES, NodeTable.SYMBOL, NodeTable.FRAMEWORK_KEY)
_STEPS: Final = Pair(RelTable.STEP, NodeTable.FLOW, NodeTable.SYMBOL)
ENDS: Final = {"src": pa.string(), "dst": pa.string()}
KEY_COLUMNS: Final = dict.fromkeys(("id", "kind", "name", "framework"), pa.string())
HANDLES_COLUMNS: Final = {**ENDS, "confidence": pa.float64(), "rule": pa.string(), "line": pa.int64()}
STEP_COLUMNS: Final = {**ENDS, "position": pa.int64(), "confidence": pa.float64(), "rule": pa.string(), "line": pa.int64()}
FLOW_COLUMNS: Final = {"id": pa.string(), "name": pa.string(), "kind": pa.string(), "confidence": pa.float64()}
CO_ACCESSED_COLUMNS: Final = {**ENDS, "sessions": pa.int64(), "confidence": pa.float64(), "last_seen_at": pa.timestamp("us")}


def stored_modules(rows: Sequence[Mapping[str, Any]], files: Sequence[Mapping[str, Any]]) -> list[StoredModule]:
    """Return the stored modules with their files, sorted by id.

    Modules that no longer exist are left out.
    """
    paths: dict[str, list[str]] = {}
    for one in files:
        paths.setdefault(one["module_id"], []).append(one["path"])
    return [StoredModule(row["id"], row["name"], row["path"], paths.get(row["id"], [])) for row in rows if not row["gone"]]


def put_modules(
    transaction: Transaction, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]], moment: datetime
) -> None:
    """Replace the stored modules and their dependencies.

    Args:
        transaction: an open transaction, which the caller commits.
        modules: all modules, with distinct ids.
        depends_on: dependencies as (id of the dependent module, id of the needed module, number of edges).
        moment: current time. A removed module to which a memory links is kept, and marked as stale since this time.
    """
    for pair in (_CONTAINS, _DEPENDS):
        transaction.run("delete_all_edges", **ends(pair))
    stored = {row[0]: row for row in transaction.run("module_rows").rows}
    wanted = {one.id for one in modules}
    for key in sorted(set(stored) - wanted):
        if transaction.run("edges_left_one", label=NodeTable.MODULE, id=key).rows:
            transaction.run("retire_module", id=key, moment=moment)
        else:
            transaction.run("delete_node", label=NodeTable.MODULE, id=key)
    texts = [{"id": one.id, "name": one.name, "path": one.path, "summary": one.summary} for one in modules]
    transaction.each("create_module", {}, [row for row in texts if row["id"] not in stored])
    same = {key: tuple(row[1:]) for key, row in stored.items()}
    transaction.each(
        "set_module",
        {},
        [row for row in texts if row["id"] in stored and same[row["id"]] != (row["name"], row["path"], row["summary"], False)],
    )
    _create(transaction, "create_contains", ENDS, [(one.id, file) for one in modules for file in one.files])
    _create(transaction, "create_depends_on", {**ENDS, "weight": pa.int64()}, depends_on)


def put_flows(transaction: Transaction, flows: Sequence[FlowRow]) -> None:
    """Replace the stored flows, which are paths of calls from entry points.

    The flows must have distinct ids.
    """
    for pair in (_STARTS, _STEPS):
        transaction.run("delete_all_edges", **ends(pair))
    transaction.run("delete_flows")
    _create(transaction, "create_flows", FLOW_COLUMNS, [(one.id, one.name, one.kind, one.confidence) for one in flows])
    _create(transaction, "create_starts", ENDS, [(one.id, one.entry) for one in flows])
    _create(transaction, "create_steps", STEP_COLUMNS, steps_of(flows))


def steps_of(flows: Sequence[FlowRow]) -> list[tuple[object, ...]]:
    """Return the edges from each flow to the symbols along it, in order.

    A flow is a path of calls from an entry point. An edge is (flow id, symbol id, position in the flow, confidence, rule, line). The rule
    names the method by which the call was found. The first position is 1.
    """
    return [(one.id, step[0], at, *step[1:]) for one in flows for at, step in enumerate(one.steps, 1)]


def put_co_accessed(transaction: Transaction, rows: Sequence[CoAccessRow]) -> None:
    """Replace the stored pairs of files that often change together.

    `rows` has one edge for each direction of a pair of files.
    """
    transaction.run("delete_all_edges", **ends(CO_ACCESSED))
    utc = [(*one[:-1], to_naive_utc(one.last_seen_at)) for one in rows]
    _create(transaction, "create_co_accessed", CO_ACCESSED_COLUMNS, utc)


def put_handles(transaction: Transaction, project: str, rows: Sequence[HandlesRow]) -> None:
    """Replace the stored framework keys, such as routes, and their handlers.

    A function that handles one key in several ways gets one edge, with the highest confidence.
    """
    transaction.run("delete_all_edges", **ends(_HANDLES))
    transaction.run("delete_framework_keys")
    keys, handlers = keys_and_handlers(project, rows)
    _create(transaction, "create_framework_keys", KEY_COLUMNS, keys)
    _create(transaction, "create_handles", HANDLES_COLUMNS, handlers)


def keys_and_handlers(project: str, rows: Sequence[HandlesRow]) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return framework keys, such as routes, and the edges of their handlers.

    A key is (id, kind, name, framework), sorted by id. An edge is (symbol id, key id, confidence, rule, line). The rule names the method by
    which the handler was found. There is one edge for each function and key.
    """
    keys: dict[str, tuple[str, str, str, str]] = {}
    joined: dict[tuple[str, str], HandlesRow] = {}
    for row in sorted(rows, key=lambda one: (-one.confidence, *one)):
        key = stable_id("key", project, row.kind, row.framework, row.name)
        keys[key] = (key, row.kind, row.name, row.framework)
        joined.setdefault((row.symbol_id, key), row)
    return sorted(keys.values()), [(*pair, row.confidence, row.rule, row.line) for pair, row in sorted(joined.items())]


def _create(transaction: Transaction, query: str, columns: Mapping[str, pa.DataType], rows: Sequence[tuple[object, ...]]) -> None:
    """Write rows with the named query `query`, in batches.

    `columns` maps each column to its type, in the order of the values in a row. A row that refers to a missing node is skipped.
    """
    for at in range(0, len(rows), SLICE):
        values = zip(*rows[at : at + SLICE], strict=True)
        arrays = {name: pa.array(column, kind) for (name, kind), column in zip(columns.items(), values, strict=True)}
        transaction.run(query, rows=pa.table(arrays))
