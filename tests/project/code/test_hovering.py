"""A hover has the direct users of a symbol, and only memories that a reader of this symbol needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.lsp.hover import hover_text, lens_title
from graphmem.settings import Settings
from hosted import indexed, written

ROUTE = 'import { stock } from "../../lib/stock";\n\nexport function GET() {\n  return stock(1);\n}\n'
FILES = {
    "lib/stock.ts": "export function stock(count: number) {\n  return count;\n}\n",
    "app/books/route.ts": ROUTE,
    "app/tea/route.ts": ROUTE,
    "shop/price.py": (
        "class Price:\n"
        "    def __init__(self, value):\n"
        "        self.value = value\n"
        "\n"
        "    def total(self, count):  # of several\n"
        "        return self.value * count if count else self.total(1)\n"
        "\n"
        "\n"
        "def cut(price):\n"
        "    return Price(price).total(2)\n"
        "\n"
        "\n"
        "def only_faked(price):\n"
        "    return price\n"
    ),
    "examples/a_bill.py": "from shop.price import cut\n\n\ndef bill():\n    return cut(1)\n",
    "shop/cart.py": "from shop.price import cut\n\n\ndef checkout():\n    return cut(2)\n",
    "tests/helper.py": "from shop.price import cut, only_faked\n\n\ndef fake(price):\n    return cut(only_faked(price))\n",
    "tests/test_price.py": (
        "from shop.price import cut\n\n\ndef test_cut():\n    def again():\n        return cut(3)\n\n    assert again() == cut(3)\n"
    ),
    "lib/till.ts": (
        'import { stock } from "./stock";\n\nexport type Till = {\n  open: number; // at noon\n};\n\n'
        "export function close(till: Till): Till {\n  return { open: stock(till.open) };\n}\n"
    ),
    "store.go": (
        'package shop\n\ntype Store interface {\n\tLoad(key string) string\n}\n\nfunc Show(s Store) string { return s.Load("a") }\n'
    ),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with indexed(tmp_path_factory.mktemp("hover"), FILES) as opened:
        yield opened


def at(shop, path: str, name: str):
    """The hover at the first line that defines `name`."""
    for number, line in enumerate(FILES[path].split("\n"), 1):
        if name in line and line.lstrip().startswith(("def ", "class ", "export ", f"{name}(")):
            return shop.hover(path, number, line.index(name))
    raise AssertionError(name)


def test_tests_are_those_that_a_runner_can_run(shop) -> None:
    found = at(shop, "shop/price.py", "cut")
    assert ([one.qualname for one in found.tests], found.test_count) == (["test_cut"], 1)
    assert [one.qualname for one in found.test_helpers] == ["fake"]
    assert "1 test: `test_cut`" in hover_text(found)
    assert "fake" not in hover_text(found)


def test_a_helper_of_tests_is_not_called_a_test(shop) -> None:
    found = at(shop, "shop/price.py", "only_faked")
    assert (found.test_count, found.caller_count) == (0, 0)
    assert "No test uses it directly; test code does: `fake`" in hover_text(found)


def test_near_callers_come_before_far_ones(shop) -> None:
    assert [one.qualname for one in at(shop, "shop/price.py", "cut").callers] == ["checkout", "bill"]


def test_equal_names_are_told_apart_by_their_files(shop) -> None:
    text = hover_text(at(shop, "lib/stock.ts", "stock"))
    assert "3 callers: `close`, `GET (books/route.ts)`, `GET (tea/route.ts)`" in text


def test_a_type_has_users(shop) -> None:
    found = shop.hover("lib/till.ts", 3, 13)
    text = hover_text(found)
    assert "type Till\n" in text  # without its `=`
    assert "1 user: `close`" in text
    (entry,) = (one for one in shop.outline("lib/till.ts").entries if one.symbol.name == "Till")
    assert lens_title(entry) == "1 user"


def test_lenses_count_what_hovers_list(shop) -> None:
    for path, name in (("shop/price.py", "cut"), ("shop/price.py", "total"), ("shop/price.py", "only_faked"), ("store.go", "Load")):
        found = at(shop, path, name)
        (entry,) = (one for one in shop.outline(path).entries if one.symbol.id == found.symbol.id)
        assert (entry.callers, entry.tests) == (found.caller_count, found.test_count), name
    assert at(shop, "store.go", "Load").caller_count == 1
    assert at(shop, "shop/price.py", "total").caller_count == 1  # without its call of itself


def test_derived_memories_of_a_class_are_not_repeated_at_its_methods(tmp_path: Path) -> None:
    files = {**FILES, "pyproject.toml": '[project]\nname = "shop"\ndescription = "A `Price` with `shop/price.py`."\n'}
    with GraphMem.open(repo=written(tmp_path / "shop", files), settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(tmp_path / "shop")
        derived = opened.hover("shop/price.py", 1, 7).known.memories
        assert [one.type for one in derived] == ["fact"]
        opened.remember("`Price` rounds at the till.", type="gotcha")
        assert {one.type for one in at(opened, "shop/price.py", "total").known.memories} == {"gotcha"}


def test_a_module_has_its_path_and_a_member_of_an_unknown_result_has_no_hover(tmp_path):
    files = {
        "shop/price.py": "def cut(price):\n    return price\n",
        "cart.py": "import shop.price\nfrom till import opened\n\n\ndef bill():\n    return opened().drawer.count(shop.price.cut(1))\n",
    }
    with indexed(tmp_path, files) as shop:
        assert hover_text(shop.hover("cart.py", 1, 12)).startswith("```\nmodule shop/price.py\n```")
        found = shop.hover("cart.py", 6, files["cart.py"].split("\n")[5].index("count"))
        assert (found.symbol, found.reason) == (None, "the class of the value before 'count' is not known")


def test_test_code_that_cargo_does_not_run_is_not_a_test(tmp_path):
    files = {
        "Cargo.toml": '[package]\nname = "shop"\n',
        "src/lib.rs": "pub fn cut(price: u32) -> u32 { price }\n",
        "tests/common/mod.rs": "pub fn prepared() -> u32 { shop::cut(1) }\n",
        "tests/all.rs": "mod common;\n#[test]\nfn cuts() { assert_eq!(shop::cut(1), common::prepared()); }\n",
    }
    with indexed(tmp_path, files) as shop:
        found = shop.hover("src/lib.rs", 1, 8)
        assert [[one.name for one in row] for row in (found.tests, found.test_helpers)] == [["cuts"], ["prepared"]]
