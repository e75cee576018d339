"""A class that is written before its member is a place of the class: an editor finds it and renames it."""

from __future__ import annotations

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

FILES = {
    "shop/colour.py": (
        "from enum import Enum\n\n\nclass Colour(Enum):\n    RED = 1\n\n\nclass Box:\n    size = 1\n\n    @classmethod\n"
        "    def make(cls):\n        return cls()\n\n\nclass Small(Box):\n    pass\n"
    ),
    "shop/use.py": (
        "from shop import colour\nfrom shop.colour import Box as B, Colour, Small\n\n\n"
        "def use(one, Box):\n    if one.paint == Colour.RED:\n        return B.make(), Small.make()\n"
        "    return colour.Box.make().size + Box.size\n"
    ),
    "web/kind.ts": "export enum Kind { A, B }\nexport class Store { static open() { return new Store(); } }\n",
    "web/use.ts": 'import { Kind, Store } from "./kind";\nexport const is = (one: Kind) => one === Kind.A || Store.open();\n',
    "web/long.ts": 'import { Kind } from "./kind"; export const a = ' + "1 + " * 200 + "(Kind.B as number);\n",
    "java/p/Foo.java": "package p;\npublic class Foo {\n    static int N = 1;\n    static Foo make() { return new Foo(); }\n}\n",
    "java/p/Bar.java": "package p;\nclass Bar {\n    int n() { return Foo.N; }\n    Object m() { return p.Foo.make(); }\n}\n",
    "src/lib.rs": "pub struct Shelf;\nimpl Shelf { pub fn empty() -> Shelf { Shelf } }\n"
    "pub fn first() -> bool { let _ = Shelf::empty(); true }\n",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("qualifiers") / "tree"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(root.parent / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened


@pytest.mark.parametrize(
    ("name", "path", "places"),
    [
        ("shop/colour.py:Colour", "shop/use.py", ["2:34", "6:20"]),
        ("shop/colour.py:Box", "shop/use.py", ["2:24", "2:31", "7:15", "8:18"]),  # and not the parameter
        ("shop/colour.py:Small", "shop/use.py", ["2:42", "7:25"]),  # the member is inherited
        ("web/kind.ts:Kind", "web/use.ts", ["1:9", "2:24", "2:41"]),
        ("web/kind.ts:Kind", "web/long.ts", ["1:9", "1:849"]),  # a long line
        ("web/kind.ts:Store", "web/use.ts", ["1:15", "2:51"]),
        ("java/p/Foo.java:Foo", "java/p/Bar.java", ["3:21", "4:26"]),  # of one package, without an import
        ("src/lib.rs:Shelf", "src/lib.rs", ["1:11", "2:5", "2:31", "2:39", "3:33"]),  # the header of an `impl` names it, too
    ],
)
def test_a_class_before_its_member_is_a_usage(memory, name, path, places):
    found = [f"{one.range.line}:{one.range.column}" for one in memory.usages(name).usages if one.path == path]
    assert found == places


def test_a_position_on_a_class_before_its_member_is_on_the_class(memory):
    assert memory.symbol_at("shop/use.py", 6, 22).symbol.qualname == "Colour"
    assert memory.symbol_at("shop/use.py", 6, 28).symbol.qualname == "Colour.RED"
    assert memory.symbol_at("shop/use.py", 8, 12).symbol.path == "shop/colour.py"  # the module


def test_a_parameter_with_the_name_of_a_class_is_not_the_class(memory):
    assert memory.symbol_at("shop/use.py", 8, 36).symbol is None
