"""The how-to pages are true: their commands and requests run against a real project and a real server."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import starlette

from commands import Ran, run_here
from graphmem.settings import known_settings

PAGES = Path(__file__).resolve().parents[2] / "docs" / "howto"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    """Language and text of each code block of a page, in order."""
    return _BLOCK.findall((PAGES / f"{page}.md").read_text(encoding="utf-8"))


def commands(page: str) -> list[tuple[str, list[str]]]:
    """Each command of a page with the lines it shows as output."""
    found: list[tuple[str, list[str]]] = []
    for language, text in blocks(page):
        for line in text.splitlines() if language == "console" else ():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            elif line != "…":
                found[-1][1].append(line)
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A repository with starlette's source, and a home folder for agents' settings."""
    root = tmp_path_factory.mktemp("howto")
    shutil.copytree(Path(starlette.__file__).parent, root / "starlette", ignore=shutil.ignore_patterns("__pycache__"))
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "Add starlette"]):
        subprocess.run(["git", *words], cwd=root, check=True, timeout=60)
    return root


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    return {**os.environ, "HOME": str(home), "COLUMNS": "200", "GRAPHMEM_EMBEDDER": "none", "GRAPHMEM_WORKERS": "1"}


def run(command: str, project: Path, environment: dict[str, str]) -> Ran:
    words = shlex.split(command)
    assert words[0] == "graphmem"
    return run_here(environment, *words[1:], cwd=project)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", ["agent", "architect", "review"])
def test_every_command_of_a_page_works_in_order(page, project, environment):
    for command, shown in commands(page):
        done = run(command, project, environment)
        assert done.code == 0, f"{command}\n{done.said}"
        for line in shown:
            assert line in done.out, command


@pytest.mark.timeout(600)
def test_every_request_of_the_editor_page_is_answered(project, environment):
    assert run("graphmem index", project, environment).code == 0
    (command, _), *_ = commands("editor")
    words = [sys.executable, "-P", "-m", "graphmem", *shlex.split(command)[1:]]
    with subprocess.Popen(words, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert any("GraphQL" in line for line in server.stdout)
            owner = json.loads((project / ".graphmem" / "owner.json").read_text(encoding="utf-8"))
            given = blocks("editor")
            asked = 0
            for (language, query), (_, variables) in itertools.pairwise(given):
                if language != "graphql" or query.startswith("subscription"):
                    continue
                headers = {"Authorization": f"Bearer {owner['token']}"} if owner.get("token") else {}
                body = {"query": query, "variables": json.loads(variables)}
                answer = httpx.post(f"{owner['address']}/graphql", json=body, headers=headers, timeout=60).json()
                assert "errors" not in answer
                asked += 1
                if "symbol" in answer["data"]:
                    assert answer["data"]["symbol"]["qualname"] == "Router.add_route"
                    assert answer["data"]["symbol"]["callers"]["totalCount"] > 0
                if "impact" in answer["data"]:
                    assert answer["data"]["impact"]["total"] > 0
                if "symbolAt" in answer["data"]:
                    assert answer["data"]["symbolAt"]["symbol"] is not None
            assert asked == sum(language == "graphql" and not text.startswith("subscription") for language, text in given)
            assert asked >= 4
        finally:
            server.terminate()
            server.wait(30)


def test_the_settings_of_the_page_about_models_exist():
    known = {item.variable: item for item in known_settings()}
    values = dict(re.findall(r"export (\w+)=(\S+)", (PAGES / "model.md").read_text(encoding="utf-8")))
    assert len(values) >= 8
    for variable, value in values.items():
        assert not known[variable].choices or value in known[variable].choices, variable
