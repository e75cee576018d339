"""A client is answered by its own index, whatever was copied, moved or taken over."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.client.connecting import RemoteGraphMem
from graphmem.client.standing import Standing
from graphmem.errors import WrongIndexError
from graphmem.project.graphmem import GraphMem
from graphmem.runtime.identity import INDEX_HEADER, index_id
from graphmem.server import owner
from graphmem.settings import Location, Settings

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


def test_a_copy_of_a_served_project_is_its_own_project(graphmem, serve, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    server = serve(shop, "--no-index").wait_until_it_answers()
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)
    assert (copy / ".graphmem" / "owner.json").exists(), "the copy says who serves the original"
    kept = graphmem("remember", "Only the copy knows that the till closes at nine.", cwd=copy)
    assert kept.code == 0, kept.said
    (copy / "shop" / "price.py").write_text("def doubled(value):\n    return 2 * value\n")
    assert graphmem("index", "-q", cwd=copy).code == 0
    assert graphmem("symbol", "doubled", cwd=copy).code == 0
    assert "till closes" in graphmem("memory", "list", "--json", cwd=copy).out
    assert json.loads(graphmem("memory", "list", "--json", cwd=shop).out)["memories"] == []
    assert graphmem("symbol", "doubled", cwd=shop).code != 0
    assert owner.find(shop / ".graphmem" / "owner.json").address == server.address


def test_a_hook_of_a_copy_does_not_speak_to_the_original(serve, graphmem, shop: Path, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    serve(shop, "--no-index").wait_until_it_answers()
    copy = shop.with_name("copy")
    shutil.copytree(shop, copy)

    def hook(root: Path, session: str) -> str:
        told = {"hook_event_name": "SessionStart", "session_id": session, "source": "startup", "cwd": str(root)}
        command = [sys.executable, "-P", "-m", "graphmem", "hook", "claude-code"]
        return subprocess.run(command, input=json.dumps(told), env=dict(environ), capture_output=True, text=True, check=True).stdout

    hook(copy, "of-the-copy")
    hook(shop, "of-the-original")
    address = owner.find(shop / ".graphmem" / "owner.json")
    with RemoteGraphMem(address.address, address.token) as client:
        assert [one.id for one in client.sessions().sessions] == ["of-the-original"]


def test_a_project_that_was_moved_while_it_was_served_goes_on_where_it_is(graphmem, serve, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    server = serve(shop, "--no-index").wait_until_it_answers()
    assert graphmem("remember", "Before the move the till closed at nine.", cwd=shop).code == 0
    assert graphmem("index", "-q", cwd=shop).code == 0  # waits until the memory is in the graph
    moved = shop.with_name("moved")
    shop.rename(moved)
    (shop / ".graphmem").mkdir(parents=True)  # where the server would write to
    for said in ("After the move it closes at ten.", "And on Sundays never."):
        kept = graphmem("remember", said, cwd=moved)
        assert kept.code == 0, kept.said
    listed = json.loads(graphmem("memory", "list", "--json", cwd=moved).out)["memories"]
    assert len(listed) == 3
    assert server.process.wait(30) == 1
    assert "was moved or deleted" in server.process.stderr.read()
    assert graphmem("verify", cwd=moved).code == 0
    assert list((shop / ".graphmem").iterdir()) == [], "nothing was written to the old place"


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
