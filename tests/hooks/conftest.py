"""Payloads of real agents, and a project with memories behind a server."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest
import starlette

from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.project.graphmem import GraphMem
from graphmem.server import owner
from graphmem.settings import Settings

PAYLOADS = Path(__file__).parent / "payloads"
TOKEN = "the-server-s-own-token"


def _payload(agent: str, event: str, root: Path | str, **changes) -> dict:
    text = (PAYLOADS / agent / f"{event}.json").read_text(encoding="utf-8").replace("{root}", str(root))
    return {**json.loads(text), **changes}


@pytest.fixture(scope="session")
def payload():
    """payload(agent, event, root, **changes): one documented payload."""
    return _payload


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    made = tmp_path_factory.mktemp("hooks") / "project"
    shutil.copytree(Path(starlette.__file__).parent, made / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    (made / "tests").mkdir()
    (made / "tests" / "test_background.py").write_text("def test_nothing_yet():\n    assert True\n")
    return made


@pytest.fixture(scope="module")
def service(root):
    with GraphMem.open(root / ".graphmem", repo=root, settings=Settings(embedder="hashed")) as opened:
        opened.index(root)
        opened.remember("Request.stream() may be read once: a second read raises RuntimeError.", "gotcha", files=["starlette/requests.py"])
        opened.search("warm", kinds=["memory"])
        yield opened


@pytest.fixture(scope="module")
def served(service, root):
    """The project's folder, with a server that says so in owner.json."""
    server = Server(build_app(service), "127.0.0.1", 0)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    assert ready.wait(10)
    published = owner.publish(root / ".graphmem" / "owner.json", f"http://127.0.0.1:{server.port}", TOKEN, "0")
    yield root
    owner.withdraw(root / ".graphmem" / "owner.json", published)
    server.stop()
    thread.join(10)
