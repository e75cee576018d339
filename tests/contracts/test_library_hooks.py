"""Methods that a library's base class calls belong to the code that uses their class, after any edit."""

from __future__ import annotations

import pytest

from graphmem.parsing.extract import extract
from graphmem.resolution.resolver import Resolver

FILES = {
    "shop/forms.py": "from django import forms\n\nclass Named(forms.Form):\n    def clean_name(self): ...\n",
    "shop/orders.py": "from shop.forms import Named\n\nclass Order(Named):\n    def clean(self):\n        check()\n\ndef check(): ...\n",
    "shop/views.py": "from shop.orders import Order\n\ndef order(request):\n    return Order(request.POST).is_valid()\n",
    "tests/test_order.py": "from shop.views import order\n\ndef test_order():\n    order(None)\n\ndef test_other(): ...\n",
}


@pytest.mark.parametrize("target", ["shop/forms.py:Named.clean_name", "shop/orders.py:Order.clean", "shop/orders.py:check"])
def test_a_test_of_a_view_is_a_test_of_the_methods_of_its_form(target, tmp_path, open_memory):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    memory = open_memory()
    memory.index(tmp_path)
    assert {one.name for one in memory.tests_to_run(target).tests} == {"test_order"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("clean_name", "name_without_spaces"),
        ("forms.Form", "forms.Media"),
        ("...\n", "...\n    def clean_price(self): ...\n"),
        ("...\n", "...\n    def clean(self): ...\n"),
    ],
)
def test_an_edit_of_a_base_class_reaches_the_classes_below_it(old, new):
    def facts(texts):
        return {path: extract(path, text.encode(), "python", str(text == FILES[path])) for path, text in texts.items()}

    path = "shop/forms.py"
    other = {**FILES, path: FILES[path].replace(old, new, 1)}
    resolver, fresh = Resolver("p"), Resolver("p")
    resolver.update(facts(FILES), ())
    before = {at: resolver.resolve(at) for at in FILES}
    todo = resolver.update({path: facts(other)[path]}, ())
    fresh.update(facts(other), ())
    after = {**before, **{at: resolver.resolve(at) for at in todo}}
    assert after == {at: fresh.resolve(at) for at in other}
