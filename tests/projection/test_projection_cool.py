"""Projections answer as before after they released their caches."""

from graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index


def test_an_index_that_released_its_look_ups_and_its_database_answers_as_before(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("def first():\n    return second()\n\n\ndef second():\n    return 1\n", encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.remember("the second function is what the first one leans on", id="m1", files=["a.py"])
        memory.wait_until_ready()

        def answers():
            return (
                [hit.symbol.qualname for hit in memory.impact("second").hits],
                memory.resolve("a.py:first").id,
                [one.qualname for one in memory.symbols("first")[0]],
                [hit.id for hit in memory.search("what the first function leans on").hits],
                memory.memory("m1").content,
            )

        before = answers()
        assert memory.cool()
        assert memory.rest(0)
        assert answers() == before
        memory.cool()
        (root / "b.py").write_text("from a import second\n\n\ndef third():\n    return second()\n", encoding="utf-8")
        memory.index(root)
        memory.remember("the third function came later", id="m2")
        assert sorted(hit.symbol.qualname for hit in memory.impact("second").hits) == ["first", "third"]
        assert memory.search("third function that came later").hits[0].id
