"""Agents and editors start processes: several windows, one owner, nothing but the protocol on standard output."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
import starlette
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from graphmem.server import owner

TIME_LIMIT = 90


@pytest.fixture
def project(tmp_path):
    shutil.copytree(Path(starlette.__file__).parent, tmp_path / "project" / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "project" / ".git").mkdir()  # where a project begins; an empty one is not a repository, and is read as a folder
    yield tmp_path / "project"
    serving = owner.read(tmp_path / "project" / ".graphmem" / "owner.json")
    if serving is not None and owner.is_running(serving):
        os.kill(serving.pid, signal.SIGTERM)
        deadline = time.monotonic() + 20
        while owner.is_running(serving) and time.monotonic() < deadline:
            time.sleep(0.05)


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    return {**kept, "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1"}


def window(project):
    return StdioServerParameters(command=sys.executable, args=["-m", "graphmem", "mcp", str(project)], env=environment())


async def until_indexed(client, **arguments):
    """The owner of a project that was never indexed answers that it is at it, until it is done."""
    said = "nothing"
    with anyio.move_on_after(TIME_LIMIT):
        while True:
            answer = await client.call_tool("impact", arguments)
            said = answer.content[0].text
            if not answer.is_error:
                return said
            await anyio.sleep(0.2)
    raise AssertionError(f"no answer in {TIME_LIMIT} s; the last was: {said}")


def test_two_windows_opened_at_once_share_one_owner_that_indexes_the_project(project, servers_of):
    said = []

    async def one():
        async with Client(stdio_client(window(project))) as client:
            said.append(await until_indexed(client, targets=["starlette/routing.py:compile_path"]))

    async def both():
        async with anyio.create_task_group() as group:
            group.start_soon(one)
            group.start_soon(one)

    anyio.run(both)
    # One may have been answered while the words were still being written, and says so in its line about the index.
    first, second = ([line for line in one.splitlines() if not line.startswith("index:")] for one in said)
    assert first == second
    serving = owner.find(project / ".graphmem" / "owner.json")
    assert serving is not None
    assert servers_of(project) == {serving.pid}


@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_window_starts_the_server_of_an_indexed_project_before_a_tool_is_called_because_hooks_need_it(project, is_indexed):
    if is_indexed:
        subprocess.run([sys.executable, "-m", "graphmem", "index", str(project)], env=environment(), check=True, capture_output=True)

    async def run():
        async with Client(stdio_client(window(project))) as client:
            await client.list_tools()
            with anyio.move_on_after(TIME_LIMIT if is_indexed else 3):
                while owner.read(project / ".graphmem" / "owner.json") is None:
                    await anyio.sleep(0.1)

    anyio.run(run)
    assert (owner.read(project / ".graphmem" / "owner.json") is not None) == is_indexed


def test_a_window_finds_a_new_owner_when_the_old_one_was_killed(project):
    async def ask():
        async with Client(stdio_client(window(project))) as client:
            before = await until_indexed(client, targets=["starlette/routing.py:compile_path"])
            os.kill(owner.read(project / ".graphmem" / "owner.json").pid, signal.SIGKILL)
            return before, await until_indexed(client, targets=["starlette/routing.py:compile_path"])

    before, after = anyio.run(ask)
    assert before.splitlines()[0] == after.splitlines()[0]


def test_a_window_answers_a_file_with_what_it_defines(project):
    """The tools of a window ask the owner over HTTP, which offers fewer operations than an index in the process."""

    async def ask():
        async with Client(stdio_client(window(project))) as client:
            await until_indexed(client, targets=["starlette/routing.py:compile_path"])
            return await client.call_tool("get", {"refs": ["starlette/routing.py"], "source": False})

    answer = anyio.run(ask)
    said = answer.content[0].text
    assert not answer.is_error, said
    assert "compile_path" in next(line for line in said.splitlines() if line.startswith("members: "))


def test_each_request_is_answered_also_one_with_half_an_emoji_or_none_that_can_be_read(project):
    command = [sys.executable, "-m", "graphmem", "mcp", str(project)]
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    half = {"name": "forget\ud83d", "arguments": {"id": "\ud83d\ude00"}}
    with subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as window:

        def asked(line):
            window.stdin.write((line if isinstance(line, str) else json.dumps({"jsonrpc": "2.0", **line})).encode() + b"\n")
            window.stdin.flush()
            ready, _, _ = select.select([window.stdout], [], [], TIME_LIMIT)
            return json.loads(window.stdout.readline()) if ready else "no answer"

        assert asked({"id": 0, "method": "initialize", "params": client})["id"] == 0
        assert asked({"id": 1, "method": "tools/call", "params": half})["result"]["content"][0]["text"].startswith(
            "unknown tool 'forget\ufffd'"
        )
        assert asked({"id": 2})["error"]["message"].startswith("the message is not a request of JSON-RPC 2.0; give")
        assert asked({"id": 3, "method": "ping", "params": 5})["id"] == 3
        for broken in ("hello", "[" * 100_000, '{"id": ' + "9" * 5_000 + "}"):
            assert asked(broken)["error"]["message"].startswith("the message is not valid JSON")
        assert asked({"id": 4, "method": "ping"})["result"] == {}


@pytest.mark.parametrize("idle_s", ["1", "0.01"])
def test_an_owner_started_for_a_client_ends_when_nobody_asks_after_its_first_index_run(project, idle_s):
    command = [sys.executable, "-m", "graphmem", "serve", str(project), "--port", "0", "--quiet", "--end-when-idle", idle_s]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    assert not (project / ".graphmem" / "owner.json").exists()


def test_the_server_answers_agents_over_http_behind_its_own_checks(project):
    command = [sys.executable, "-m", "graphmem", "serve", str(project), "--port", "0", "--json"]
    with subprocess.Popen(
        command, env={**environment(), "GRAPHMEM_TOKEN": "secret"}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            text = ""
            while not text.rstrip().endswith("}"):
                text += process.stdout.readline()
            address = json.loads(text)["address"]

            async def ask(headers):
                import httpx2

                async with (
                    httpx2.AsyncClient(headers=headers, timeout=TIME_LIMIT) as http,
                    Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
                ):
                    return await until_indexed(client, targets=["starlette/routing.py:compile_path"])

            assert "compile_path" in anyio.run(ask, {"authorization": "Bearer secret"})
            with pytest.raises(BaseException) as refused:  # noqa: PT011 - a group of whatever the transport makes of 401
                anyio.run(ask, {})
            assert not isinstance(refused.value, KeyboardInterrupt)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(TIME_LIMIT) == 0
