"""Searching: what is written is found by the next search, and code and what is known about it come together."""

from __future__ import annotations

import pytest

from graphmem.errors import BadInputError, NotIndexedError
from graphmem.model import IndexProgress
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

HASHED = Settings(embedder="hashed")
MEMORY = {"memory"}


@pytest.fixture
def project(tmp_path):
    tree = tmp_path / "shop"
    (tree / "pkg").mkdir(parents=True)
    (tree / "pkg" / "cache.py").write_text(
        "def flush_cache(hours):\n    return hours * 60\n\n\ndef warm():\n    return flush_cache(1)\n", encoding="utf-8"
    )
    (tree / "pkg" / "clock.py").write_text("def now():\n    return 0\n", encoding="utf-8")
    with GraphMem.open(tmp_path / "index", settings=HASHED) as memory:
        memory.index(tree)
        yield memory


def test_memories_are_found_with_their_vectors_right_after_they_were_written(tmp_path):
    with GraphMem.open(tmp_path / "index", settings=HASHED) as memory:
        memory.remember_many(
            [
                {
                    "id": f"m{n}",
                    "content": f"note {n} about {word}",
                    "created_at": "2026-01-01T00:00:00Z",
                    "files": [f"src/{word}.py"],
                }
                for n, word in enumerate(["caches", "clocks", "queues"])
            ]
        )
        answer = memory.search("cache", limit=2, files=["src/queues.py"], kinds=MEMORY)
        assert "dense" in answer.answered
        assert answer.missing == {}
        assert {hit.id for hit in answer} <= {"m0", "m1", "m2"}
        found = next(hit.memory for hit in answer if hit.memory is not None)
        assert found.files


def test_a_server_does_not_wait_and_says_what_is_missing(tmp_path):
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none"), patience_s=0) as memory:
        memory.remember("caches are flushed hourly", "fact")
        answer = memory.search("cache", kinds=MEMORY)
        assert len(answer.hits) == 1
        assert answer.missing == {"dense": "no model"}


def test_a_hit_on_code_brings_what_is_known_about_it_and_a_memory_its_code(project):
    project.remember("flush_cache takes hours, not minutes", "gotcha", symbols=["flush_cache"])
    project.remember("everything in the cache module is called from cron", "fact", files=["pkg/cache.py"])
    code = next(hit for hit in project.search("flush cache hours", kinds={"code"}) if hit.qualname == "flush_cache")
    assert code.id == "pkg/cache.py::flush_cache"
    assert code.node != code.id
    assert [known.type for known in code.memories] == ["gotcha", "fact"]
    memory = next(hit for hit in project.search("hours not minutes", kinds=MEMORY))
    assert {anchor.name for anchor in memory.memory.about} == {"pkg/cache.py:flush_cache"}


def test_code_and_memories_come_in_one_list_and_can_be_asked_for_alone(project):
    project.remember("flush_cache takes hours, not minutes", "gotcha", symbols=["flush_cache"])
    assert {"memory", "symbol"} <= {hit.kind for hit in project.search("flush cache hours")}
    assert {hit.kind for hit in project.search("flush cache hours", types=["gotcha"])} == {"memory"}
    assert {hit.path for hit in project.search("flush cache now", within=["pkg/clock.py"], kinds={"code"})} == {"pkg/clock.py"}


def test_aliases_of_the_project_are_looked_for(project):
    project.remember("the ledger is append only", "fact")
    project.set_alias("journal", ["ledger"])
    answer = project.search("journal", kinds=MEMORY)
    assert [hit.title for hit in answer] == ["the ledger is append only"]
    assert "journal also means ledger" in answer.notes


def test_nothing_to_search_is_said(tmp_path):
    with GraphMem.open(tmp_path / "index", settings=HASHED) as memory:
        with pytest.raises(NotIndexedError):
            memory.search("anything")
        assert memory.search("anything", kinds=MEMORY).hits == []
        with pytest.raises(BadInputError):
            memory.search("anything", kinds=MEMORY, phase="dream")


def test_nothing_is_answered_from_an_empty_graph_while_the_first_index_is_being_made(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "cart.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    told: dict[str, str] = {}
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as memory:

        def ask(step: IndexProgress) -> None:
            try:
                told[step.stage] = memory.search("add_item", limit=1).hits[0].qualname
            except NotIndexedError as error:
                told[step.stage] = error.message

        memory.index(tmp_path / "project", on_progress=ask)
    assert told.pop("done") == "add_item"
    assert "project" in told, "the stage between the commit and what answers are made from"
    assert all("the first index run is not finished" in said for said in told.values()), told
