"""The verbs of sessions say the same in process and through a server, write nothing while a session runs, and learn at its end."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import BadInputError, SessionNotFoundError
from graphmem.settings import Settings
from made_once import empty_index

SESSIONS = Path(__file__).parent / "sessions"


def events(name, session, *, end=False):
    lines = [json.loads(line) for line in (SESSIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
    kept = lines if end else [one for one in lines if one["kind"] != "session_end"]
    return [{**one, "session_id": session} for one in kept]


@pytest.fixture
def project(tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        yield memory


@pytest.fixture
def interface(request, project):
    """The verbs, in process or over HTTP."""
    if request.param == "here":
        yield project
        return
    with _served(project) as remote:
        yield remote


@contextmanager
def _served(project):
    server = Server(build_app(project), "127.0.0.1", 0)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield RemoteGraphMem(f"http://127.0.0.1:{server.port}", "")
    finally:
        server.stop()
        thread.join(60)


BOTH = pytest.mark.parametrize("interface", ["here", "there"], indirect=True)


@BOTH
def test_a_session_is_told_ended_and_learnt_from(interface, project):
    started = interface.start_session("s", kind="build", agent="claude-code", work_unit="Tokens", phase="coding", planned_steps=4)
    assert (started.id, started.phase, started.work_unit) == ("s", "implement", "Tokens")
    before = project.memories().total
    answer = interface.observe(events("06_repeated_grep_fires", "s"))
    assert (answer.taken, answer.sessions, answer.ignored) == (15, ["s"], {})
    assert answer.early == ["repeated_grep:refresh_token"]
    page = interface.sessions("running")
    assert [(one.id, one.state, one.agent, one.events) for one in page.sessions] == [("s", "running", "claude-code", 15)]
    seen = interface.session_detail("s")
    assert seen.findings[0].key == "repeated_grep:refresh_token"
    assert seen.findings[0].facts["times"] == 3
    assert project.memories().total == before  # nothing before the end
    ended = interface.end_session("s", "validated")
    assert ended.session.outcome == "validated"
    assert ended.receipt.counts["learnt"] == 2  # and how the unit of work ended
    assert interface.end_session("s").receipt == ended.receipt  # idempotent
    assert project.memories().total == before + 2
    assert interface.sessions("ended").sessions[0].id == "s"


@BOTH
def test_a_session_that_says_its_own_end_is_learnt_from_behind_the_answer(interface, project):
    answer = interface.observe(events("09_self_correction_fires", "s", end=True))
    assert answer.ended == ["s"]
    project.wait_for_learning()
    assert project.session_receipts("s")[0].counts["learnt"] == 1


@BOTH
def test_refusals_say_what_there_is(interface):
    with pytest.raises(SessionNotFoundError):
        interface.session_detail("nobody")
    with pytest.raises(SessionNotFoundError):
        interface.end_session("nobody")
    with pytest.raises(BadInputError):
        interface.start_session("")
    with pytest.raises(BadInputError):
        interface.start_session("x", parent="nobody")


@BOTH
def test_what_is_not_an_event_costs_itself_alone(interface):
    answer = interface.observe([7, {"kind": "dance", "session_id": "s"}, {"kind": "message", "session_id": "s", "text": "x" * 3_000_000}])
    assert answer.taken == 1
    assert answer.ignored == {"not_an_event": 1, "unknown_kind": 1, "text_cut": 1}


def test_bad_words_are_refused_in_process(project):
    for told in ({"kind": "dance"}, {"planned_steps": 0}):
        with pytest.raises(BadInputError):
            project.start_session("s", **told)
    with pytest.raises(BadInputError):
        project.observe("not a list")
    with pytest.raises(BadInputError):
        project.sessions("asleep")
    with pytest.raises(BadInputError):
        project.end_session("s", "great")


def test_a_block_is_a_session(project):
    with project.session(kind="build", agent="mine") as work:
        work.observe({"kind": "message", "text": "Correction: the queue is drained by the scheduler, not by the workers."})
        work.outcome = "validated"
    assert work.receipt.counts["learnt"] == 1


def test_a_block_that_breaks_is_a_session_that_failed(project):
    def broken():
        with project.session("s", kind="build") as work:
            work.observe({"kind": "message", "text": "Correction: the sky is held up by the scheduler, not by the workers."})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert project.session_detail("s").session.outcome == "failed"


def test_nothing_is_learnt_where_nothing_is_to_be(project):
    project.observe(events("09_self_correction_fires", "s"))
    ended = project.end_session("s", "validated", learn=False)
    assert ended.receipt is None
    assert project.memories().total == 0


def test_agents_of_one_group_are_learnt_from_once(project):
    for name in ("one", "two"):
        project.start_session(name, kind="build", group="g", agent=name)
        project.observe(events("09_self_correction_fires", name))
    first = project.end_session("one", "validated")
    assert first.receipt is None
    assert "still run" in first.note
    second = project.end_session("two", "validated")
    assert second.receipt.counts["learnt"] >= 1
    assert project.end_session("one").receipt is None


def test_work_of_many_units_is_learnt_from_after_each_validated_one(project):
    project.start_session("s", kind="build")
    step = 0
    facts = (
        "the parser is called twice for every header, never once",
        "migrations run before the health check, not after it",
        "prices are stored in cents and only shown in euros",
        "the mailer swallows timeouts, so a retry is not possible there",
        "feature flags are read at import, never while a request runs",
        "tenants share one connection pool, not one for each",
        "the export holds a lock on invoices until it has ended, not per row",
    )
    for unit, fact in enumerate(facts):
        told = [{"kind": "step_complete", "args": {"work_unit": f"Unit {unit}"}}]
        told += [{"kind": "message", "text": f"Correction: {fact}."}]
        told += [{"kind": "step_complete", "args": {"outcome": "validated"}}]
        for one in told:
            step += 1
            project.observe([{"session_id": "s", "step": step, "at": 1767261600 + step, **one}])
    project.wait_for_learning()
    parts = [receipt.part for receipt in project.session_receipts("s")]
    assert parts == ["Unit 5", "Unit 6"]
    assert all(receipt.counts["learnt"] == 1 for receipt in project.session_receipts("s"))
    whole = project.end_session("s", "validated").receipt
    assert whole.part == ""
    assert whole.counts["learnt"] == 5


def test_a_session_that_was_left_is_learnt_from_at_a_later_start(tmp_path):
    def opened():
        return GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none"))

    with opened() as memory:
        memory.observe(events("09_self_correction_fires", "s")[1:])  # without its start: a terminal, which waits for no outcome
    (trail,) = (tmp_path / "index" / "trails").glob("*.trail")
    old = time.time() - timedelta(hours=2).total_seconds()
    os.utime(trail, (old, old))
    with opened() as memory:
        memory.wait_for_learning()
        assert memory.sessions().sessions[0].ending == "recovered"
        assert memory.session_receipts("s")[0].counts["learnt"] == 1


def test_a_session_that_failed_leaves_its_dead_end_and_nothing_else(project):
    project.start_session("s", kind="build")
    project.observe(events("20_dead_end", "s"))
    seen = project.session_detail("s")
    assert seen.dead_ends[0].why == "the driver buffers every row before the first one is read"
    assert project.end_session("s", "failed").receipt.counts["learnt"] == 1
    (kept,) = project.memories().memories
    assert kept.type == "dead_end"
