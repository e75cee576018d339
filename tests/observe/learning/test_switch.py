"""A person can switch learning off, or pause it, and nothing of a session is kept meanwhile."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from graphmem import GraphMem
from graphmem.errors import BadInputError
from graphmem.memory.reading.clock import ManualClock
from graphmem.observe.learning.switch import FILE, MAX_MINUTES
from graphmem.security.access import Access
from graphmem.security.guarded import guarded
from graphmem.settings import Settings
from made_once import empty_index

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def clock():
    return ManualClock(START)


@pytest.fixture
def open_(tmp_path, clock):
    kept = []

    def opened(**settings):
        memory = GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none", **settings))
        memory.parts.book.clock = clock
        kept.append(memory)
        return memory

    yield opened
    for memory in kept:
        memory.close()


def tell(memory, event, session="s", **more):
    memory.hook("claude-code", json.dumps({"session_id": session, "hook_event_name": event, "cwd": "/", **more}))
    assert memory.parts.injector.settle(60)


def wishes(memory):
    return [one.content for one in memory.memories().memories]


def test_a_pause_drops_events_at_once_and_ends_by_itself(open_, clock):
    memory = open_()
    assert memory.learning().state == "on"
    paused = memory.set_learning("paused", minutes=30)
    assert (paused.state, paused.until) == ("paused", (START + timedelta(minutes=30)).isoformat())
    tell(memory, "UserPromptSubmit", prompt="Remember: never deploy on Fridays.")
    assert memory.sessions().sessions == []
    assert wishes(memory) == []
    event = {"kind": "message", "session_id": "other", "text": "Done."}
    assert memory.observe([event]).ignored == {"learning_off": 1}
    clock.advance(timedelta(minutes=30))
    assert memory.learning().state == "on"
    tell(memory, "UserPromptSubmit", prompt="Remember: never deploy on Fridays.")
    assert len(wishes(memory)) == 1


@pytest.mark.parametrize(
    ("agent", "event"), [("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")]
)
def test_pause_typed_to_an_agent_without_the_command_pauses_at_once_and_says_so(open_, clock, agent, event):
    memory = open_()

    def typed(prompt):
        return memory.hook(agent, json.dumps({"session_id": "s", "hook_event_name": event, "cwd": "/", "prompt": prompt})).output

    assert "until 2026-03-02 09:30 UTC" in typed("/pause 30")
    assert (memory.learning().state, memory.learning().until) == ("paused", (START + timedelta(minutes=30)).isoformat())
    tell(memory, "UserPromptSubmit", prompt="Remember: never deploy on Fridays.")
    assert wishes(memory) == []
    clock.advance(timedelta(minutes=30))
    for words in ("/pause the video after a minute", "Explain /pause 30", "/pauses"):
        typed(words)
        assert memory.learning().state == "on"
    assert "is paused." in typed(" /PAUSE ")
    assert memory.learning().until == ""
    assert "was not paused: minutes, the length of the pause, is 0" in typed("/pause 0")


def test_pause_typed_by_somebody_who_may_not_curate_changes_nothing(open_):
    memory = open_()
    writer = guarded(memory, Access("bot", frozenset({"read", "remember"})))
    event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": "/pause"}
    assert "may not pause learning" in writer.hook("claude-code", json.dumps(event)).output
    assert memory.learning().state == "on"


def test_a_session_that_ends_while_learning_is_off_teaches_nothing_and_one_in_a_pause_what_it_showed_before(open_):
    memory = open_()
    said = "I was wrong about the pool: connections are closed by the client, not by the transport."
    for state, learnt in (("off", 0), ("paused", 1)):
        memory.set_learning("on")
        tell(memory, "PostToolUse", state, tool_name="Read", tool_input={"file_path": "/pool.py"}, tool_response="x")
        tell(memory, "Stop", state, last_assistant_message=said)
        memory.set_learning(state)
        tell(memory, "Stop", state, last_assistant_message="I was wrong about the cache: it is emptied by every request.")
        tell(memory, "SessionEnd", state)
        memory.parts.learner.wait_for_learning()
        assert memory.sessions("running").sessions == []
        assert len(wishes(memory)) == learnt
        assert not any("emptied" in one for one in wishes(memory))


def test_the_choice_survives_the_process_and_a_damaged_file_pauses(open_, tmp_path):
    memory = open_()
    memory.set_learning("off")
    memory.close()
    memory = open_()
    assert memory.learning().state == "off"
    assert memory.doctor()["learning"]["switch"] == {"state": "off", "until": "", "by_setting": False}
    memory.remember("A memory that somebody asks for is stored.", "fact")
    assert len(wishes(memory)) == 1
    memory.close()
    (tmp_path / "index" / FILE).write_text("{}")
    assert open_().learning().state == "paused"


def test_the_setting_of_the_project_wins(open_):
    memory = open_(learning=False)
    assert (memory.learning().state, memory.learning().by_setting) == ("off", True)
    with pytest.raises(BadInputError, match="the setting `learning`"):
        memory.set_learning("on")


@pytest.mark.parametrize(("state", "minutes"), [("asleep", None), ("paused", 0), ("paused", MAX_MINUTES + 1), ("off", 5)])
def test_what_cannot_be_is_refused(open_, state, minutes):
    with pytest.raises(BadInputError):
        open_().set_learning(state, minutes)
