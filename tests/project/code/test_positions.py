"""Symbols at positions of files: definitions, uses, imports."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from graphmem.errors import SymbolNotFoundError
from graphmem.model import WRITTEN_KINDS, file_id
from graphmem.project.graphmem import GraphMem
from graphmem.runtime.texts.places import Written, packed, unpacked
from graphmem.settings import Settings

PYTHON = {
    "a.py": """import b
from b import thing as renamed, Base


class Child(Base):
    x: Base = None

    def go(self, other: Base) -> Base:
        # a comment about thing
        renamed(1); self.go(other)
        é = "ünï 😀"; b.thing(é)
        return self.go(
            renamed(2)).go(3)
""",
    "b.py": "class Base:\n    pass\n\n\ndef thing(n):\n    return n\n",
}
TYPESCRIPT = {
    "src/b.ts": "export class Base { go(): Base { return this } }\nexport function thing(n: number) { return n }\n"
    "export default class Main {}\n",
    "src/a.ts": "import Main, { thing as renamed, Base } from './b';\n"
    "export class Child extends Base {\n  x: Base = new Base();\n  run(m: Main): Base { renamed(1); return this.x.go() }\n}\n",
}
GO = {
    "go.mod": "module example.com/m\n\ngo 1.22\n",
    "b/b.go": "package b\n\ntype Base struct{}\n\nfunc (b *Base) Go() *Base { return b }\n\nfunc Thing(n int) int { return n }\n",
    "a.go": 'package m\n\nimport (\n\tz "example.com/m/b"\n)\n\n'
    "type Child struct {\n\tz.Base\n\tx *z.Base\n}\n\nfunc (c *Child) Run(o z.Base) *z.Base {\n\tz.Thing(1)\n\treturn c.x.Go()\n}\n",
}
JAVA = {
    "src/main/java/p/Base.java": "package p;\npublic class Base {\n  public Base go() { return this; }\n"
    "  public static int thing(int n) { return n; }\n}\n",
    "src/main/java/q/Child.java": "package q;\nimport p.Base;\nclass Child extends Base {\n  Base x = new Base();\n"
    "  Base run(Base other) { Base.thing(1); return x.go(); }\n}\n",
}

RUST = {
    "Cargo.toml": '[package]\nname = "shop"\n\n[dependencies]\nanyhow = "1"\n',
    "src/lib.rs": "pub mod price;\nmod cart;\n",
    "src/price.rs": "pub struct Price { pub value: u32 }\npub enum Kind { Net, Gross }\npub trait Told { fn told(&self) -> u32; }\n"
    "impl Price {\n    pub fn new(value: u32) -> Price { Price { value } }\n}\n"
    "impl Told for Price {\n    fn told(&self) -> u32 { self.value }\n}\n"
    "pub fn kind(value: u32) -> Kind { Kind::Net }\n",
    "src/cart.rs": "use anyhow::{anyhow, Result};\n"
    "use crate::{\n    // the first\n    price::{self, Price, kind as kind_of},\n    price::Kind,\n};\n\n"
    'fn check(one: &Price) -> Result<()> {\n    assert_eq!(kind_of(one.value), Kind::Gross);\n    Err(anyhow!("no"))\n}\n',
}


@pytest.fixture
def opened(tmp_path):
    found = []

    def make(files, name="tree"):
        root = tmp_path / name
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        memory = GraphMem.open(tmp_path / f"{name}-index", settings=Settings(embedder="none"))
        found.append(memory)
        memory.index(root)
        return memory

    yield make
    for memory in found:
        memory.close()


def meant(memory, file):
    """(text, role, reference) of each occurrence, and that each range holds its text."""
    answer = memory.occurrences(file)
    lines = (Path(memory.project().root) / file).read_text(encoding="utf-8").split("\n")
    for one in answer.occurrences:
        line, where = lines[one.range.line - 1], one.range
        assert line[where.column : where.end_column] == one.text
        assert line.encode("utf-16-le")[2 * where.utf16_column : 2 * where.utf16_end_column].decode("utf-16-le") == one.text
        assert line.encode()[where.utf8_column : where.utf8_end_column].decode() == one.text
        for column, unit in ((where.column, "characters"), (where.utf16_column, "utf16"), (where.utf8_end_column, "utf8")):
            assert memory.symbol_at(file, where.line, column, unit).occurrence.range == where
    return [(one.text, one.role, one.symbol.ref) for one in answer.occurrences]


def test_python_tells_definitions_uses_and_imports(opened):
    memory = opened(PYTHON)
    assert meant(memory, "a.py") == [
        ("b", "import", "b.py:<module>"),
        ("b", "import", "b.py:<module>"),
        ("thing", "import", "b.py:thing"),
        ("renamed", "import", "b.py:thing"),
        ("Base", "import", "b.py:Base"),
        ("Child", "definition", "a.py:Child"),
        ("Base", "use", "b.py:Base"),
        ("x", "definition", "a.py:Child.x"),
        ("Base", "use", "b.py:Base"),
        ("go", "definition", "a.py:Child.go"),
        ("Base", "use", "b.py:Base"),
        ("Base", "use", "b.py:Base"),
        ("renamed", "use", "b.py:thing"),
        ("go", "use", "a.py:Child.go"),
        ("b", "use", "b.py:<module>"),
        ("thing", "use", "b.py:thing"),
        ("go", "use", "a.py:Child.go"),
        ("renamed", "use", "b.py:thing"),
        ("go", "use", "a.py:Child.go"),  # the only class of this type that has the member
    ]


def test_each_part_of_a_dotted_import_leads_to_its_module(opened):
    memory = opened({"t/__init__.py": "", "t/skip.py": "def f():\n    return 1\n", "a.py": "import t.skip\n\nt.skip.f()\n"})
    assert [memory.symbol_at("a.py", 1, column).symbol.path for column in (7, 9, 12)] == ["t/__init__.py", "t/skip.py", "t/skip.py"]


def test_typescript_tells_what_is_imported_and_declared(opened):
    found = meant(opened(TYPESCRIPT), "src/a.ts")
    for wanted in (
        ("Main", "import", "src/b.ts:Main"),
        ("thing", "import", "src/b.ts:thing"),
        ("renamed", "import", "src/b.ts:thing"),
        ("Main", "use", "src/b.ts:Main"),
        ("renamed", "use", "src/b.ts:thing"),
        ("go", "use", "src/b.ts:Base.go"),
    ):
        assert wanted in found
    assert found.count(("Base", "use", "src/b.ts:Base")) == 4  # the base, the field, its value, the result


def test_go_tells_qualified_types_and_methods(opened):
    found = meant(opened(GO), "a.go")
    assert ("Thing", "use", "b/b.go:Thing") in found
    assert ("Go", "use", "b/b.go:Base.Go") in found
    assert found.count(("Base", "use", "b/b.go:Base")) >= 3


def test_java_tells_imports_types_and_static_calls(opened):
    found = meant(opened(JAVA), "src/main/java/q/Child.java")
    base = "src/main/java/p/Base.java"
    assert ("Base", "import", f"{base}:Base") in found
    assert ("thing", "use", f"{base}:Base.thing") in found
    assert ("go", "use", f"{base}:Base.go") in found
    assert found.count(("Base", "use", f"{base}:Base")) >= 4


def test_rust_tells_each_name_of_a_use_and_of_a_macro(opened):
    found = meant(opened(RUST), "src/cart.rs")
    price = "src/price.rs"
    assert [one for one in found if one[1] == "import" and one[2].startswith("src/price")] == [
        ("price", "import", f"{price}:<module>"),
        ("Price", "import", f"{price}:Price"),
        ("kind", "import", f"{price}:kind"),
        ("kind_of", "import", f"{price}:kind"),
        ("price", "import", f"{price}:<module>"),
        ("Kind", "import", f"{price}:Kind"),
    ]
    for wanted in (
        (f"{price}:kind", "kind_of"),
        (f"{price}:Price.value", "value"),
        (f"{price}:Kind.Gross", "Gross"),
        (f"{price}:Kind", "Kind"),
    ):
        assert (wanted[1], "use", wanted[0]) in found
    assert ("anyhow", "import", "anyhow.anyhow") in found  # the macro has the name of its crate


def test_rust_tells_the_types_of_an_impl_header(opened):
    memory = opened(RUST)
    assert [memory.symbol_at("src/price.rs", line, column).symbol.qualname for line, column in ((4, 5), (7, 5), (7, 14))] == [
        "Price",
        "Told",
        "Price",
    ]
    assert [one.symbol.path for one in memory.symbol("Price").callers] == ["src/price.rs"]  # a header is not a use


def test_a_local_variable_named_like_a_module_is_not_the_module(opened):
    memory = opened(
        {
            "price.py": "class Price:\n    def total(self):\n        return 1\n",
            "a.py": ("from price import Price\n\n\ndef bill(price: Price):\n    return price.total()\n"),
        }
    )
    assert memory.symbol_at("a.py", 5, 12).symbol is None
    assert memory.symbol_at("a.py", 5, 18).symbol.qualname == "Price.total"


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        (99, 0, "the file ends at line 13"),
        (3, 0, "the line is blank"),
        (9, 20, "the position is in a comment"),
        (11, 15, "the position is in a string"),
        (4, 500, "the line is blank"),
        (5, 500, "the line ends at column 18"),
        (8, 5, "'def' is a keyword, a local name, or a name whose definition is not known"),
        (8, 0, "the position is not on a name"),
    ],
)
def test_a_position_on_no_symbol_has_a_reason(opened, line, column, reason):
    answer = opened(PYTHON).symbol_at("a.py", line, column)
    assert (answer.symbol, answer.occurrence, answer.reason) == (None, None, reason)


@pytest.mark.parametrize("line", range(1, PYTHON["a.py"].count("\n") + 1))
def test_without_a_column_the_definition_on_the_line_is_meant_or_else_its_first_name(opened, line):
    memory = opened(PYTHON)
    there = [one for one in memory.occurrences("a.py").occurrences if one.range.line == line]
    own = [one for one in there if one.symbol.kind != "external"]
    first = next((one for one in there if one.role == "definition"), next(iter([*own, *there]), None))
    answer = memory.symbol_at("a.py", line)
    assert answer.occurrence == first
    assert bool(answer.reason) == (first is None)


def test_an_unknown_file_is_refused_and_an_empty_one_has_a_reason(opened):
    memory = opened({**PYTHON, "empty.py": "\n"})
    with pytest.raises(SymbolNotFoundError, match="the index has no file"):
        memory.symbol_at("c.py", 1)
    answer = memory.occurrences("empty.py")
    assert not answer.occurrences
    assert "defines no symbol" in answer.reason


def test_a_file_that_changed_since_says_so(opened, tmp_path):
    memory = opened(PYTHON)
    assert not memory.occurrences("b.py").is_stale
    (tmp_path / "tree" / "b.py").write_text("# moved\n" + PYTHON["b.py"])
    assert memory.occurrences("b.py").is_stale
    assert memory.symbol_at("b.py", 5, 5).is_stale


def test_edits_leave_the_occurrences_of_a_full_index(opened, tmp_path):
    memory = opened(PYTHON)
    tree = tmp_path / "tree"
    for edits in (
        {"b.py": "# moved\n\n" + PYTHON["b.py"]},
        {"b.py": PYTHON["b.py"].replace("thing", "other")},
        {"a.py": PYTHON["a.py"].replace("thing as renamed", "other as renamed")},
        {"c.py": "from a import Child\nChild().go(1)\n"},
        {"c.py": None},
    ):
        for path, text in edits.items():
            if text is None:
                (tree / path).unlink()
            else:
                (tree / path).write_text(text)
        assert memory.index(tree).mode == "incremental"
        with GraphMem.open(tmp_path / f"fresh-{len(edits)}-{abs(hash(str(edits)))}", settings=Settings(embedder="none")) as fresh:
            fresh.index(tree)
            for path in ("a.py", "b.py", "c.py"):
                held, wanted = (one.parts.store.places([file_id(one.project().name, path)]) for one in (memory, fresh))
                assert held == wanted
                assert bool(held) == ((tree / path).exists() and path != "b.py")


def test_packed_occurrences_are_read_back_whole():
    rows = [Written(line, 7 * line % 5, 3, WRITTEN_KINDS[line % 8], line % 100 + 1, f"{line % 4:020x}") for line in range(1, 300)]
    data = packed(reversed(rows), WRITTEN_KINDS)
    assert unpacked(data, WRITTEN_KINDS) == sorted(rows)
    assert packed(rows, WRITTEN_KINDS) == data
    assert unpacked(packed([], WRITTEN_KINDS), WRITTEN_KINDS) == []
    cut = zlib.compress(zlib.decompress(data)[:-1])
    with pytest.raises(ValueError, match="incomplete"):
        unpacked(cut, WRITTEN_KINDS)
