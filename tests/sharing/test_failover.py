"""A copy of the database takes over, and lacks what was written last: nothing that a machine still has is lost."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import uuid
from pathlib import Path

import pytest

from graphmem.errors import GenerationChangedError, SharingError
from graphmem.sharing import patience
from graphmem.sharing.local_postgres import LocalPostgres
from graphmem.sharing.postgres import SharedLog
from graphmem.store.postgres.store import open_postgres
from machines import Machine
from replicas import Replica, kill
from worlds import World


@pytest.fixture
def place(postgres):
    """A directory with a short path, for servers of one test."""
    folder = Path(tempfile.mkdtemp(prefix="gm-pg-", dir=postgres.folder.parent))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def pair(place):
    """A server with the database `team`, and a copy of it that is current."""
    first = LocalPostgres(place / "first", durable=False)
    copy = Replica(place / "copy", first)
    try:
        first.start()
        url = first.make("team")
        yield first, copy, url
    finally:
        copy.stop()
        first.stop()


def take_over(first, copy):
    """End a server, and start its copy in its place."""
    kill(first)
    (first.folder / "data" / "postmaster.pid").unlink()
    copy.start()
    copy.promote()


def test_operations_that_the_copy_lacks_are_sent_again(tmp_path, pair) -> None:
    first, copy, url = pair
    ann, ben, cem = (Machine(tmp_path / name, name, url) for name in ("Ann", "Ben", "Cem"))
    ann.say("Carts expire after a day.")
    for machine in (ann, ben, cem):
        machine.sync()
    copy.start()
    copy.stop()
    ann.say("Totals are rounded once, at the end.")
    ann.sync()
    ben.sync()  # two machines know of an operation that the copy will not have
    take_over(first, copy)
    for machine in (ann, ben, cem):
        machine.url = copy.url("team")
    for text in ("Prices are whole cents.", "Coupons do not add up.", "Stock is counted at night."):
        cem.say(text)
    cem.sync()  # the log is longer now than those two machines remember it
    for machine in (ann, ben, cem, ann):
        machine.sync()
    assert len(ann.contents()) == 5
    assert ann.contents() == ben.contents() == cem.contents()
    for machine in (ann, ben, cem):
        machine.close()


def test_a_graph_that_lost_changes_is_read_again_by_followers_and_refused_by_its_writer(pair) -> None:
    first, copy, _ = pair
    both = f"{first.url('team')},{copy.folder}&target_session_attrs=read-write"
    world, other = World(3), World(3)
    writer = open_postgres(both, "shop")
    writer.apply(world.full())
    copy.start()
    copy.stop()
    writer.apply(world.edit(2))
    follower = open_postgres(both, "shop", follow=True)
    take_over(first, copy)
    with pytest.raises(GenerationChangedError, match="took over"):
        writer.apply(world.edit(2))
    writer.close()
    next_writer = open_postgres(both, "shop")
    for _ in range(2):  # the counter is higher now than the follower remembers it
        next_writer.apply(other.edit(1))
    seen = []
    assert follower.feed is not None
    follower.feed.take(lambda generation, delta: seen.append((generation, delta)), lambda _: None)
    assert seen == [(3, None)]
    next_writer.close()
    follower.close()


def test_a_database_that_hangs_is_given_up_after_a_limit(postgres, monkeypatch) -> None:
    monkeypatch.setattr(patience, "ANSWER_S", 1.0)
    url = postgres.make(f"d{uuid.uuid4().hex}")
    with SharedLog(url, "git:0123", "shop") as log:
        assert [one.key for one in log.projects()] == ["git:0123"]
        hanging = log._db.info.backend_pid
        os.kill(hanging, signal.SIGSTOP)
        begun = time.monotonic()
        try:
            with pytest.raises(SharingError, match=r"did not answer; run `graphmem sync` again later.*did not answer for 1 seconds"):
                log.projects()
        finally:
            os.kill(hanging, signal.SIGCONT)
        assert time.monotonic() - begun < 30
