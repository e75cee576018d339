"""The graph in PostgreSQL: what the store's suite, which runs on it too, does not ask of a file."""

from __future__ import annotations

import gc
import random
import re
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv

from graphmem.errors import (
    BadInputError,
    GenerationChangedError,
    SchemaTooNewError,
    StoreBusyError,
    StoreClosedError,
    StoreUnreachableError,
    UnsupportedError,
)
from graphmem.model import GraphDelta
from graphmem.projection.graph.view import GraphView
from graphmem.projection.projections import Projections
from graphmem.store.capabilities import cypher_queries, local_file
from graphmem.store.postgres.connections import driver
from graphmem.store.postgres.store import open_postgres, schema_of
from graphmem.store.postgres.tables import Queries, catalog
from graphmem.store.wire import decoded, encoded
from worlds import World


def test_everything_is_there_after_closing_and_opening(in_postgres, world, equal, make):
    store = in_postgres()
    store.apply(world.full(), {"root": "/r"})
    store.apply(world.edit(5))
    rows = [make.memory("m1"), make.memory("m2", tags=())]
    links = [make.linked(row, symbol) for row, symbol in zip(rows, sorted(world.symbols.values()), strict=False)]
    store.apply_knowledge(make.about(*links)._replace(memories=rows), make.vectors(rows))
    known, vectors = store.knowledge(), store.vectors(make.model)
    store.close()
    again = in_postgres()
    equal(again, world)
    assert (again.generation(), again.knowledge_generation(), again.meta()) == (2, 1, {"root": "/r"})
    assert again.knowledge() == known
    assert again.vectors(make.model).equals(vectors)


def test_arrow_reads_rows_from_its_own_memory(in_postgres, world):
    # Arrow's threads may free what they have read last. In memory of Python, that needs the interpreter, which may be ending.
    store = in_postgres()
    store.apply(world.full())
    read, sizes = csv.read_csv, []

    def spy(source, *options):
        sizes.append((source.size(), pa.total_allocated_bytes() - before))
        return read(source, *options)

    with mock.patch.object(csv, "read_csv", spy):
        gc.collect()  # what earlier tests leave must not be freed meanwhile
        before = pa.total_allocated_bytes()
        store.tables()
        assert sizes
        assert all(0 < size <= allocated for size, allocated in sizes)


@pytest.mark.parametrize("seed", range(3))
def test_random_edits_leave_the_knowledge_that_kuzu_has(in_postgres, open_at, path, new_world, make, equal, seed):
    world, stores = new_world(seed), (open_at(path), in_postgres())
    rows = sorted([*world.symbols.values(), *world.files.values(), *world.externals.values()])
    links = [make.linked(make.memory(f"m{number}"), row) for number, row in enumerate(world.random.sample(rows, 12))]
    for store in stores:
        store.apply(world.full())
        store.apply_knowledge(make.about(*links))
    for step in range(6):
        old = world.state()
        moves = dict(world.rename_symbol(world.random.choice([key for key, row in world.symbols.items() if row.kind == "function"])))
        if step % 2:
            for before, after in world.move_file(world.random.choice(sorted(world.files))):
                moves[next((first for first, second in moves.items() if second == before), before)] = after
        world.edit(3)
        kept = [(before, after) for before, after in sorted(moves.items()) if after in world.symbols or after in world.files]
        for store in stores:
            if step == 4:
                store.replace(world.full()._replace(moves=kept))
            else:
                store.apply(world.since(old)._replace(moves=kept))
        embedded, shared = (store.knowledge() for store in stores)
        assert shared == embedded
        assert stores[1].remembered_names() == stores[0].remembered_names()
        equal(stores[1], world)
    for store in stores:
        store.apply_knowledge(make.about()._replace(removed_memories=[f"m{number}" for number in range(0, 12, 2)]))
    assert stores[1].knowledge() == stores[0].knowledge()
    assert stores[1].remembered_names() == stores[0].remembered_names()


def test_deltas_that_say_more_than_they_must_leave_the_same_graph(in_postgres, new_world, equal):
    world, store = new_world(4), in_postgres()
    store.apply(world.full())
    for _ in range(12):
        store.apply(world.loose_edit())
        equal(store, world)


def test_projects_in_one_database_do_not_see_each_other(in_postgres, new_world, equal):
    one, two = in_postgres("one"), in_postgres("two")
    first, second = new_world(1), new_world(2)
    one.apply(first.full())
    two.apply(second.full())
    one.apply(first.edit(3))
    equal(one, first)
    equal(two, second)
    assert (one.generation(), two.generation()) == (2, 1)


def test_a_second_server_may_not_write_and_is_told_who_does(in_postgres):
    first = in_postgres()
    with pytest.raises(
        StoreBusyError,
        match=r"another server, .*, has been writing to this project in postgresql://.* since 20\d\d-.*; use that server, or stop it first",
    ):
        in_postgres()
    first.close()
    in_postgres().set_meta({"a": "b"})


def test_what_needs_a_file_or_cypher_is_refused_with_the_way_out(in_postgres):
    store = in_postgres()
    with pytest.raises(UnsupportedError, match="a backup needs a database file, but postgresql keeps this index on a server; use"):
        local_file(store, "a backup")
    with pytest.raises(UnsupportedError, match="Cypher queries are not supported with postgresql"):
        cypher_queries(store)


def cut(store):
    """End the connections of a store on the server, as a restart of it does."""
    with driver().connect(store._connections._url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'graphmem'"
        )


def test_a_server_goes_on_after_the_database_restarted(in_postgres, world, equal):
    store = in_postgres()
    store.apply(world.full())
    cut(store)
    equal(store, world)
    cut(store)
    assert store.apply(world.edit(2)) == 2
    equal(store, world)


def test_a_change_that_was_made_meanwhile_is_not_overwritten(in_postgres, world):
    store = in_postgres()
    store.apply(world.full())
    cut(store)
    other = in_postgres()
    other.apply(world.edit(2))
    with pytest.raises(StoreBusyError):
        store.apply(world.edit(2))
    other.close()
    with pytest.raises(GenerationChangedError, match="another server changed the graph") as refused:
        store.apply(GraphDelta.empty())
    assert (refused.value.expected, refused.value.found) == ([1, 0], [2, 0])


def test_a_connection_that_breaks_inside_a_change_leaves_nothing_of_it(in_postgres, world, equal, monkeypatch):
    store = in_postgres()
    store.apply(world.full())
    state, delta = world.state(), world.edit(4)
    real = Queries.add

    def breaking(self, table, pieces):
        real(self, table, pieces)
        if table == "edge":
            cut(store)

    monkeypatch.setattr(Queries, "add", breaking)
    with pytest.raises(StoreUnreachableError):
        store.apply(delta)
    monkeypatch.undo()
    world.files, world.symbols, world.externals, world.chunks, world.edges, world.unresolved = state[:6]
    equal(store, world)
    assert store.apply(GraphDelta.empty()) == 2


def test_a_store_that_is_closed_or_was_forked_says_so(in_postgres):
    store = in_postgres()
    store.close()
    store.close()
    for call in (store.generation, store.meta, store.tables, lambda: store.set_meta({"a": "b"})):
        with pytest.raises(StoreClosedError):
            call()


def test_an_address_that_does_not_answer_is_named_without_its_password(tmp_path):
    with pytest.raises(StoreUnreachableError, match=re.escape("postgresql://ann@localhost:1/x cannot be used")) as refused:
        open_postgres("postgresql://ann:secret@localhost:1/x", "p", tmp_path / "graph.db")
    assert "secret" not in str(refused.value)
    with pytest.raises(BadInputError) as refused:
        open_postgres("postgresql://ann:se cret@localhost:port/x?secret=1", "p")
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "graph.db").exists()


def test_a_newer_database_is_left_alone(in_postgres):
    store = in_postgres()
    store._derive(lambda queries, _: queries.run("meta_put", name="store.schema", value="99"), {})
    store.close()
    with pytest.raises(SchemaTooNewError, match=r"a newer graphmem \(schema 99, this one knows 2\); update graphmem"):
        in_postgres()


def test_texts_come_back_whatever_they_contain(in_postgres, world, equal):
    texts = ["\x00", "\x1a", "\x1aa\x1ab\x00b", "", '"', '"\\."', "\\N", "a\r\nb\r", "\t,;'", "🦉"]
    for key, text in zip(sorted(world.symbols), texts, strict=False):
        world.symbols[key] = world.symbols[key]._replace(doc=text, signature=text)
    store = in_postgres()
    store.apply(world.full())
    equal(store, world)


def test_every_query_is_planned_by_the_database(in_postgres):
    """Statements with wrong names of tables or columns fail here, the ones that no other test runs included."""
    store = in_postgres()
    connection = driver().connect(store._connections._url, autocommit=True, options=f"-c search_path={schema_of_store(store)}")
    with connection:
        for name, query in catalog().items():
            text = re.sub(r"\$[a-z_]+", "NULL", query.text)
            text = text.replace("@label", "file").replace("@table", "file").replace("@edge", "contains")
            connection.execute(f"EXPLAIN {text}"), name


def schema_of_store(store):
    assert schema_of("a") != schema_of("b")
    return store._connections._schema


@pytest.mark.parametrize("seed", range(3))
def test_a_follower_becomes_equal_to_a_snapshot_whatever_breaks(in_postgres, new_world, tmp_path, wait_until, seed):
    """Random edits, among them large ones, while connections break and the feed is pruned behind the follower's back."""
    world, store, chance = new_world(seed), in_postgres(), random.Random(seed)
    store.apply(world.full())
    follower = in_postgres(follow=True)
    projections = Projections(follower, tmp_path)
    deltas: list[bool] = []

    def code(generation, delta):
        deltas.append(delta is not None)
        if projections.graph().generation < generation or delta is None:
            projections.refresh(generation, delta)

    follower.feed.follow(code, lambda _: None)
    for step in range(12):
        store.apply(world.edit(chance.randrange(1, 4)))
        match chance.randrange(5):
            case 0:
                cut(store)
            case 1:
                store._derive(lambda queries, _: queries.run("prune_feed", generation=10**6), {})
            case 2 if step > 6:
                store.replace(world.full())
    store.apply(world.edit(1))
    wait_until(lambda: projections.graph().generation == store.generation(), timeout_s=60)
    wait_until(lambda: projections.snapshot().words is not None and projections.snapshot().words.generation == store.generation(), 60)
    fresh = GraphView.from_tables(store.tables())
    assert not projections.graph().arrays.difference(fresh.arrays)
    assert True in deltas or seed
    projections.close()


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_a_change_survives_the_feed(seed):
    world = World(seed)
    world.edit(2)
    for delta in (world.full(), world.loose_edit(), world.edit(5)._replace(moves=[("a", "b")])):
        assert [list(rows) for rows in decoded(encoded(delta)) if rows != delta.before] == [
            list(rows) for rows in delta if rows != delta.before
        ]
