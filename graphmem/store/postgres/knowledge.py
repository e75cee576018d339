"""Read memories with sessions and links from PostgreSQL, and change them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, RelatesRow
from graphmem.store.base import Knowledge
from graphmem.store.postgres.code import add_links
from graphmem.store.postgres.tables import Queries
from graphmem.store.tables.tables import NodeTable
from graphmem.store.writes.anchors import State, judged
from graphmem.store.writes.embeddings import Vectors
from graphmem.store.writes.knowledge_edges import ABOUT, LEARNT, RELATES, Link, LinkShape
from graphmem.store.writes.knowledge_rows import MEMORIES, SESSIONS, Shape, node_table, rows_of_table


def read_knowledge(queries: Queries, generation: int, ids: Collection[str] | None) -> Knowledge:
    """Return memories with their sessions and links, as a `Knowledge`.

    `ids` are the memories to return; None for all. Only sessions and links of these memories are returned. `generation` is the number of
    changes of the memories. Unknown ids are ignored.
    """
    wanted = None if ids is None else sorted(set(ids))
    learnt = [LearntRow(*row) for row in queries.rows("learnt_of", ids=wanted)]
    sessions = None if wanted is None else sorted({row.session_id for row in learnt})
    return Knowledge(
        generation=generation,
        memories=_nodes(MEMORIES, queries.ask("memories_of", ids=wanted)),
        about=sorted((AboutRow(*row) for row in queries.rows("about_of", ids=wanted)), key=lambda row: row[:4]),
        relates=sorted((RelatesRow(*row) for row in queries.rows("relates_of", ids=wanted)), key=lambda row: row[:3]),
        sessions=_nodes(SESSIONS, queries.ask("sessions_of", ids=sessions)),
        learnt=sorted(learnt, key=lambda row: row[:2]),
    )


def apply_knowledge(queries: Queries, delta: KnowledgeDelta, vectors: Vectors | None, moment: datetime) -> None:
    """Apply a change of memories and sessions, with their vectors.

    Args:
        queries: queries in an open transaction, which the caller commits.
        delta: the change, validated by `check_delta`.
        vectors: the validated vectors.
        moment: current time, naive UTC. A file that a memory names but the graph lacks is stored as stale (not current) since this time.

    Raises:
        BadInputError: a link leads to a memory or session that does not exist.
    """
    memories = {row.id: row for row in delta.memories}
    before = _nodes(MEMORIES, queries.ask("memories_of", ids=sorted({*memories, *delta.removed_memories})))
    released = queries.rows("about_of", ids=sorted({*delta.removed_memories, *delta.anchored}))
    queries.run("delete_memories", ids=sorted(delta.removed_memories))
    queries.run("delete_nodes", label=NodeTable.SESSION, ids=sorted({*delta.removed_sessions, *(row.id for row in delta.sessions)}))
    queries.run("delete_nodes", label=NodeTable.MEMORY, ids=sorted(memories))
    _add(queries, SESSIONS, delta.sessions)
    _add(queries, MEMORIES, delta.memories)
    _anchor(queries, delta, moment)
    dropped = [*delta.removed_relates, *(row[:3] for row in delta.relates)]
    _replace(queries, RELATES, "relates", "delete_relates", ("srcs", "dsts", "kinds"), dropped, delta.relates)
    _replace(queries, LEARNT, "learnt_in", "delete_learnt", ("srcs", "dsts"), [row[:2] for row in delta.learnt], delta.learnt)
    by_label: dict[str, set[str]] = defaultdict(set)
    for link in released:
        by_label[link[2]].add(link[1])
    for label, ids in by_label.items():
        if label != NodeTable.MODULE:
            queries.run("delete_unheld", table=NodeTable(label), label=label, ids=sorted(ids))
    gone = [
        (row.embedding_model, row.text_hash)
        for row in before
        if row.embedding_model and (row.id not in memories or memories[row.id][-2:] != row[-2:])
    ]
    if gone:
        models, hashes = map(list, zip(*gone, strict=True))
        queries.run("release_vectors", models=models, hashes=hashes)
    if vectors is not None:
        put_vectors(queries, vectors.model, vectors.table.dim, vectors.rows)


def put_vectors(queries: Queries, model: str, dim: int, rows: pa.Table) -> None:
    """Store validated vectors of texts; existing ones stay unchanged.

    `dim` is the length of the vectors of `model`.
    """
    hashes = rows["text_hash"].to_pylist()
    stored = set(queries.column("vectors_among", model=model, dim=dim, hashes=hashes))
    values = rows["vec"].combine_chunks().flatten().to_numpy().reshape(len(hashes), dim)
    new = [(model, dim, text_hash, row.tobytes()) for text_hash, row in zip(hashes, values, strict=True) if text_hash not in stored]
    columns = {"model": pa.string(), "dim": pa.int64(), "text_hash": pa.string(), "vec": pa.binary()}
    queries.add_rows("vector", columns, new)


def _nodes(shape: Shape, table: pa.Table) -> list[Any]:
    if "tags" in table.column_names:
        tags = pa.array([one and json.loads(one) for one in table["tags"].to_pylist()], shape.types["tags"])
        table = table.set_column(table.column_names.index("tags"), "tags", tags)
    return sorted(rows_of_table(shape, table), key=lambda row: str(row.id))


def _add(queries: Queries, shape: Shape, rows: Sequence[object]) -> None:
    table = node_table(shape, rows)
    if "tags" in table.column_names:
        tags = pa.array([json.dumps(one) if one else None for one in table["tags"].to_pylist()], pa.string())
        table = table.set_column(table.column_names.index("tags"), "tags", tags)
    queries.add(str(shape.label), [table] if rows else [])


def _anchor(queries: Queries, delta: KnowledgeDelta, moment: datetime) -> None:
    queries.run("delete_links_of", ids=sorted(delta.anchored))
    named = {file.id: file.path for file in delta.files}
    by_label: dict[str, list[Link]] = defaultdict(list)
    for row in delta.about:
        by_label[row.label].append((row.memory_id, row.target_id, row.role, *row[4:]))
    for one in sorted({link[1] for link in by_label[NodeTable.FILE]} & named.keys()):
        queries.run("put_placeholder", id=one, path=named[one], moment=moment)
    for label, shape in ABOUT.items():
        if by_label[label]:
            links = by_label[label]
            ids = sorted({link[1] for link in links})
            fills = {} if label is NodeTable.SYMBOL else {"label": label}
            found = queries.rows("target_states" if fills else "symbol_states", **fills, ids=ids)
            states = {row[0]: State(*row[1:]) for row in found}
            links = [judged(link, states[link[1]]) for link in links if link[1] in states]
            _check(queries, shape, NodeTable.MEMORY, links, 0)
            add_links(queries, label, links)


def _replace(
    queries: Queries,
    shape: LinkShape,
    table: str,
    delete: str,
    names: Sequence[str],
    keys: Sequence[Sequence[str]],
    links: Sequence[Sequence[object]],
) -> None:
    if keys:
        queries.run(delete, **{name: list(values) for name, values in zip(names, zip(*keys, strict=True), strict=True)})
    rows = [tuple(link) for link in links]
    for end, label in enumerate((shape.pair.src, shape.pair.dst)):
        _check(queries, shape, label, rows, end)
    queries.add_rows(table, {"src": pa.string(), "dst": pa.string(), **shape.columns}, rows)


def _check(queries: Queries, shape: LinkShape, label: NodeTable, links: Iterable[Link], end: int) -> None:
    """Raise BadInputError if one end of a link does not exist.

    `shape` describes the kind of the links. `end` selects which end of each link is checked: 0 for the source, 1 for the destination.
    `label` is the table of the nodes at that end.
    """
    ends = {link[end]: link for link in links}
    missing = sorted(ends.keys() - set(queries.column("existing", label=label, ids=sorted(ends)))) if ends else []
    if missing:
        link = ends[missing[0]]
        raise BadInputError(
            f"the link {shape.pair.edge} {link[0]} -> {link[1]} has an end that is neither in the change nor in the graph; "
            "write the missing node with the change",
            argument=str(shape.pair.edge).lower(),
        )
