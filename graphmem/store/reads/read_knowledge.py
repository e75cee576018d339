"""Read memories with their sessions and links from the database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import pyarrow as pa

from graphmem.knowledge import AboutRow, LearntRow, RelatesRow
from graphmem.runtime.arrow import pc
from graphmem.store.base import Knowledge
from graphmem.store.reads.snapshot import Ask
from graphmem.store.writes.knowledge_edges import ABOUT, LEARNT, RELATES, Link, LinkShape, links_of_table
from graphmem.store.writes.knowledge_rows import MEMORIES, SESSIONS, Shape, rows_of_table
from graphmem.store.writes.write_edges import ends

_FEW: Final = 24  # up to this number memories are read by primary key, more by reading whole tables


def read_knowledge(ask: Ask, generation: int, ids: Sequence[str] | None) -> Knowledge:
    """Return memories (all, or those with given ids), sessions and links.

    Unknown ids are ignored.

    Args:
        ask: runs named queries in one read transaction.
        generation: counter of changes of memories in that transaction.
        ids: ids of the memories to read; None for all.
    """
    some = None if ids is None else set(ids)
    about = [
        AboutRow(link[0], link[1], str(label), link[2] or "", link[3], link[4] or "", link[5] or "", link[6] or "")
        for label, shape in ABOUT.items()
        for link in _links(ask, shape, some)
    ]
    relates = {RelatesRow(*link) for link in _links(ask, RELATES, some)}
    if some is not None:
        relates.update(RelatesRow(*link) for link in _links(ask, RELATES, some, inward=True))
    learnt = [LearntRow(*link) for link in _links(ask, LEARNT, some)]
    sessions = None if some is None else {row.session_id for row in learnt}
    return Knowledge(
        generation=generation,
        memories=sorted(rows_of_table(MEMORIES, _nodes(ask, MEMORIES, some)), key=lambda row: str(row.id)),
        about=sorted(about, key=lambda row: row[:4]),
        relates=sorted(relates, key=lambda row: row[:3]),
        sessions=sorted(rows_of_table(SESSIONS, _nodes(ask, SESSIONS, sessions)), key=lambda row: str(row.id)),
        learnt=sorted(learnt, key=lambda row: row[:2]),
    )


def _nodes(ask: Ask, shape: Shape, ids: Collection[str] | None) -> pa.Table:
    if ids is None or len(ids) > _FEW:
        return _only(ask("dump_nodes", label=shape.label), 0, ids)
    return pa.concat_tables([ask("node_row", label=shape.label, id=one) for one in sorted(ids) or [""]])


def _links(ask: Ask, shape: LinkShape, ids: Collection[str] | None, inward: bool = False) -> list[Link]:
    if ids is None or len(ids) > _FEW:
        return links_of_table(_only(ask("dump_edges", **ends(shape.pair)), 1 if inward else 0, ids))
    query = "memory_edges_in" if inward else "memory_edges"
    return [link for one in sorted(ids) for link in links_of_table(ask(query, **ends(shape.pair), id=one))]


def _only(table: pa.Table, column: int, ids: Collection[str] | None) -> pa.Table:
    return table if ids is None else table.filter(pc.is_in(table.column(column), pa.array(sorted(ids), pa.string())))
