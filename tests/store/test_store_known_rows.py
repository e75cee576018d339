"""Rows that a change brings along are not read from the store again.

Names that frameworks have for functions are kept.
"""

from __future__ import annotations

import pytest

from graphmem.model import Before, HandlesRow


def known(state) -> Before:
    files, symbols, _, chunks, edges, *_ = state
    by_path: dict[str, list] = {}
    for row in edges.values():
        if row.src in symbols:
            by_path.setdefault(symbols[row.src].path, []).append(row)
    return Before(dict(files), dict(symbols), dict(chunks), by_path)


@pytest.mark.parametrize("seed", range(2))
def test_changes_whose_old_rows_are_known_leave_what_a_dictionary_would_hold(store, new_world, equal, seed):
    world = new_world(seed)
    store.apply(world.full())
    for _ in range(4):
        before = known(world.state())
        store.apply(world.edit(4)._replace(before=before))
        equal(store, world)


@pytest.mark.begun
def test_chunks_that_only_moved_keep_their_text(store, world, equal):
    before = known(world.state())
    old = world.state()
    for key, row in list(world.chunks.items()):
        prefix = row.prefix.replace(f"Lines: {row.start_line}-{row.end_line}", f"Lines: {row.start_line + 7}-{row.end_line + 7}")
        world.chunks[key] = row._replace(start_line=row.start_line + 7, end_line=row.end_line + 7, prefix=prefix)
    delta = world.since(old)._replace(before=before)
    assert any(delta.only_moved(row) for row in delta.chunks)
    store.apply(delta)
    equal(store, world)


@pytest.mark.local
@pytest.mark.begun
def test_names_of_frameworks_are_written_whole_and_lead_from_functions_that_are_there(store, world):
    first, second = sorted(key for key, row in world.symbols.items() if row.kind == "function")[:2]
    rows = [
        HandlesRow("route", "/a/<id>", "django", first, 0.97, "route", 3),
        HandlesRow("event", "saved", "", first, 0.8, "signal", 0),
        HandlesRow("route", "/a/<id>", "django", second, 0.97, "route", 0),
        HandlesRow("route", "/gone", "django", "no such symbol", 0.97, "route", 1),
    ]
    store.put_handles("one", "p", rows)
    found = [(row["kind"], row["name"], row["framework"], row["symbol_id"], row["line"]) for row in store.read("framework_keys")]
    assert found == [
        ("event", "saved", "", first, 0),
        ("route", "/a/<id>", "django", first, 3),
        ("route", "/a/<id>", "django", second, 0),
    ]
    assert store.meta()["handles"] == "one"
    store.put_handles("two", "p", rows[1:2])
    assert [row["name"] for row in store.read("framework_keys")] == ["saved"]
    store.put_handles("three", "p", [])
    assert store.read("framework_keys") == []
