"""A small repository, really indexed: the snapshot a search works on."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.embedding.fill import Pace, fill
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.settings import load_settings

FILES = {
    "README.md": "# Shop\n\nA small shop.\n\n## Payments\n\nRefunds are paid back to the card within five days of the return.\n",
    "settings.json": '{"currency": "EUR", "retries": 3}\n',
    "shop/__init__.py": "",
    "shop/cart.py": '''"""The cart."""
from shop.money import add_tax, round_cents


class Cart:
    """What a customer wants to buy."""

    def __init__(self):
        self.items = []

    def add_item(self, product, count):
        """Put a product into the cart, or more of it if it is there already."""
        for item in self.items:
            if item.product == product:
                item.count += count
                return
        self.items.append((product, count))

    def total_price(self):
        """Sum of all items with tax, rounded to cents."""
        price = sum(product.price * count for product, count in self.items)
        return round_cents(add_tax(price))
''',
    "shop/money.py": '''"""Arithmetic with money."""

TAX_RATE = 0.19


def add_tax(price):
    return price * (1 + TAX_RATE)


def round_cents(price):
    return round(price, 2)


def format_price(price, currency="EUR"):
    """Price as people read it, with two digits and the currency behind it."""
    rounded = round_cents(price)
    whole, cents = divmod(int(rounded * 100), 100)
    return f"{whole}.{cents:02d} {currency}"
''',
    "shop/checkout.py": '''"""Paying."""
from shop.cart import Cart
from shop.money import format_price


class CheckoutError(Exception):
    """The order cannot be placed."""


class Checkout:
    """Turns a cart into an order."""

    def __init__(self, cart: Cart, gateway):
        self.cart = cart
        self.gateway = gateway

    def place_order(self, customer):
        """Charge the customer's card and send the confirmation mail; refuses an empty cart."""
        if not self.cart.items:
            raise CheckoutError("the cart is empty")
        amount = self.cart.total_price()
        receipt = self.gateway.charge(customer.card, amount)
        self.send_confirmation(customer, format_price(amount))
        return receipt

    def send_confirmation(self, customer, price):
        """Mail the customer what was bought and what it cost."""
        customer.mail(f"Thank you! You paid {price}.")
''',
    "tests/test_cart.py": """from shop.cart import Cart


def test_total_price_has_tax():
    cart = Cart()
    cart.add_item(type("P", (), {"price": 100})(), 1)
    assert cart.total_price() == 119
""",
}


@pytest.fixture(scope="session")
def indexed(tmp_path_factory):
    """GraphMem on the repository above, without vectors."""
    root = tmp_path_factory.mktemp("shop")
    for name, content in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    with GraphMem.open(tmp_path_factory.mktemp("index"), settings=load_settings(None, flags={"seeds": False})) as memory:
        memory.index(root)
        yield memory


@pytest.fixture(scope="session")
def embedder():
    """Vectors without a model."""
    return HashedEmbedder()


@pytest.fixture(scope="session")
def bare(indexed):
    """Snapshot without vectors."""
    indexed.wait_until_ready()
    return indexed.parts.projections.snapshot()


@pytest.fixture(scope="session")
def filled(indexed, bare, embedder):
    """Snapshot in which every chunk has a vector."""
    projections = indexed.parts.projections
    projections.use_model(embedder.model_id, embedder.dim)
    fill(
        indexed.parts.store,
        embedder,
        projections.fill_order(),
        projections.vector_hashes(),
        on_vectors=projections.add_vectors,
        on_progress=lambda done, wanted: None,
        pace=Pace(lambda: False),
    )
    return projections.snapshot()


@pytest.fixture(scope="session")
def state(indexed):
    """State of the index."""
    return indexed.state()
