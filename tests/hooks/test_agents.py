"""Every documented payload of every agent means what its documentation says, and is answered in its format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import BadInputError
from graphmem.hooks import agents
from graphmem.injection import deadlines
from graphmem.injection.experiment import FULL, group_of

CASES = sorted((path.parent.name, path.stem) for path in (Path(__file__).parent / "payloads").glob("*/*.json"))
MOMENTS = {
    "SessionStart": "start", "sessionStart": "start", "session.created": "start",
    "SubagentStart": "spawn",
    "UserPromptSubmit": "prompt", "BeforeAgent": "prompt", "beforeSubmitPrompt": "prompt", "chat.message": "prompt",
    "PreToolUse": "before",
    "PostToolUse": "tool", "AfterTool": "tool", "postToolUse": "tool", "tool.execute.after": "tool",
    "PostToolUseFailure": "failure", "postToolUseFailure": "failure",
    "Stop": "words", "SubagentStop": "words", "AfterAgent": "words", "afterAgentResponse": "words", "text.complete": "words",
    "PreCompact": "compact", "PreCompress": "compact", "preCompact": "compact", "session.compacted": "compact",
    "SessionEnd": "end", "sessionEnd": "end", "session.deleted": "end",
}  # fmt: skip
READING = {
    "claude-code": "PostToolUse",
    "codex": "PostToolUse",
    "cursor": "postToolUse",
    "gemini": "AfterTool",
    "opencode": "tool.execute.after",
}
MARKS = {
    "claude-code": "<project_memory>",
    "codex": "PROJECT MEMORY.",
    "cursor": "## Project memory",
    "gemini": "## Project memory",
    "opencode": "PROJECT MEMORY.",
}


def test_there_are_payloads_of_every_agent():
    assert {agent for agent, _ in CASES} == set(agents.NAMES)


@pytest.mark.parametrize(
    ("agent", "prompt", "words"),
    [
        ("opencode", '"why is it slow"', "why is it slow"),
        ("opencode", '"say \\"twice\\" again"', 'say "twice" again'),
        ("opencode", '"twice" and "again"', '"twice" and "again"'),
        ("claude-code", '"why is it slow"', '"why is it slow"'),
    ],
)
def test_the_quotes_that_opencode_puts_around_an_argument_are_not_the_persons(agent, prompt, words, payload):
    event = "chat.message" if agent == "opencode" else "UserPromptSubmit"
    assert agents.read(agents.agent_named(agent), payload(agent, event, "/shop", prompt=prompt)).text == words


@pytest.mark.parametrize(("agent", "event"), CASES)
def test_a_documented_payload_is_understood(agent, event, payload):
    call = agents.read(agents.agent_named(agent), payload(agent, event, "/shop"))
    assert call.moment == MOMENTS[event.partition("-")[0]]
    assert call.session
    assert call.folder == "/shop"
    if call.moment in ("before", "tool", "failure"):
        assert call.tool
        assert call.args
        assert bool(call.result) == (call.moment != "before")
    if call.moment in ("prompt", "words"):
        assert call.text


@pytest.mark.parametrize(
    ("agent", "event", "ok"),
    [
        ("claude-code", "PostToolUse-Bash", None),
        ("claude-code", "PostToolUseFailure", False),
        ("codex", "PostToolUse", None),
        ("cursor", "postToolUse-Shell", True),
        ("cursor", "postToolUseFailure", False),
        ("gemini", "AfterTool-error", False),
        ("gemini", "AfterTool-command", True),
        ("gemini", "AfterTool-failed", False),
        ("opencode", "tool.execute.after-bash", False),
    ],
)
def test_success_and_failure_are_told_apart_and_silence_is_neither(agent, event, ok, payload):
    assert agents.read(agents.agent_named(agent), payload(agent, event, "/shop")).ok is ok


@pytest.mark.parametrize(
    ("agent", "event", "code", "duration"),
    [
        ("claude-code", "PostToolUse-Bash", None, 15),
        ("claude-code", "PostToolUseFailure", 2, 66),
        ("cursor", "postToolUse-Shell", 0, 5432),
        ("gemini", "AfterTool-command", 0, None),
        ("gemini", "AfterTool-failed", 2, None),
        ("opencode", "tool.execute.after-bash", 2, 290),
    ],
)
def test_exit_codes_and_durations_are_read_where_they_are_told(agent, event, code, duration, payload):
    call = agents.read(agents.agent_named(agent), payload(agent, event, "/shop"))
    assert (call.exit_code, call.duration_ms) == (code, duration)


def test_what_a_command_of_gemini_printed_is_told_without_what_was_put_around_it(payload):
    gemini = agents.agent_named("gemini")
    assert agents.read(gemini, payload("gemini", "AfterTool-failed", "/shop")).result == (
        "ls: cannot access 'nothing-here': No such file or directory"
    )
    printed = {"llmContent": "Output: Exit Code: 7\nProcess Group PGID: 12", "returnDisplay": ""}
    call = agents.read(gemini, payload("gemini", "AfterTool-command", "/shop", tool_response=printed))
    assert (call.result, call.ok, call.exit_code) == ("Exit Code: 7", True, 0)


def test_what_a_person_broke_off_is_not_a_failure(payload):
    one = payload("claude-code", "PostToolUseFailure", "/shop", is_interrupt=True, error="The user doesn't want to proceed")
    assert agents.read(agents.agent_named("claude-code"), one).ok is None


def test_a_person_did_not_say_what_memory_put_before_the_words(payload):
    call = agents.read(agents.agent_named("gemini"), payload("gemini", "BeforeAgent-after-start", "/shop"))
    assert call.text == "why does reading the stream twice raise"


def test_gemini_announces_a_compression_before_every_turn_and_only_one_that_was_asked_for_is_believed(payload):
    gemini = agents.agent_named("gemini")
    assert agents.read(gemini, payload("gemini", "PreCompress", "/shop", trigger="auto")).moment == ""
    assert agents.read(gemini, payload("gemini", "PreCompress", "/shop")).moment == "compact"


def unused(service, agent: str) -> str:
    return next(one for one in (f"{agent}-{n}" for n in range(999)) if group_of(one, service.project().name) == FULL)


STARTING = {
    "claude-code": "SessionStart",
    "codex": "SessionStart",
    "cursor": "sessionStart",
    "gemini": "SessionStart",
    "opencode": "session.created",
}


@pytest.fixture
def patient(monkeypatch):
    """Deadlines that a slow machine meets: what is late is tested elsewhere."""
    monkeypatch.setattr(deadlines, "DEADLINES_S", dict.fromkeys(deadlines.POINTS, 60.0))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("place", [STARTING, READING], ids=["start", "tool"])
@pytest.mark.parametrize("agent", agents.NAMES)
def test_a_session_of_every_agent_is_observed_and_told_what_is_known(agent, place, payload, root, service):
    known, event = agents.agent_named(agent), place[agent]
    session = unused(service, f"{agent}-{event}")
    answer = service.hook(agent, json.dumps(payload(agent, event, root, **{known.session[0]: session})))
    assert answer.point == ("start" if place is STARTING else "tool")
    assert answer.events >= 1
    assert not answer.late
    found = json.loads(answer.output)
    if known.nested:
        assert found["hookSpecificOutput"]["hookEventName"] == event
        text = found["hookSpecificOutput"]["additionalContext"]
    else:
        text = found[known.injects[event]]
    assert text.startswith(MARKS[agent])
    assert "may be read once" in text
    assert "[^ Memory: " in text
    assert service.parts.injector.settle(30)
    assert session in [one.id for one in service.sessions().sessions]


@pytest.mark.usefixtures("patient")
def test_an_edit_by_patch_counts_for_its_file(payload, root, service):
    session = unused(service, "by-patch")
    answer = service.hook("codex", json.dumps(payload("codex", "PostToolUse", root, session_id=session)))
    assert "may be read once" in answer.output


def test_files_outside_the_project_are_nobodys_business(payload, root, service):
    for path in ("/etc/passwd", "../starlette/requests.py", f"{root}/../x/starlette/requests.py"):
        one = payload("claude-code", "PostToolUse", root, session_id="outside", tool_input={"file_path": path})
        assert service.hook("claude-code", json.dumps(one)).output == ""


def test_an_event_nobody_knows_says_nothing(root, service):
    answer = service.hook("claude-code", json.dumps({"hook_event_name": "Notification", "session_id": "s", "cwd": str(root)}))
    assert (answer.output, answer.point, answer.events) == ("", "", 0)


@given(
    st.sampled_from(agents.NAMES),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
            ["hook_event_name", "event", "session_id", "sessionID", "conversation_id", "cwd", "tool_name", "tool_input", "tool_response",
             "tool_output", "prompt", "workspace_roots", "source", "metadata", "stdout", "error"]), inner, max_size=6),
        max_leaves=12,
    ),
    st.sampled_from(sorted(MOMENTS)),
)  # fmt: skip
def test_whatever_an_agent_sends_is_read_without_fault(agent, content, event):
    payload = {**(content if isinstance(content, dict) else {"tool_response": content}), "hook_event_name": event, "event": event}
    call = agents.read(agents.agent_named(agent), payload)
    assert all(isinstance(value, str) for value in (call.session, call.folder, call.text, call.tool, call.result))
    assert call.ok in (None, True, False)


def test_an_answer_without_a_text_or_place_is_nothing():
    cursor = agents.agent_named("cursor")
    assert agents.answer(cursor, "postToolUse", "") == ""
    assert agents.answer(cursor, "beforeSubmitPrompt", "text") == ""  # that hook cannot bring anything to the model
    with pytest.raises(BadInputError, match="claude-code"):
        agents.agent_named("emacs")
