"""A server follows the files of what it serves."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

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
