"""From findings to memories: gates, filters, receipts, undo; what a session teaches and what it must not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from graphmem import GraphMem
from graphmem.errors import BadInputError, SessionNotFoundError
from graphmem.memory.reading.clock import ManualClock
from graphmem.observe.learning import gates
from graphmem.observe.model import DeadEnd, FileStat, Finding, SessionInfo, SessionRecord, UnitDone, as_json
from graphmem.observe.signals import SIGNALS
from graphmem.settings import Settings
from made_once import empty_index

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
def clock():
    return ManualClock(START)


@pytest.fixture
def open_(tmp_path, clock):
    kept = []

    def opened(**settings):
        gm = GraphMem.open(empty_index(tmp_path / "index"), settings=Settings(**{"embedder": "none"} | settings))
        gm.parts.book.clock = clock
        kept.append(gm)
        return gm

    yield opened
    for gm in kept:
        gm.close()


@pytest.fixture
def gm(open_):
    return open_()


def correction(right="The cart's total is rounded by the tax table, not by the cart itself", **changes):
    return finding("self_correction", right[:20], {"sentence": f"Actually, {right}", "wrong": "", "right": right}, early=True)._replace(
        **changes
    )


def finding(signal, key, facts, files=("shop/cart.py",), early=False, **changes):
    row = SIGNALS[signal]
    one = Finding(signal, f"{signal}:{key}", row.value, row.becomes[0], facts, tuple(files), (3, 7), early=early)
    return one._replace(**{"min_sessions": 1 if early else row.min_sessions} | changes)


def abandon(path):
    return finding("read_abandon", path, {"file": path, "module": "shop", "tokens": 900}, (path,))


def record(number=1, findings=(), kind="build", outcome="validated", **changes):
    at = START + timedelta(hours=number)
    info = SessionInfo(
        f"session-{number}", kind, "claude", started_at=at, ended_at=at + timedelta(minutes=20), outcome=outcome, ending="ended"
    )
    info = info._replace(**{name: changes.pop(name) for name in list(changes) if name in SessionInfo._fields})
    files = changes.pop("files", (FileStat("shop/cart.py", 3, 2, lines_added=4, first_at=at, last_at=at),))
    return SessionRecord(info, 30, 9, 4_000, 1_200.0, 12, files, findings=tuple(findings), **{"modules": {"shop": 9}} | changes)


def outcomes(receipt):
    return {one.key: one.outcome for one in receipt.verdicts}


def live(gm):
    return gm.memories().total


def test_a_correction_becomes_a_candidate_memory_with_its_provenance(gm):
    receipt = gm.learn_from(record(findings=[correction()]))
    assert receipt.counts == {"learnt": 1}
    [memory] = gm.memories().memories
    assert memory.id == receipt.learnt[0]
    assert memory.content.startswith("The cart's total is rounded by the tax table")
    assert (memory.type, memory.source, memory.status) == ("gotcha", "observer_inferred", "candidate")
    assert memory.sessions == ["session-1"]
    [lesson] = gm.parts.book.index().learnt(memory.id)
    assert (lesson.message_from, lesson.message_to) == (3, 7)
    assert "shop/cart.py" in str(memory)


def test_everything_is_one_write_and_the_session_s_node_carries_its_summary(gm):
    gm.parts.book.flush()
    before = gm.parts.store.knowledge_generation()
    gm.learn_from(record(findings=[correction(), correction("Orders are never paid twice because the gateway refuses the second call")]))
    gm.parts.book.flush()
    assert gm.parts.store.knowledge_generation() == before + 1
    assert [entry.action for entry in gm.audit(limit=3).entries] == ["promote", "promote", "finalize"]
    node = gm.parts.book.index().session("session-1")
    assert node.agent == "claude"
    assert json.loads(node.details)["files"] == [{"added": 4, "edits": 2, "path": "shop/cart.py", "removed": 0}]
    [file] = (gm.parts.data_dir / "sessions").glob("*.md")
    assert "`shop/cart.py` (+4 −0)" in file.read_text(encoding="utf-8")


GATES = [
    ("build", "validated", 20),
    ("build", "failed", 0),
    ("build", "", 0),
    ("insights", "", 5),
    ("insights", "abandoned", 0),
    ("roadmap", "", 3),
    ("terminal", "", 3),
    ("spec", "accepted", 3),
    ("spec", "", 0),
    ("pr_review", "validated", 8),
    ("changelog", "validated", 0),
]


def lessons(count, name, **changes):
    return [correction(f"`{name}_{n}` is kept by its own service and does not follow the host", **changes) for n in range(count)]


def test_each_kind_of_session_has_its_gate_and_its_cap(gm):
    expected = 0
    for number, (kind, outcome, learnt) in enumerate(GATES):
        receipt = gm.learn_from(record(number, lessons(24, f"clock{number}"), kind=kind, outcome=outcome, modules={}, files=()))
        expected += learnt
        assert (len(receipt.learnt), live(gm)) == (learnt, expected), kind
        assert receipt.is_open == bool(learnt)
        left = "over_cap" if learnt else "gate_closed"
        assert receipt.counts == ({"learnt": learnt} if learnt else {}) | {left: 24 - learnt}


def test_of_a_failed_approach_only_the_dead_end_is_kept(gm):
    given_up = DeadEnd(
        "Patch the parser in place. This approach won't work", "the parser is generated", 5, START, ("shop/parse.py",), ("shop/parse.py",)
    )
    seen = [abandon("shop/old.py")._replace(failed_approach=True, min_sessions=1), correction()._replace(failed_approach=True)]
    receipt = gm.learn_from(record(findings=seen, dead_ends=(given_up,)))
    assert receipt.counts == {"learnt": 1, "failed_approach": 2}
    [memory] = gm.memories().memories
    assert memory.type == "dead_end"
    assert "the parser is generated" in memory.content


def test_a_failed_build_leaves_its_dead_ends_and_nothing_else(gm):
    given_up = DeadEnd("Mock the payment gateway by hand. I need to abandon this", "", 5, START, (), ("shop/pay.py",))
    receipt = gm.learn_from(record(findings=[correction()], dead_ends=(given_up,), outcome="failed"))
    assert [one.memory_type for one in receipt.verdicts if one.outcome == "learnt"] == ["dead_end"]
    assert receipt.counts == {"learnt": 1, "gate_closed": 1}


def test_a_signal_is_learnt_when_it_was_seen_in_as_many_sessions_as_it_asks_for(gm):
    for number in (1, 2):
        assert gm.learn_from(record(number, [abandon("shop/old.py")])).verdicts[0].why == f"seen in {number} of 3 sessions"
    third = gm.learn_from(record(3, [abandon("shop/old.py")]))
    assert third.counts == {"learnt": 1}
    assert third.verdicts[0].points[:2] == ["frequency", "sessions"]
    assert gm.learn_from(record(4, [abandon("shop/old.py")])).counts == {"known": 1}
    assert live(gm) == 1


def test_what_two_agents_found_independently_needs_no_further_session(gm):
    seen = abandon("shop/old.py")._replace(quorum=True, min_sessions=1, agents=("a", "b"))
    assert gm.learn_from(record(1, [seen])).counts == {"learnt": 1}


def test_a_fork_counts_with_the_session_it_comes_from(gm):
    gm.learn_from(record(1, [abandon("shop/old.py")]))
    receipt = gm.learn_from(record(2, [abandon("shop/old.py")], parent="session-1"))
    assert receipt.verdicts[0].why == "seen in 1 of 3 sessions"


def everything(gm):
    gm.parts.book.flush()
    files = {path.name: path.stat().st_size for path in (gm.parts.data_dir / "sessions").iterdir()}
    return (
        live(gm),
        len(gm.parts.book.index()),
        gm.parts.book.journal.head.number,
        gm.parts.ledger().sizes(),
        files,
        gm.co_access(["shop/cart.py"]).sessions,
    )


def test_the_same_session_ten_times_changes_nothing(gm):
    one = record(1, [correction(), abandon("shop/old.py")])
    one = one._replace(files=(*one.files, one.files[0]._replace(path="shop/tax.py")))
    first = gm.learn_from(one)
    before = everything(gm)
    for number in range(10):
        assert gm.learn_from(one if number % 2 else as_json(one)) == first
        assert gm.learn_from(one._replace(info=one.info._replace(id=f"copy-{number}"))) == first
    assert everything(gm) == before


def test_what_is_known_already_is_discarded_and_named(gm):
    known = gm.remember("The cart's total is rounded by the tax table and not by the cart itself", "gotcha").memory
    receipt = gm.learn_from(record(findings=[correction()]))
    assert receipt.verdicts[0].outcome in ("known", "echo")
    assert receipt.verdicts[0].memory_id == known.id
    assert live(gm) == 1


def conflict():
    return finding("parallel_conflict", "shop/cart.py", {"file": "shop/cart.py"})


def test_an_independent_session_confirms_what_it_finds_again_once(gm):
    gm.learn_from(record(1, [conflict()]))
    [memory] = gm.memories().memories
    gm.learn_from(record(2, [conflict()]))
    gm.learn_from(record(3, [conflict()], parent="session-1"))  # a fork of the session that taught it
    gm.learn_from(record(4, [conflict()._replace(contaminated=True)]))
    gm.learn_from(record(5, [conflict()], injected=(memory.id,)))
    [now] = gm.memories().memories
    assert (now.confirmed_count, now.strength) == (1, memory.strength + 1)
    assert set(now.sessions) == {"session-1", "session-2"}
    gm.learn_from(record(2, [conflict(), abandon("shop/old.py")]))  # goes on after its end
    assert gm.memory(memory.id).confirmed_count == 1


def test_the_same_words_again_confirm_nothing_because_they_may_have_been_read(gm):
    for number in (1, 2):
        gm.learn_from(record(number, [correction()]))
    assert gm.memories().memories[0].confirmed_count == 0


def test_a_pattern_that_chance_can_imitate_confirms_nothing(gm):
    for number in range(1, 6):
        gm.learn_from(record(number, [abandon("shop/old.py")]))
    assert gm.memories().memories[0].confirmed_count == 0


def test_a_session_of_any_interface_adds_experience_once(gm):
    with gm.session("by Python") as work:
        work.observe({"kind": "message", "text": "Done."})
    gm.end_session("by Python")
    gm.learn_from(record(1, injected=("a", "b")))
    gm.learn_from(record(1, [correction()], injected=("a", "b")))
    assert gm.trust().sessions == 2
    assert gm.parts.injector.trust.now().recent == ((0, 0), (2, 0))


def test_the_same_in_other_words_is_discarded_by_meaning(open_):
    gm = open_(embedder="hashed")
    gm.remember("Rounding totals of carts happens in tables of tax, it is not work of the cart", "gotcha")
    gm.learn_from(record(1, [correction("Rounding of totals of carts happens in the tables of tax, it is not the work of a cart")]))
    assert live(gm) == 1


def test_two_sentences_of_one_template_about_different_files_are_both_kept(open_):
    gm = open_(embedder="hashed")
    for number in (1, 2, 3):
        receipt = gm.learn_from(record(number, [abandon("shop/old.py"), abandon("shop/older.py")]))
    assert receipt.counts == {"learnt": 2}


def test_contaminated_findings_stay_candidates_in_review_with_less_confidence_and_their_page(gm):
    page = "https://example.com/how-to"
    clean = gm.learn_from(record(1, [correction()]))
    tainted = correction("Orders are kept for ninety days and then they are removed by a nightly job", contaminated=True, sources=(page,))
    assert gm.learn_from(record(3, [tainted], contaminated=True, web_sources=(page,))).counts == {"weak": 1}  # it has to come up again
    receipt = gm.learn_from(record(2, [tainted], contaminated=True, web_sources=(page,)))
    one, other = gm.memory(clean.learnt[0]), gm.memory(receipt.learnt[0])
    assert (other.status, other.needs_review, other.contaminated) == ("candidate", True, True)
    assert other.confidence == pytest.approx(0.7 * (one.confidence + 0.05))  # the 0.05 for its second session
    assert set(gm.retract(page, dry_run=True).ids) == {other.id}
    for _ in range(12):
        gm.note_use([other.id], "used")
    gm.note_use([other.id], "confirmed", session="another")
    assert (gm.memory(other.id).status, gm.memory(other.id).needs_review) == ("candidate", True)
    assert gm.verify(other.id).status == "confirmed"
    assert gm.retract("session-2", dry_run=True).kept == [other.id]  # somebody else says it by now


def test_a_secret_in_a_finding_is_refused_and_the_others_are_kept(gm):
    secret = correction("The deploy key is not ghp_abcdefghijklmnopqrstuvwxyz0123456789 but only has to be set")
    receipt = gm.learn_from(record(findings=[secret, correction()]))
    assert receipt.counts == {"learnt": 1, "refused": 1}
    assert "github_token" in receipt.verdicts[1].why
    everything = "".join(path.read_text("utf-8", "replace") for path in gm.parts.data_dir.rglob("*.jsonl"))
    assert "ghp_" not in everything + str(gm.session_receipts("session-1")) + gm.session_summary("session-1").markdown


def test_what_was_learnt_too_soon_is_withdrawn_by_later_sessions(gm):
    pair = finding(
        "co_access", "a|b", {"a": "shop/a.py", "b": "shop/b.py", "windows": 2, "edited": 1, "a_first": 1}, ("shop/a.py", "shop/b.py")
    )
    both = tuple(FileStat(path, 1, 1) for path in ("shop/a.py", "shop/b.py"))
    for number in range(1, 5):
        receipt = gm.learn_from(record(number, [pair], files=both))
    [learnt] = receipt.learnt
    for number in range(5, 12):
        gm.learn_from(record(number, files=both[:1]))
    receipt = gm.learn_from(record(12, [pair], files=both))
    assert receipt.counts == {"withdrawn": 1}
    assert gm.memory(learnt).status == "deprecated"


def test_a_receipt_names_every_finding_and_can_be_read_again(gm):
    receipt = gm.learn_from(record(findings=[correction(), abandon("shop/old.py")]))
    assert len(receipt.verdicts) == 2
    assert all(one.why and one.outcome in gates.OUTCOMES for one in receipt.verdicts)
    assert gm.session_receipts("session-1") == [receipt]
    assert gm.session_receipts("sess") == [receipt]
    with pytest.raises(SessionNotFoundError):
        gm.session_receipts("nobody")
    gm.learn_from(record(2, [correction("Stock is counted in packs and never in single pieces")]))
    with pytest.raises(SessionNotFoundError) as refusal:
        gm.session_receipts("session")
    assert refusal.value.candidates == ["session-1", "session-2"]


def test_a_session_can_be_taken_back_and_does_not_come_back_by_itself(gm):
    receipt = gm.learn_from(record(1, [correction()]))
    undone = gm.undo_session("session-1", actor="ann")
    assert undone.ids == receipt.learnt
    assert live(gm) == 0
    assert [one.undone for one in gm.session_receipts("session-1")] == [True]
    assert gm.learn_from(record(1, [correction()])).undone
    assert gm.learn_from(record(2, [correction()])).counts == {"taken_back": 1}
    assert gm.undo_session("session-1").ids == []
    assert live(gm) == 0


def test_what_a_person_vouched_for_survives_the_undoing(gm):
    receipt = gm.learn_from(record(1, [correction()]))
    gm.verify(receipt.learnt[0])
    undone = gm.undo_session("session-1")
    assert (undone.ids, undone.kept) == ([], receipt.learnt)


def test_a_learnt_memory_is_on_trial_for_a_day(gm, clock):
    used = gm.learn_from(record(1, [correction()])).learnt[0]
    idle = gm.learn_from(record(2, [correction("Stock is counted in packs and never in single pieces")])).learnt[0]
    before = gm.memory(idle).importance
    gm.note_use([used], "used")
    clock.advance(timedelta(hours=25))
    gm.learn_from(record(30))
    assert gm.memory(used).status == "confirmed"
    assert gm.memory(idle).status == "candidate"
    assert gm.memory(idle).importance == pytest.approx(0.8 * before)
    clock.advance(timedelta(hours=25))
    gm.learn_from(record(60))
    assert gm.memory(idle).importance == pytest.approx(0.8 * before)


def test_units_of_work_are_learnt_from_one_by_one_within_the_session_s_cap(gm):
    units = tuple(UnitDone(f"unit {n}", "", "validated" if n else "failed", n, n, 3, None) for n in range(3))
    says = [one for n in range(3) for one in lessons(8, f"clock{n}", work_unit=f"unit {n}")]
    one = record(1, says, units=units, outcome="")
    assert gm.learn_from(one, unit="unit 0").counts == {"gate_closed": 8, "learnt": 1}  # that it failed
    assert gm.learn_from(one, unit="unit 1").counts == {"learnt": 8}
    assert gm.learn_from(one, unit="unit 2").counts == {"learnt": 8}
    assert gm.learn_from(one, unit="unit 2").counts == {"learnt": 8}
    assert live(gm) == 17
    done = gm.learn_from(one._replace(info=one.info._replace(outcome="validated")))
    assert done.counts == {"learnt": 3, "known": 17, "over_cap": 5}
    assert [part.part for part in gm.session_receipts("session-1")] == ["unit 0", "unit 1", "unit 2", ""]
    assert len(gm.undo_session("session-1").ids) == 20


def test_the_preset_says_how_much_has_to_speak_for_a_finding(gm):
    weak = finding("config_touch", "a", {"config": "a.toml", "sources": ["b.py", "c.py"], "modules": ["shop"]}, early=True, priority=0.7)
    strong = correction()
    counts = {}
    for preset in gates.PRESETS:
        points = {one.signal: sum(gates.points(one, 1, 0.6).values()) for one in (weak, strong)}
        counts[preset] = [name for name, total in points.items() if total >= gates.PRESETS[preset].points]
    assert counts == {"conservative": [], "balanced": ["self_correction"], "aggressive": ["config_touch", "self_correction"]}
    receipt = gm.learn_from(record(1, [weak, strong]))
    assert outcomes(receipt) == {weak.key: "weak", strong.key: "learnt"}
    assert gm.learn_from(record(2, [weak])).counts == {"learnt": 1}


def test_a_run_that_was_cut_off_before_its_receipt_finds_its_own_memories_again(gm):
    one = record(1, [correction()])
    first = gm.learn_from(one)
    with gm.parts.ledger()._writing() as db:
        db.execute("DELETE FROM receipt")
        db.execute("DELETE FROM learnt")
    again = gm.learn_from(one)
    assert again.learnt == first.learnt
    assert live(gm) == 1
    assert gm.undo_session("session-1").ids == first.learnt


def test_memories_and_sessions_survive_the_loss_of_the_graph(gm):
    receipt = gm.learn_from(record(1, [correction()]))
    gm.rebuild_memories()
    assert gm.memory(receipt.learnt[0]).content
    assert gm.parts.book.index().session("session-1").agent == "claude"


def test_what_is_not_a_record_is_refused(gm):
    with pytest.raises(BadInputError):
        gm.learn_from({"info": {"id": "x"}, "nonsense": 1})
    with pytest.raises(BadInputError):
        gm.learn_from("record")
