"""Memories from many sessions of a module, and the counts behind them."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from graphmem import GraphMem
from graphmem.errors import LedgerError
from graphmem.memory.reading.clock import ManualClock
from graphmem.observe.learning.synthesis import MILESTONES
from graphmem.observe.ledger.frequency import lower, upper
from graphmem.observe.ledger.ledger import Ledger
from graphmem.observe.ledger.ledger_file import FORMAT
from graphmem.observe.model import ErrorSeen, FileStat, Finding, SessionInfo, SessionRecord
from graphmem.runtime.files.checksums import unseal
from graphmem.settings import Settings
from made_once import empty_index

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def clock():
    return ManualClock(START)


@pytest.fixture
def gm(tmp_path, clock):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as opened:
        opened.parts.book.clock = clock
        yield opened


def record(number, files=("src/shop/cart.py", "src/shop/tax.py"), **changes):
    at = START + timedelta(hours=number)
    info = SessionInfo(f"s{number:03}", "build", "claude", started_at=at, ended_at=at, outcome="validated", planned_steps=10)
    fixed = ErrorSeen("TypeError: …", "TypeError: unsupported operand for Decimal", "Bash", "pytest", 1, True, ("src/shop/tax.py",), (2,))
    stats = tuple(FileStat(path, 2, 1, tokens=900, first_at=at, last_at=at) for path in files)
    made = SessionRecord(info, 9, 3, 12_345, 60.0, 30, stats, errors=(fixed,), modules={"src/shop": 4})
    return made._replace(**changes)


def synthesised(gm):
    return sorted(one.content for one in gm.memories().memories if "synthesised" in one.tags)


def test_nothing_is_said_before_the_fifth_session_and_five_sentences_at_most_then(gm):
    for number in range(MILESTONES[0] - 1):
        gm.learn_from(record(number))
    assert synthesised(gm) == []
    gm.learn_from(record(MILESTONES[0]))
    said = synthesised(gm)
    assert said == [
        "A session in `src/shop` costs about 12,000 tokens; leave room for that, or read selectively.",
        "Most changes to `src/shop` end up in `src/shop/cart.py` and `src/shop/tax.py`: expect to edit them.",
        "Tasks in `src/shop` take more steps than planned, by a factor of 3.0: plan for that.",
        "When working on `src/shop`, begin by reading `src/shop/cart.py` and `src/shop/tax.py`.",
        "Work on `src/shop` keeps running into `TypeError: unsupported operand for Decimal`. "
        "It has been fixed by editing `src/shop/tax.py`.",
    ]
    [calibration] = [one for one in gm.memories().memories if one.type == "task_calibration"]
    assert json.loads(gm.parts.book.row(calibration.id).details)["ratio"] == 3.0


def test_a_later_milestone_updates_what_an_earlier_one_said(gm):
    for number in range(5):
        gm.learn_from(record(number))
    before = len(gm.memories().memories)
    for number in range(5, 10):
        gm.learn_from(record(number, files=("src/shop/cart.py", "src/shop/api.py")))
    assert len(gm.memories().memories) == before
    assert any("`src/shop/api.py` and `src/shop/tax.py`" in one or "often needed too" in one for one in synthesised(gm))


def test_modules_that_go_together_are_told_once_a_week(gm, clock):
    both = ("src/shop/cart.py", "src/tax/rates.py")
    for number in range(6):
        gm.learn_from(record(number, files=both))
    clock.advance(timedelta(days=7))
    gm.learn_from(record(200, files=both))
    pairs = [one for one in gm.memories().memories if one.type == "causal_dependency" and "synthesised" in one.tags]
    assert [one.content.split(" as well")[0] for one in pairs] == ["Work on `src/shop` nearly always involves `src/tax`"]
    clock.advance(timedelta(days=7))
    gm.learn_from(record(400, files=both))
    assert len([one for one in gm.memories().memories if one.type == "causal_dependency" and "synthesised" in one.tags]) == 1


def test_what_somebody_took_back_is_not_synthesised_again(gm):
    for number in range(5):
        gm.learn_from(record(number))
    ledger = gm.parts.ledger()
    ids = [one.id for one in gm.memories().memories if "synthesised" in one.tags]
    for one in ids:
        gm.forget(one)
    ledger.bar(ledger.keys_of(ids).values(), START)
    for number in range(5, 10):
        gm.learn_from(record(number))
    assert synthesised(gm) == []


def test_sessions_that_read_the_web_have_no_say_in_what_errors_recur(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for number in range(4):
        ledger.take(record(number, contaminated=number % 2 == 0), {})
    assert [one.sessions for one in ledger.errors()] == [2]
    ledger.close()


def test_a_session_taken_in_again_is_there_once(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    one = Finding("read_abandon", "read_abandon:a.py", 0.8, "gotcha", {"file": "a.py", "module": "src/shop"}, min_sessions=3)
    for _ in range(10):
        ledger.take(record(1, findings=(one,)), {})
    assert ledger.counts_of([one.key])[one.key].sessions == 1
    sizes = ledger.sizes()
    assert (sizes["session"], sizes["seen"], sizes["file"], sizes["error"], sizes["module"]) == (1, 1, 2, 1, 1)
    assert ledger.modules() == {"src/shop": 1}
    assert ledger.pair_sessions("src/shop/cart.py", "src/shop/tax.py", edited=True) == 1
    ledger.close()


def test_a_damaged_ledger_is_quarantined_and_said_so_and_a_newer_one_is_refused(tmp_path):
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"no database at all, but long enough to look like one" * 40)
    ledger = Ledger(path)
    assert ledger.session_count() == 0
    assert "ledger.damaged-0" in ledger.notes[0]
    ledger.close()
    with sqlite3.connect(path) as db:
        unseal(db)
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.close()
    with pytest.raises(LedgerError):
        Ledger(path).session_count()


def test_a_write_that_fails_leaves_nothing_half_kept(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.take(record(1), {})
    before = ledger.sizes()
    broken = record(2)._replace(errors=(record(2).errors[0]._replace(message=object()),))
    with pytest.raises((LedgerError, TypeError)):
        ledger.take(broken, {})
    assert ledger.sizes() == before
    ledger.close()


def test_a_share_is_taken_at_what_few_sessions_allow():
    assert lower(3, 3) < 0.7 < lower(4, 4)
    assert lower(30, 60) < 0.5 < upper(30, 60)
    assert lower(0, 5) == pytest.approx(0.0, abs=1e-9)
