"""The parts of the explorer's first screen are there before it is opened, and are not derived again and again."""

from __future__ import annotations

from graphmem.analysis.semantic.modules import Modules
from graphmem.project.graphmem import GraphMem
from graphmem.project.structure import derived, semantic_source
from graphmem.project.structure.kept import FILE
from graphmem.server.keeper import TASKS, Keeper
from graphmem.settings import Settings
from graphmem.store.file import live_file

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
    monkeypatch.setattr(semantic_source, "SETTLED_S", 0.0)
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


def test_a_large_run_keeps_them_for_the_next_process(tmp_path, monkeypatch):
    root, index, settings = tmp_path / "shop", tmp_path / "index", Settings(embedder="none", workers=1)
    root.mkdir()
    for name, text in APP.items():
        (root / name).write_text(text, encoding="utf-8")

    def answers(service):
        return (service.dead_code(0.0).symbols, service.flows().flows, service.modules().modules, service.cycles("modules").cycles)

    monkeypatch.setattr(semantic_source, "LARGE_FILES", 2)
    with GraphMem.open(index, settings=settings) as service:
        assert "explorer" in service.index(root).seconds
        derived_here = answers(service)
        drawn, entries = service.atlas().columns, service.entry_points().entry_points
        uses = (service.modules().dependencies, service.modules().modularity)
    with monkeypatch.context() as broken, GraphMem.open(index, settings=settings) as service:
        for name in ("judged", "flows", "titles", "together"):
            broken.setattr(derived, name, None)
        broken.setattr(Modules, "_dependency", None)
        assert answers(service) == derived_here
        assert (service.modules().dependencies, service.modules().modularity) == uses
        assert service.atlas().columns == drawn
        assert not service.review_queue().total
        assert service.entry_points().entry_points == entries
        assert service.parts.store._at_rest  # opening the database takes longer than these answers
        found = service.search("shop total")  # a search in a new process has them, too
        assert {"modules", "flows"}.isdisjoint(found.missing)
        assert {hit.kind for hit in found} >= {"module", "symbol"}
    with monkeypatch.context() as broken, GraphMem.open(index, settings=settings) as service:
        broken.setattr(derived, "Modules", None)  # to divide all files takes longer than the search
        broken.setattr(live_file, "load_catalog", None)  # queries of the database, which stays closed
        assert service.search("shop total").hits == found.hits
    (root / "shop.py").write_text(APP["shop.py"].replace("_forgotten", "_also_forgotten"), encoding="utf-8")
    with GraphMem.open(index, settings=settings) as service:
        service.index()
        assert [one.symbol.name for one in service.dead_code().symbols] == ["_also_forgotten"]
    (index / FILE).write_bytes(b"damaged")
    with GraphMem.open(index, settings=settings) as service:
        assert [one.symbol.name for one in service.dead_code().symbols] == ["_also_forgotten"]


def test_a_small_change_leaves_deriving_to_the_question(project):
    service = project(APP)
    assert "explorer" not in service.index().seconds
    assert not (service.parts.data_dir / FILE).exists()
