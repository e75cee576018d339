"""Texts for people keep to the style page of CONTRIBUTING.md."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("english", Path(__file__).with_name("english.py"))
english = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(english)


def test_texts_keep_to_the_style_page():
    assert [str(one) for one in english.findings()] == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("raise BadInputError(f'{name!r} is no revision')", "is no r"),
        ("# The index is made anew.", "anew"),
        ('"""Put a damaged file aside."""', "aside"),
        ('"""Answer whoever asks."""', "whoever"),
        ('"""Return what became of a memory."""', "what became of"),
        ("x = f'the answer of today has {count}'", "of today"),
        ('"""Shorten a text."""', "a text"),
        ('"""What the owner does."""', "What"),
        ('"""It is the owner."""', "It"),
    ],
)
def test_a_word_of_the_stop_list_is_found(text, word):
    assert [one.message.split("'")[1] for one in english.of_module("x.py", text + "\n")] == [word]


@pytest.mark.parametrize(
    "text", ["# There is no longer a lock.", "x = aside", "# Not a finding.", '"""Return whether a text file is empty."""']
)
def test_ordinary_words_are_not_found(text):
    assert list(english.of_module("x.py", text + "\n")) == []


@pytest.mark.parametrize("source", ["def _told(): ...", "def f(*, said): ...", "class Kept:\n    def whose(self): ..."])
def test_a_name_that_tells_nothing_is_found(source):
    assert ["riddle" in one.message for one in english.of_module("x.py", source + "\n")] == [True]


def test_a_long_summary_is_found():
    assert [one.line for one in english.of_module("x.py", 'def f():\n    """' + "word " * 15 + '"""\n')] == [2]


def test_a_benchmark_has_a_longer_first_line_and_the_same_words():
    source = '"""' + "word " * 19 + '"""\n\n\ndef found():\n    """What is found anew."""\n'
    found = list(english.of_module("x.py", source, english.MAX_LISTED))
    assert [(one.line, one.message.split("'")[1]) for one in found] == [(5, "What"), (5, "anew")]


def test_results_of_benchmarks_are_not_read(tmp_path, monkeypatch):
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    for folder in ("", "results"):
        (tmp_path / "benchmarks" / folder / "page.md").write_text("Rebuilt anew.\n", encoding="utf-8")
    monkeypatch.setattr(english, "ROOT", tmp_path)
    assert [one.path for one in english.of_benchmarks()] == ["benchmarks/page.md"]


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("def test_whoever_asks_is_answered(): ...", "whoever"),
        ("def test_a_link_is_no_file(): ...", "is no f"),
        ('def test_a_read():\n    """Answer whoever asks."""', "whoever"),
        ('"""What is promised of links."""', "What"),
        ("x = 1  # The index is made anew.", "anew"),
    ],
)
def test_a_test_is_named_and_described_in_plain_words(source, word):
    assert [one.message.split("'")[1] for one in english.of_tests("tests/x.py", source + "\n")] == [word]


def test_the_data_of_a_test_may_have_any_words():
    assert list(english.of_tests("tests/x.py", 'def test_a_link():\n    assert "whoever asks"\n')) == []


@pytest.mark.parametrize(
    ("message", "lacks"),
    [
        ("f'the file {path} cannot be read'", "remedy"),
        ("f'its bytes are not those of {path}; index again'", "subject"),
        ("f'is not a table of {path}; write [[rule]]'", "subject"),
        ("'must name existing memories only; correct the id'", "subject"),
    ],
)
def test_an_error_says_what_is_wrong_and_what_to_do(message, lacks):
    (found,) = english.of_errors("x.py", f"raise BadInputError({message}, argument='x')\n")
    assert lacks in found.message


@pytest.mark.parametrize(
    "raised",
    [
        "BadInputError(f'{path} cannot be read; check its permissions')",
        "AttributeError(f'module x has no attribute {name}')",
        "self._refusal(message, error)",
        "KeyError('a short name')",
    ],
)
def test_a_complete_error_is_not_found(raised):
    assert list(english.of_errors("x.py", f"raise {raised}\n")) == []


def test_a_part_that_was_rewritten_is_named_nowhere_else():
    there = {one.name for one in (english.ROOT / "graphmem").iterdir()} | {one.name for one in english.ROOT.rglob("*.md")}
    assert there >= english.NOT_YET


def test_a_long_entry_of_the_changelog_is_found(tmp_path, monkeypatch):
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n- " + "word " * 26 + "\n- Short, with [a link](docs/page.md).\n", encoding="utf-8"
    )
    monkeypatch.setattr(english, "ROOT", tmp_path)
    assert [one.line for one in english.of_changelog()] == [3]
