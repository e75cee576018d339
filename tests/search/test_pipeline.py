"""Search answers with what is there, says what is not, and explains every hit."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from graphmem.errors import BadInputError, EmbedderError
from graphmem.projection.words.entries import DamagedWordsError
from graphmem.projection.words.index import WordIndex
from graphmem.search import pipeline
from graphmem.search.pipeline import Request, Tuning, Weights, search


class Asks:
    """search() on one snapshot."""

    def __init__(self, shot, embedder, state):
        self.shot, self.embedder, self.state = shot, embedder, state

    def __call__(self, query, **options):
        return search(self.shot, self.embedder, Request(query, **options), self.state)


@pytest.fixture
def ask(bare, state):
    return Asks(bare, None, state)


@pytest.fixture
def ask_all(filled, embedder, state):
    return Asks(filled, embedder, state)


def names(answer):
    return [hit.qualname or hit.title for hit in answer.hits]


def test_a_question_finds_the_function_that_does_it(ask, ask_all):
    for asks in (ask, ask_all):
        assert names(asks("charge the card of the customer"))[0] == "Checkout.place_order"
        assert "Cart.total_price" in names(asks("sum with tax rounded to cents"))[:2]


def test_a_named_symbol_comes_first(ask):
    for query in ("format_price", "total_price()", "`Checkout`", "shop.money.add_tax", "Checkout.send_confirmation"):
        bare_name = query.strip("`()").rpartition(".")[2]
        assert names(ask(query))[0].endswith(bare_name)


def test_a_symbol_and_its_code_are_one_hit(ask_all):
    answer = ask_all("cart total price item product tax", k=50)
    ids = [hit.id for hit in answer.hits]
    assert len(ids) == len(set(ids))
    spans = [(hit.path, hit.start_line, hit.end_line) for hit in answer.hits if hit.kind != "symbol"]
    assert not set(spans) & {(hit.path, hit.start_line, hit.end_line) for hit in answer.hits if hit.kind == "symbol"}


def test_small_neighbours_in_one_chunk_are_told_apart_by_what_is_asked(ask):
    assert names(ask("add tax"))[0] == "add_tax"
    assert names(ask("round to cents", kinds=frozenset({"symbol"}), within=("shop/money.py",)))[0] == "round_cents"


@pytest.mark.parametrize("query", ["place_order", "tax of the cart", "who calls total_price"])
def test_parts_and_boost_add_up_to_the_score(ask_all, query):
    answer = ask_all(query, k=30)
    for hit in answer.hits:
        assert hit.parts
        assert sum(part.weight * part.normalised for part in hit.parts) + hit.boost == pytest.approx(hit.score)
        assert {part.path for part in hit.parts} <= set(answer.answered)
    assert [(-hit.score, hit.id) for hit in answer.hits] == sorted((-hit.score, hit.id) for hit in answer.hits)


def test_the_same_question_has_the_same_answer(ask_all):
    for query in ("price", "customer card order", "Cart.add_item"):
        assert ask_all(query, k=50) == ask_all(query, k=50)


def test_explanations_are_left_out_when_not_wanted(ask):
    assert all(hit.parts == [] for hit in ask("price", explain=False).hits)


def test_relations_of_a_named_symbol_are_found_through_the_graph(ask):
    answer = ask("who calls round_cents")
    assert answer.query_type == "structural"
    assert "graph" in answer.answered
    assert {"Cart.total_price", "format_price"} <= set(names(answer)[:4])


def test_prose_and_data_are_found_too(ask):
    prose = ask("how are refunds paid back")
    assert (prose.hits[0].path, prose.hits[0].kind, prose.hits[0].title) == ("README.md", "prose", "Shop › Payments") or (
        prose.hits[0].path,
        prose.hits[0].kind,
    ) == ("README.md", "prose")
    assert "five days" in prose.hits[0].snippet
    assert [hit.path for hit in ask("currency retries", kinds=frozenset({"data"})).hits] == ["settings.json"]


def test_kinds_and_files_narrow_the_answer(ask_all):
    query = "cart price tax refunds currency"
    assert {hit.kind for hit in ask_all(query, k=50, kinds=frozenset({"prose"})).hits} == {"prose"}
    assert {hit.kind for hit in ask_all(query, k=50, kinds=frozenset({"symbol"})).hits} == {"symbol"}
    assert {hit.kind for hit in ask_all(query, k=50, kinds=frozenset({"code"})).hits} <= {"symbol", "code"}
    assert {hit.path for hit in ask_all(query, k=50, within=("tests",)).hits} == {"tests/test_cart.py"}
    assert {hit.path for hit in ask_all(query, k=50, within=("shop/cart.py", "README.md")).hits} == {"shop/cart.py", "README.md"}
    assert ask_all(query, within=("nowhere",)).hits == []
    assert ask_all(query, kinds=frozenset({"memory"})).hits == []


def test_without_a_model_words_and_names_answer_and_it_is_said(ask):
    answer = ask("tax")
    assert answer.answered == ["words", "sentence", "names", "exact", "joined"]
    assert answer.missing == {"dense": "no model"}


def test_what_a_query_writes_literally_and_the_files_it_names_answer_where_it_does(ask):
    assert ask("money: `cents` are lost").answered == ["words", "sentence", "names", "exact", "joined", "literal", "places"]
    assert "places" not in ask("money and `cents`").answered


def test_before_there_are_vectors_it_is_said(bare, embedder, state):
    answer = search(bare._replace(vectors=None, vectors_note="no vectors yet"), embedder, Request("tax"), state)
    assert answer.missing == {"dense": "no vectors yet"}
    assert answer.hits


def test_while_vectors_fill_they_count_by_what_they_cover_and_it_is_said(filled, embedder, state):
    have, total = filled.covered
    assert have == total
    part = filled._replace(covered=(total // 4, total))
    whole, some = (search(shot, embedder, Request("tax of the cart", k=3), state) for shot in (filled, part))
    assert whole.missing == {}
    assert some.missing["dense"].startswith("vectors 2")
    weight = {hit.id: part.weight for hit in whole.hits for part in hit.parts if part.path == "dense"}
    reduced = {hit.id: part.weight for hit in some.hits for part in hit.parts if part.path == "dense"}
    assert max(reduced.values()) == pytest.approx(max(weight.values()) * (total // 4) / total)


def test_vectors_of_another_model_are_not_compared(filled, state):
    class Other:
        model_id, dim = "another", 384

    answer = search(filled, Other(), Request("tax"), state)
    assert "another" in answer.missing["dense"]
    assert answer.hits


def test_a_model_that_fails_costs_its_path_only(filled, state):
    class Fails:
        model_id, dim = filled.vectors.model_id, filled.vectors.dim

        def encode(self, texts):
            raise EmbedderError("the weights are gone")

    answer = search(filled, Fails(), Request("tax"), state)
    assert answer.missing == {"dense": "the weights are gone"}
    assert answer.hits


def test_a_path_that_is_late_is_left_out_and_named(filled, state):
    answered = threading.Event()

    class Slow:
        model_id, dim = filled.vectors.model_id, filled.vectors.dim

        def encode(self, texts):
            assert answered.wait(20)
            raise EmbedderError("too late to matter")

    answer = search(filled, Slow(), Request("tax", deadline_s=1), state)
    answered.set()
    assert answer.missing == {"dense": "deadline"}
    assert answer.answered == ["words", "sentence", "names", "exact", "joined"]
    assert answer.hits


def test_without_words_the_graph_still_knows_names(bare, state):
    answer = search(bare._replace(words=None, words_note="the word index is being built"), None, Request("total_price"), state)
    assert names(answer)[0] == "Cart.total_price"
    assert answer.missing["words"] == "the word index is being built"


@pytest.mark.parametrize("where", ["search", "entries"])
def test_damage_met_by_a_search_is_said_and_reported(where, bare, state, monkeypatch):
    reported = []

    def damaged(*args, **options):
        raise DamagedWordsError("malformed")

    bare.words.pieces.clear()  # what an earlier search read is not read again
    monkeypatch.setattr(WordIndex, where, damaged)
    answer = search(bare._replace(report_damage=lambda words, patience_s: reported.append(words)), None, Request("total_price"), state)
    assert "damaged" in answer.missing["words"]
    assert reported == [bare.words]
    assert answer.hits


def test_misspelt_words_are_replaced_and_it_is_said(ask):
    answer = ask("confirmatoin mail")
    assert "Checkout.send_confirmation" in names(answer)[:2]
    assert any("confirmatoin" in note for note in answer.notes)


def test_a_model_that_loads_does_not_keep_others_from_their_words(filled, state):
    loaded = threading.Event()

    class Loads:
        model_id, dim = filled.vectors.model_id, filled.vectors.dim

        def encode(self, texts):
            assert loaded.wait(20)
            raise EmbedderError("never mind")

    embedder = Loads()
    with ThreadPoolExecutor(6) as threads:
        asked = [threads.submit(search, filled, embedder, Request(f"tax {i}", deadline_s=1), state) for i in range(6)]
        answered = [one.result().answered for one in asked]
        loaded.set()
    assert all("words" in paths for paths in answered)


def test_hits_of_one_file_vote_for_each_other_within_a_bound(ask):
    answer = ask("tax price cents", k=30)
    boosts = [hit.boost for hit in answer.hits]
    assert max(boosts) == pytest.approx(Tuning().weights[answer.query_type].votes)
    known = {hit.node for hit in answer.hits}
    assert all(hit.boosted_by in known | {""} for hit in answer.hits)
    assert all(hit.boosted_by != hit.id for hit in answer.hits)


def test_weights_and_normaliser_can_be_chosen(filled, embedder, state):
    only_words = Tuning(weights=dict.fromkeys(Tuning().weights, Weights(1, 0, 0, 0, 0)))
    answer = search(filled, embedder, Request("tax", k=20), state, only_words)
    assert {part.path for hit in answer.hits for part in hit.parts} == {"words"}
    assert search(filled, embedder, Request("tax"), state, Tuning(normaliser="rrf")).hits


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request("   "), "empty"),
        (Request("x" * 10_001), "characters"),
        (Request("x", k=0), "limit is 0"),
        (Request("x", k=201), "limit is 201"),
        (Request("x", kinds=frozenset({"poetry"})), "unknown kind"),
    ],
)
def test_what_cannot_be_meant_is_refused(bare, state, request_, message):
    with pytest.raises(BadInputError, match=message):
        search(bare, None, request_, state)


@pytest.mark.parametrize("query", ['"', "?!", "()", "a" * 9_999, "💥", "the", "NOT AND OR", "`", "::", "/", "\x00"])
def test_nothing_a_person_types_fails(ask_all, query):
    ask_all(query)


def test_answers_are_plain_data(ask_all):
    answer = ask_all("tax")
    assert dataclasses.asdict(answer)["query"] == "tax"
    assert pipeline.KINDS == ("code", "prose", "data", "symbol", "memory", "module", "flow")


def test_what_no_code_speaks_of_finds_nothing(filled, embedder, state):
    asked = Request("qqqqzzzz", k=10)
    assert search(filled, embedder, asked, state, Tuning()).hits == []
    assert search(filled, embedder, asked, state, Tuning(faint=-1.0)).hits
    assert search(filled, embedder, Request("qqqqzzzz total_price", k=10), state, Tuning()).hits[0].qualname == "Cart.total_price"
