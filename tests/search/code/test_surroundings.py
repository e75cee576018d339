"""The best hits speak for others: for code like theirs, for what they call and for what calls them."""

from __future__ import annotations

import numpy as np
import pytest

from graphmem import GraphMem
from graphmem.projection.vectors import VectorIndex
from graphmem.search.code.surroundings import echoes, joined_by_edges
from graphmem.search.fusion import Fused, Ranked, fuse
from graphmem.search.pipeline import Request, Tuning, search
from graphmem.search.units.units import StemsOfUnits
from graphmem.settings import Settings

SOURCE = '''"""Reports."""


class Sheet:
    def fill(self):
        return prepare(self)


class LongSheet(Sheet):
    def fill(self):
        return super().fill()


def prepare(sheet):
    return sheet


def publish(sheet):
    """Send the quarterly figures to everybody."""
    return deliver(sheet.fill())


def deliver(text):
    return text


def unrelated(text):
    return text


def weigh(parcels):
    def heaviest_parcel(one, other):
        """The heaviest parcel of two."""
        return max(one, other)

    total = 0
    for parcel in parcels:
        total = heaviest_parcel(total, parcel)
{lines}
    return total
'''


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    (folder / "reports.py").write_text(SOURCE.format(lines=LINES), encoding="utf-8")
    with GraphMem.open(folder / "index", settings=Settings(embedder="none")) as memory:
        memory.index(folder)
        memory.parts.projections.wait()
        yield memory.parts.projections.snapshot(), memory.state()


LINES = "\n".join(f"        total += parcel.side_{number} * parcel.height_{number}" for number in range(120))


def node_of(view, qualname):
    return view.ids[int(view.by_qualname(qualname)[0])]


def test_a_callee_and_a_caller_get_the_score_of_the_hit_times_how_sure_the_call_is(searched):
    view = searched[0].graph
    publish, deliver, unrelated = (node_of(view, name) for name in ("publish", "deliver", "unrelated"))
    got = joined_by_edges(view, {publish: 1.0, deliver: 0.0, unrelated: 0.0}, others=0.5)
    assert set(got) == {deliver}
    assert 0 < got[deliver] <= 1
    assert joined_by_edges(view, {publish: 0.0, deliver: 0.5, unrelated: 0.0}, others=0.5) == pytest.approx({publish: got[deliver] / 2})


def test_a_method_speaks_for_the_one_that_takes_its_place(searched):
    view = searched[0].graph
    above, below = node_of(view, "Sheet.fill"), node_of(view, "LongSheet.fill")
    scores = {above: 1.0, below: 0.0}
    half, whole = joined_by_edges(view, scores, others=0.5), joined_by_edges(view, scores, others=1.0)
    calls = joined_by_edges(view, scores, others=0.0).get(below, 0.0)  # `super().fill()`
    assert half[below] - calls == pytest.approx((whole[below] - calls) / 2)
    assert half[below] > calls


def test_only_candidates_get_something_and_nothing_is_not_an_error(searched):
    view = searched[0].graph
    assert joined_by_edges(view, {}, others=0.5) == {}
    assert joined_by_edges(view, {"no node": 1.0}, others=0.5) == {}
    assert joined_by_edges(view, {node_of(view, "publish"): 1.0}, others=0.5) == {}


def test_what_the_hit_calls_comes_before_what_is_as_poor_and_not_called(searched):
    shot, state = searched
    hits = search(shot, None, Request("quarterly figures; deliver or unrelated text", explain=True), state).hits
    order = [hit.qualname for hit in hits]
    assert order.index("deliver") < order.index("unrelated")
    assert any(part.path == "joined" and part.normalised > 0 for hit in hits if hit.qualname == "deliver" for part in hit.parts)


def test_an_inner_function_stands_behind_unless_it_is_named(searched):
    shot, state = searched
    asked, named = "the heaviest parcel of two", "`heaviest_parcel`"

    def score(query, tuning):
        hits = search(shot, None, Request(query, k=50), state, tuning).hits
        return next((hit.score for hit in hits if hit.qualname == "weigh.heaviest_parcel"), None)

    as_any = Tuning(inner=1.0)
    assert score(asked, Tuning()) == pytest.approx(score(asked, as_any) * Tuning().inner)
    assert score(named, Tuning()) == score(named, as_any)


def test_lists_joined_later_give_the_sum_of_all():
    first, second = Ranked("words", {"a": 2.0, "b": 1.0}, 0.5), Ranked("joined", {"b": 0.8}, 0.3, full=1.0)
    together, later = fuse([first, second]), fuse([second], before=fuse([first]))
    assert [(hit.id, [part.name for part in hit.parts]) for hit in later] == [
        (hit.id, [part.name for part in hit.parts]) for hit in together
    ]
    assert [hit.score for hit in later] == pytest.approx([hit.score for hit in together])


def test_a_mean_is_of_the_vectors_that_are_there():
    vectors = VectorIndex("model", 2, ["x", "y"], np.array([[1, 0], [0, 2]], np.float32))
    assert vectors.mean(["x", "y", "y", "z"]).tolist() == [0.5, 0.5]
    assert vectors.mean(["z"]) is None


def test_candidates_echo_the_rare_words_of_the_best_hits():
    found = {"best": [1, 2, 2], "like it": [2, 3], "of common words": [1, 1, 3], "other": [1, 3]}
    words = np.concatenate([np.array(one) for one in found.values()])
    stems = StemsOfUnits(list(found), words, np.repeat(np.arange(len(found)), [len(one) for one in found.values()]))
    scores = echoes([Fused("best", 1.0, []), Fused("not read", 0.9, []), Fused("other", 0.1, [])], stems, count=1)
    assert max(scores, key=scores.__getitem__) == "best"
    assert scores["like it"] > scores["of common words"]
    assert "not read" not in scores
    assert echoes([Fused("not read", 1.0, [])], stems, count=1) == {}
    assert echoes([Fused("best", 1.0, [])], StemsOfUnits(["best"], words[:0], words[:0]), count=1) == {}
