"""Counts of a running session, of its forks and of parallel agents.

The counts are bounded, and a fork starts with all of them.
"""

from __future__ import annotations

import random
import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.errors import BadInputError
from graphmem.memory.reading.clock import ManualClock
from graphmem.observe.commands.places import is_config, module_of
from graphmem.observe.counts.scratchpad import MAX_BYTES
from graphmem.observe.counts.tables import Table
from graphmem.observe.running.events import checked
from graphmem.observe.running.merge import folded, merged
from graphmem.observe.running.observer import Observer
from graphmem.observe.running.running import Running, started_info
from graphmem.observe.signals import BY_VALUE

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def observer(tmp_path):
    made = Observer(tmp_path / "trails", lambda: ["/repo"], ManualClock(NOON))
    yield made
    made.close()


def tell(observer, session, *events):
    """Events a second apart, each a step of its own."""
    step = observer.record(session).steps if session in {info.id for info, _, _ in observer.open_sessions()} else 0
    made = [
        {"session_id": session, "step": step + i + 1, "at": (NOON - timedelta(hours=1) + timedelta(seconds=step + i)).isoformat(), **event}
        for i, event in enumerate(events)
    ]
    return observer.observe(made)


def edit(path, old="a", new="b"):
    return {"kind": "tool_result", "tool": "Edit", "args": {"file_path": f"/repo/{path}", "old_string": old, "new_string": new}}


def read(path):
    return {"kind": "tool_result", "tool": "Read", "args": {"file_path": f"/repo/{path}"}, "text": "x"}


def grep(pattern):
    return {"kind": "tool_result", "tool": "Grep", "args": {"pattern": pattern}, "text": ""}


def say(text):
    return {"kind": "message", "text": text}


def test_a_table_keeps_what_tells_most():
    table = Table(4, float)
    for name, worth in (("a", 1), ("b", 9), ("c", 2), ("d", 8)):
        table.add(name, worth)
    table.add("e", 5)
    assert list(table) == ["b", "d", "e"]
    assert table.dropped == 2


def test_a_flood_stays_inside_the_memory_a_session_may_have():
    rng = random.Random(3)
    running = Running(started_info("s", NOON, {}), ["/repo"])
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
    for i in range(500):
        name = f"/repo/{rng.getrandbits(200):x}/{rng.getrandbits(200):x}.py"
        for one in (
            {"kind": "tool_result", "tool": "Edit", "args": {"file_path": name, "old_string": str(i), "new_string": str(i + 1)}},
            {"kind": "tool_result", "tool": "Grep", "args": {"pattern": f"{rng.getrandbits(300):x}"}, "text": f"{name}\n{name[:-3]}2.py"},
            {
                "kind": "failure",
                "text": f"Error: {' '.join(rng.choices(words, k=12))}",
            },
        ):
            running.take(checked({"session_id": "s", "step": i, "at": NOON.isoformat(), **one}, NOON))
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert held < 1.5 * running.pad.cost() < MAX_BYTES  # the estimate that the bound is kept by is honest
    running.pad.keep_bounds(1 << 19)
    assert running.pad.cost() <= 1 << 19
    assert running.record("").ignored["let_go"] > 0


def test_when_room_is_short_the_least_valuable_evidence_goes_first(observer):
    for i in range(200):
        tell(observer, "s", read(f"src/f{i}.py"), grep(f"pattern {i}"))
    pad = observer._open.running["s"].pad
    pairs = len(pad.tables["co_access"][0])
    for i in range(40):
        pad.tables["time_anomaly"][0].add(f"run:{i}", [1.0])
    pad.keep_bounds(int(pad.cost() * 0.99))
    assert all(len(table) <= 1 for name in BY_VALUE[:-1] for table in pad.tables.get(name, ()))
    assert len(pad.tables["co_access"][0]) >= pairs // 2
    assert (len(pad.files), len(pad.searches)) == (200, 200)  # the counts themselves go last
    assert observer.record("s").ignored["let_go"] == pad.dropped() > 0


def test_a_fork_starts_from_all_its_parent_knows_and_tells_only_its_own(observer):
    tell(observer, "p", grep("token"), grep("token"), say("Correction: the cache is keyed by tenant, not by user."), edit("src/a.py"))
    observer.start("child", {"parent": "p"})
    tell(observer, "child", grep("token"), edit("src/b.py"))
    tell(observer, "p", edit("src/c.py"))
    child, _ = observer.end("child", "validated")
    parent, _ = observer.end("p", "validated")
    assert child.info.parent == "p"
    assert [one.signal for one in child.findings if one.signal in ("repeated_grep", "self_correction")] == ["repeated_grep"]
    assert [one.path for one in child.files] == ["src/b.py"]
    assert (child.events, parent.events) == (2, 5)
    assert "repeated_grep" not in {one.signal for one in parent.findings}
    assert [one.path for one in parent.files] == ["src/a.py", "src/c.py"]


def test_a_fork_of_nobody_is_refused(observer):
    with pytest.raises(BadInputError) as refused:
        observer.start("child", {"parent": "nobody"})
    assert refused.value.argument == "parent"


def test_agents_side_by_side_are_learnt_from_as_one_when_the_last_of_them_ends(observer):
    for name in ("one", "two"):
        observer.start(name, {"group": "g", "agent": name, "kind": "build"})
    said = "I initially thought the queue was drained by the workers, but it is drained by the scheduler"
    tell(observer, "one", read("src/q.py"), say(f"{said} every minute."), edit("src/q.py"))
    tell(observer, "two", read("src/q.py"), say(f"{said} each minute."), edit("src/r.py"))
    _, ready = observer.end("one", "validated")
    assert ready == []
    _, ready = observer.end("two", "validated")
    (whole,) = ready
    assert whole.members == ("one", "two")
    assert whole.info.ending == "merged"
    (thought,) = [one for one in whole.findings if one.signal == "self_correction"]
    assert thought.quorum
    assert thought.agents == ("one", "two")
    (early,) = [one for one in whole.findings if one.key.endswith("|src/q.py") and one.signal == "file_access"] or [None]
    assert early is None or early.min_sessions == 1
    assert {one.path: (one.reads, one.edits) for one in whole.files} == {"src/q.py": (2, 1), "src/r.py": (0, 1)}


def test_what_only_one_agent_found_needs_as_many_sessions_as_ever(observer):
    for name in ("one", "two"):
        observer.start(name, {"group": "g"})
    tell(observer, "one", edit("src/a.py"), edit("src/b.py"))
    tell(observer, "two", edit("src/c.py"))
    observer.end("one")
    _, (whole,) = observer.end("two")
    (pair,) = [one for one in whole.findings if one.signal == "co_access"]
    assert (pair.quorum, pair.min_sessions) == (False, 3)


def test_one_contaminated_witness_does_not_taint_what_a_clean_one_found(observer):
    web = {"kind": "tool_result", "tool": "WebFetch", "args": {"url": "https://example.org/x"}, "text": "words"}
    said = say("Correction: the pool is closed by the server, not by the handler.")
    tell(observer, "clean", said)
    tell(observer, "read", web, said)
    clean, dirty = observer.record("clean"), observer.record("read")
    (one,), (two,) = clean.findings, [x for x in dirty.findings if x.signal == "self_correction"]
    assert (one.contaminated, two.contaminated) == (False, True)
    (both,) = folded([two, one])
    assert (both.contaminated, both.quorum) == (False, True)


def test_merging_in_any_order_gives_the_same(observer):
    for name in "abc":
        tell(observer, name, read(f"src/{name}.py"), edit("src/shared.py"), grep("x"), grep("x"), grep("x"))
    records = [observer.record(name) for name in "abc"]
    assert merged(records) == merged(records[::-1])
    assert merged([records[0]]) == records[0]


@pytest.mark.parametrize(
    ("path", "module"), [("x.py", "."), ("src/x.py", "src"), ("src/auth/x.py", "src/auth"), ("src/auth/deep/er/x.py", "src/auth")]
)
def test_a_module_is_a_folder_at_most_two_deep(path, module):
    assert module_of(path) == module


def test_config_files_are_known_and_lock_files_are_none():
    assert all(map(is_config, ["pyproject.toml", "web/vite.config.ts", "deploy/docker-compose.prod.yml", "tsconfig.base.json", "Makefile"]))
    assert not any(map(is_config, ["package-lock.json", "uv.lock", "src/config.py", "README.md"]))
