"""Places of names in files, as an editor shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.answers import SymbolInfo
from graphmem.answers.places import TextRange, Usage

lsp = pytest.importorskip("lsprotocol.types")
workspace = pytest.importorskip("pygls.workspace")
Texts = pytest.importorskip("graphmem.lsp.places").Texts

FILES = {
    "price.py": "class Price:\n    @total.setter\n    def total(self, value):\n        pass\n",
    "route.py": "@app.get(\n    '/cart', name='cart',\n)  # cart\nasync def cart():\n    pass\n",
    "Cart.cs": '  [Route("Total")]\n  public int Total() => 1;\n',
    "Cart.java": "@Deprecated public int total() { return 1; }\n",
}


@pytest.mark.parametrize(
    ("path", "line", "name", "place"),
    [
        ("price.py", 2, "total", (2, 8)),
        ("route.py", 1, "cart", (3, 10)),
        ("Cart.cs", 1, "Total", (1, 13)),
        ("Cart.java", 1, "total", (0, 23)),
    ],
)
def test_the_name_of_a_definition_is_not_in_its_decorators(tmp_path: Path, path: str, line: int, name: str, place: tuple[int, int]) -> None:
    (tmp_path / path).write_text(FILES[path])
    found = Texts(tmp_path, workspace.Workspace(tmp_path.as_uri())).definition_range(path, line, name)
    assert (found.start.line, found.start.character) == place


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "place"),
    [
        ("def total(", "def worth(", 2, 10, ("price.py", 3, 8)),  # the old name is there in the saved file
        ("def total(", "def one(self):\n        pass\n\n    def worth(", 5, 10, ("price.py", 3, 8)),
        ("    def total(", "    fresh = 1\n    def total(", 2, 6, None),  # a new line takes the place of no saved one
    ],
)
def test_a_name_that_was_changed_in_the_editor_is_that_of_its_saved_line(tmp_path: Path, old, new, line, column, place) -> None:
    file = tmp_path / "price.py"
    file.write_text(FILES["price.py"])
    space = workspace.Workspace(tmp_path.as_uri())
    space.put_text_document(lsp.TextDocumentItem(file.as_uri(), "python", 1, FILES["price.py"].replace(old, new)))
    assert Texts(tmp_path, space).position(file.as_uri(), lsp.Position(line, column)) == place


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_each_line_of_a_document_has_its_own_place_whatever_ends_the_lines(tmp_path: Path, end: str) -> None:
    file = tmp_path / "price.py"
    text = FILES["price.py"].replace("\n", end)
    file.write_bytes(text.encode())
    space = workspace.Workspace(tmp_path.as_uri())
    space.put_text_document(lsp.TextDocumentItem(file.as_uri(), "python", 1, f"import os{end}{text}"))  # as an editor sends it
    texts = Texts(tmp_path, space)
    assert [texts.saved_line("price.py", line) for line in range(5)] == [1, 1, 2, 3, 4]
    assert [texts.now("price.py", line) for line in range(1, 5)] == [1, 2, 3, 4]
    assert texts.position(file.as_uri(), lsp.Position(3, 9)) == ("price.py", 3, 9)


def test_the_first_line_of_a_file_with_a_byte_order_mark_has_the_columns_that_the_editor_shows(tmp_path: Path) -> None:
    file = tmp_path / "cart.py"
    text = "from price import total\n\nprint(total)\n"
    file.write_text(text, encoding="utf-8-sig")
    space = workspace.Workspace(tmp_path.as_uri())
    closed = Texts(tmp_path, space)
    used = Usage("cart.py", TextRange(1, 18, 23, 18, 23, 18, 23), "total", "import", 1.0)
    assert closed.range(used) == lsp.Range(lsp.Position(0, 18), lsp.Position(0, 23))
    space.put_text_document(lsp.TextDocumentItem(file.as_uri(), "python", 1, text))
    assert Texts(tmp_path, space).position(file.as_uri(), lsp.Position(0, 20)) == ("cart.py", 1, 20)


def test_a_use_on_an_edited_line_is_not_shown_on_the_line_above_it(tmp_path: Path) -> None:
    """A rename would else change the other object's method there."""
    file = tmp_path / "end.py"
    file.write_text("a.close()\nb.close()\n")
    space = workspace.Workspace(tmp_path.as_uri())
    space.put_text_document(lsp.TextDocumentItem(file.as_uri(), "python", 1, "a.close()\nb.close(now=True)\n"))
    used = [Usage("end.py", TextRange(line, 2, 7, 2, 7, 2, 7), "close", "call", 1.0) for line in (1, 2)]
    assert [Texts(tmp_path, space).range(one) for one in used] == [lsp.Range(lsp.Position(0, 2), lsp.Position(0, 7)), None]


def test_a_name_on_an_edited_line_is_that_of_the_line_that_it_replaced(tmp_path: Path) -> None:
    """The line above it uses another object's method of the same name."""
    file = tmp_path / "end.py"
    file.write_text("a.close()\nb.close()\nc.close()\n")
    space = workspace.Workspace(tmp_path.as_uri())
    space.put_text_document(lsp.TextDocumentItem(file.as_uri(), "python", 1, "a.close()\nb.close(now=True)\nc.close()\n"))
    assert Texts(tmp_path, space).position(file.as_uri(), lsp.Position(1, 4)) == ("end.py", 2, 2)


def test_a_definition_that_was_deleted_in_the_editor_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "price.py"
    text = "def first():\n    one = 1\n\n    return one\n\n\ndef second():\n    return 2\n"
    file.write_text(text)
    symbols = [SymbolInfo(name, "function", name, name, "price.py", *lines) for name, lines in {"first": (1, 4), "second": (7, 8)}.items()]
    for now, gone in (
        ("", ["first", "second"]),
        (text[text.index("def second") :], ["first"]),
        (text.replace("second", "third"), []),  # its line is left, so it was renamed
        (text.replace("return 2", "return 3"), []),
    ):
        space = workspace.Workspace(tmp_path.as_uri())
        space.put_text_document(lsp.TextDocumentItem(file.as_uri(), "python", 1, now))
        texts = Texts(tmp_path, space)
        assert [one.name for one in symbols if texts.is_gone(one)] == gone, now
