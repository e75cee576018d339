"""Earlier names of parameters work for one more release, with a warning, in process and over a connection."""

from __future__ import annotations

import pytest

from graphmem.operations.registry import registry

PRICE = "shop/price.py"
RENAMED = {(name, old): new for name, one in registry().items() for old, new in one.hints.renamed.items()}
NOTES = "# Notes\n\n- The till is counted on Fridays.\n"


def asked(service, name: str, old: str):
    """A question by an earlier name of one of its parameters."""
    given = {
        ("search", "k"): lambda: service.search("price", k=1),
        ("ask", "k"): lambda: service.ask("how are prices rounded", k=1),
        ("co_access", "k"): lambda: service.co_access([PRICE], k=1),
        ("memories", "query"): lambda: service.memories(query={"types": ["gotcha"]}),
        ("remember", "related_files"): lambda: service.remember("Sums are kept as floats.", related_files=[PRICE]),
        ("update_memory", "related_files"): lambda: service.update_memory("taught-one", related_files=[PRICE]),
        ("import_memories", "text"): lambda: service.import_memories(text=NOTES, path="MEMORY.md"),
    }
    return given[name, old]()


@pytest.mark.parametrize("where", ["here", "there"])
@pytest.mark.parametrize(("name", "old"), RENAMED)
def test_an_earlier_name_works_and_warns(twins, where: str, name: str, old: str) -> None:
    with pytest.warns(DeprecationWarning, match=RENAMED[name, old]):
        assert asked(getattr(twins, where), name, old)


@pytest.mark.parametrize("where", ["here", "there"])
def test_an_earlier_field_of_an_item_works_and_warns(twins, where: str) -> None:
    item = {"content": f"Tables are read at start, {where}.", "related_files": [PRICE], "id": f"item-{where}"}
    with pytest.warns(DeprecationWarning, match="files"):
        getattr(twins, where).remember_many([item])
    assert PRICE in [one.name for one in getattr(twins, where).memory(f"item-{where}").about]
