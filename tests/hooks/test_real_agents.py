"""Agents as people run them, with a model that is played on this machine: what they tell the hooks, and what of memory their model reads.

Each agent is started once, without a person, in a project into whose settings `graphmem install` has written. The played model asks for
four calls of tools (a file is read, a command fails, the file is edited, memory is asked) and ends. An agent that is not on PATH is
skipped; docs/hooks.md says how to get them. Nothing leaves the machine: no agent has an account, and each is told to report nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import graphmem
from graphmem.hooks import agents
from graphmem.injection.experiment import FULL, group_of
from played_models import EDIT, LAST_WORDS, READ, TASK, PlayedModel, Wanted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

QUESTION = "why does reading the stream twice raise"
FAILING = f"{sys.executable} -c 'raise SystemExit(3)'"
SECONDS = 150  # for one run of an agent
TRIES = 3  # on a busy machine a deadline may pass, and one session in seven is of a group that is told less

# ---- the agents

SILENT = {
    "DO_NOT_TRACK": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
}


def claude_code(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    allowed = "Read,Bash,Edit,mcp__graphmem"
    return ["claude", "-p", QUESTION, "--allowedTools", allowed], {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}


def codex(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    provider = f'{{name = "played", base_url = "{url}/v1", env_key = "PLAYED", wire_api = "responses"}}'
    told = ["-c", 'model_provider="played"', "-c", 'model="gpt-5.5"', "-c", f"model_providers.played={provider}"]
    told += ["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false", "--sandbox", "danger-full-access"]
    return ["codex", "exec", *told, "--trust", "--dangerously-bypass-hook-trust", QUESTION], {"PLAYED": "none"}


def gemini(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    trusted = {"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}
    return ["gemini", "-m", "gemini-2.5-flash", "--yolo", "-p", QUESTION], trusted


def opencode(url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    model = {"name": "One", "limit": {"context": 100_000, "output": 4_000}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{url}/v1", "apiKey": "none"}, "models": {"one": model}}
    config = {
        "model": "played/one",
        "share": "disabled",
        "autoupdate": False,
        "permission": {"*": "allow"},
        "provider": {"played": provider},
    }
    return ["opencode", "run", QUESTION], {"OPENCODE_CONFIG_CONTENT": json.dumps(config)}


class Real(NamedTuple):
    """Command line of one agent, and how to read its output."""

    started: Callable[[str, Path], tuple[list[str], dict[str, str]]]
    moments: list[str]
    tells_failures: bool = True
    asks: bool = True  # the model sees the MCP server's tools as functions of their own
    stops: bool = True  # a hook can make it go on


TOLD = ["start", "prompt", "tool", "tool", "tool", "tool", "words", "end"]
REAL = {
    "claude-code": Real(claude_code, ["start", "prompt", "tool", "failure", "before", "tool", "tool", "words", "words", "end"]),
    "codex": Real(codex, ["start", "prompt", "tool", "tool", "before", "tool", "words", "words"], tells_failures=False, asks=False),
    "gemini": Real(gemini, [*TOLD[:-1], "prompt", "words", "end"]),  # the reminder comes as a prompt
    "opencode": Real(opencode, TOLD, stops=False),
}
# `graphmem` as it stands on PATH, which notes what a hook is told, and what comes of it.
WRAPPER = """#!{python} -P
import json, os, subprocess, sys
real = [{python!r}, "-P", "-m", "graphmem", *sys.argv[1:]]
if sys.argv[1:2] != ["hook"]:
    os.execv(real[0], real)
given = sys.stdin.buffer.read()
done = subprocess.run(real, input=given, capture_output=True)
with open({log!r}, "a", encoding="utf-8") as file:
    told = [given, done.stdout, done.stderr]
    file.write(json.dumps([sys.argv[2], done.returncode, *(one.decode() for one in told)]) + "\\n")
sys.stdout.buffer.write(done.stdout)
raise SystemExit(done.returncode)
"""


class Hook(NamedTuple):
    """One run of a hook."""

    agent: str
    code: int
    given: str
    printed: str
    complained: str


class Ran(NamedTuple):
    """One run of an agent."""

    name: str
    code: int
    printed: str
    complained: str
    hooks: list[Hook]
    requests: list[str]  # what the model read, of requests that offered tools
    trap: str  # what came to be known of the file while the session ran

    @property
    def calls(self) -> list[agents.HookCall]:
        return [agents.read(agents.agent_named(self.name), json.loads(one.given)) for one in self.hooks]

    @property
    def session(self) -> str:
        return next((one.session for one in self.calls), "")


def run_once(name: str, root: Path, service: Any, folder: Path, *, delegates: bool = False) -> Ran:
    home, log = folder / "home", folder / "hooks.jsonl"
    programs = folder / "bin"
    for one in (home, programs):
        one.mkdir(parents=True)
    (programs / "graphmem").write_text(WRAPPER.format(python=sys.executable, log=str(log)), encoding="utf-8")
    (programs / "graphmem").chmod(0o755)
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8", "CI": "1", **SILENT}
    environ |= {"PYTHONPATH": str(Path(graphmem.__file__).parents[1])}  # the tested code, also in a checkout that is not installed
    subprocess.run(["graphmem", "install", name], cwd=root, env=environ, check=True, capture_output=True, timeout=60)
    trap = f"A background task of {folder.name} runs after the answer was sent."
    wanted: list[Wanted] = [
        ("read", {"path": str(root / READ)}),
        ("run", {"command": FAILING}),
        ("edit", {"path": str(root / READ), "old": EDIT[0], "new": EDIT[1]}),
        ("ask", {"query": "stream"}),
    ]
    known: list[str] = []
    by_subagent: list[Wanted] = []
    if delegates:  # once the file was read
        wanted, by_subagent = [wanted[0], ("delegate", {"task": TASK, "kind": "general-purpose"}), wanted[2]], wanted[:1]
    model = PlayedModel(wanted, lambda: known.append(service.remember(trap, "gotcha", files=[READ]).memory.id), by_subagent)
    before = (root / READ).read_bytes()
    try:
        command, more = REAL[name].started(model.url, home)
        process = subprocess.Popen(
            command, cwd=root, env=environ | more, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            printed, complained = process.communicate(timeout=SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        assert EDIT[1] in (root / READ).read_text(encoding="utf-8"), printed[-2_000:] + complained[-2_000:]
    finally:
        model.close()
        (root / READ).write_bytes(before)
        for one in known:
            service.forget(one)
        subprocess.run(["graphmem", "uninstall", name], cwd=root, env=environ, check=True, capture_output=True, timeout=60)
    hooks = [Hook(*json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    return Ran(name, process.returncode, printed, complained, hooks, model.read, trap)


def run(name: str, served: Path, service: Any, tmp_path_factory: pytest.TempPathFactory, *, delegates: bool = False) -> Ran:
    """Run an agent until its session is of the group that is told everything; skip the test if the agent is missing."""
    command = REAL[name].started("", tmp_path_factory.mktemp("unused"))[0][0]
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not on PATH")
    if not (served / ".git").exists():
        subprocess.run(["git", "init", "--quiet"], cwd=served, check=True)
    for n in range(TRIES):
        found = run_once(name, served, service, tmp_path_factory.mktemp(f"{name}-{n}-"), delegates=delegates)
        if found.code == 0 and group_of(found.session, service.project().name) == FULL and any(found.trap in one for one in found.requests):
            break
    return found


@pytest.fixture(scope="module", params=REAL)
def ran(request, served, service, tmp_path_factory) -> Ran:
    return run(request.param, served, service, tmp_path_factory)


def test_the_agent_does_its_work_and_ends_well(ran):
    assert ran.code == 0, ran.complained[-2_000:]
    assert LAST_WORDS in ran.printed


def test_every_hook_is_called_in_its_order_with_one_session_and_the_projects_folder(ran, served):
    assert [one.moment for one in ran.calls] == REAL[ran.name].moments
    assert len({one.session for one in ran.calls}) == 1
    assert {one.folder for one in ran.calls} == {str(served)}
    assert next(one.text for one in ran.calls if one.moment == "prompt") == QUESTION
    assert next(one.text for one in ran.calls if one.moment == "words") == LAST_WORDS


def test_no_hook_fails_or_complains(ran):
    assert {(one.agent, one.code, one.complained) for one in ran.hooks} == {(ran.name, 0, "")}


def test_the_model_reads_what_is_known_at_the_start_and_what_is_known_of_a_file_once_it_was_read(ran, service):
    if group_of(ran.session, service.project().name) != FULL:
        pytest.skip("none of the sessions was of the group that is told everything")
    assert "may be read once" in ran.requests[0]
    assert ran.trap not in ran.requests[0]
    assert ran.trap in ran.requests[1]


def test_the_model_reads_who_uses_the_code_that_it_edits(ran, service):
    if group_of(ran.session, service.project().name) != FULL:
        pytest.skip("none of the sessions was of the group that is told everything")
    told = "dependents in 4 files"
    edit = next(place for place, one in enumerate(ran.calls) if one.args and EDIT[1] in json.dumps(dict(one.args)))
    assert told in ran.hooks[edit].printed  # before the edit if the agent asks then, and with its result otherwise
    assert sum(told in one for one in ran.requests) == len(ran.requests) - 3


def test_an_agent_that_stops_too_early_reads_what_it_forgot(ran, service):
    if not REAL[ran.name].stops:
        pytest.skip(f"no hook makes {ran.name} go on")
    if group_of(ran.session, service.project().name) != FULL:
        pytest.skip("none of the sessions was of the group that is told everything")
    assert "named after files that you edited: tests/test_background.py" in ran.requests[-1]


def test_what_was_shown_is_not_shown_again(ran):
    assert sum("may be read once" in one.printed for one in ran.hooks) <= 1
    assert sum(ran.trap in one.printed for one in ran.hooks) <= 1


def test_the_session_is_known_with_what_was_read_edited_and_failed(ran, service):
    assert service.parts.injector.settle(30)
    detail = service.session_detail(ran.session)
    assert (detail.session.agent, detail.session.state) == (ran.name, "ended" if "end" in REAL[ran.name].moments else "running")
    (file,) = [one for one in detail.files if one.path == READ]
    assert (file.reads, file.edits, file.lines_added, file.lines_removed) == (1, 1, 1, 1)
    (command,) = [one for one in detail.commands if "SystemExit(3)" in one.command]
    assert (command.runs, command.failures, command.last_exit) == ((1, 1, 3) if REAL[ran.name].tells_failures else (1, 0, None))


def test_an_ended_session_is_found_under_the_agents_own_name_for_it(ran, service):
    if "end" not in REAL[ran.name].moments:
        pytest.skip(f"{ran.name} tells no end of a session")
    service.wait_for_learning()
    assert service.session_summary(ran.session).session == ran.session


def test_the_agent_reaches_the_running_server_through_mcp(ran):
    if not REAL[ran.name].asks:
        pytest.skip(f"{ran.name} offers the model tools of MCP servers in a way this model does not speak")
    assert "may be read once" in ran.requests[4].replace(ran.requests[3][:-200], "")


def test_a_subagent_reads_what_the_agent_that_started_it_was_told(served, service, tmp_path_factory):
    ran = run("claude-code", served, service, tmp_path_factory, delegates=True)
    if group_of(ran.session, service.project().name) != FULL:
        pytest.skip("none of the sessions was of the group that is told everything")
    begun = [one for one in ran.requests if TASK in json.dumps(json.loads(one)["messages"][0])]
    assert len(begun) == 2, "the subagent answers once, after it has read the file"
    assert "may be read once" in begun[0], "a standing memory"
    assert READ in begun[0].replace(TASK, ""), "a place of its task"
    assert (ran.trap in begun[0], ran.trap in begun[1]) == (False, True) or ran.trap in begun[0], "the trap of the file it read"
    assert {one.code for one in ran.hooks} == {0}
