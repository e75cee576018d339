"""Symbols are found by their own lines, whatever chunk those lie in."""

from __future__ import annotations

import math
import re

import pytest

from graphmem import GraphMem
from graphmem.search.pipeline import Request, search
from graphmem.settings import load_settings

SOURCE = '''"""Windows."""
import os

BORDER = 3  # pixels around everything


class Window:
    """A rectangle on the screen."""

    def __init__(self, title):
        self._title = title

    @property
    def title(self):
        return self._title

    @title.setter
    def title(self, text):
        if not text:
            raise ValueError("a caption must not be empty")
        self._title = text

    def paint(self):
        def brush(colour):
            return colour * os.getpid()

        return brush(7)


def minimise(window):
    return window


def maximise(window):
    window.grow()
    return window
'''

CHEST = 'class Chest:\n    """Keeps drawers, each with a handle."""\n' + "".join(
    f"\n    def pull_{n}(self, drawer, handles):\n        return drawer.handle_{n}(handles)\n" for n in range(150)
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("windows")
    (root / "window.py").write_text(SOURCE, encoding="utf-8")
    (root / "chest.py").write_text(CHEST, encoding="utf-8")
    with GraphMem.open(tmp_path_factory.mktemp("index"), settings=load_settings(None)) as opened:
        opened.index(root)
        opened.wait_until_ready()
        yield opened


@pytest.fixture
def found(memory, state):
    def ask(query, **options):
        return search(memory.parts.projections.snapshot(), None, Request(query, kinds=frozenset({"code"}), **options), state).hits

    return ask


def test_a_function_is_not_found_by_what_stands_in_its_neighbour(found):
    hits = {hit.qualname: hit for hit in found("grow")}
    assert "maximise" in hits
    assert "minimise" not in hits


def test_what_lies_in_a_function_is_found_as_that_function(found):
    first = found("brush of a colour")[0]
    assert first.qualname == "Window.paint"
    assert "brush" in first.snippet


def test_what_shows_a_hit_is_its_own_and_more_than_a_signature_that_is_repeated(found):
    hits = {hit.qualname: hit for hit in found("drawers of a chest", k=100)}
    assert "Chest.pull_149" in hits
    assert hits["Chest"].snippet == "class Chest\nKeeps drawers, each with a handle."
    others = {f"handle_{n}" for n in range(150)}
    for name, hit in hits.items():
        if name.startswith("Chest.pull_"):
            assert others & set(re.findall(r"handle_\d+", hit.snippet)) == {f"handle_{name.removeprefix('Chest.pull_')}"}


def test_an_inner_function_is_found_itself_when_it_is_named(found):
    assert found("brush()")[0].qualname == "Window.paint.brush"


def test_code_outside_definitions_is_found_by_its_own_words(found):
    first = found("pixels around everything")[0]
    assert (first.path, first.qualname) == ("window.py", "")
    assert "BORDER" in first.snippet


def test_a_class_is_found_by_what_it_says_itself(found):
    assert found("rectangle on the screen")[0].qualname == "Window"


def test_a_hit_on_the_second_of_a_name_can_be_asked_on_about(found, memory):
    setter = found("caption must not be empty")[0]
    assert setter.id == "window.py::Window.title#2"
    assert "caption" in setter.snippet
    assert memory.symbol(setter.id).symbol.start_line == setter.start_line


def test_words_in_a_name_count_more_than_in_a_text(found):
    first = found("window title")[0]
    assert first.qualname.startswith("Window.title")


def test_words_beyond_the_first_line_count_less(found):
    alone, after = found("grow"), found("minimise\n\ngrow")
    assert alone[0].qualname == "maximise"
    assert after[0].qualname == "minimise"


def test_scores_are_numbers_and_parts_add_up(found):
    for hit in found("title of a window that must not be empty", k=20):
        assert math.isfinite(hit.score)
        assert sum(part.weight * part.normalised for part in hit.parts) + hit.boost == pytest.approx(hit.score)
