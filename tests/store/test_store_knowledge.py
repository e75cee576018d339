"""The code graph may be rebuilt; what people know about it is never lost."""

from __future__ import annotations

import pytest

from graphmem.model import GraphDelta
from graphmem.store.tables.tables import ALL_PAIRS, CARRIED_NODES, DERIVED_PAIRS, KNOWLEDGE_PAIRS, NodeTable, RelTable


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
        "MATCH (m:Memory) SET m.tags = ['a', 'b'], m.content = $content, m.confidence = 0.5, "
        "m.created_at = timestamp('2024-05-06 07:08:09.123456')",
        {"content": 'It\'s "so" 🦉\n' * 50},
    )
    for pair in (*DERIVED_PAIRS, *KNOWLEDGE_PAIRS):
        src = code.get(pair.src, [f"{pair.src}-1"])[0]
        dst = code.get(pair.dst, [f"{pair.dst}-1"])[-1]
        store._connection.rows(
            f"MATCH (a:{pair.src} {{id: $src}}), (b:{pair.dst} {{id: $dst}}) CREATE (a)-[e:{pair.edge}]->(b)", {"src": src, "dst": dst}
        )
    store._connection.rows("MATCH (:Memory)-[e:ABOUT]->() SET e.role = 'about', e.anchor = 'valid'")
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
    if way == "transaction":
        knowing.apply(world.since(old))
    else:
        knowing.replace(world.full())
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
