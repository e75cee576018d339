"""Source that is broken, cyclic, huge or made to be followed for ever: bounded time, no wrong edges."""

from __future__ import annotations

import time


def test_import_cycles_end(resolve):
    found = resolve({"a.py": "from b import *\nfrom b import f\nf()\n", "b.py": "from a import *\nfrom a import f\nf()\n"})
    assert found.edges("CALLS") == set()


def test_names_go_through_a_cycle_of_star_imports(resolve):
    found = resolve({"a.py": "from b import *\ndef one(): ...\ntwo()\n", "b.py": "from a import *\ndef two(): ...\none()\n"})
    assert found.edges("CALLS") == {("a.py:<module>", "b.py:two"), ("b.py:<module>", "a.py:one")}


def test_a_class_that_inherits_itself_is_looked_up_once(resolve):
    found = resolve({"a.py": "class A(A):\n    def f(self):\n        self.g()\n        self.f()\n"})
    assert found.edges("CALLS") == {("a.py:A.f", "a.py:A.f")}
    assert found.edges("INHERITS") == set()


def test_classes_that_inherit_each_other_end(resolve):
    found = resolve({"a.py": "class A(B):\n    def a(self): ...\nclass B(A):\n    def b(self):\n        self.a()\n        self.c()\n"})
    assert found.edges("CALLS") == {("a.py:B.b", "a.py:A.a")}


def test_ten_thousand_functions_of_one_name_choose_none(resolve):
    files = {f"m{i}.py": "class C:\n    def same_name(self): ...\n" * 10 for i in range(1000)}
    files["main.py"] = "def f(x):\n    x.same_name()\n"
    begin = time.process_time()
    found = resolve(files)
    assert time.process_time() - begin < 30
    assert found.calls("main.py", 2) == {}
    assert [row.reason for row in found.results["main.py"].unresolved] == ["no_receiver_type"]


def test_a_chain_of_five_thousand_assignments_is_followed(resolve):
    lines = ["class C:", "    def m(self): ...", "x0 = C()"]
    lines += [f"x{i + 1} = x{i}" for i in range(5000)]
    found = resolve({"a.py": "\n".join([*lines, "x5000.m()"])})
    assert ("a.py:<module>", "a.py:C.m") in found.edges("CALLS")


def test_functions_that_call_each_other_with_growing_values_end(resolve):
    text = """
def f(x):
    return g([x])
def g(x):
    return f({"a": x, "b": (x, x)})
def h(x=None):
    x = lambda: x
    return x()
f(1)
h(h)
"""
    assert ("a.py:f", "a.py:g") in resolve({"a.py": text}).edges("CALLS")


def test_partial_applications_of_themselves_end(resolve):
    text = "from functools import partial\nfrom collections import defaultdict\nf = partial(defaultdict, partial(defaultdict, int))\nf()\n"
    text += "g = partial(print)\nfor _ in range(3):\n    g = partial(g)\ng()\n"
    assert resolve({"a.py": text}).edges("CALLS")


def test_a_deeply_nested_expression_is_cut_and_not_followed(resolve):
    text = (
        "x = "
        + "(" * 3000
        + "1"
        + ")" * 3000
        + "\ny = "
        + "f(" * 400
        + ")" * 400
        + "\nz = "
        + "+".join(["a"] * 5000)
        + "\ndef g(): ...\ng()\n"
    )
    assert ("a.py:<module>", "a.py:g") in resolve({"a.py": text}).edges("CALLS")


def test_broken_syntax_keeps_what_is_around_it(resolve):
    found = resolve({"a.py": "def good(): ...\ndef broken(:\n    ]]\ndef also_good():\n    good()\n"})
    assert ("a.py:also_good", "a.py:good") in found.edges("CALLS")


def test_python_2_is_read_as_far_as_it_goes(resolve):
    found = resolve({"a.py": "def f(): pass\nprint 'x', f()\ntry:\n    f()\nexcept Exception, e:\n    raise\nexec 'x'\n"})
    assert ("a.py:<module>", "a.py:f") in found.edges("CALLS")


def test_removing_a_file_nobody_knows_is_fine(resolve):
    assert resolve({}).resolver.update({}, ["never.py"]) == set()


def test_mixed_tabs_and_spaces_keep_calls_in_their_functions(resolve):
    found = resolve({"a.py": "def f(): ...\ndef g():\n\tif f:\n\t\tf()\n        f()\ndef h():\n    f()\n"})
    assert {("a.py:g", "a.py:f"), ("a.py:h", "a.py:f")} <= found.edges("CALLS")


def test_a_package_that_imports_itself_through_its_parts_ends(resolve):
    found = resolve(
        {
            "p/__init__.py": "from p import a\nfrom p.a import *\nfrom .b import late as early\n",
            "p/a.py": "from p import early\nfrom p.b import *\ndef own(): ...\nearly()\n",
            "p/b.py": "from p import own\nimport p.a\ndef late(): ...\nown()\np.a.own()\n",
        }
    )
    assert found.edges("CALLS") == {("p/a.py:<module>", "p/b.py:late"), ("p/b.py:<module>", "p/a.py:own")}


def test_a_generated_file_of_two_megabytes_is_read_in_bounded_time(resolve):
    row = ", ".join(f'"{number:08x}"' for number in range(30))
    body = "".join(f"def made{i}(a):\n    return made{i + 1}(a.b.c(lambda d: d.e()), [{row}])\n" for i in range(5000))
    assert len(body) > 2_000_000
    begin = time.process_time()
    found = resolve({"big.py": body, "use.py": "from big import made7\nmade7()\n"})
    assert time.process_time() - begin < 40
    assert ("use.py:<module>", "big.py:made7") in found.edges("CALLS")
