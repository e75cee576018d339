"""A rule with a scope is told when a file of its scope is met, once, and at the start only for languages that are there."""

from __future__ import annotations

import json

import pytest

from graphmem import GraphMem
from graphmem.injection.experiment import FULL, group_of
from graphmem.settings import Settings

RULES = {
    "all.md": "RULE-ALL applies everywhere.",
    "python.md": "<!-- scope: **/*.py -->\nRULE-PYTHON for Python.",
    "web.md": "<!-- scope: **/*.ts -->\nRULE-WEB for TypeScript.",
    "api.md": "<!-- scope: shop/api/*.py -->\nRULE-API for the API.",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("rules") / "shop"
    (root / "shop" / "api").mkdir(parents=True)
    for name in ("shop/price.py", "shop/api/views.py"):
        (root / name).write_text("def total(x):\n    return x\n")
    (root / ".graphmem" / "rules").mkdir(parents=True)
    for name, text in RULES.items():
        (root / ".graphmem" / "rules" / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def service(root):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphmem.injection.injector.deadline_of", lambda point: 60.0)
        with GraphMem.open(root / ".graphmem", repo=root, settings=Settings(embedder="none", workers=1)) as opened:
            opened.index(root)
            opened.impact("shop/price.py:total")  # the graph is open
            yield opened


@pytest.fixture
def tell(service, root, request):
    every = (f"{request.node.name[:80]}-{n}" for n in range(1_000))
    session = next(one for one in every if group_of(one, service.project().name) == FULL)

    def send(event, tool="", path="", **more):
        payload = {"session_id": session, "hook_event_name": event, "cwd": str(root), **more}
        if tool:
            given = {"file_path": str(root / path), "old_string": "return x", "new_string": "return y"}
            payload |= {"tool_name": tool, "tool_input": given, "tool_response": "ok"}
        said = service.hook("claude-code", json.dumps(payload)).output
        return {name for name in ("ALL", "PYTHON", "WEB", "API") if f"RULE-{name}" in said}

    return send


def test_the_start_has_rules_without_a_scope_and_of_languages_that_are_there(tell):
    assert tell("SessionStart", source="startup") == {"ALL", "PYTHON"}


def test_a_file_brings_the_rules_of_its_scope_once(tell):
    tell("SessionStart", source="startup")
    assert tell("PostToolUse", "Read", "shop/price.py") == set()  # told at the start
    assert tell("PostToolUse", "Read", "web/a.ts") == {"WEB"}
    assert tell("PostToolUse", "Read", "web/b.ts") == set()
    assert tell("PostToolUse", "Read", "shop/api/views.py") == {"API"}
    tell("SessionStart", source="clear")
    assert tell("PostToolUse", "Read", "shop/api/views.py") == {"API"}


@pytest.mark.parametrize("tool", ["Edit", "Write"])
def test_the_rules_of_a_file_come_before_its_edit(tell, tool):
    assert tell("PreToolUse", tool, "shop/api/views.py") == {"PYTHON", "API"}
    assert tell("PreToolUse", tool, "shop/api/views.py") == set()
    assert tell("PostToolUse", "Read", "shop/api/views.py") == set()


def test_a_first_message_with_open_files_brings_their_rules(service):
    names = (f"open files {n}" for n in range(1_000))
    session = next(one for one in names if group_of(one, service.project().name) == FULL)
    first = service.context("prompt", session=session, text="What is there?", files=["web/a.ts"], deadline_s=60)
    assert [one.title for one in first.items if one.kind == "rule"] == ["web"]
