"""The parts of the explorer's first screen are there before it is opened, and are not derived again and again."""

from __future__ import annotations

from graphmem.project import derived
from graphmem.server.keeper import TASKS, Keeper

APP = {
    "app.py": "from shop import total\n\n\ndef main():\n    return total([1])\n\n\nif __name__ == '__main__':\n    main()\n",
    "shop.py": (
        "def total(prices):\n    return _sum(prices)\n\n\ndef _sum(prices):\n    return sum(prices)\n\n\ndef _forgotten():\n    return 1\n"
    ),
}


def test_the_first_graph_is_derived_at_once_and_a_later_one_when_changes_have_settled(project, monkeypatch):
    service = project(APP)
    assert service.derive_when_due() == "generation 1"
    here = service.parts.semantics.newest()
    monkeypatch.setattr(derived, "judged", None)  # nothing is derived for the questions
    monkeypatch.setattr(derived, "flows", None)
    assert [one.symbol.name for one in service.dead_code().symbols] == ["_forgotten"]
    assert service.flows().flows
    assert service.modules().modules
    assert service.derive_when_due() == ""
    monkeypatch.undo()
    app = service.parts.graph.root() / "app.py"
    app.write_text(app.read_text(encoding="utf-8") + "\n\nmain()\n", encoding="utf-8")
    service.index()
    assert service.derive_when_due() == ""  # the next edit may follow
    monkeypatch.setattr(derived, "SETTLED_S", 0.0)
    assert service.derive_when_due() == "generation 2"
    assert service.parts.semantics.newest() is not here


def test_a_server_derives_them_when_it_is_idle(project):
    service = project(APP)
    task = next(task for task in TASKS if task.name == "first screen derived")
    idle = 0.0
    keeper = Keeper(service, lambda: idle, (task,), look_s=1_000.0)
    keeper._do(task)
    assert service.parts.semantics._derived is None  # a question was just asked
    idle = 60.0
    keeper._do(task)
    assert service.parts.semantics._derived is service.parts.semantics.newest()
