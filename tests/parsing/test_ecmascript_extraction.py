"""Facts that are read from single JavaScript and TypeScript files."""

from __future__ import annotations

import pytest

from graphmem.parsing.extract import extract
from graphmem.parsing.facts import FileFacts, Import
from graphmem.parsing.grammar import load_grammar


def facts(source: str, language: str = "typescript") -> FileFacts:
    return extract("a." + {"typescript": "ts", "javascript": "js", "tsx": "tsx"}[language], source.encode(), language, "0")


def defined(source: str, language: str = "typescript") -> list[tuple[str, str]]:
    return [(one.kind, one.qualname) for one in facts(source, language).definitions[1:]]


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_the_grammar_folders_fit_the_installed_grammars(language):
    assert load_grammar(language).terms.builds


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_functions_are_found_however_they_are_written(language):
    source = """
    function plain() {}
    async function* stream() {}
    const arrow = () => 1, named = function other() {}
    export const wrapped = memo(() => 1)
    const api = { method() {}, field: () => 1, 'quoted': () => 1, [computed]() {} }
    Thing.prototype.run = function () {}
    exports.late = () => 1
    items.map((item) => item)
    """
    assert defined(source, language) == [
        ("function", "plain"),
        ("function", "stream"),
        ("function", "arrow"),
        ("function", "named"),
        ("function", "wrapped"),
        ("variable", "api"),
        ("method", "api.method"),
        ("method", "api.field"),
        ("method", "run"),
        ("function", "late"),
    ]


def test_classes_have_their_members_and_what_they_are():
    source = """
    @Injectable()
    export abstract class Box<T> extends Base implements Shape, Other<T> {
      static made = 0
      #secret = 1
      constructor(private readonly store: Store, plain: number) { super() }
      get size(): number { return 1 }
      static async load() {}
      private hidden() {}
      abstract draw(): void
      onClick = async () => 1
    }
    """
    found = facts(source)
    box = found.definitions[1]
    assert (box.kind, box.qualname, box.modifiers) == ("class", "Box", ("abstract", "exported"))
    assert [found.terms[term][1] for _, term in box.bases[:2]] == ["Base", "Shape"]
    assert len(box.bases) == 3
    assert box.start_line == 2, "decorators and `export` belong to it"
    assert [(one.kind, one.name, one.modifiers) for one in found.definitions[2:]] == [
        ("variable", "made", ()),
        ("variable", "#secret", ()),
        ("method", "constructor", ()),
        ("variable", "store", ()),
        ("method", "size", ("property",)),
        ("method", "load", ("async", "static")),
        ("method", "hidden", ("private",)),
        ("method", "draw", ("abstract",)),
        ("method", "onClick", ("async",)),
    ]
    assert [parameter.name for parameter in found.definitions[4].parameters] == ["store", "plain"]


def test_types_of_typescript_are_symbols():
    source = """
    interface Shape extends Other { area(): number; name: string; inline(x: { not: string }): void }
    type Alias = Shape | null
    type Props = { open: boolean; close(): void }
    enum Color { Red, Green = 2 }
    namespace Tools { export function saw() {} }
    declare function outside(x: number): string
    """
    assert defined(source) == [
        ("interface", "Shape"),
        ("method", "Shape.area"),
        ("variable", "Shape.name"),
        ("method", "Shape.inline"),
        ("type", "Alias"),
        ("interface", "Props"),
        ("variable", "Props.open"),
        ("method", "Props.close"),
        ("enum", "Color"),
        ("variable", "Color.Red"),
        ("variable", "Color.Green"),
        ("class", "Tools"),
        ("method", "Tools.saw"),
        ("function", "outside"),
    ]


def test_what_is_exported_and_by_default_is_marked():
    source = "export const a = 1, b = () => 1\nexport function c() {}\nexport default function () {}\nconst d = 1\n"
    marked = {one.name: one.modifiers for one in facts(source).definitions[1:]}
    assert marked == {"a": ("exported",), "b": ("exported",), "c": ("exported",), "default": ("default", "exported"), "d": ()}


def test_every_form_of_import_says_what_it_binds():
    source = """import "side"
import one, { two, three as four } from "m"
import * as all from "n"
import type { T } from "t"
export { five, six as seven } from "o"
export * from "p"
export * as ns from "q"
export { local as out }
const eight = require("r"), { nine, ten: eleven } = require("s"), twelve = require("t").part
const lazy = () => import("u")
"""
    said = [(one.kind, one.module, one.name, one.alias, one.exported_as) for one in facts(source).imports]
    assert [row for row in said if row[0] not in ("require", "dynamic")] == [
        ("import", "side", "", "", ""),
        ("from", "m", "default", "one", ""),
        ("from", "m", "two", "two", ""),
        ("from", "m", "three", "four", ""),
        ("import", "n", "", "all", ""),
        ("from", "t", "T", "T", ""),
        ("reexport", "o", "five", "", "five"),
        ("reexport", "o", "six", "", "seven"),
        ("reexport", "p", "*", "", ""),
        ("reexport", "q", "", "", "ns"),
        ("reexport", "", "local", "", "out"),
    ]
    required = {row[1:4] for row in said if row[0] == "require"}
    assert {("r", "", "eight"), ("s", "nine", "nine"), ("s", "ten", "eleven"), ("t", "part", "twelve")} <= required
    assert ("dynamic", "u", "", "", "") in said
    assert all(isinstance(one, Import) for one in facts(source).imports)


def test_a_comment_right_above_is_the_documentation():
    source = """
    /**
     * Opens the door.
     * Slowly.
     *
     * More.
     * @param key the key
     */
    export function open(key) {}
    // not documentation
    function shut() {}
    class A {
      /** Knocks. @returns nothing */
      knock() {}
    }
    """
    docs = {one.qualname: one.doc for one in facts(source, "javascript").definitions}
    assert docs["open"] == "Opens the door. Slowly."
    assert docs["shut"] == ""
    assert docs["A.knock"].startswith("Knocks.")


def test_tests_are_functions_named_by_their_titles():
    source = 'describe("door", () => {\n  it("opens v1.2", async () => { open() })\n  test.each([1])("n", () => {})\n})\n'
    found = facts(source, "javascript")
    assert [(one.qualname, one.modifiers) for one in found.definitions[1:]] == [("door", ("test",)), ("door.opens v1·2", ("test",))]


def test_what_a_function_without_a_name_returns_or_declares_is_not_its_surroundings():
    source = "function f(items) {\n  items.map(function (x) { return x.a })\n  return items\n}\nitems.forEach(() => { const inside = 1 })\n"
    found = facts(source, "javascript")
    returned = [found.terms[binding.value] for binding in found.bindings if binding.op == "return"]
    assert returned == [(0, "items")]
    assert [one.name for one in found.definitions] == ["a", "f"]


def test_names_taken_apart_are_bound_one_by_one():
    found = facts("function f({ a, b: { c }, d = 1, ...rest }, [e, ...others]) {}\nconst { x, y: z } = make()\n", "javascript")
    bound = {found.terms[binding.target][1] for binding in found.bindings}
    assert bound == {"a", "c", "d", "rest", "e", "others", "x", "z"}


def test_broken_code_leaves_what_can_be_read():
    found = facts("export function good() {}\nclass {{{ broken\nfunction also() { return 1 }\n")
    assert "good" in [one.name for one in found.definitions]
    assert found.error_count > 0
    assert found.diagnostics[0][1] == "syntax"


def test_the_place_of_a_called_name_is_not_an_argument_before_it():
    source = 'client("delete:cart").delete(url);\nlist.get("get").get(url);\n'
    calls = {(one.name_line, one.name_column) for one in facts(source).references if one.kind == "call"}
    assert calls == {(1, 0), (1, 22), (2, 5), (2, 16)}
