"""Starting and ending a server process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest

from graphmem.api import serve
from graphmem.api.app import build_app
from graphmem.errors import SettingsError

PROGRAM = """
import sys
from graphmem.api import serve
from graphmem.api.app import build_app
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

with GraphMem.open(sys.argv[1], settings=Settings(embedder="none")) as memory:
    serve.run(build_app(memory), "127.0.0.1", 0, lambda host, port: print(port, flush=True))
print("closed", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_within_five_seconds_with_streams_open_and_the_index_closed(tmp_path, number):
    process = subprocess.Popen([sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path / "index")], stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline())
        assert port > 0
        ended = threading.Event()

        def follow():
            with (
                httpx.Client(trust_env=False, timeout=30) as http,
                http.stream(
                    "POST",
                    f"http://127.0.0.1:{port}/graphql",
                    json={"operationName": "IndexProgress"},
                    headers={"accept": "text/event-stream"},
                ) as response,
            ):
                streaming.set()
                last = [line for line in response.iter_lines() if line]
            if last[-2] == "event: complete":
                ended.set()

        streaming = threading.Event()
        listener = threading.Thread(target=follow)
        listener.start()
        assert streaming.wait(10)
        began = time.monotonic()
        process.send_signal(number)
        out, _ = process.communicate(timeout=10)
        assert time.monotonic() - began < 5
        listener.join(5)
        assert process.returncode == 0
        assert out == "closed\n"
        assert ended.is_set()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_a_port_that_is_taken_is_refused_in_a_sentence(service):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1 port {port}.*--port"):
            serve.Server(build_app(service), "127.0.0.1", port)


def test_an_address_that_is_not_ours_is_refused_in_a_sentence(service):
    with pytest.raises(SettingsError, match="--host"):
        serve.Server(build_app(service), "192.0.2.1", 0)


def test_serving_imports_neither_a_database_nor_a_model():
    program = (
        "import sys, graphmem.api.app, graphmem.api.serve; print([m for m in ('kuzu', 'torch', 'pyarrow', 'numpy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**os.environ})
    assert found.stdout.strip() == "[]"
