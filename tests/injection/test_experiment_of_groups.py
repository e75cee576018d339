"""Effect of shown memories, measured by group of sessions.

It is the same through every interface.
"""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime, timedelta

import pytest

from commands import run_here
from graphmem.answers import to_json
from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.client.remote import RemoteGraphMem
from graphmem.injection.experiment import CONTROL, FULL, PASSIVE, group_of
from graphmem.observe.model import CommandRun, DeadEnd, FileStat, SessionInfo, SessionRecord
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
GIVEN_UP = "Tried to cache the totals; this approach won't work."


def named(service, group, count):
    """Names of sessions that fall into a group."""
    every = (f"{group}-{n}" for n in range(10_000))
    return [one for one in every if group_of(one, service.project().name) == group][:count]


def record(session, hour, *, reads=2, failures=0, shown=(), units=()):
    at = START + timedelta(hours=hour)
    info = SessionInfo(session, "build", f"agent-{session}", started_at=at, ended_at=at, outcome="validated", ending="ended")
    return SessionRecord(
        info,
        20,
        5,
        1_000,
        60.0,
        6,
        (FileStat("shop/cart.py", reads, 1, first_at=at, last_at=at),),
        commands=(CommandRun("pytest -q", "test", 2, failures, 0), CommandRun("ls", "list", 1)),
        dead_ends=(DeadEnd(GIVEN_UP, "", 3, at, ("shop/cart.py",), ("shop/cart.py",)),),
        tools={"read": reads, "edit": 1, "test": 2},
        modules={"shop": 4},
        injected=tuple(shown),
        units=tuple(units),
    )


@pytest.fixture
def service(tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as opened:
        yield opened


@pytest.fixture
def lived(service):
    """A control session that read on and on, and two full ones that were shown memories: one wrong, one used."""
    wrong = service.remember("Totals are cached by the cart.", "gotcha").memory.id
    right = service.remember("Totals are rounded by the tax table.", "gotcha").memory.id
    service.dispute(wrong)
    service.note_use([right])
    (control,), (one, two) = named(service, CONTROL, 1), named(service, FULL, 2)
    service.learn_from(record(control, 1, reads=5, failures=1))
    service.learn_from(record(one, 2, shown=(wrong, right)))
    service.learn_from(record(two, 3, shown=(right,)))
    return service


def by_group(found):
    return {one.group: one for one in found.groups}


def test_groups_stand_side_by_side(lived):
    found = lived.experiment()
    groups = by_group(found)
    assert [(one.group, one.percent, one.sessions) for one in found.groups] == [(CONTROL, 5, 1), (PASSIVE, 10, 0), (FULL, 85, 2)]
    control, full = groups[CONTROL], groups[FULL]
    assert (control.calls_per_task, full.calls_per_task) == (8.0, 5.0)
    assert (control.rereads, full.rereads) == (0.8, 0.5)
    assert (control.first_pass, full.first_pass) == (0.0, 1.0)
    assert (control.dead_end_reentry, full.dead_end_reentry) == (0.0, 1.0)  # the first in a dead end finds it, the others are in it again
    assert (control.shown, control.corrections, control.boosts) == (0, None, None)
    assert (full.shown, full.corrections, full.boosts) == (3, 0.3333, 0.6667)
    assert groups[PASSIVE].rereads is None
    assert found.notes == ["with fewer than 30 sessions in a group, differences may be chance: control has 1, passive has 0, full has 2"]


def test_a_session_taken_in_again_counts_once(lived):
    before = lived.experiment()
    lived.learn_from(record(named(lived, CONTROL, 1)[0], 1, reads=5, failures=1))
    assert lived.experiment() == before


def test_every_door_tells_the_same(lived, tmp_path):
    here = lived.experiment()
    server = Server(build_app(lived), "127.0.0.1", 0)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(30)
        with RemoteGraphMem(f"http://127.0.0.1:{server.port}") as remote:
            assert remote.experiment() == here
    finally:
        server.stop()
        thread.join(10)
    lived.close()
    command = ["session", "groups", "--db", tmp_path / "index"]
    assert json.loads(run_here(os.environ, *command, "--json").out) == to_json(here)
    shown = run_here(os.environ, *command).out
    assert "reads of a file read before" in shown
    assert "differences may be chance" in shown
