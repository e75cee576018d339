"""Servers of one directory: which other server has a project open, and which files are believed."""

from __future__ import annotations

import json
import socket

import graphmem
from graphmem.runtime.network.pushes import PROJECT_NAME
from graphmem.server.peers import FOLDER, Peers
from peer_process import peer


def _record(folder):
    [found] = (folder / FOLDER).glob("*.json")
    return found


def test_a_killed_server_is_not_returned_and_its_file_is_deleted(tmp_path):
    peers = Peers(tmp_path)
    with peer(tmp_path) as other:
        holding = peers.holding(tmp_path / "shop/.graphmem")
        assert holding is not None
        assert holding.pid == other.process.pid
        other.kill()
        assert peers.holding(tmp_path / "shop/.graphmem") is None, "another process may have its port now"
        assert list((tmp_path / FOLDER).glob("*.json")) == []


def test_a_process_with_the_number_of_a_killed_server_is_not_returned(tmp_path):
    with peer(tmp_path):
        path = _record(tmp_path)
        path.write_text(json.dumps({**json.loads(path.read_text()), "started": "another boot:1"}))
        assert Peers(tmp_path).holding(tmp_path / "shop/.graphmem") is None


def test_a_file_with_an_address_of_another_machine_is_ignored(tmp_path):
    with peer(tmp_path):
        path = _record(tmp_path)
        path.write_text(json.dumps({**json.loads(path.read_text()), "address": "http://192.0.2.7:80"}))
        assert Peers(tmp_path).holding(tmp_path / "shop/.graphmem") is None


def test_files_of_a_machine_whose_name_begins_with_this_ones_are_left(tmp_path):
    theirs = tmp_path / FOLDER / f"{socket.gethostname()}-2-17.json"
    theirs.parent.mkdir()
    theirs.write_text(json.dumps({"address": "http://127.0.0.1:8420", "pid": 17, "started": "their boot:1", "token": "", "version": "1"}))
    peers = Peers(tmp_path)
    peers.join("http://127.0.0.1:8421", "secret")
    assert peers.of_other_versions() == []
    peers.leave()
    assert list(theirs.parent.iterdir()) == [theirs]


def test_servers_of_other_versions_are_running_ones(tmp_path, monkeypatch):
    peers = Peers(tmp_path)
    with peer(tmp_path, "shop") as stopped, peer(tmp_path, "site") as killed, peer(tmp_path, "till") as running:
        monkeypatch.setattr(graphmem, "__version__", "99.0")
        stopped.stop()
        killed.kill()
        assert [one.pid for one in peers.of_other_versions()] == [running.process.pid]


def test_no_project_can_be_pushed_into_the_directory_of_the_files():
    assert PROJECT_NAME.fullmatch(FOLDER) is None
