"""Health says what searches were like."""

from __future__ import annotations

from graphmem import GraphMem
from graphmem.answers.upkeep import Searches
from graphmem.search.tally import WINDOW, Tally
from graphmem.settings import Settings
from made_once import empty_index

CODE = {
    "a.py": "def vat(price):\n    return rounded(price)\n\n\ndef rounded(price):\n    return price\n",
    "b.py": "from a import vat\n\n\nprint(vat(1))\n",
}


def test_health_counts_searches_and_how_long_they_took(tmp_path):
    for path, text in CODE.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    with GraphMem.open(empty_index(tmp_path / "db"), settings=Settings(embedder="none")) as gm:
        gm.index(tmp_path)
        assert gm.health().searches == Searches(0, 0.0, 0.0, 0.0)
        for query in ("vat", "rounded price", "nothing like that"):
            gm.search(query)
        found = gm.health().searches
        assert 1 <= found.count <= 3  # one that had to load a model says nothing about the next
        assert 0 < found.p50_ms <= found.p95_ms
        assert 0 <= found.boosted <= 1


def test_times_are_those_of_the_last_thousand_and_counts_of_all():
    tally = Tally()
    for milliseconds in range(WINDOW + 100):
        tally.note(float(milliseconds), [])
    found = tally.summary()
    assert found.count == WINDOW + 100
    assert found.p50_ms == 100 + round(0.5 * (WINDOW - 1))
    assert found.boosted == 0
