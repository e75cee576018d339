"""Snippets show the lines that answer, and no more of them than fit."""

from __future__ import annotations

from graphmem.search.hits.snippet import LINES, WIDTH, snippet

TEXT = "\n".join(f"    line {i}" for i in range(40)) + "\n    def save_session(self):\n        self.store.save()\n" + "    end\n" * 9


def test_the_lines_with_most_words_of_the_query_are_shown():
    shown = snippet(TEXT, "save the session").split("\n")
    assert len(shown) <= LINES
    assert "def save_session(self):" in shown
    assert "    self.store.save()" in shown


def test_the_beginning_is_shown_when_no_word_is_there():
    assert snippet(TEXT, "zebra").startswith("line 0\n")


def test_short_texts_are_shown_whole_without_their_indentation():
    assert snippet("    def f():\n        pass\n", "x") == "def f():\n    pass"


def test_long_lines_are_cut_and_show_it():
    assert snippet("x" * 1000, "x") == "x" * WIDTH + "…"


def test_no_text_has_no_snippet():
    assert snippet("", "x") == ""
