"""Behaviour that every store must have, in plain words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from graphmem.errors import BadInputError, QueryParameterError, StoreClosedError
from graphmem.model import GraphDelta, HandlesRow
from graphmem.store import open_store
from graphmem.store.file import changing
from graphmem.store.tables.arrow_rows import to_lines, to_offsets

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # a database for each attempt: shrinking would take minutes


def test_a_new_store_is_empty_and_says_what_it_is(path, engine):
    store = open_store(path, engine=engine, max_db_bytes=1 << 30)
    assert store.generation() == 0
    assert store.meta() == {}
    assert store.engine.name == engine
    assert store.notes == []
    assert all(len(table) == 0 for table in store.tables()[1:])
    assert len(store.chunks()) == 0
    assert store.read("files") == []
    store.close()


def test_a_first_load_is_read_back_exactly(store, world, equal):
    assert store.apply(world.full(), {"project": "p"}) == 1
    equal(store, world)
    assert store.meta() == {"project": "p"}
    assert store.tables().generation == store.generation() == 1


def test_everything_is_there_after_closing_and_opening(store, world, equal, open_at, path):
    store.apply(world.full(), {"root": "/r"})
    store.apply(world.edit(5))
    store.close()
    again = open_at(path)
    equal(again, world)
    assert again.generation() == 2
    assert again.meta() == {"root": "/r"}


@settings(max_examples=6, phases=PHASES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000), steps=st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_any_sequence_of_changes_leaves_what_a_dictionary_would_hold(open_at, tmp_path_factory, new_world, equal, seed, steps):
    path = tmp_path_factory.mktemp("model") / "graph.db"
    world, store = new_world(seed), open_at(path)
    store.apply(world.full())
    for number, step in enumerate(steps, 2):
        assert store.apply(world.edit(step)) == number
        equal(store, world)
    store.checkpoint()
    equal(store, world)
    store.close()
    equal(open_at(path), world)


@settings(max_examples=3, phases=PHASES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 10_000))
def test_large_changes_through_a_new_file_give_the_same_graph(open_at, tmp_path_factory, new_world, equal, seed):
    world, store = new_world(seed), open_at(tmp_path_factory.mktemp("large") / "graph.db")
    store.apply(world.full())
    delta = world.edit(6)
    store._write(lambda: store._rebuild(delta, {}, keep_code=True))
    equal(store, world)
    store.apply(world.edit(3))
    equal(store, world)
    store.compact()
    equal(store, world)


def test_a_change_of_many_rows_goes_joined_and_gives_the_same(store, new_world, equal):
    world = new_world(3, files=2)
    world.add_file(symbols=90)
    store.apply(world.full())
    old = world.state()
    world.move_lines()
    for _ in range(30):
        world.change_evidence()
        world.rewrite_symbol()
        world.change_chunk()
    world.add_file(symbols=80)
    world.add_edges(120)
    store.apply(world.since(old))
    equal(store, world)
    old = world.state()
    for _ in range(2):
        world.remove_file()
    store.apply(world.since(old))
    equal(store, world)


@pytest.mark.begun
def test_large_deltas_take_the_way_of_a_new_file(store, world, equal, monkeypatch):
    inode = store._file.stat().st_ino
    store.apply(world.edit(1))
    assert store._file.stat().st_ino == inode
    monkeypatch.setattr(changing, "LARGE_ROWS", 1)
    monkeypatch.setattr(changing, "LARGE_SHARE", 10_000)
    store.apply(world.edit(8))
    assert store._file.stat().st_ino != inode
    equal(store, world)


def test_replacing_forgets_the_old_code_and_counts_on(store, world, new_world, equal):
    store.apply(world.full(), {"project": "p"})
    other = new_world(99)
    assert store.replace(other.full(), {"root": "r"}) == 2
    equal(store, other)
    assert store.meta() == {"project": "p", "root": "r"}


@pytest.mark.begun
def test_an_empty_delta_only_counts(store, world, equal):
    assert store.apply(GraphDelta.empty(), {"seen": "yes"}) == 2
    assert store.meta() == {"seen": "yes"}
    equal(store, world)


def test_lines_of_edges_come_back_whatever_they_say(store, world, equal):
    odd = ["", "7", "7,7", "9,8", "x", "=3", "7,", "07"]
    for key, lines in zip(sorted(world.edges), odd, strict=False):
        world.edges[key] = world.edges[key]._replace(line=7, lines=lines)
    store.apply(world.full())
    equal(store, world)


@given(
    st.integers(0, 10**6), st.one_of(st.text(max_size=20), st.lists(st.integers(0, 10**6), max_size=5).map(lambda n: ",".join(map(str, n))))
)
def test_sites_survive_their_compact_form(line, lines):
    assert to_lines(line, to_offsets(line, lines)) == lines


def test_chunks_are_found_by_id_a_few_or_many(store, new_world):
    world = new_world(5)
    world.add_file(symbols=60)
    store.apply(world.full())
    ids = sorted(world.chunks)
    for some in (ids[:1], ids[:3], ids[:50], ids):
        assert store.chunks(some).column("id").to_pylist() == some
    assert store.chunks([*ids[:2], "nothing"]).column("text").to_pylist() == [world.chunks[one].text for one in ids[:2]]
    assert len(store.chunks([])) == 0


def test_many_paths_are_answered_like_a_few(store, new_world):
    world = new_world(6, files=60)
    store.apply(world.full())
    paths = sorted(row.path for row in world.files.values())
    together = store.rows_of(paths, paths)
    assert together.files == sorted(world.files.values())
    edges = store.edges_from(paths)
    assert edges == [world.edges[key] for key in sorted(world.edges)]
    single = [store.rows_of([one], [one]) for one in paths]
    assert sorted(edge for one in paths for edge in store.edges_from([one])) == sorted(edges)
    assert sorted(chunk for rows in single for chunk in rows.chunks) == together.chunks
    assert sorted(row for rows in single for row in rows.occurrences) == together.occurrences


@pytest.mark.local
@pytest.mark.begun
def test_unknown_paths_and_ids_are_passed_over(store, world):
    assert store.rows_of(["nowhere.py"], ["nowhere.py"]) == ([], [], [], [], [])
    assert store.rows_of([], []) == ([], [], [], [], [])
    assert store.edges_from([]) == []
    assert store.read("symbol_by_id", symbol_id="nothing") == []


@pytest.mark.local
@pytest.mark.begun
def test_named_queries_answer_with_their_declared_columns(store, world):
    symbol = sorted(world.symbols.values())[0]
    assert store.read("symbol_by_id", symbol_id=symbol.id) == [symbol._asdict()]
    assert [row["path"] for row in store.read("files")] == sorted(row.path for row in world.files.values())
    assert store.read("chunk_count") == [{"chunks": len(world.chunks)}]
    assert sum(row["edges"] for row in store.read("edge_counts")) == len(world.edges)
    assert sum(row["sites"] for row in store.read("unresolved_counts")) == len(world.unresolved)
    assert store.read("file_totals") == [
        {
            "language": "python",
            "files": len(world.files),
            "call_sites": 7 * len(world.files),
            "lines": sum(row.lines for row in world.files.values()),
        }
    ]
    called = [edge for edge in world.edges.values() if edge.kind == "CALLS" and edge.dst in world.symbols]
    target = called[0].dst
    expected = sorted((-edge.confidence, edge.src) for edge in called if edge.dst == target)
    assert [(-row["confidence"], row["id"]) for row in store.read("callers_of", symbol_id=target, max_rows=100)] == expected


@pytest.mark.local
@pytest.mark.begun
def test_impact_of_the_engine_counts_the_fewest_steps(store, world):
    kinds = {"CALLS", "REFERENCES", "INHERITS", "OVERRIDES", "USES_TYPE", "TESTS"}
    into: dict[str, set[str]] = {}
    for edge in world.edges.values():
        if edge.kind in kinds and edge.confidence >= 0.9 and edge.dst in world.symbols:
            into.setdefault(edge.dst, set()).add(edge.src)
    target = max(into, key=lambda one: (len(into[one]), one))
    depths, front = {}, {target}
    for depth in (1, 2, 3):
        front = {src for one in front for src in into.get(one, ())} - depths.keys()
        depths.update(dict.fromkeys(front, depth))
    depths.pop(target, None)
    answer = {
        row["id"]: row["depth"]
        for row in store.read("impact_reference", symbol_id=target, min_confidence=0.9, without_rule="wrapped", depth=3)
    }
    answer.pop(target, None)
    assert answer == depths


@pytest.mark.local
def test_a_query_is_called_with_exactly_its_parameters(store):
    for params in ({}, {"symbol_id": "a", "more": 1}, {"other": "a"}):
        with pytest.raises(QueryParameterError) as caught:
            store.read("symbol_by_id", **params)
        assert caught.value.query == "symbol_by_id"
    with pytest.raises(QueryParameterError, match="unknown database query"):
        store.read("MATCH (n) RETURN n")
    with pytest.raises(BadInputError, match="changes the database"):
        store.read("meta_put", name="a", value="b")


@pytest.mark.local
def test_fills_take_only_what_their_header_allows(store):
    for depth in (0, 31, "3", True, 2.0, "1..2]-() DETACH DELETE n //"):
        with pytest.raises(QueryParameterError):
            store.read("impact_reference", symbol_id="a", min_confidence=0.5, without_rule="wrapped", depth=depth)
    with pytest.raises(QueryParameterError):
        store.read("ids_of", label="Symbol")


@pytest.mark.own
@pytest.mark.begun
def test_deltas_that_contradict_themselves_are_refused_whole(store, world, equal):
    edge = next(iter(world.edges.values()))
    empty = GraphDelta.empty()
    nowhere = edge._replace(kind="CALLS", src=next(one for one in world.symbols), dst="nowhere")
    for delta, words in (
        (empty._replace(symbols=[*world.symbols.values()][:1] * 2), "are equal|repeated"),
        (empty._replace(edges=[edge, edge]), "are equal|repeated"),
        (empty._replace(edges=[nowhere]), "neither in the change nor in the graph"),
        (empty._replace(edges=[edge._replace(kind="CHUNK_OF")]), "follows from ChunkRow.symbol_id"),
        (empty._replace(edges=[edge._replace(kind="KNOWS")]), "KNOWS"),
        (empty._replace(files=[*world.files.values()][:1], edges=[nowhere]), "neither"),
    ):
        with pytest.raises(BadInputError, match=words):
            store.apply(delta)
        equal(store, world)
    assert store.generation() == 1


@pytest.mark.local
def test_a_first_load_with_a_loose_edge_is_refused_whole(store, world):
    world.edges[("CALLS", "a", "b")] = next(iter(world.edges.values()))._replace(kind="CALLS", src="a", dst="b")
    with pytest.raises(BadInputError, match="neither in the change nor in the graph"):
        store.apply(world.full())
    assert store.generation() == 0
    assert store.read("files") == []
    assert sorted(file.name for file in store._file.parent.iterdir()) == ["graph.db", "graph.db.lock"]


@pytest.mark.own
@pytest.mark.local
def test_values_that_are_neither_text_nor_a_number_are_refused_by_name(store, world):
    row = next(iter(world.symbols.values()))
    for changed, column in (
        (row._replace(doc="\ud800"), "doc"),
        (row._replace(start_line=2**63), "start_line"),
        (row._replace(is_test="x"), "is_test"),
    ):
        with pytest.raises(BadInputError, match=f"Symbol.{column}"):
            store.apply(GraphDelta.empty()._replace(symbols=[changed]))
    with pytest.raises(BadInputError):
        store.read("symbol_by_id", symbol_id="\ud800")
    with pytest.raises(BadInputError):
        store.edges_from(["\udcff"])


def test_meta_is_text_and_leaves_the_generation_alone(store):
    store.set_meta({"a": "1", "b": "2"})
    store.set_meta({"a": "3"})
    store.set_meta({})
    assert store.meta() == {"a": "3", "b": "2"}
    assert store.generation() == 0
    for bad in ({"a": 1}, {"store.generation": "9"}):
        with pytest.raises(BadInputError):
            store.set_meta(bad)


@pytest.mark.local
def test_times_go_in_aware_and_come_out_in_utc(store):
    moment = datetime(2025, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=5)))
    connection = store._database.connect()
    connection.rows("CREATE (:Memory {id: $id, created_at: $at})", {"id": "m", "at": moment})
    assert store.read("memories_by_id", ids=["m"])[0]["created_at"] == datetime(2025, 3, 1, 7, 0, tzinfo=UTC)
    with pytest.raises(BadInputError, match="time zone"):
        connection.rows("CREATE (:Memory {id: $id, created_at: $at})", {"id": "n", "at": datetime(2025, 3, 1)})  # noqa: DTZ001


@pytest.mark.own
def test_closing_is_idempotent_and_a_closed_store_says_so(store, path):
    store.close()
    store.close()
    for call in (
        store.generation,
        store.tables,
        store.meta,
        lambda: store.read("files"),
        lambda: store.apply(GraphDelta.empty()),
        store.checkpoint,
    ):
        with pytest.raises(StoreClosedError):
            call()
    assert sorted(file.name for file in path.parent.iterdir()) == ["graph.db", "graph.db.lock"]


def test_what_others_ask_by_name_is_answered_as_the_rows_say(store, world, make):
    store.apply(world.full(), {"project": "p"})
    assert store.file_hashes() == {row.path: row.content_hash for row in sorted(world.files.values(), key=lambda row: row.path)}
    counts = store.counts()
    assert sum(row["edges"] for row in counts.edges) == len(world.edges)
    assert counts.call_sites == sum(row.call_sites for row in world.files.values())
    assert sum(row["sites"] for row in counts.unresolved) == len(world.unresolved)
    assert sum(row["edges"] for row in counts.calls) == sum(edge.kind == "CALLS" for edge in world.edges.values())
    symbol = next(row for row in world.symbols.values() if row.kind != "module")
    assert (store.memory_count(), store.memory_links(), store.framework_keys()) == (0, [], [])
    store.apply_knowledge(make.about(make.linked(make.memory("m1"), symbol), make.linked(make.memory("m2"), symbol)))
    assert store.memory_count() == 2
    assert [tuple(link) for link in store.memory_links()] == [(one, symbol.id, "about", "valid") for one in ("m1", "m2")]
    assert store.remembered_names() == {}
    del world.symbols[symbol.id]
    world._forget({symbol.id})
    store.replace(world.full())
    assert store.remembered_names() == {symbol.id: f"{symbol.path}:{symbol.qualname}"}
    kept = next(row for row in world.symbols.values() if row.kind != "module")
    store.put_handles("mark", "p", [HandlesRow("route", "/users", "flask", kept.id, 0.9, "route", 3)])
    (key,) = store.framework_keys()
    assert (key.kind, key.name, key.framework, key.symbol_id, key.rule, key.line) == ("route", "/users", "flask", kept.id, "route", 3)
