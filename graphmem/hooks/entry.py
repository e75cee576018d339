"""`graphmem hook AGENT`: stdin to the running server, its answer to stdout, exit code 0 whatever happens.

Next to nothing of graphmem is imported here and little of the standard library, because an agent waits for this at every step.
The server does the work (`injection.hook_events`). Without a server, or with input that is not JSON, it prints
nothing.
"""

# A run without a server imports nothing it can do without; pathlib alone costs as much as the rest of it.
# ruff: noqa: PTH109, PTH110, PTH111, PTH112, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` costs five milliseconds
if TYPE_CHECKING:
    from typing import Any

MAX_BYTES = 32 << 20  # of stdin; more is read to its end and thrown away
MAX_BODY = 1_000_000  # of a request, which the server bounds
MAX_TEXT = 16_384  # characters of one text; of a longer one both ends are sent
LONGEST_S = 2.5  # for anything
# Seconds to wait for the server, by event: what the moment allows (injection.deadlines) and a little for the way.
PATIENCE_S = {
    "SessionStart": 0.8,
    "sessionStart": 0.8,
    "session.created": 0.8,
    "UserPromptSubmit": 2.3,
    "BeforeAgent": 2.3,
    "beforeSubmitPrompt": 0.4,
    "chat.message": 2.3,
    # An end that is not heard leaves its session open for hours, and nobody waits for anything else by then.
    "SessionEnd": 1.0,
    "sessionEnd": 1.0,
    "session.deleted": 1.0,
}
USUAL_S = 0.3
FOLDER_KEYS = ("cwd", "directory", "worktree")


def main(arguments: list[str]) -> str:
    """One run. Returns what to print; "" for nothing.

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
    found = _owner(_folder(payload))
    if found is None:
        return ""
    body = _body(arguments[0], payload)
    answer = _ask(found, body, _patience(payload))
    data = json.loads(answer) if answer else None
    hook = ((data or {}).get("data") or {}).get("hook") or {}
    output = hook.get("output")
    return output if isinstance(output, str) else ""


def _folder(payload: dict[str, Any]) -> str:
    """Where the agent works."""
    roots = payload.get("workspace_roots")
    for value in (*(payload.get(key) for key in FOLDER_KEYS), *(roots if isinstance(roots, list) else ())):
        if isinstance(value, str) and value and os.path.isdir(value):
            return value
    return os.getcwd()


def _owner(folder: str) -> dict[str, Any] | None:
    """Who serves the index of a project: the content of owner.json, or None. One that came with a copy names another folder."""
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
    """Where its index may be, as `settings.locate` has it."""
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
    root = next((one for mark in (".graphmem", ".git") for one in line if os.path.exists(os.path.join(one, mark))), line[0])
    if _has_settings(root):
        from pathlib import Path

        from graphmem.settings import load_settings, locate

        settings = load_settings(Path(root), os.environ, {})
        return [str(locate(Path(root), settings, os.environ).data_dir)]
    return [os.path.join(root, ".graphmem"), _home_dir(root)]


def _has_settings(root: str) -> bool:
    """Whether the project's own files may say that the index lies elsewhere."""
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


def _patience(payload: dict[str, Any]) -> float:
    event = payload.get("hook_event_name") or payload.get("event")
    return PATIENCE_S.get(event, USUAL_S) if isinstance(event, str) else USUAL_S


def _body(agent: str, payload: dict[str, Any]) -> bytes:
    """The request; long texts cut at both ends, and of what is too long even so only the plain fields."""
    import json

    def request(content: dict[str, Any]) -> bytes:
        variables = {"agent": agent, "payload": json.dumps(content)}
        return json.dumps({"operationName": "Hook", "variables": variables}).encode("ascii")

    body = request(_cut(payload, 0))
    if len(body) > MAX_BODY:
        body = request({key: _cut(value, 0) for key, value in payload.items() if isinstance(value, (str, int, float, bool))})
    return body


def _cut(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        if "private" in value.lower():  # it stays in this process, and a cut would take its end away
            from graphmem.runtime.private_passages import without_private

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
    """The server's answer in time, or b""; the whole exchange takes at most `patience` seconds."""
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
        return  # nobody there, or not one of ours: nothing to say
    finally:
        connection.close()


def _say(sentence: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(sentence + "\n")


def run(arguments: list[str]) -> None:
    """Entry point: prints what is to be injected and ends with 0, without waiting for anything that is still under way."""
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
