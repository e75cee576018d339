"""Calls over the network are edges like any other: found, followed by impact, and right after every edit."""

from __future__ import annotations

import pytest

from graphmem.contracts.rows import FILE


def links(memory):
    """(rule, caller, callee) of the edges between services."""
    view = memory.parts.projections.graph()
    names = view.arrays.nodes.qualname.to_pylist()
    return {
        (view.rules[rule], names[src], names[dst])
        for src, dst, rule in zip(view.src.tolist(), view.dst.tolist(), view.edge_rule.tolist(), strict=True)
        if view.rules[rule] in ("endpoint", "rpc", "topic")
    }


EXPECTED = {
    ("endpoint", "product", "showProduct"),
    ("endpoint", "buy", "OrderController.create"),
    ("endpoint", "order", "OrderController.order"),
}


def test_clients_lead_to_the_handlers_they_ask_and_nowhere_else(shop, open_memory):
    memory = open_memory()
    memory.index(shop)
    assert links(memory) == EXPECTED


def test_impact_crosses_services(shop, open_memory):
    memory = open_memory()
    memory.index(shop)
    found = memory.impact("showProduct")
    assert ("product", "endpoint") in [(one.symbol.qualname, one.path[0].rule) for one in found.hits]


@pytest.mark.parametrize("lost", [False, True])
def test_links_follow_edits_of_either_side(shop, open_memory, lost):
    memory = open_memory()
    memory.index(shop)
    memory.close()
    if lost:
        (shop.parent / "index" / FILE).unlink()
    server = shop / "catalogue" / "server.js"
    server.write_text(server.read_text().replace("/product/:sku", "/item/:sku"))
    memory = open_memory()
    assert memory.index().mode == "incremental"
    assert links(memory) == EXPECTED - {("endpoint", "product", "showProduct")}
    server.write_text(server.read_text().replace("/item/:sku", "/product/:sku"))
    memory.index()
    assert links(memory) == EXPECTED
    (shop / "orders/src/main/java/shop/OrderController.java").unlink()
    memory.index()
    assert links(memory) == {("endpoint", "product", "showProduct")}
