"""Overloads share a name: an agent that asks for it is given what runs, and is told each name once."""

from __future__ import annotations

import anyio
import pytest
from mcp.client import Client

from graphmem import GraphMem
from graphmem.mcp_server.server import build_server
from graphmem.settings import Settings

SOURCE = """\
import typing as t


class Context:
    @t.overload
    def invoke(self, x: int) -> int: ...

    @t.overload
    def invoke(self, x: str) -> str: ...

    def invoke(self, x):
        return x


class Group:
    def invoke(self, context: Context):
        return context.invoke(1)


def main(context: Context):
    return context.invoke("a")
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    root = tmp_path_factory.mktemp("overloads") / "project"
    root.mkdir()
    (root / "core.py").write_text(SOURCE, encoding="utf-8")
    with GraphMem.open(root.parent / "index", repo=root, settings=Settings(embedder="none")) as opened:
        opened.index(root)

        def call(name, **arguments):
            async def run():
                async with Client(build_server(lambda: opened)) as client:
                    return (await client.call_tool(name, arguments)).content[0].text

            return anyio.run(run)

        yield call


def test_get_gives_what_runs_with_its_callers(ask):
    said = ask("get", refs=["Context.invoke"])
    assert said.startswith("core.py:11 Context.invoke")
    assert "return x" in said
    assert "core.py:20 main" in said


def test_a_line_means_the_overload_that_stands_there(ask):
    assert ask("get", refs=["core.py:Context.invoke:5"]).startswith("core.py:5 Context.invoke")


def test_candidates_of_a_name_are_each_told_once(ask):
    said = ask("impact", targets=["invoke"])
    assert [line for line in said.splitlines() if line.startswith("- ")] == ["- core.py:Context.invoke", "- core.py:Group.invoke"]


def test_the_impact_of_overloads_names_them_once(ask):
    assert ask("impact", targets=["Context.invoke"]).splitlines()[0] == "dependents of core.py:Context.invoke"


def test_a_memory_is_about_each_name_once(ask):
    said = ask("remember", content="Context.invoke hands back what it is given, whatever that is.", type="gotcha")
    assert said.count("about core.py:Context.invoke") == 1, said
    short = said.split("#")[1].split()[0]
    assert ask("get", refs=[f"#{short}"]).count("about core.py:Context.invoke") == 1
