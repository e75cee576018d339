"""The pages of reference say what is declared, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.cli.reference import FOLDER, PAGES, page
from graphmem.mcp_server.tools import TOOLS
from graphmem.operations.registry import registry

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_reference_is_what_the_declarations_say(name: str) -> None:
    kept = (ROOT / FOLDER / name).read_text(encoding="utf-8")
    assert kept == page(name), "run `python -m graphmem.cli.reference`"


def test_the_folder_holds_no_other_page() -> None:
    assert {path.name for path in (ROOT / FOLDER).iterdir()} == set(PAGES)


def test_every_operation_and_tool_has_a_heading() -> None:
    written = page("operations.md").splitlines()
    assert [name for name in registry() if f"### {name}" not in written] == []
    assert [name for name in TOOLS if f"## {name}" not in page("tools.md").splitlines()] == []


def test_the_names_of_answers_are_those_that_type_checkers_see() -> None:
    import ast

    import graphmem.answers as answers

    tree = ast.parse(Path(str(answers.__file__)).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {(node.module, one.name) for node in ast.walk(checked) if isinstance(node, ast.ImportFrom) for one in node.names}
    assert seen == {(f"graphmem.answers.{module}", name) for name, module in answers._MODULES.items()}
    assert {name for _, name in seen} | {"to_json"} == set(answers.__all__)
    assert [name for name in answers.__all__ if not hasattr(answers, name)] == []
