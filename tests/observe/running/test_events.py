"""Whatever agents send is taken, bounded, or counted under a reason; nothing raises and nothing waits."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.memory.reading.clock import ManualClock
from graphmem.observe.commands.shell import command_of
from graphmem.observe.commands.tools import TOOLS, action_of, call_of
from graphmem.observe.running.events import MAX_BATCH, REASONS, TEXT_BYTES, checked
from graphmem.observe.running.observer import Observer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock():
    return ManualClock(NOON)


@pytest.fixture
def observer(tmp_path, clock):
    made = Observer(tmp_path / "trails", lambda: ["/repo"], clock)
    yield made
    made.close()


def event(step=1, kind="message", **rest):
    return {"session_id": "s", "step": step, "at": (NOON - timedelta(minutes=5)).isoformat(), "kind": kind, **rest}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, "not_an_event"),
        ("tool_call", "not_an_event"),
        ({"session_id": "s", "kind": "dance"}, "unknown_kind"),
        ({"session_id": "s", "kind": 7}, "unknown_kind"),
        ({"session_id": "s", "kind": ["message"]}, "unknown_kind"),
        ({"kind": "message"}, "no_session"),
        ({"session_id": "x" * 500, "kind": "message"}, "no_session"),
        (event(step=-4), "not_an_event"),
        (event(step="three"), "not_an_event"),
        (event(at="yesterday"), "not_an_event"),
        (event(at="1999-01-01T00:00:00Z"), "not_an_event"),
        (event(at=1e300), "not_an_event"),
        (event(ok="yes"), "not_an_event"),
        (event(tokens=-5), "not_an_event"),
        (event(tokens=float("nan")), "not_an_event"),
    ],
)
def test_what_is_not_an_event_is_counted_under_its_reason(observer, raw, reason):
    seen = observer.observe([raw])
    assert (seen.taken, seen.ignored) == (0, {reason: 1})
    assert reason in REASONS


def test_an_event_of_ten_megabytes_is_cut_and_taken(observer):
    seen = observer.observe(
        [event(kind="tool_result", tool="Read", args={"file_path": "/repo/a.py", "blob": "y" * 5_000_000}, text="x" * 10_000_000)]
    )
    assert seen.taken == 1
    assert seen.ignored == {"text_cut": 1, "args_cut": 1}
    assert observer.record("s").files[0].tokens == 10_000_000 // 4  # what is cut away cost all the same
    assert sum(path.stat().st_size for path in observer.folder.iterdir()) < 8_192


def test_a_text_keeps_its_first_bytes_and_an_output_both_ends():
    said = checked(event(text="ä" * 5_000), NOON).event
    assert len(said.text.encode()) <= TEXT_BYTES
    assert set(said.text) == {"ä"}
    output = checked(event(kind="tool_result", text="head" + "." * 9_000 + "TypeError: at the end"), NOON).event
    assert len(output.text.encode()) <= TEXT_BYTES
    assert output.text.startswith("head")
    assert output.text.endswith("TypeError: at the end")


def test_the_same_event_twice_counts_once_also_after_the_end(observer):
    batch = [event(1, text="one"), event(2, kind="tool_call", tool="Read", args={"file_path": "/repo/a.py"}), event(3, kind="session_end")]
    assert observer.observe([*batch, *batch]).ignored == {"duplicate": 3}
    assert observer.observe(batch).ignored == {"duplicate": 3}
    assert [record.info.id for record in observer.records()] == ["s"]


def test_events_of_one_batch_are_taken_by_their_steps(observer):
    read = {"tool": "Read", "args": {"file_path": "/repo/a.py"}}
    edit = {"tool": "Edit", "args": {"file_path": "/repo/a.py", "old_string": "a", "new_string": "b"}}
    seen = observer.observe([event(9, kind="tool_call", **edit), event(2, kind="tool_call", **read), event(5, text="Now the change.")])
    assert seen.ignored == {}
    assert seen.taken == 3
    assert observer.observe([event(1, text="late word")]).ignored == {"late": 1}


def test_the_future_is_now_and_a_clock_that_jumps_back_is_noted(observer, clock):
    seen = observer.observe([event(1, at=(NOON + timedelta(days=400)).isoformat(), text="from tomorrow")])
    assert seen.ignored == {"future": 1}
    assert observer.record("s").info.ended_at is None
    assert observer.observe([event(2, at=(NOON - timedelta(hours=3)).isoformat(), text="back")]).ignored == {"clock_back": 1}
    assert observer.record("s").duration_s == 0
    assert observer.record("s").files == ()


def test_a_flood_costs_memory_and_disk_no_more_than_is_allowed(observer, monkeypatch):
    monkeypatch.setattr("graphmem.observe.running.running.MAX_EVENTS", 500)
    seen = observer.observe([event(i, text=f"message {i}") for i in range(800)])
    assert seen.taken == 500
    assert seen.ignored == {"flood": 300}
    assert observer.record("s").ignored["flood"] == 300


def test_a_batch_beyond_the_most_is_counted_not_taken(observer):
    seen = observer.observe(
        {"session_id": "s", "kind": "message", "step": 1, "at": NOON.isoformat(), "text": "x"} for _ in range(MAX_BATCH + 5)
    )
    assert seen.ignored == {"duplicate": MAX_BATCH - 1, "over_batch": 5}


def test_two_agents_with_one_id_are_two_sessions(observer):
    first = observer.start("s", {"agent": "claude-code", "kind": "build"})
    again = observer.start("s", {"agent": "claude-code", "kind": "build"})
    observer.observe([event(1, text="hello")])
    other = observer.start("s", {"agent": "codex", "kind": "build"})
    assert (first.info.id, again.resumed, other.info.id, other.resumed) == ("s", True, "s~2", False)
    assert "another agent" in other.note
    assert {info.id for info, _, _ in observer.open_sessions()} == {"s", "s~2"}


def test_a_session_that_goes_on_after_its_end_is_another(observer):
    observer.observe([event(1, text="one"), event(2, kind="session_end")])
    seen = observer.observe([event(3, text="and one more")])
    assert seen.sessions == ("s~2",)
    assert seen.ignored == {"after_end": 1}


def test_secrets_are_in_no_record_and_on_no_disk(observer):
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    call = {"tool": "Bash", "args": {"command": f"curl -H 'Authorization: Bearer {secret}' https://api.example.org/x?token={secret}"}}
    observer.observe(
        [
            event(1, kind="tool_call", **call),
            event(2, kind="tool_result", **call, ok=False, text=f"ValueError: bad token {secret}"),
            event(3, text=f"Wait, the token is {secret}, it must not be printed."),
            event(4, kind="tool_call", tool="Grep", args={"pattern": secret}),
            event(5, kind="approval", ok=True, text=f"use {secret}"),
        ]
    )
    record = observer.record("s")
    observer.close()
    assert secret not in repr(record)
    assert "[REDACTED:github_token]" in repr(record)
    assert all(secret not in path.read_text(encoding="utf-8") for path in observer.folder.iterdir())


def test_files_outside_the_project_are_none_of_its_files(observer):
    for step, path in enumerate(
        ["/etc/passwd", "../other/x.py", "/repo/src/a.py", "src/../src/b.py", "/repo/.git/config", "https://x.org/a.py"]
    ):
        observer.observe([event(step, kind="tool_call", tool="Read", args={"file_path": path})])
    observer.close()
    assert [one.path for one in observer.record("s").files] == ["src/a.py", "src/b.py"]


def test_a_sessions_working_copy_is_the_project_too(observer):
    observer.start("s", {"cwd": "/worktrees/feature-1"})
    observer.observe([event(1, kind="tool_result", tool="Read", args={"file_path": "/worktrees/feature-1/src/a.py"})])
    assert [one.path for one in observer.record("s").files] == ["src/a.py"]


def test_a_hostile_text_takes_no_time(observer):
    texts = [
        "a/" * 2_000,
        "wait, " * 700,
        "." * 4_000,
        "from " * 800,
        "x." * 2_000,
        "I was wrong about " * 220,
        "\n".join("from x" for _ in range(600)),
    ]
    events = [
        event(i, kind=kind, tool="Read", args={"file_path": "/repo/a.py", "command": text}, text=text)
        for i, (kind, text) in enumerate((kind, text) for text in texts for kind in ("message", "tool_result", "tool_call"))
    ]
    begun = time.process_time()
    assert observer.observe(events).taken == len(events)
    assert time.process_time() - begun < 5  # seconds, of what takes a twentieth of one


@pytest.mark.parametrize(
    ("tool", "action"),
    [
        ("Read", "read"),
        ("read_file", "read"),
        ("NotebookEdit", "edit"),
        ("apply_patch", "edit"),
        ("search_replace", "edit"),
        ("replace", "edit"),
        ("run_terminal_cmd", "run"),
        ("run_shell_command", "run"),
        ("codebase_search", "search"),
        ("search_file_content", "search"),
        ("Glob", "list"),
        ("list_dir", "list"),
        ("WebFetch", "web"),
        ("google_web_search", "web"),
        ("mcp__fetch__fetch", "web"),
        ("mcp__filesystem__read_text_file", "read"),
        ("mcp__graphmem__search", "other"),
        ("TodoWrite", "other"),
        ("", "other"),
    ],
)
def test_a_tool_is_known_in_every_agents_spelling(tool, action):
    assert action_of(tool) == action


@pytest.mark.parametrize(
    ("line", "action", "label"),
    [
        ("cd /repo && python -m pytest tests -q 2>&1 | tail -20", "test", "pytest"),
        ("FOO=1 timeout 60 go test ./...", "test", "go test"),
        ("npm run test:unit", "test", "npm run test:unit"),
        ("npm run build", "run", "npm run build"),
        ("python manage.py test shop", "test", "manage.py test"),
        ("python manage.py migrate", "run", "manage.py migrate"),
        ("poetry run pytest -x", "test", "pytest"),
        ("cargo nextest run", "test", "cargo nextest"),
        ("rg -n 'class Cart' src | head", "search", "rg"),
        ("git grep -n Cart", "search", "git grep"),
        ("cat src/a.py", "read", "cat"),
        ("sed -n '1,80p' src/a.py", "read", "sed"),
        ("sed -i 's/a/b/' src/a.py", "edit", "sed"),
        ("ls -la src", "list", "ls"),
        ("cat > a.py <<'EOF'\nimport pytest\nEOF", "edit", "cat"),
        ("curl -sL https://docs.example.org/a", "web", "curl"),
        ("curl -s http://localhost:8000/health", "run", "curl"),
        ("gh pr view 12", "web", "gh pr"),
        ("alembic upgrade head", "run", "alembic upgrade"),
        ("", "run", ""),
        ("'unclosed", "run", "unclosed"),
    ],
)
def test_a_command_line_is_known_by_what_it_does(line, action, label):
    found = command_of(line)
    assert (found.action, found.label) == (action, label)


def test_what_git_takes_back_is_known():
    assert command_of("git checkout -- src/a.py src/b.py").reverted == ("src/a.py", "src/b.py")
    assert command_of("git restore .").reverted == ("*",)
    assert command_of("git reset --hard HEAD~1").reverted == ("*",)
    assert command_of("git checkout -b feature").reverted == ()
    assert command_of("git stash pop").reverted == ()


def test_a_patch_of_codex_names_its_files_and_lines():
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-old\n+new\n+more\n*** Add File: src/b.py\n+first\n*** End Patch"
    for call in (call_of("apply_patch", {"input": patch}), call_of("shell", {"command": ["apply_patch", patch]})):
        assert call.paths == ("src/a.py", "src/b.py")
        assert [(change.old, change.new) for change in call.changes] == [("old", "new\nmore"), ("", "first")]


def test_every_name_in_the_table_of_tools_is_spelt_as_it_is_looked_up():
    assert all(name == name.lower() and name.isalnum() for name in TOOLS)
