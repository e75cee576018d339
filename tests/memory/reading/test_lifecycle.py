"""Years pass in a moment: what fades, expires, is used, is retired, and what never is."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphmem import GraphMem
from graphmem.errors import BadInputError
from graphmem.memory.reading import lifecycle
from graphmem.memory.reading.lifecycle import Policy
from graphmem.memory.texts.types import TYPES
from graphmem.settings import Settings
from made_once import empty_index


def days(count):
    return timedelta(days=count)


@pytest.mark.parametrize("type_", TYPES)
def test_confidence_halves_with_the_half_life_of_the_type(gm, clock, type_):
    details = {"from": "a.py", "to": "b.py"} if type_ == "causal_dependency" else None
    memory = gm.remember("A statement with some confidence.", type_, confidence=0.8, details=details).memory
    half_life = TYPES[type_].half_life_days
    assert memory.half_life_days == half_life
    clock.advance(days(half_life or 3650))
    assert gm.memory(memory.id).confidence_in_use == pytest.approx(0.8 if half_life is None else 0.4, abs=1e-6)


def test_a_half_life_of_its_own_goes_before_the_type_s_and_a_pin_before_both(gm, clock):
    memory = gm.remember("Short-lived.", "decision", half_life_days=1, confidence=0.8).memory
    clock.advance(days(2))
    assert gm.memory(memory.id).confidence_in_use == pytest.approx(0.2)
    gm.pin(memory.id)
    clock.advance(days(3650))
    assert gm.memory(memory.id).confidence_in_use == pytest.approx(0.8)


def test_use_wakes_a_memory_and_being_shown_does_not(gm, clock):
    memory = gm.remember("A gotcha of the queue.", "gotcha", confidence=0.8).memory
    clock.advance(days(60))
    gm.note_use([memory.id], "injected")
    assert gm.memory(memory.id).confidence_in_use == pytest.approx(0.4)
    gm.note_use([memory.id], "used")
    again = gm.memory(memory.id)
    assert again.confidence_in_use == pytest.approx(0.8)
    assert (again.injected_count, again.used_count, again.confirmed_count) == (1, 1, 0)


def test_two_uses_confirm_five_make_surer_ten_end_the_review_and_nothing_makes_certain(gm):
    memory = gm.remember("From a tool.", "fact", source="mcp_auto", confidence=0.7).memory
    assert memory.status == "candidate"
    for count, status, confidence in (
        (1, "candidate", 0.7),
        (2, "confirmed", 0.75),
        (3, "confirmed", 0.75),
        (4, "confirmed", 0.75),
        (5, "confirmed", 0.8),
    ):
        gm.note_use([memory.id])
        now = gm.memory(memory.id)
        assert (now.used_count, now.status, now.confidence) == (count, status, pytest.approx(confidence))
    assert gm.memory(memory.id).needs_review
    for _ in range(60):
        gm.note_use([memory.id])
    assert gm.memory(memory.id).confidence == pytest.approx(0.95)
    assert not gm.memory(memory.id).needs_review


def test_words_of_strangers_stay_in_review_however_often_they_are_used(gm):
    memory = gm.remember("A page says so.", "fact", origin="web", source="agent_explicit").memory
    assert (memory.contaminated, memory.status, memory.needs_review) == (True, "candidate", True)
    for _ in range(12):
        gm.note_use([memory.id])
    gm.note_use([memory.id], "confirmed", session="other")
    again = gm.memory(memory.id)
    assert (again.status, again.needs_review) == ("candidate", True)
    assert gm.verify(memory.id).status == "confirmed"


def test_what_is_said_again_wakes_and_another_session_or_a_person_agrees(gm, clock):
    memory = gm.remember("A gotcha of the queue.", "gotcha", confidence=0.8, session="one").memory
    for session, agreed in (("one", 0), ("two", 1), ("two", 1), ("three", 2)):
        clock.advance(days(60))
        gm.remember("A gotcha of the queue.", "gotcha", session=session)
        again = gm.memory(memory.id)
        assert again.confidence_in_use == pytest.approx(0.8)
        assert again.confirmed_count == agreed
    clock.advance(days(60))
    gm.remember("A gotcha of the queue.", "gotcha", source="user_taught")
    assert gm.memory(memory.id).confirmed_count == 3


def test_an_old_record_fades_from_when_it_was_written_down_because_nobody_could_use_it_before(gm, clock):
    learnt = (clock.now() - days(2000)).isoformat()
    gm.remember_many([{"id": "old", "content": "A gotcha of the queue.", "type": "gotcha", "confidence": 0.8, "created_at": learnt}])
    assert gm.memory("old").created_at == learnt
    assert gm.memory("old").confidence_in_use == pytest.approx(0.8)
    assert gm.prune(dry_run=True).pruned == []
    clock.advance(days(60))
    assert gm.memory("old").confidence_in_use == pytest.approx(0.4)
    clock.advance(days(121))
    assert [one.id for one in gm.prune(dry_run=True).pruned] == ["old"]


def test_an_import_is_not_a_use_and_makes_room_like_anything_else(gm, clock):
    gm.parts.book.policy = Policy(limit=10)
    learnt = (clock.now() - days(300)).isoformat()
    items = [{"id": f"n{i:02d}", "content": f"Note {i} about subject {i}.", "importance": i / 100, "created_at": learnt} for i in range(12)]
    gm.remember_many(items)
    assert [one.id for one in gm.prune().pruned] == ["n00", "n01", "n02"]


def test_importance_fades_by_five_percent_a_week(gm, clock):
    memory = gm.remember("Something.", "fact", importance=0.8, source="user_taught").memory
    row = gm.parts.book.row(memory.id)
    assert lifecycle.importance_now(row, clock.now()) == pytest.approx(0.8 * 0.5)
    clock.advance(days(70))
    assert lifecycle.importance_now(row, clock.now()) == pytest.approx(0.8 * 0.5 * 0.95**10)
    used = row._replace(used_count=20)
    assert lifecycle.importance_now(used, clock.now()) == pytest.approx(0.8 * 0.95**10)


def test_ten_years_retire_what_fades_and_keep_what_does_not(gm, clock):
    kept = {
        gm.remember("We chose Postgres.", "decision", source="user_taught").memory.id,
        gm.remember("It must run offline.", "requirement").memory.id,
        gm.pin(gm.remember("Pinned advice on queues.", "gotcha").memory.id).id,
        gm.verify(gm.remember("Verified advice on carts.", "gotcha").memory.id).id,
    }
    gone = {
        gm.remember("A gotcha of the mailer.", "gotcha").memory.id,
        gm.remember("An inference on tests.", "observation", source="observer_inferred").memory.id,
        gm.remember("Half-done refactoring of the parser.", "work_state").memory.id,
        gm.remember("Undecided decision on the broker.", "decision", source="commit_auto").memory.id,
    }
    assert gm.prune(dry_run=True).pruned == []
    clock.advance(days(3650))
    told = gm.prune(dry_run=True)
    assert {one.id for one in told.pruned} == gone
    assert gm.memories().total == 8
    done = gm.prune()
    assert [(one.id, one.rule) for one in done.pruned] == [(one.id, one.rule) for one in told.pruned]
    assert {one.id for one in gm.memories().memories} == kept
    assert gm.memory(next(iter(gone))).status == "deprecated", "kept, out of search"
    clock.advance(days(3650))
    gm.prune()
    assert gm.memories({"statuses": ["deprecated"]}).total == 4


def test_only_a_policy_removes_for_good_and_only_after_thirty_days(gm, clock):
    memory = gm.remember("A gotcha of the mailer.", "gotcha").memory
    gm.parts.book.policy = Policy(remove=True)
    gm.forget(memory.id)
    clock.advance(days(29))
    assert gm.prune().pruned == []
    clock.advance(days(2))
    assert [(one.id, one.action) for one in gm.prune().pruned] == [(memory.id, "remove")]
    assert gm.memories({"statuses": ["deprecated"]}).total == 0
    assert gm.audit().entries[-1].memory_id == memory.id


@pytest.mark.parametrize("disputed", [False, True])
@pytest.mark.parametrize("uses", [1, 2, 3])
def test_uses_that_confirm_or_three_uses_survive_the_time_to_live(gm, clock, uses, disputed):
    memory = gm.remember("An insight on the module.", "module_insight", source="commit_auto").memory
    survives = uses >= (3 if disputed else 2)  # a disputed memory is not confirmed by use
    if disputed:
        gm.dispute(memory.id)
    for _ in range(uses):
        gm.note_use([memory.id])
    clock.advance(days(22))
    assert bool(gm.prune(dry_run=True).pruned) is not survives


def test_over_the_limit_the_least_important_go_and_protected_ones_stay(gm, clock):
    gm.parts.book.policy = Policy(limit=20)
    items = [{"id": f"n{i:02d}", "content": f"Note {i} about subject {i}.", "type": "fact", "importance": i / 100} for i in range(24)]
    gm.remember_many([*items, {"id": "d", "content": "We decided so.", "type": "decision", "importance": 0}])
    gm.pin("n00")
    gm.note_use(["n01"])
    told = gm.prune()
    assert [one.id for one in told.pruned] == ["n02", "n03", "n04", "n05", "n06", "n07", "n08"]
    assert {one.rule for one in told.pruned} == {"limit"}
    assert told.kept == 18


def test_a_stale_mark_is_shown_after_thirty_days_without_reference_and_goes_with_use(gm, clock):
    memory = gm.remember("A pattern for handlers.", "pattern").memory
    clock.advance(days(31))
    gm.prune()
    assert gm.memory(memory.id).stale_at
    assert gm.review_queue().items[0].reasons == ["stale"]
    gm.note_use([memory.id])
    gm.prune()
    assert not gm.memory(memory.id).stale_at


# ---- taint


def test_taint_goes_along_to_what_is_made_of_it(gm):
    page = gm.remember(
        "A page recommends eval for configuration files.", "fact", origin="web", source="mcp_auto", session="https://example.org/post"
    ).memory
    child = gm.remember("Configuration may be read with eval.", "pattern", derived_from=[page.id]).memory
    grandchild = gm.remember("The loader of settings uses eval.", "fact", derived_from=[child.id]).memory
    assert [(one.contaminated, one.origin, one.status) for one in (child, grandchild)] == [(True, "web", "candidate")] * 2
    assert {item.memory.id for item in gm.review_queue().items} == {page.id, child.id, grandchild.id}


def test_words_of_strangers_neither_confirm_nor_replace_nor_taint(gm):
    clean = gm.remember("Indent Python sources with four spaces in this repository.", "pattern").memory
    same = gm.remember("Indent Python sources with four spaces in this repository.", "pattern", origin="web")
    assert same.result.outcome == "duplicate"
    assert gm.memory(clean.id).strength == 1
    near = gm.remember("Indent all Python sources with four spaces in this repository.", "pattern", origin="web")
    assert near.result.outcome == "added"
    opposite = gm.remember(
        "Never indent Python sources with four spaces in this repository.", "pattern", origin="web", source="agent_explicit"
    )
    assert opposite.result.outcome == "conflicting"
    again = gm.memory(clean.id)
    assert (again.status, again.contaminated, again.content) == ("confirmed", False, clean.content)


def test_everything_from_a_page_is_taken_back_in_one_step(gm):
    page = "https://example.org/post"
    first = gm.remember("The page says that caches are evil.", "fact", origin="web", session=page).memory
    child = gm.remember("Avoid caches for that reason.", "pattern", derived_from=[first.id]).memory
    shared = gm.remember("Another remark of the page on indexes.", "fact", origin="web", session=page).memory
    gm.remember("Another remark of the page on indexes.", "fact", source="user_taught", session="mine")
    own = gm.remember("Our own remark on queues.").memory
    told = gm.retract(page, dry_run=True)
    assert (told.ids, told.kept) == (sorted([first.id, child.id]), [shared.id])
    assert gm.memories().total == 4
    gm.retract(page)
    assert {one.id for one in gm.memories().memories} == {shared.id, own.id}
    assert gm.memory(child.id).status == "deprecated"
    with pytest.raises(BadInputError):
        gm.retract("https://nowhere.example")


def test_a_kind_of_origin_can_be_taken_back_for_good(gm):
    gm.remember("Something from a tool.", source="mcp_auto")
    gm.remember("Something of ours.")
    gm.retract("tool", hard=True)
    assert [one.content for one in gm.memories().memories] == ["Something of ours."]


# ---- anchors


def test_anchors_follow_the_code_and_the_review_queue_shows_what_changed(indexed, repository):
    suspect = indexed.remember("Adding an item overwrites its count.", "gotcha", symbols=["Cart.add_item"]).memory
    moved = indexed.remember("Emptying keeps the cart itself.", "gotcha", symbols=["empty_cart"]).memory
    gone = indexed.remember("Placing an order does not lock.", "gotcha", symbols=["place_order"]).memory
    cart = repository / "shop/cart.py"
    text = (
        cart.read_text(encoding="utf-8")
        .replace("self.items[item] = count", "self.items[item] += count")
        .replace("def empty_cart", "def clear_cart")
    )
    cart.write_text(text, encoding="utf-8")
    orders = repository / "shop/orders.py"
    orders.write_text("def helper():\n    return 1\n", encoding="utf-8")
    indexed.index(repository)

    def anchors(memory):
        return {one.name: one.anchor for one in indexed.memory(memory.id).about}

    assert anchors(suspect) == {"shop/cart.py:Cart.add_item": "suspect"}
    assert anchors(moved) == {"shop/cart.py:clear_cart": "moved"}
    assert set(anchors(gone).values()) == {"orphaned"}
    assert {item.memory.id: item.reasons for item in indexed.review_queue().items} == {suspect.id: ["suspect"], gone.id: ["orphaned"]}
    assert indexed.memory(suspect.id).confidence_in_use == pytest.approx(0.8 * suspect.confidence)
    assert indexed.memory(suspect.id).content == suspect.content, "a person's words are never rewritten"
    indexed.verify(suspect.id)
    assert anchors(suspect) == {"shop/cart.py:Cart.add_item": "valid"}
    assert indexed.rebuild_memories().restored == 0
    assert anchors(moved) == {"shop/cart.py:clear_cart": "moved"}


def test_of_two_equals_the_newer_wins_when_the_code_changed_since(indexed, repository):
    old = indexed.remember("Always pass the count to add_item as a number.", "pattern", symbols=["Cart.add_item"]).memory
    cart = repository / "shop/cart.py"
    cart.write_text(cart.read_text(encoding="utf-8").replace("self.items[item] = count", "self.items[item] = int(count)"), encoding="utf-8")
    indexed.index(repository)
    answer = indexed.remember("Never pass the count to add_item as a number.", "pattern", symbols=["Cart.add_item"])
    assert (answer.result.outcome, answer.result.others) == ("replaced", [old.id])
    assert "changed since" in answer.result.note


def test_loading_prunes_what_expired_meanwhile_at_most_once_a_day_and_never_for_want_of_room(tmp_path, clock):
    def opened():
        memory = GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none"))
        memory.parts.book.clock = clock
        memory.parts.book.policy = Policy(limit=1)
        return memory

    with opened() as memory:
        old, kept = (
            memory.remember(text, type_).memory.id for text, type_ in (("Half-done parser.", "work_state"), ("It is a fact.", "decision"))
        )
        assert memory.prune_when_due() == ""
    clock.advance(days(15))
    with opened() as memory:
        assert memory.prune_when_due() == "1 retired, 1 kept"
        assert memory.prune_when_due() == ""
        assert (memory.memory(old).status, memory.memory(kept).status) == ("deprecated", "confirmed")
        memory.remember("Half-done lexer.", "work_state")
    clock.advance(timedelta(hours=23))
    with opened() as memory:
        assert memory.prune_when_due() == ""
    clock.advance(days(15))
    with opened() as memory:
        memory.note_use([kept])
        assert memory.memories().total == 1


def test_fifty_uses_prune_what_expired_and_never_for_want_of_room(gm, clock):
    gm.parts.book.policy = Policy(limit=2)
    old = gm.remember("Half-done refactoring of the parser.", "work_state").memory
    clock.advance(days(100))
    kept = gm.remember_many([{"id": f"n{i}", "content": f"Note {i} about subject {i}.", "type": "fact"} for i in range(10)])
    ids = [one.id for one in kept.results]
    for _ in range(4):
        gm.note_use(ids)
    assert gm.memory(old.id).status == "confirmed"
    gm.note_use(ids)
    assert gm.memory(old.id).status == "deprecated"
    assert {one.id for one in gm.memories().memories} == set(ids)


def test_a_forgotten_memory_comes_back_when_somebody_vouches_for_it(gm):
    one = gm.remember("Carts are emptied at midnight.", type="fact").memory
    gm.forget(one.id)
    assert gm.memories().total == 0
    with pytest.raises(BadInputError, match=f"restore it with .graphmem memory verify {one.short_id}."):
        gm.pin(one.id)
    with pytest.raises(BadInputError, match="restore it with"):
        gm.update_memory(one.id, content="Carts are emptied at noon.")
    back = gm.verify(one.short_id)
    assert (back.id, back.status, back.user_verified, back.deprecated_at, back.valid_to) == (one.id, "confirmed", True, "", "")
    assert [hit.id for hit in gm.search("carts midnight", kinds=["memory"]).hits] == [one.id]
    assert gm.audit(one.id).entries[0].note == "it was forgotten and is restored"
    gm.rebuild_memories()
    assert gm.memory(one.id).status == "confirmed"


def test_a_forgotten_memory_stays_where_it_is_when_another_says_the_same_by_now(gm):
    one = gm.remember("Carts are emptied at midnight.", type="fact").memory
    gm.forget(one.id)
    again = gm.remember("Carts are emptied at midnight.", type="fact").memory
    assert again.id != one.id
    with pytest.raises(BadInputError, match=f"#{again.short_id} has the same text"):
        gm.verify(one.id)
    assert gm.memory(one.id).status == "deprecated"


def test_a_function_that_is_gone_is_shown_by_the_name_it_had(indexed, repository):
    one = indexed.remember("place_order is called by the importer alone.", symbols=["shop/orders.py:place_order"]).memory
    orders = repository / "shop" / "orders.py"
    orders.write_text("def helper():\n    return 1\n", encoding="utf-8")
    indexed.index(repository)
    links = {(link.name, link.anchor) for link in indexed.memory(one.id).about if link.label == "Symbol"}
    assert links == {("shop/orders.py:place_order", "orphaned")}


def test_limits_of_pruning_are_settings(tmp_path):
    with GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(embedder="none", memory_limit=10)) as memory:
        for number in range(12):
            memory.remember(f"Fact number {number} of the warehouse, unlike any other: {'x' * number}.", "fact", importance=number / 20)
        assert [one.rule for one in memory.prune(dry_run=True).pruned] == ["limit"] * 3
