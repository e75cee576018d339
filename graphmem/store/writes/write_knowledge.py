"""Write a change of memories to the database, in an open transaction.

A single memory needs a few statements by primary key, planned once per connection, 0.3 ms each. Thousands of memories need a few joins with
Arrow tables. Up to `FEW` rows are written by single statements, and more rows by joins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.knowledge import KnowledgeDelta
from graphmem.store.tables.arrow_rows import wanted
from graphmem.store.tables.paired_queries import DELETED_NODES, FEW, PairedQueries
from graphmem.store.tables.tables import EmbeddingTable, NodeTable, TextColumn
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes import embeddings
from graphmem.store.writes.anchors import State, judged
from graphmem.store.writes.delta import drop_unknown_stale
from graphmem.store.writes.knowledge_edges import (
    ABOUT,
    LEARNT,
    OUTWARD,
    RELATES,
    Link,
    LinkShape,
    drop_links,
    key_of,
    stored_links,
    write_links,
)
from graphmem.store.writes.knowledge_rows import MEMORIES, SESSIONS, Shape, check_rows, column, node_table, row_of, stored_form
from graphmem.store.writes.write_edges import once
from graphmem.store.writes.write_nodes import stored_nodes


def check_delta(delta: KnowledgeDelta) -> None:
    """Refuse a contradictory change of memories before it is queued.

    Raises:
        BadInputError: a key is repeated, a memory is both removed and written, or a link belongs to a memory that is not in `anchored`.
    """
    check_rows(MEMORIES, delta.memories)
    check_rows(SESSIONS, delta.sessions)
    once("removed memories", delta.removed_memories)
    once("anchored memories", delta.anchored)
    once("removed sessions", delta.removed_sessions)
    once("about", [(row.memory_id, row.target_id, row.label, row.role) for row in delta.about])
    once("relates", [(row.src, row.dst, row.kind) for row in delta.relates])
    once("learnt", [(row.memory_id, row.session_id) for row in delta.learnt])
    once("named files", [file.id for file in delta.files])
    both = sorted(set(delta.removed_memories).intersection(row.id for row in delta.memories))
    if both:
        raise BadInputError(f"the change both removes and writes the memory {both[0]}; do only one of the two", argument="removed_memories")
    loose = sorted({row.memory_id for row in delta.about}.difference(delta.anchored))
    if loose:
        raise BadInputError(
            f"the change has `about` links from the memory {loose[0]}, but `anchored` lacks this memory; add its id to `anchored`",
            argument="anchored",
        )
    labels = sorted({row.label for row in delta.about} - {str(label) for label in ABOUT})
    if labels:
        raise BadInputError(f"a memory cannot be about a node of the kind {labels[0]!r}; use one of {', '.join(ABOUT)}", argument="about")


def apply_knowledge(transaction: Transaction, delta: KnowledgeDelta, moment: datetime, tables: Sequence[EmbeddingTable]) -> None:
    """Apply a change of memories and sessions to the database.

    The caller writes the vectors of new memories.

    Args:
        transaction: an open transaction, which the caller commits.
        delta: the change, validated by `check_delta`.
        moment: current time. A file that a memory names but the graph lacks is stored as stale (not current) since this time.
        tables: tables of vectors, from which vectors of removed memories are deleted.

    Raises:
        BadInputError: a link leads to a memory or session that does not exist.
    """
    gone = stored_nodes(transaction, NodeTable.MEMORY, delta.removed_memories)
    released = _remove(transaction, sorted(gone))
    _delete(transaction, NodeTable.SESSION, sorted(delta.removed_sessions))
    _upsert(transaction, SESSIONS, delta.sessions)
    before = _upsert(transaction, MEMORIES, delta.memories)
    released += _anchor(transaction, delta, moment, fresh={row.id for row in delta.memories} - before.keys())
    _relate(transaction, delta)
    _learn(transaction, delta)
    for label in ABOUT:
        drop_unknown_stale(transaction, label, {link[1] for shape, link in released if shape.pair.dst is label})
    now = {row.id: row for row in delta.memories}
    old = [row_of(MEMORIES, values) for values in gone.values()]
    old += [row for one, row in before.items() if (row.text_hash, row.embedding_model) != (now[one].text_hash, now[one].embedding_model)]
    _forget_vectors(transaction, [(row.embedding_model, row.text_hash) for row in old], tables)


# ---- nodes


def _remove(transaction: Transaction, ids: list[str]) -> list[tuple[LinkShape, Link]]:
    """Delete memories with all their links; return their outgoing links.

    Each item of the result is (kind of link, link), for a link that began at a deleted memory.
    """
    found = [(shape, stored_links(transaction, shape, ids)) for shape in OUTWARD]
    inward = stored_links(transaction, RELATES, ids, inward=True)
    for shape, links in found:
        drop_links(transaction, shape, sorted({*links, *inward} if shape is RELATES else links, key=lambda link: key_of(shape, link)))
    _delete(transaction, NodeTable.MEMORY, ids)
    return [(shape, link) for shape, links in found for link in links]


def _delete(transaction: Transaction, label: NodeTable, ids: list[str]) -> None:
    DELETED_NODES.write(transaction, ids, label=label)


def _upsert(transaction: Transaction, shape: Shape, rows: Sequence[Any]) -> dict[str, Any]:
    """Create new memories or sessions, and update changed ones.

    Returns the old rows by id. A memory or session that was not stored before this call has none.
    """
    ids = [row.id for row in rows]
    if len(ids) <= FEW:  # most are new, and reading three dozen columns costs more than asking whether any exist
        there = transaction.each("target_id", {"label": shape.label}, [{"id": one} for one in ids])
        ids = [one for one, found in zip(ids, there, strict=True) if found]
    values = stored_nodes(transaction, shape.label, ids)
    stored = {one: row_of(shape, some) for one, some in values.items()}
    fresh = [row for row in rows if row.id not in stored]
    if len(fresh) <= FEW:
        transaction.each(shape.create_one, {}, [dict(zip(shape.kind._fields, stored_form(row), strict=True)) for row in fresh])
    else:
        transaction.run(shape.create_many, rows=node_table(shape, fresh))
    changed = [row for row in rows if row.id in stored and stored[row.id] != row]
    plain = [row for row in changed if any(getattr(row, name) != getattr(stored[row.id], name) for name in shape.plain)]
    setting = PairedQueries(
        shape.set_one,
        shape.set_many,
        lambda row: {name: getattr(row, name) for name in ("id", *shape.plain)},
        lambda some: node_table(shape, some, ("id", *shape.plain)).rename_columns(["wanted", *shape.plain]),
    )
    setting.write(transaction, plain)
    for name in shape.texts:
        _set_texts(transaction, shape, name, [row for row in changed if getattr(row, name) != getattr(stored[row.id], name)])
    return stored


def _set_texts(transaction: Transaction, shape: Shape, name: str, rows: Sequence[object]) -> None:
    setting = PairedQueries(
        "set_text",
        "set_texts",
        lambda row: {"id": row.id, "value": stored_form([getattr(row, name)])[0]},
        lambda some: pa.table({"wanted": column(shape, "id", some), "value": column(shape, name, some)}),
    )
    setting.write(transaction, rows, label=shape.label, column=TextColumn(name))


# ---- links


def _anchor(transaction: Transaction, delta: KnowledgeDelta, moment: datetime, fresh: set[str]) -> list[tuple[LinkShape, Link]]:
    """Replace the links to code of the memories in `delta.anchored`.

    `fresh` has the ids of new memories, which have no stored links. A file in `delta.files` that is not indexed gets a placeholder node,
    which is marked as stale (not current) since `moment`. Each item of the result is (kind of link, link), for a link that was stored
    before.
    """
    named = {file.id: file.path for file in delta.files}
    by_label: dict[str, list[Link]] = defaultdict(list)
    for row in delta.about:
        by_label[row.label].append((row.memory_id, row.target_id, row.role, *row[4:]))
    linked = {row[1] for row in by_label[NodeTable.FILE]}
    placeholders = [{"id": one, "path": named[one], "moment": moment} for one in sorted(linked & named.keys())]
    transaction.each("put_placeholder", {}, placeholders)
    before = []
    known = [one for one in delta.anchored if one not in fresh]
    for label, shape in ABOUT.items():
        states = target_states(transaction, label, sorted({link[1] for link in by_label[label]}))
        links = [judged(link, states[link[1]]) for link in by_label[label] if link[1] in states]
        stored = stored_links(transaction, shape, known)
        write_links(transaction, shape, stored, links)
        before += [(shape, link) for link in stored]
    return before


def target_states(transaction: Transaction, label: NodeTable, ids: Sequence[str]) -> dict[str, State]:
    """Map ids of nodes to their states: gone or present.

    The state of a node determines the states of the memories' links to it. Unknown ids are left out.
    """
    if not ids:
        return {}
    fills: dict[str, Any] = {} if label is NodeTable.SYMBOL else {"label": label}
    one, many = ("target_state", "target_states") if fills else ("symbol_state", "symbol_states")
    if len(ids) <= FEW:
        rows = [row for row in transaction.each(one, fills, [{"id": each} for each in ids]) if row]
    else:
        rows = transaction.run(many, **fills, rows=wanted(ids)).rows
    return {row[0]: State(*row[1:]) for row in rows}


def _relate(transaction: Transaction, delta: KnowledgeDelta) -> None:
    dropped = [tuple(key) for key in delta.removed_relates]
    _put_links(transaction, RELATES, [tuple(row) for row in delta.relates], dropped)


def _learn(transaction: Transaction, delta: KnowledgeDelta) -> None:
    _put_links(transaction, LEARNT, [tuple(row) for row in delta.learnt], [])


def _put_links(transaction: Transaction, shape: LinkShape, links: Sequence[Link], dropped: Sequence[Link]) -> None:
    """Write `links`; delete those links in `dropped` that are not in `links`."""
    if not links and not dropped:
        return
    keys = {key_of(shape, link) for link in (*links, *dropped)}
    stored = [link for link in stored_links(transaction, shape, {key[0] for key in keys}) if key_of(shape, link) in keys]
    write_links(transaction, shape, stored, links)


# ---- vectors


def _forget_vectors(transaction: Transaction, released: Collection[tuple[str, str]], tables: Sequence[EmbeddingTable]) -> None:
    """Delete released vectors, unless a memory or chunk has the same text.

    Each item of `released` is (model, hash of the text from which the vector was computed).
    """
    texts = sorted({text_hash for model, text_hash in released if model and text_hash})
    if not texts:
        return
    used: set[str] = set()
    for label in (NodeTable.MEMORY, NodeTable.CHUNK):
        used.update(transaction.arrow("text_hashes", label=label)["text_hash"].to_pylist())
    unused = set(texts) - used
    ids = sorted({embeddings.vector_id(model, text_hash) for model, text_hash in released if model and text_hash in unused})
    for table in tables if ids else ():
        transaction.run("delete_embeddings", table=table, rows=wanted(ids))
