"""`graphmem hook` as an agent runs it: a process that ends with 0 and says nothing wrong, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from graphmem.hooks import entry
from graphmem.injection.deadlines import DEADLINES_S
from graphmem.injection.experiment import FULL, group_of
from graphmem.project.graphmem import GraphMem
from graphmem.runtime.identity import index_id
from graphmem.server import owner
from graphmem.settings import Settings

AGENTS = ["claude-code", "codex", "cursor", "gemini", "opencode"]


def run(*args: str, given: bytes = b"", cwd: Path | str = "/", environ: dict[str, str] | None = None, timeout: float = 60):
    base = {"PATH": os.environ["PATH"], "HOME": str(cwd)} if environ is None else environ
    return subprocess.run(
        [sys.executable, "-P", "-m", "graphmem", "hook", *args], input=given, cwd=cwd, env=base, capture_output=True, timeout=timeout
    )


def as_bytes(payload: dict) -> bytes:
    return json.dumps(payload).encode()


@pytest.fixture
def answering(tmp_path):
    """A project whose owner is a listener of this test: answering(what it does with a connection)."""
    listener = socket.create_server(("127.0.0.1", 0))
    (tmp_path / ".graphmem").mkdir()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    index = index_id(tmp_path / ".graphmem")
    record = {"address": address, "pid": os.getpid(), "started": "", "token": "", "version": "0", "index_id": index}
    (tmp_path / ".graphmem" / "owner.json").write_text(json.dumps(record), encoding="utf-8")
    closing = threading.Event()
    threads = []

    def start(handle):
        def serve():
            while not closing.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    handle(connection, closing)

        threads.append(threading.Thread(target=serve, daemon=True))
        threads[-1].start()
        return tmp_path

    yield start
    closing.set()
    listener.close()


def test_a_hook_with_a_server_brings_what_is_known(served, payload):
    for attempt in range(5):  # a hook may give up on a busy machine; the server counts what it sent as shown
        one = payload("claude-code", "PostToolUse", served, session_id=f"a-real-process-{attempt}")
        ran = run("claude-code", given=as_bytes(one), cwd=served)
        assert ran.returncode == 0
        if ran.stdout:
            break
    assert "may be read once" in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("agent", AGENTS)
def test_without_a_server_nothing_is_said(agent, tmp_path):
    ran = run(agent, given=as_bytes({"cwd": str(tmp_path), "hook_event_name": "SessionStart", "session_id": "s"}), cwd=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.fixture
def indexed(tmp_path):
    """A project with an index and without a server; a server that a test starts ends with it."""
    (tmp_path / "cart.py").write_text("def total(prices):\n    return sum(prices)\n", encoding="utf-8")
    with GraphMem.open(tmp_path / ".graphmem", repo=tmp_path, settings=Settings(embedder="none")) as opened:
        opened.index(tmp_path)
        opened.pin(opened.remember("Prices are in cents.", "fact").memory.id)
    yield tmp_path
    serving = owner.read(tmp_path / ".graphmem" / "owner.json")
    if serving is not None:
        os.kill(serving.pid, signal.SIGTERM)


def test_the_start_of_a_session_starts_a_missing_server_and_the_first_message_brings_what_the_start_had(indexed):
    with GraphMem.open(indexed / ".graphmem", repo=indexed, settings=Settings(embedder="none")) as opened:
        name = opened.project().name
    session = next(one for one in map(str, range(100)) if group_of(one, name) == FULL)
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(indexed),
        "GRAPHMEM_EMBEDDER": "none",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    start = {"cwd": str(indexed), "hook_event_name": "SessionStart", "session_id": session, "source": "startup"}
    assert run("claude-code", given=as_bytes(start), cwd=indexed, environ=environ).returncode == 0
    deadline = time.monotonic() + 60
    while owner.read(indexed / ".graphmem" / "owner.json") is None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for _ in range(5):  # a hook may give up on a busy machine; what was late comes with the next message
        message = {"cwd": str(indexed), "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "Round the totals."}
        ran = run("claude-code", given=as_bytes(message), cwd=indexed, environ=environ)
        if ran.stdout:
            break
    assert "Prices are in cents." in json.loads(ran.stdout)["hookSpecificOutput"]["additionalContext"]


BAD = {
    "nothing": b"",
    "spaces": b" \n ",
    "no json": b"{'a': 1}",
    "half": b'{"cwd": "/tmp',
    "a list": b"[1, 2]",
    "a number": b"7",
    "no text": b"\xff\xfe\x00{}",
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "wrong types": b'{"cwd": 5, "hook_event_name": [], "session_id": {}, "workspace_roots": {"a": 1}}',
    "nowhere": b'{"cwd": "/does/not/exist", "hook_event_name": "Stop", "session_id": "s"}',
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_bad_input_ends_with_0_and_without_a_word(given, served):
    ran = run("claude-code", given=given, cwd=served)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_ten_megabytes_are_cut_and_taken(served, payload):
    one = payload("claude-code", "PostToolUse-Bash", served, session_id="large", tool_response={"stdout": "x" * (10 << 20), "stderr": ""})
    ran = run("claude-code", given=as_bytes(one), cwd=served)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_request_is_never_larger_than_the_server_takes():
    one = {
        "cwd": "/",
        "hook_event_name": "PostToolUse",
        "tool_response": {"stdout": "ü" * (4 << 20)},
        "tool_input": {"edits": [{"a": '"' * 20_000}] * 300},
    }
    body = entry._body("claude-code", one)
    assert len(body) <= entry.MAX_BODY
    assert json.loads(json.loads(body)["variables"]["payload"])["hook_event_name"] == "PostToolUse"


def test_an_unknown_agent_and_no_agent_end_with_0(served):
    for args in ((), ("emacs",), ("claude-code", "more"), ("--help",)):
        ran = run(*args, given=b'{"session_id": "s"}', cwd=served)
        assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)


def test_no_home_and_an_empty_environment_end_with_0(tmp_path, payload):
    ran = run("codex", given=as_bytes(payload("codex", "Stop", tmp_path)), cwd=tmp_path, environ={})
    assert (ran.returncode, ran.stdout) == (0, b"")
    ran = run("codex", given=as_bytes(payload("codex", "Stop", tmp_path)), cwd=tmp_path, environ={"HOME": "/does/not/exist"})
    assert (ran.returncode, ran.stdout) == (0, b"")


def hang(connection, closing):
    closing.wait(30)


def trickle(connection, closing):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not closing.wait(0.05):
        try:
            connection.sendall(b"X-Wait: a bit more\r\n")
        except OSError:
            return


def nonsense(connection, closing):
    connection.recv(65_536)
    connection.sendall(b"\x00\x01 what?\r\n\r\n")


def refuse(connection, closing):
    connection.recv(65_536)
    connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}")


def something_else(connection, closing):
    connection.recv(65_536)
    body = b'{"data": {"hook": {"output": 7}}}'
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


@pytest.mark.parametrize("handle", [hang, trickle, nonsense, refuse, something_else])
def test_an_owner_that_misbehaves_holds_no_agent_up(handle, answering, payload):
    root = answering(handle)
    ran = run("claude-code", given=as_bytes(payload("claude-code", "PostToolUse", root)), cwd=root, timeout=20)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_an_owner_that_is_gone_is_not_an_owner(tmp_path, payload):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    (tmp_path / ".graphmem").mkdir()
    file = tmp_path / ".graphmem" / "owner.json"
    here = index_id(tmp_path / ".graphmem")
    for content in (
        json.dumps({"address": f"http://127.0.0.1:{port}", "token": "", "index_id": here}),
        "{",
        "[]",
        json.dumps({"address": "ftp://x", "index_id": here}),
        json.dumps({"address": "http://x:y", "index_id": here}),
    ):
        file.write_text(content, encoding="utf-8")
        ran = run("gemini", given=as_bytes(payload("gemini", "AfterTool", tmp_path)), cwd=tmp_path)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_what_a_person_says_is_not_sent_to_another_machine(monkeypatch):
    asked = []
    monkeypatch.setattr(socket, "create_connection", lambda place, *_, **__: asked.append(place))
    for host in ("192.0.2.1", "example.org", "[2001:db8::1]", "127.0.0.1@192.0.2.1"):
        assert entry._ask({"address": f"http://{host}:80", "token": ""}, b"{}", 5) == b""
    assert asked == []


def test_a_reader_that_has_gone_changes_nothing(served, payload):
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "graphmem", "hook", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=served,
    )
    process.stdout.close()
    process.stdin.write(as_bytes(payload("claude-code", "PostToolUse", served, session_id="gone")))
    process.stdin.close()
    assert process.wait(60) == 0


def test_the_index_is_found_where_the_commands_find_it(tmp_path, monkeypatch):
    from graphmem.location import find_project, locate
    from graphmem.settings import load_settings

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("GRAPHMEM_DB", raising=False)
    monkeypatch.delenv("GRAPHMEM_HOME", raising=False)
    root = tmp_path / "shop"
    (root / "src" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()

    def found():
        project = find_project(root / "src" / "deep")
        return str(locate(project, load_settings(project, os.environ), os.environ).data_dir)

    assert found() == entry._data_dirs(str(root / "src" / "deep"))[0] == str(root / ".graphmem")
    (tmp_path / "data" / "graphmem").mkdir(parents=True)
    in_home = Path(entry._data_dirs(str(root))[1])
    in_home.mkdir()
    assert found() == str(in_home)
    (root / "graphmem.toml").write_text('db = "elsewhere"\n', encoding="utf-8")
    assert found() == entry._data_dirs(str(root))[0] == str(root / "elsewhere")
    monkeypatch.setenv("GRAPHMEM_DB", str(tmp_path / "named"))
    assert found() == entry._data_dirs(str(root))[0] == str(tmp_path / "named")


def test_the_way_of_a_hook_imports_nothing_heavy():
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-P", "-m", "graphmem", "hook", "claude-code"],
        input=b'{"cwd": "/"}',
        capture_output=True,
        check=True,
    )
    names = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in ran.stderr.decode().splitlines() if "|" in line}
    assert not names & {
        "typer",
        "rich",
        "strawberry",
        "starlette",
        "kuzu",
        "numpy",
        "httpx",
        "pyarrow",
        "pathlib",
        "dataclasses",
        "http",
        "socket",
    }


def test_an_agent_waits_longer_than_the_server_may_take():
    by_point = {"start": "SessionStart", "prompt": "UserPromptSubmit", "tool": "PostToolUse", "step": "PostToolUse"}
    for point, event in by_point.items():
        assert DEADLINES_S[point] < entry._patience({"hook_event_name": event}) <= entry.LONGEST_S
