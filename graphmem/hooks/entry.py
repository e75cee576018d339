"""`graphmem hook AGENT`: pass an agent's event to the running server.

The command reads the event from standard input, prints the server's answer and always exits with 0. At the start of a session and at a
message it starts a missing server.

This module imports few modules, because an agent waits for the command at every step. The server processes the event
(`injection.hook_events`). Without a server, or with input that is not JSON, the command prints nothing.
"""

# A run without a server imports only what it needs. pathlib alone costs as much as everything else.
# ruff: noqa: PTH109, PTH110, PTH111, PTH112, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` costs five milliseconds
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 32 << 20  # of stdin; the rest is read and dropped
MAX_BODY = 1_000_000  # of a request; every server accepts it, see settings.LEAST_BODY_KB
MAX_TEXT = 16_384  # characters of one text; a longer text is sent as its two ends
LONGEST_S = 2.5  # for any event
# Seconds to wait for the server, by event: the deadline of the moment (injection.deadlines) and a margin for transport.
PATIENCE_S = {
    "SessionStart": 0.8,
    "sessionStart": 0.8,
    "session.created": 0.8,
    "UserPromptSubmit": 2.3,
    "SubagentStart": 2.3,
    "BeforeAgent": 2.3,
    "beforeSubmitPrompt": 0.4,
    "chat.message": 2.3,
    # A lost end event leaves its session open for hours, and at the end the agent waits for nothing else.
    "SessionEnd": 1.0,
    "sessionEnd": 1.0,
    "session.deleted": 1.0,
}
WAKING = ("SessionStart", "sessionStart", "session.created", "UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt", "chat.message")
"""Events that start a missing server; at others it would come too late, or the agent ends."""
USUAL_S = 0.3
FOLDER_KEYS = ("cwd", "directory", "worktree")


def main(arguments: list[str]) -> str:
    """Pass an agent's event from standard input to the server.

    Returns the text to print; "" to print nothing.

    Args:
        arguments: the agent's name.
    """
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        _say("usage: graphmem hook AGENT < JSON; agents: claude-code, cursor, codex, gemini, opencode")
        return ""
    if sys.stdin is None or sys.stdin.closed:
        return ""
    if sys.stdin.isatty():
        _say("graphmem hook reads an agent's JSON on standard input; `graphmem install` tells agents to call it")
        return ""
    raw = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        while sys.stdin.buffer.read(1 << 20):
            pass
        return ""
    if not raw.strip():
        return ""
    import json

    payload = json.loads(raw)
    if not isinstance(payload, dict):
        return ""
    folder, patience = _folder(payload), _patience(payload)
    found = _owner(folder)
    if found is None and _event(payload) in WAKING:
        import time

        from graphmem.hooks.waking import wake

        begun = time.monotonic()
        found = wake(folder, _data_dirs(folder), lambda: _owner(folder), patience / 2 if patience > 1 else 0.0)
        patience -= time.monotonic() - begun
    if found is None:
        return ""
    body = _body(arguments[0], payload)
    answer = _ask(found, body, patience)
    data = json.loads(answer) if answer else None
    hook = ((data or {}).get("data") or {}).get("hook") or {}
    output = hook.get("output")
    return output if isinstance(output, str) else ""


def _folder(payload: dict[str, Any]) -> str:
    """Return the directory in which an agent works, from its event `payload`."""
    roots = payload.get("workspace_roots")
    for value in (*(payload.get(key) for key in FOLDER_KEYS), *(roots if isinstance(roots, list) else ())):
        if isinstance(value, str) and value and os.path.isdir(value):
            return value
    return os.getcwd()


def _owner(folder: str) -> dict[str, object] | None:
    """Return the record of the server that owns an index; None without one.

    The record is the content of `owner.json`. A record that names another index is ignored, because the index directory is then a copy. The
    record of a stopped server (SIGSTOP) is also ignored, because such a server cannot answer.
    """
    import json

    for directory in _data_dirs(folder):
        try:
            with open(os.path.join(directory, "owner.json"), encoding="utf-8") as file:
                found = json.load(file)
            if isinstance(found, dict) and isinstance(found.get("address"), str):
                from graphmem.hooks.here import is_stopped
                from graphmem.runtime.identity import index_id

                if found.get("index_id") == index_id(directory) and not is_stopped(found.get("pid", 0), str(found.get("started"))):
                    return found
        except (OSError, ValueError):
            continue
    return None


def _data_dirs(folder: str) -> list[str]:
    """Return the directories in which a project's index may be.

    `folder` is a directory inside the project. The directories are in the order in which `location.locate` tries them.
    """
    named = os.environ.get("GRAPHMEM_DB")
    if named:
        return [os.path.expanduser(named)]
    line = []
    at = os.path.realpath(folder)
    while True:
        line.append(at)
        above = os.path.dirname(at)
        if above == at:
            break
        at = above
    home = os.path.realpath(os.path.expanduser("~"))  # its .graphmem holds rules and memories of the person, unless it has an index
    marks = [(one, ".graphmem/graph.db" if one == home else ".graphmem") for one in line] + [(one, ".git") for one in line]
    root = next((one for one, mark in marks if os.path.exists(os.path.join(one, mark))), line[0])
    if _has_settings(root):
        from pathlib import Path

        from graphmem.location import locate
        from graphmem.settings import load_settings

        settings = load_settings(Path(root), os.environ, {})
        return [str(locate(Path(root), settings, os.environ).data_dir)]
    return [os.path.join(root, ".graphmem"), _home_dir(root)]


def _has_settings(root: str) -> bool:
    """Whether a project has settings, which may name another index directory."""
    if os.environ.get("GRAPHMEM_HOME"):
        return True
    if os.path.exists(os.path.join(root, "graphmem.toml")):
        return True
    try:
        with open(os.path.join(root, "pyproject.toml"), "rb") as file:
            return b"tool.graphmem" in file.read(1 << 20)
    except OSError:
        return False


def _home_dir(root: str) -> str:
    import hashlib

    given = os.environ.get("XDG_DATA_HOME", "")
    data = given if given.startswith("/") else os.path.expanduser("~/.local/share")
    digest = hashlib.blake2b(os.fsencode(root), digest_size=6).hexdigest()
    return os.path.join(data, "graphmem", f"{os.path.basename(root) or 'root'}-{digest}")


def _patience(payload: dict[str, object]) -> float:
    return PATIENCE_S.get(_event(payload), USUAL_S)


def _event(payload: dict[str, object]) -> str:
    event = payload.get("hook_event_name") or payload.get("event")
    return event if isinstance(event, str) else ""


def _body(agent: str, payload: dict[str, Any]) -> bytes:
    """Return the body of the request that passes an event to the server.

    `payload` is the event as the agent sent it.

    Long strings are shortened in the middle. If the event is still too long, only its strings, numbers and booleans are kept, not its lists
    and objects.
    """
    import json

    def request(content: dict[str, Any]) -> bytes:
        variables = {"agent": agent, "payload": json.dumps(content)}
        return json.dumps({"operationName": "Hook", "variables": variables}).encode("ascii")

    body = request(_cut(payload, 0))
    if len(body) > MAX_BODY:
        body = request({key: _cut(value, 0) for key, value in payload.items() if isinstance(value, (str, int, float, bool))})
    return body


def _cut(value: object, depth: int) -> Any:
    if isinstance(value, str):
        if "private" in value.lower():  # it stays in this process, and a cut would remove its end tag
            from graphmem.runtime.texts.private_passages import without_private

            value = without_private(value)
        half = MAX_TEXT // 2
        return value if len(value) <= MAX_TEXT else f"{value[:half]}\n…\n{value[-half:]}"
    if depth > 20:
        return None
    if isinstance(value, dict):
        return {key: _cut(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_cut(one, depth + 1) for one in value[:256]]
    return value


def _ask(owner: dict[str, Any], body: bytes, patience: float) -> bytes:
    """Send an event to the server; return its answer, or b"" without one.

    `owner` is the record of the server, `body` the event as JSON, and `patience` the longest wait in seconds.
    """
    import http.client  # noqa: F401 -- on a busy machine this takes longer than the server may
    import threading

    answers: list[bytes] = []
    thread = threading.Thread(target=_exchange, args=(owner, body, patience, answers), daemon=True)
    thread.start()
    thread.join(min(patience, LONGEST_S))
    return answers[0] if answers else b""


def _exchange(owner: dict[str, Any], body: bytes, patience: float, answers: list[bytes]) -> None:
    from http.client import HTTPConnection, HTTPException

    from graphmem.hooks.here import is_here
    from graphmem.runtime.identity import INDEX_HEADER

    if not is_here(owner["address"]):
        return
    host, _, port = owner["address"].removeprefix("http://").rpartition(":")
    connection = HTTPConnection(host.strip("[]"), int(port), timeout=patience)
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close", INDEX_HEADER: owner["index_id"]}
    if owner.get("token"):
        headers["Authorization"] = f"Bearer {owner['token']}"
    try:
        connection.request("POST", "/graphql", body, headers)
        answer = connection.getresponse()
        if answer.status == 200 and answer.getheader(INDEX_HEADER) == owner["index_id"]:
            answers.append(answer.read(1 << 20))
    except (OSError, HTTPException, ValueError):
        return  # no server, or another program
    finally:
        connection.close()


def _say(sentence: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(sentence + "\n")


def run(arguments: list[str]) -> None:
    """Run `graphmem hook`: print the text for the agent, and exit with 0.

    The process does not wait for its threads.
    """
    try:
        output = main(arguments)
        if output and sys.stdout is not None:
            sys.stdout.buffer.write(output.encode("utf-8", "replace") + b"\n")
            sys.stdout.buffer.flush()
    except BaseException as error:  # noqa: BLE001 -- an agent must never be stopped by its memory, whatever happened
        if os.environ.get("GRAPHMEM_LOG_LEVEL") == "debug":
            _say(f"graphmem hook: {type(error).__name__}: {error}")
    finally:
        os._exit(0)


if __name__ == "__main__":
    run(sys.argv[1:])
