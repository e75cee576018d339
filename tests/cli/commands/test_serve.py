"""One server, many clients: commands are answered by it, answers are the same, a second one is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from graphmem.answers import to_json
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import AmbiguousSymbolError, BadInputError, NotIndexedError, OwnerUnreachableError, SymbolNotFoundError
from graphmem.project.graphmem import GraphMem
from graphmem.server import owner
from graphmem.settings import Settings

QUESTIONS = [
    ["impact", "rounded"],
    ["impact", "rounded", "--json"],
    ["impact", "shop/cart.py", "-q"],
    ["impact", "checkout", "--direction", "dependencies", "--json"],
    ["impact", "--diff", "--json"],
    ["impact", "--diff", "no-such-branch"],
    ["impact", "total"],
    ["impact", "chekout"],
    ["search", "checkout", "--json"],
    ["search", "add prices", "--no-explain"],
    ["symbol", "Price.total", "--source"],
    ["symbol", "Cart", "--json"],
    ["symbol", "--find", "total", "--json"],
    ["path", "checkout", "rounded", "--json"],
    ["path", "rounded", "checkout"],
    ["export"],
]


def test_every_command_answers_the_same_with_and_without_a_server(graphmem, serve, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    alone = [graphmem(*question, cwd=shop) for question in QUESTIONS]
    server = serve(shop, "--no-index").wait_until_it_answers()
    served = [graphmem(*question, cwd=shop) for question in QUESTIONS]
    assert owner.find(shop / ".graphmem" / "owner.json").address == server.address
    for question, one, other in zip(QUESTIONS, alone, served, strict=True):
        assert other.said.splitlines() == one.said.splitlines(), question  # line by line, for a readable difference
        assert other == one, question


def test_the_client_rebuilds_the_very_answers_of_the_service(serve, shop: Path) -> None:
    def asked(memory: GraphMem | RemoteGraphMem) -> list[object]:
        seeds = [symbol.id for symbol in memory.symbols("total")[0]]
        return [
            memory.project().name,
            memory.symbol("Cart", source=True),
            memory.symbols("o", limit=3, offset=2),
            memory.symbols("o", kinds=["class"]),
            memory.files("shop/", limit=2, offset=1),
            memory.impact(["rounded", "Cart.add"], max_depth=3, min_confidence=0.1, limit=2),
            memory.impact("checkout", direction="dependencies", kinds=["CALLS"]),
            memory.impact_of_diff(base="HEAD"),
            memory.path("checkout", "rounded"),
            memory.subgraph(seeds, depth=2),
            memory.search("checkout the cart", limit=4, within=["shop"], kinds=["code"]),
            list(memory.export()),
        ]

    price = shop / "shop" / "price.py"
    with GraphMem.open(shop / ".graphmem", settings=Settings(embedder="none", workers=1)) as memory:
        memory.index(shop)
        price.write_text(price.read_text().replace("value, 2", "value, 3"))
        here = asked(memory)
    server = serve(shop, "--no-index").wait_until_it_answers()
    with RemoteGraphMem(server.address) as remote:
        there = asked(remote)
    for one, other in zip(here, there, strict=True):
        assert to_json(other) == to_json(one)
        assert other == one


def test_the_client_raises_what_the_service_raises(serve, shop: Path) -> None:
    server = serve(shop).wait_until_it_answers()
    with RemoteGraphMem(server.address) as remote:
        with pytest.raises(AmbiguousSymbolError) as ambiguous:
            remote.impact("total")
        assert {one.ref for one in ambiguous.value.candidates} == {"shop/cart.py:Cart.total", "shop/price.py:Price.total"}
        with pytest.raises(SymbolNotFoundError) as unknown:
            remote.symbol("chekout")
        assert "shop/cart.py:checkout" in unknown.value.suggestions
        with pytest.raises(BadInputError):
            remote.impact("checkout", max_depth=1000)
    with pytest.raises(OwnerUnreachableError):
        RemoteGraphMem("http://127.0.0.1:1").project()
    with pytest.raises(BadInputError):
        RemoteGraphMem("127.0.0.1:8420")


def test_indexing_while_a_server_runs_goes_through_it(graphmem, serve, shop: Path) -> None:
    serve(shop, "--no-watch").wait_until_it_answers()
    cart = shop / "shop" / "cart.py"
    cart.write_text(cart.read_text() + "\n\ndef empty(cart: Cart) -> bool:\n    return not cart.lines\n")
    ran = graphmem("index", shop, "--json")
    assert ran.code == 0, ran.said
    run = json.loads(ran.out)
    assert (run["mode"], run["changed"]) == ("incremental", 1)
    assert graphmem("symbol", "empty", "-q", cwd=shop).out.strip() == "shop/cart.py:empty"
    shown = graphmem("index", shop)
    assert "unchanged" in shown.out


def test_a_second_serve_says_where_the_first_one_is(graphmem, serve, shop: Path) -> None:
    server = serve(shop).wait_until_it_answers()
    ran = graphmem("serve", shop)
    assert ran.code == 1
    assert server.address in ran.err
    assert str(server.process.pid) in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert graphmem("impact", "rounded", "-q", cwd=shop).code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_ended_leaves_the_index_to_the_next(graphmem, serve, shop: Path, number: int) -> None:
    server = serve(shop).wait_until_it_answers()
    assert server.stop(number) == 0
    assert not (shop / ".graphmem" / "owner.json").exists()
    assert graphmem("impact", "rounded", "-q", cwd=shop).code == 0


def test_a_second_signal_while_it_ends_changes_nothing(graphmem, serve, shop: Path) -> None:
    server = serve(shop).wait_until_it_answers()
    server.process.send_signal(signal.SIGINT)
    server.process.send_signal(signal.SIGTERM)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) == 0
    assert server.process.stderr is not None
    assert "Traceback" not in server.process.stderr.read()
    assert graphmem("impact", "rounded", "-q", cwd=shop).code == 0


def test_a_server_that_crashed_is_noticed_and_replaced(graphmem, serve, shop: Path) -> None:
    server = serve(shop).wait_until_it_answers()
    assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    assert (shop / ".graphmem" / "owner.json").exists()
    ran = graphmem("impact", "rounded", "-q", cwd=shop)
    assert ran.code == 0, ran.said
    assert serve(shop).wait_until_it_answers().address
    assert owner.read(shop / ".graphmem" / "owner.json").pid != server.process.pid


def test_a_port_that_is_taken_is_refused_when_asked_for_and_left_alone_when_not(graphmem, serve, shop: Path, tmp_path: Path) -> None:
    server = serve(shop).wait_until_it_answers()
    port = server.address.rpartition(":")[2]
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    ran = graphmem("serve", other, "--port", port)
    assert ran.code == 2
    assert "--port" in ran.err


def test_other_addresses_need_a_token_and_tls_and_the_commands_of_this_machine_know_the_way(graphmem, serve, shop: Path) -> None:
    refused = graphmem("serve", shop, "--host", "0.0.0.0", "--insecure-behind-proxy")
    assert refused.code == 2
    assert "GRAPHMEM_TOKEN" in refused.err
    refused = graphmem("serve", shop, "--host", "0.0.0.0", GRAPHMEM_TOKEN="hunter2")
    assert refused.code == 2
    assert "--tls-cert" in refused.err
    server = serve(shop, "--host", "0.0.0.0", "--insecure-behind-proxy", GRAPHMEM_TOKEN="hunter2").wait_until_it_answers()
    with pytest.raises(urllib.error.HTTPError) as unauthenticated:
        urllib.request.urlopen(f"{server.address}/export.jsonl")
    assert unauthenticated.value.code == 401
    unauthenticated.value.close()
    assert graphmem("impact", "rounded", "-q", cwd=shop).code == 0


def test_two_commands_at_once_wait_for_each_other(shop: Path, graphmem, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    command = [sys.executable, "-m", "graphmem", "impact", "rounded", "-q"]
    together = [
        subprocess.Popen(command, cwd=shop, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    said = [one.communicate(timeout=60) for one in together]
    assert [one.returncode for one in together] == [0] * 4, said
    assert len({out for out, _ in said}) == 1


def test_the_server_can_be_asked_while_the_first_index_is_made(serve, shop: Path) -> None:
    """Commands find it from the start and are told how far it is, or are answered."""
    server = serve(shop)
    path = shop / ".graphmem" / "owner.json"
    until = time.monotonic() + 60
    while (found := owner.read(path)) is None and time.monotonic() < until:
        time.sleep(0.02)
    with RemoteGraphMem(found.address) as remote:
        assert remote.state().state in {"empty", "indexing", "fresh"}
        try:
            assert remote.impact("rounded").total > 0
        except NotIndexedError as early:
            assert "index" in early.message  # noqa: PT017 -- either is a true answer at this moment
    server.wait_until_it_answers()


def test_a_folder_with_nothing_to_index_ends_the_server_with_one_sentence(graphmem, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = graphmem("serve", empty, "--port", "0")
    assert ran.code == 2
    assert "contains no files" in ran.err
    assert "Traceback" not in ran.said
    assert not (empty / ".graphmem" / "owner.json").exists()
