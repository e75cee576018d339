"""JavaScript and TypeScript that is cyclic, huge, broken or made to be followed for ever: bounded time, no wrong edges."""

from __future__ import annotations

import cProfile
import json
import time
from pathlib import Path

from graphmem.parsing.discovery import discover
from graphmem.parsing.extract import extract


def test_modules_that_import_each_other_end(resolve):
    files = {
        "a.ts": 'export * from "./b"\nexport { x as y } from "./b"\nimport { y } from "./b"\nexport function one() { y() }\n',
        "b.ts": 'export * from "./a"\nexport { y as x } from "./a"\nimport { one } from "./a"\none()\n',
        "c.js": 'module.exports = require("./d")\nrequire("./d").go()\n',
        "d.js": 'module.exports = require("./c")\nmodule.exports()\n',
        "e.ts": 'import e, { f } from "./e"\nexport { f } from "./e"\nexport default e\nf()\n',
    }
    assert resolve(files).edges("CALLS") & {("b.ts:<module>", "a.ts:one")}
    inside = {edge for edge in resolve(files).edges("CALLS") if not edge[1].startswith("ecmascript:")}
    assert inside == {("b.ts:<module>", "a.ts:one")}


def test_classes_and_interfaces_that_extend_themselves_end(resolve):
    found = resolve(
        {
            "a.ts": "class A extends A { f() { this.g(); super.h(); this.f() } }\ninterface I extends I { f(): I }\n"
            "class B extends C { b() { this.c() } }\nclass C extends B { c() { this.b() } }\nfunction run(i: I) { i.f().f() }\n",
            "b.js": "function F() {}\nF.prototype = Object.create(F.prototype)\nF.prototype.m = function () { this.n(); this.m() }\n",
        }
    )
    assert found.edges("CALLS") == {
        ("a.ts:A.f", "a.ts:A.f"),
        ("a.ts:B.b", "a.ts:C.c"),
        ("a.ts:C.c", "a.ts:B.b"),
        ("a.ts:run", "a.ts:I.f"),
        ("b.js:F.prototype.m", "b.js:F.prototype.m"),
    } - {("b.js:F.prototype.m", "b.js:F.prototype.m")} | {("b.js:F.m", "b.js:F.m"), ("b.js:<module>", "ecmascript:Object.create")}


def test_types_that_stand_for_each_other_end(resolve):
    text = """
type A = B
type B = A
type Tree<T> = { left: Tree<T>; right: Tree<Tree<T>> } | T[]
type Deep = Deep["next"] | { next: Deep }
interface Node extends Omit<Node, "x"> { next: Node }
type Loop = typeof loop
const loop: Loop = loop
function f<T extends U, U extends T>(a: A, t: Tree<A>, d: Deep, n: Node, x: T, y: U) {
  a.go(); t.left.right.go(); d.next.next.go(); x.go(); y.go(); loop()
}
const g: typeof g = (x) => g(g)
/** @typedef {Foo} Foo */
"""
    found = resolve(
        {
            "a.ts": text,
            "b.js": "/** @typedef {Foo} Foo */\n/** @param {Foo} x @returns {ReturnType<f>} */\nfunction f(x) { x.go(); f(f) }\n",
        }
    )
    inside = {edge for edge in found.edges("CALLS") if ":" in edge[1] and not edge[1].startswith("ecmascript:")}
    assert inside <= {("a.ts:g", "a.ts:g"), ("b.js:f", "b.js:f")}


def test_literals_and_callbacks_given_to_themselves_end(resolve):
    text = """
function each(run) { return each((x) => run(x)) }
const a = { b: () => a.b(), c() { return this.c().c() }, d: { e: (x) => a.d.e(a) } }
const wrap = (f) => wrap(wrap(f))
wrap((x) => x.go())
export const api = { ...api, run: () => api.run() }
"""
    found = resolve({"a.js": text})
    assert ("a.js:each", "a.js:each") in found.edges("CALLS")


def test_ten_thousand_functions_of_one_name_choose_none(resolve):
    files = {f"m{i}.ts": "export class C { sameName() {} }\n" * 10 for i in range(1000)}
    files["main.ts"] = "export function f(x: any) { x.sameName() }\n"
    begin = time.process_time()
    found = resolve(files)
    assert time.process_time() - begin < 30
    assert found.calls("main.ts", 1) == {}
    assert [row.reason for row in found.results["main.ts"].unresolved] == ["no_receiver_type"]


def test_a_barrel_of_barrels_costs_what_it_exports(resolve):
    files = {f"b{i}.ts": f'export * from "./b{i + 1}"\nexport const f{i} = () => 1\n' for i in range(300)}
    files["b300.ts"] = "export function last() {}\n"
    files["main.ts"] = 'import { last, f7 } from "./b0"\nlast()\nf7()\n'
    found = resolve(files)
    assert ("main.ts:<module>", "b300.ts:last") in found.edges("CALLS")
    assert ("main.ts:<module>", "b7.ts:f7") in found.edges("CALLS")


def test_work_grows_with_the_file_and_not_with_its_square(resolve):
    def calls(count: int) -> int:
        lines = [f"  m{i}: (x) => {{ this.n{i}(x); return api.m{i - 1}(x) }}," for i in range(1, count)]
        text = "const api = {\n" + "\n".join(lines) + "\n}\nmodule.exports = api\n"
        text += "".join(f"items.map((a) => {{\n  a.go({i})\n}})\n" for i in range(count))
        files = {"a.js": text, "b.js": 'const api = require("./a")\n' + "".join(f"api.m{i}(1)\n" for i in range(1, count))}
        profile = cProfile.Profile(builtins=True)
        profile.runcall(resolve, files)
        return sum(row.callcount for row in profile.getstats())

    calls(10)
    small, large = calls(300), calls(1200)
    assert large < 5 * small, f"four times the text took {large / small:.1f} times the work"


def test_a_long_chain_and_deep_nesting_are_cut_and_not_followed(resolve):
    text = "x" + ".then((a) => a.b())" * 1000 + "\ny = " + "[" * 500 + "]" * 500 + "\nz = " + "((a) => " * 300 + "1" + ")" * 300
    text += "\nw = " + "{ a: " * 300 + "1" + " }" * 300 + "\nfunction g() {}\ng()\n"
    assert ("a.js:<module>", "a.js:g") in resolve({"a.js": text}).edges("CALLS")


def test_minified_and_generated_files_are_left_out_and_named(tmp_path: Path):
    (tmp_path / "bundle.js").write_text("!function(){" + "var a=1,b=function(c){return c(a)};" * 20_000 + "}()")
    (tmp_path / "large.js").write_text("export function f() { return 1 }\n" * 70_000)
    (tmp_path / "small.js").write_text("export function f() { return 1 }\n")
    found = discover(tmp_path)
    assert [file.path for file in found.files] == ["small.js"]
    assert {diagnostic.path for diagnostic in found.diagnostics} == {"bundle.js", "large.js"}


def test_a_generated_file_of_two_megabytes_is_read_in_bounded_time(resolve):
    row = ", ".join(f'"{number:08x}"' for number in range(30))
    body = "".join(f"export function made{i}(a) {{ return made{i + 1}(a.b.c(d => d.e()), [{row}]) }}\n" for i in range(5000))
    assert len(body) > 2_000_000
    begin = time.process_time()
    found = resolve({"big.js": body, "use.js": 'import { made7 } from "./big"\nmade7()\n'})
    assert time.process_time() - begin < 40
    assert ("use.js:<module>", "big.js:made7") in found.edges("CALLS")


def test_broken_and_foreign_syntax_keeps_what_can_be_read(resolve):
    text = (
        "export function good() {}\nclass {{{ a b c\n\tfunction mixed() {\n        good()\n\t}\n<<<<<<< HEAD\ngood()\n=======\n>>>>>>> x\n"
    )
    facts = extract("a.ts", text.encode(), "typescript", "0")
    assert facts.error_count > 0
    assert facts.diagnostics[0][1] == "syntax"
    assert "a.ts:good" in {dst for _, dst in resolve({"a.ts": text}).edges("CALLS")}


def test_types_in_comments_may_be_nonsense(resolve):
    comments = [
        "{",
        "{{{",
        "{[}",
        "{import('}",
        "{" + "a" * 5000 + "}",
        "{function(",
        "{...}",
        "{?}",
        "{A<}",
        "{*}",
        "{ }",
        "x",
        "{A}\n * " * 50,
    ]
    text = "".join(
        f"/** @param {comment} x @returns {comment} @type {comment} @typedef {comment} */\nfunction f{i}(x) {{ x.go() }}\n"
        for i, comment in enumerate(comments)
    )
    assert resolve({"a.js": text + "f0()\n"}).edges("CALLS") >= {("a.js:<module>", "a.js:f0")}


def test_configurations_with_cycles_and_nonsense_do_no_harm(resolve):
    configurations = {
        "tsconfig.json": {
            "extends": ["./a", "./tsconfig.json", 4, "@none/base"],
            "references": [{"path": "."}],
            "compilerOptions": {"paths": {"@/*": ["./src/*", 3], "x": "y"}},
        },
        "a.json": {"extends": "./tsconfig.json"},
        "tsconfig.app.json": {"extends": "./tsconfig.json", "compilerOptions": {"baseUrl": 3, "paths": []}},
        "package.json": {
            "name": "root",
            "workspaces": {"packages": 3},
            "exports": {".": {"import": {"default": None}}, "./a/*": "./*"},
            "imports": [],
            "main": {},
        },
        "packages/a/package.json": {"name": "root", "exports": [[["./x.js"]]], "module": 4},
        "packages/b/package.json": [1, 2],
    }
    files = {path: json.dumps(document) for path, document in configurations.items()}
    files |= {
        "src/lib.ts": "export function lib() {}\n",
        "src/main.ts": 'import { lib } from "@/lib"\nimport { x } from "root"\nimport { y } from "root/a/src/lib"\n'
        'import z from "x"\nlib()\nx()\nz()\n',
        "jsconfig.json": "{ not json",
    }
    assert ("src/main.ts:<module>", "src/lib.ts:lib") in resolve(files).edges("CALLS")


def test_super_in_an_object_literal_is_followed_nowhere(resolve):
    found = resolve({"a.js": "const made = { constructor() { super(); super.run() }, run() {} }\nmade.run()\n"})
    assert found.edges("CALLS") <= {("a.js:<module>", "a.js:made.run"), ("a.js:<module>", "a.js:run")}
