"""`graphmem doctor` names installed hooks that lack an event of this version, and no others."""

from __future__ import annotations

import pytest

from graphmem.cli.traps import find_traps
from graphmem.hooks.agents import NAMES
from graphmem.hooks.install import Vault, apply, plan_install
from graphmem.hooks.outdated import outdated_hooks
from graphmem.hooks.targets import SCOPES, targets
from graphmem.location import Location

LOST = {"claude-code": "SubagentStart", "codex": "SubagentStart", "cursor": "preCompact", "gemini": "AfterTool"}


@pytest.fixture
def place(tmp_path):
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    return root, home


def install(place, agent, scope):
    vault = Vault(place[0].parent / "vault")
    apply(plan_install(targets(agent, scope, *place, ["/opt/own/graphmem"]), vault), vault, installing=True)


@pytest.mark.parametrize("scope", SCOPES)
def test_hooks_of_this_version_are_complete_whatever_command_they_run(place, scope):
    for agent in NAMES:
        install(place, agent, scope)
    assert outdated_hooks(*place) == []


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("agent", LOST)
def test_a_file_without_the_hook_of_an_event_is_named(place, agent, scope):
    install(place, agent, scope)
    (file,) = {one.path for one in targets(agent, scope, *place, ["graphmem"]) if one.elements or one.kind == "toml"}
    file.write_text(file.read_text().replace(LOST[agent], "earlierEvent"))
    (found,) = outdated_hooks(*place)
    assert (found.agent, found.scope, found.path, found.missing) == (agent, scope, file, (LOST[agent],))
    assert [one.scope for one in outdated_hooks(None, place[1])] == ["user"] * (scope == "user")


@pytest.mark.parametrize("content", ["", "{", '{"hooks": []}', '{"hooks": {"SessionStart": [{"hooks": [{"command": "other"}]}]}}'])
def test_files_without_hooks_of_graphmem_are_not_named(place, content):
    (place[0] / ".claude").mkdir()
    (place[0] / ".claude" / "settings.json").write_text(content)
    assert outdated_hooks(*place) == []


def test_doctor_says_which_command_adds_the_missing_hooks(place, monkeypatch):
    monkeypatch.setattr("pathlib.Path.home", lambda: place[1])
    install(place, "claude-code", "user")
    file = place[1] / ".claude" / "settings.json"
    file.write_text(file.read_text().replace("SubagentStart", "earlierEvent"))
    (trap,) = [one for one in find_traps(Location(place[0] / ".graphmem", place[0]), {}) if one.name == "outdated hooks"]
    assert trap.cause == f"{file} has no hook of graphmem for SubagentStart"
    assert trap.fix == "run `graphmem install claude-code --user`"
