"""Features for plug-ins of editors.

They are code lenses in one request, an expected generation, and the programs of the page.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "editor.md"
FILE = "starlette/routing.py"
OUTLINE = "query ($path: String!) { outline(path: $path) { path entries { symbol { name } callers } } state { generation } }"
PACKAGES = ("graphql-request@7", "@apollo/client@3", "graphql@16", "rxjs@7", "react@18")


def programs(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def printed(client, path: str) -> list[str]:
    return [f"{one['symbol']['name']} {one['callers']}" for one in client.ask(OUTLINE, path=path)["outline"]["entries"]]


def test_a_file_may_be_a_uri(client, repository):
    found = client.ask(OUTLINE, path=(repository / FILE).as_uri())["outline"]
    assert found["path"] == FILE
    assert found["entries"]


def test_an_answer_of_another_generation_is_an_error(client):
    generation = client.ask(OUTLINE, path=FILE)["state"]["generation"]
    asked = {"query": OUTLINE, "variables": {"path": FILE}}
    same = client.post({**asked, "extensions": {"expectedGeneration": generation}}).json()
    assert "errors" not in same
    other = client.post({**asked, "extensions": {"expectedGeneration": generation + 1}}).json()
    assert other["data"]["outline"] is None
    for error in other["errors"]:
        assert error["extensions"] == {
            "code": "CONFLICT",
            "error": "GenerationChangedError",
            "expected": generation + 1,
            "found": generation,
        }


def test_the_program_with_gql_prints_lenses(client, tmp_path):
    pytest.importorskip("gql")
    (program,) = programs("python")
    script = tmp_path / "lenses.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script), client.address, FILE], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == printed(client, FILE)


@pytest.mark.slow
def test_the_programs_in_javascript_print_lenses(client, tmp_path):
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("npm and node are not installed")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefer-offline", "--prefix", str(tmp_path), *PACKAGES]
    installed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    if installed.returncode:
        pytest.skip(f"npm cannot install: {installed.stderr[-500:]}")
    found = programs("js")
    assert len(found) == 2
    for number, program in enumerate(found):
        script = tmp_path / f"lenses{number}.mjs"
        script.write_text(program, encoding="utf-8")
        done = subprocess.run([node, str(script), client.address, FILE], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == printed(client, FILE)
