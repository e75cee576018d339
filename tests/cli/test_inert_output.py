"""Whatever a repository calls its files, symbols and commits: no command prints a character that steers, turns around or hides."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp.client import Client
from typer.main import get_group

from graphmem import GraphMem
from graphmem.cli.main import app
from graphmem.mcp_server.prompts import PROMPTS, RESOURCES
from graphmem.mcp_server.server import build_server
from graphmem.mcp_server.tools import TOOLS
from graphmem.runtime.texts.safe_text import inert, inert_json, inert_lines
from graphmem.server.logs import log_to
from graphmem.settings import Settings

ESCAPE = "e\x1b]0;pwned\x07\x1b[31mred.py"
FORGED = "a\nFORGED line ok.py"
TURNED = "rtl\u202eyp.py"
TAGGED = "tag\U000e0041\U000e0042\u200b.py"
OTHER = "c1\x9b31m\u2066\u2028x\rFORGED return.py"
NAMES = (ESCAPE, FORGED, TURNED, TAGGED, OTHER)
STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r(?=\x1b|$)")  # of a terminal, ours; names have others, too
SOURCE = '''"""Helpers \u202e of \U000e0041 \x1b[31m.

Further \x9b31m words.
"""
from shared import shared


def helper_{n}(value):
    """Doubles \u202e \x1b[31m \U000e0041."""
    return shared(value) * 2


def user_{n}(items):
    found = []
    for item in items:
        if item is not None and item not in found:
            found.append(helper_{n}(item))
        elif item is None:
            found.append(helper_{n}(0))
        else:
            found.append(helper_{n}(len(found)))
    return sorted(found, key=lambda one: (one % 7, one % 5, one % 3, one))
'''
COMMIT = (
    "Fix \x1b]0;pwned\x07 the \u202e cache \U000e0041 bug\n\n"
    "The cache \x1b[31m was cleared before \u202e it was written, so reads came back empty."
)
MEMORY = "The cache \u202e of helper_0 \U000e0041 must be cleared before \u2066 a write, because old keys stay."


class World(NamedTuple):
    """A project of hostile names, indexed, with what is needed to ask about it."""

    root: Path
    memory: str
    other: str
    backup: str


def write_repository(root: Path) -> None:
    """Files, symbols, documents and commits with hostile names."""
    root.mkdir()
    environment = {
        **os.environ,
        **{f"GIT_{who}_{what}": "a\x1b[31m@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }

    def git(*args: str) -> None:
        subprocess.run(["git", "-c", "init.defaultBranch=main", *args], cwd=root, check=True, capture_output=True, env=environment)

    git("init", "-q")
    (root / "shared.py").write_text("def shared(value):\n    return value\n")
    for number, name in enumerate(NAMES):
        (root / name).write_text(SOURCE.replace("{n}", str(number)), encoding="utf-8", newline="")
    (root / "tests").mkdir()
    (root / "tests" / ("test_" + ESCAPE)).write_text("from shared import shared\n\n\ndef test_it():\n    assert shared(1) == 1\n")
    (root / ("doc" + TURNED + ".md")).write_text("# Title \u202e of \x1b[31m \U000e0041\n\nWords of the cache \x9b31m.\n", encoding="utf-8")
    (root / "app.ts").write_text('export class A { "m\u202eet\x1bhod"() { return 1 } }\nnew A()["m\u202eet\x1bhod"]()\n', encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    for turn in range(4):
        for name in NAMES:
            with (root / name).open("a", encoding="utf-8") as file:
                file.write(f"\n# {turn}\n")
        git("commit", "-qam", COMMIT)
    with (root / ESCAPE).open("a", encoding="utf-8") as file:
        file.write("\n\ndef late():\n    return helper_0(1)\n")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, graphmem: Any) -> World:
    root = tmp_path_factory.mktemp("inert") / "pro\x1b[31mject\nFORGED \u202e"
    write_repository(root)
    (root / ".graphmem" / "rules").mkdir(parents=True)  # rules may be there before the index
    assert graphmem("index", root, "--quiet").code == 0
    (root / ".graphmem" / "rules" / "turned\u202erule.md").write_text(
        "Never \x1b[31m skip \u202e the tests \U000e0041.\n", encoding="utf-8"
    )
    (root / ".graphmem" / "architecture.toml").write_text(
        '[[rule]]\nname = "al\u202eone"\nfrom = "*.py"\nmay_not_use = ["*.py", "no\u202ene"]\n', encoding="utf-8"
    )
    memory, other = (
        graphmem("remember", text, "--file", TURNED, "-q", "-C", root).out.split()[0]
        for text in (MEMORY, MEMORY.replace("must", "must never"))
    )
    events = [
        {"kind": "session_start", "step": 0, "args": {"title": "Cache \x1b[31m \u202e", "agent": "a\x1bgent"}},
        {
            "kind": "tool_call",
            "step": 1,
            "tool": "Edit\x1b",
            "args": {"file_path": str(root / FORGED), "old_string": "a", "new_string": "b"},
            "ok": True,
        },
        {"kind": "tool_call", "step": 2, "tool": "Bash", "args": {"command": f"pytest '{ESCAPE}' \u202e"}, "ok": False},
        {"kind": "tool_result", "step": 2, "tool": "Bash", "text": "E   ValueError: \x1b[31m bad \u202e cache", "ok": False},
        {"kind": "approval", "step": 3, "text": "use \x1b[31m the \u202e cache", "ok": True},
    ]
    lines = "\n".join(json.dumps({"session": "s\u202e1\x1b", **one}) for one in events)
    assert graphmem("observe", "-C", root, stdin=lines).code == 0
    assert graphmem("session", "end", "s\u202e1\x1b", "-C", root).code == 0
    backup = graphmem("backup", "-q", "-C", root).out.strip()
    return World(root, memory, other, Path(backup).name)


PLAIN: list[str] = []
# Every command, with arguments that make it say names. "@memory", "@other", "@backup", "@root" stand for the world's.
COMMANDS: dict[str, list[list[str]]] = {
    "index": [PLAIN, ["--full"]],
    "impact": [["shared"], [ESCAPE], ["--diff"], ["none\x1b[31m\u202e"], ["value"]],
    "review": [PLAIN, *(["--format", form] for form in ("markdown", "sarif", "junit"))],
    "occurrences": [[ESCAPE], [FORGED], ["none\x1b[31m"]],
    "edges": [["user_0", "shared"], [ESCAPE, FORGED], ["none\x1b[31m", "shared"]],
    "projects": [PLAIN],
    "search-projects": [["cache"], ["cache", "--project", "none\x1b[31m"]],
    "impact-projects": [["shared"], ["none\x1b[31m"]],
    "drop-branch": [["none\x1b[31m"]],
    "push": [["http://127.0.0.1:1/p/no\x1b[31mne"]],
    "login": [["http://127.0.0.1:1/p/no\x1b[31mne", "co\x1bde"]],
    "server invite": [["a\x1b[31m"]],
    "server role": [["pro\x1b[31mject", "ki\x1b[31mng"]],
    "server team": [["co\x1b[31mre", "ann"]],
    "server token": [["a\x1b[31m", "lap\x1btop"]],
    "server enable": [["a\x1b[31m"]],
    "server people": [PLAIN],
    "server export": [["a\x1b[31m"]],
    "server erase": [["a\x1b[31m", "--confirm", "a\x1b[31m"]],
    "server audit": [PLAIN],
    "usages": [["helper_0"], ["none\x1b[31m"]],
    "implementations": [["helper_0"], ["none\x1b[31m"]],
    "symbol-at": [[ESCAPE, "1", "5"], [FORGED, "1", "5"], ["none\x1b[31m", "1"]],
    "coaccess": [[ESCAPE], [FORGED, TURNED], ["none\x1b[31m"]],
    "contracts": [PLAIN, ["none\x1b[31m"]],
    "organisation add": [["@root"]],
    "reviewers": [[ESCAPE], [FORGED], ["none\x1b[31m"]],
    "search": [["cache"], ["helper_0"], ["cache", "--explain"], ["cache \x1b[31m\u202e"]],
    "ask": [["what clears the cache"]],
    "symbol": [
        ["helper_0"],
        ["helper_1", "--source"],
        ["helper_2"],
        [ESCAPE],
        [f"{FORGED}:helper_1"],
        ["--find", "help"],
        ["none\x1b[31m\nFORGED \u202e"],
    ],
    "path": [["user_0", "shared"], ["shared", "user_1"], ["none\x1b", "shared"]],
    "cypher": [["MATCH (f:File) RETURN f.path"], ["MATCH (f RETURN \x1b[31m\u202e"]],
    "modules": [PLAIN, ["none\x1b[31m"]],
    "flows": [PLAIN],
    "entry-points": [PLAIN],
    "describe": [PLAIN],
    "commits": [PLAIN],
    "cycles": [PLAIN],
    "boundary": [[FORGED], ["none\x1b[31m"]],
    "people": [PLAIN, ["none\x1b[31m"]],
    "hotspots": [PLAIN, ["--level", "symbols"]],
    "central": [PLAIN],
    "dead-code": [PLAIN],
    "duplicates": [PLAIN],
    "check": [PLAIN, ["--update-baseline"]],
    "drift": [["HEAD~1"], ["none\x1b[31m"]],
    "remember": [["The queue \u202e of helper_1 \U000e0041 is drained at midnight.", "--file", FORGED], ["with \x1b[31m escape"]],
    "recall": [["cache"]],
    "rules": [PLAIN],
    "import": [[f"@root/doc{TURNED}.md"], ["none\x1b[31m.md"]],
    "context": [["cache"], ["cache", "--format", "text"], ["cache", "--format", "json"], ["cache", "--format", "xml"]],
    "plan": [["clear the cache", "pro\x1b[31mject"]],
    "trust": [PLAIN],
    "install": [["claude-code", "--dry-run"], ["none\x1b[31m"]],
    "uninstall": [["claude-code", "--dry-run"]],
    "export": [
        PLAIN,
        *(["--format", form] for form in ("dot", "graphml", "json", "jsonl")),
        *(["--view", "modules", "--format", form] for form in ("svg", "mermaid", "dot", "graphml", "json")),
        *(["--view", "impact", "shared", "--format", form] for form in ("svg", "mermaid", "dot", "graphml", "json")),
        *(["--memories", form] for form in ("json", "markdown", "claude")),
    ],
    "report": [PLAIN],
    "doctor": [PLAIN],
    "backup": [PLAIN, ["--list"]],
    "verify": [PLAIN, ["--deep"]],
    "compact": [PLAIN],
    "config": [PLAIN],
    "version": [PLAIN],
    "self-check": [PLAIN],
    "memory list": [PLAIN],
    "memory auto": [PLAIN, ["none\x1b[31m"]],
    "memory config": [PLAIN, ["none\x1b[31m"]],
    "memory encrypt": [["--key-file", "none\x1b[31m"]],
    "memory decrypt": [PLAIN],
    "memory edit": [["@memory", "The \u202e cache is cleared \x1b[31m twice."], ["none\x1b[31m", "text"]],
    "memory onboard": [PLAIN],
    "memory search": [["cache"]],
    "memory status": [PLAIN],
    "memory show": [["@memory"], ["none\x1b[31m"]],
    "memory timeline": [["@memory"]],
    "memory verify": [["@memory"]],
    "memory dispute": [["@memory", "no \u202e longer \x1b[31m"]],
    "memory review": [PLAIN],
    "memory alias": [["ca\u202eche", "store\x1b"], PLAIN],
    "memory prune": [PLAIN],
    "memory retract": [["s\u202e1\x1b", "--dry-run"]],
    "memory scan": [PLAIN],
    "memory audit": [PLAIN],
    "memory rebuild": [PLAIN],
    "memory phases": [PLAIN],
    "eval": [PLAIN],
    "memory resolve": [["@memory", "--over", "@other"]],
    "session list": [PLAIN],
    "session show": [["s\u202e1\x1b"], ["none\x1b[31m"]],
    "session summary": [["s\u202e1\x1b"], ["s\u202e1\x1b", "-q"]],
    "session groups": [PLAIN],
    "session start": [["s\u202e2\x1b"]],
    "session running": [PLAIN],
    "session look": [["s\u202e2\x1b"]],
    "session end": [["s\u202e2\x1b"]],
    "session undo": [["s\u202e1\x1b"]],
    "observe": [PLAIN],
    "token create": [["to\x1b[31mken\u202e"]],
    "token list": [PLAIN],
    "token revoke": [["none\x1b[31m"]],
    "pin": [["@other"]],
    "forget": [["@other"], ["none\x1b[31m\u202e"]],
    "sync-file": [PLAIN, ["--dry-run"]],
    "rebuild": [PLAIN],
    "sync": [PLAIN, ["none\x1b[31m\u202e"]],
    "organisation status": [PLAIN],
    "organisation decide": [["@memory", "type\x1b[31m", "1"]],
    "organisation found": [["--url", "none\x1b[31m\u202e"]],
    "organisation people": [["--url", "none\x1b[31m\u202e"]],
    "organisation invite": [["a\x1b[31m"], ["ann", "--level", "ki\x1b[31mng"]],
    "organisation team": [["co\x1b[31mre", "ann"], ["core", "ann", "--standing", "ki\x1b[31mng"]],
    "organisation role": [["git:1", "ki\x1b[31mng"]],
    "organisation enable": [["a\x1b[31m"]],
    "organisation audit": [["--url", "none\x1b[31m\u202e"]],
    "organisation news": [PLAIN, ["--days", "3"]],
    "organisation comments": [["@memory"], ["none\x1b[31m"]],
    "organisation comment": [["@memory", "Why\x1b[31m?"]],
    "organisation export": [["a\x1b[31m"]],
    "organisation erase": [["a\x1b[31m"]],
    "organisation dissolve": [["--confirm", "a\x1b[31m"]],
    "restore": [["@backup"], ["none\x1b[31m.zip"]],
    "delete-all": [["--confirm", "none\x1b[31m"]],
}
FORMS: list[tuple[list[str], dict[str, str]]] = [([], {}), (["--json"], {}), (["-q"], {}), ([], {"FORCE_COLOR": "1", "COLUMNS": "90"})]
ELSEWHERE = {"serve", "mcp", "hook", "lsp"}  # they go on until they are ended: below
EXAMPLE = {"organisation try"}  # it shows its own texts alone
# Commands whose answer is about files: a test in which none is named proves nothing.
NAMING = {
    "impact", "coaccess", "search", "symbol", "path", "cypher", "hotspots", "central", "dead-code", "duplicates", "commits", "export",
    "report",
    "memory show", "index",
}  # fmt: skip


def leaves(group: Any, before: str = "") -> Iterator[str]:
    """Names of all commands there are."""
    for name in group.list_commands(None):
        inner = group.commands[name]
        yield from leaves(inner, f"{before}{name} ") if hasattr(inner, "commands") else (before + name,)


def expect_inert(said: str, what: object) -> None:
    """No character that steers, and no line that a name forged."""
    found = STEERING.search(said.replace("\r\n", "\n") if isinstance(said, str) else said)
    assert found is None, (what, hex(ord(found.group())), said[max(0, found.start() - 60) : found.end() + 60])
    assert not re.search(r"^\s*FORGED", said, re.MULTILINE), (what, said)


def test_every_command_there_is_stands_in_the_table() -> None:
    assert set(leaves(get_group(app))) == COMMANDS.keys() | ELSEWHERE | EXAMPLE


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_nothing_that_steers(command: str, world: World, graphmem: Any, tmp_path: Path) -> None:
    root = world.root
    if command not in NAMING and command not in ("index", "rebuild"):  # what changes something does it to a copy
        root = tmp_path / world.root.name
        shutil.copytree(world.root, root, symlinks=True)
    places = {"@memory": world.memory, "@other": world.other, "@backup": world.backup}
    said = ""
    for given in COMMANDS[command]:
        arguments = [places.get(one, one.replace("@root", str(root))) for one in given]
        for form, variables in FORMS if command in NAMING else FORMS[:2]:
            ran = graphmem(*command.split(), *arguments, *form, cwd=root, HOME=str(tmp_path), GRAPHMEM_CYPHER="1", **variables)
            assert ran.code in (0, 1, 2), (command, given, form, ran.said)
            for stream in (ran.out, ran.err):
                expect_inert(STYLES.sub("", stream) if variables else stream, (command, given, form))
            said += ran.said
    if command in NAMING:
        assert re.search(r"pwned|FORGED|rtl|tag", said), said


@pytest.mark.parametrize(
    "arguments",
    [
        ["none\x1b[31m\u202e"],
        ["search", "--none\x1b[31m"],
        ["search", "a", "-k", "\x1b[31m\u202e"],
        ["memory", "\x1b[31m"],
        ["export", "--format", "\x1b[31m\nFORGED"],
    ],
)
def test_a_refusal_of_arguments_is_inert(arguments: list[str], world: World, graphmem: Any) -> None:
    for more in ([], ["--json"]):
        ran = graphmem(*arguments, *more, cwd=world.root)
        assert ran.code == 2, ran.said
        expect_inert(ran.out, arguments)
        expect_inert(ran.err, arguments)


def test_agents_tools_prompts_and_resources_say_nothing_that_steers(world: World) -> None:
    opened = GraphMem.open(world.root / ".graphmem", repo=world.root, settings=Settings(embedder="none"))
    calls: dict[str, list[dict[str, Any]]] = {
        "impact": [{"targets": ["shared"]}, {"targets": [ESCAPE]}, {"base": "HEAD"}, {"targets": ["none\x1b[31m"]}],
        "search": [{"query": "cache"}, {"query": "helper_0", "full": True}, {"query": "cache", "full": True, "budget": 5_000}],
        "get": [{"refs": ["helper_0", "helper_1", ESCAPE]}, {"refs": [world.memory]}, {"refs": ["none\x1b[31m", "other\nFORGED"]}],
        "path": [{"source": "user_0", "target": "shared"}, {"source": "shared", "target": "user_0"}],
        "co_access": [{"files": [ESCAPE, FORGED]}],
        "remember": [{"content": "The store \u202e of helper_2 \U000e0041 is read once.", "files": [TURNED]}, {"content": "a\x1b[31m"}],
        "forget": [{"id": "none\x1b[31m"}],
        "timeline": [{"id": world.memory}],
    }
    assert calls.keys() == TOOLS.keys()
    given = {"onboard": {"area": ESCAPE}, "plan": {"task": "clear the cache \x1b[31m", "modules": FORGED}, "review-diff": {}}
    assert given.keys() == PROMPTS.keys()

    async def ask() -> list[str]:
        async with Client(build_server(lambda: opened)) as client:
            said = [(await client.call_tool(name, one)).content[0].text for name, ones in calls.items() for one in ones]
            said += [(await client.get_prompt(name, one)).messages[0].content.text for name, one in given.items()]
            return said + [(await client.read_resource(uri)).contents[0].text for uri in RESOURCES]

    with opened:
        said = anyio.run(ask)
    for one in said:
        expect_inert(one, one[:40])
    assert any("pwned" in one for one in said)
    assert any("rtl" in one for one in said)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_record_is_one_line_of_the_log(form: str) -> None:
    stream = io.StringIO()
    logger = logging.getLogger("graphmem.test_inert")
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        log_to(stream, "debug", form)
        logger.warning("cannot read %s", FORGED + ESCAPE + TURNED)
        try:
            raise ValueError(ESCAPE + TAGGED)
        except ValueError:
            logger.exception("failed")
    finally:
        root.handlers[:] = before
        root.setLevel(level)  # every later test would log each step of every library
    expect_inert(stream.getvalue(), form)
    assert "pwned" in stream.getvalue()
    first = stream.getvalue().splitlines()[0]
    assert (json.loads(first)["message"] if form == "json" else first).replace("\n", "\\n").count("FORGED") == 1


@pytest.mark.parametrize("agent", ["claude-code", "cursor", "codex", "gemini", "opencode"])
def test_what_a_hook_hands_an_agent_is_inert(agent: str, world: World) -> None:
    moments = {
        "claude-code": "UserPromptSubmit",
        "cursor": "sessionStart",
        "codex": "UserPromptSubmit",
        "gemini": "BeforeAgent",
        "opencode": "chat.message",
    }
    with GraphMem.open(world.root / ".graphmem", repo=world.root, settings=Settings(embedder="none")) as opened:
        event = moments[agent]
        payload = {
            "hook_event_name": event, "event": event, "session_id": "h\x1b", "sessionID": "h\x1b", "conversation_id": "h\x1b",
            "cwd": str(world.root), "prompt": f"clear the cache of helper_0 in {ESCAPE}", "text": "clear the cache of helper_0",
        }  # fmt: skip
        said = opened.hook(agent, json.dumps(payload)).output
    expect_inert(said, agent)
    assert json.loads(said)


def test_a_server_and_its_log_say_nothing_that_steers(world: World, environ: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path / world.root.name
    shutil.copytree(world.root, root, symlinks=True)
    shutil.rmtree(root / ".graphmem")
    server = subprocess.Popen(
        [sys.executable, "-m", "graphmem", "serve", "--port", "0", str(root)],
        env={**environ, "GRAPHMEM_LOG_LEVEL": "debug"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        said = [server.stdout.readline() for _ in range(3)]
        address = re.search(rb"http://\S+(?=/)", said[2])
        assert address is not None, said
        with urllib.request.urlopen(address.group().decode() + "/export.jsonl", timeout=60) as answer:
            exported = answer.read().decode("utf-8")
    finally:
        server.terminate()
        out, err = server.communicate(timeout=60)
    for stream in (b"".join(said) + out, err):
        expect_inert(stream.decode("utf-8"), "serve")
    assert b"mject" in b"".join(said)
    expect_inert(exported, "/export.jsonl")
    assert TURNED in {json.loads(line).get("path") for line in exported.splitlines()}, "it is read as it was meant"


def test_escapes_of_json_give_back_what_they_stand_for() -> None:
    text = "".join(NAMES)
    printed = inert_json(json.dumps({"name": text}, ensure_ascii=False, indent=2))
    expect_inert(printed, "json")
    assert json.loads(printed) == {"name": text}


def test_what_people_write_stays_as_it_is() -> None:
    for text in ("naïve café", "日本語", "שלום", "می\u200cخواهم", "👩\u200d💻 ok", "tab\tbetween"):
        assert inert(text) == text
        assert inert_lines(text + "\r\n" + text) == text + "\n" + text
