"""The log keeps what it acknowledged, says what changed, and what is derived from it does not depend on the order of recording."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.errors import HistoryError
from graphmem.history import coaccess
from graphmem.history.change_log import AGENT, GIT, Change, HistoryLog
from graphmem.history.co_edits import History
from graphmem.runtime.files.checksums import unseal

DAY = 86_400.0


@pytest.fixture
def log(tmp_path: Path):
    log = HistoryLog(tmp_path / "history.sqlite")
    yield log
    log.close()


def change(day: float, *files: str, key: str = "", source: str = AGENT, **more) -> Change:
    return Change(source, day * DAY, files, key, **more)


def ranking(log: HistoryLog, *files: str, **more) -> list[tuple[str, float]]:
    history = History().follow(log)
    return [(history.nodes[one.node].path, one.score) for one in coaccess.rank(history, files, **more)]


def test_a_project_without_history_has_no_file_of_it(log):
    assert not log.exists
    assert (log.counts(), log.meta(), log.mark()) == ({}, {}, ("", 0))
    assert ranking(log, "a.py") == []
    assert not log.path.exists()


def test_what_was_recorded_is_read_back_whole(log):
    whole = Change(GIT, 5.0, ("b.py", "a.py"), "sha", "who", ("gone.py",), (("x.py", "y.py"),), (0.0, 2.5), counted=False)
    log.append([whole, change(1, "é\udc80.py")])
    assert [entry.change for entry in log.since(0)] == [whole, change(1, "é\udc80.py")]


def test_a_session_recorded_twice_counts_once_and_as_it_was_said_last(log):
    assert log.append([change(1, "a.py", "b.py", key="s")]) == 1
    mark = log.mark()
    assert log.append([change(1, "a.py", "b.py", key="s")]) == 0
    assert log.mark() == mark
    assert log.append([change(2, "a.py", "c.py", key="s")]) == 1
    assert log.mark()[0] != mark[0]
    assert [path for path, _ in ranking(log, "a.py", min_support=1)] == ["c.py"]


def test_sessions_without_a_name_are_never_the_same(log):
    log.append([change(1, "a.py", "b.py"), change(1, "a.py", "b.py")])
    history = History().follow(log)
    assert coaccess.evidence(history, ["a.py"], [history.known("b.py")])[0].support == 2


def test_an_exchange_that_fails_changes_nothing(log):
    log.append([change(1, "a.py", "b.py", key="old", source=GIT)])

    def broken():
        yield change(2, "a.py", "c.py", key="new", source=GIT)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        log.exchange(GIT, None, broken(), {"git_head": "new"})
    assert [entry.change.key for entry in log.since(0)] == ["old"]
    assert "git_head" not in log.meta()


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path):
    path = tmp_path / "history.sqlite"
    program = (
        "import sys; from pathlib import Path; from graphmem.history.change_log import *\n"
        f"log = HistoryLog(Path({str(path)!r}))\n"
        "for i in range(10**9):\n"
        "    log.append([Change(AGENT, float(i), (f'{i}.py', 'b.py'))]); print(i, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(200)]
        os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()
    acknowledged = int([line for line in lines if line.endswith("\n")][-1])
    log = HistoryLog(path)
    assert len(list(log.since(0))) in (acknowledged + 1, acknowledged + 2)  # the last may have been kept and not yet said
    log.close()


@pytest.mark.parametrize("content", [b"no database, " * 1000, b""])
def test_a_damaged_log_is_said_with_what_to_do(tmp_path: Path, content: bytes):
    path = tmp_path / "history.sqlite"
    path.write_bytes(content)
    with pytest.raises(HistoryError, match="delete it") as caught:
        list(HistoryLog(path).since(0))
    assert caught.value.path == str(path)


def test_a_log_of_another_version_is_refused(log):
    log.append([change(1, "a.py")])
    log.close()
    with sqlite3.connect(log.path) as db:
        unseal(db)
        db.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    db.close()
    with pytest.raises(HistoryError, match="format 99"):
        log.counts()


# ---- what is derived

FILES = st.lists(st.sampled_from([f"{name}.py" for name in "abcdef"]), min_size=1, max_size=4, unique=True)
CHANGES = st.lists(st.tuples(st.integers(0, 400), FILES), min_size=1, max_size=12, unique_by=lambda one: one[0])


@settings(max_examples=60)
@given(CHANGES, st.randoms(use_true_random=False), st.integers(0, 400))
def test_the_order_of_recording_does_not_matter(tmp_path_factory, changes, random, renamed_at):
    folder = tmp_path_factory.mktemp("log")
    told = [change(day, *files) for day, files in changes]
    told.append(Change(AGENT, (renamed_at + 0.5) * DAY, (), renamed=(("a.py", "z.py"),)))
    answers = []
    for turn in range(3):
        log = HistoryLog(folder / f"{turn}.sqlite")
        history = History()
        for one in told:
            log.append([one])
            if random.random() < 0.3:
                history.follow(log)  # taken in piece by piece, or all at once
        history.follow(log)
        answers.append([(history.nodes[one.node].path, round(one.score, 9)) for one in coaccess.rank(history, ["b.py", "z.py"], depth=2)])
        log.close()
        random.shuffle(told)
    assert answers[0] == answers[1] == answers[2]


def test_a_rename_carries_what_was_before_it_and_nothing_after(log):
    log.append([change(1, "old.py", "a.py"), Change(AGENT, 2 * DAY, (), renamed=(("old.py", "new.py"),)), change(3, "old.py", "b.py")])
    assert [path for path, _ in ranking(log, "new.py", min_support=1)] == ["a.py"]
    assert [path for path, _ in ranking(log, "old.py", min_support=1)] == ["b.py"]


def test_a_rename_onto_a_known_file_unites_both(log):
    log.append([change(1, "x.py", "a.py"), change(1, "y.py", "b.py"), change(1.5, "x.py", "y.py")])
    log.append([Change(AGENT, 2 * DAY, (), renamed=(("x.py", "y.py"),))])
    assert {path for path, _ in ranking(log, "y.py", min_support=1)} == {"a.py", "b.py"}
    assert "x.py" not in dict(ranking(log, "a.py"))


def test_a_deleted_file_is_not_an_answer_until_it_is_touched_again(log):
    log.append([change(1, "a.py", "b.py"), change(2, "a.py", deleted=("b.py",))])
    assert ranking(log, "a.py") == []
    log.append([change(3, "b.py")])
    assert [path for path, _ in ranking(log, "a.py", min_support=1)] == ["b.py"]


def test_a_change_of_few_files_says_more_than_one_of_many(log):
    log.append([change(1, "a.py", "close.py"), change(1, "a.py", "far.py", *(f"{i}.py" for i in range(20)))])
    assert ranking(log, "a.py", min_support=1)[0][0] == "close.py"


def test_a_change_that_has_both_files_says_more_than_two_that_have_one(log):
    log.append([change(1, "a.py", "b.py", "both.py"), change(1, "a.py", "one.py"), change(1, "b.py", "one.py")])
    assert ranking(log, "a.py", "b.py", min_support=1)[0][0] == "both.py"


def test_a_cold_file_is_answered_by_its_name_and_by_edges(log):
    log.append([change(1, "src/reader.py"), change(1, "src/other.py"), change(1, "src/linked.py"), change(2, "src/last.py")])
    found = ranking(log, "tests/test_reader.py", edges={"src/linked.py": ["CALLS"]})
    assert found[0][0] == "src/reader.py"
    assert dict(found)["src/linked.py"] > dict(found)["src/other.py"]


def test_the_second_step_multiplies_the_shares_of_both(log):
    log.append([change(1, "a.py", "m.py"), change(1, "m.py", "far.py")])
    history = History().follow(log)
    assert [history.nodes[one.node].path for one in coaccess.rank(history, ["a.py"], min_support=1)] == ["m.py"]
    two = {history.nodes[one.node].path: one for one in coaccess.rank(history, ["a.py"], depth=2, min_support=1)}
    assert (two["m.py"].depth, two["far.py"].depth) == (1, 2)
    assert history.nodes[two["far.py"].via].path == "m.py"
    strength = 2.718281828 ** two["far.py"].parts["moved"] - coaccess.WEIGHTS.floor
    assert strength == pytest.approx(0.5, abs=1e-6)  # all of a's changes lead to m, half of m's on to far


def test_support_confidence_lift_direction_and_delay_are_counted(log):
    log.append([change(day, "a.py", "b.py", offsets=(0.0, 60.0)) for day in range(4)])
    log.append(
        [
            change(5, "b.py", "a.py", offsets=(0.0, 30.0)),
            change(6, "a.py"),
            change(7, "c.py"),
            change(7, "a.py", "b.py", source=GIT, key="x"),
        ]
    )
    history = History().follow(log)
    (seen,) = coaccess.evidence(history, ["a.py"], [history.known("b.py")])
    assert (seen.support, seen.commits, seen.confidence) == (6, 1, 6 / 7)
    assert seen.lift == pytest.approx((6 / 7) / (6 / 8))
    assert seen.direction == "follows"  # in four of the five sessions that say
    assert seen.delay_s == pytest.approx((4 * 60 - 30) / 5)
    assert seen.last_at == 7 * DAY
    (back,) = coaccess.evidence(history, ["b.py"], [history.known("a.py")])
    assert (back.direction, back.delay_s, back.confidence) == ("leads", -seen.delay_s, 1.0)


def test_a_change_of_too_many_files_counts_for_each_and_joins_none(log):
    log.append([change(1, *(f"{i}.py" for i in range(40)), counted=False)])
    assert ranking(log, "1.py", min_support=1) == []
    assert {one.changes for one in History().follow(log).files(DAY)} == {1}


def test_what_is_erased_is_nowhere_in_the_file(log):
    log.append([change(1, "secret_plan.py", "b.py", key="s"), change(2, "c.py", key="sha", source=GIT)])
    assert log.erase(AGENT) == 1
    assert log.counts() == {"git": 1}
    kept = b"".join(path.read_bytes() for path in log.path.parent.glob("history.sqlite*"))
    assert b"secret_plan" not in kept
    assert ranking(log, "b.py", min_support=1) == []
