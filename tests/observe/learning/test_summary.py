"""Summaries of sessions, equal through every interface."""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from commands import run_here
from graphmem import GraphMem
from graphmem.errors import SessionNotFoundError
from graphmem.memory.reading.clock import ManualClock
from graphmem.observe.learning.summary import KEPT_FILES, markdown, short, summarised, write
from graphmem.observe.model import (
    CommandRun,
    DeadEnd,
    Decision,
    ErrorSeen,
    FileStat,
    Finding,
    SessionInfo,
    SessionRecord,
    UnitDone,
    as_json,
)
from graphmem.settings import Settings
from made_once import empty_index

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def record(number=1, **changes):
    at = START + timedelta(days=number)
    info = SessionInfo(
        f"s{number}",
        "build",
        "claude",
        title="Round the totals",
        started_at=at,
        ended_at=at + timedelta(minutes=50),
        outcome="validated",
        ending="ended",
    )
    right = "The total is rounded by the tax table, not by the cart"
    one = Finding(
        "self_correction",
        f"self_correction:{number}",
        0.88,
        "gotcha",
        {"sentence": right, "wrong": "", "right": right},
        ("a.py",),
        early=True,
    )
    made = SessionRecord(
        info,
        90,
        20,
        40_000,
        3_000.0,
        41,
        files=(FileStat("a.py", 3, 2, lines_added=10, lines_removed=3, first_at=at, last_at=at), FileStat("b.py", 1)),
        commands=(CommandRun("pytest -q", "test", 3, 1, 0, 12.0, 9), CommandRun("make lint", "run", 1, 1, 2, 3.0, 11)),
        decisions=(Decision("Use Decimal", True, 2, at), Decision("Use floats", False, 3, at)),
        errors=(
            ErrorSeen("k", "TypeError: float and Decimal", "Bash", "pytest", 2, True, ("a.py",), (4,)),
            ErrorSeen("l", "LintError: `x` is unused", "Bash", "make lint", 1, False, (), (9,)),
        ),
        dead_ends=(DeadEnd("Round in the template", "it is cached", 4, at, ("c.py",), ("c.py",)),),
        units=(UnitDone("Unit one", "", "validated", 1, 9, 9, None),),
        findings=(one,),
    )
    return made._replace(**changes)


def test_a_summary_says_files_commands_decisions_errors_duration_and_status():
    text = markdown(summarised(record()))
    assert text.startswith(
        "# Round the totals\n\nA build session of claude on 2026-03-03 09:00 UTC, 50 min, 41 steps; its checks passed.\n"
    )
    for line in (
        "- `a.py` (+10 −3)",
        "- `pytest -q` (exit 0, 3 runs, 1 failed)",
        "- `make lint` (exit 2)",
        "- approved: Use Decimal",
        "- rejected: Use floats",
        "- `TypeError of pytest` in `a.py`",
        "- `LintError of make lint`",
        "- Round in the template",
        "- Unit one: its checks passed",
    ):
        assert f"{line}\n" in text, line


def test_a_short_one_is_one_line_and_without_anybody_s_words_where_strangers_had_a_part():
    said = short(summarised(record()))
    assert "\n" not in said
    assert "Use Decimal" in said
    summary = summarised(record(contaminated=True))
    for tainted in (short(summary), markdown(summary)):
        assert "`a.py`" in tainted
        assert not any(word in tainted for word in ("Use Decimal", "template", "unused", "Round the totals", "Unit one"))


def test_an_error_of_a_line_without_a_program_names_no_made_up_command():
    error = ErrorSeen("k", "exit code 3", "run:raisesystemexit3", "", 1, False, (), (4,))
    assert summarised(record(errors=(error,)))["errors_left"] == ["an error of a command"]


@pytest.mark.parametrize("name", ["../../evil", "a/b\\c", "x" * 300, "ключ", "nul\x00"])
def test_no_name_of_a_session_leads_out_of_the_folder(tmp_path, name):
    one = record()
    path = write(tmp_path / "sessions", summarised(one._replace(info=one.info._replace(id=name))))
    assert path.parent == tmp_path / "sessions"
    assert path.is_file()


def test_only_the_newest_files_stay(tmp_path):
    for number in range(KEPT_FILES):
        (tmp_path / f"20200101T{number:06}-x.md").write_text("old", encoding="utf-8")
    written = write(tmp_path, summarised(record()))
    assert len(list(tmp_path.glob("*.md"))) == KEPT_FILES
    assert written.is_file()


@pytest.fixture
def gm(tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as opened:
        opened.parts.book.clock = ManualClock(START)
        yield opened


def test_the_last_two_of_the_last_seven_days_are_offered(gm):
    for number in range(5):
        gm.learn_from(record(number))
    gm.learn_from(record(5, files=(FileStat("b.py", 1),), commands=(), decisions=(), errors=(), dead_ends=(), units=(), findings=()))
    assert [one.session for one in gm.recent_summaries(START + timedelta(days=10))] == ["s4", "s3"]
    assert [one.session for one in gm.recent_summaries(START + timedelta(days=11))] == ["s4"]
    assert gm.recent_summaries(START + timedelta(days=30)) == []
    assert gm.session_summary("s3").markdown == markdown(summarised(record(3)))


@contextmanager
def served(gm):
    """The address of a server of it, in a thread."""
    from graphmem.api.app import build_app
    from graphmem.api.serve import Server

    server = Server(build_app(gm), "127.0.0.1", 0)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.stop()
        thread.join(60)


def test_the_server_tells_what_the_library_tells(gm):
    from graphmem.client.remote import RemoteGraphMem

    with served(gm) as address:
        there = RemoteGraphMem(address, "")
        receipt = there.learn_from(as_json(record()))
        assert receipt == gm.session_receipts("s1")[0]
        assert there.session_receipts("s1") == gm.session_receipts("s1")
        assert there.session_summary("s1") == gm.session_summary("s1")
        assert there.session_summaries() == gm.session_summaries()
        assert there.recent_summaries(START + timedelta(days=2)) == gm.recent_summaries(START + timedelta(days=2))
        with pytest.raises(SessionNotFoundError):
            there.session_receipts("nobody")
        assert sorted(there.undo_session("s1").ids) == sorted(receipt.learnt)


def test_the_command_line_shows_undoes_and_refuses(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.graphmem]\nembedder = 'none'\n", encoding="utf-8")
    with GraphMem.open(repo=tmp_path) as gm:
        gm.learn_from(record())

    def run(*arguments):
        return run_here(os.environ, "session", *arguments, "--project", tmp_path)

    assert "Round the totals" in run("list").out
    [receipt] = json.loads(run("show", "s1", "--json").out)
    assert receipt["counts"] == {"learnt": 2}
    assert "2 memories undone" in run("undo", "s1").out
    refused = run("show", "nobody")
    assert (refused.code, "graphmem session list" in refused.err) == (1, True)


def test_doctor_says_what_was_learnt_and_with_which_model(gm):
    assert gm.doctor()["learning"] == {
        "switch": {"state": "on", "until": "", "by_setting": False},
        "sessions": 0,
        "memories": 0,
        "language_model": "",
        "notes": [],
    }
    gm.learn_from(record())
    assert gm.doctor()["learning"]["memories"] == 2
