"""Knowledge follows the code, the same whichever way the code was written."""

from __future__ import annotations

import pytest

from graphmem.knowledge import AboutRow, KnowledgeDelta, NamedFile
from graphmem.model import FileRow, SymbolRow, file_id
from graphmem.store.engine import times
from graphmem.store.tables.tables import KNOWLEDGE_PAIRS
from graphmem.store.writes.anchors import _CREATES, ANCHORED

WAYS = ["transaction", "new-file", "replace"]


def change(store, world, old, way, moves=()):
    """Bring the store to the state of the world, in one of the ways there are."""
    delta = world.since(old)._replace(moves=moves)
    if way == "transaction":
        store._write(
            lambda: store._transact(lambda transaction: store._changed_code(transaction, delta, times.now()), store._next_generation())
        )
    elif way == "new-file":
        store._write(lambda: store._rebuild(delta, {}, keep_code=True))
    else:
        store.replace(world.full()._replace(moves=moves))


def anchors(store):
    """(memory, target, role) -> anchor."""
    return {(row.memory_id, row.target_id, row.role): row.anchor for row in store.knowledge().about}


def functions(world):
    return [row for row in world.symbols.values() if row.kind == "function"]


def drop_file(world, one):
    row = world.files.pop(one)
    gone = {key for key, symbol in world.symbols.items() if symbol.path == row.path}
    for key in gone:
        del world.symbols[key]
    world.chunks = {key: chunk for key, chunk in world.chunks.items() if chunk.path != row.path}
    world.unresolved = {key: site for key, site in world.unresolved.items() if site.path != row.path}
    world._forget(gone | {one})


def put_back(world, state):
    world.files, world.symbols, world.externals, world.chunks, world.edges, world.unresolved = (dict(part) for part in state[:6])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.begun
def test_a_memory_about_code_that_is_gone_keeps_its_link_and_says_so_until_it_is_back(store, world, equal, make, way):
    gone = sorted(world.files.values())[0]
    symbol = next(row for row in functions(world) if row.path == gone.path)
    one, two = make.memory("m1"), make.memory("m2")
    store.apply_knowledge(make.about(make.linked(one, symbol), make.linked(two, gone)))
    old = world.state()
    drop_file(world, gone.id)
    change(store, world, old, way)
    equal(store, world)
    assert anchors(store) == {("m1", symbol.id, "about"): "orphaned", ("m2", gone.id, "about"): "orphaned"}
    assert store.read("memories_about", symbol_id=symbol.id)[0]["anchor"] == "orphaned"
    assert store.read("symbol_by_id", symbol_id=symbol.id) == []
    assert all(row["stale_at"] is not None for name in ("m1", "m2") for row in store.read("memory_anchors", memory_id=name))
    assert store.knowledge_generation() == 2

    gone_state = world.state()
    put_back(world, old)
    change(store, world, gone_state, way)
    equal(store, world)
    assert set(anchors(store).values()) == {"valid"}
    assert all(row["stale_at"] is None for name in ("m1", "m2") for row in store.read("memory_anchors", memory_id=name))
    assert store.knowledge_generation() == 3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.begun
def test_a_changed_body_makes_suspect_and_the_old_one_back_makes_valid_again(store, world, make, way):
    rewritten, untouched = functions(world)[:2]
    store.apply_knowledge(make.about(make.linked(make.memory("m"), rewritten), make.linked(make.memory("n"), untouched)))
    for body_hash, expected in (("other", "suspect"), (rewritten.body_hash, "valid")):
        old = world.state()
        world.symbols[rewritten.id] = world.symbols[rewritten.id]._replace(body_hash=body_hash)
        world.symbols[untouched.id] = world.symbols[untouched.id]._replace(start_line=world.symbols[untouched.id].start_line + 1)
        change(store, world, old, way)
        assert anchors(store) == {("m", rewritten.id, "about"): expected, ("n", untouched.id, "about"): "valid"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.begun
def test_a_renamed_function_keeps_its_memory(store, world, equal, make, way):
    symbol = functions(world)[0]
    store.apply_knowledge(make.about(make.linked(make.memory("m"), symbol), make.linked(make.memory("m"), symbol, "impacts")))
    old = world.state()
    ((_, new),) = moves = world.rename_symbol(symbol.id)
    change(store, world, old, way, moves)
    equal(store, world)
    assert anchors(store) == {("m", new, "about"): "moved", ("m", new, "impacts"): "moved"}
    before = store.knowledge().about
    assert {row.body_hash for row in before} == {symbol.body_hash}
    assert store._connection.rows("MATCH (s:Symbol {id: $id}) RETURN s.id", {"id": symbol.id}).rows == []

    old = world.state()  # what has moved stays so when nothing of it changes, and is judged like any other when it does
    world.symbols[new] = world.symbols[new]._replace(start_line=99)
    change(store, world, old, way)
    assert store.knowledge().about == before
    old = world.state()
    world.symbols[new] = world.symbols[new]._replace(body_hash="other")
    change(store, world, old, way)
    assert set(anchors(store).values()) == {"suspect"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.begun
def test_a_moved_file_takes_everything_that_is_known_about_it_along(store, world, equal, make, way):
    file, other = sorted(world.files.values())[:2]
    symbol = next(row for row in functions(world) if row.path == file.path)
    store.apply_knowledge(make.about(make.linked(make.memory("m"), symbol), make.linked(make.memory("m"), file)))
    run = store._connection.rows
    run("CREATE (:Person {id: 'p'})")
    run("CREATE (:ErrorPattern {id: 'e'})")
    ends = {"file": file.id, "other": other.id, "symbol": symbol.id}
    for statement in (
        "MATCH (a:File {id: $file}), (b:File {id: $other}) CREATE (a)-[:CO_ACCESSED {sessions: 3, confidence: 0.5}]->(b)",
        "MATCH (a:File {id: $other}), (b:File {id: $file}) CREATE (a)-[:CO_ACCESSED {sessions: 4}]->(b)",
        "MATCH (a:Person {id: 'p'}), (b:File {id: $file}) CREATE (a)-[:OWNS {share: 0.25, commits: 7}]->(b)",
        "MATCH (a:ErrorPattern {id: 'e'}), (b:Symbol {id: $symbol}) CREATE (a)-[:SEEN_IN {line: 5}]->(b)",
    ):
        run(statement, {name: value for name, value in ends.items() if f"${name}" in statement})
    old = world.state()
    moves = world.move_file(file.id)
    new = dict(moves)
    change(store, world, old, way, moves)
    equal(store, world)
    assert anchors(store) == {("m", new[symbol.id], "about"): "moved", ("m", new[file.id], "about"): "moved"}
    run = store._connection.rows
    assert sorted(run("MATCH (a:File)-[e:CO_ACCESSED]->(b:File) RETURN a.id, b.id, e.sessions, e.confidence").rows, key=str) == sorted(
        [[new[file.id], other.id, 3, 0.5], [other.id, new[file.id], 4, None]], key=str
    )
    assert run("MATCH (:Person)-[e:OWNS]->(b:File) RETURN b.id, e.share, e.commits").rows == [[new[file.id], 0.25, 7]]
    assert run("MATCH (:ErrorPattern)-[e:SEEN_IN]->(b:Symbol) RETURN b.id, e.line, e.seen_at").rows == [[new[symbol.id], 5, None]]
    assert run("MATCH (n:File) WHERE n.stale_at IS NOT NULL RETURN n.id").rows == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.begun
def test_two_links_that_come_to_say_the_same_become_one(store, world, make, way):
    one, two = functions(world)[:2]
    links = [make.linked(make.memory("m"), one), make.linked(make.memory("m"), two)._replace(commit_sha="other")]
    store.apply_knowledge(make.about(*links))
    gone = world.state()  # `two` is away for a while: its link waits at a stale node
    del world.symbols[two.id]
    world._forget({two.id})
    world.chunks = {key: row for key, row in world.chunks.items() if row.symbol_id != two.id}
    change(store, world, gone, way)
    assert anchors(store) == {("m", one.id, "about"): "valid", ("m", two.id, "about"): "orphaned"}
    old = world.state()  # and `one` comes where `two` was
    world.symbols[two.id] = world.symbols.pop(one.id)._replace(id=two.id, name=two.name, qualname=two.qualname)
    world._rename({one.id: two.id})
    change(store, world, old, way, [(one.id, two.id)])
    assert anchors(store) == {("m", two.id, "about"): "suspect"}
    assert store.knowledge().about[0].commit_sha == "other"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.begun
def test_a_file_that_is_named_before_it_is_indexed_waits_for_it(store, world, equal, make, way):
    unseen = FileRow(file_id("p", "new/é.py"), "new/é.py", "python", "new", "h", 5, 1, False, 0, "", 0)
    name = NamedFile(unseen.id, unseen.path)
    store.apply_knowledge(make.about(make.linked(make.memory("m"), unseen))._replace(files=[name]))
    equal(store, world)
    assert anchors(store) == {("m", unseen.id, "about"): "orphaned"}
    assert unseen.path not in [row["path"] for row in store.read("files")]
    old = world.state()
    world.files[unseen.id] = unseen
    change(store, world, old, way)
    equal(store, world)
    assert anchors(store) == {("m", unseen.id, "about"): "valid"}


def test_what_is_known_of_a_project_before_its_first_index_is_linked_by_it(store, world, equal, make):
    file = sorted(world.files.values())[0]
    store.apply_knowledge(make.about(make.linked(make.memory("m"), file))._replace(files=[NamedFile(file.id, file.path)]))
    assert anchors(store) == {("m", file.id, "about"): "orphaned"}
    assert store.apply(world.full()) == 1
    equal(store, world)
    assert anchors(store) == {("m", file.id, "about"): "valid"}


@pytest.mark.begun
def test_a_place_nobody_knows_anything_about_any_more_is_given_up(store, world, make):
    one = functions(world)[0]
    name = NamedFile(file_id("p", "x.py"), "x.py")
    unseen = AboutRow("m", name.id, "File", "about", 1.0, "", "", "orphaned")
    store.apply_knowledge(make.about(make.linked(make.memory("m"), one), unseen, make.linked(make.memory("n"), one))._replace(files=[name]))
    old = world.state()
    del world.symbols[one.id]
    world._forget({one.id})
    world.chunks = {key: row for key, row in world.chunks.items() if row.symbol_id != one.id}
    store.apply(world.since(old))

    def stale():
        return {row[0] for row in store._connection.rows("MATCH (n:File:Symbol) WHERE n.stale_at IS NOT NULL RETURN n.id").rows}

    assert stale() == {one.id, name.id}
    store.apply_knowledge(KnowledgeDelta(removed_memories=["m"]))
    assert stale() == {one.id}
    store.apply_knowledge(KnowledgeDelta(anchored=["n"]))
    assert stale() == set()


@pytest.mark.begun
def test_a_link_is_judged_when_it_is_written(store, world, make):
    symbol = functions(world)[0]
    old_body = make.linked(make.memory("m"), symbol)._replace(body_hash="of another time")
    wrong = make.linked(make.memory("n"), sorted(world.files.values())[0])._replace(anchor="orphaned")
    store.apply_knowledge(make.about(old_body, wrong))
    assert sorted(anchors(store).values()) == ["suspect", "valid"]


@pytest.mark.begun
def test_a_change_that_touches_no_anchor_leaves_the_knowledge_generation(store, world, make):
    store.apply_knowledge(make.about(make.linked(make.memory("m"), functions(world)[0])))
    world.random.seed(5)
    old = world.state()
    world.add_edges(3)
    store.apply(world.since(old))
    store.compact()
    store.replace(world.full())
    assert store.knowledge_generation() == 1


@pytest.mark.parametrize("seed", range(3))
def test_random_edits_leave_the_same_knowledge_whichever_way_they_are_written(open_at, path, new_world, make, equal, both_directions, seed):
    world = new_world(seed)
    stores = {way: open_at(path.with_name(f"{way}.db")) for way in WAYS}
    world.random.seed(seed)
    rows = [*functions(world), *world.files.values(), *world.externals.values()]
    links = [make.linked(make.memory(f"m{number}"), row) for number, row in enumerate(world.random.sample(sorted(rows), 12))]
    for store in stores.values():
        store.apply(world.full())
        store.apply_knowledge(make.about(*links))
    for _ in range(6):
        old = world.state()
        moves = {}
        if world.random.random() < 0.5 and functions(world):
            moves.update(world.rename_symbol(world.random.choice(sorted(functions(world))).id))
        if world.random.random() < 0.4:
            for before, after in world.move_file(world.random.choice(sorted(world.files))):
                origin = next((first for first, second in moves.items() if second == before), before)
                moves[origin] = after
        world.edit(3)
        kept = [(before, after) for before, after in sorted(moves.items()) if after in world.symbols or after in world.files]
        for way, store in stores.items():
            change(store, world, old, way, kept)
        found = {way: store.knowledge()[1:] for way, store in stores.items()}
        assert found["transaction"] == found["new-file"] == found["replace"]
        for link in found["transaction"][1]:
            live = world.symbols.get(link.target_id) or world.files.get(link.target_id) or world.externals.get(link.target_id)
            assert (link.anchor == "orphaned") == (live is None)
            if isinstance(live, SymbolRow):
                assert (link.anchor == "suspect") == (live.body_hash != link.body_hash)
    for store in stores.values():
        equal(store, world)
        forward = store._connection.rows("MATCH (a:Memory)-[e:ABOUT]->(b) RETURN a.id, b.id").rows
        assert sorted(forward) == sorted(store._connection.rows("MATCH (b)<-[e:ABOUT]-(a:Memory) RETURN a.id, b.id").rows)
        assert len(forward) == len(links) or len(forward) == len(found["transaction"][1])


def test_every_kind_of_edge_to_code_is_one_that_can_follow_it():
    to_code = {pair.edge for pair in KNOWLEDGE_PAIRS if pair.src in ANCHORED or pair.dst in ANCHORED}
    assert to_code == set(_CREATES)
