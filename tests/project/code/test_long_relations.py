"""An answer that lists only the first 1,000 edges of a relation says so."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.mcp_server import text
from graphmem.settings import Settings


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    root = tmp_path_factory.mktemp("long") / "project"
    root.mkdir()
    callers = "".join(f"def caller_{number}():\n    return base()\n\n\n" for number in range(1001))
    (root / "many.py").write_text(f"def base():\n    return leaf()\n\n\ndef leaf():\n    return 1\n\n\n{callers}")
    with GraphMem.open(root.parent / "index", repo=root, settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(root)
        yield opened


def test_a_cut_relation_is_named_wherever_its_number_is_shown(memory):
    detail = memory.symbol("base")
    assert (len(detail.callers), detail.cut, detail.count("callers"), detail.count("callees")) == (1000, ["callers"], "1,000 or more", "1")
    assert "callers (1,000 or more):" in text.symbol(detail, 4000)
    assert memory.symbol("leaf").cut == []
