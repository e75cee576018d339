"""The plug-in for OpenCode does what it should in the hosts of both versions, and nothing of it can stop a session."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem.hooks.targets import targets

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")
HOOK = """\
import json, sys, pathlib
call = json.load(sys.stdin)
log = pathlib.Path(__file__).with_name("calls.jsonl")
with log.open("a") as file:
    file.write(json.dumps(call) + "\\n")
if call["event"] in ("session.created", "chat.message", "tool.execute.after"):
    print(json.dumps({"context": "known: " + call["event"]}))
"""
V1 = """\
const hooks = await plugin.server({ directory: "/shop", worktree: "/shop" })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
const parts = [{ type: "text", text: "why" }, { type: "text", text: "not this", synthetic: true }]
await hooks["chat.message"]({ sessionID: "s" }, { parts })
const system = []
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system })
const output = { output: "read", metadata: { exit: 0 } }
await hooks["tool.execute.before"]({ sessionID: "s", callID: "c", tool: "bash" }, { args: { command: "ls" } })
await hooks["tool.execute.after"]({ sessionID: "s", callID: "c", tool: "bash", args: { command: "ls" } }, output)
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "s" } } } })
console.log(JSON.stringify({ system, output: output.output }))
"""
NOT_AWAITED = """\
const hooks = await plugin.server({ directory: "/shop", worktree: "/shop" })
hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "why" }] })
const system = []
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system })
console.log(JSON.stringify({ system }))
"""
GOING_DOWN = """\
const hooks = await plugin.server({ directory: "/shop", worktree: "/shop" })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } })
await hooks["chat.message"]({ sessionID: "resumed" }, { parts: [{ type: "text", text: "on" }] })
await hooks["experimental.text.complete"]({ sessionID: "s", messageID: "m", partID: "p" }, { text: "I was wrong." })
await hooks.dispose()
console.log(JSON.stringify({}))
"""
COMPACTED = """\
const hooks = await plugin.server({ directory: "/shop", worktree: "/shop" })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "why" }] })
await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s" } } })
const system = []
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, { system })
console.log(JSON.stringify({ system }))
"""
V2 = """\
const hooks = {}
const events = async function* () { await told; yield { type: "session.deleted", data: { sessionID: "s" } } }
let tell
const told = new Promise((resolve) => (tell = resolve))
const cleanup = await plugin.setup({
  location: { directory: "/shop" },
  session: { hook: async (name, call) => (hooks[name] = call) },
  tool: { hook: async (name, call) => (hooks[name] = call) },
  event: { subscribe: events },
})
await hooks.prompt({ sessionID: "s", prompt: { text: "why" } })
const system = []
await hooks.context({ sessionID: "s", system })
const call = { sessionID: "s", tool: "shell", input: { command: "ls" } }
const text = { ...call, status: "completed", result: { content: "read", metadata: { exit: 0 } } }
await hooks["execute.after"](text)
const parts = { ...text, result: { content: [{ type: "text", text: "read" }] } }
await hooks["execute.after"](parts)
const failed = { sessionID: "s", tool: "shell", input: {}, status: "error", error: { message: "no such file" } }
await hooks["execute.after"](failed)
await hooks.compaction({ sessionID: "s", system: [] })
tell()
await new Promise((resolve) => setTimeout(resolve, 0))
while (!done()) await new Promise((resolve) => setTimeout(resolve, 20))
cleanup()
console.log(JSON.stringify({ system, text: text.result, parts: parts.result.content, failed: failed.result ?? null }))
"""


@pytest.fixture
def play(tmp_path: Path):
    """Run a script with the plug-in in `plugin`; what it printed, and the calls of the hook command."""

    def run(script: str, command: list[str] | None = None) -> tuple[dict, list[dict]]:
        hook = tmp_path / "hook.py"
        hook.write_text(HOOK, encoding="utf-8")
        (content,) = [
            one.content
            for one in targets("opencode", "project", tmp_path, tmp_path, command or [sys.executable, str(hook)])
            if one.content and one.path.suffix in (".js", ".ts")
        ]
        (tmp_path / "plugin.mjs").write_text(content, encoding="utf-8")
        log = tmp_path / "calls.jsonl"
        head = (
            'import { existsSync, readFileSync } from "node:fs"\n'
            'import plugin from "./plugin.mjs"\n'
            f"const done = () => existsSync({json.dumps(str(log))}) && "
            f'readFileSync({json.dumps(str(log))}, "utf8").includes("session.deleted")\n'
        )
        (tmp_path / "host.mjs").write_text(head + script, encoding="utf-8")
        done = subprocess.run([NODE, "host.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return json.loads(done.stdout), calls

    return run


def test_it_is_one_file_for_both_versions(play):
    said, _ = play("console.log(JSON.stringify({ id: plugin.id, keys: Object.keys(plugin).sort() }))")
    assert said == {"id": "graphmem", "keys": ["id", "server", "setup"]}


def test_in_version_1_it_tells_what_happens_and_shows_what_is_known(play):
    said, calls = play(V1)
    assert said == {"system": ["known: session.created\nknown: chat.message"], "output": "read\n\nknown: tool.execute.after"}
    assert [one["event"] for one in calls] == ["session.created", "chat.message", "tool.execute.after", "session.deleted"]
    assert all((one["sessionID"], one["directory"]) == ("s", "/shop") for one in calls)
    assert calls[1]["prompt"] == "why"
    assert calls[2]["tool_response"] == {"output": "read", "metadata": {"exit": 0}}
    assert calls[2]["duration_ms"] >= 0


def test_a_host_that_goes_down_ends_its_sessions_after_the_last_words_were_told(play):
    _, calls = play(GOING_DOWN)
    told = [(one["event"], one["sessionID"]) for one in calls]
    assert told[:4] == [("session.created", "s"), ("session.created", "resumed"), ("chat.message", "resumed"), ("text.complete", "s")]
    assert sorted(told[4:]) == [("session.deleted", "resumed"), ("session.deleted", "s")]
    assert calls[3]["text"] == "I was wrong."


def test_a_first_message_waits_for_what_a_session_starts_with(play):
    said, _ = play(NOT_AWAITED)
    assert said == {"system": ["known: session.created\nknown: chat.message"]}


def test_after_a_compaction_a_session_is_told_what_one_that_starts_is_told(play):
    said, calls = play(COMPACTED)
    assert said == {"system": ["known: session.created"]}
    assert [one["event"] for one in calls] == ["session.created", "chat.message", "session.compacted", "session.created"]


def test_in_version_2_it_does_the_same(play):
    said, calls = play(V2)
    assert said["system"] == [{"type": "text", "text": "known: session.created\nknown: chat.message"}]
    assert said["text"] == {"content": "read\n\nknown: tool.execute.after", "metadata": {"exit": 0}}
    assert said["parts"] == [{"type": "text", "text": "read"}, {"type": "text", "text": "known: tool.execute.after"}]
    assert said["failed"] is None  # a failed call has no result; what is known of it comes with the next request
    events = ["session.created", "chat.message", *["tool.execute.after"] * 3, "session.compacted", "session.created", "session.deleted"]
    assert [one["event"] for one in calls] == events
    assert calls[2]["tool"] == "shell"
    assert calls[4]["tool_response"] == {"error": "no such file"}


def test_a_command_that_is_not_there_stops_nothing(play):
    said, calls = play(V1, ["/no/such/program"])
    assert said == {"system": [], "output": "read"}
    assert calls == []
