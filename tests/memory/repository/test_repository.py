"""Storage of memories: one path for every source."""

from __future__ import annotations

import numpy as np
import pytest

from graphmem.embedding.hashed import HashedEmbedder
from graphmem.embedding.quantised import QuantisedEmbedder
from graphmem.embedding.sentence import SentenceEmbedder
from graphmem.errors import BadInputError, MemoryNotFoundError
from graphmem.memory.texts.similar import thresholds_of
from graphmem.memory.texts.types import SOURCES

TABS = "Indent Python sources with four spaces everywhere in this repository."


def test_a_memory_comes_back_as_it_was_given(gm, clock):
    answer = gm.remember(
        "Carts are emptied after payment. Not before.",
        "gotcha",
        tags=["cart", "payment"],
        files=["shop/cart.py", "./shop/cart.py"],
        importance=0.8,
        details=None,
        session="s-1",
    )
    memory = gm.memory(answer.result.id)
    assert memory == answer.memory
    assert answer.result.outcome == "added"
    assert memory.title == "Carts are emptied after payment"
    assert memory.citation == "cart.py · 2026-01-01"
    assert (memory.type, memory.status, memory.source, memory.origin) == ("gotcha", "confirmed", "agent_explicit", "agent")
    assert memory.files == ["shop/cart.py"]
    assert memory.sessions == ["s-1"]
    assert memory.confidence == SOURCES["agent_explicit"].confidence
    assert gm.memory(memory.short_id).id == memory.id
    assert memory.id[14] == "7"


def test_it_is_there_after_closing_and_opening(opened):
    first = opened()
    kept = first.remember("Only the worker may write to the queue.", files=["never/indexed.py"]).memory
    first.close()
    again = opened().memory(kept.id)
    assert again.content == kept.content
    assert again.files == ["never/indexed.py"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("We decided on Postgres.", "decision"),
        ("Fixed a crash in the parser.", "error_pattern"),
        ("I found that carts are shared.", "module_insight"),
        ("Added a button.", "work_unit_outcome"),
        ("Never commit on Fridays.", "preference"),
        ("The sky is blue.", "observation"),
    ],
)
def test_without_a_type_the_words_decide(gm, content, expected):
    assert gm.remember(content).memory.type == expected


@pytest.mark.parametrize(
    ("other", "ours"), [("architecture", "decision"), ("bugfix", "error_pattern"), ("Stack", "fact"), ("task-progress", "work_state")]
)
def test_names_of_other_tools_are_understood(gm, other, ours):
    assert gm.remember(f"Something about {other}.", other).memory.type == ours


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_starts_as_its_row_says(gm, source):
    memory = gm.remember(f"Something from {source}.", source=source).memory
    row = SOURCES[source]
    assert (memory.status, memory.needs_review, memory.origin, memory.trust) == (row.status, row.needs_review, row.origin, row.trust)


def test_the_same_again_strengthens_instead_of_adding(gm):
    first = gm.remember(TABS, tags=["style"], session="a").memory
    again = gm.remember(
        "  indent python  SOURCES with four spaces\neverywhere in this repository. ", tags=["python"], files=["x.py"], session="b"
    )
    assert again.result.outcome == "duplicate"
    assert again.result.id == first.id
    memory = gm.memory(first.id)
    assert (memory.strength, memory.importance) == (2, 0.6)
    assert memory.tags == ["style", "python"]
    assert memory.files == ["x.py"]
    assert memory.sessions == ["a", "b"]
    assert gm.memories().total == 1


def test_nearly_the_same_is_one_memory_with_an_older_version(gm):
    first = gm.remember("Indent Python sources with four spaces in this repository.", session="a").memory
    answer = gm.remember("Indent all Python sources with four spaces in this repository.", session="b")
    assert answer.result.outcome == "consolidated"
    assert answer.result.others == [first.id]
    kept = answer.memory
    assert kept.content.startswith("Indent all")
    assert kept.strength == 2
    assert kept.sessions == ["a", "b"]
    assert [(one.id, one.kind, one.status) for one in kept.relations] == [(first.id, "derived_from", "superseded")]
    assert gm.memories().total == 1
    assert gm.memory(first.id).valid_to


def test_what_differs_in_a_number_or_a_name_is_another_memory(gm):
    gm.remember("The timeout of requests to the reporting service is 30 seconds by default.")
    other = gm.remember("The timeout of requests to the reporting service is 60 seconds by default.")
    assert other.result.outcome == "added"
    assert gm.memories().total == 2


def test_a_person_s_words_are_never_replaced_by_an_inference(gm):
    first = gm.remember("Indent Python sources with four spaces in this repository.", source="user_taught").memory
    answer = gm.remember("Indent all Python sources with four spaces in this repository, as the observer saw.", source="observer_inferred")
    assert answer.result.id == first.id
    assert gm.memory(first.id).content == first.content
    assert gm.memory(first.id).strength == 2


def test_every_embedder_that_comes_along_has_measured_thresholds(tmp_path):
    embedders = HashedEmbedder(), SentenceEmbedder(), QuantisedEmbedder(tmp_path), SentenceEmbedder(max_tokens=128)
    assert all(thresholds_of(embedder.model_id).pairs for embedder in embedders)
    assert thresholds_of("all-MiniLM-L6-v2-of-somebody@256").pairs == 0


def test_the_same_in_other_words_is_found_by_the_vector(gm):
    vector = np.ones(384, np.float32)
    gm.parts.book.projections.use_model("test-model", 384)
    first = gm.remember("Deployments happen on Tuesday mornings.", vector=vector, embedding_model="test-model").memory
    near = vector.copy()
    near[0] = 1.5
    answer = gm.remember("We ship each week, the day after Monday before noon.", vector=near, embedding_model="test-model")
    assert answer.result.outcome == "added"
    assert f"#{first.short_id}" in answer.result.note
    assert [(one.id, one.kind, one.auto, one.status) for one in answer.memory.relations] == [(first.id, "validates", True, "confirmed")]
    assert gm.memories().total == 2, "probably the same is not sure enough to take one out of search"
    far = np.where(np.arange(384) % 2, 1, -1).astype(np.float32)
    assert gm.remember("Lunch is at one.", vector=far, embedding_model="test-model").result.outcome == "added"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use tabs for indentation in Makefiles.", "Never use tabs for indentation in Makefiles."),
        ("Use the shared connection pool in request handlers.", "Do not use the shared connection pool in request handlers."),
        ("Enable response caching on the search endpoint.", "Disable response caching on the search endpoint."),
        ("Workers should retry failed payments.", "Workers should not retry failed payments."),
        ("Prefer httpx over requests, it is async: use httpx instead of requests.", "Use requests instead of httpx."),
    ],
)
def test_a_contradiction_without_evidence_keeps_both_and_says_so(gm, one, other):
    first = gm.remember(one, "pattern", files=["app.py"]).memory
    answer = gm.remember(other, "pattern", files=["app.py"])
    assert answer.result.outcome == "conflicting"
    assert answer.result.others == [first.id]
    assert [(link.id, link.kind) for link in answer.memory.relations] == [(first.id, "conflicts_with")]
    assert {item.memory.id for item in gm.review_queue().items if "conflict" in item.reasons} == {first.id, answer.result.id}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always run the migrations before the tests.", "Never run the linter after the deployment."),
        ("Do not disable response caching.", "Enable response caching."),
        ("Use tabs in Makefiles.", "Always use tabs in Makefiles."),
    ],
)
def test_what_agrees_or_speaks_of_something_else_is_not_a_contradiction(gm, one, other):
    gm.remember(one, "pattern")
    assert gm.remember(other, "pattern").result.outcome in ("added", "consolidated")


def test_a_person_s_correction_wins_and_the_loser_stays_superseded(gm):
    wrong = gm.remember("Always use the global session in request handlers.", "pattern").memory
    answer = gm.remember("Never use the global session in request handlers.", "correction", source="user_taught")
    assert answer.result.outcome == "replaced"
    loser = gm.memory(wrong.id)
    assert loser.status == "superseded"
    assert loser.valid_to
    assert [(one.id, one.kind, one.outgoing) for one in answer.memory.relations] == [(wrong.id, "supersedes", True)]


def test_a_lower_trust_loses_against_a_higher_one(gm):
    right = gm.remember("Always use the global session in request handlers.", "pattern", source="user_taught").memory
    answer = gm.remember("Never use the global session in request handlers.", "pattern", source="observer_inferred")
    assert (answer.result.outcome, answer.result.id) == ("superseded", right.id)
    assert gm.memories().total == 1
    assert gm.memories({"statuses": ["superseded"]}).total == 1


def test_what_was_believed_then_can_be_asked(gm, clock):
    from datetime import timedelta

    old = gm.remember("Always use the global session in request handlers.", "pattern").memory
    then = clock.now().isoformat()
    clock.advance(timedelta(days=2))
    gm.remember("Never use the global session in request handlers.", "correction", source="user_taught")
    assert [one.id for one in gm.memories({"as_of": then}).memories] == [old.id]
    assert old.id not in {one.id for one in gm.memories().memories}


def test_names_in_the_content_lead_to_the_code(indexed):
    memory = indexed.remember("`Cart.add_item` overwrites the count; see shop/orders.py:4, and helper() is not the one you think.")
    about = {(one.label, one.name) for one in memory.memory.about}
    assert ("Symbol", "shop/cart.py:Cart.add_item") in about
    assert ("Symbol", "shop/orders.py:place_order") in about
    assert ("File", "shop/orders.py") in about
    assert memory.result.unresolved == ["helper"], "two functions have that name: not guessed at, but told"
    assert [one.id for one in indexed.memories({"files": ["shop/cart.py"]}).memories] == [memory.result.id]


def test_a_name_means_the_function_before_methods_of_that_name(gm, tmp_path):
    (tmp_path / "cart.py").write_text("def save_cart(one):\n    return one\n\n\ndef parse(text):\n    return text\n")
    (tmp_path / "shop.py").write_text(
        "class Shop:\n    def save_cart(self):\n        return 1\n\n    def parse(self):\n        return 2\n\n\n"
        "class Till:\n    def save_cart(self):\n        return 3\n"
    )
    gm.index(tmp_path)
    made = gm.remember("Only save_cart writes the file, because parse() reads it again.")
    assert {one.name for one in made.memory.about if one.label == "Symbol"} == {"cart.py:save_cart"}
    assert made.result.unresolved == ["parse"]


def test_the_name_of_the_project_in_prose_is_not_its_class_of_that_name(gm, tmp_path):
    (tmp_path / "cartshop").mkdir()
    (tmp_path / "cartshop" / "app.py").write_text("class CartShop:\n    pass\n\n\nclass PriceList:\n    pass\n")
    gm.index(tmp_path)

    def linked(content: str) -> set[str]:
        return {one.name for one in gm.remember(content).memory.about if one.label == "Symbol"}

    assert linked("Building CartShop needs npm 12; the PriceList is read at start.") == {"cartshop/app.py:PriceList"}
    assert linked("`CartShop` is made once.") == {"cartshop/app.py:CartShop"}
    assert linked("cartshop.app.CartShop is the application.") == {"cartshop/app.py:CartShop"}


def test_a_common_word_leads_to_a_member_only_beside_its_class_or_file(gm, tmp_path):
    (tmp_path / "event.py").write_text("class Event:\n    def next(self):\n        return 1\n\n\ndef compose():\n    return 2\n")
    gm.index(tmp_path)

    def linked(content: str) -> set[str]:
        return {one.name for one in gm.remember(content).memory.about if one.label == "Symbol"}

    assert linked("compose() rejects a second call of next() in the same middleware.") == {"event.py:compose"}
    assert "event.py:Event.next" in linked("An Event is read by next() and must be closed.")
    assert "event.py:Event.next" in linked("In event.py a call of next() blocks until data is there.")
    assert linked("Event.next blocks until data is there.") == {"event.py:Event.next"}


def test_a_named_file_that_was_not_there_is_linked_when_it_appears(gm, repository):
    memory = gm.remember("Orders are placed in one transaction.", files=["shop/orders.py"]).memory
    assert [one.anchor for one in memory.about] == ["orphaned"]
    gm.index(repository)
    again = gm.memory(memory.id)
    assert [(one.name, one.anchor) for one in again.about] == [("shop/orders.py", "valid")]


# ---- many


def test_many_keep_their_own_ids_and_order(gm):
    notes = [{"id": f"n{i}", "content": f"Note {i} about subject {i}.", "created_at": f"2025-01-{i + 1:02d}T00:00:00Z"} for i in range(20)]
    answer = gm.remember_many(notes)
    assert [one.id for one in answer.results] == [one["id"] for one in notes]
    assert answer.counts == {"added": 20}
    assert [one.id for one in gm.memories(sort="oldest").memories] == [one["id"] for one in notes]
    assert gm.memory("n3").created_at == "2025-01-04T00:00:00+00:00"


@pytest.mark.parametrize("count", [3, 40])
def test_near_texts_with_ids_of_their_own_both_stay_and_are_linked(gm, count):
    filler = [{"id": f"f{i}", "content": f"Unrelated remark number {i} on topic {i * 7}."} for i in range(count - 2)]
    near = [
        {"id": "a", "content": "Indent Python sources with four spaces in this repository."},
        {"id": "b", "content": "Indent all Python sources with four spaces in this repository."},
    ]
    gm.remember_many([*filler, *near])
    assert gm.memories(limit=100).total == count
    assert [(one.id, one.kind, one.auto) for one in gm.memory("b").relations] == [("a", "validates", True)]


def test_equal_texts_with_ids_of_their_own_are_one_memory_with_two_ids(gm):
    answer = gm.remember_many([{"id": "a", "content": TABS}, {"id": "b", "content": TABS.upper()}])
    assert [(one.given_id, one.id, one.outcome) for one in answer.results] == [("a", "a", "added"), ("b", "a", "duplicate")]
    assert gm.memory("b").id == "a"
    assert gm.memory("a").aliases == ["b"]
    assert [one.id for one in gm.memories().memories] == ["a"]


def test_loading_the_same_ids_again_changes_nothing(gm):
    notes = [{"id": f"n{i}", "content": f"Note {i} about subject {i}."} for i in range(50)]
    gm.remember_many(notes)
    before = [(one.id, one.strength, one.importance, one.updated_at) for one in gm.memories(sort="oldest").memories]
    assert gm.remember_many(notes).counts == {"duplicate": 50}
    assert [(one.id, one.strength, one.importance, one.updated_at) for one in gm.memories(sort="oldest").memories] == before


def test_one_bad_item_keeps_all_out_and_is_named(gm):
    with pytest.raises(BadInputError, match="item 1: confidence") as refused:
        gm.remember_many([{"content": "good"}, {"content": "bad", "confidence": 1.5}])
    assert refused.value.index == 1
    assert gm.memories().total == 0
    answer = gm.remember_many([{"content": "good one"}, {"content": "bad", "confidence": 1.5, "id": "x"}], skip_invalid=True)
    assert [(one.index, one.given_id) for one in answer.refused] == [(1, "x")]
    assert gm.memories().total == 1


def test_many_with_vectors_meet_by_meaning(gm):
    generator = np.random.default_rng(5)
    vectors = generator.normal(size=(60, 32)).astype(np.float32)
    vectors[59] = vectors[3] * 2
    gm.parts.book.projections.use_model("test-model", 32)
    items = [{"id": f"n{i}", "content": f"Remark {i} on matter {i}.", "vector": vectors[i]} for i in range(59)]
    items.append({"id": "n59", "content": "Something in words of its own", "vector": vectors[59]})
    gm.remember_many(items, embedding_model="test-model")
    assert [(one.id, one.kind) for one in gm.memory("n59").relations] == [("n3", "validates")]


# ---- changing


def test_a_changed_content_is_a_new_version_under_the_same_id(gm):
    first = gm.remember("The queue holds a hundred jobs.", files=["queue.py"]).memory
    new = gm.update_memory(first.id, content="The queue holds two hundred jobs.", tags=["queue"])
    assert new.id == first.id
    assert new.short_id == first.short_id
    assert new.files == ["queue.py"]
    assert new.tags == ["queue"]
    old = [one for one in new.relations if one.kind == "supersedes"]
    assert [gm.memory(one.id).content for one in old] == ["The queue holds a hundred jobs."]
    assert gm.memories().total == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [({"confidence": 2}, "confidence"), ({"strength": 5}, "field"), ({"type": "nonsense"}, "type"), ({"content": ""}, "content")],
)
def test_a_change_that_cannot_be_changes_nothing(gm, change, field):
    first = gm.remember("The queue holds a hundred jobs.").memory
    with pytest.raises(BadInputError) as refused:
        gm.update_memory(first.id, **change)
    assert refused.value.field == field
    assert gm.memory(first.id) == first


def test_new_words_that_contradict_nothing_end_a_contradiction(gm, opened):
    one = gm.remember("Tests may touch the network.", type="fact").memory
    other = gm.remember("Tests must never touch the network.", type="fact").memory
    assert gm.review_queue().total == 2
    gm.update_memory(other.id, content="Tests must never touch the network of the office.")
    assert [link.kind for link in gm.memory(one.id).relations] == ["conflicts_with"]
    gm.update_memory(other.id, content="Refunds take ten days.")
    assert gm.memory(one.id).relations == []
    assert gm.review_queue().total == 0
    gm.close()
    again = opened()
    assert again.memory(one.id).relations == []
    assert not again.rebuild_memories().restored


def test_forgotten_is_out_of_sight_and_forgotten_for_good_is_gone(gm, tmp_path):
    soft = gm.remember("A remark about the harbour.").memory
    hard = gm.remember("An embarrassing sentence about zebras.").memory
    gm.forget(soft.short_id)
    assert gm.memories().total == 1
    assert gm.memory(soft.id).status == "deprecated"
    gm.forget(hard.id, hard=True)
    with pytest.raises(MemoryNotFoundError):
        gm.memory(hard.id)
    assert gm.audit().sound
    assert gm.rebuild_memories().memories == 1
    gm.close()
    journal = b"".join(path.read_bytes() for path in (tmp_path / "index" / "memories").iterdir())
    assert b"zebras" not in journal


def test_pinning_verifying_disputing_and_deciding(gm):
    one = gm.remember("Always use the global session in request handlers.", "pattern").memory
    other = gm.remember("Never use the global session in request handlers.", "pattern").memory
    assert gm.pin(one.id).status == "pinned"
    assert gm.unpin(one.id).status == "confirmed"
    doubted = gm.dispute(one.id, "it fails in threads", actor="ann")
    assert doubted.disputed
    assert doubted.confidence_in_use == pytest.approx(0.8 * doubted.confidence)
    assert gm.review_queue().items[0].reasons == ["disputed", "conflict", "needs_review"]
    right = gm.resolve_conflict(other.id, note="measured")
    assert [(link.id, link.kind) for link in right.relations] == [(one.id, "supersedes")]
    assert gm.memory(one.id).status == "superseded"
    assert gm.review_queue().total == 0
    sure = gm.verify(other.id, actor="ann")
    assert sure.user_verified
    actions = [entry.action for entry in gm.audit(limit=100).entries]
    assert actions[:2] == ["verify", "supersede"]
    assert gm.audit(memory=one.id).entries[0].memory_id == one.id


def test_aliases_of_terms_are_kept(opened):
    first = opened()
    assert first.set_alias("Auth", ["login", "Authentication"]).means == ["login", "authentication"]
    first.set_alias("db", ["database"])
    first.set_alias("db", [])
    first.close()
    assert [(one.term, one.means) for one in opened().aliases()] == [("auth", ["login", "authentication"])]


def test_neighbours_in_time(gm):
    gm.remember_many(
        [{"id": f"n{i}", "content": f"Step {i} of the work on part {i}.", "created_at": f"2025-03-{i + 1:02d}T08:00:00Z"} for i in range(9)]
    )
    line = gm.timeline("n4", 2)
    assert [one.id for one in line.before] == ["n2", "n3"]
    assert [one.id for one in line.after] == ["n5", "n6"]


def test_everything_can_be_deleted_and_only_by_the_project_s_name(gm, opened):
    gm.remember("Something to lose.")
    with pytest.raises(BadInputError):
        gm.delete_all("yes")
    assert gm.memories().total == 1
    gm.delete_all(gm.project().name)
    assert gm.memories().total == 0
    gm.close()
    assert opened().memories().total == 0


def test_a_vector_that_comes_later_is_compared_then(opened):
    gm = opened(embedder="hashed")
    first = gm.remember("The health check does not touch the database.", "fact", session="a").memory
    gm.parts.book.embed_now()
    assert gm.memory(first.id).embedded
    second = gm.remember("The database is not queried by the health check.", "fact", session="b").result
    assert second.outcome == "added", "by words alone they are two"
    gm.parts.book.embed_now()
    assert [(one.id, one.kind, one.status) for one in gm.memory(second.id).relations] == [(first.id, "validates", "confirmed")]
    assert [gm.memory(one).strength for one in (first.id, second.id)] == [1, 1]
    assert gm.memories().total == 2
    assert gm.rebuild_memories().restored == 0


def test_vectors_of_another_model_are_kept_apart(gm):
    gm.parts.book.projections.use_model("one", 4)
    first = gm.remember("Deployments happen on Tuesdays.", vector=[1.0, 0, 0, 0], embedding_model="one").memory
    answer = gm.remember_many(
        [
            {"content": "deployments happen on tuesdays.", "vector": [1.0, 0, 0], "session": "b"},
            {"content": "Lunch is at noon.", "vector": [1.0, 0, 0]},
        ],
        embedding_model="other",
    )
    assert [one.outcome for one in answer.results] == ["duplicate", "added"]
    gm.parts.book.flush()
    assert gm.parts.book.store.vectors("one").num_rows == 1
    assert gm.parts.book.store.vectors("other").num_rows == 1
    assert gm.parts.book.index().vector(first.id) is not None
    assert gm.parts.book.index().vector(answer.results[1].id) is None
    assert gm.parts.book.notes == []


def test_many_threads_at_once_lose_nothing_and_keep_the_chain(gm):
    from concurrent.futures import ThreadPoolExecutor

    def write(thread):
        return [gm.remember(f"Thread {thread} says remark number {i}.", id=f"t{thread}-{i}").result.id for i in range(15)]

    with ThreadPoolExecutor(8) as pool:
        ids = {one for part in pool.map(write, range(8)) for one in part}
    assert len(ids) == 120
    gm.parts.book.flush()
    assert {row.id for row in gm.parts.book.store.knowledge().memories} == ids
    assert gm.audit(limit=1).sound
    assert gm.rebuild_memories().restored == 0


def test_a_file_that_is_named_before_it_is_indexed_is_waited_for(gm, tmp_path):
    kept = gm.remember("pay/auth.py must never log a token; see example.com/why.html and ../other/x.py.", type="gotcha").memory
    assert [(about.name, about.anchor) for about in kept.about] == [("pay/auth.py", "orphaned")]
    tree = tmp_path / "tree"
    (tree / "pay").mkdir(parents=True)
    (tree / "pay" / "auth.py").write_text("def verify(token):\n    return bool(token)\n")
    gm.index(tree)
    assert [(about.name, about.anchor) for about in gm.memory(kept.id).about] == [("pay/auth.py", "valid")]
