"""An edit is in answers before it is committed, and whatever becomes of the commit, no answer stays that the database does not have."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from graphmem.errors import DiskFullError, SymbolNotFoundError
from graphmem.projection.graph.view import GraphView

PATIENCE_S = 60


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "__init__.py").touch()
    (root / "pkg" / "base.py").write_text("def shared(x):\n    return x\n", encoding="utf-8")
    (root / "pkg" / "user.py").write_text("from pkg.base import shared\n\n\ndef use():\n    return shared(1)\n", encoding="utf-8")
    return root


def edit(tree, name):
    """Add a function that is called from elsewhere."""
    (tree / "pkg" / "base.py").write_text(f"def shared(x):\n    return {name}(x)\n\n\ndef {name}(x):\n    return x\n", encoding="utf-8")


class Commit:
    """Holds the next commit of an index run back until it is told to go on; then the commit is the real one."""

    def __init__(self, memory, monkeypatch):
        self.reached, self.go = threading.Event(), threading.Event()
        apply = memory.parts.store.apply

        def held(delta, meta=None):
            self.reached.set()
            assert self.go.wait(PATIENCE_S)
            return apply(delta, meta)

        monkeypatch.setattr(memory.parts.store, "apply", held)


class Later(threading.Thread):
    """A question in a thread of its own."""

    def __init__(self, question):
        super().__init__(daemon=True)
        self.question, self.answer = question, None
        self.start()

    def run(self):
        self.answer = self.question()

    def ended(self):
        self.join(PATIENCE_S)
        return self.answer


def test_an_edit_is_answered_before_its_commit_and_questions_to_the_database_wait_for_it(tree, open_memory, monkeypatch):
    memory = open_memory()
    memory.index(tree)
    before = memory.state().generation
    commit = Commit(memory, monkeypatch)
    edit(tree, "added")
    run = Later(lambda: memory.parts.runs.run(paths=["pkg/base.py"]))
    assert commit.reached.wait(PATIENCE_S)

    assert [hit.symbol.qualname for hit in memory.impact("pkg/base.py:added").hits] == ["shared", "use"]
    assert memory.symbol("pkg/base.py:added").symbol.start_line == 5
    assert (memory.state().generation, memory.state().stale_files) == (before + 1, 0)
    assert memory.parts.store.generation() == before
    waiting = [
        Later(lambda: [one.symbol.name for one in memory.occurrences("pkg/base.py").occurrences]),
        Later(lambda: str(memory.search("added").hits)),
        Later(lambda: any("added" in line for line in lines(memory))),
    ]
    kept = memory.remember("added must never see a negative number", symbols=["pkg/base.py:added"])
    waiting[0].join(0.3)
    assert all(one.is_alive() for one in waiting)

    commit.go.set()
    run.ended()
    names, hits, is_exported = (one.ended() for one in waiting)
    assert "added" in names
    assert "added" in hits
    assert is_exported
    assert memory.parts.store.generation() == memory.state().generation == before + 1
    memory.parts.book.flush()
    target = memory.symbol("pkg/base.py:added").symbol.id
    assert [(link.memory_id, link.target_id) for link in memory.parts.store.memory_links()] == [(kept.memory.id, target)]


def test_a_commit_that_fails_takes_the_answers_back_and_its_generation_is_not_used_again(tree, open_memory, monkeypatch):
    memory = open_memory()
    memory.index(tree)
    memory.parts.runs.warm()
    before, graph = memory.state().generation, memory.parts.projections.graph()
    apply = memory.parts.store.apply
    shown = []

    def full(delta, meta=None):
        shown.append(memory.symbol("pkg/base.py:added").symbol.name)
        raise DiskFullError("the disk is full; free some space", path=str(tree))

    monkeypatch.setattr(memory.parts.store, "apply", full)
    edit(tree, "added")
    with pytest.raises(DiskFullError):
        memory.parts.runs.run(paths=["pkg/base.py"])
    assert shown == ["added"]
    with pytest.raises(SymbolNotFoundError):
        memory.symbol("pkg/base.py:added")
    assert memory.parts.projections.graph() is graph
    state = memory.state()
    assert (state.generation, state.stale) == (before, ["pkg/base.py"])
    assert memory.parts.progress.latest.stage == "failed"
    assert memory.search("shared").hits

    monkeypatch.setattr(memory.parts.store, "apply", apply)
    edit(tree, "other")
    assert memory.parts.runs.run(paths=["pkg/base.py"]).generation == before + 2
    fresh = open_memory("fresh")
    fresh.index(tree)
    assert lines(memory) == lines(fresh)
    assert memory.state().state == "fresh"


KILLED = """
    import os, signal, sys
    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

    memory = GraphMem.open(sys.argv[1], settings=Settings(embedder="none"))

    def die(delta, meta=None):
        print(memory.symbol("pkg/base.py:added").symbol.name, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    memory.parts.store.apply = die
    memory.parts.runs.run(paths=["pkg/base.py"])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
def test_a_server_killed_between_answer_and_commit_indexes_the_file_again(tree, tmp_path, open_memory):
    memory = open_memory()
    memory.index(tree)
    kept = memory.remember("shared must never see a negative number", symbols=["pkg/base.py:shared"])
    memory.close()
    edit(tree, "added")
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "index")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=dict(os.environ))
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "added\n"), done.stderr

    memory = open_memory()
    with pytest.raises(SymbolNotFoundError):
        memory.symbol("pkg/base.py:added")
    summary = memory.index()
    assert (summary.mode, summary.changed) == ("incremental", 1)
    assert memory.symbol("pkg/base.py:added").symbol.name == "added"
    assert [link.memory_id for link in memory.parts.store.memory_links()] == [kept.memory.id]
    fresh = open_memory("fresh")
    fresh.index(tree)
    assert [line for line in lines(memory) if kept.memory.id not in line] == lines(fresh)
    published = memory.parts.projections.graph()
    assert published.arrays.difference(GraphView.from_tables(memory.parts.store.tables()).arrays) == ""
