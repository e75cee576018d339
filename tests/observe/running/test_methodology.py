"""Ways to work are plug-ins: three ship, and a package that is installed adds one."""

from __future__ import annotations

import sys

import pytest

from graphmem.memory.texts.types import TYPES
from graphmem.observe.model import PHASES
from graphmem.observe.running.methodology import BUILT_IN, methodologies
from graphmem.observe.running.running import started_info

PACKAGE = '''
"""Kanban for graphmem: a card moves over a board."""

from graphmem.memory.texts.types import MemoryType
from graphmem.observe.running.methodology import Methodology, Relay, WorkUnit


def _card(context):
    card = str(context.get("work_unit") or context.get("task") or "")
    return WorkUnit("kanban", (card,), f"Card {card}" if card else "")


def kanban():
    return Methodology(
        name="kanban",
        title="Kanban",
        phases={"backlog": "define", "doing": "implement", "review": "validate", "blocked": "refine"},
        unit=_card,
        relays=(Relay("doing", "review", ("gotcha", "kanban_blocker")),),
        memory_types=(MemoryType("kanban_blocker", 30.0, 60.0, 60.0, "what keeps a card from moving"),),
    )
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs packages into a folder of their own, as an installer leaves them."""

    def install(name, source, points):
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        lines = "\n".join(f"{point} = {value}" for point, value in points.items())
        (info / "entry_points.txt").write_text(f"[graphmem.methodologies]\n{lines}\n", encoding="utf-8")
        methodologies.cache_clear()

    monkeypatch.syspath_prepend(str(tmp_path))
    types = dict(TYPES)
    yield install
    TYPES.clear()
    TYPES.update(types)
    methodologies.cache_clear()
    for name in ("our_kanban", "broken_way"):
        sys.modules.pop(name, None)


def test_an_installed_package_adds_a_methodology_with_its_own_types(installed):
    installed("our-kanban", PACKAGE, {"kanban": "our_kanban:kanban"})
    found = methodologies()
    assert found.problems == ()
    way = found.of("kanban")
    assert way.phase_of("Doing") == "implement"
    assert way.handed_over("doing", "review").types == ("gotcha", "kanban_blocker")
    assert TYPES["kanban_blocker"].half_life_days == 30
    from datetime import UTC, datetime

    info = started_info("s", datetime(2026, 1, 1, tzinfo=UTC), {"methodology": "kanban", "work_unit": "1423", "phase": "blocked"})
    assert (info.methodology, info.work_unit, info.phase) == ("kanban", "Card 1423", "refine")


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("raise RuntimeError('no board')", "no board"),
        ("kanban = 7", "int"),
        (PACKAGE.replace('name="kanban"', 'name="tdd"'), "already"),
        (PACKAGE.replace('"implement"', '"improvise"'), "improvise"),
        (PACKAGE.replace('MemoryType("kanban_blocker"', 'MemoryType("gotcha"').replace('"kanban_blocker"', '"gotcha"'), "gotcha"),
        (PACKAGE.replace('("gotcha", "kanban_blocker")', '("rumour",)'), "rumour"),
    ],
)
def test_a_plug_in_that_is_wrong_is_named_and_left_out(installed, source, word, caplog):
    installed("broken-way", source, {"kanban": "broken_way:kanban"})
    found = methodologies()
    (problem,) = found.problems
    assert word in problem
    assert problem in caplog.text
    assert found.of("kanban").name == "native"
    assert set(found.known) == {"native", "tdd", "bmad"}


@pytest.mark.parametrize("way", BUILT_IN, ids=lambda way: way.name)
def test_every_phase_leads_to_one_of_the_six_and_every_hand_over_names_known_types(way):
    assert set(way.phases.values()) <= set(PHASES)
    assert {name for relay in way.relays for name in relay.types} <= set(TYPES)
    assert all(way.phase_of(phase) == phase for phase in PHASES)
    assert way.phase_of("") == ""
    assert way.phase_of("something else") == "explore"


@pytest.mark.parametrize(
    ("name", "told", "label", "hierarchy"),
    [
        ("native", {"spec_number": "012", "subtask_id": "3"}, "Spec 012 / Subtask 3", ("012", "3")),
        ("native", {"work_unit": "Login"}, "Login", ("Login",)),
        ("native", {}, "", ()),
        ("tdd", {"feature": "cart total", "test": "rounds half up"}, "cart total · rounds half up", ("cart total", "rounds half up")),
        ("bmad", {"epic": "3", "story": "2"}, "Epic 3 / Story 2", ("Epic 3", "Story 2")),
        ("bmad", {"story": "3.2-checkout"}, "Epic 3 / Story 2", ("Epic 3", "Story 2")),
        ("bmad", {"branch": "story-4-7-refunds"}, "Epic 4 / Story 7", ("Epic 4", "Story 7")),
    ],
)
def test_a_unit_of_work_is_named_in_the_words_of_the_methodology(name, told, label, hierarchy):
    unit = methodologies().of(name).unit(told)
    assert (unit.methodology, unit.label, unit.hierarchy) == (name, label, hierarchy)


def test_tests_first_has_its_phases():
    way = methodologies().of("tdd")
    assert [way.phase_of(word) for word in ("Red", "green", "Refactor")] == ["define", "implement", "refine"]
    assert "requirement" in way.handed_over("red", "green").types
    assert way.handed_over("green", "red") is None
