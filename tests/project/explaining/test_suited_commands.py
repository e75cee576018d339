"""A question that a command answers from the graph is answered with that command."""

from __future__ import annotations

import pytest

from graphmem.project.explaining.suited_commands import suited_command
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

SHOP = {
    "shop/cart.py": "class Base:\n    def total(self):\n        return 0\n\n\n"
    "class Cart(Base):\n    def items(self):\n        return [self.total()]\n",
    "shop/change.py": "def change():\n    return 1\n\n\ndef flush_cache():\n    return change()\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    root = tmp_path_factory.mktemp("project") / "shop"
    for name, text in SHOP.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    with GraphMem.open(empty_index(tmp_path_factory.mktemp("index") / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        yield memory


@pytest.mark.parametrize(
    ("question", "command"),
    [
        ("what breaks if I change flush_cache?", "impact flush_cache"),
        ("What would break when `Cart.total` changes", "impact Cart.total"),
        ("is it safe to rename Cart.items?", "impact Cart.items"),
        ("which tests should I run for shop/cart.py", "impact shop/cart.py"),
        ("what is known about Cart.total?", "symbol Cart.total"),
        ("which code calls the Cart", "symbol Cart"),
        ("who calls flush_cache()", "symbol flush_cache"),
        ("where is Cart used", "usages Cart"),
        ("what depends on Base?", "impact Base"),
        ("which files change together with shop/change.py", "coaccess shop/change.py"),
        ("which module is the most tangled", "cycles"),
        ("what changed recently?", "commits"),
        ("who owns this", "people"),
        ("where does the program begin?", "entry-points"),
        ("what are the entry points", "entry-points"),
        ("how do the modules depend on each other", "modules"),
        ("which endpoints does the API have", "entry-points --kind route"),
        ("what does flush_cache do?", "symbol flush_cache"),
        ("what is Cart?", "symbol Cart"),
        ("explain Cart.total", "symbol Cart.total"),
    ],
)
def test_the_first_note_names_the_command_for_the_question(shop, question, command):
    assert shop.ask(question).notes[0].startswith(f"`graphmem {command}` shows ")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who calls Cart.total?", "`graphmem symbol Cart.total` shows its callers: Cart.items (shop/cart.py:8)"),
        ("flush_cache callers", "`graphmem symbol flush_cache` shows its callers; none is known"),
        ("what does Cart.items call?", "`graphmem symbol Cart.items` shows the code that it calls: Base.total"),
    ],
)
def test_a_question_about_calls_is_answered_with_the_first_of_them(shop, question, answer):
    assert shop.ask(question).notes[0] == answer


@pytest.mark.parametrize(
    "question",
    [
        "what breaks if I change nothing_like_that",
        "how is the total of a basket computed",
        "why Cart",
        "how is the start of a cart stored",
        "what is the total of Cart",
    ],
)
def test_other_questions_are_left_to_the_search(shop, question):
    assert suited_command(shop.parts.graph.view(), question) == ""
