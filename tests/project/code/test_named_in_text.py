"""If nothing depends on a symbol, the answer names the strings and text files that name it."""

from __future__ import annotations

import pytest

from graphmem.mcp_server import impact_text
from graphmem.project.code.named_in_text import MAX_PLACES, is_distinct
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

LONG = "says_so_and_goes_on_" * 4 + "afterwards"  # longer than any word of the index

FILES = {
    "shop/long.py": f"def {LONG}(order):\n    return order\n",
    "shop/commands.py": (
        "def send_invoice(order):\n    return order\n\n\ndef refund_order(order):\n    return order\n\n\n"
        "def print_label(order):\n    return order\n\n\ndef run(order):\n    return order\n"
    ),
    "shop/table.py": "COMMANDS = {'invoice': 'shop.commands.send_invoice'}\n\n\n# send_invoice is looked up by name\n",
    "shop/use.py": "from shop.commands import refund_order\n\n\ndef again(order):\n    return refund_order(order)\n",
    "shop/image.py": "".join(f"class {one}:\n    def file_size(self):\n        return 1\n\n\n" for one in ("Image", "Document")),
    "shop/show.py": "from framework import get_object_or_404\n\n\ndef show(key):\n    return get_object_or_404(key).file_size()\n",
    "commands.json": '{\n  "invoice": "send_invoice",\n  "label": "reprint_label",\n  "go": "run"\n}\n',
    "refunds.json": '{"refund": "refund_order"}\n',
    "shop/parcels.py": "def pack_parcel(order):\n    return order\n",
    "parcels.json": '{"separators": "\u2028 and \x85",\n "pack": "pack_parcel"}\n',
    "docs/commands.md": "# Commands\n\nCall `send_invoice` to send one.\n",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("named") / "tree"
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    with GraphMem.open(root.parent / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened


def named(memory, target):
    return [(cause.count, cause.examples) for cause in memory.impact(target).causes if cause.kind == "named_in_text"]


def test_strings_and_text_files_that_name_the_symbol_are_places_to_look(memory):
    assert named(memory, "send_invoice") == [(2, ["commands.json:2", "shop/table.py:1"])]


def test_an_agent_reads_the_places_in_the_sentence_on_completeness(memory):
    report = memory.impact("send_invoice")
    assert "look there: commands.json:2, shop/table.py:1" in impact_text.impact(report, 800)


def test_a_line_separator_inside_a_string_begins_no_line(memory):
    assert named(memory, "pack_parcel") == [(1, ["parcels.json:2"])]


def test_a_symbol_with_a_known_caller_needs_no_such_places(memory):
    assert named(memory, "refund_order") == []


def test_a_longer_name_is_another_name(memory):
    assert named(memory, "print_label") == []


def test_an_ordinary_word_is_not_looked_up(memory):
    assert named(memory, "run") == []
    assert [name for name in ("run", "value", "__init__", "_set", "get_key", "getKey", "Truncator") if is_distinct(name)] == [
        "get_key",
        "getKey",
        "Truncator",
    ]


def test_a_name_longer_than_any_word_of_the_index_is_answered_without_places(memory):
    assert memory.impact(LONG).total == 0
    assert named(memory, LONG) == []


def test_a_name_in_very_many_places_tells_nothing(memory, tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "one.py").write_text("def send_invoice():\n    pass\n", encoding="utf-8")
    (tmp_path / "tree" / "all.json").write_text("[" + ",\n".join(['"send_invoice"'] * (MAX_PLACES + 1)) + "]\n", encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as opened:
        opened.index(tmp_path / "tree")
        assert named(opened, "send_invoice") == []


def test_a_method_called_on_a_value_of_a_library_may_be_the_one_that_nothing_calls(memory):
    assert named(memory, "Image.file_size") == [(1, ["shop/show.py:5"])]
