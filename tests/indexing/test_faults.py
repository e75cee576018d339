"""No file ends a run: what cannot be used is left out and named, and the index is the one a fresh run makes."""

from __future__ import annotations

import json

import pytest

from graphmem.evidence import trace
from graphmem.evidence.inbox import READERS, prepared
from graphmem.parsing import discovery
from graphmem.parsing.discovery import discover
from graphmem.parsing.ignore import DiscoveryOptions
from graphmem.resolution import resolver as resolving
from graphmem.resolution.ecmascript.configurations import MAX_EXTENDED
from graphmem.resolution.ecmascript.modules import ModulePaths
from graphmem.resolution.files.file_entry import FileEntry
from graphmem.resolution.files.project import Project
from graphmem.resolution.interfaces.layout import MAX_DEPTH, Layout, read_layout

DEEP = 500
NESTED = {
    "package.json": '{"name": "x", "exports": ' + '{"a": ' * DEEP + '"./a.ts"' + "}" * DEEP + "}",
    "sub/package.json": '{"workspaces": ' + "[" * 100_000,
    "sub/tsconfig.json": '{"extends": ' + "[" * DEEP + "]" * DEEP + "}",
    "sub/pyproject.toml": ".".join(["a"] * DEEP) + " = 1\n",
    "sub/Cargo.toml": "a = " + "[" * 5_000,
}
CODE = {"a.ts": "import { b } from './b'\nexport function a() { return b() }\n", "b.ts": "export function b() { return 1 }\n"}


def write(root, files):
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return root


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


def told(summary, code):
    return {row["path"]: row["message"] for row in summary.diagnostics if row["code"] == code}


def test_nesting_is_bounded_said_once_and_no_later_run_ends_by_it(tmp_path, open_memory):
    tree = write(tmp_path / "tree", NESTED | CODE)
    memory = open_memory()
    first = memory.index(tree)
    assert set(told(first, "configuration")) == set(NESTED)
    assert "nested" in told(first, "configuration")["package.json"]
    (tree / "a.ts").write_text(CODE["a.ts"] + "export const c = a()\n", encoding="utf-8")
    second = memory.index(tree)
    assert (second.mode, second.changed) == ("incremental", 1)
    assert not told(second, "configuration")
    assert set(memory.doctor()["failed_files"]) == set(NESTED)
    fresh = open_memory("fresh")
    fresh.index(tree)
    assert lines(memory) == lines(fresh)
    (tree / "package.json").write_text('{"name": "x", "main": "a.ts"}', encoding="utf-8")
    memory.index(tree)
    assert "package.json" not in memory.doctor()["failed_files"]


def test_a_document_may_be_as_deep_as_the_bound(tmp_path):
    def nested(depth):
        return read_layout({"package.json": '{"a":' * depth + "1" + "}" * depth})

    assert nested(MAX_DEPTH)[1] == {}
    assert list(nested(MAX_DEPTH + 1)[1]) == ["package.json"]


VALUES = ["3", '"x"', "[]", "{}", "null", "[3]", '["x"]', '{"a": 3}', '[{"a": []}]', "true", "1e999", '"\\u0000"', '"' + "../" * 50 + '"']
KEYS = ["name", "main", "bin", "exports", "imports", "workspaces", "extends", "compilerOptions", "paths", "baseUrl", "packages", "include"]
TABLES = ["tool", "tool.poetry", "tool.poetry.scripts", "tool.setuptools", "tool.setuptools.packages", "tool.setuptools.packages.find"]
TABLES += ["tool.pytest", "tool.pytest.ini_options", "project", "project.scripts", "project.entry-points", "package", "lib", "dependencies"]
TOML = ["3", '"x"', "[]", "[3]", "nan", "1979-05-27", "true", "[[1], ['a']]", "{a = 1}", "{a = {where = 3}}"]


def test_a_value_of_another_type_than_expected_says_nothing():
    """Every key that is read, with a value of every type; errors nobody foresaw are raised here."""
    for key in KEYS:
        for value in VALUES:
            for inner in (f'{{"{key}": {value}}}', f'{{"compilerOptions": {{"{key}": {value}}}}}', value):
                layout, _ = read_layout({"package.json": inner, "tsconfig.json": inner, "sub/tsconfig.base.json": inner})
                resolver = resolving.Resolver("p", layout)
                for language in ("typescript", "javascript", "rust", "go", "python"):
                    resolver._rules_of(language)
                list(ModulePaths(layout).places("sub/a.ts", "x/y"))
                ModulePaths(layout).entry_files()
    for table in TABLES:
        for value in TOML:
            for text in (f"{table} = {value}\n", f"{table}.where = {value}\n", f"[{table}]\na = {value}\npath = {value}\nname = {value}\n"):
                layout, _ = read_layout({"pyproject.toml": text, "sub/Cargo.toml": text})
                resolving.Resolver("p", layout)._rules_of("rust")
                assert layout == read_layout({"pyproject.toml": text, "sub/Cargo.toml": text})[0]


LONG = 200_000
ENDLESS = {
    "package.json": "/*" * LONG,
    "a/package.json": '"\\' * LONG,
    "b/package.json": '{"workspaces": ["' + "**/" * 60 + 'x", "' + "*a" * 60 + 'b"]}',
    "/".join("a" * 40) + "/package.json": '{"name": "deep"}',
    "a" * 200 + "/package.json": '{"name": "wide"}',
    "go.mod": "\n" * LONG,
    "a.csproj": "<!--" * LONG,
    "b.csproj": "<Using " * LONG,
    "c.csproj": "<Project " + "Sdk " * LONG,
    "d.csproj": "<Using " + "Include=" * LONG + ">",
    "e.csproj": "<ImplicitUsings>" + " " * LONG,
    "c/pnpm-workspace.yaml": "packages:\n  - " + " " * LONG + "x'\n",
    "pyproject.toml": '[project.scripts]\na = "x' + " " * LONG + '!"\n',
    "setup.py": '"a = ' * LONG,
    "setup.cfg": "[options.entry_points]\nconsole_scripts =\n" + "  a = b\n" * 20_000,
}


@pytest.mark.timeout(60)
def test_no_text_takes_for_ever():
    """Each of these would take minutes to years, were a place in it looked at again from every other."""
    layout, refused = read_layout(ENDLESS)
    assert set(refused) == {"package.json", "a/package.json"}
    assert not list(ModulePaths(layout).places("a.ts", "x"))


def test_lists_of_lists_of_configurations_end():
    documents = {f"tsconfig.{n}.json": {"extends": [f"./tsconfig.{n + 1}.json"] * 9} for n in range(2_000)}
    assert not list(ModulePaths(Layout(documents=documents)).places("a.ts", "x/y"))
    chain = {f"tsconfig.{n}.json": {"extends": f"./tsconfig.{n + 1}.json"} for n in range(MAX_EXTENDED - 1)}
    chain[f"tsconfig.{MAX_EXTENDED - 1}.json"] = {"compilerOptions": {"baseUrl": "./src"}}
    assert "src/x" in list(ModulePaths(Layout(documents=chain)).places("a.ts", "x"))


@pytest.mark.parametrize(
    ("pattern", "folder", "is_in"),
    [
        ("packages/*", "packages/a", True),
        ("packages/*", "packages/a/b", False),
        ("packages/**", "packages/a/b", True),
        ("packages/**", "packages", False),
        ("**/x", "a/b/x", True),
        ("a*c*e", "abcde", True),
        ("a*c*e", "abde", False),
        ("*-lib", "a-lib-lib", True),
        ("a+b", "a+b", True),
        ("a+b", "aab", False),
    ],
)
def test_workspaces_are_matched_as_before(pattern, folder, is_in):
    texts = {
        "package.json": json.dumps({"workspaces": [pattern]}),
        f"{folder}/package.json": '{"name": "x"}',
        "0/package.json": '{"name": "x"}',
    }
    home = ModulePaths(read_layout(texts)[0])._packages["x"][0]
    assert home == (folder if is_in else min(folder, "0", key=lambda one: (one.count("/"), one)))


@pytest.mark.parametrize("use_git", [True, False])
def test_lines_of_ignore_files_that_are_not_patterns_are_named(tmp_path, use_git):
    text = "!\n[z-a]\n" + "*a" * 30 + "b\n" + "**/a/" * 30 + "b\n*.log\n# *** a * b * c * d *\n"
    tree = write(tmp_path, {".graphmemignore": text, "a" * 200 + ".py": "", "x.log": "", "a/" * 60 + "c.py": ""})
    found = discover(tree, DiscoveryOptions(use_git=use_git))
    assert "x.log" not in {file.path for file in found.files}
    assert [one.code for one in found.diagnostics] == ["pattern"] * 4
    assert len(found.files) == 3


def test_names_that_are_not_text_are_kept_out_of_what_is_written(tmp_path, open_memory):
    files = {
        "package.json": '{"name": "p", "main": "./\\ud800.ts"}',
        "tsconfig.json": '{"compilerOptions": {"paths": {"\\udc00/*": ["\\ud800/*"]}}}',
        "a.ts": "import x from '\\ud800'\nimport y from './\\udfff/b'\nx(); y('\\ud800')\n",
        "b.py": "import importlib\nx = importlib.import_module('\\ud800.b')\ngetattr(x, '\\ud801')()\n",
        "c.js": b"const a = require('./\\xff\\xfe'); a['\\u{d800}']()\n",
    }
    tree = write(tmp_path / "tree", files)
    memory = open_memory()
    memory.index(tree)
    (tree / "a.ts").write_text("export const z = 1\n", encoding="utf-8")
    memory.index(tree)
    fresh = open_memory("fresh")
    fresh.index(tree)
    assert lines(memory) == lines(fresh)


SHOP = {
    "shop/__init__.py": "",
    "shop/base.py": "class Base:\n    def pay(self):\n        return 1\n",
    "shop/bad.py": "from shop.base import Base\n\nclass Bad(Base):\n    def pay(self):\n        return helper()\n\n\ndef helper(): pass\n",
    "shop/good.py": "from shop.bad import Bad, helper\n\ndef run():\n    helper()\n    return Bad().pay()\n",
}


def _breaking(original, is_at):
    """A function that fails where it is told to, and is the original elsewhere."""

    def broken(*arguments, **named):
        if is_at(*arguments):
            raise ZeroDivisionError("a fault of ours")
        return original(*arguments, **named)

    return broken


def _is_bad(text=b"helper"):
    """By its path, as long as the file says so: a fault that goes away when the file is edited."""
    return lambda entry: entry.path == "shop/bad.py" and any(one.name == text.decode() for one in entry.definitions)


@pytest.fixture(
    params=["looking at it", "reading it", "knowing its definitions", "resolving what it uses", "describing its definitions", "comparing"]
)
def stage(request, monkeypatch):
    """Breaks one stage on one file, as long as that file defines `helper`."""
    name = request.param
    if name == "looking at it":
        wrong = discovery.made_by_machine
        monkeypatch.setattr(discovery, "made_by_machine", _breaking(wrong, lambda data, *_: b"class Bad" in data and b"helper" in data))
    elif name == "reading it":
        from graphmem.parsing import worker

        wrong = worker.extract_parsed
        monkeypatch.setattr(
            worker, "extract_parsed", _breaking(wrong, lambda path, source, *_: path == "shop/bad.py" and b"helper" in source)
        )
    elif name == "knowing its definitions":
        monkeypatch.setattr(FileEntry, "_index", _breaking(FileEntry._index, _is_bad()))
    elif name == "resolving what it uses":
        monkeypatch.setattr(resolving, "resolve_file", _breaking(resolving.resolve_file, lambda _i, _h, entry: _is_bad()(entry)))
    elif name == "describing its definitions":
        monkeypatch.setattr(resolving, "symbol_rows", _breaking(resolving.symbol_rows, _is_bad()))
    else:
        from graphmem.resolution.files import input_contents

        monkeypatch.setattr(input_contents, "Fingerprints", _breaking(input_contents.Fingerprints, _is_bad()))
    return name


@pytest.mark.usefixtures("lenient")
def test_an_error_nobody_foresaw_costs_one_file_and_is_said(tmp_path, open_memory, stage):
    tree = write(tmp_path / "tree", SHOP)
    memory = open_memory()
    first = memory.index(tree)
    if stage != "comparing":  # which is of incremental runs alone, and costs nothing but work
        assert stage in told(first, "internal")["shop/bad.py"]
        assert "ZeroDivisionError: a fault of ours" in told(first, "internal")["shop/bad.py"]
    if stage not in ("looking at it", "comparing"):  # a file that is left out on entry is in no list of the index
        assert memory.doctor()["failed_files"] == ["shop/bad.py"]
        assert stage in memory.doctor()["failures"]["shop/bad.py"]
    assert {"shop/base.py", "shop/good.py"} <= {row["path"] for row in memory.export() if "path" in row}

    for change in ("def more():\n    return 3\n", "class Other(Base):\n    pass\n"):
        base = tree / "shop" / "base.py"
        base.write_text(base.read_text(encoding="utf-8") + change, encoding="utf-8")
        memory.index(tree)
        with_fault = open_memory(f"fresh {len(change)}")
        with_fault.index(tree)
        assert lines(memory) == lines(with_fault)

    (tree / "shop" / "bad.py").write_text(SHOP["shop/bad.py"].replace("helper", "aid"), encoding="utf-8")
    mended = memory.index(tree)
    assert not told(mended, "internal")
    assert memory.doctor()["failed_files"] == []
    fresh = open_memory("mended")
    fresh.index(tree)
    assert lines(memory) == lines(fresh)


@pytest.mark.parametrize("broken", ["_index", "_add"])
def test_such_an_error_fails_a_test_that_does_not_expect_it(tmp_path, open_memory, monkeypatch, broken):
    owner = FileEntry if broken == "_index" else Project
    monkeypatch.setattr(owner, broken, _breaking(getattr(owner, broken), lambda *_: True))
    with pytest.raises(ZeroDivisionError):
        open_memory().index(write(tmp_path / "tree", SHOP))


@pytest.mark.usefixtures("lenient")
def test_evidence_nobody_can_read_is_quarantined(tmp_path, open_memory, monkeypatch):
    tree = write(tmp_path / "tree", SHOP)
    memory = open_memory()
    memory.index(tree)
    folder = prepared(tmp_path / "index")
    (folder / "run.trace").write_bytes(b"anything")
    monkeypatch.setitem(READERS, trace.SUFFIX, READERS[trace.SUFFIX]._replace(read=_breaking(trace.read, lambda *_: True)))
    summary = memory.index(tree)
    assert "run.trace" in told(summary, "internal")[""]
    assert [path.name for path in folder.iterdir()] == ["run.trace.refused"]
    assert memory.index(tree).mode == "unchanged"
