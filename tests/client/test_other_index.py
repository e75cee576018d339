"""A client is answered by its own index, whatever took over its address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.client.remote import RemoteGraphMem
from graphmem.client.standing import Standing
from graphmem.errors import WrongIndexError
from graphmem.location import Location
from graphmem.project.graphmem import GraphMem
from graphmem.runtime.identity import INDEX_HEADER, index_id
from graphmem.server import owner
from graphmem.settings import Settings

SETTINGS = Settings(embedder="none", workers=1, max_db_gb=1)


@contextmanager
def serving(service: GraphMem, port: int = 0) -> Iterator[int]:
    """A server in a thread; the port it listens on."""
    server = Server(build_app(service), "127.0.0.1", port)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield server.port
    finally:
        server.stop()
        thread.join(10)


@pytest.fixture
def projects(tmp_path: Path) -> Iterator[tuple[GraphMem, GraphMem]]:
    """Two open indexes."""
    with GraphMem.open(tmp_path / "mine", settings=SETTINGS) as mine, GraphMem.open(tmp_path / "other", settings=SETTINGS) as other:
        yield mine, other


def test_an_address_that_another_index_took_over_is_refused_before_anything_is_done(projects) -> None:
    mine, other = projects
    with serving(mine) as port:
        client = RemoteGraphMem(f"http://127.0.0.1:{port}")
        client.remember("Mine knows the way.")
    with serving(other, port):
        for ask in (
            lambda: client.remember("This is for mine alone."),
            client.project,
            lambda: list(client.export()),
            client.memories,
        ):
            with pytest.raises(WrongIndexError, match="repeat the command"):
                ask()
    assert other.memories().total == 0
    with serving(mine, port):
        client.remember("This one arrives.")
    assert mine.memories().total == 2


def test_a_client_that_expects_an_index_takes_no_answer_without_its_name(projects, tmp_path: Path) -> None:
    mine, other = projects
    with serving(other) as port:
        for expected in (mine.index_id, "no such index"):
            with pytest.raises(WrongIndexError):
                RemoteGraphMem(f"http://127.0.0.1:{port}", index=expected).project()
        assert RemoteGraphMem(f"http://127.0.0.1:{port}", index=index_id(tmp_path / "other")).project().state.files == 0


def test_every_answer_names_its_index_and_a_request_for_another_is_misdirected(projects) -> None:
    mine, _ = projects
    with serving(mine) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
        for path in ("/health", "/ready", "/metrics", "/", "/graphql", "/export.jsonl", "/nothing-here"):
            assert http.get(path).headers[INDEX_HEADER] == mine.index_id, path
            refused = http.get(path, headers={INDEX_HEADER: "1-2"})
            assert refused.status_code == 421, path
            assert refused.json()["errors"][0]["extensions"]["error"] == "WrongIndexError"


def test_a_window_whose_server_another_project_replaced_finds_its_own_again(projects, tmp_path: Path) -> None:
    mine, other = projects
    location = Location(tmp_path / "mine", None)
    with serving(mine) as port:
        owner.publish(location.owner_file, f"http://127.0.0.1:{port}", "", "0")
        window = Standing(location)
        window.service().remember("Said in the first window.")
    with serving(other, port), serving(mine) as found:
        owner.publish(location.owner_file, f"http://127.0.0.1:{found}", "", "0")
        window.service().remember("Said after the change.")
    assert (mine.memories().total, other.memories().total) == (2, 0)
