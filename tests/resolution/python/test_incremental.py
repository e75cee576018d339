"""After any edits the edges are those a fresh start gives, and what nobody else sees stays local."""

from __future__ import annotations

import random
import re
from contextlib import contextmanager
from pathlib import Path

import pytest
import starlette

from graphmem.parsing.discovery import content_hash
from graphmem.parsing.extract import extract
from graphmem.parsing.packing import pack, unpack_facts
from graphmem.resolution import resolver as resolver_module
from graphmem.resolution.cache import dependents
from graphmem.resolution.files.shelf import Shelf
from graphmem.resolution.resolver import Resolver

ROOT = Path(starlette.__file__).parent
SOURCES = {f"starlette/{path.relative_to(ROOT).as_posix()}": path.read_text() for path in sorted(ROOT.rglob("*.py"))}


class Tree:
    """Sources being edited, with the facts of every version seen."""

    def __init__(self):
        self.texts = dict(SOURCES)
        self._facts = {}

    def facts(self, path):
        key = (path, self.texts[path])
        if key not in self._facts:
            self._facts[key] = extract(path, key[1].encode(), "python", content_hash(key[1].encode()))
        return self._facts[key]

    def read(self, path, hashed, language):
        """The facts of any version seen, as other objects."""
        (found,) = (facts for (at, _), facts in self._facts.items() if at == path and facts.content_hash == hashed)
        assert found.language == language
        return unpack_facts(pack(found, []).facts)

    def all_facts(self):
        return {path: self.facts(path) for path in self.texts}


class Kept:
    """A resolver that lives through the edits, with the latest resolution of every file."""

    def __init__(self, tree, shelf=None):
        self.tree = tree
        self.resolver = Resolver("p", shelf=shelf)
        self.results = {}
        self.apply(tree.texts, ())

    def apply(self, changed, removed):
        todo = self.resolver.update({path: self.tree.facts(path) for path in changed}, removed)
        for path in removed:
            self.results.pop(path, None)
        for path in sorted(todo):
            self.results[path] = self.resolver.resolve(path)
        return todo


def fresh_results(tree, order):
    resolver = Resolver("p")
    resolver.update(tree.all_facts(), ())
    return {path: resolver.resolve(path) for path in order}


def delete_lines(rng, lines, texts):
    start = rng.randrange(len(lines))
    del lines[start : start + rng.randrange(1, 6)]


def blank_line(rng, lines, texts):
    lines.insert(rng.randrange(len(lines) + 1), "")


def rename_something(rng, lines, texts):
    names = re.findall(r"(?:def|class) (\w+)", "\n".join(lines))
    if names:
        name = rng.choice(names)
        lines[:] = re.sub(rf"\b{name}\b", f"{name}_x", "\n".join(lines), count=rng.choice([0, 1])).split("\n")


def swap_lines(rng, lines, texts):
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def new_statements(rng, lines, texts):
    ends = [i for i, line in enumerate(lines) if line.lstrip().startswith("def ") and line.rstrip().endswith(":")]
    names = re.findall(r"def (\w+)", rng.choice([texts[path] for path in sorted(texts)])) or ["len"]
    if ends:
        position = rng.choice(ends)
        indent = " " * (len(lines[position]) - len(lines[position].lstrip()) + 4)
        lines[position + 1 : position + 1] = [f"{indent}zz = {rng.choice(names)}(self)", f"{indent}return zz.{rng.choice(names)}()"]


def other_annotation(rng, lines, texts):
    text = "\n".join(lines)
    names = re.findall(r": (\w+)[,)=]", text)
    if names:
        lines[:] = re.sub(rf"\b{rng.choice(names)}\b", rng.choice(names), text, count=1).split("\n")


def drop_import(rng, lines, texts):
    imports = [i for i, line in enumerate(lines) if line.startswith(("from ", "import "))]
    if imports:
        del lines[rng.choice(imports)]


def other_bases(rng, lines, texts):
    headers = [i for i, line in enumerate(lines) if re.match(r"class \w+\(", line)]
    if headers:
        position = rng.choice(headers)
        base = rng.choice(re.findall(r"class (\w+)", "\n".join(lines)))
        lines[position] = re.sub(r"\(", f"({base}, ", lines[position], count=1)


def new_decorator(rng, lines, texts):
    starts = [i for i, line in enumerate(lines) if line.lstrip().startswith("def ")]
    if starts:
        position = rng.choice(starts)
        indent = " " * (len(lines[position]) - len(lines[position].lstrip()))
        lines.insert(position, f"{indent}@{rng.choice(['property', 'staticmethod', 'classmethod', 'functools.wraps(x)'])}")


def new_members(rng, lines, texts):
    starts = [i for i, line in enumerate(lines) if re.match(r"    def \w+\(self", line) and not lines[i - 1].lstrip().startswith("@")]
    names = sorted({name for text in texts.values() for name in re.findall(r"(?:def |self\.)(\w+)", text)})
    if starts:
        body = rng.choice(["return self.{}", "self.{} = self", "self.{}.append(self)", "return self.{}()"]).format(rng.choice(names))
        lines[(at := rng.choice(starts)) : at] = [f"    def {rng.choice(names)}(self, given=None):", f"        {body}", ""]


EDITS = [
    new_members,
    delete_lines,
    blank_line,
    rename_something,
    swap_lines,
    new_statements,
    other_annotation,
    drop_import,
    other_bases,
    new_decorator,
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_any_sequence_of_edits_gives_what_a_fresh_start_gives(seed, monkeypatch):
    if seed % 2:  # a project of this size would never be worth the reverse indexes
        limits = [(dependents, "FEW_GROUPS", 40), (dependents, "FEW_ANSWERS", 40)]
    else:  # a project of this size would never forget answers
        limits = [(resolver_module, "_LOOK", 7), (resolver_module, "MAX_ANSWERS", 1_000)]

    @contextmanager
    def limited():
        """Only for the resolver that lives on: the fresh one, which says what is right, keeps its answers."""
        with monkeypatch.context() as patch:
            for module, name, limit in limits:
                patch.setattr(module, name, limit)
            yield

    rng = random.Random(seed)
    tree = Tree()
    shelf = Shelf(tree.read, 200_000) if seed % 2 == 0 else None  # room for a tenth of the facts
    with limited():
        kept = Kept(tree, shelf)
    for step in range(18):
        changed, removed = set(), set()
        for _ in range(rng.choice([1, 1, 2, 3])):
            path = rng.choice(sorted(SOURCES))
            choice = rng.random()
            if choice < 0.1 and path in tree.texts:
                del tree.texts[path]
                removed.add(path)
                changed.discard(path)
                continue
            if choice < 0.25:
                tree.texts[path] = SOURCES[path]
            elif path in tree.texts:
                lines = tree.texts[path].split("\n")
                rng.choice(EDITS)(rng, lines, tree.texts)
                tree.texts[path] = "\n".join(lines)
            else:
                continue
            changed.add(path)
            removed.discard(path)
        with limited():
            kept.apply(sorted(changed), sorted(removed))
        order = sorted(tree.texts)
        rng.shuffle(order)
        fresh = fresh_results(tree, order)
        wrong = sorted(path for path in fresh if fresh[path] != kept.results.get(path))
        assert not wrong, f"step {step} after changes of {sorted(changed)}, removal of {sorted(removed)}: {wrong}"
    assert shelf is None or shelf.reads > len(SOURCES)


@pytest.fixture(scope="module")
def kept():
    return Kept(Tree())


def edited(kept, path, old, new):
    text = kept.tree.texts[path]
    assert old in text
    kept.tree.texts[path] = text.replace(old, new, 1)
    todo = kept.apply([path], ())
    kept.tree.texts[path] = text
    kept.apply([path], ())
    return todo


def test_editing_inside_a_function_stays_in_the_file(kept):
    found = edited(kept, "starlette/requests.py", "    def url(self) -> URL:\n", "    def url(self) -> URL:\n        print(1)\n")
    assert found == {"starlette/requests.py"}


def test_moving_lines_stays_in_the_file(kept):
    assert edited(kept, "starlette/datastructures.py", "class URL:", "\n\n\nclass URL:") == {"starlette/datastructures.py"}


def test_a_new_function_is_nobody_elses_business(kept):
    found = edited(kept, "starlette/concurrency.py", "import warnings", "import warnings\n\n\ndef entirely_new():\n    return 1\n\n")
    assert found == {"starlette/concurrency.py"}


def test_a_changed_result_reaches_those_who_use_it(kept):
    found = edited(kept, "starlette/requests.py", "def url(self) -> URL:", "def url(self) -> Address:")
    assert {"starlette/requests.py", "starlette/authentication.py"} <= found
    assert len(found) < len(SOURCES)


def test_a_changed_method_reaches_those_who_ask_for_it_and_not_all_who_know_its_class(kept):
    found = edited(kept, "starlette/requests.py", "def url(self) -> URL:", "def url(self, more=None) -> URL:")
    users = {"starlette/requests.py", *(path for path, text in SOURCES.items() if re.search(r"\.url\b", text))}
    assert found <= users
    assert "starlette/routing.py" not in found  # uses requests all over, and not their address


@pytest.mark.parametrize(
    "new",
    ["    def entirely_new(self):\n        return 1\n\n", "    def entirely_new(self):\n        self.something_new = 1\n\n"],
    ids=["method", "method that assigns an attribute"],
)
def test_a_new_method_of_a_class_with_many_users_is_resolved_alone(kept, new):
    place = "    def url(self) -> URL:\n"
    at = tuple(kept.tree.texts["starlette/requests.py"].partition("    @property\n" + place))
    assert at[1]
    assert edited(kept, "starlette/requests.py", at[1], new + at[1]) == {"starlette/requests.py"}


def test_a_new_method_reaches_those_who_look_up_its_name():
    texts = {
        "base.py": "class Base:\n    def old(self): ...\n",
        "use.py": "from base import Base\nBase().fresh()\n",
        "other.py": "from base import Base\nBase().old()\n",
        "all.py": "from base import Base\ndef run(kind): getattr(Base(), 'fre' + kind)()\n",
    }
    other = {**texts, "base.py": texts["base.py"] + "    def fresh(self): ...\n"}
    resolver = Resolver("p")
    resolver.update({path: extract(path, text.encode(), "python", "") for path, text in texts.items()}, ())
    before = {path: resolver.resolve(path) for path in texts}
    todo = resolver.update({"base.py": extract("base.py", other["base.py"].encode(), "python", "x")}, ())
    assert todo == {"base.py", "use.py", "all.py"}
    after = {**before, **{path: resolver.resolve(path) for path in todo}}
    fresh = Resolver("p")
    fresh.update({path: extract(path, text.encode(), "python", "x" if path == "base.py" else "") for path, text in other.items()}, ())
    assert after == {path: fresh.resolve(path) for path in other}


def test_nothing_changed_asks_for_nothing(kept):
    assert kept.resolver.update({}, ()) == set()


def test_the_order_of_files_does_not_matter():
    tree = Tree()
    forward = fresh_results(tree, sorted(tree.texts))
    assert fresh_results(tree, sorted(tree.texts, reverse=True)) == forward


def test_a_resolver_restored_from_its_dependencies_goes_on_like_the_first():
    tree = Tree()
    kept = Kept(tree)
    restored = Resolver("p")
    restored.remember(kept.resolver.dependencies())
    restored.update(tree.all_facts(), ())
    path = "starlette/requests.py"
    tree.texts[path] = tree.texts[path].replace("def url(self) -> URL:", "def url(self) -> Address:", 1)
    todo = restored.update({path: tree.facts(path)}, ())
    assert todo == kept.apply([path], ())
    assert {one: restored.resolve(one) for one in sorted(todo)} == {one: kept.results[one] for one in todo}


def test_forgetting_answers_changes_none(kept):
    path = "starlette/routing.py"
    before = kept.resolver.resolve(path)
    kept.resolver.forget_answers()
    assert kept.resolver.resolve(path) == before


def test_an_attribute_assigned_elsewhere_reaches_its_class():
    texts = {
        "car.py": "class Car:\n    engine = None\n    def drive(self):\n        self.engine.start()\n",
        "engines.py": "class Steam:\n    def start(self): ...\nclass Diesel:\n    def start(self): ...\n",
        "build.py": "from car import Car\nfrom engines import Steam, Diesel\ndef build():\n    car = Car()\n    car.engine = Steam()\n",
    }
    other = {**texts, "build.py": texts["build.py"].replace("= Steam()", "= Diesel()")}
    resolver = Resolver("p")
    resolver.update({path: extract(path, text.encode(), "python", "") for path, text in texts.items()}, ())
    before = {path: resolver.resolve(path) for path in texts}
    todo = resolver.update({"build.py": extract("build.py", other["build.py"].encode(), "python", "")}, ())
    after = {**before, **{path: resolver.resolve(path) for path in todo}}
    fresh = Resolver("p")
    fresh.update({path: extract(path, text.encode(), "python", "") for path, text in other.items()}, ())
    assert "car.py" in todo
    assert after["car.py"] != before["car.py"]
    assert after == {path: fresh.resolve(path) for path in other}


PROTOCOL = "from typing import Protocol\nclass Reads(Protocol):\n    def get(self, key): ...\n"
DISK = "class Disk:\n    def get(self, key): ...\n"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("", PROTOCOL),
        (PROTOCOL, ""),
        (PROTOCOL, PROTOCOL + "    def put(self, key): ...\n"),
        (PROTOCOL, PROTOCOL.replace("key", "key, other")),
        (PROTOCOL, PROTOCOL + "    name: str\n"),
        (PROTOCOL, PROTOCOL.replace("(Protocol)", "(object)")),
    ],
)
def test_an_edit_of_a_protocol_reaches_the_classes_that_satisfied_it_or_now_do(first, then):
    resolver = Resolver("p")
    resolver.update({"a.py": extract("a.py", first.encode(), "python", ""), "disk.py": extract("disk.py", DISK.encode(), "python", "")}, ())
    before = {path: resolver.resolve(path) for path in ("a.py", "disk.py")}
    todo = resolver.update({"a.py": extract("a.py", then.encode(), "python", "x")}, ())
    after = {**before, **{path: resolver.resolve(path) for path in todo}}
    fresh = Resolver("p")
    fresh.update({"a.py": extract("a.py", then.encode(), "python", "x"), "disk.py": extract("disk.py", DISK.encode(), "python", "")}, ())
    assert after == {path: fresh.resolve(path) for path in ("a.py", "disk.py")}
    assert [edge.rule for edge in before["disk.py"].edges if edge.kind == "OVERRIDES"] == ["satisfies"] * bool(first)
    assert [edge.rule for edge in after["disk.py"].edges if edge.kind == "OVERRIDES"] == ["satisfies"] * (not first)


SHAPES = {
    "a.py": "class Plain: ...\ndef build(base):\n    class Built(base): ...\n\n"
    "class Shape:\n    kind = Plain\n    def make(self):\n        return build(self.kind)\n",
    "b.py": "from a import Shape\nclass Solid: ...\nclass Cube(Shape):\n    kind = Solid\n",
}


def test_a_base_known_through_subclasses_in_later_files_is_known_at_the_first_update():
    resolver = Resolver("p")
    resolver.update({path: extract(path, text.encode(), "python", content_hash(text.encode())) for path, text in SHAPES.items()}, ())
    first = {path: resolver.resolve(path) for path in SHAPES}
    ids = {row.qualname: row.id for path in SHAPES for row in resolver.symbols(path)}
    inherits = {edge[1:3] for edge in first["a.py"].edges if edge.kind == "INHERITS"}
    assert inherits == {(ids["build.Built"], ids["Plain"]), (ids["build.Built"], ids["Solid"])}
    resolver.forget_answers()
    assert {path: resolver.resolve(path) for path in SHAPES} == first


READER = (
    "class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\n"
    "def read(raw=False):\n    if raw:\n        return A()\n    return B()\n"
)


@pytest.mark.parametrize(
    "edit", [("if raw:", "if not raw:"), ("if raw:", "if other:"), ("raw=False", "raw=True"), ("    if raw", "    raw = 1\n    if raw")]
)
def test_an_edit_of_a_condition_reaches_the_calls_whose_results_it_excludes(edit):
    texts = {"a.py": READER, "use.py": "from a import read\nfound = read()\nfound.go()\n"}
    other = {**texts, "a.py": READER.replace(*edit)}
    resolver = Resolver("p")
    resolver.update({path: extract(path, text.encode(), "python", "") for path, text in texts.items()}, ())
    before = {path: resolver.resolve(path) for path in texts}
    todo = resolver.update({"a.py": extract("a.py", other["a.py"].encode(), "python", "x")}, ())
    after = {**before, **{path: resolver.resolve(path) for path in todo}}
    fresh = Resolver("p")
    fresh.update({path: extract(path, text.encode(), "python", "x" if path == "a.py" else "") for path, text in other.items()}, ())
    assert after["use.py"] != before["use.py"]
    assert after == {path: fresh.resolve(path) for path in other}


FIELDS = {
    "kinds.py": "class A:\n    def go(self): ...\nclass B:\n    def go(self): ...\n",
    "box.py": "from attr import attrs, attrib\n@attrs\nclass Box:\n    other = attrib(default=None)\n    held = attrib(default=None)\n"
    "    def run(self):\n        self.held.go()\n\ndef act(one): one.go()\n",
    "use.py": "from box import Box\nfrom kinds import A, B\nBox(None, A())\n",
    "tests/test_box.py": "import pytest\nfrom box import act\nfrom kinds import A, B\nKINDS = [A()]\n"
    "@pytest.mark.parametrize('one', KINDS)\nclass TestBox:\n    def test_act(self, one): act(one)\n",
}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("use.py", "A())", "B())"),
        ("use.py", "None, A()", "A(), None"),
        ("box.py", "@attrs\n", ""),
        ("box.py", "    other = attrib(default=None)\n", ""),
        ("box.py", "    def run", "    def __init__(self, other, held): ...\n    def run"),
        ("tests/test_box.py", "[A()]", "[B()]"),
        ("tests/test_box.py", "@pytest.mark.parametrize('one', KINDS)\n", ""),
        ("tests/test_box.py", "'one', KINDS", "'one', [B()]"),
    ],
)
def test_what_a_field_or_a_tests_parameter_is_given_reaches_the_code_that_uses_it(path, old, new):
    other = {**FIELDS, path: FIELDS[path].replace(old, new, 1)}
    resolver = Resolver("p")
    resolver.update({at: extract(at, text.encode(), "python", "") for at, text in FIELDS.items()}, ())
    before = {at: resolver.resolve(at) for at in FIELDS}
    todo = resolver.update({path: extract(path, other[path].encode(), "python", "x")}, ())
    after = {**before, **{at: resolver.resolve(at) for at in todo}}
    fresh = Resolver("p")
    fresh.update({at: extract(at, text.encode(), "python", "x" if at == path else "") for at, text in other.items()}, ())
    assert after["box.py"] != before["box.py"]
    assert after == {at: fresh.resolve(at) for at in other}
