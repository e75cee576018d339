"""Prompts a person picks, and texts an agent may read whole."""

from __future__ import annotations

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from graphmem import GraphMem
from graphmem.mcp_server.prompts import PROMPTS, RESOURCES
from graphmem.mcp_server.server import build_server
from graphmem.settings import Settings


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("prompts") / "shop"
    (root / ".graphmem" / "rules").mkdir(parents=True)
    (root / ".graphmem" / "rules" / "style.md").write_text("Totals are integers.\n", encoding="utf-8")
    (root / "cart.py").write_text("def total():\n    return 1\n", encoding="utf-8")
    with GraphMem.open(db=root.parent / "index", settings=Settings(embedder="none")) as opened:
        opened.index(root)
        opened.remember("Tried to make totals floats: rounding errors, abandoned.", "dead_end", files=["cart.py"])
        yield opened


@pytest.fixture(scope="module")
def through(memory):
    """through(lambda client: client.…): what a client gets over the protocol."""

    def call(ask):
        async def run():
            async with Client(build_server(lambda: memory)) as client:
                return await ask(client)

        return anyio.run(run)

    return call


def test_prompts_and_resources_are_listed(through):
    assert [one.name for one in through(lambda client: client.list_prompts()).prompts] == list(PROMPTS)
    assert [str(one.uri) for one in through(lambda client: client.list_resources()).resources] == list(RESOURCES)


def test_a_plan_prompt_carries_what_past_work_says(through):
    found = through(lambda client: client.get_prompt("plan", {"task": "make totals floats", "modules": "cart.py"}))
    said = found.messages[0].content.text
    assert "make totals floats" in said
    assert "rounding errors" in said
    assert "[^ Memory: " in said


def test_onboarding_begins_with_the_rules(through):
    assert "Totals are integers." in through(lambda client: client.get_prompt("onboard", {})).messages[0].content.text


@pytest.mark.parametrize(
    ("uri", "said"),
    [("graphmem://rules", "Totals are integers."), ("graphmem://MEMORY.md", "rounding errors"), ("graphmem://start", "Totals")],
)
def test_resources_are_read_whole(through, uri, said):
    assert said in through(lambda client: client.read_resource(uri)).contents[0].text


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda client: client.get_prompt("plan", {}), "needs the argument task"),
        (lambda client: client.get_prompt("plan", {"task": "x", "speed": "fast"}), "no argument 'speed'"),
        (lambda client: client.get_prompt("sing", {}), "onboard, plan, review-diff"),
        (lambda client: client.read_resource("graphmem://secrets"), "graphmem://rules"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(through, ask, said):
    with pytest.raises((MCPError, BaseExceptionGroup)) as refused:
        through(ask)
    flat = refused.value
    while isinstance(flat, BaseExceptionGroup):
        flat = flat.exceptions[0]
    assert isinstance(flat, MCPError)
    assert said in str(flat)
