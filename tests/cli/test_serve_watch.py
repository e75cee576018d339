"""A server follows the files of what it serves."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from graphmem.cli.serving import FIRST_ANSWERS_S
from graphmem.client.remote import RemoteGraphMem

ADDED = "from shop.cart import Cart\n\n\ndef fresh_total(cart: Cart) -> int:\n    return len(cart.lines)\n"


def until(condition, what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def test_every_command_sees_an_edit_shortly_after_it_was_saved(graphmem, serve, shop: Path) -> None:
    server = serve(shop).wait_until_it_answers()
    remote = RemoteGraphMem(server.address)
    until(lambda: remote.state().state == "fresh", "the server did not settle")
    (shop / "shop" / "fresh.py").write_text(ADDED, encoding="utf-8")
    until(lambda: remote.symbols("fresh_total")[1] == 1, "the new file was not indexed")
    assert graphmem("symbol", "fresh_total", "-q", cwd=shop).out.strip() == "shop/fresh.py:fresh_total"
    (shop / "shop" / "fresh.py").unlink()
    until(lambda: remote.symbols("fresh_total")[1] == 0, "the removed file is still there")
    assert json.loads(graphmem("index", shop, "--json").out)["mode"] == "unchanged"
    assert server.stop(signal.SIGTERM) == 0


def test_no_watch_leaves_changes_to_index_runs(graphmem, serve, shop: Path) -> None:
    server = serve(shop, "--no-watch").wait_until_it_answers()
    remote = RemoteGraphMem(server.address)
    until(lambda: remote.state().state == "fresh", "the server did not settle")
    (shop / "shop" / "fresh.py").write_text(ADDED, encoding="utf-8")
    time.sleep(1.5)
    assert remote.symbols("fresh_total")[1] == 0
    assert json.loads(graphmem("index", shop, "--json").out)["changed"] == 1
    assert remote.symbols("fresh_total")[1] == 1


def test_a_client_that_started_the_server_gets_its_first_answers_before_files_are_checked(graphmem, serve, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    (shop / "shop" / "fresh.py").write_text(ADDED, encoding="utf-8")
    server = serve(shop, "--end-when-idle", "60").wait_until_it_answers()
    remote = RemoteGraphMem(server.address)
    begun = time.monotonic()
    while remote.symbols("fresh_total")[1] == 0:
        assert time.monotonic() < begun + 60, "the new file was not indexed"
        time.sleep(0.1)
    assert time.monotonic() - begun > FIRST_ANSWERS_S / 2, "the index run competed with the first answers"
    assert server.stop(signal.SIGTERM) == 0
