"""Default values of parameters run in each call of their function, except in Python."""

from __future__ import annotations

import pytest

RUN_IN_CALLS = {
    "a.ts": "function made() { return 1 }\nexport function f(a = made()) { return a }\n",
    "b.js": "function made() { return 1 }\nfunction f(a, b = [made(a)]) { return b }\n",
    "c.rb": "def made\n  1\nend\ndef f(a, b = made)\n  b\nend\n",
    "d.cpp": "int made() { return 1; }\nint f(int a = made()) { return a; }\n",
    "e.php": "<?php\nclass made {}\nfunction f($a = new made()) { return $a; }\n",
    "f.kt": "fun made() = 1\nfun f(a: Int = made()) = a\n",
    "g.scala": "def made() = 1\ndef f(a: Int = made()) = a\n",
}


@pytest.mark.parametrize("path", RUN_IN_CALLS)
def test_a_default_value_is_code_of_its_function(resolve, path):
    assert resolve({path: RUN_IN_CALLS[path]}).edges("CALLS") == {(f"{path}:f", f"{path}:made")}


def test_a_default_value_in_python_runs_with_the_definition(resolve):
    source = "def made(): ...\ndef f(a=made()): ...\n"
    assert resolve({"a.py": source}).edges("CALLS") == {("a.py:<module>", "a.py:made")}


def test_a_default_value_of_a_method_may_call_methods_of_its_class(resolve):
    source = "class Items {\n    fun first() = 1\n    fun get(index: Int = first()) = index\n}\n"
    assert resolve({"a.kt": source}).edges("CALLS") == {("a.kt:Items.get", "a.kt:Items.first")}


def test_only_the_default_value_of_a_header_belongs_to_the_function(resolve):
    source = "function tag(x: any) { return x }\nclass A { constructor() {} @tag(1) run(a: number) {} }\n"
    assert ("a.ts:A.run", "a.ts:tag") not in resolve({"a.ts": source}).edges("CALLS")
