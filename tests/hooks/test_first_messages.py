"""The first message of a session brings what is known of what it asks, and nothing for what nobody knows anything of."""

from __future__ import annotations

import json

import pytest

from graphmem.injection.experiment import FULL, group_of


@pytest.fixture
def asks(service, root, payload):
    """asks(text): what the hook of a new session's first message prints."""

    def first(text):
        name = service.project().name
        sessions = (one for one in (f"first {text} {number}" for number in range(1_000)) if group_of(one, name) == FULL)
        for _ in range(5):  # a deadline may pass on a busy machine
            session = next(sessions)
            service.observe([{"session_id": session, "kind": "session_start"}])  # otherwise the message brings the start's context, too
            told = payload("claude-code", "UserPromptSubmit", root, session_id=session, prompt=text)
            answer = service.hook("claude-code", json.dumps(told))
            if not answer.late:
                return answer.output
        raise AssertionError("five first messages in a row were late")

    return first


@pytest.mark.parametrize("text", ["Why does reading the request stream twice raise?", "request stream read twice"])
def test_a_first_message_brings_what_it_speaks_of(asks, text):
    assert "may be read once" in asks(text)


@pytest.mark.parametrize("text", ["deploy to kubernetes please", "bake a chocolate cake", "please read the kubernetes deployment guide"])
def test_a_first_message_about_something_else_brings_nothing(asks, text):
    assert asks(text) == ""


def test_a_session_that_began_before_the_server_gets_the_context_of_its_start_with_its_first_message(service, root, payload):
    pinned = service.remember("Releases are cut on Mondays.", "fact").memory
    service.pin(pinned.id)
    name = service.project().name
    sessions = (one for one in (f"early {number}" for number in range(1_000)) if group_of(one, name) == FULL)

    def told(session, event, **changes):
        answer = service.hook("claude-code", json.dumps(payload("claude-code", event, root, session_id=session, **changes)))
        return answer.late, answer.output

    def outputs():
        session = next(sessions)
        late, first = told(session, "UserPromptSubmit", prompt="bake a chocolate cake")
        return late, first, told(session, "UserPromptSubmit", prompt="and another one")[1]

    _, first, second = next(one for one in (outputs() for _ in range(5)) if not one[0])
    assert "cut on Mondays" in first
    assert "cut on Mondays" not in second
    busy = next(sessions)  # its first message was lost, too
    told(busy, "PostToolUse-Bash")
    assert "cut on Mondays" in (told(busy, "UserPromptSubmit", prompt="go on")[1] or told(busy, "UserPromptSubmit", prompt="go on")[1])
    begun = next(sessions)
    assert "cut on Mondays" in told(begun, "SessionStart")[1]
    assert "cut on Mondays" not in told(begun, "UserPromptSubmit", prompt="bake a chocolate cake")[1]
    service.unpin(pinned.id)
    service.forget(pinned.id)
