"""A question is about code unless it mentions documents."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.search.code.written import is_log
from graphmem.settings import Settings
from made_once import empty_index

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


HELP = """pub struct Depth;

impl Flag for Depth {
    fn doc_long(&self) -> &'static str {
        r#"
Limit how deep the search descends into a directory. When it is zero, only the paths that were given are looked at, and not what is
below any of them.
"#
    }
}

/// Descend into a directory until the limit.
pub fn descend(path: &Path, limit: usize) -> Vec<Entry> {
    if limit == 0 {
        return read(path);
    }
    children(path).flat_map(|child| descend(child, limit - 1)).collect()
}

pub fn children(path: &Path) -> Vec<Entry> {
    read(path)
}

#[cfg(test)]
mod tests {
    #[test]
    fn search_does_not_descend_into_a_directory_below_the_limit() {
        assert_eq!(descend("directory", 0), children("directory"));
    }
}
"""
SCRIPT = "_tool() {\n  _arguments '--depth[limit how deep the search descends into a directory]'\n}\n"
NOTES = "# 2.0\n\n* Limit how deep the search descends into a directory.\n* Where the search ends is a limit now.\n"
PAGE_OF_LIMITS = "# Limits\n\nThe search descends into a directory until a limit.\n"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    root = tmp_path_factory.mktemp("tool")
    for path, text in {"src/walk.rs": HELP, "complete/_tool.zsh": SCRIPT, "CHANGELOG.md": NOTES, "docs/limits.md": PAGE_OF_LIMITS}.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(tmp_path_factory.mktemp("index"), settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.wait_until_ready()
        yield lambda query: [hit.id for hit in memory.search(query, limit=8).hits]


def test_help_texts_completions_tests_and_release_notes_come_after_the_code_that_does_it(found):
    first = found("how deep does the search descend into a directory")[0]
    assert first == "src/walk.rs::descend"


def test_release_notes_come_after_other_documents_unless_the_question_is_about_them(found):
    order = found("how does the search descend into a directory until a limit")
    assert order.index("docs/limits.md") < order.index("CHANGELOG.md")
    order = found("which release notes mention how deep the search descends into a directory")
    assert order.index("CHANGELOG.md") < order.index("docs/limits.md")


@pytest.mark.parametrize(
    "path", ["CHANGELOG.md", "docs/releases/4.1.txt", "docs/changelog/5.0.rst", "NEWS", "HISTORY.rst", "Changes.md", "UPGRADING.md"]
)
def test_logs_of_changes_are_known_by_their_path(path):
    assert is_log(path)


@pytest.mark.parametrize("path", ["docs/history_api.md", "docs/newsletter.md", "README.md", "docs/exchange.md", "docs/topics/settings.txt"])
def test_other_documents_are_not_logs_of_changes(path):
    assert not is_log(path)


def test_german_function_words_do_not_count(found):
    assert found("wie wird ein directory in der search gelesen") == found("directory search gelesen")


def test_tests_and_documents_do_not_take_the_places_of_code(tmp_path):
    root = tmp_path / "parcels"
    (root / "docs").mkdir(parents=True)
    for number in range(130):
        text = (
            f"# Region {number}\n\nHow a parcel is delivered to the customer of region {number}: the parcel of the customer is delivered.\n"
        )
        (root / "docs" / f"region_{number}.md").write_text(text, encoding="utf-8")
    steps = "".join(f"    step_{number}(parcel.door, parcel.street)\n" for number in range(20))
    (root / "courier.py").write_text(f"def deliver(parcel, customer):\n{steps}", encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.wait_until_ready()
        found = [hit.path for hit in memory.search("how is a parcel delivered to the customer", limit=130).hits]
        assert "courier.py" in found
        assert "courier.py" not in [hit.path for hit in memory.search("docs of a parcel delivered to the customer", limit=120).hits]
