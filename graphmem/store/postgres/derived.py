"""Write data derived from the code, such as modules, in PostgreSQL.

The module `store.writes.derived` writes the same data with an embedded engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from graphmem.model import HandlesRow
from graphmem.store.base import CoAccessRow, FlowRow, ModuleRow
from graphmem.store.engine.times import to_naive_utc
from graphmem.store.postgres.tables import Queries
from graphmem.store.tables.tables import NodeTable, RelTable
from graphmem.store.writes import derived

_TEXTS = ("id", "name", "path", "summary")


def put_modules(queries: Queries, modules: Sequence[ModuleRow], depends_on: Sequence[tuple[str, str, int]], moment: datetime) -> None:
    """Replace the stored modules (groups of files) and their dependencies."""
    wanted = {one.id for one in modules}
    gone = sorted({row[0] for row in queries.rows("module_rows")} - wanted)
    queries.run("retire_modules", ids=gone, moment=moment)
    queries.run("delete_nodes", label=NodeTable.MODULE, ids=sorted(wanted))
    queries.add_rows("module", dict.fromkeys(_TEXTS, pa.string()), [(one.id, one.name, one.path, one.summary) for one in modules])
    contained = [(one.id, file) for one in modules for file in one.files]
    _replace(queries, RelTable.CONTAINS, derived.ENDS, contained, {1: NodeTable.FILE})
    _replace(queries, RelTable.DEPENDS_ON, {**derived.ENDS, "weight": pa.int64()}, depends_on, {0: NodeTable.MODULE, 1: NodeTable.MODULE})


def put_flows(queries: Queries, flows: Sequence[FlowRow]) -> None:
    """Replace the stored flows (paths of calls from entry points)."""
    queries.run("delete_all", label=NodeTable.FLOW)
    queries.add_rows("flow", derived.FLOW_COLUMNS, [(one.id, one.name, one.kind, one.confidence) for one in flows])
    _replace(queries, RelTable.STARTS_AT, derived.ENDS, [(one.id, one.entry) for one in flows], {1: NodeTable.SYMBOL})
    _replace(queries, RelTable.STEP, derived.STEP_COLUMNS, derived.steps_of(flows), {1: NodeTable.SYMBOL})


def put_co_accessed(queries: Queries, rows: Sequence[CoAccessRow]) -> None:
    """Replace the stored pairs of files that often change together by `rows`."""
    utc = [(*one[:-1], to_naive_utc(one.last_seen_at)) for one in rows]
    _replace(queries, RelTable.CO_ACCESSED, derived.CO_ACCESSED_COLUMNS, utc, {0: NodeTable.FILE, 1: NodeTable.FILE})


def put_handles(queries: Queries, project: str, rows: Sequence[HandlesRow]) -> None:
    """Replace the stored names that frameworks use, such as routes, by `rows`."""
    keys, handlers = derived.keys_and_handlers(project, rows)
    queries.run("delete_all", label=NodeTable.FRAMEWORK_KEY)
    queries.add_rows("frameworkkey", derived.KEY_COLUMNS, keys)
    _replace(queries, RelTable.HANDLES, derived.HANDLES_COLUMNS, handlers, {0: NodeTable.SYMBOL})


def _replace(
    queries: Queries,
    edge: RelTable,
    columns: Mapping[str, pa.DataType],
    rows: Sequence[tuple[Any, ...]],
    ends: Mapping[int, NodeTable],
) -> None:
    """Replace all rows of the edge table `edge` by `rows`.

    `columns` names the values of a row, in order. `ends` says which values of a row are ids of nodes: it maps the position of the id to the
    table of the node. A row with the id of a missing node is left out.
    """
    queries.run("delete_all_edges", edge=edge)
    for end, label in ends.items():
        known = set(queries.column("existing", label=label, ids=sorted({row[end] for row in rows}))) if rows else set()
        rows = [row for row in rows if row[end] in known]
    queries.add_rows(str(edge), columns, rows)
