"""Dead code and duplicates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graphmem.analysis.semantic.duplicates import Piece, duplicates
from graphmem.errors import BadInputError
from trees import NETWORKX

LIBRARY = {
    "lib/__init__.py": "from lib.core import shown\n",
    "lib/core.py": (
        "def shown():\n    return _used()\n\n\n"
        "def _used():\n    return 1\n\n\n"
        "def _forgotten():\n    return _only_for_it()\n\n\n"
        "def _only_for_it():\n    return 2\n\n\n"
        "def _again(n):\n    return _again(n - 1)\n\n\n"
        "def _for_tests():\n    return 3\n\n\n"
        "def visit_name():\n    return 4\n\n\n"
        "def offered_and_unused():\n    return 5\n\n\n"
        "class Box:\n    def __len__(self):\n        return 0\n\n    def _unused(self):\n        return 6\n"
    ),
    "app.py": "def handler(kind):\n    return globals()[f'visit_{kind}']()\n\n\nhandler('name')\n",
    "test_core.py": "from lib.core import _for_tests, Box\n\n\ndef test_it():\n    assert _for_tests() == 3 and not len(Box())\n",
}


def test_dead_code_has_a_reason_and_what_may_be_used_from_outside_is_counted(project):
    service = project(LIBRARY)
    every = {one.symbol.qualname: one for one in service.dead_code(0.0).symbols}
    assert every["_forgotten"].reason == "unreferenced"
    assert every["_forgotten"].confidence == 0.95
    assert every["_only_for_it"].reason == "only_dead"
    assert every["_only_for_it"].confidence <= 0.95
    assert every["_again"].reason == "only_itself"
    assert every["_for_tests"].reason == "only_tests"
    assert every["_for_tests"].confidence < 0.6
    assert every["Box._unused"].reason == "unreferenced"
    for alive in ("shown", "_used", "Box", "Box.__len__", "handler", "offered_and_unused", "visit_name"):
        assert alive not in every, alive
    found = service.dead_code()
    assert {one.symbol.qualname for one in found.symbols} == {"_forgotten", "_only_for_it", "_again", "Box._unused"}
    assert found.total == 4
    assert found.lines == sum(one.lines for one in found.symbols)
    assert any("public" in note for note in found.notes)
    assert any("less certain" in note for note in found.notes)


def test_a_file_of_declarations_has_no_dead_code(project):
    service = project(
        {"src/app.ts": "function forgotten() {\n  return 1\n}\n", "src/env.d.ts": "interface ImportMeta {\n  env: string\n}\n"}
    )
    found = {one.symbol.qualname: one.why for one in service.dead_code(0.0).symbols}
    assert found == {"forgotten": ["it does not belong to the project's public API"]}


def test_a_method_of_an_interface_is_a_member(project):
    shop = (
        "package shop\n\ntype Store interface {\n\tPut(n int)\n\tForgotten()\n}\n\ntype carts struct{}\n\nfunc (c carts) Put(n int) {}\n\n"
        "func (c carts) Forgotten() {}\n\nfunc Open() Store {\n\tvar s Store = carts{}\n\ts.Put(1)\n\treturn s\n}\n"
    )
    main = 'package main\n\nimport "example.org/shop/internal/shop"\n\nfunc main() {\n\tshop.Open()\n}\n'
    service = project({"go.mod": "module example.org/shop\n", "internal/shop/shop.go": shop, "main.go": main})
    found = {one.symbol.qualname: one for one in service.dead_code(0.0).symbols}
    assert found["Store.Forgotten"].why[0] == "a member that any code may use"
    assert found["Store.Forgotten"].confidence <= 0.5
    assert "Store.Put" not in found


def test_a_wrapper_does_not_use_the_functions_that_it_wraps(project):
    wrapped = (
        "def logged(function):\n    def wrapper(*args):\n        return function(*args)\n\n    return wrapper\n\n\n"
        "@logged\ndef _called():\n    return 1\n\n\n@logged\ndef _forgotten():\n    return 2\n\n\n_called()\n"
    )
    found = project({"app.py": wrapped}).dead_code(0.0).symbols
    assert [(one.symbol.qualname, one.reason) for one in found] == [("_forgotten", "unreferenced")]


def test_a_name_that_is_put_together_is_doubted(project):
    walk = (
        "import operator\n\n\nclass Walk:\n    def _do_name(self):\n        return 1\n\n"
        "    def run(self, kind):\n        return operator.methodcaller('_do_' + kind)(self)\n\n\nWalk().run('name')\n"
    )
    found = project({"walk.py": walk}).dead_code(0.0).symbols
    assert [(one.symbol.qualname, one.confidence < 0.6) for one in found] == [("Walk._do_name", True)]
    assert any("names with this prefix" in why for why in found[0].why)


def test_of_definitions_of_one_name_in_branches_a_use_means_all(project):
    """Which one is defined is known when the program runs."""
    branches = (
        "import sys\n\n\ndef made(kind):\n    if kind:\n        def _value(n):\n            return n\n"
        "    elif sys.argv:\n        def _value(n):\n            return 2 * n\n"
        "    else:\n        def _value(n):\n            return 3 * n\n    return _value\n\n\nprint(made(1)(2))\n"
    )
    assert project({"branches.py": branches}).dead_code(0.0).symbols == []


def test_what_a_module_lists_as_its_own_is_public(project):
    layout = '__all__ = ["shown"]\n\n\ndef shown():\n    return 1\n\n\ndef kept():\n    return 2\n'
    service = project({"lib/__init__.py": "", "lib/layout.py": layout})
    assert [one.symbol.qualname for one in service.dead_code(0.0).symbols] == ["kept"]
    assert [one.symbol.qualname for one in service.entry_points(["export"]).entry_points] == ["shown"]
    assert "exported" in service.symbol("shown").modifiers


def test_what_a_base_from_outside_may_call_is_not_listed(project):
    server = (
        "from html.parser import HTMLParser\n\n\nclass Reader(HTMLParser):\n"
        "    def _closed(self):\n        return 1\n\n\nReader().feed('')\n"
    )
    (found,) = project({"server.py": server}).dead_code(0.0).symbols
    assert found.confidence < 0.6
    assert any("inherits from outside the project" in why for why in found.why)


SERVICE = {
    "shop/tokens.py": (
        "from importlib import import_module\n\nbase = import_module('x').Base\n\n\n"
        "class Chosen(base):\n    def _made(self):\n        return 1\n\n\n"
        "class Below(Chosen):\n    def _also(self):\n        return 2\n\n\nprint(Below())\n"
    ),
    "shop/reader.py": (
        "from html.parser import HTMLParser\n\n\nclass Base(HTMLParser):\n    def feed_all(self):\n        return self.feed('')\n\n\n"
        "class Reader(Base):\n    def _indirect(self):\n        return 1\n\n\nReader().feed_all()\n"
    ),
    "shop/order.py": (
        'class Order:\n    """Stands in for a row."""\n\n    def _prepare(self):\n        pass\n\n'
        "    def _is_set(self):\n        return True\n\n\n"
        "class Plain(object):\n    def _left(self):\n        return 1\n\n\nprint(Order(), Plain())\n"
    ),
    "shop/middleware.py": "def process_view(request):\n    return None\n",
    "shop/migrations/0001_first.py": "def forwards(apps):\n    return 1\n",
    ".rules/example.py": "def wrong():\n    return 1\n",
    "shop/api_pb2.py": "def made():\n    return 1\n",
    "web/tags.js": "new Select({ onItemAdd() { return 1; } });\nfunction forgotten() { return 2; }\n",
}


def test_what_frameworks_may_call_and_what_tools_made_is_not_listed(project):
    """Bases far up or computed, stand-ins, names that frameworks call, objects handed over, migrations and generated files."""
    service = project(SERVICE)
    assert {one.symbol.qualname for one in service.dead_code().symbols} == {"Plain._left", "forgotten"}
    every = {one.symbol.qualname: one.confidence for one in service.dead_code(0.0).symbols}
    for name in ("Chosen._made", "Below._also", "Reader._indirect", "Order._prepare", "Order._is_set", "forwards", "wrong", "made"):
        assert 0 < every[name] < 0.5, name


def test_methods_that_php_calls_itself_are_not_listed(project):
    text = (
        "<?php\nclass Cart {\n  public function __toString() { return ''; }\n"
        "  private function __lost() {}\n  private function lost() {}\n}\n"
    )
    found = project({"src/Cart.php": text, "src/main.php": "<?php\necho new Cart();\n"}).dead_code(0.1)
    assert {one.symbol.name for one in found.symbols} == {"lost"}


def test_certain_dead_code_of_networkx_is_written_nowhere_else(indexed):
    found = indexed.dead_code(0.9).symbols
    assert found
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in NETWORKX.rglob("*.py"))
    for one in found:
        assert len(re.findall(rf"\b{one.symbol.name}\b", text)) == text.count(f"def {one.symbol.name}("), one.symbol.ref


JUDGED = Path(__file__).parents[3] / "benchmarks" / "dead_code_judged.json"


def test_the_sample_judged_by_hand_says_why_and_todays_rules_stand_by_it(indexed):
    judged = json.loads(JUDGED.read_text(encoding="utf-8"))["candidates"]
    assert len(judged) >= 40
    assert {one["tree"] for one in judged} == {"networkx", "django"}
    assert {one["verdict"] for one in judged} == {"dead", "api", "used"}
    assert all(len(one["reason"]) > 20 for one in judged)
    now = {one.symbol.ref.removeprefix("networkx/"): one.confidence for one in indexed.dead_code(0.0, limit=1_000).symbols}
    for one in judged:
        if one["tree"] == "networkx":
            confidence = now.get(one["ref"], 0.0)
            assert confidence < 0.3 if one["verdict"] != "dead" else confidence > 0, one["ref"]


@pytest.mark.parametrize("bad", [-0.1, 1.1])
def test_a_confidence_out_of_range_is_refused(indexed, bad):
    with pytest.raises(BadInputError, match="min_confidence"):
        indexed.dead_code(bad)


def _piece(path: str, text: str, language: str = "python") -> Piece:
    return Piece(path, "f", 1, text.count("\n") + 1, language, text)


FUNCTION = """
def settle(account, amounts, limit):
    total = 0
    for amount in amounts:
        if amount > limit:
            raise ValueError("too much")
        total += amount * account.rate
    account.balance -= total
    if account.balance < 0:
        account.flag("overdrawn")
    return account.close(total, limit) or None
"""


def test_the_same_renamed_and_nearly_the_same_are_told_apart_and_comments_do_not_count():
    same = FUNCTION.replace("total = 0", "total = 0  # begin")
    renamed = FUNCTION.replace("account", "customer").replace("too much", "no")
    near = FUNCTION.replace("return account", "audit(account)\n    return account")
    other = "\n".join(f"def g{i}(a):\n    return [b.c(a) for b in a.d if b and not b.e(a, {i})]" for i in range(6))
    groups = duplicates([_piece("a.py", FUNCTION), _piece("b.py", same), _piece("c.py", other)])
    assert [(one.kind, [place.path for place in one.places]) for one in groups] == [("exact", ["a.py", "b.py"])]
    groups = duplicates([_piece("a.py", FUNCTION), _piece("b.py", renamed), _piece("c.py", other)])
    assert [(one.kind, one.similarity) for one in groups] == [("renamed", 1.0)]
    groups = duplicates([_piece("a.py", FUNCTION), _piece("b.py", near), _piece("c.py", other)], similar=0.7)
    assert [one.kind for one in groups] == ["near"]
    assert 0.7 <= groups[0].similarity < 1


def test_other_languages_comments_do_not_count_either():
    code = (
        "function f(a) {\n  let b = 0;\n  for (const c of a.d) {\n    if (c > 1 && c < 9) { b += c * a.e; }\n  }\n"
        "  return b > a.f ? a.g(b) : null;\n}\n"
    )
    groups = duplicates(
        [_piece("a.js", code, "javascript"), _piece("b.js", "/* it\n is */ " + code.replace("0;", "0; // none"), "javascript")]
    )
    assert [one.kind for one in groups] == ["exact"]


def test_the_beginning_of_a_long_comment_is_not_a_duplicate():
    header = "/*\n" + " * Licensed to the shop under one or more agreements; see the file for the terms, the limits and the rest.\n" * 12
    assert duplicates([_piece("a.java", header, "java"), _piece("b.java", header, "java")]) == []


def test_tables_are_not_duplicates_of_each_other_and_short_pieces_are_idiom():
    table = "ROWS = [\n" + "".join(f"    ('a{i}', {i}, {i + 1}),\n" for i in range(40)) + "]\n"
    assert duplicates([_piece("a.py", table), _piece("b.py", table.replace("a1", "b1"))]) == []
    assert duplicates([_piece("a.py", "x = 1\n"), _piece("b.py", "x = 1\n")]) == []


def test_each_piece_is_in_one_group_and_tests_only_when_asked(indexed):
    found = indexed.duplicates(limit=1000)
    places = [(place.path, place.start_line) for group in found.groups for place in group.places]
    assert len(places) == len(set(places)) > 0
    assert not any("/tests/" in path for path, _ in places)
    assert found.lines == sum(group.lines for group in found.groups)
    assert indexed.duplicates(tests=True, limit=1).total > found.total
