"""All places of a symbol's name are the occurrences of every file that mean it."""

from __future__ import annotations

import pytest

from graphmem.errors import SymbolNotFoundError
from graphmem.project.code.positions import Positions
from graphmem.project.code.usages import UsageQuestions
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

FILES = {
    "shop/__init__.py": "from shop.price import Price, rounded as cut\n",
    "shop/price.py": (
        "def rounded(value):\n    return round(value, 2)\n\n\nclass Price:\n    def __init__(self, value):\n"
        "        self.value = rounded(rounded(value))\n\n\nclass Sale(Price):\n    pass\n"
    ),
    "shop/again.py": "from shop import cut\nfrom shop import Price\n",
    "shop/late.py": (
        "try:\n    from shop.again import cut\nexcept ImportError:\n    from shop.other import rounded as cut\n\n\n"
        "def late(price):\n    return cut(price)\n"
    ),
    "shop/other.py": "def rounded(value):\n    return value\n\n\ndef unrelated():\n    return rounded(1)\n",
    "shop/loose.py": "def loose(given, total):\n    given.late(1)\n    return given.unrelated(total)\n",
    "tests/test_price.py": "from shop import Price\n\n\ndef test_price():\n    assert Price(1).value == 1\n",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("usages") / "tree"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(root.parent / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        yield opened


def places(found):
    return [(one.path, one.range.line, one.range.column, one.text, one.role, one.confidence) for one in found]


@pytest.mark.parametrize("path", [path for path in FILES if path.endswith(".py")])
def test_usages_are_the_occurrences_of_all_files(memory, path):
    for entry in memory.outline(path).entries:
        wanted = [
            (file, one.range.line, one.range.column, one.text, one.role, one.confidence)
            for file in FILES
            for one in memory.occurrences(file).occurrences
            if one.symbol.id == entry.symbol.id
        ]
        found = memory.usages(entry.symbol.id)
        assert sorted(places(found.usages)) == sorted(wanted), entry.symbol.ref
        assert found.total == len(wanted)
        assert found.usages[0].path == path


def test_an_import_through_two_files_is_a_usage(memory):
    found = memory.usages("shop/price.py:Price")
    assert {one.path for one in found.usages} == {"shop/__init__.py", "shop/price.py", "shop/again.py", "tests/test_price.py"}


def test_a_short_list_says_how_many_there_are(memory):
    found = memory.usages("shop/price.py:Price", limit=2)
    assert (len(found.usages), found.total) == (2, 6)


def test_an_unknown_symbol_is_refused(memory):
    with pytest.raises(SymbolNotFoundError):
        memory.usages("nothing")


def test_calls_that_may_mean_the_symbol_are_counted(memory):
    assert memory.usages("shop/price.py:Price").possible == 0
    assert memory.usages("shop/late.py:late").possible == 1


class Renewed:
    """The graph of an index that is renewed right after an answer took its first view."""

    def __init__(self, memory, root) -> None:
        self._graph, self._memory, self._root = memory.parts.graph, memory, root
        self.is_renewed = False

    def view(self):
        view = self._graph.view()
        if not self.is_renewed:
            self.is_renewed = True
            (self._root / "shop" / "a_first.py").write_text("def one():\n    pass\n\n\ndef two():\n    pass\n")
            self._memory.index(self._root)
        return view

    def __getattr__(self, name):
        return getattr(self._graph, name)


def test_an_answer_during_an_index_run_has_all_usages(tmp_path):
    root = tmp_path / "tree"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        wanted = places(opened.usages("shop/price.py:rounded").usages)
        graph = Renewed(opened, root)
        found = UsageQuestions(graph, Positions(graph)).usages("shop/price.py:rounded")
        assert graph.is_renewed
        assert places(found.usages) == wanted


COUNTERS = {
    "A.java": "class A {\n  int seen = 0;\n  void add() { seen += 2; }\n  boolean set() { seen = 3; return seen > 2; }\n}\n",
    "b.cs": "class B {\n  int seen = 0;\n  void add() { seen += 2; }\n  bool set() { seen = 3; return seen > 2; }\n}\n",
    "c.go": "package c\n\nvar seen = 0\n\nfunc add() { seen += 2 }\n\nfunc set() bool { seen = 3; return seen > 2 }\n",
    "d.ts": "let seen = 0;\nexport function add() { seen += 2; }\nexport function set() { seen = 3; return seen > 2; }\n",
    "e.rs": "static mut SEEN: i32 = 0;\nfn add() { unsafe { SEEN += 2; } }\nfn set() -> bool { unsafe { SEEN = 3; SEEN > 2 } }\n",
    "f.py": "seen = 0\n\n\ndef add():\n    global seen\n    seen += 2\n\n\ndef set():\n    global seen\n    seen = 3\n    return seen\n",
    "g.ts": "export let given = 0;\nexport function own() { let given = 1; given = 2; return given; }\n",
}


def test_assignments_to_a_variable_outside_the_function_and_later_reads_are_usages(tmp_path):
    """A rename would else leave the old name there."""
    for path, text in COUNTERS.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as opened:
        opened.index(tmp_path)
        uses = {
            path: [
                opened.usages(one.symbol.id).usages for one in opened.outline(path).entries if one.symbol.name.lower() in ("seen", "given")
            ]
            for path in COUNTERS
        }
    lines = {path: [one.range.line for one in found[0] if one.role == "use"] for path, found in uses.items()}
    assert lines == {
        "A.java": [3, 4, 4],
        "b.cs": [3, 4, 4],
        "c.go": [5, 7, 7],
        "d.ts": [2, 3, 3],
        "e.rs": [2, 3, 3],
        "f.py": [6, 11, 12],
        "g.ts": [],
    }
    for path, found in uses.items():
        written = COUNTERS[path].split("\n")
        assert {written[one.range.line - 1][one.range.column : one.range.end_column].lower() for one in found[0]} <= {"seen", "given"}
