"""A subagent begins without the conversation: it is told what the main agent was told, and where its own task is."""

from __future__ import annotations

import json

import pytest

from graphmem import GraphMem
from graphmem.hooks.agents import Delegation
from graphmem.injection.agent import Candidate
from graphmem.injection.delegations import MOST_OPEN, NO_TASK, Delegations
from graphmem.injection.experiment import FULL, group_of
from graphmem.injection.recent_sessions import MOST_WINDOWS
from graphmem.settings import Settings

FILES = {
    "shop/price.py": "def rounded(value):\n    return round(value, 2)\n",
    "shop/cart.py": "from shop.price import rounded\n\n\ndef checkout(cart):\n    return rounded(len(cart))\n",
    "shop/stock.py": "def refill(shelf):\n    return shelf\n",
}
TRAP, RULE = "Never round twice: halves drift.", "Write dates as ISO 8601."
PLACE = "shop/stock.py:1"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("subagents") / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module", autouse=True)
def patient():
    """A loaded machine may take its time: what is said is the subject here, and not when."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphmem.injection.injector.deadline_of", lambda point: 60.0)
        yield


@pytest.fixture(scope="module")
def service(root, tmp_path_factory):
    with GraphMem.open(tmp_path_factory.mktemp("index"), repo=root, settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(root)
        opened.remember(TRAP, "gotcha", files=["shop/price.py"], source="agent_explicit")
        opened.pin(opened.remember(RULE, "preference", source="user_taught").memory.id)
        opened.impact("rounded")  # the graph is open
        yield opened


@pytest.fixture
def session(service, request):
    every = (f"{request.node.name[:80]}-{n}" for n in range(1_000))
    return next(one for one in every if group_of(one, service.project().name) == FULL)


@pytest.fixture
def hook(service, root, session):
    """Send an event the way an agent does; return the text that its model reads."""

    def send(event, agent="claude-code", **more):
        payload = {"session_id": session, "hook_event_name": event, "cwd": str(root), **more}
        said = service.hook(agent, json.dumps(payload)).output
        service.parts.injector.settle(10)
        if not said:
            return ""
        found = json.loads(said)
        return found.get("reason") or found["hookSpecificOutput"]["additionalContext"]

    return send


def delegate(hook, task, kind="general-purpose", agent_id="sub-1"):
    hook("PreToolUse", tool_name="Agent", tool_input={"description": "work", "prompt": task, "subagent_type": kind})
    return hook("SubagentStart", agent_id=agent_id, agent_type=kind)


def read(root, path):
    return {"tool_name": "Read", "tool_input": {"file_path": str(root / path)}, "tool_response": FILES[path]}


def edited(root):
    change = {"file_path": str(root / "shop/price.py"), "old_string": "    return round(value, 2)\n", "new_string": "    return 0\n"}
    return {"tool_name": "Edit", "tool_input": change}


def test_a_subagent_is_told_the_standing_memories_and_the_places_of_its_task(hook):
    assert RULE in hook("SessionStart", source="startup")
    said = delegate(hook, "refill the shelf in shop/stock.py")
    assert RULE in said
    assert PLACE in said


def test_a_subagent_without_a_known_task_is_told_the_standing_memories(hook):
    hook("SessionStart", source="startup")
    said = hook("SubagentStart", agent_id="sub-1", agent_type="Explore")
    assert RULE in said
    assert PLACE not in said


def test_two_subagents_that_start_together_get_the_tasks_of_their_kinds(hook):
    hook("SessionStart", source="startup")
    for task, kind in (("round the price in shop/price.py", "Explore"), ("refill the shelf in shop/stock.py", "general-purpose")):
        hook("PreToolUse", tool_name="Agent", tool_input={"prompt": task, "subagent_type": kind})
    assert PLACE in hook("SubagentStart", agent_id="a", agent_type="general-purpose")
    assert PLACE not in hook("SubagentStart", agent_id="b", agent_type="Explore")


def test_a_trap_of_a_file_is_told_once_to_each_context_window(hook, root):
    given = read(root, "shop/price.py")
    assert TRAP in hook("PostToolUse", **given)
    assert TRAP not in hook("PostToolUse", **given)
    assert TRAP in hook("PostToolUse", agent_id="sub-1", **given)
    assert TRAP not in hook("PostToolUse", agent_id="sub-1", **given)
    assert TRAP in hook("PostToolUse", agent_id="sub-2", **given)


def test_advice_about_an_edit_is_told_once_to_each_context_window(hook, root):
    hook("SessionStart", source="startup")
    given = edited(root)
    assert "shop/cart.py:5 checkout" in hook("PreToolUse", **given)
    assert hook("PreToolUse", **given) == ""
    assert "shop/cart.py:5 checkout" in hook("PreToolUse", agent_id="sub-1", **given)
    assert hook("PreToolUse", agent_id="sub-1", **given) == ""


@pytest.mark.parametrize(
    ("agent", "tool", "given", "kind"),
    [
        ("claude-code", "Agent", {"prompt": "go on", "subagent_type": "fork"}, "fork"),
        ("codex", "collaborationspawn_agent", {"message": "go on", "task_name": "look"}, "default"),
        ("codex", "spawn_agent", {"message": "go on", "fork_context": True}, "default"),
    ],
)
def test_a_subagent_that_inherits_the_conversation_is_not_told_again(hook, root, agent, tool, given, kind):
    assert TRAP in hook("PostToolUse", agent, **read(root, "shop/price.py"))
    hook("PreToolUse", agent, tool_name=tool, tool_input=given)
    assert hook("SubagentStart", agent, agent_id="sub-1", agent_type=kind) == ""
    assert TRAP not in hook("PostToolUse", agent, agent_id="sub-1", **read(root, "shop/price.py"))


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("collaborationspawn_agent", {"message": "refill the shelf in shop/stock.py", "task_name": "look", "fork_turns": "none"}),
        ("spawn_agent", {"message": "refill the shelf in shop/stock.py"}),
    ],
)
def test_a_subagent_of_codex_that_starts_without_history_is_told_as_one_of_claude_code(hook, tool, given):
    hook("SessionStart", "codex", source="startup")
    hook("PreToolUse", "codex", tool_name=tool, tool_input=given)
    said = hook("SubagentStart", "codex", agent_id="sub-1", agent_type="default")
    assert RULE in said
    assert PLACE in said


def test_a_subagent_does_not_take_what_was_prepared_for_the_main_conversation(hook, service, session):
    hook("SessionStart", source="startup")
    trap = next(one.id for one in service.memories({"types": ["gotcha"]}).memories)
    agent = service.parts.injector.agent
    agent.begin(session)
    agent._sessions[session].ready = [Candidate(trap, 0.9)]
    listed = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "shop"}}
    assert hook("PostToolUse", agent_id="sub-1", **listed) == ""
    assert TRAP in hook("PostToolUse", **listed)


def test_the_agent_that_stops_is_reminded_of_what_its_subagent_forgot(hook, root):
    hook("SessionStart", source="startup")
    change = {"file_path": str(root / "shop/price.py"), "old_string": "def rounded(value):\n", "new_string": "def rounded(value, n):\n"}
    hook("PreToolUse", agent_id="sub-1", tool_name="Edit", tool_input=change)
    hook("PostToolUse", agent_id="sub-1", tool_name="Edit", tool_input=change, tool_response={"filePath": change["file_path"]})
    assert "shop/cart.py" in hook("Stop", last_assistant_message="Done.")


def test_a_compaction_of_a_subagent_lets_only_itself_be_told_again(hook, root):
    given = read(root, "shop/price.py")
    assert TRAP in hook("PostToolUse", **given)
    assert TRAP in hook("PostToolUse", agent_id="sub-1", **given)
    hook("PreCompact", agent_id="sub-1", trigger="auto")
    assert TRAP not in hook("PostToolUse", **given)
    assert TRAP in hook("PostToolUse", agent_id="sub-1", **given)


def test_the_windows_of_a_session_are_bounded(service, session):
    agent = service.parts.injector.agent
    agent.show(session, ["main"])
    for number in range(MOST_WINDOWS + 5):
        agent.open_window(session, f"sub-{number}", inherits=True)
    assert len(agent._sessions[session].shown) == MOST_WINDOWS + 1
    assert agent.shown(session) == {"main"}
    assert agent.shown(session, "sub-0") == set()
    assert agent.shown(session, f"sub-{MOST_WINDOWS + 4}") == {"main"}


def test_open_tasks_are_bounded_and_forgotten_with_their_session():
    tasks = Delegations()
    for number in range(MOST_OPEN + 1):
        tasks.give("s", Delegation("Plan", f"task {number}", inherits=False))
    assert tasks.take("s", "Plan").task == "task 1"
    tasks.forget("s")
    assert tasks.take("s", "Plan") == NO_TASK


def test_a_memory_that_a_subagent_cites_at_its_end_is_used(hook, root, service):
    hook("SessionStart", source="startup")
    said = hook("PostToolUse", agent_id="sub-1", **read(root, "shop/price.py"))
    cited = said[said.index("[^ Memory:") :].split("]")[0] + "]"
    (before,) = [one for one in service.memories().memories if one.content == TRAP]
    assert hook("SubagentStop", agent_id="sub-1", agent_type="general-purpose", last_assistant_message=f"It rounds once. {cited}") == ""
    (after,) = [one for one in service.memories().memories if one.content == TRAP]
    assert after.used_count == before.used_count + 1
