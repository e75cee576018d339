"""Chunks that one search divided serve the next one, until their file changes."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.projection.words.pieces import Pieces
from graphmem.search.pipeline import Request, search
from graphmem.settings import Settings
from made_once import empty_index

FILES = {
    "shop/orders.py": 'def place_order(basket):\n    """Place an order for a basket."""\n    return basket.total()\n\n\n'
    "def cancel_order(order):\n    return order.refund()\n",
    "shop/basket.py": 'class Basket:\n    """What a customer wants to order."""\n\n    def total(self):\n        return sum(self.prices)\n',
    "shop/README.md": "# Orders\n\nAn order is placed from a basket.\n",
}
QUERIES = ("place an order", "how is an order cancelled", "total", "basket", "`cancel_order` refund")


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.parts.projections.wait()
        yield root, memory


def asked(memory):
    shot, state = memory.parts.projections.snapshot(), memory.state()
    return [search(shot, None, Request(query, deadline_s=60), state).hits for query in QUERIES], shot


def test_a_second_search_answers_from_kept_pieces(project):
    _, memory = project
    first, shot = asked(memory)
    assert len(shot.words.pieces) > 2
    again, _ = asked(memory)
    assert again == first


def test_after_an_edit_kept_pieces_give_the_answers_of_a_new_start(project):
    root, memory = project
    asked(memory)
    text = (root / "shop/orders.py").read_text(encoding="utf-8")
    (root / "shop/orders.py").write_text('"""Orders."""\n\n\ndef ship_order(order):\n    return order\n\n\n' + text, encoding="utf-8")
    memory.index(root)
    shot = memory.parts.projections.snapshot()
    kept = shot.words.pieces.known([key for key, _, _ in shot.words.chunk_keys()])
    assert {piece.entry.path for piece in kept.values()} == {"shop/basket.py", "shop/README.md"}
    patched, shot = asked(memory)
    assert any(hit.qualname == "ship_order" for hits in patched for hit in hits)
    shot.words.pieces.clear()
    vars(shot.graph).pop("kept")
    assert asked(memory)[0] == patched


def test_an_idle_server_puts_kept_pieces_away(project):
    _, memory = project
    first, shot = asked(memory)
    memory.parts.projections.cool()
    assert not len(shot.words.pieces)
    assert asked(memory)[0] == first


def test_the_oldest_pieces_leave_when_memory_is_full(project):
    _, memory = project
    _, shot = asked(memory)
    every = shot.words.pieces.known([key for key, _, _ in shot.words.chunk_keys()])
    small = Pieces(most=sum(piece.nbytes for piece in every.values()) - 1)
    small.add(every)
    assert list(small.known(every)) == list(every)[1:]
