"""A project whose store has no file: everything that reads and writes works, the rest says plainly that it does not."""

from __future__ import annotations

import pytest

from graphmem.errors import UnsupportedError
from graphmem.project.graphmem import GraphMem
from graphmem.project.opening import wired
from graphmem.settings import Settings
from graphmem.store import open_store

CODE = "def check(amount):\n    return amount > 0\n\n\ndef withdraw(amount):\n    return check(amount)\n"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "bank"
    root.mkdir()
    (root / "account.py").write_text(CODE)
    return root


@pytest.fixture
def project(as_server, root, tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    settings = Settings(embedder="none", workers=1, git_history=False, cypher=True)
    with GraphMem(wired(as_server(open_store(folder / "graph.db", max_db_bytes=1 << 30)), folder, settings)) as memory:
        memory.index(root)
        yield memory


def test_questions_and_memories_need_no_file(project, root) -> None:
    assert [one.symbol.name for one in project.impact("check").hits] == ["withdraw"]
    assert project.search("withdraw").hits
    kept = project.remember("Amounts of withdraw() are positive.", type="gotcha").memory.id
    assert project.memory(kept).content == "Amounts of withdraw() are positive."
    (root / "teller.py").write_text("from account import withdraw\n\n\ndef serve():\n    return withdraw(1)\n")
    assert project.index(root).files == 2
    assert {one.symbol.name for one in project.impact("check").hits} == {"withdraw", "serve"}
    project.forget(kept, hard=True)


def test_what_needs_the_file_is_refused_with_the_way_out(project, tmp_path) -> None:
    for call in (project.backup, lambda: project.backup(portable=True), lambda: project.restore("a.zip"), project.compact):
        with pytest.raises(UnsupportedError, match="needs a database file, but server keeps this index on a server; use") as refused:
            call()
        assert (refused.value.code, refused.value.needs) == ("FORBIDDEN", "local")
    with pytest.raises(UnsupportedError, match="Cypher queries are not supported with"):
        project.cypher("RETURN 1 AS one")
    assert not list(tmp_path.rglob("*.zip"))


def test_maintenance_passes_over_a_file_that_is_not_there(project) -> None:
    assert project.compact_when_wasteful() is None
    assert project.checkpoint_when_due() == 0
    assert project.rest(0.0) is False
    assert project.backup_when_due() is None
    health = project.health()
    assert (health.database_bytes, health.wal_bytes, health.waste_bytes) == (0, 0, 0)
    (said,) = [one for one in project.verify_index().checks if one.name == "database"]
    assert (said.level, said.said) == ("note", "server keeps it on a server, where its bytes cannot be checked from here")
