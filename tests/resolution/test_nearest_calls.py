"""Unrelated packages of one tree share names: the calls of one package do not hide those of another."""

from __future__ import annotations

import random

import pytest

from graphmem.parsing.extract import extract
from graphmem.resolution.files.call_sites import MAX_CALL_SITES, MAX_SAMPLED, CallSites, nearest
from graphmem.resolution.files.shelf import Shelf
from graphmem.resolution.resolver import Resolver
from graphmem.resolution.rules import AMBIGUOUS_LIMIT

OTHERS = {f"aaa/m{number}.py": f"from aaa.base import handle\nhandle({number})\nhandle('a')\n" for number in range(MAX_CALL_SITES // 2 + 1)}
OWN = {
    "aaa/base.py": "def handle(x): ...\n",
    "zzz/one.py": "class One:\n    def fetch(self): ...\n",
    "zzz/two.py": "class Two:\n    def fetch(self): ...\n",
    "zzz/base.py": "def handle(x):\n    x.fetch()\n",
    "zzz/use.py": "from zzz.base import handle\nfrom zzz.one import One\nhandle(One())\n",
}


def facts_of(sources):
    return {path: extract(path, text.encode(), "python", str(hash(text))) for path, text in sources.items()}


def test_a_call_in_the_own_package_counts_however_many_others_call_the_name(resolve):
    found = resolve(OTHERS | OWN)
    assert found.calls("zzz/base.py", 2) == {("zzz/one.py", 2): "inferred_type"}


def test_after_edits_of_near_and_far_calls_the_edges_are_those_of_a_fresh_start():
    sources = OTHERS | OWN
    kept = Resolver("p")
    results = {path: kept.resolve(path).edges for path in sorted(kept.update(facts_of(sources), ()))}
    edits = [
        {"zzz/use.py": "from zzz.base import handle\nfrom zzz.two import Two\n\n\nhandle(Two())\n"},  # other argument, other line
        {"zzz/near.py": "from zzz.base import handle\nfrom zzz.one import One\nhandle(One())\n"},
        {"zzz/near.py": "\n\nfrom zzz.base import handle\nfrom zzz.one import One\nhandle(One())\n"},
        {"aaa/m3.py": "from zzz.base import handle\nfrom zzz.two import Two\nhandle(Two())\n"},
        {f"aaa/m{number}.py": "pass\n" for number in range(20)},  # now all calls are read
    ]
    for edit in edits:
        sources |= edit
        results |= {path: kept.resolve(path).edges for path in sorted(kept.update(facts_of(edit), ()))}
        fresh = Resolver("p")
        assert results == {path: fresh.resolve(path).edges for path in sorted(fresh.update(facts_of(sources), ()))}


@pytest.mark.parametrize("seed", range(20))
def test_near_files_come_first(seed):
    chance = random.Random(seed)
    paths = sorted({"/".join(chance.choices("ab", k=chance.randint(1, 4))) + ".py" for _ in range(30)})
    near = chance.choice([*paths, "b/a/zz.py", "zz.py"])
    folders = near.split("/")[:-1]

    def distance(path):
        shared = 0
        while shared < len(folders) and path.split("/")[:-1][shared : shared + 1] == folders[shared : shared + 1]:
            shared += 1
        return path != near, -shared

    found = list(nearest(paths, near))
    assert sorted(found) == paths
    assert [distance(path) for path in found] == sorted(map(distance, paths))
    assert list(nearest(paths, "")) == paths


def test_calls_of_a_name_are_listed_once_for_all_that_ask(monkeypatch):
    """Each definition of a common name asks for its callers; sorting thousands of them again each time made the index quadratic."""
    resolver = Resolver("p")
    listed = []
    real = CallSites._call_sites
    monkeypatch.setattr(CallSites, "_call_sites", lambda self, name, near: listed.append((name, near)) or real(self, name, near))
    sources = {f"m{number}.py": f"def run(a, b, c):\n    a.x(), b.y(), c.z()\nrun({number}, 'a', 1.5)\n" for number in range(20)}
    for path in sorted(resolver.update(facts_of(sources), ())):
        resolver.resolve(path)
    assert listed.count(("run", "")) == 1


def test_definitions_of_a_common_name_are_read_once_for_all_files():
    """A call on an unknown receiver looks at the definitions of its name, and stops when they are too many to mean anything."""
    many = 10 * AMBIGUOUS_LIMIT
    sources = {f"a{number}.py": "class A:\n    def fetch_all(self): ...\n" for number in range(many)}
    sources |= {f"b{number}.py": f"def use{number}():\n    unknown().fetch_all()\n" for number in range(many)}
    facts = facts_of(sources)
    shelf = Shelf(lambda path, _hash, _language: facts[path], budget=1)
    resolver = Resolver("p", shelf=shelf)
    for path in sorted(resolver.update(facts, ())):
        resolver.resolve(path)
    assert shelf.reads < 10 * many


def test_files_whose_calls_would_not_count_are_not_read():
    """The callers of a common name are sampled: the facts of the others stay on the disk."""
    facts = facts_of(OTHERS | OWN)
    shelf = Shelf(lambda path, _hash, _language: facts[path], budget=1)
    resolver = Resolver("p", shelf=shelf)
    resolver.update(facts, ())
    before = shelf.reads
    resolver.resolve("zzz/base.py")
    assert shelf.reads - before <= MAX_SAMPLED < len(OTHERS)


def test_subclasses_without_a_member_are_not_read_for_it():
    """A call on a base class may run the method of any subclass: the facts of those without the method stay on the disk."""
    many = 60
    sources = {f"sub{number}.py": "from base import Base\nclass Sub(Base):\n    def other(self): ...\n" for number in range(many)}
    sources |= {"base.py": "class Base:\n    def run(self): ...\n", "use.py": "from base import Base\ndef go(one: Base): one.run()\n"}
    facts = facts_of(sources)
    shelf = Shelf(lambda path, _hash, _language: facts[path], budget=1)
    resolver = Resolver("p", shelf=shelf)
    resolver.update(facts, ())
    before = shelf.reads
    resolver.resolve("use.py")
    assert shelf.reads - before < 10


def test_the_call_in_a_decorator_and_the_decoration_are_two_calls(resolve):
    """`@variant(Kind())` calls `variant`, and what that returns is called with the function."""
    source = (
        "class Kind:\n    def name(self): ...\n"
        "class Other:\n    def name(self): ...\n"
        "def variant(kind):\n"
        "    kind.name()\n"
        "    def decorator(f):\n"
        "        def wrapper(*args):\n"
        "            return f(*args)\n"
        "        return wrapper\n"
        "    return decorator\n"
        "@variant(Kind())\n"
        "def one(): ...\n"
    )
    found = resolve({"a.py": source})
    assert found.calls("a.py", 6) == {("a.py", 2): "inferred_type"}
    assert found.calls("a.py", 9).keys() == {("a.py", 13)}


SUBCLASSES, READERS = 200, 60


def _attribute_of_many_subclasses():
    """Many functions read an attribute of a base class. One of its many subclasses assigns the attribute, too."""
    sources = {"base.py": "class Base:\n    kind = 0\n"}
    names = ["kind", *("other" for _ in range(SUBCLASSES - 1))]
    sources |= {f"m{at}.py": f"from base import Base\nclass C{at}(Base):\n    {name} = {at}\n" for at, name in enumerate(names)}
    read = "from base import Base\ndef read(x: Base):\n    x.kind.bit_length()\n"
    return sources | {f"r{at}.py": read for at in range(READERS)}


def _noted(resolver):
    """Return the number of inputs and groups that the dependencies of all files list."""
    found = resolver.dependencies()
    return sum(len(group or ()) for group in found.groups) + sum(map(len, found.inputs.values()))


def test_subclasses_are_noted_once_for_all_readers_of_an_attribute():
    """Each reader depended on each subclass, so dependencies grew with the product of both."""
    resolver = Resolver("p")
    for path in sorted(resolver.update(facts_of(_attribute_of_many_subclasses()), ())):
        resolver.resolve(path)
    assert _noted(resolver) < 20 * SUBCLASSES + 60 * READERS < SUBCLASSES * READERS


def test_an_inherited_attribute_is_noted_without_all_bases_of_its_class():
    """Each attribute depended on each base, and on the resolution order, which depends on the bases as well."""
    depth, names = 40, 60
    lines = ["class C0:", *(f"    def f{name}(self): ..." for name in range(names))]
    lines += (f"class C{at}(C{at - 1}):\n    def g{at}(self): ..." for at in range(1, depth))
    uses = [f"from m import C{depth - 1} as Last", *(f"def u{name}(x: Last):\n    x.f{name}()" for name in range(names))]
    resolver = Resolver("p")
    sources = {"m.py": "\n".join(lines), "u.py": "\n".join(uses)}
    found = {path: resolver.resolve(path) for path in sorted(resolver.update(facts_of(sources), ()))}
    assert sum(edge.kind == "CALLS" for edge in found["u.py"].edges) == names
    assert _noted(resolver) < 20 * depth + 30 * names


@pytest.mark.parametrize("changed", ["class C7(Base):\n    kind = Two()\n", "class C7(Base):\n    pass\n", "class C7:\n    kind = 7\n"])
def test_after_an_edit_of_one_of_many_subclasses_the_edges_are_those_of_a_fresh_start(changed):
    sources = _attribute_of_many_subclasses() | {"two.py": "class Two:\n    def bit_length(self): ...\n"}
    kept = Resolver("p")
    results = {path: kept.resolve(path).edges for path in sorted(kept.update(facts_of(sources), ()))}
    sources |= (edit := {"m7.py": f"from base import Base\nfrom two import Two\n{changed}"})
    results |= {path: kept.resolve(path).edges for path in sorted(kept.update(facts_of(edit), ()))}
    fresh = Resolver("p")
    assert results == {path: fresh.resolve(path).edges for path in sorted(fresh.update(facts_of(sources), ()))}
