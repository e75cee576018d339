"""Requests that one server passes to another: what is passed, and what ends the wait for an answer."""

from __future__ import annotations

import asyncio
import dataclasses
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from graphmem.api.projects.forwarding import HOST_HEADER, forward, passed_on
from graphmem.api.projects.hub_service import HubService
from graphmem.api.projects.rights import PeopleRights
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import OwnerUnreachableError
from graphmem.location import DATABASE
from graphmem.security.access import FULL, current_caller
from graphmem.security.people import People
from graphmem.security.person_keys import PersonKeys
from graphmem.security.tokens import Keys
from graphmem.server.hosting import Hosting
from graphmem.server.peers import Peers
from hosted import SETTINGS, SHOP, hosted, indexed
from peer_process import peer


def _get(server, **headers):
    return httpx.get(f"{server.project('shop')}/health", headers=headers, trust_env=False, timeout=20)


def test_an_operation_that_takes_long_is_waited_for(tmp_path):
    with peer(tmp_path, delay_s=2.5), hosted(tmp_path) as server:
        assert _get(server).text == "ok"


def test_an_answer_that_is_passed_on_has_one_date(tmp_path):
    with peer(tmp_path), hosted(tmp_path) as server:
        [date] = _get(server).headers.get_list("date")
        assert "1970" not in date


def test_a_request_for_a_stopped_server_is_refused_before_it_is_sent(tmp_path):
    with peer(tmp_path) as other, hosted(tmp_path) as server:
        other.stop()
        begun = time.monotonic()
        found = _get(server)
        assert time.monotonic() - begun < 10
        assert f"kill -CONT {other.process.pid}" in found.text


def test_a_request_is_refused_when_the_server_stops_before_it_answers(tmp_path):
    with peer(tmp_path, delay_s=600) as other, hosted(tmp_path) as server, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(_get, server)
        other.wait()
        other.stop()
        assert f"kill -CONT {other.process.pid}" in asked.result(20).text


def test_a_search_of_several_projects_leaves_out_a_stopped_server(tmp_path):
    with peer(tmp_path) as other, hosted(tmp_path) as server:
        other.stop()
        found = RemoteGraphMem(server.address).search_projects("cart")
    assert found.projects == []
    assert f"kill -CONT {other.process.pid}" in found.notes[0]


def test_several_hosts_of_a_request_are_passed_on():
    scope = {"type": "http", "headers": [(HOST_HEADER, b"localhost"), (HOST_HEADER, b"evil.example")]}
    assert passed_on(scope)["headers"] == [(b"host", b"localhost"), (b"host", b"evil.example")]


def test_an_unexpected_error_after_the_answer_is_raised(tmp_path):
    async def receive():
        try:
            await asyncio.sleep(60)
        finally:
            raise ValueError("a defect")

    async def send(message):
        sent.append(message["type"])

    sent = []
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
    with peer(tmp_path):
        other = Peers(tmp_path).holding(tmp_path / "shop/.graphmem")
        with pytest.raises(ValueError, match="a defect"):
            asyncio.run(forward(other, scope, receive, send))
    assert sent == ["http.response.start", "http.response.body", "http.response.body"]


def test_only_the_operator_is_served_with_the_secret_of_another_server(tmp_path):
    people, hosting, asked = People(tmp_path), Hosting(tmp_path, SETTINGS), []

    def remote(address, credential):
        asked.append(credential)
        raise OwnerUnreachableError("not asked in this test", address=address)

    token = people.redeem(people.invite("ann", project="shop"), "laptop")[1]
    ann = PersonKeys(people, "", Keys()).access(f"Bearer {token}")
    service = HubService(hosting, PeopleRights(people, Keys()), remote)
    notes = []
    try:
        with peer(tmp_path):
            for one in (FULL, ann, dataclasses.replace(ann, credential="")):
                current_caller.set(one)
                notes.append(service.search_projects("cart").notes)
    finally:
        current_caller.set(FULL)
        hosting.close()
        people.close()
    assert asked == ["secret of the peer", token]
    assert "accepts only requests with your own token" in notes[2][0]


def test_a_search_of_several_projects_waits_for_a_project_that_moves(tmp_path):
    holder = "import sys, time; from pathlib import Path; from graphmem.store.file.lock import DatabaseLock\n"
    holder += "lock = DatabaseLock(Path(sys.argv[1]), 'kuzu', shared=False); print(flush=True); time.sleep(2)"
    with hosted(tmp_path / "srv", idle_s=0.2) as server:
        with indexed(tmp_path / "shop", SHOP) as own:
            own.push_index(server.project("shop"), "")
        server.wait_until_closed("shop")
        command = [sys.executable, "-c", holder, str(tmp_path / "srv/shop/.graphmem" / DATABASE)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as moving:
            moving.stdout.readline()
            found = RemoteGraphMem(server.address).search_projects("rounded")
            assert (found.projects, found.notes) == (["shop"], [])
