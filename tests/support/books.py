"""Books on real stores, with hashed vectors and a clock that stands still."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem import GraphMem
from graphmem.memory.reading.clock import ManualClock
from graphmem.settings import Settings
from made_once import empty_index

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock():
    return ManualClock(START)


@pytest.fixture
def opened(tmp_path, clock):
    """Opens the index of the test; closes all at the end."""
    kept = []

    def open_(embedder="none", **options):
        memory = GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder=embedder), **options)
        memory.parts.book.clock = clock
        kept.append(memory)
        return memory

    yield open_
    for memory in kept:
        memory.close()


@pytest.fixture
def gm(opened):
    return opened()


REPOSITORY = {
    "shop/cart.py": '''"""Carts."""


class Cart:
    """What somebody wants to buy."""

    def add_item(self, item, count):
        """Put something in."""
        self.items[item] = count

    def total_price(self):
        return sum(self.items.values())


def empty_cart(cart):
    cart.items.clear()
''',
    "shop/orders.py": """from shop.cart import Cart


def place_order(cart: Cart):
    return cart.total_price()


def helper():
    return 1
""",
    "shop/tools.py": """def helper():
    return 2
""",
}


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "project"
    for path, text in REPOSITORY.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def indexed(gm, repository):
    """A book beside an indexed repository."""
    gm.index(repository)
    return gm


@pytest.fixture
def project(tmp_path, clock):
    """Yields the root of a small project and its open index."""
    root = tmp_path / "project"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "cart.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    with GraphMem.open(db=empty_index(root / ".graphmem"), settings=Settings(embedder="none")) as memory:
        memory.parts.book.clock = clock
        memory.index(root)
        yield root, memory


def contents(memory):
    """The contents of all memories, sorted."""
    return sorted(one.content for one in memory.memories().memories)
