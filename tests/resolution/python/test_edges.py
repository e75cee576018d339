"""Every kind of edge and row resolution makes, on small projects."""

from __future__ import annotations

import textwrap

from graphmem.model import MODULE_QUALNAME, file_id, symbol_id
from graphmem.resolution.rules import REASONS, RULES


def files(**texts):
    return {name.replace("__", "/") + ".py": textwrap.dedent(text) for name, text in texts.items()}


def test_every_definition_is_defined_by_what_encloses_it(resolve):
    found = resolve(files(a="class C:\n    x = 1\n    def m(self):\n        def inner(): ...\n"))
    assert found.edges("DEFINES") == {
        ("file", "a.py:<module>"),
        ("a.py:<module>", "a.py:C"),
        ("a.py:C", "a.py:C.x"),
        ("a.py:C", "a.py:C.m"),
        ("a.py:C.m", "a.py:C.m.inner"),
    }


def test_ids_are_those_of_the_model(resolve):
    found = resolve(files(a="def f(): ...\n"))
    assert symbol_id("fixture", "a.py", "f", "function", 0) in found.symbols
    assert symbol_id("fixture", "a.py", MODULE_QUALNAME, "module", 0) in found.symbols
    assert [e.src for e in found.results["a.py"].edges if e.line == 0] == [file_id("fixture", "a.py")]


def test_what_stores_its_result_is_read_and_not_called(resolve):
    """A library calls a cached property, and only once; the object answers every later read."""
    text = """
        from functools import cached_property

        class Tool:
            @cached_property
            def part(self): ...

            def __getattr__(self, name):
                setattr(self, name, 1)

        def use(tool: Tool):
            tool.part
            tool.other
    """
    found = resolve(files(a=text))
    stored = {("a.py:use", "a.py:Tool.part"), ("a.py:use", "a.py:Tool.__getattr__")}
    assert stored <= found.edges("REFERENCES")
    assert stored.isdisjoint(found.edges("CALLS"))


def test_imports_lead_to_files_and_packages(resolve):
    found = resolve(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "from . import b\nimport os.path\nfrom requests import get\nimport pkg.b as x\n",
            "pkg/b.py": "",
        }
    )
    edges = {(e.dst, e.rule) for e in found.results["pkg/a.py"].edges if e.kind == "IMPORTS"}
    assert (file_id("fixture", "pkg/b.py"), "module") in edges
    assert (file_id("fixture", "pkg/__init__.py"), "module") in edges
    assert {(row.package, row.name) for row in found.results["pkg/a.py"].externals} >= {("os", ""), ("requests", "")}


def test_calls_into_libraries_lead_to_their_symbols(resolve):
    found = resolve(files(a="import os.path as p\nimport requests\nrequests.get(p.join('a', len('b')))\n'x'.upper()\n[].append(1)\n"))
    outside = {target for _, target in found.edges("CALLS")}
    assert outside == {"requests:get", "os:path.join", "builtins:len", "builtins:str.upper", "builtins:list.append"}


def test_classes_inherit_and_override(resolve):
    found = resolve(
        files(
            a="import enum\nclass A:\n    def m(self): ...\nclass B(A): ...\n"
            "class C(B, enum.Enum):\n    def m(self): ...\n    def n(self): ...\n"
        )
    )
    assert found.edges("INHERITS") == {("a.py:B", "a.py:A"), ("a.py:C", "a.py:B"), ("a.py:C", "enum:Enum")}
    assert found.edges("OVERRIDES") == {("a.py:C.m", "a.py:A.m")}


def test_annotations_use_types_also_inside_of_others(resolve):
    found = resolve(
        files(
            a="from typing import Optional\nclass A: ...\nclass B: ...\n"
            "def f(x: 'Optional[A]') -> dict[str, list[B]]: ...\nv: A | None = None\n"
        )
    )
    assert found.edges("USES_TYPE") == {("a.py:f", "a.py:A"), ("a.py:f", "a.py:B"), ("a.py:<module>", "a.py:A")}


def test_functions_classes_and_variables_that_are_mentioned_are_references(resolve):
    found = resolve(
        files(
            a="LIMIT = 3\ndef f(): ...\nclass C:\n    def m(self): ...\n",
            b="import a\nfrom c import LIMIT\nfrom a import C\ndef g(c: C):\n    use(a.f, C, LIMIT)\n    return c.m\n"
            "def h():\n    return a.LIMIT\n",
            c="from a import LIMIT\n",
        )
    )
    assert found.edges("REFERENCES") == {
        ("b.py:g", "a.py:f"),
        ("b.py:g", "a.py:C"),
        ("b.py:g", "a.py:LIMIT"),
        ("b.py:g", "a.py:C.m"),
        ("b.py:h", "a.py:LIMIT"),
    }


def test_a_parameter_or_local_variable_is_not_a_reference(resolve):
    found = resolve(files(a="def value(): ...\ndef f(value):\n    other = value\n    return use(value, other)\n"))
    assert found.edges("REFERENCES") == set()


def test_sites_of_one_pair_are_united_in_order(resolve):
    found = resolve(files(a="def f(): ...\ndef g():\n    f()\n    if g:\n        f()\n    f()\n"))
    (edge,) = [e for e in found.results["a.py"].edges if e.kind == "CALLS"]
    assert (edge.line, edge.lines, edge.rule, edge.source) == (3, "3,5,6", "scope", "ast")


def test_every_rule_and_reason_is_documented(resolve):
    found = resolve(files(a="def f(x):\n    x.unknown()\n    missing()\n    f().y()\nclass C: ...\nC().nothing()\n"))
    assert {e.rule for result in found.results.values() for e in result.edges} <= set(RULES)
    reasons = {(row.name, row.reason) for row in found.results["a.py"].unresolved}
    assert reasons == {
        ("unknown", "no_receiver_type"),
        ("missing", "unknown_name"),
        ("y", "no_receiver_type"),
        ("nothing", "no_such_member"),
    }
    assert {reason for _, reason in reasons} <= set(REASONS)
    assert found.results["a.py"].call_sites == 6


def test_confidences_are_probabilities_and_every_rule_has_a_sentence():
    for rule in RULES.values():
        assert 0 < rule.confidence <= 1
        assert rule.sentence.endswith(".")


def test_an_external_class_answers_for_what_its_subclass_lacks(resolve):
    found = resolve(files(a="import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 1)\n"))
    assert ("a.py:T.test_it", "unittest:TestCase.assertEqual") in found.edges("CALLS")


def test_modules_are_found_from_declared_and_from_implied_roots(resolve):
    found = resolve(
        {
            "pyproject.toml": "[tool.setuptools.packages.find]\nwhere = ['lib']\n",
            "lib/pkg/__init__.py": "def f(): ...\n",
            "src/other/__init__.py": "def g(): ...\n",
            "backend/app/__init__.py": "def h(): ...\n",
            "backend/app/views.py": "from app import h\nfrom pkg import f\nfrom other import g\nf(); g(); h()\n",
            "scripts/tool.py": "import helper\nhelper.run()\nimport json\njson.dumps(1)\n",
            "scripts/helper.py": "def run(): ...\n",
            "elsewhere/json.py": "def dumps(x): ...\n",
        }
    )
    assert {target for source, target in found.edges("CALLS") if source == "backend/app/views.py:<module>"} == {
        "lib/pkg/__init__.py:f",
        "src/other/__init__.py:g",
        "backend/app/__init__.py:h",
    }
    assert {target for source, target in found.edges("CALLS") if source == "scripts/tool.py:<module>"} == {
        "scripts/helper.py:run",
        "json:dumps",
    }


def test_the_nearest_of_equally_named_modules_is_meant(resolve):
    found = resolve(
        {
            "one/conftest.py": "def f(): ...\n",
            "one/test_a.py": "from conftest import f\nf()\n",
            "two/conftest.py": "def f(): ...\n",
            "two/test_a.py": "from conftest import f\nf()\n",
        }
    )
    assert found.edges("CALLS") == {
        ("one/test_a.py:<module>", "one/conftest.py:f"),
        ("two/test_a.py:<module>", "two/conftest.py:f"),
    }


def test_symbol_rows_say_what_a_reader_wants_to_know(resolve):
    found = resolve(
        files(
            tests__test_a="import pytest\n@pytest.fixture\ndef app():\n"
            '    """Makes an app.\n\n    Slowly."""\n    return 1\n\n\ndef test_x(app): ...\n',
            app="@app.route('/')\nasync def index(a, b=1) -> str:\n    if a:\n        return b\nif __name__ == '__main__':\n    index()\n",
        )
    )
    rows = {f"{row.path}:{row.qualname}": row for row in found.symbols.values()}
    fixture = rows["tests/test_a.py:app"]
    assert (fixture.entry_point, fixture.doc, fixture.start_line, fixture.name_line, fixture.is_test) == (
        "fixture",
        "Makes an app.",
        2,
        3,
        True,
    )
    test = rows["tests/test_a.py:test_x"]
    assert (test.entry_point, test.modifiers, test.complexity) == ("test", "empty test", 1)
    index = rows["app.py:index"]
    assert (index.entry_point, index.signature, index.modifiers, index.complexity, index.is_test) == (
        "route",
        "async def index(a, b=1) -> str",
        "async",
        2,
        False,
    )
    assert rows["app.py:<module>"].entry_point == "main"
    assert rows["app.py:<module>"].name == "app"
    assert rows["app.py:index"].parent_id == rows["app.py:<module>"].id


def test_a_wrapper_calls_each_of_many_functions_it_decorates(resolve):
    head = "def wrap(function):\n    def wrapper(*args):\n        return function(*args)\n    return wrapper\n"
    found = resolve(files(a=head + "".join(f"@wrap\ndef f{number}(): ...\n" for number in range(50))))
    called = {target for source, target in found.edges("CALLS") if source == "a.py:wrap.wrapper"}
    assert called == {f"a.py:f{number}" for number in range(50)}


def test_a_parameter_keeps_its_classes_beside_endless_library_values(resolve):
    found = resolve(
        files(
            a="import lib\nclass Graph:\n    def nodes(self): ...\ndef walk(graph):\n    graph.nodes()\n"
            "    walk(graph.left)\n    walk(graph.right)\n    walk(graph.parent)\nwalk(lib.load())\nwalk(Graph())\n"
        )
    )
    assert ("a.py:walk", "a.py:Graph.nodes") in found.edges("CALLS")


def test_values_stored_in_one_attribute_share_the_confidence_of_its_name(resolve):
    source = (
        "def one(): ...\ndef two(): ...\ndef three(): ...\n"
        "class Step:\n    def __init__(self, on_step):\n        self.on_step = on_step\n"
        "Step(one), Step(two), Step(three)\n"
        "def run(step):\n    step.on_step()\n"
    )
    guesses = [edge.confidence for edge in resolve({"a.py": source}).results["a.py"].edges if edge.rule == "ambiguous_name"]
    assert guesses == [0.5, 0.5, 0.5]


def test_versions_of_one_method_do_not_share_the_confidence_of_their_name(resolve):
    found = resolve(
        files(
            a="class Base:\n    def paint_it(self): ...\nclass Left(Base):\n    def paint_it(self): ...\n"
            "class Right(Base):\n    def paint_it(self): ...\n"
            "class One:\n    def draw_it(self): ...\nclass Other:\n    def draw_it(self): ...\n"
            "def f(thing):\n    thing.paint_it()\n    thing.draw_it()\n"
        )
    )
    guesses = {edge.confidence for edge in found.results["a.py"].edges if edge.rule == "ambiguous_name"}
    assert guesses == {0.65, 0.25}


PROTOCOLS = """
import typing
from typing import Protocol

class Store(Protocol):
    name: str
    def put(self, key, value, *, force=False): ...
    def get(self, key): ...

class Reads(typing.Protocol[int]):
    def get(self, key): ...
"""


def test_a_method_overrides_that_of_a_protocol_whose_members_its_class_has(resolve):
    found = resolve(
        files(
            a=PROTOCOLS,
            b="""
            class Disk:
                def __init__(self):
                    self.name = "disk"
                def put(self, key, value, force=False): ...
                def get(self, key, default=None): ...
            class Quick(Disk):
                def get(self, *rest): ...
            """,
        )
    )
    assert found.edges("OVERRIDES") == {
        ("b.py:Quick.get", "b.py:Disk.get"),
        ("b.py:Disk.put", "a.py:Store.put"),
        ("b.py:Disk.get", "a.py:Store.get"),
        ("b.py:Disk.get", "a.py:Reads.get"),
        ("b.py:Quick.get", "a.py:Store.get"),
        ("b.py:Quick.get", "a.py:Reads.get"),
    }


def test_a_class_without_a_member_of_a_protocol_or_with_other_parameters_does_not_satisfy_it(resolve):
    found = resolve(
        files(
            a=PROTOCOLS,
            b="""
            from a import Reads, Store
            class NoName:
                def put(self, key, value, force=False): ...
                def get(self, key, other): ...
            class Demanding:
                name = ""
                def put(self, key, value, *, force): ...
                def get(self, key, other): ...
            class Declared(Reads):
                def get(self, key): ...
            class Plain:
                def get(self, key): ...
            class Deriving(Plain, Reads): ...
            """,
            tests__test_a="""
            from typing import Protocol
            class Fake(Protocol):
                def get(self, key): ...
            """,
        )
    )
    assert found.edges("OVERRIDES") == {("b.py:Plain.get", "a.py:Reads.get"), ("b.py:Declared.get", "a.py:Reads.get")}
    rules = {edge.rule for edge in found.results["b.py"].edges if edge.kind == "OVERRIDES"}
    assert rules == {"satisfies", "same_method"}


def test_a_value_with_too_many_alternatives_has_the_classes_that_the_source_declares(resolve):
    many = "".join(f"class Shape{i}:\n    def draw(self, page): ...\n" for i in range(70))
    found = resolve(
        files(
            a=many
            + "class Group:\n    def add(self): ...\n"
            + "def group(shape) -> Group: return shape\n"
            + "def show(shape):\n    shape = group(shape)\n    shape.add()\n    shape.draw(1)\n"
            + "def unsure(shape):\n    shape.draw(1)\n    shape.turn_it(1)\n"
            + "class Extra:\n    def turn_it(self, by): ...\n"
            + "".join(f"show(Shape{i}())\nunsure(Shape{i}())\n" for i in range(70))
        )
    )
    calls = {(caller.rpartition(":")[2], callee.rpartition(":")[2]) for caller, callee in found.edges("CALLS")}
    assert {(caller, callee) for caller, callee in calls if caller in ("show", "unsure")} == {
        ("show", "group"),
        ("show", "Group.add"),
        ("unsure", "Extra.turn_it"),
    }


def test_a_callable_object_that_a_library_receives_is_referred_to_by_its_call_method(resolve):
    found = resolve(
        files(
            a="""
            from somewhere.test import Client, run_simple
            class Shop:
                def __call__(self, environ): ...
                def client(self):
                    return ShopClient(self, buffered=True)
                def run(self):
                    run_simple("localhost", application=self)
                def show(self):
                    print(self)
                def fill(self):
                    return Basket(self)
            class ShopClient(Client):
                pass
            class Basket:
                def __init__(self, shop): ...
            """,
        )
    )
    users = {caller for caller, used in found.edges("REFERENCES") if used == "a.py:Shop.__call__"}
    assert users == {"a.py:Shop.client", "a.py:Shop.run"}
    assert "a.py:Shop.__call__" not in {called for _, called in found.edges("CALLS")}
