"""The code graph may be rebuilt; what people know about it is never lost."""

from __future__ import annotations

import pytest

from graphmem.model import GraphDelta
from graphmem.store.tables import ALL_PAIRS, CARRIED_NODES, DERIVED_PAIRS, KNOWLEDGE_PAIRS, NodeTable, RelTable


def _remember(store, memory, label, target, body_hash=None):
    store._connection.rows(
        f"MATCH (t:{label} {{id: $target}}) MERGE (m:Memory {{id: $memory}}) "
        "CREATE (m)-[:ABOUT {role: 'about', confidence: 0.9, body_hash: $body_hash, anchor: 'valid'}]->(t)",
        {"memory": memory, "target": target, "body_hash": body_hash},
    )


def _anchors(store, memory):
    return [(row["target_id"], row["anchor"], row["stale_at"] is not None) for row in store.read("memory_anchors", memory_id=memory)]


WAYS = ["transaction", "new-file", "replace"]


def _change(store, world, old, way):
    if way == "transaction":
        store.apply(world.since(old))
    elif way == "new-file":
        store._write(lambda: store._rebuild(world.since(old), {}, keep_code=True))
    else:
        store.replace(world.full())


@pytest.mark.parametrize("way", WAYS)
def test_a_memory_about_code_that_is_gone_keeps_its_link_and_says_so(store, world, equal, way):
    store.apply(world.full())
    gone = sorted(world.files.values())[0]
    symbol = next(row for row in world.symbols.values() if row.path == gone.path and row.kind == "function")
    _remember(store, "m1", "Symbol", symbol.id, symbol.body_hash)
    _remember(store, "m2", "File", gone.id)
    old = world.state()
    del world.files[gone.id]
    for one in [one for one, row in world.symbols.items() if row.path == gone.path]:
        del world.symbols[one]
        world._forget({one, gone.id})
    world.chunks = {key: row for key, row in world.chunks.items() if row.path != gone.path}
    world.unresolved = {key: row for key, row in world.unresolved.items() if row.path != gone.path}
    _change(store, world, old, way)
    equal(store, world)
    assert _anchors(store, "m1") == [(symbol.id, "orphaned", True)]
    assert _anchors(store, "m2") == [(gone.id, "orphaned", True)]
    assert store.read("memories_about", symbol_id=symbol.id)[0]["anchor"] == "orphaned"
    assert store.read("symbol_by_id", symbol_id=symbol.id) == []

    gone_state = world.state()
    world.files, world.symbols, world.externals, world.chunks, world.edges, world.unresolved = (dict(part) for part in old)
    _change(store, world, gone_state, way)
    equal(store, world)
    assert _anchors(store, "m1") == [(symbol.id, "valid", False)]
    assert [anchor[2] for anchor in _anchors(store, "m2")] == [False]


@pytest.mark.parametrize("way", WAYS)
def test_a_memory_about_code_that_was_rewritten_becomes_suspect(store, world, way):
    store.apply(world.full())
    rewritten, untouched = [row for row in world.symbols.values() if row.kind == "function"][:2]
    _remember(store, "m", "Symbol", rewritten.id, rewritten.body_hash)
    _remember(store, "n", "Symbol", untouched.id, untouched.body_hash)
    old = world.state()
    world.symbols[rewritten.id] = rewritten._replace(body_hash="other")
    world.symbols[untouched.id] = untouched._replace(start_line=untouched.start_line + 1)
    _change(store, world, old, way)
    assert _anchors(store, "m") == [(rewritten.id, "suspect", False)]
    assert _anchors(store, "n") == [(untouched.id, "valid", False)]


def _everything(store):
    """Every carried node and edge, for comparing."""
    connection = store._database.connect()
    nodes = {label: sorted(map(repr, connection.rows(f"MATCH (n:{label}) RETURN n.*").rows)) for label in CARRIED_NODES}
    edges = {
        pair: sorted(map(repr, connection.rows(f"MATCH (a:{pair.src})-[e:{pair.edge}]->(b:{pair.dst}) RETURN a.id, b.id, e.*").rows))
        for pair in (*DERIVED_PAIRS, *KNOWLEDGE_PAIRS)
    }
    return nodes, edges


@pytest.fixture
def knowing(store, world):
    """A store with one node of every carried label and one edge of every carried pair."""
    store.apply(world.full())
    code = {NodeTable.FILE: sorted(world.files), NodeTable.SYMBOL: sorted(world.symbols), NodeTable.EXTERNAL: sorted(world.externals)}
    for label in CARRIED_NODES:
        store._connection.rows(f"CREATE (:{label} {{id: $id}})", {"id": f"{label}-1"})
    store._connection.rows(
        "MATCH (m:Memory) SET m.tags = ['a', 'b'], m.content = $content, m.confidence = 0.5, m.created_at = timestamp('2024-05-06 07:08:09.123456')",
        {"content": 'It\'s "so" 🦉\n' * 50},
    )
    for pair in (*DERIVED_PAIRS, *KNOWLEDGE_PAIRS):
        src = code.get(pair.src, [f"{pair.src}-1"])[0]
        dst = code.get(pair.dst, [f"{pair.dst}-1"])[-1]
        store._connection.rows(
            f"MATCH (a:{pair.src} {{id: $src}}), (b:{pair.dst} {{id: $dst}}) CREATE (a)-[:{pair.edge}]->(b)", {"src": src, "dst": dst}
        )
    return store


@pytest.mark.parametrize("way", ["compact", "replace"])
def test_a_new_file_takes_all_knowledge_along(knowing, world, equal, way):
    before = _everything(knowing)
    assert all(before[0].values())
    assert all(before[1].values())
    if way == "compact":
        knowing.compact()
    else:
        knowing.replace(world.full())
    nodes, edges = _everything(knowing)
    assert nodes == before[0]
    for pair, rows in before[1].items():
        if pair.edge is not RelTable.ABOUT:
            assert edges[pair] == rows, pair
    equal(knowing, world)


@pytest.mark.parametrize("way", ["transaction", "replace"])
def test_derived_edges_go_with_the_code_and_knowledge_stays(knowing, world, equal, way):
    old = world.state()
    for part in (world.files, world.symbols, world.externals, world.chunks, world.edges, world.unresolved):
        part.clear()
    world.add_file(2)
    _change(knowing, world, old, way)
    equal(knowing, world)
    nodes, edges = _everything(knowing)
    assert all(nodes.values())
    for pair in KNOWLEDGE_PAIRS:
        assert len(edges[pair]) == 1, pair
    code = {NodeTable.FILE, NodeTable.SYMBOL, NodeTable.EXTERNAL}
    for pair in DERIVED_PAIRS:
        assert len(edges[pair]) == (0 if {pair.src, pair.dst} & code else 1), pair


def test_every_pair_of_the_schema_is_known_to_the_code_and_no_other(store):
    found = set()
    for edge in RelTable:
        for src, dst in store._connection.rows(f"CALL show_connection('{edge}') RETURN `source table name`, `destination table name`").rows:
            found.add((edge, src, dst))
    assert found == {tuple(pair) for pair in ALL_PAIRS}
    tables = {row[0] for row in store._connection.rows("CALL show_tables() RETURN name").rows}
    assert tables == {*map(str, NodeTable), *map(str, RelTable), "SchemaVersion"}


def test_an_empty_delta_leaves_knowledge_alone(knowing):
    before = _everything(knowing)
    knowing.apply(GraphDelta.empty())
    assert _everything(knowing) == before
