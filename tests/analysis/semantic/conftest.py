"""The index of networkx that other rooms use too, shared by the tests of the semantic layer."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import graphmem
from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.client.remote import RemoteGraphMem
from graphmem.project.graphmem import GraphMem
from graphmem.server import owner
from graphmem.settings import Settings
from made_once import copied_index, empty_index
from trees import NETWORKX


@pytest.fixture(scope="session")
def indexed(tmp_path_factory):
    """networkx, indexed and open."""
    settings = Settings(embedder="none")
    index = copied_index(tmp_path_factory, "networkx", NETWORKX, settings)
    with GraphMem.open(index, repo=NETWORKX, settings=settings) as service:
        yield service


@pytest.fixture(scope="session")
def small_tree(tmp_path_factory) -> Path:
    """A part of networkx that is indexed in two seconds. Not to be changed."""
    root = tmp_path_factory.mktemp("small")
    for part in ("classes", "drawing", "linalg", "readwrite", "utils"):
        shutil.copytree(NETWORKX / part, root / "networkx" / part, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    shutil.copy(NETWORKX / "exception.py", root / "networkx" / "exception.py")
    return root


@pytest.fixture
def repository(tmp_path):
    """Write files and commit them: repository({"a.py": "…"}) gives the folder."""
    root = tmp_path / "repository"
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")

    def commit(files: dict[str, str], author: str = "Test") -> Path:
        if not root.exists():
            root.mkdir()
            subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        subprocess.run(["git", "add", "-A"], cwd=root, check=True)
        subprocess.run(
            ["git", *who, "commit", "-q", "-m", "a change", "--author", f"{author} <{author}@mail.example>"], cwd=root, check=True
        )
        return root

    return commit


@pytest.fixture
def project(tmp_path):
    """Make and index a small project: project({"a.py": "…"})."""
    opened = []

    def make(files: dict[str, str]) -> GraphMem:
        root = tmp_path / "project"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        service = GraphMem.open(empty_index(tmp_path / "db"))
        opened.append(service)
        service.index(root)
        return service

    yield make
    for service in opened:
        service.close()


@contextmanager
def _serving(service: GraphMem) -> Iterator[RemoteGraphMem]:
    server = Server(build_app(service), "127.0.0.1", 0)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(20)
        yield RemoteGraphMem(f"http://127.0.0.1:{server.port}")
    finally:
        server.stop()
        thread.join(10)


@pytest.fixture(scope="session")
def serving():
    """`with serving(service) as client:`."""
    return _serving


@pytest.fixture(scope="session")
def served(small_tree, tmp_path_factory):
    """(service, client of a server over it, folder of its index, which says where the server is)."""
    folder = tmp_path_factory.mktemp("served")
    with GraphMem.open(folder) as service:
        service.index(small_tree)
        with _serving(service) as client:
            mine = owner.publish(folder / "owner.json", client.address, "", graphmem.__version__)
            yield service, client, folder
            owner.withdraw(folder / "owner.json", mine)
