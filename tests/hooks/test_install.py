"""Installation in agents' settings can be undone to the byte.

Entries of other programs are not touched.
"""

from __future__ import annotations

import json
import shutil
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.errors import BadInputError
from graphmem.hooks.agents import NAMES, agent_named
from graphmem.hooks.install import Vault, apply, plan_install, plan_uninstall
from graphmem.hooks.jsontext import JsonText
from graphmem.hooks.targets import is_our_element, is_our_server, targets

COMMAND = ("graphmem",)
FILES = {
    "claude-code": (".claude/settings.json", ".mcp.json"),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json"),
    "gemini": (".gemini/settings.json",),
    "opencode": ("opencode.json", ".opencode/plugins/graphmem.js"),
    "codex": (".codex/config.toml",),
}


class Place:
    """A project with a home and a vault."""

    def __init__(self, base):
        self.root, self.home, self.vault = base / "project", base / "home", Vault(base / "vault")
        self.root.mkdir(parents=True)
        self.home.mkdir()

    def targets(self, *agents, scope="project", command=COMMAND):
        return [one for agent in agents or NAMES for one in targets(agent, scope, self.root, self.home, command)]

    def install(self, *agents, **more):
        apply(plan_install(self.targets(*agents, **more), self.vault), self.vault, installing=True)

    def uninstall(self, *agents, **more):
        others = [one for one in NAMES if one not in agents] if agents else []
        changes = plan_uninstall(self.targets(*agents, **more), self.vault, self.targets(*others, **more) if others else ())
        apply(changes, self.vault, installing=False)
        return changes

    def write(self, path, content):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def tree(self):
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*")) if path.is_file()}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "place")


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
keys = st.sampled_from(
    ["hooks", "mcpServers", "mcp", "version", "permissions", "PostToolUse", "SessionStart", "afterFileEdit", "theme", "a b", 'q"']
)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
theirs = st.fixed_dictionaries(
    {},
    optional={
        "theme": plain,
        "permissions": st.dictionaries(keys, plain, max_size=3),
        "hooks": st.dictionaries(
            st.sampled_from(["PostToolUse", "SessionStart", "AfterTool", "sessionStart", "afterFileEdit"]),
            st.lists(
                st.fixed_dictionaries({"matcher": words, "hooks": st.just([{"type": "command", "command": "prettier --write"}])}),
                max_size=2,
            ),
            max_size=3,
        ),
        "mcpServers": st.dictionaries(st.sampled_from(["other", "third"]), st.fixed_dictionaries({"command": words}), max_size=2),
        "mcp": st.dictionaries(st.sampled_from(["other"]), st.fixed_dictionaries({"type": st.just("local")}), max_size=1),
    },
)
layouts = st.sampled_from([{}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from(["claude-code", "cursor", "gemini", "opencode"]),
    theirs,
    layouts,
    st.sampled_from(["", "\n", "\r\n", "\n\n"]),
    st.booleans(),
)
def test_install_then_uninstall_gives_back_the_bytes(tmp_path, agent, content, layout, ending, lost):
    base = tmp_path / "case"
    shutil.rmtree(base, ignore_errors=True)
    place = Place(base)
    text = json.dumps(content, **layout) + ending
    place.write(FILES[agent][0], text)
    before = place.tree()
    place.install(agent)
    during = place.tree()
    assert during != before
    found = JsonText(during[FILES[agent][0]].decode(), comments=True).get(())
    assert kept(found) == kept(content)
    place.install(agent)
    assert place.tree() == during  # idempotent
    if lost:  # without what was kept only what is ours is taken out, and what they wrote is the same
        shutil.rmtree(place.vault.folder)
        place.uninstall(agent)
        assert kept(json.loads(place.tree()[FILES[agent][0]])) == kept(content)
    else:
        place.uninstall(agent)
        assert place.tree() == before


def kept(found):
    """Return the part of a settings file that is not graphmem's."""
    rest = {key: value for key, value in found.items() if key not in ("hooks", "mcpServers", "mcp", "version", "$schema")}
    events = {event: [one for one in listed if not is_our_element(one)] for event, listed in found.get("hooks", {}).items()}
    servers = {name: one for key in ("mcpServers", "mcp") for name, one in found.get(key, {}).items() if not is_our_server(one)}
    return rest, {event: listed for event, listed in events.items() if listed}, servers


@pytest.mark.parametrize("agent", NAMES)
@pytest.mark.parametrize("scope", ["project", "user"])
def test_in_an_empty_place_everything_is_made_and_removed_again(place, agent, scope):
    where = place.root if scope == "project" else place.home
    place.install(agent, scope=scope)
    assert [path for path in where.rglob("*") if path.is_file()]
    place.uninstall(agent, scope=scope)
    assert not [path for path in where.rglob("*") if path.is_file()]


@pytest.mark.parametrize("agent", NAMES)
def test_what_is_written_calls_graphmem_and_only_that(place, agent):
    place.install(agent)
    text = b"\n".join(place.tree().values()).decode()
    assert (f"graphmem hook {agent}" in text) or ('["graphmem"]' in text and '"hook", "opencode"' in text)
    assert '"mcp"' in text
    if agent == "codex":
        found = tomllib.loads(place.tree()[FILES[agent][0]].decode())
        assert found["hooks"]["PostToolUse"][0]["hooks"][0] == {"type": "command", "command": "graphmem hook codex", "timeout": 5}
        assert set(agent_named("codex").moments) - set(found["hooks"]) == {"PostToolUseFailure", "SessionEnd"}
        assert found["mcp_servers"]["graphmem"] == {"command": "graphmem", "args": ["mcp"]}


def test_what_others_add_afterwards_survives(place):
    file = place.write(".claude/settings.json", '{"model": "opus"}')
    place.install("claude-code")
    document = JsonText(file.read_text())
    document.add_element(("hooks", "PostToolUse"), {"hooks": [{"type": "command", "command": "prettier"}]})
    document.add_member((), "theme", "dark")
    file.write_text(document.text)
    place.install("claude-code")
    place.uninstall("claude-code")
    assert json.loads(file.read_text()) == {
        "model": "opus",
        "theme": "dark",
        "hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "prettier"}]}]},
    }


def test_a_hook_of_ours_that_somebody_put_beside_their_own_is_theirs(place):
    both = {
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "graphmem hook claude-code"}, {"type": "command", "command": "say done"}]}]
        }
    }
    file = place.write(".claude/settings.json", json.dumps(both))
    place.install("claude-code")
    place.uninstall("claude-code")
    assert json.loads(file.read_text()) == both


INSTRUCTIONS = {"claude-code": "CLAUDE.md", "codex": "AGENTS.md", "cursor": "AGENTS.md", "gemini": "GEMINI.md", "opencode": "AGENTS.md"}


@pytest.mark.parametrize("agent", NAMES)
@pytest.mark.parametrize("text", [b"", b"# Rules\n\nUse tabs.\n", b"# Rules\r\n\r\nUse tabs.", b"no end of line"])
def test_the_block_for_agents_and_subagents_is_added_once_and_taken_out_to_the_byte(place, agent, text):
    file = place.write(INSTRUCTIONS[agent], text)
    before = place.tree()
    place.install(agent)
    place.install(agent)
    said = file.read_bytes()
    assert said.startswith(text)
    assert said.count(b"## graphmem") == 1
    assert b"subagent" in said
    assert (b"\r\n" in said) == (b"\r\n" in text)
    place.uninstall(agent)
    assert place.tree() == before


def test_what_a_person_writes_around_the_block_survives(place):
    file = place.write("CLAUDE.md", "# Rules\n")
    place.install("claude-code")
    file.write_text("First.\n" + file.read_text() + "Last.\n")
    place.install("claude-code")
    assert file.read_text().count("## graphmem") == 1
    place.uninstall("claude-code")
    assert file.read_text() == "First.\n# Rules\nLast.\n"


def test_agents_that_share_a_file_write_one_block(place):
    place.install("codex", "cursor", "opencode")
    assert (place.root / "AGENTS.md").read_text().count("## graphmem") == 1
    place.uninstall()
    assert not (place.root / "AGENTS.md").exists()


@pytest.mark.parametrize("text", [None, b"# Rules\n"])
def test_a_shared_block_stays_until_the_last_agent_that_reads_it_is_uninstalled(place, text):
    file = place.write("AGENTS.md", text) if text else place.root / "AGENTS.md"
    before = place.tree()
    place.install("codex")
    place.install("cursor")
    installed = file.read_bytes()
    (kept,) = [one for one in place.uninstall("codex") if one.notes]
    assert kept.notes == (f"{file} keeps its block, which cursor reads too",)
    assert file.read_bytes() == installed
    place.uninstall("cursor")
    assert place.tree() == before


def test_a_shared_block_goes_if_the_settings_of_the_other_agents_do_not_name_graphmem(place):
    place.write(".cursor/mcp.json", '{"mcpServers": {"other": {"command": "x"}}}')
    before = place.tree()
    place.install("codex")
    place.uninstall("codex")
    assert place.tree() == before


@pytest.mark.parametrize(("agent", "folder", "ending"), [("claude-code", ".claude/commands", "md"), ("gemini", ".gemini/commands", "toml")])
def test_commands_are_written_and_one_of_somebody_else_stays(place, agent, folder, ending):
    theirs = place.write(f"{folder}/recall.{ending}", "mine = 1\n")
    before = place.tree()
    place.install(agent)
    assert {path.stem for path in (place.root / folder).iterdir()} == {"remember", "recall", "forget", "pin", "pause", "impact"}
    assert theirs.read_text() == "mine = 1\n"
    for path in (place.root / folder).iterdir():
        if ending == "toml":
            tomllib.loads(path.read_text())
    place.uninstall(agent)
    assert place.tree() == before


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_hook_before_a_tool_is_called_for_edits_alone(place, agent):
    place.install(agent)
    text = place.tree()[FILES[agent][0]].decode()
    found = (tomllib.loads(text) if agent == "codex" else json.loads(text))["hooks"]
    assert "Edit" in found["PreToolUse"][0]["matcher"]
    assert "Read" not in found["PreToolUse"][0]["matcher"]
    assert "matcher" not in found["PostToolUse"][0]


def test_hooks_of_an_event_that_only_another_version_knows_are_removed(place):
    before = place.tree()
    place.install("claude-code")
    file = place.root / ".claude" / "settings.json"
    file.write_text(file.read_text().replace("SubagentStart", "EventOfAnotherVersion"))
    place.uninstall("claude-code")
    assert place.tree() == before


def test_another_installation_replaces_the_hooks_of_another_version(place):
    place.install("claude-code")
    file = place.root / ".claude" / "settings.json"
    file.write_text(file.read_text().replace("SubagentStart", "EventOfAnotherVersion"))
    place.install("claude-code")
    assert "SubagentStart" in file.read_text()
    assert "EventOfAnotherVersion" not in file.read_text()


def test_comments_and_spacing_stay(place):
    text = '{\n  // colours\n  "theme": "dark", // mine\n  /* empty */ "hooks": { /* none yet */ },\n}\n'
    file = place.write(".gemini/settings.json", text)
    place.install("gemini")
    during = file.read_text()
    for comment in ("// colours", "// mine", "/* empty */", "/* none yet */"):
        assert comment in during
    JsonText(during, comments=True)
    shutil.rmtree(place.vault.folder)
    place.uninstall("gemini")
    after = file.read_text()
    for comment in ("// colours", "// mine"):
        assert comment in after
    assert "graphmem" not in after


def test_a_comment_behind_a_removed_first_member_stays():
    text = '{\n  "mcp": {\n    "graphmem": {"a": 1},\n    // mine\n    "other": 2 // theirs\n  }\n}\n'
    settings = JsonText(text, comments=True)
    settings.remove_member(("mcp",), "graphmem")
    assert settings.text == '{\n  "mcp": {\n    // mine\n    "other": 2 // theirs\n  }\n}\n'


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_a_toml_file_keeps_every_byte(place, newline, ending):
    text = newline.join(["# mine", 'model = "o4"', "", "[mcp_servers.other]", 'command = "other" # note']) + ending
    place.write(".codex/config.toml", text)
    before = place.tree()
    place.install("codex")
    during = place.tree()
    assert during[".codex/config.toml"].startswith(text.encode())
    assert set(tomllib.loads(during[".codex/config.toml"].decode())["mcp_servers"]) == {"other", "graphmem"}
    place.install("codex")
    assert place.tree() == during
    place.write(".codex/config.toml", during[".codex/config.toml"] + b"\n[tui]\nnotifications = true\n")
    place.uninstall("codex")
    left = place.tree()[".codex/config.toml"].decode()
    assert "graphmem" not in left
    assert tomllib.loads(left) == {**tomllib.loads(text), "tui": {"notifications": True}}
    place.write(".codex/config.toml", text)
    place.install("codex")
    place.uninstall("codex")
    assert place.tree() == before


def test_a_server_of_that_name_that_is_not_ours_stays(place):
    place.write(".mcp.json", '{"mcpServers": {"graphmem": {"command": "docker", "args": ["run", "x"]}}}')
    _, change, *_ = plan_install(place.targets("claude-code"), place.vault)
    assert not change.changes
    assert "stays unchanged" in change.notes[0]
    place.write(".codex/config.toml", '[mcp_servers.graphmem]\ncommand = "docker"\n')
    place.install("codex")
    assert tomllib.loads(place.tree()[".codex/config.toml"].decode())["mcp_servers"]["graphmem"] == {"command": "docker"}


BROKEN = [
    ("claude-code", ".claude/settings.json", '{"a": 1,}', "line 1, column 8"),
    ("claude-code", ".claude/settings.json", '{"a": // no\n 1}', "line 1"),
    ("claude-code", ".claude/settings.json", "[]", "object"),
    ("claude-code", ".claude/settings.json", '{"hooks": []}', "must be of the JSON type object"),
    ("cursor", ".cursor/hooks.json", '{"hooks": {"postToolUse": {}}}', "must be of the JSON type array"),
    ("cursor", ".cursor/mcp.json", '{"mcpServers": 5}', "must be of the JSON type object"),
    ("gemini", ".gemini/settings.json", '{"a": 1', "line 1"),
    ("opencode", "opencode.json", b"\xff\xfe", "UTF-8"),
    ("opencode", ".opencode/plugins/graphmem.js", "export const Mine = 1", "not written by graphmem"),
    ("codex", ".codex/config.toml", "a = [", "is not TOML"),
    ("codex", ".codex/config.toml", "hooks = {}\n", "[[hooks.PreToolUse]]"),
]


@pytest.mark.parametrize(("agent", "path", "content", "said"), BROKEN)
def test_what_cannot_be_added_to_is_refused_in_a_sentence_and_nothing_is_written(place, agent, path, content, said):
    place.write(path, content)
    before = place.tree()
    with pytest.raises(BadInputError) as refused:
        place.install("gemini" if agent == "claude-code" else "claude-code", agent)  # the other one is fine, and waits
    assert said in str(refused.value)
    assert str(place.root / path) in str(refused.value)
    assert place.tree() == before


def test_a_file_that_cannot_be_written_puts_the_others_back(place):
    place.write(".claude/settings.json", "{}")
    before = place.tree()
    changes = plan_install(place.targets("claude-code"), place.vault)
    (place.root / ".mcp.json").mkdir()  # between plan and deed somebody makes a folder of it
    with pytest.raises(BadInputError, match="nothing was changed"):
        apply(changes, place.vault, installing=True)
    (place.root / ".mcp.json").rmdir()
    assert place.tree() == before


def test_a_link_stays_a_link_and_a_mode_a_mode(place):
    real = place.write("dotfiles/settings.json", '{"model": "opus"}')
    real.chmod(0o600)
    (place.root / ".claude").mkdir()
    link = place.root / ".claude" / "settings.json"
    link.symlink_to(real)
    place.install("claude-code")
    assert link.is_symlink()
    assert "graphmem hook" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o600
    place.uninstall("claude-code")
    assert real.read_text() == '{"model": "opus"}'


def test_copies_of_settings_are_for_their_owner_only(place):
    place.write(".claude/settings.json", '{"env": {"KEY": "a secret"}}').chmod(0o600)
    place.install("claude-code")
    copies = [one for one in place.vault.folder.iterdir() if "a secret" in one.read_text()]
    assert [one.stat().st_mode & 0o777 for one in copies] == [0o600]


@pytest.mark.parametrize("is_changed", [False, True])
def test_uninstall_deletes_the_copy_of_a_file_that_it_restored(place, is_changed):
    path = place.root / ".mcp.json"
    path.write_text('{"mcpServers": {"other": {"env": {"KEY": "a secret"}}}}')
    place.install("claude-code")
    if is_changed:
        path.write_text(path.read_text().replace("a secret", "another"))
    place.uninstall("claude-code")
    copies = [one for one in place.vault.folder.iterdir() if "a secret" in one.read_text()]
    assert bool(copies) == is_changed


def test_another_command_replaces_the_one_before(place):
    place.install("claude-code", "codex")
    place.install("claude-code", "codex", command=("/opt/tools/graphmem",))
    for path in (*FILES["claude-code"], *FILES["codex"]):
        text = place.tree()[path].decode()
        assert '"graphmem hook' not in text
        assert "/opt/tools/graphmem" in text
    place.uninstall()
    assert place.tree() == {}


def test_a_diff_shows_what_would_happen(place):
    place.write(".claude/settings.json", "{}")
    first, second, *_ = plan_install(place.targets("claude-code"), place.vault)
    assert "+" in first.diff()
    assert "graphmem hook claude-code" in first.diff()
    assert second.diff().startswith("--- /dev/null")
    assert place.tree() == {".claude/settings.json": b"{}"}


@settings(max_examples=80)
@given(st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8), layouts)
def test_json_as_text_reads_what_json_reads(value, layout):
    text = json.dumps({"it": value}, **layout)
    assert JsonText(text).get(("it",)) == value
    with_comments = text.replace("{", "{ /* a */ ", 1) + " // end"
    assert JsonText(with_comments, comments=True).get(("it",)) == value


@settings(max_examples=80)
@given(st.text(st.sampled_from('{}[]:,"1a \n/*'), max_size=30))
def test_json_as_text_refuses_what_json_refuses(text):
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    try:
        read = JsonText(text).get(())
    except BadInputError:
        read = None
    if text.strip():
        assert read == (found if isinstance(found, dict) else None)
