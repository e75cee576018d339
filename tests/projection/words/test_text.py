"""Documents and queries become the same words, identifiers whole and in parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.projection.words.text import normalise, query_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getUserName", "getusername get user name"),
        ("get_user_name", "get_user_name get user name"),
        ("HTTPServer2", "httpserver2 http server2"),
        ("parseHTML5Doc", "parsehtml5doc parse html5 doc"),
        ("x86_64", "x86_64 x86 64"),
        ("__init__", "init"),
        ("_private", "private"),
        ("MAX_SIZE", "max_size max size"),
        ("utf8", "utf8"),
        ("v1.2.3", "v1 2 3"),
        ("auth/tokens.ts", "auth tokens ts"),
        ("a.b_c(d)", "a b_c b c d"),
        ("Größe", "grösse"),
        ("größeMaximal", "grössemaximal grösse maximal"),
        ("загрузитьФайл", "загрузитьфайл загрузить файл"),
        ("读取配置文件", "读取 取配 配置 置文 文件"),
        ("___", ""),
        ("", ""),
        ("a" * 65, ""),
    ],
)
def test_identifiers_are_kept_whole_and_split(text, words):
    assert normalise(text) == words


@given(st.text(max_size=80))
def test_normalising_twice_is_normalising_the_words_again_and_never_fails(text):
    words = normalise(text).split()
    assert all(word == word.strip("_") for word in words)
    for word in words:
        assert word in normalise(word).split() or len(word) > 64


@given(st.text(max_size=40), st.text(max_size=40))
def test_the_words_of_a_text_do_not_depend_on_what_stands_beside_it(a, b):
    assert normalise(f"{a}\n{b}").split() == normalise(a).split() + normalise(b).split()


def test_counts_are_kept_in_documents_and_dropped_in_queries():
    assert normalise("load load Load") == "load load load"
    assert query_words("load the load Load_it") == ["load", "the", "load_it", "it"]


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=80))
def test_plain_text_has_the_same_words_beside_any_other(text):
    assert normalise(f"{text} ä").removesuffix("ä").rstrip() == normalise(text)
