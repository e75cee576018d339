"""A question is about code unless it mentions documents."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings

CODE = '''"""Resizing of the terminal."""


def resize_terminal(width, height):
    """Called when the terminal is resized, for the running application."""
    return width, height
'''
PAGE = "# Sizes\n\nWhen the terminal is resized, the running application gets another size.\n"


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    (root / "sizes.py").write_text(CODE)
    for version in ("v1", "v2", "v3"):
        (root / "docs" / version).mkdir(parents=True)
        (root / "docs" / version / "size.md").write_text(PAGE)
    with GraphMem.open(tmp_path_factory.mktemp("index"), settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.wait_until_ready()
        yield lambda query: [hit.path for hit in memory.search(query, limit=3).hits]


def test_a_question_finds_code_before_the_pages_that_repeat_its_words(answered):
    assert answered("what does a running application get when the terminal is resized")[0] == "sizes.py"


@pytest.mark.parametrize("query", ["where do the docs say what an application gets when the terminal is resized", "size.md"])
def test_documents_come_first_where_the_query_mentions_them(answered, query):
    assert answered(query)[0].startswith("docs/")


def test_the_copies_of_a_page_do_not_fill_the_answer(answered):
    found = answered("where do the docs say what an application gets when the terminal is resized")
    assert found[0].startswith("docs/")
    assert found[1] == "sizes.py"
