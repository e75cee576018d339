"""A session outlives its process: killed, torn, or never ended, it goes on or is finished from its trail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from json import loads
from pathlib import Path

import pytest

from graphmem.memory.reading.clock import ManualClock
from graphmem.observe.running.checkpoint import RECORD, TRAIL, file_name, read_record
from graphmem.observe.running.observer import Observer
from graphmem.observe.running.open_sessions import MAX_RUNNING

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

WRITER = """
import sys, time
from pathlib import Path
from graphmem.observe.running.observer import Observer

observer = Observer(Path(sys.argv[1]), lambda: ["/repo"])
step = 0
while True:
    step += 1
    observer.observe([
        {"session_id": "s", "step": step, "at": 1767261600 + step, "kind": "tool_call", "tool": "Grep", "args": {"pattern": "token"}},
        {"session_id": "s", "step": step, "at": 1767261600 + step, "kind": "tool_result", "tool": "Grep", "args": {"pattern": "token"}},
        {"session_id": "s", "step": step, "at": 1767261600 + step, "kind": "message", "text": f"Message {step}."},
    ])
    print(step, flush=True)
"""


def opened(folder, clock=None, **more):
    return Observer(folder, lambda: ["/repo"], clock or ManualClock(NOON), **more)


def messages(*steps, session="s"):
    return [{"session_id": session, "step": step, "at": 1767261600 + step, "kind": "message", "text": f"Message {step}."} for step in steps]


def killed_writer(folder, at_least):
    """Run a process that observes without end, kill it, and say which step it had acknowledged."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        acknowledged = 0
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged >= at_least:
                break
        os.kill(process.pid, signal.SIGKILL)
        for line in process.stdout:
            acknowledged = int(line)
        process.wait()
    return acknowledged


@pytest.mark.parametrize("at_least", [1, 40])
def test_a_killed_process_loses_nothing_it_had_acknowledged(tmp_path, at_least):
    acknowledged = killed_writer(tmp_path, at_least)
    observer = opened(tmp_path)
    record = observer.record("s")
    assert acknowledged <= record.messages <= acknowledged + 1
    assert record.searches["token"] in (record.messages, record.messages + 1)
    # It goes on: what came before is known, what is new is taken, and nothing counts twice.
    seen = observer.observe([*messages(acknowledged), *messages(acknowledged + 10)])
    assert seen.ignored == {"duplicate": 1}
    assert observer.end("s")[0].messages == record.messages + 1
    observer.close()


def test_a_restored_session_is_the_one_that_was_lost(tmp_path):
    path = Path(__file__).parents[1] / "sessions" / "20_dead_end.jsonl"
    events = [loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:-1]]
    one = opened(tmp_path / "whole")
    one.observe(events)
    parts = tmp_path / "parts"
    for event in events:
        observer = opened(parts)
        observer.observe([event])
        observer.close()
    last = opened(parts)
    assert {one.key for one in last.record("s").findings} == {one.key for one in one.record("s").findings}
    assert [one.reverted for one in last.record("s").dead_ends] == [one.reverted for one in one.record("s").dead_ends]
    assert last.record("s").searches == one.record("s").searches
    assert [(one.path, one.reads, one.edits, one.reverted) for one in last.record("s").files] == [
        (one.path, one.reads, one.edits, one.reverted) for one in one.record("s").files
    ]


@pytest.mark.parametrize("cut", [1, 9, 40])
def test_a_torn_trail_counts_as_far_as_it_is_whole(tmp_path, cut):
    observer = opened(tmp_path)
    for step in range(1, 21):
        observer.observe(messages(step))
    observer.close()
    path = tmp_path / (file_name("s") + TRAIL)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    again = opened(tmp_path)
    assert again.record("s").messages == 19
    again.observe(messages(30))
    again.close()
    assert opened(tmp_path).record("s").messages == 20


def test_a_flipped_bit_ends_a_trail_and_is_not_an_error(tmp_path):
    observer = opened(tmp_path)
    observer.observe(messages(*range(1, 11)))
    observer.close()
    path = tmp_path / (file_name("s") + TRAIL)
    lines = path.read_bytes().split(b"\n")
    lines[6] = lines[6].replace(b"Message", b"Massage")
    path.write_bytes(b"\n".join(lines))
    assert opened(tmp_path).record("s").messages == 5


def test_what_is_not_a_trail_is_quarantined(tmp_path):
    tmp_path.joinpath("x" + TRAIL).write_bytes(b"\x00garbage\n")
    assert opened(tmp_path).open_sessions() == []
    assert [path.name for path in tmp_path.iterdir()] == ["x.damaged"]


def test_sessions_that_never_ended_are_finished_at_a_later_start(tmp_path):
    first = opened(tmp_path)
    first.observe([*messages(1, 2, session="old"), *messages(1, session="new")])
    first.close()
    os.utime(tmp_path / (file_name("old") + TRAIL), (0, NOON.timestamp() - 7_200))
    os.utime(tmp_path / (file_name("new") + TRAIL), (0, NOON.timestamp() - 60))
    second = opened(tmp_path)
    (record,) = second.finish_left()
    assert (record.info.id, record.info.ending, record.messages) == ("old", "recovered", 2)
    assert [info.id for info, _, _ in second.open_sessions()] == ["new"]
    assert [one.info.id for one in second.unlearnt()] == ["old"]
    second.settled(record)
    assert second.unlearnt() == []
    assert second.finish_left() == []


def test_sessions_nobody_hears_of_are_finished_while_the_process_lives(tmp_path):
    clock = ManualClock(NOON)
    observer = opened(tmp_path, clock)
    observer.observe(messages(1, session="a"))
    clock.advance(timedelta(hours=5))
    observer.observe(messages(1, session="b"))
    clock.advance(timedelta(hours=2))
    assert [record.info.id for record in observer.finish_quiet()] == ["a"]


def test_many_sessions_rest_in_their_trails_and_come_back(tmp_path):
    observer = opened(tmp_path)
    names = [f"s{i:03}" for i in range(MAX_RUNNING + 20)]
    for name in names:
        observer.observe(messages(1, session=name))
    assert len(observer._open.running) == MAX_RUNNING
    observer.observe(messages(2, session="s000"))
    assert observer.record("s000").messages == 2
    assert len(observer.open_sessions()) == len(names)
    observer.close()


def test_a_fork_of_a_fork_is_restored_with_all_it_knew(tmp_path):
    observer = opened(tmp_path)
    grep = {"kind": "tool_result", "tool": "Grep", "args": {"pattern": "token"}}
    for step, (name, parent) in enumerate([("p", ""), ("c", "p"), ("g", "c")], 1):
        observer.start(name, {"parent": parent} if parent else {})
        observer.observe([{"session_id": name, "step": step, "at": 1767261600 + step, **grep}])
    before = observer.record("g")
    observer.close()
    again = opened(tmp_path)
    assert again.record("g").info.parent == "c"
    assert again.record("g") == before
    assert [one.signal for one in again.record("g").findings] == ["repeated_grep"]


def test_a_disk_that_refuses_ends_no_session(tmp_path, caplog):
    folder = tmp_path / "trails"
    observer = opened(folder)
    observer.observe(messages(1))
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("a file where the folder was")
    assert observer.observe(messages(2, 3)).taken == 2
    assert observer.record("s").messages == 3
    assert "cannot be written" in caplog.text


def test_a_damaged_record_is_left_alone_and_said(tmp_path, caplog):
    observer = opened(tmp_path)
    observer.observe(messages(1))
    observer.end("s")
    path = tmp_path / (file_name("s") + RECORD)
    assert read_record(path).messages == 1
    path.write_bytes(path.read_bytes().replace(b'"messages":1', b'"messages":7'))
    assert observer.records() == []
    assert path.name in caplog.text
