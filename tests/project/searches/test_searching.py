"""Searching: what is written is found by the next search, and code and what is known about it come together."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphmem.answers.search import unanswered
from graphmem.errors import BadInputError, NotIndexedError
from graphmem.model import IndexProgress
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

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
    with GraphMem.open(empty_index(tmp_path / "index"), settings=HASHED) as memory:
        memory.index(tree)
        yield memory


def test_memories_are_found_with_their_vectors_right_after_they_were_written(tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=HASHED) as memory:
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
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none"), patience_s=0) as memory:
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


def test_a_lesson_of_a_commit_about_the_file_comes_only_if_it_speaks_of_the_question(project):
    said = ("the cache lost its hours when flushed twice", "a comma was missing in the header")
    project.remember_many([{"content": one, "type": "gotcha", "source": "commit_auto", "files": ["pkg/cache.py"]} for one in said])
    code = next(hit for hit in project.search("flush cache hours", kinds={"code"}) if hit.qualname == "flush_cache")
    assert [known.content for known in code.memories] == [said[0]]


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
    with GraphMem.open(empty_index(tmp_path / "index"), settings=HASHED) as memory:
        with pytest.raises(NotIndexedError):
            memory.search("anything")
        assert memory.search("anything", kinds=MEMORY).hits == []
        with pytest.raises(BadInputError):
            memory.search("anything", kinds=MEMORY, phase="dream")


def test_nothing_is_answered_from_an_empty_graph_while_the_first_index_is_being_made(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "cart.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    told: dict[str, str] = {}
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:

        def ask(step: IndexProgress) -> None:
            try:
                told[step.stage] = memory.search("add_item", limit=1).hits[0].qualname
            except NotIndexedError as error:
                told[step.stage] = error.message

        memory.index(tmp_path / "project", on_progress=ask)
    assert told.pop("done") == "add_item"
    assert "project" in told, "the stage between the commit and what answers are made from"
    assert all("the first index run has not finished" in said for said in told.values()), told


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A project with code, tests, documents and configuration."""
    tree = tmp_path_factory.mktemp("grouped") / "shop"
    texts = {
        "shop/__init__.py": "",
        "shop/basket.py": (
            '"""Baskets of customers."""\n\n\ndef total(basket):\n    """Add up the basket\'s prices, with discount."""\n'
            "    return discounted(sum(basket))\n\n\ndef discounted(price):\n    # discount of the basket\n    return price * 0.9\n"
        ),
        "shop/cli.py": "from shop.basket import total\n\n\ndef main():\n    print(total([]))\n\n\nif __name__ == '__main__':\n    main()\n",
        "tests/test_basket.py": "from shop.basket import total\n\n\ndef test_discount_of_a_basket():\n    assert total([10]) == 9\n",
        "docs/basket.md": "# Basket\n\nA discount of ten percent holds for each basket.\n",
        "basket.toml": "[basket]\ndiscount = 0.1\n",
    }
    for name, text in texts.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    with GraphMem.open(tree.parent / "index", settings=Settings(embedder="none")) as memory:
        memory.index(tree)
        memory.remember("the basket's discount is agreed with sales", "decision")
        yield memory


def test_hits_are_grouped_by_file_and_counted_by_part_of_the_project(shop):
    answer = shop.search("discount of the basket", explain=False)
    assert sorted(number for group in answer.groups for number in group.hits) == list(range(1, len(answer.hits) + 1))
    assert {group.path for group in answer.groups} >= {"shop/basket.py", "tests/test_basket.py", "docs/basket.md", "basket.toml", ""}
    for group in answer.groups:
        assert {answer.hits[number - 1].path for number in group.hits} == {group.path}
    counts = {one.facet: one.hits for one in answer.facets}
    assert counts.keys() == {"code", "tests", "docs", "configuration", "memories"}
    assert sum(counts.values()) == len(answer.hits)


def test_a_hit_has_its_summary_and_the_numbered_lines_that_match(shop):
    hits = {hit.qualname: hit for hit in shop.search("basket discount", kinds={"symbol"})}
    assert hits["total"].summary == "Add up the basket's prices, with discount."
    assert [(one.line, one.text) for one in hits["discounted"].lines] == [(10, "# discount of the basket")]


def test_similar_names_are_given_when_a_name_is_not_found(shop):
    assert [(one.word, one.ref) for one in shop.search("discountde").near] == [("discountde", "shop/basket.py:discounted")]
    assert shop.search("discounted").near == []
    nothing = shop.search("zzzzz baskte", kinds={"prose"})
    assert nothing.hits or "docs/basket.md" in {one.ref for one in nothing.near}


def test_modules_and_flows_are_in_the_list_once_they_are_derived(shop):
    flow = next(hit for hit in shop.search("main total", kinds={"flow"}))
    assert (flow.facet, flow.id) == ("flows", "shop/cli.py:<module>")
    modules = shop.search("shop", kinds={"module"})
    assert [hit.kind for hit in modules] == ["module"]
    assert shop.module(modules[0].id).module.name == modules[0].id
    everything = shop.search("main total")
    assert {hit.kind for hit in everything} >= {"symbol", "flow"}
    assert {one.facet for one in everything.facets} >= {"code", "flows"}


def test_a_search_says_that_modules_and_flows_are_not_derived_yet(project):
    code = project.search("flush cache")
    assert {"modules", "flows"} <= code.missing.keys()
    assert unanswered(code.missing)[-1].startswith("modules and flows are left out: not derived from the current code yet")
    assert "modules" not in project.search("flush cache", kinds={"code"}).missing
    assert project.search("pkg", kinds={"module", "flow"}).missing.keys().isdisjoint({"modules", "flows"})
    assert project.search("flush cache").missing.keys().isdisjoint({"modules", "flows"})


def test_modules_and_flows_stay_in_the_list_while_other_results_are_derived(shop):
    assert shop.search("main total", kinds={"flow"}).hits
    before = [hit.id for hit in shop.search("main total")]
    here, held, done = shop.parts.semantics.newest(), threading.Event(), threading.Event()

    def derive():
        with here.lock:
            held.set()
            done.wait(60)

    with ThreadPoolExecutor(1) as other:
        deriving = other.submit(derive)
        try:
            assert held.wait(60)
            assert [hit.id for hit in shop.search("main total")] == before
        finally:
            done.set()
        deriving.result()
    assert "flow" in {hit.kind for hit in shop.search("main total")}


def test_flows_of_a_search_follow_the_graph(tmp_path):
    tree = tmp_path / "shop"
    tree.mkdir()
    (tree / "basket.py").write_text("def total():\n    return 1\n", encoding="utf-8")
    command = "from basket import total\n\n\ndef {0}():\n    print(total())\n\n\nif __name__ == '__main__':\n    {0}()\n"
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        for name, other in (("shown", "printed"), ("printed", "shown")):
            (tree / "cli.py").write_text(command.format(name), encoding="utf-8")
            memory.index(tree)
            assert any(name in hit.snippet for hit in memory.search(name, kinds={"flow"}))
            assert not memory.search(other, kinds={"flow"}).hits


def test_evidence_without_a_model_begins_with_code_and_follows_its_calls(shop):
    reply = shop.ask("how are prices added up with the discount of a basket")
    code = [hit.qualname for hit in reply.evidence if hit.facet == "code" and hit.qualname in {"total", "discounted"}]
    assert code == ["total", "discounted"]
    facets = [hit.facet for hit in reply.evidence]
    assert facets[-1] == "tests"
    assert len([one for at, one in enumerate(facets) if at == 0 or facets[at - 1] != one]) == len(set(facets))
    assert sorted(number for group in reply.evidence.groups for number in group.hits) == list(range(1, len(facets) + 1))


def test_only_the_first_words_of_a_long_query_are_compared_with_names(shop):
    unknown = [f"qzx{number}" for number in range(40)]
    few = shop.search(" ".join([*unknown[:15], "discountde"]), kinds=["prose"])
    many = shop.search(" ".join([*unknown, "discountde"]), kinds=["prose"])
    assert ([one.word for one in few.near], few.hits, many.hits) == (["discountde"], [], [])
    assert many.near == []
    assert "similar names were looked up for the first 16 of 41 words" in many.notes


RUST = """use std::fmt;

pub struct Worker { zip: bool }

impl Worker {
    /// Attempt to decompress the archive
    /// before it is scanned.
    #[inline]
    pub fn open(&self) -> bool {
        self.zip
    }

    /// Count the lines of a haystack.
    pub fn count(&self) -> usize { 1 }
}
"""


def test_a_comment_above_a_function_is_not_a_hit_beside_it(tmp_path):
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / "src" / "worker.rs").write_text(RUST, encoding="utf-8")
    (tmp_path / "tree" / "src" / "other.rs").write_text("pub fn noop() {}\n" * 3, encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        memory.index(tmp_path / "tree")
        for query, name in (("how is an archive decompressed", "open"), ("count lines of a haystack", "count")):
            hits = memory.search(query).hits
            assert hits[0].qualname.endswith(name)
            assert all(hit.qualname for hit in hits)
