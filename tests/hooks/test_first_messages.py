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
            told = payload("claude-code", "UserPromptSubmit", root, session_id=next(sessions), prompt=text)
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
