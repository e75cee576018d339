"""Promises about `grammars/`: everything compiles, and says only what the documentation explains."""

from __future__ import annotations

import random
import re
import time
from dataclasses import fields
from pathlib import Path

import pytest
from tree_sitter import Query, QueryCursor

from graphmem.errors import GrammarError, UnsupportedLanguageError
from graphmem.parsing import grammar as grammar_module
from graphmem.parsing import language as language_module
from graphmem.parsing import syntax
from graphmem.parsing.extract import extract
from graphmem.parsing.grammar import CAPTURES, QUERY_FILES, load_grammar, query_text
from graphmem.parsing.language import EntryPointRule, Written, language_of_path, language_spec, languages
from graphmem.runtime.data.conventions import Conventions, conventions_by_language
from graphmem.runtime.data.resources import data_root

NAMES = sorted(languages())


@pytest.mark.parametrize("name", NAMES)
def test_every_query_file_compiles(name):
    grammar = load_grammar(name)
    assert grammar.query.pattern_count > 0
    for file in QUERY_FILES:
        Query(grammar.language, query_text(name, file))


@pytest.mark.parametrize("name", NAMES)
def test_every_capture_is_in_the_documented_vocabulary(name):
    query = load_grammar(name).query
    used = {query.capture_name(i) for i in range(query.capture_count)}
    assert {capture for capture in used if not capture.startswith("_")} <= CAPTURES


def test_the_readme_explains_the_whole_vocabulary_and_nothing_else():
    text = (data_root() / "grammars" / "README.md").read_text()
    explained = set()
    for group in re.findall(r"`@([a-z_. ]+?)(?:\*)?`", text):
        first, *more = group.split()
        explained |= {first, *(f"{first.rpartition('.')[0]}.{word}" for word in more)}
    explained = {name for name in explained if not name.endswith(".")}
    assert explained == CAPTURES


def test_the_readme_explains_every_convention():
    text = (data_root() / "grammars" / "README.md").read_text()
    section = text.partition("## Conventions\n")[2].partition("\n## ")[0]
    explained = {name for line in section.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert explained == {field.name for field in fields(Conventions)}


@pytest.mark.parametrize("name", sorted(one.name for one in (data_root() / "grammars").iterdir() if (one / "library.toml").is_file()))
def test_a_comment_explains_each_key_of_a_library(name):
    lines = (data_root() / "grammars" / name / "library.toml").read_text().splitlines()
    tables = [number for number, line in enumerate(lines) if re.fullmatch(r"\[\w+\]", line)]
    keys = [number for number, line in enumerate(lines[: min(tables, default=len(lines))]) if re.match(r"\w+ = ", line)]
    assert keys
    assert not [lines[number] for number in [*keys, *tables] if not lines[number - 1].startswith("# ")]


def test_every_table_of_conventions_belongs_to_a_language():
    assert {"python", "go", "java"} <= conventions_by_language().keys() <= languages().keys()
    assert {one.like for one in conventions_by_language().values()} - {""} <= conventions_by_language().keys()


@pytest.mark.parametrize("name", NAMES)
def test_every_term_of_the_table_names_a_node_and_an_operator(name):
    assert load_grammar(name).terms.builds


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_is_explained_by_a_comment(name):
    for file in QUERY_FILES:
        path = data_root() / "grammars" / name / file
        assert path.read_text().startswith(";"), f"{name}/{file} does not begin with a comment"


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_file_is_a_module_and_nothing_else(name):
    facts = extract("empty", b"", name, "hash")
    assert [definition.kind for definition in facts.definitions] == ["module"]
    assert facts.references == facts.bindings == facts.imports == []
    assert facts.lines == 0


def test_an_unknown_language_is_refused_by_name():
    with pytest.raises(UnsupportedLanguageError, match="klingon"):
        load_grammar("klingon")


def test_a_broken_query_is_reported_with_file_and_line(monkeypatch):
    texts = {file: query_text("python", file) for file in QUERY_FILES}
    texts["types.scm"] = "; fine\n(module) @block\n(no_such_node) @block\n"
    monkeypatch.setattr(grammar_module, "query_text", lambda name, file: texts[file])
    with pytest.raises(GrammarError, match=r"grammars/python/types.scm:3"):
        grammar_module.compile_query("python", load_grammar("python").language)


def test_a_capture_outside_the_vocabulary_is_refused(monkeypatch):
    monkeypatch.setattr(grammar_module, "query_text", lambda name, file: "(module) @surprise\n")
    with pytest.raises(GrammarError, match="surprise"):
        grammar_module.compile_query("python", load_grammar("python").language)


@pytest.mark.parametrize(("package", "installed"), [("tree-sitter", "0.26.1"), ("tree-sitter-language-pack", "1.24.0")])
def test_versions_that_crash_or_download_are_refused(monkeypatch, package, installed):
    real = {"tree-sitter": "0.25.2", "tree-sitter-language-pack": "0.13.0"}
    monkeypatch.setattr(grammar_module, "version", lambda name: {**real, package: installed}[name])
    with pytest.raises(GrammarError, match=re.escape(installed)):
        grammar_module._versions.__wrapped__()


def test_queries_made_again_and_again_do_not_crash():
    language = load_grammar("python").language
    tree = load_grammar("python").parse(b"def f(x):\n    return g(x)\n")
    for _ in range(200):
        query = Query(language, query_text("python", "references.scm"))
        assert QueryCursor(query).matches(tree.root_node)


def test_a_parse_that_takes_too_long_leaves_the_module_and_a_diagnostic(monkeypatch):
    grammar = load_grammar("python")
    monkeypatch.setattr(grammar, "_parser", syntax.Bounded(grammar.language, 10))
    facts = extract("slow.py", b"x = 1\n" * 50_000, "python", "hash")
    assert [definition.kind for definition in facts.definitions] == ["module"]
    assert facts.diagnostics[0][:2] == ("error", "timeout")
    monkeypatch.undo()
    assert len(extract("fast.py", b"x = 1\n", "python", "hash").bindings) == 1


def test_a_busy_machine_costs_no_file_its_tree():
    source = b"def f(x):\n    return g(x)\n" * 20_000
    grammar = load_grammar("python")
    whole = grammar.parse(source)
    tree = syntax.Bounded(grammar.language, 10_000_000, 1_000).parse(source)
    assert tree is not None
    assert tree.root_node.descendant_count == whole.root_node.descendant_count
    assert str(tree.root_node) == str(whole.root_node)


def test_a_busy_machine_changes_no_tree_of_a_file_with_syntax_errors():
    grammar = load_grammar("python")
    interrupted = syntax.Bounded(grammar.language, 10_000_000, 100)
    lines = Path(syntax.__file__).read_text(encoding="utf-8").splitlines(keepends=True)
    for seed in range(25):
        chance, edited = random.Random(seed), list(lines)
        for _ in range(15):
            at = chance.randrange(len(edited))
            edited[at : at + chance.randrange(4)] = chance.choices(lines, k=chance.randrange(4))
        source = "".join(edited).encode()
        assert str(interrupted.parse(source).root_node) == str(grammar.parse(source).root_node), seed


def test_the_limit_of_a_parse_is_processor_time_and_the_next_source_starts_again():
    bounded = syntax.Bounded(load_grammar("python").language, 20_000)
    started = time.thread_time()
    assert bounded.parse(b"def f(x):\n    return g(x)\n" * 200_000) is None
    assert 0.02 <= time.thread_time() - started < 0.5
    tree = bounded.parse(b"x = 1\n")
    assert tree is not None
    assert tree.root_node.end_byte == 6


def test_the_language_of_a_path_is_told_by_its_name():
    assert language_of_path("a/b.py") == "python"
    assert language_of_path("a/b.PYI") == "python"
    assert language_of_path("SConstruct") == "python"
    assert language_of_path("a/b.unknown") == ""


def test_test_files_are_recognised_below_any_folder():
    rule = language_module.TestRule(paths=("test_*.py", "tests/*"))
    assert rule.is_test_path("test_a.py")
    assert rule.is_test_path("a/b/test_c.py")
    assert rule.is_test_path("tests/helpers/x.py")
    assert rule.is_test_path("a/tests/x.py")
    assert not rule.is_test_path("a/contest_x.py")
    assert not rule.is_test_path("latests/x.py")


def test_an_entry_point_rule_matches_when_all_its_fields_do():
    rule = EntryPointRule(kind="route", decorator=("*.route",), name=("get_*",))
    assert rule.matches(decorators=[Written("app.route")], name="get_user", path="a.py", modifiers=())
    assert not rule.matches(decorators=[Written("app.route")], name="user", path="a.py", modifiers=())
    assert not rule.matches(decorators=[Written("cached")], name="get_user", path="a.py", modifiers=())


def test_a_rule_with_a_path_or_an_object_wants_one_of_them():
    rule = EntryPointRule(kind="route", decorator=("*.get",), begins="/", objects=("*router",))
    for written, expected in (
        (Written("thing.get", "/users"), True),
        (Written("v1_router.get"), True),
        (Written("self.router.get", "users"), True),
        (Written("thing.get", "users"), False),
        (Written("router.thing.get"), False),
    ):
        assert rule.matches(decorators=[written], name="f", path="a.py", modifiers=()) == expected, written


def test_every_language_says_how_its_tests_are_recognised():
    assert language_spec("python").tests.functions


@pytest.mark.parametrize(("name", "text"), [("rust", "pub fn run() {}"), ("go", "func Run() {}"), ("c", "int run(void) { return 1; }")])
def test_the_documentation_in_line_comments_is_their_first_paragraph(name, text):
    marker = "///" if name == "rust" else "//"
    source = f"{marker} Runs the search on all\n{marker} threads. Stops early.\n{marker}\n{marker} More.\n{text}\n"
    if name == "go":
        source = f"package a\n\n{source}"
    assert [one.doc for one in extract("a", source.encode(), name, "hash").definitions[1:]] == [
        "Runs the search on all threads. Stops early."
    ]
