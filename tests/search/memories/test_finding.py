"""Memories are found by the same search as code: by words, by meaning, by what is near them in time and in the graph."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem.answers import IndexState
from graphmem.embedding.fill import vector_table
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.errors import BadInputError, LanguageModelError
from graphmem.knowledge import AboutRow, LearntRow, RelatesRow
from graphmem.model import GraphDelta, file_id
from graphmem.projection.memories.index import MemoryIndex
from graphmem.projection.snapshot import Snapshot
from graphmem.search.pipeline import Aids, Judge, MemoryWeights, Request, Tuning, search
from graphmem.store.base import Knowledge

NOW = datetime(2026, 3, 2, tzinfo=UTC)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MEMORY = frozenset({"memory"})
EMBEDDER = HashedEmbedder()


def about(memory_id: str, *paths: str, anchor: str = "valid") -> list[AboutRow]:
    return [AboutRow(memory_id, file_id("p", path), "File", "about", 0.9, "", "", anchor) for path in paths]


class Asks:
    """Searches some memories beside an empty graph."""

    def __init__(self, bare: Snapshot, state: IndexState) -> None:
        self.bare, self.state = bare, state

    def __call__(self, query, rows, links=(), relates=(), learnt=(), embedder=EMBEDDER, tuning=None, aids=None, **options):
        knowledge = Knowledge(1, sorted(rows), list(links), list(relates), [], list(learnt))
        vectors = vector_table([row.text_hash for row in rows], EMBEDDER.encode([row.content for row in rows]))
        index = MemoryIndex.from_knowledge(knowledge, EMBEDDER.model_id, vectors)
        shot = self.bare._replace(memories=index, memories_note="")
        request = Request(query, **{"kinds": MEMORY, **options})
        return search(shot, embedder, request, self.state, tuning, aids or Aids("p", Judge(now=lambda: NOW)))


@pytest.fixture(scope="session")
def ask(bare, state):
    return Asks(bare, state)


@pytest.fixture
def talk(memory):
    """Turns of a talk: what is asked for stands next to what the question mentions."""
    said = [
        "shall we meet on monday",
        "how was the pottery course",
        "I made two bowls and a cup",
        "the train was late",
        "it rained all day",
    ]
    return [memory(f"m{n}", text, created_at=NOON + timedelta(seconds=20 * n)) for n, text in enumerate(said)]


def ids(answer) -> list[str]:
    return [hit.id for hit in answer]


def test_the_memory_with_the_words_comes_first_and_explains_itself(ask, memory):
    rows = [memory("a", "retry the socket after a timeout"), memory("b", "the parser keeps comments")]
    answer = ask("socket timeout", rows)
    assert ids(answer)[0] == "a"
    hit = answer.hits[0]
    assert (hit.kind, hit.node, hit.symbol_kind) == ("memory", "a", "fact")
    assert {part.path for part in hit.parts} >= {"words", "dense"}
    values = {factor.name: factor for factor in hit.factors}
    added = sum(values[name].value * values[name].weight for name in ("relevance", "recency", "frequency"))
    belief = 1 - values["confidence"].weight * (1 - values["confidence"].value)
    assert hit.score == pytest.approx(added * values["phase"].value * values["trust"].value * belief)


def test_what_was_said_next_to_a_hit_rises_and_names_it(ask, talk):
    answer = ask("the pottery course", talk)
    alone = ask("the pottery course", talk, tuning=Tuning(memory=MemoryWeights(time=0)))
    lifted = next(hit for hit in answer if hit.id == "m2")
    assert ids(answer)[0] == ids(alone)[0] == "m1"
    assert lifted.score > next(hit for hit in alone if hit.id == "m2").score
    assert lifted.boosted_by == "m1"
    assert lifted.boost > 0.1
    assert "time" in answer.answered


def test_neighbours_in_time_stay_below_the_hit_that_raised_them(ask, talk):
    answer = ask("the pottery course", talk)
    lifted = {hit.id: part.raw for hit in answer for part in hit.parts if part.path == "time"}
    assert lifted["m2"] > lifted["m3"] > lifted["m4"]
    assert max(hit.boost for hit in answer) <= Tuning().memory.time
    assert ids(answer)[0] == "m1"


def test_what_came_right_after_a_question_rises_most_as_it_may_be_the_answer(ask, talk):
    def after_and_before(added: str) -> float:
        rows = [row._replace(content=row.content + added) if row.id == "m1" else row for row in talk]
        boost = {hit.id: hit.boost for hit in ask("the pottery course", rows)}
        return boost["m2"] / boost["m0"]

    assert after_and_before("") == pytest.approx(1, rel=0.05)
    assert after_and_before("?") == pytest.approx(2, rel=0.05)  # the root of four times as much
    assert after_and_before(" https://x.org/a?b=c") == pytest.approx(1, rel=0.05)


def test_a_memory_that_only_asks_loses_to_a_question_and_says_so(ask, memory):
    others = [
        memory(f"m{n}", text) for n, text in enumerate(("the train was late", "it rained all day", "retry the socket", "a cup of tea"))
    ]
    asks, tells = "Ana: What is the deadline of the invoice export?", "Ben: The deadline of the invoice export is Friday. Why? Tax."
    rows = [memory("a", asks), memory("b", tells), *others]
    question = "when is the deadline of the invoice export"
    answer = ask(question, rows)
    assert ids(answer)[0] == "b"
    without = {hit.id: hit.score for hit in ask(question, rows, tuning=Tuning(memory=MemoryWeights(asking=0)))}
    lowered = {hit.id: without[hit.id] - hit.score for hit in answer}
    assert lowered["a"] > lowered["b"] > lowered["m0"] == 0
    factors = {hit.id: next((one.value for one in hit.factors if one.name == "asks itself"), 1.0) for hit in answer}
    assert (factors["a"], factors["m0"]) == (0.5, 1.0)
    assert 0.9 < factors["b"] < 1.0
    statement = ask("deadline of the invoice export", rows)
    assert all(one.name != "asks itself" for hit in statement for one in hit.factors)


def test_words_of_the_best_hits_raise_memories_that_share_them(ask, memory):
    def echo_of_keys(query: str, closer: str) -> float:
        rows = [
            memory("a", f"the quarterly ledger is closed by {closer}"),
            memory("b", "Ottoline keeps her keys in a blue drawer", created_at=NOON + timedelta(days=30)),
            *(memory(f"m{n}", f"plan {n}", created_at=NOON + timedelta(days=90 + n)) for n in range(20)),
        ]
        parts = next(hit.parts for hit in ask(query, rows, k=30) if hit.id == "b")
        return next((part.raw for part in parts if part.path == "echo"), 0.0)

    question = "who keeps the keys of the quarterly ledger?"
    assert echo_of_keys(question, "Ottoline") > echo_of_keys(question, "Magnus") > 0
    assert echo_of_keys("keys quarterly ledger", "Ottoline") == 0.0


def test_what_was_said_days_later_is_not_a_neighbour_unless_it_was_the_same_session(ask, talk):
    apart = [row._replace(created_at=NOON + timedelta(days=n)) for n, row in enumerate(talk)]
    plain = {hit.id: hit.boost for hit in ask("the pottery course", apart)}
    assert plain["m2"] == pytest.approx(0, abs=1e-4)
    together = [LearntRow("m1", "s", 0, 1), LearntRow("m2", "s", 1, 2)]
    assert {hit.id: hit.boost for hit in ask("the pottery course", apart, learnt=together)}["m2"] > 0.1


def test_memories_about_the_same_file_rise_and_hubs_do_not(ask, memory):
    said = ["flush the cache", "beware of clocks", "other thing"]
    rows = [memory(f"m{n}", text, created_at=NOON + timedelta(days=n)) for n, text in enumerate(said)]
    crowd = [memory(f"x{n}", f"nothing to see {n}", created_at=NOON + timedelta(days=10 + n)) for n in range(30)]
    links = [*about("m0", "cache.py", "util.py"), *about("m1", "cache.py"), *(link for row in crowd for link in about(row.id, "util.py"))]
    answer = ask("flush the cache", [*rows, *crowd], links, k=40)
    boost = {hit.id: hit.boost for hit in answer}
    assert ids(answer)[:2] == ["m0", "m1"]
    assert answer.hits[1].boosted_by == "m0"
    assert boost["m1"] > 2 * max(boost.get(row.id, 0.0) for row in crowd)


def test_active_files_lift_what_is_about_them_and_exclude_nothing(ask, memory):
    rows = [memory("a", "timeouts are in seconds"), memory("b", "timeouts are in minutes")]
    links = [*about("a", "a.py"), *about("b", "b.py")]
    assert ids(ask("timeouts", rows, links, files=("b.py",)))[0] == "b"
    assert ids(ask("timeouts", rows, links, files=("a.py",)))[0] == "a"
    assert set(ids(ask("timeouts", rows, links, files=("a.py",)))) == {"a", "b"}
    assert ids(ask("timeouts", rows, links, within=("b.py",))) == ["b"]


def test_related_memories_rise(ask, memory):
    said = ["rotate the key", "restart the worker", "feed the cat"]
    rows = [memory(f"m{n}", text, created_at=NOON + timedelta(days=n)) for n, text in enumerate(said)]
    answer = ask("rotate the key", rows, relates=[RelatesRow("m0", "m1", "required_with", 1.0, False)])
    assert ids(answer)[:2] == ["m0", "m1"]


def test_the_phase_of_work_decides_between_equals(ask, memory):
    rows = [memory("a", "cache rule one", type="decision"), memory("b", "cache rule two", type="gotcha")]
    assert ids(ask("cache rule", rows, phase="implement"))[0] == "b"
    assert ids(ask("cache rule", rows, phase="define"))[0] == "a"


def test_trust_doubt_and_use_move_the_score(ask, memory):
    rows = [memory("a", "cache rule one"), memory("b", "cache rule two", used_count=50)]
    assert ids(ask("cache rule", rows))[0] == "b"
    trusting = Aids("p", Judge(trust=lambda row: 1.4 if row.id == "a" else 1.0, now=lambda: NOW))
    assert ids(ask("cache rule", rows, aids=trusting))[0] == "a"
    doubting = Aids("p", Judge(confidence=lambda row, now, about: 0.0 if row.id == "b" else 1.0, now=lambda: NOW))
    plain, doubted = (next(hit.score for hit in ask("cache rule", rows, aids=one) if hit.id == "b") for one in (None, doubting))
    assert doubted < plain


def test_retired_memories_come_back_when_asked_for(ask, memory):
    rows = [memory("old", "flushed hourly", status="superseded", valid_to=NOON + timedelta(hours=2)), memory("new", "flushed daily")]
    assert ids(ask("flushed", rows)) == ["new"]
    assert set(ids(ask("flushed", rows, retired=True))) == {"old", "new"}
    assert set(ids(ask("flushed", rows, as_of=NOON + timedelta(hours=1)))) == {"old", "new"}
    assert ids(ask("flushed", rows, types=frozenset({"gotcha"}))) == []


def test_a_repetition_of_a_better_hit_is_lowered_and_says_so(ask, memory):
    rows = [memory("a", "flush the cache daily"), memory("b", "flush the cache daily!"), memory("c", "the cache is warm")]
    said = [factor.name for hit in ask("flush the cache", rows) for factor in hit.factors]
    assert sum(name.startswith("repeats") for name in said) == 1


def test_without_a_model_words_and_neighbours_answer_and_it_is_said(ask, talk):
    answer = ask("pottery", talk, embedder=None)
    assert ids(answer)[0] == "m1"
    assert answer.missing == {"dense": "no model"}


def test_aliases_are_looked_for_as_well(ask, memory):
    rows = [memory("a", "the ledger is append only"), memory("b", "the parser keeps comments")]
    aids = Aids("p", Judge(now=lambda: NOW), {"journal": ["ledger"]})
    answer = ask("Journal", rows, embedder=None, aids=aids)
    assert ids(answer)[0] == "a"
    assert answer.notes == ["journal also means ledger", "no memory contains: journal"]


def test_code_and_memories_are_ranked_together(ask, memory):
    rows = [memory("a", "tax of the cart is rounded to cents")]
    answer = ask("tax of the cart", rows, kinds=frozenset(), k=20)
    assert {"memory", "symbol"} <= {hit.kind for hit in answer}
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)


def test_a_hypothetical_memory_is_searched_for_when_little_fits(ask, memory):
    rows = [memory("a", "bowls are fired twice"), memory("b", "trains are late")]
    wished = Aids("p", Judge(now=lambda: NOW), hypothesis=lambda query: "bowls are fired in the kiln")
    answer = ask("ceramics", rows, aids=wished)
    assert ids(answer)[0] == "a"
    assert any("hypothetical" in note for note in answer.notes)


def test_a_hypothesis_that_does_not_come_is_named_and_the_rest_answers(ask, memory):
    def fails(query):
        raise LanguageModelError("it is resting", reason="resting")

    answer = ask("ceramics bowls", [memory("a", "bowls are fired twice")], aids=Aids("p", Judge(now=lambda: NOW), hypothesis=fails))
    assert ids(answer) == ["a"]
    assert answer.missing["hypothesis"] == "it is resting"


def test_a_cross_encoder_decides_the_head(ask, memory):
    class Backwards:
        model_id = "backwards"

        def scores(self, query, texts):
            return [0.9 if "two" in text else 0.1 for text in texts]

    rows = [memory("a", "cache rule one", used_count=9), memory("b", "cache rule two")]
    answer = ask("cache rule", rows, aids=Aids("p", Judge(now=lambda: NOW), reranker=Backwards()))
    assert ids(answer) == ["b", "a"]
    assert "rerank" in answer.answered
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)


def test_the_same_question_has_the_same_answer(ask, talk):
    assert ask("the pottery course", talk) == ask("the pottery course", talk[::-1])


def test_weights_of_nothing_leave_the_rest(ask, talk):
    bare_weights = Tuning(memory=MemoryWeights(time=0, graph=0, files=0))
    assert all(hit.boost == 0 for hit in ask("the pottery course", talk, tuning=bare_weights))


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"phase": "dream"}, "phase"),
        ({"files": ("x",) * 201}, "files"),
        ({"as_of": NOON.replace(tzinfo=None)}, "as_of"),
        ({"kinds": frozenset({"x"})}, "kinds"),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(ask, memory, options, argument):
    with pytest.raises(BadInputError) as refused:
        ask("cache", [memory("a", "cache")], **options)
    assert refused.value.facts["argument"] == argument


def test_an_empty_graph_is_not_a_hindrance(ask):
    assert ask("anything", []).hits == []
    assert GraphDelta.empty().is_empty


def test_what_nothing_speaks_of_finds_nothing_and_says_so(ask, memory):
    rows = [memory("a", "retry the socket after a timeout"), memory("b", "the parser keeps comments")]
    answer = ask("qqqqzzzz", rows, files=("a.py",))
    assert ids(answer) == []
    nothing = "no text has a word of the query, and no vector is near it"
    assert answer.notes[-2:] == [nothing, '`graphmem ask "why …?"` also looks for reasons in documents, comments and commits']
    assert ask("qqqqzzzz", rows, kinds=frozenset({"memory", "code"})).notes[-1] == nothing
    assert ids(ask("qqqqzzzz parser", rows))[0] == "b"
    assert set(ids(ask("qqqqzzzz", rows, tuning=Tuning(faint=-1.0)))) == {"a", "b"}
