"""A trap whose code changes is shown still, and every place that shows it says that the code is not what it was."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import anyio
import pytest
from mcp.client import Client

from graphmem.injection.formats import FORMATS
from graphmem.mcp_server.server import build_server
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

LONG = 30.0
SOURCE = "class Engine:\n    def invoke(self, x):\n        return x + {added}\n\n\ndef other():\n    return 2\n"
SAID = "written before pkg/a.py:Engine.invoke changed"


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """A project in which what a trap is about was rewritten, and its id."""
    root = tmp_path_factory.mktemp("changed") / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "a.py").write_text(SOURCE.format(added=1), encoding="utf-8")
    with GraphMem.open(root.parent / "index", repo=root, settings=Settings(embedder="hashed")) as opened:
        opened.index(root)
        trap = opened.remember("Engine.invoke adds one to the tariff twice when it is retried.", "gotcha").memory
        sound = opened.remember("other() in pkg/a.py must stay below three, the tariff relies on it.", "gotcha").memory
        assert {one.id for one in opened.context("tool", files=["pkg/a.py"], deadline_s=LONG).items} == {trap.id, sound.id}
        (root / "pkg" / "a.py").write_text(SOURCE.format(added=17), encoding="utf-8")
        opened.index(root)
        assert opened.trust().level == "cautious"
        yield opened, trap.id, sound.id


def test_a_trap_whose_code_changed_is_still_shown_when_its_file_is_read_after_those_that_hold(changed):
    service, trap, sound = changed
    found = service.context("tool", files=["pkg/a.py"], deadline_s=LONG)
    assert [one.id for one in found.items] == [sound, trap]


def test_a_trap_whose_code_changed_is_still_told_between_steps_and_with_the_first_message(changed):
    service, trap, _ = changed
    assert trap in [one.id for one in service.context("prompt", files=["pkg/a.py"], deadline_s=LONG).items]
    assert trap in [one.id for one in service.context("prompt", text="Engine.invoke retried tariff", deadline_s=LONG).items]
    finder = service.parts.injector._finder
    assert dict(finder.traps("pkg/a.py"))[trap] >= 0.8


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_every_format_marks_the_one_whose_code_changed_and_no_other(changed, form):
    service, trap, _ = changed
    text = service.context("tool", files=["pkg/a.py"], format=form, deadline_s=LONG).text
    assert text.count(SAID) == 1
    if form == "xml":
        marked = [one for one in ElementTree.fromstring(text).iter("memory") if one.get("suspect")]
        assert [one.get("id") for one in marked] == [f"#{service.memory(trap).short_id}"]
    elif form == "json":
        assert [one["id"] for one in json.loads(text)["items"] if "suspect" in one] == [trap]
    else:
        assert f"[suspect] #{service.memory(trap).short_id}: {SAID}" in text


def test_an_agents_searches_mark_it(changed):
    service, trap, _ = changed
    short = service.memory(trap).short_id

    def ask(name, **arguments):
        async def run():
            async with Client(build_server(lambda: service)) as client:
                return (await client.call_tool(name, arguments)).content[0].text

        return anyio.run(run)

    for said in (
        ask("search", query="tariff retried invoke", kinds=["memory"]),
        ask("search", query="Engine.invoke", kinds=["code"]),
        ask("search", query="tariff retried invoke", kinds=["memory"], full=True),
        ask("timeline", id=short),
    ):
        assert any(short in line for line in said.splitlines()), said
        assert said.count(SAID) == 1, said


def test_once_somebody_has_looked_nothing_is_marked(changed):
    service, trap, _ = changed
    service.verify(trap)
    assert SAID not in service.context("tool", files=["pkg/a.py"], deadline_s=LONG).text
