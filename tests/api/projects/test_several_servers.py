"""Several servers of one directory, whose projects move from one to another."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import time
import uuid
from urllib.parse import urlsplit

import httpx
import pytest
import websockets

from commands import environ
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import GraphMemError
from graphmem.security.people import People
from hosted import SHOP, SITE, indexed
from server_processes import Servers, newer_graphmem

__all__ = ["environ"]


@pytest.fixture(params=["file", "postgresql"])
def servers(request, tmp_path, environ):
    store = request.getfixturevalue("postgres").make(f"d{uuid.uuid4().hex}") if request.param == "postgresql" else ""
    made = Servers(tmp_path / "srv", environ, store)
    (tmp_path / "srv").mkdir()
    try:
        yield made
        for said in made.end():
            assert "Traceback" not in said
    finally:
        for process in made.running.values():
            process.kill()
            process.communicate()


@pytest.fixture
def token(servers):
    people = People(servers.folder)
    code = people.invite("ann", project="shop")
    people.role("site", "write", login="ann")
    yield people.redeem(code, "laptop")[1]
    people.close()


def _remote(address, token, project="shop"):
    return RemoteGraphMem(f"{address}/p/{project}", token)


def test_each_server_answers_for_a_project_that_another_one_has_open(tmp_path, servers, token):
    first, second = servers.start(), servers.start()
    with indexed(tmp_path / "shop", SHOP) as own, indexed(tmp_path / "site", SITE) as other:
        own.push_index(f"{first}/p/shop", token)
        other.push_index(f"{second}/p/site", token)
    memory = _remote(second, token).remember("Prices are whole cents.", type="decision").memory
    for address in (first, second):
        assert _remote(address, token).impact(["rounded"]).total == 2
        assert _remote(address, token).memory(memory.id).content == "Prices are whole cents."
        hub = RemoteGraphMem(address, token)
        assert hub.search_projects("rounded cart").projects == ["shop", "site"]
        assert hub.search_projects("rounded cart").notes == []
        found = hub.impact_projects("rounded", "shop")
        assert {one.project for one in found.reached} == {"site"}, "the route is followed into a project of another server"
    with pytest.raises(GraphMemError, match="token"):
        _remote(second, "gp_0_wrong").impact(["rounded"])


def test_a_project_of_a_killed_server_is_opened_by_the_next_one_that_is_asked(tmp_path, servers, token):
    first, second, third = (servers.start() for _ in range(3))
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(f"{first}/p/shop", token)
        kept = [_remote(second, token).remember(f"Rule {n} of the cart.", type="decision").memory.id for n in range(5)]
        servers.kill(first)
        begun = time.monotonic()
        for address in (second, third):
            assert {one.id for one in _remote(address, token).memories().memories} >= set(kept)
        assert time.monotonic() - begun < 15
        (tmp_path / "shop" / "shop" / "price.py").write_text(SHOP["shop/price.py"] + "\n\ndef more():\n    return rounded(1)\n")
        own.index(tmp_path / "shop")
        assert own.push_index(f"{third}/p/shop", token).sent == 1
    assert _remote(second, token).impact(["rounded"]).total == 3


def test_a_subscription_reaches_the_server_that_changes_the_project(tmp_path, servers, token):
    operator = "of the operator, who sees all memories"
    first, second = (servers.start(GRAPHMEM_TOKEN=operator) for _ in range(2))
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(f"{first}/p/shop", token)

    async def heard(address, writes):
        place = f"ws{address.removeprefix('http')}/p/shop/graphql"
        headers = {"authorization": f"Bearer {operator}"}
        async with websockets.connect(place, additional_headers=headers, subprotocols=["graphql-transport-ws"], proxy=None) as socket:
            await socket.send(json.dumps({"type": "connection_init"}))
            assert json.loads(await socket.recv())["type"] == "connection_ack"
            query = "subscription { memoryChanged { changed } }"
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": query}}))
            await asyncio.sleep(0.5)
            await asyncio.to_thread(_remote(writes, token).remember, f"A cart of {uuid.uuid4().hex} expires.", type="decision")
            return json.loads(await asyncio.wait_for(socket.recv(), 20))

    for listens, writes in ((second, first), (first, second)):
        assert len(asyncio.run(heard(listens, writes))["payload"]["data"]["memoryChanged"]["changed"]) == 1


@pytest.mark.parametrize("servers", ["postgresql"], indirect=True)
def test_a_server_with_a_newer_schema_joins_while_older_ones_answer(tmp_path, servers, token):
    first, second = servers.start(), servers.start()
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(f"{first}/p/shop", token)
    newer = servers.start(**newer_graphmem(tmp_path / "newer"))
    assert _remote(newer, token).impact(["rounded"]).total == 2, "the first server still has it open"
    servers.kill(first)
    assert _remote(newer, token).impact(["rounded"]).total == 2, "the newer server opens and migrates it"
    assert _remote(second, token).impact(["rounded"]).total == 2, "the older one passes the question on"
    servers.kill(newer)
    with pytest.raises(GraphMemError, match="newer graphmem"):
        _remote(second, token).impact(["rounded"])
    again = servers.start(PYTHONPATH=str(tmp_path / "newer"))
    assert _remote(second, token).impact(["rounded"]).total == 2, "of a project that the newer server has not opened"
    assert _remote(again, token).remember("A cart expires.", type="decision").memory.content == "A cart expires."


def test_a_caller_cannot_pretend_to_be_a_server(servers, token):
    address = servers.start()
    forged = {"graphmem-peer": "wrong", "graphmem-host": "evil.example", "graphmem-client": "10.0.0.1 1"}
    found = httpx.post(f"{address}/graphql", json={"query": "{ projects { projects { name } } }"}, headers=forged, trust_env=False)
    assert found.status_code == 401
    [record] = (servers.folder / ".servers").glob("*.json")
    assert record.stat().st_mode & 0o077 == 0
    assert servers.end() == [""]
    servers.running.clear()
    assert list((servers.folder / ".servers").glob("*.json")) == []


@pytest.mark.parametrize("servers", ["file"], indirect=True)
def test_a_server_that_ends_is_not_found_while_it_finishes_requests(servers):
    address = servers.start()
    place = (urlsplit(address).hostname, urlsplit(address).port)
    with socket.create_connection(place) as unfinished:
        unfinished.sendall(b"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{")
        assert httpx.get(f"{address}/health", trust_env=False).status_code == 200
        servers.running[address].send_signal(signal.SIGTERM)
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(place):
                    break
        assert servers.running[address].poll() is None
        assert list((servers.folder / ".servers").glob("*.json")) == [], "another process may have its port now"
