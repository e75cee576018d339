"""The pages of reference say what is declared, to the letter."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from graphmem.cli.main import PANELS
from graphmem.cli.reference import FOLDER, MANUAL, PAGES, page
from graphmem.mcp_server.tools import TOOLS
from graphmem.operations.registry import registry

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", [*PAGES, MANUAL])
def test_a_page_of_reference_is_what_the_declarations_say(name: str) -> None:
    kept = (ROOT / FOLDER / name).read_text(encoding="utf-8")
    assert kept == page(name), "run `python -m graphmem.cli.reference`"


def test_the_folder_holds_no_other_page() -> None:
    assert {path.name for path in (ROOT / FOLDER).iterdir()} == {*PAGES, MANUAL}


def test_the_manual_page_has_every_command_and_is_clean_roff() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    done = subprocess.run([groff, "-man", "-Tutf8", "-ww", ROOT / FOLDER / MANUAL], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    shown = re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout)
    assert [name for names in PANELS.values() for name in names.split() if f"graphmem {name}" not in shown] == []


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
    assert {name for _, name in seen} | {"json_text", "to_json"} == set(answers.__all__)
    assert [name for name in answers.__all__ if not hasattr(answers, name)] == []
