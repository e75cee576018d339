"""Places of names in files, as an editor shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

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
