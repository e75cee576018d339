"""A thread that works behind the answers never dies in silence: its note says why it stopped, and it goes on when it can."""

from __future__ import annotations

import errno
import threading
import time

import anyio
import pyarrow as pa
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from graphmem import GraphMem
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.errors import ResourceError
from graphmem.mcp_server.server import build_server
from graphmem.project.graph import watching
from graphmem.projection.graph.view import GraphView
from graphmem.server.keeper import LOOK_S, TASKS, Keeper, Task

OF_THE_SYSTEM = (
    (MemoryError(), "memory"),
    (pa.ArrowMemoryError("malloc of size 640 failed"), "memory"),
    (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
)
ERRORS = (*OF_THE_SYSTEM, (RuntimeError("of ours"), "this is a fault of graphmem"))
by_name = pytest.mark.parametrize(("error", "said"), ERRORS, ids=lambda one: type(one).__name__ if isinstance(one, Exception) else "")
of_the_system = pytest.mark.parametrize(
    ("error", "said"), OF_THE_SYSTEM, ids=lambda one: type(one).__name__ if isinstance(one, Exception) else ""
)


def until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


class Refused(HashedEmbedder):
    """A model that is refused what it needs, until somebody takes the refusal away."""

    def __init__(self, error):
        super().__init__(64)
        self.error = error

    def encode(self, texts):
        if self.error is not None:
            raise self.error
        return super().encode(texts)


@pytest.fixture
def refused(open_index, repo):
    """refused(error): an index whose model is refused what it needs, and the model."""

    def make(error):
        memory = open_index("refused", embedder="none")
        memory.index(repo)
        memory.parts.vectors._embedder = model = Refused(error)
        return memory, model

    return make


@by_name
def test_vectors_that_stop_say_why(refused, error, said):
    memory, _ = refused(error)
    memory.fill_vectors()
    until(lambda: said in memory.state().note, "nobody heard that vectors stopped")
    assert memory.parts.progress.latest.stage == "failed"


@of_the_system
def test_vectors_that_stopped_for_want_of_something_are_taken_up_again(refused, error, said):
    memory, model = refused(error)
    memory.fill_vectors()
    until(lambda: said in memory.state().note, "nobody heard that vectors stopped")
    model.error = None
    assert memory.resume_vectors()
    until(lambda: memory.parts.vectors.filled() == memory.parts.vectors.chunks() > 0, "vectors were not taken up again")
    until(lambda: not memory.parts.vectors.note(), "the note stays though all is well")
    assert not memory.resume_vectors()


@by_name
def test_vectors_of_memories_that_stopped_come_with_the_next_memory(refused, error, said):
    memory, model = refused(error)
    memory.fill_vectors(background=True)
    memory.remember("deployments happen on Tuesday mornings")
    until(lambda: any(said in note for note in memory.parts.book.status()["notes"]), "nobody heard that vectors stopped")
    model.error = None
    memory.remember("prices are in cents everywhere")
    until(lambda: memory.parts.book.index().covered() == (2, 2), "memories got no vectors any more")
    until(lambda: not memory.parts.book.status()["notes"], "the note stays though all is well")


@by_name
def test_a_run_in_the_background_that_fails_after_the_commit_says_so(index, repo, monkeypatch, error, said):
    def refuse(*_):
        raise error

    monkeypatch.setattr(index.parts.history, "learn_from_commits", refuse)
    (repo / "m0.py").write_text("def f0(value):\n    return 2\n")
    index.start_index()
    index.parts.runs.close()
    assert index.parts.progress.latest.stage == "failed"
    assert said in index.parts.progress.latest.message


def test_closing_waits_for_every_run_in_the_background(index, monkeypatch):
    begun, go, done = threading.Event(), threading.Event(), []
    derive = index.parts.history.derive_edges

    def slow():
        begun.set()
        assert go.wait(60)
        derive()
        done.append(True)

    monkeypatch.setattr(index.parts.history, "derive_edges", slow)
    index.start_index()
    assert begun.wait(60)
    runs = [index.start_index() for _ in range(20)]
    assert len(set(runs)) == 1, "a run that has not begun serves equal requests"
    assert index.start_index(full=True) not in runs
    assert len([one for one in threading.enumerate() if one.name.startswith("graphmem-index")]) == 1
    threading.Timer(0.2, go.set).start()
    index.parts.runs.close()
    assert len(done) == 3, "close returned before a run had ended"
    assert index.start_index() not in runs
    index.parts.runs.close()
    assert len(done) == 4


@by_name
def test_a_task_that_fails_costs_the_owner_no_other(index, error, said, caplog):
    done = threading.Event()

    def refuse(_):
        raise error

    tasks = (Task("refused", 0.0, 60.0, refuse), Task("next", 0.0, 60.0, lambda _: done.set()))
    keeper = Keeper(index, lambda: 1.0, tasks, look_s=0.01)
    keeper.start()
    try:
        assert done.wait(60), "the keeper's thread has ended"
    finally:
        keeper.stop()
    assert "refused: tried again" in caplog.text


def test_no_task_asks_for_more_than_the_keeper_looks():
    assert [task.name for task in TASKS if task.every_s < LOOK_S] == []


@by_name
def test_watching_outlives_a_run_and_a_look_at_the_folders_that_fail(index, repo, monkeypatch, error, said):
    monkeypatch.setattr(watching, "RETRY_S", 0.05)
    runs, left = index.parts.runs, {"run": 1, "look": 1}

    def once(name, call):
        def refusing(*arguments):
            if left[name]:
                left[name] -= 1
                raise error
            return call(*arguments)

        return refusing

    monkeypatch.setattr(runs, "follow", once("run", runs.follow))
    monkeypatch.setattr(runs, "indexed_folders", once("look", runs.indexed_folders))
    index.watch()
    (repo / "m6.py").write_text("def fresh():\n    return 1\n")
    until(lambda: not any(left.values()) and index.symbols("fresh")[0], "changes are not followed any more")
    assert all(thread.is_alive() for thread in index.parts.following.watcher._threads)
    until(lambda: not index.parts.following.watcher.note, "the note stays though all is well")


@of_the_system
def test_a_graph_that_could_not_be_read_is_read_at_the_next_question(index, open_index, monkeypatch, error, said):
    index.close()
    load, left = GraphView.load.__func__, [error, error]

    def refusing(*arguments):
        if left:
            raise left.pop()
        return load(GraphView, *arguments)

    monkeypatch.setattr(GraphView, "load", refusing)
    again = open_index()
    again.parts.projections.wait()
    with pytest.raises(ResourceError, match=said):
        again.impact("f1")
    until(lambda: _answers(again), "the failure is kept for good")
    assert again.search("the ring", limit=3).hits


def _answers(memory: GraphMem) -> bool:
    try:
        return bool(memory.impact("f1").hits)
    except ResourceError:
        return False


@by_name
def test_an_agent_is_told_the_cause(error, said, caplog):
    """At each of the three ways to ask, through the protocol."""

    def service():
        raise error

    async def asked():
        async with Client(build_server(service)) as client:
            answer = await client.call_tool("search", {"query": "ring"})
            assert answer.is_error
            texts = [answer.content[0].text]
            for ask in (lambda: client.get_prompt("onboard", {}), lambda: client.read_resource("graphmem://rules")):
                try:
                    await ask()
                except MCPError as failure:
                    texts.append(str(failure))
            return texts

    texts = anyio.run(asked)
    assert len(texts) == 3
    ours = isinstance(error, RuntimeError)
    for text in texts:
        assert ("internal error" if ours else said) in text
        assert "of ours" not in text
    assert ("Traceback" in caplog.text) == ours
