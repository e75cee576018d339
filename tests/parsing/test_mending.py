"""Code of TypeScript and Go that the grammars do not know is read as what it is, in its place."""

from __future__ import annotations

import time

import pytest

from graphmem.parsing.chunks import chunk
from graphmem.parsing.extract import extract
from graphmem.parsing.grammar import load_grammar
from graphmem.parsing.languages.ecmascript_components import code_of
from graphmem.parsing.languages.ecmascript_mending import mended
from graphmem.parsing.salvage import parsed
from graphmem.parsing.sources import Source

OVERLOADS = """import type { Env } from './env'

// two generic call signatures, and one with a comment between
export interface Ünï<
  E extends Env = {},
> extends Base<{ a: 1 }> {
  // first
  <T>(a: T): T
  // second
  <T, U>(
    a: T,
    b: { (x: U): T },
  ): [T, U]
  (plain: string): `a${string}`
  [key: string]: unknown
  in?: boolean
}

type Hook = {
  <T>(initial: T | (() => T)): [T, (value: T) => void]
  <T = undefined>(): [T | undefined, (value?: T) => void]
}

interface Last {
  (data: string): void
  (data: number): number
}

export const use = (options: {
  (a: string): void
  (b: number): void
}) => behind(options)

export function behind(value: unknown) { return value }
"""


def _facts(source: str, path: str = "a.ts"):
    return extract(path, source.encode(), "tsx" if path.endswith("x") else "typescript", "")


@pytest.mark.parametrize("path", ["a.ts", "a.tsx"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_signatures_without_semicolons_are_parsed_and_everything_stands_where_it_does(path, end):
    source = OVERLOADS.replace("\n", end)
    facts = _facts(source, path)
    assert (facts.error_count, facts.diagnostics) == (0, ())
    lines = source.split(end)
    found = {one.name: one for one in facts.definitions}
    assert {"Ünï", "Hook", "Last", "use", "behind"} <= found.keys()
    for name in ("Ünï", "Hook", "Last", "use", "behind"):
        one = found[name]
        assert lines[one.name_line - 1][one.name_column :].startswith(name)
    data = source.encode()
    assert data[found["Last"].start_byte : found["Last"].end_byte].decode().endswith("number): number" + end + "}")
    assert ";" not in found["Ünï"].signature
    (call,) = [one for one in facts.references if one.kind == "call"]
    assert lines[call.line - 1][call.column :].startswith("behind(options)")


def test_what_is_searched_and_shown_is_the_text_of_the_file():
    grammar, data = load_grammar("typescript"), (OVERLOADS * 20).encode()
    tree = parsed(grammar, data)
    assert tree is not None
    assert not tree.root_node.has_error
    assert all(";" not in one.text for one in chunk(extract("a.ts", data, "typescript", ""), Source(data, "utf-8", ()), "p", tree=tree))


def test_types_that_are_handed_on_as_a_whole_are_a_reexport():
    facts = _facts("export type * from './types'\nexport type * as all from './more'\n")
    assert facts.error_count == 0
    assert {(one.kind, one.name, one.module) for one in facts.imports} == {("reexport", "*", "./types"), ("reexport", "", "./more")}


@pytest.mark.parametrize(
    "source",
    [
        "const a = {\n  b: c\n  (d)\n}\n",  # of a value: a call
        "function f() {\n  a\n  (b)\n}\n",
        "const f = () => {\n  a\n  [0]\n}\n",
        "class A {\n  a = b\n  (c)\n}\n",
        "interface A {\n  a:\n    (b: string) => void\n  c: keyof\n    (D)\n  e: new\n    () => F\n  g: |\n    (H)\n}\n",
        "interface A {\n  a: B<\n    (c: D) => E,\n    [F]\n  >\n  g(\n    [h]: I\n  ): void\n}\n",
        "interface A {\n  a: 'x\\'\n  (b)'\n  /* c\n  (d) */\n  // e\n}\n",
        "type A = B\nconst c = {\n  d: e\n  (f)\n}\n",
        "const s = `\ninterface A {\n  a: b\n  (c): d\n}\n`\n",
    ],
)
def test_nothing_else_gets_a_semicolon(source):
    assert mended(source.encode()) == source.encode()


@pytest.mark.parametrize(
    "source", [b"", b"(", b"`", b"interface", b"interface A {", b"}}}}\n  (", b"\xff\xfe{:{\n  (", b"interface A {\n a\n (" * 50]
)
def test_any_bytes_are_as_long_as_before_with_their_lines(source):
    found = mended(source)
    assert len(found) == len(source)
    assert [at for at, one in enumerate(found) if one == 10] == [at for at, one in enumerate(source) if one == 10]


def test_long_names_of_macros_are_read_in_linear_time():
    """A name of capitals may be taken for one macro only: as several, the ways to divide it double with each letter."""
    source = b"int f(void)\nABCDEFGHIJKLMNOPQRSTUVWXYZ_" * 200 + b"A" * 5000 + b"?\n"
    assert load_grammar("c").helper.mended(source) == source


def test_a_component_keeps_the_bytes_of_its_code_in_their_places():
    source = b'<template>\r\n  <A :on="go(1)">{{ \xc3\xbc }} {no}</A>\r\n</template>\r\n<script>\r\ngo()\r\n</script>\r\n'
    code = code_of(source)
    assert len(code) == len(source)
    assert [line.strip() for line in code.split(b"\r\n")] == [
        b"",
        b";(A);  ;(go(1));;( \xc3\xbc );",
        b"",
        b"",
        b"go()",
        b";",
        b"",
    ]
    assert code_of(b"let a = <T>b\n") == b"let a = <T>b\n"


def test_a_component_is_parsed_without_errors():
    source = b"<script>\nfunction a() {}\n</script>\n<template>\n<B\n  :a='a'/>\n{{ a }}\n</template>\n"
    facts = extract("A.vue", source, "typescript", "")
    assert facts.error_count == 0
    assert [(one.name, one.start_line) for one in facts.definitions[1:]] == [("a", 2)]


def test_an_object_in_an_attribute_at_the_end_of_a_line_is_a_value():
    source = (
        b'<template>\n<Menu\n  :use="{\n    delete: false,\n    edit: may(1),\n  }"\n  :to="`/a`"\n  @save="save(2)"\n/>\n</template>\n'
    )
    for text in (source, source.replace(b"\n", b"\r\n")):
        facts = extract("A.vue", text, "typescript", "")
        assert facts.error_count == 0
        assert sorted(one.line for one in facts.references if one.kind == "call") == [5, 8]


def test_a_script_in_a_comment_is_left_out():
    source = (
        b"<!--\n<script>\nfunction old() {}\n</script>\n-->\n<script>\nconst begin = '<!--'\nfunction a() {}\n</script>\n<p>{a()}</p>\n"
    )
    facts = extract("A.svelte", source, "typescript", "")
    assert [(one.name, one.start_line) for one in facts.definitions[1:]] == [("begin", 7), ("a", 8)]
    assert any(one.kind == "call" and one.line == 10 for one in facts.references)


@pytest.mark.parametrize(
    "part",
    [
        b"{" + b" as" * 20_000,
        b"<script>" * 8_000,
        b"<script '" * 8_000,
        b"<!--" * 20_000,
        b"{{" * 30_000,
        b" v-for='x' v-for=\"" + b" in " * 20_000,
    ],
)
def test_parts_of_components_without_an_end_take_little_work(part):
    begun = time.process_time()
    assert len(code_of(b"<template></template>\n" + part)) == 22 + len(part)
    assert len(code_of(b"<div></div>\n" + part)) == 12 + len(part)
    assert time.process_time() - begun < 3, "in time proportional to the square of the length it takes more than 4 s"


NEW_VALUES = """package shop

import "time"

// new(comment(1))
func Make(tags Tags) *Item {
	plain := new(int)
	handler := new(map[string]func(int) int)
	boxes := new(lib.Box[Item])
	return &Item{
		At:    new(time.Now()),
		Count: new(12),
		Tags:  new(tags.Build(1, new(2.5))),
		Text:  new("new(1)"),
	}
}

func Last() { Make(nil) }
"""


def test_go_may_give_a_value_to_new():
    facts = extract("shop.go", NEW_VALUES.encode(), "go", "")
    assert (facts.error_count, facts.diagnostics) == (0, ())
    assert [one.name for one in facts.definitions[1:]] == ["Make", "Last"]
    names = {(one.line, facts.terms[facts.terms[one.term][1]][-1]) for one in facts.references if one.kind == "call"}
    assert {(11, "Now"), (13, "Build"), (7, "new"), (9, "new"), (18, "Make")} <= names


def test_types_given_to_new_stay_as_they_are():
    helper = load_grammar("go").helper
    same = b'a(new(int), new([]T), new([4]byte), new(*p.T), new(struct{ F func() }), new(B[K, V]), b.new(f()), "new(f())", `new(1)`)'
    assert helper.mended(same) == same
    assert helper.mended(b"f(new(g()))") == b"f(   (g()))"


@pytest.mark.parametrize("path", ["a.ts", "a.tsx"])
@pytest.mark.parametrize("given", ["typeof import('./cart')", 'import("./cart").Cart'])
def test_the_type_of_a_module_may_be_the_only_argument_of_a_call(path, given):
    source = (
        f"vi.mock('./cart', async original => {{\n  const real = await original<{given}>()\n  return {{ ...real, sum: total() }}\n}})\n"
    )
    facts = _facts(source + "function total() { return 1 }\n", path)
    assert not facts.diagnostics
    assert [one.name for one in facts.definitions if one.kind == "function"] == ["total"]


def test_a_page_of_erb_without_code_has_no_errors_and_ruby_stays_ruby():
    page = '<div class="box">\n  <a href="/log?user=%28Users%29&what%5B%5D=users">It\'s moved</a>\n</div>\n'
    assert extract("app/views/moved.html.erb", page.encode(), "ruby", "").error_count == 0
    code = b"<<~TEXT.strip\n  hello\nTEXT\ndef total; end\n"
    assert [one.name for one in extract("a.rb", code, "ruby", "").definitions[1:]] == ["total"]
