"""The background agent, what is said between steps, trust, groups, deadlines, planning: the rules, without a project."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import BadInputError, LanguageModelError
from graphmem.injection import planning
from graphmem.injection.agent import TURNS, Candidate, Context, ContextAgent, similarity
from graphmem.injection.deadlines import DEADLINES_S, QUICK_S, Deadlines, deadline_of
from graphmem.injection.experiment import CONTROL, FULL, PASSIVE, group_of
from graphmem.injection.steps import FIRST_STEP, MAX_GOTCHAS, StepTriggers
from graphmem.injection.trust import THRESHOLDS, TrustBook

VECTORS = {"pools": (1.0, 0.0), "connections": (0.8, 0.6), "templates": (0.0, 1.0)}


class Knows:
    """Finds the same memories for every context; vectors by the first word."""

    def __init__(self, found: list[Candidate]) -> None:
        self.found = found
        self.gate = threading.Event()
        self.gate.set()

    def vector(self, text):
        return VECTORS[text.split()[0]]

    def words(self, text):
        return text.split()

    def candidates(self, context, vector):
        self.gate.wait(10)
        return list(self.found)


@pytest.fixture
def agent():
    knows = Knows([Candidate("a", 0.9), Candidate("b", 0.5), Candidate("c", 0.39)])
    news = []
    made = ContextAgent(knows, lambda session, count: news.append((session, count)))
    made.knows, made.news = knows, news
    yield made
    made.close()


def ids(ready):
    return [one.id for one in ready.found]


def test_an_update_returns_before_anything_is_looked_up(agent):
    agent.knows.gate.clear()
    assert agent.update("s", Context("pools are full")) == 1
    assert ids(agent.take("s")) == []
    agent.knows.gate.set()
    assert agent.settle(10)
    assert ids(agent.take("s")) == ["a", "b"]  # 0.39 is under 0.4
    assert agent.news == [("s", 2)]
    assert ids(agent.take("s")) == []


def test_nothing_is_shown_twice_within_a_topic(agent):
    agent.show("s", ["a"])
    for words in ("pools", "connections"):
        agent.update("s", Context(words))
        assert agent.settle(10)
        assert ids(agent.take("s")) == ["b"]
    agent.show("s", ["rule:project:style"])
    assert agent.topics("s") == 1
    agent.update("s", Context("templates render"))  # cosine 0.6 to connections: the same topic
    assert agent.settle(10)
    agent.update("s", Context("pools again"))  # cosine 0: another
    assert agent.settle(10)
    assert agent.topics("s") == 2
    assert "rule:project:style" in agent.shown("s")  # a rule is shown once a session
    assert ids(agent.take("s")) == ["a", "b"]


def test_what_was_shown_is_forgotten_after_50_turns_and_in_a_new_session(agent):
    agent.show("s", ["a", "b"])
    for _ in range(TURNS - 1):
        agent.update("s", Context("pools"))
    assert agent.shown("s") == {"a", "b"}
    agent.update("s", Context("pools"))
    assert agent.shown("s") == set()
    agent.show("s", ["a"])
    agent.begin("s")
    assert agent.shown("s") == set()
    assert agent.shown("other") == set()


def test_only_the_newest_context_of_a_session_counts(agent):
    agent.knows.gate.clear()
    for _ in range(100):
        agent.update("s", Context("pools"))
    agent.knows.gate.set()
    assert agent.settle(10)
    assert len(agent.news) <= 2


def ids_of(found):
    return [one.id for one in found]


def checking(check, **given):
    return ContextAgent(Knows([Candidate("a", 0.9), Candidate("b", 0.8)]), check=check, **given)


def test_a_relevance_check_drops_what_it_finds_trivial():
    checked = checking(lambda context, found, until: found[1:])
    checked.update("s", Context("pools"))
    assert checked.settle(10)
    ready = checked.take("s")
    assert (ids(ready), ready.note) == (["b"], "")
    checked.close()


def test_a_check_that_fails_drops_nothing_and_says_so():
    def fails(context, found, until):
        raise LanguageModelError("the model rests", reason="resting")

    checked = checking(fails)
    checked.update("s", Context("pools"))
    assert checked.settle(10)
    ready = checked.take("s")
    assert (ids(ready), ready.note) == (["a", "b"], "not checked for relevance: the model rests")
    checked.close()


def test_a_slow_check_of_one_session_holds_up_no_other():
    gate = threading.Event()

    def waits_for_one(context, found, until):
        if context.text == "pools":
            gate.wait(10)
        return found[:1]

    checked = checking(waits_for_one)
    checked.update("slow", Context("pools"))
    checked.update("quick", Context("connections"))
    for _ in range(1_000):
        ready = checked.take("quick")
        if ready.found:
            break
        time.sleep(0.01)
    assert ids(ready) == ["a"]
    assert ids(checked.take("slow")) == []
    gate.set()
    assert checked.settle(10)
    assert len(checked.take("slow").found) == 1
    checked.close()


def test_what_was_shown_already_is_not_put_to_the_check():
    asked = []
    checked = checking(lambda context, found, until: asked.append(ids_of(found)) or list(found))
    checked.show("s", ["a"])
    checked.update("s", Context("pools"))
    assert checked.settle(10)
    checked.show("s", ["b"])
    checked.update("s", Context("pools"))
    assert checked.settle(10)
    assert asked == [["b"]]
    checked.close()


def test_contexts_without_a_model_are_compared_by_words():
    assert similarity((None, {"pool": 1, "full": 1}), (None, {"pool": 1, "full": 1})) == pytest.approx(1)
    assert similarity((None, {"pool": 1}), (None, {"template": 3})) == 0
    assert similarity(((1.0, 0.0), {}), ((0.6, 0.8), {})) == pytest.approx(0.6)


# ---- between steps


def warm(triggers: StepTriggers, session: str = "s") -> None:
    for _ in range(FIRST_STEP - 1):
        assert triggers.step(session, (), 0.5) is None


def test_nothing_is_said_before_the_fifth_step():
    triggers = StepTriggers(lambda path: [("g", 0.9)])
    triggers.touched("s", "a.py")
    warm(triggers)
    assert triggers.step("s", (), 0.5).name == "file"


def test_the_first_trigger_that_fires_is_the_only_one():
    triggers = StepTriggers(lambda path: [(f"{path}-{n}", 0.9 - n / 10) for n in range(6)])
    warm(triggers)
    triggers.searched("s", "how", ["answer", "other"])
    triggers.learnt("s", ["new"])
    triggers.touched("s", "a.py")
    found = triggers.step("s", (), 0.5)
    assert (found.name, found.ids) == ("file", ["a.py-0", "a.py-1", "a.py-2"])  # confidence 0.65 at least
    assert len(found.ids) <= MAX_GOTCHAS
    assert triggers.step("s", (), 0.5)[:2] == ("learnt", ["new"])
    assert triggers.step("s", (), 0.5)[:2] == ("search", ["answer"])
    assert triggers.step("s", (), 0.5) is None


def test_what_was_shown_and_what_is_unsure_fires_nothing():
    triggers = StepTriggers(lambda path: [("seen", 0.9), ("unsure", 0.6)])
    warm(triggers)
    triggers.touched("s", "a.py")
    triggers.searched("s", "q", ["seen"])
    triggers.learnt("s", ["seen"])
    assert triggers.step("s", {"seen"}, 0.5) is None
    assert triggers.step("other", (), 0.5) is None


def test_only_the_last_three_searches_count():
    triggers = StepTriggers(lambda path: [])
    warm(triggers)
    for n in range(5):
        triggers.searched("s", f"q{n}", [f"m{n}"])
    assert [triggers.step("s", (), 0).ids for _ in range(3)] == [["m4"], ["m3"], ["m2"]]
    assert triggers.step("s", (), 0) is None


# ---- trust


def test_a_project_earns_trust_by_sessions(tmp_path):
    book = TrustBook(tmp_path)
    seen = []
    for n in range(17):
        seen.append(book.now().level())
        book.session_over(f"s{n}", shown=10)
    assert seen == ["cautious"] * 3 + ["standard"] * 12 + ["confident"] * 2
    assert TrustBook(tmp_path).now() == book.now()  # it is kept


def test_corrections_keep_a_project_where_it_is(tmp_path):
    book = TrustBook(tmp_path)
    for n in range(20):
        if n % 2:
            book.flagged(f"s{n}")
        book.session_over(f"s{n}", shown=10)
    assert book.now().corrections() == pytest.approx(0.05)
    assert book.now().level() == "standard"


def test_three_flags_in_one_session_offer_a_step_back_and_force_none(tmp_path):
    book = TrustBook(tmp_path)
    book.choose("confident")
    for session in ("a", "b", "a"):
        book.flagged(session)
    assert book.now().offer == ""
    book.flagged("a")
    assert (book.now().offer, book.now().level()) == ("standard", "confident")
    assert book.choose("standard").offer == ""


def test_autonomous_is_a_choice_and_auto_gives_it_back(tmp_path):
    book = TrustBook(tmp_path)
    assert book.choose("autonomous").level() == "autonomous"
    assert book.threshold() == THRESHOLDS["autonomous"] == 0.45
    assert book.choose("auto").level() == "cautious"
    with pytest.raises(BadInputError, match="cautious, standard"):
        book.choose("reckless")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"sessions": "many"}', '{"sessions": 9, "chosen": 3}'])
def test_a_broken_record_is_a_project_without_experience(tmp_path, content):
    (tmp_path / "trust.json").write_text(content, encoding="utf-8")
    assert TrustBook(tmp_path).now().level() == "cautious"


# ---- groups and deadlines


def test_groups_divide_sessions_as_they_should_and_never_change():
    groups = [group_of(f"session-{n}", "shop") for n in range(10_000)]
    assert 400 < groups.count(CONTROL) < 600
    assert 850 < groups.count(PASSIVE) < 1_150
    assert groups.count(FULL) + groups.count(CONTROL) + groups.count(PASSIVE) == 10_000
    assert groups[:3] == [group_of(f"session-{n}", "shop") for n in range(3)]
    assert [group_of("a", name) for name in "bcd"] == [group_of("a", name) for name in "bcd"]


def test_what_is_late_is_not_given():
    deadlines = Deadlines()
    gate = threading.Event()
    late = deadlines.run(lambda until: gate.wait(10) and "late", 0.05)
    gate.set()
    assert late.value is None
    assert deadlines.run(lambda until: "here", 10).value == "here"
    assert deadlines.run(lambda until: "waited for too long", 0.1, begun=time.monotonic() - 1).value is None
    deadlines.close()


def test_what_has_to_be_quick_waits_for_nothing_slow():
    deadlines = Deadlines()
    gate, begun = threading.Event(), threading.Semaphore(0)

    def slow(until):
        begun.release()
        gate.wait(10)

    waiting = [threading.Thread(target=deadlines.run, args=(slow, 10.0)) for _ in range(12)]
    for one in waiting:
        one.start()
    assert begun.acquire(timeout=10)
    # Twelve first messages are worked on or stand in line; what is asked between steps is answered before any of them is done.
    answers = [deadlines.run(lambda until: "here", QUICK_S - 0.001).value for _ in range(50)]
    assert "here" in answers
    gate.set()
    for one in waiting:
        one.join(10)
    deadlines.close()


def test_the_points_and_their_deadlines():
    assert dict(DEADLINES_S) == {"start": 0.5, "prompt": 2.0, "tool": 0.1, "step": 0.05}
    with pytest.raises(BadInputError, match="start, prompt, tool, step"):
        deadline_of("sometime")


# ---- planning


def known(**details):
    return SimpleNamespace(details=details, updated_at=details.pop("at", "2026-01-01"))


@pytest.mark.parametrize(("ratio", "limit"), [(1.0, 10), (1.35, 14), (0.5, 5), (2.0, 20), (7.0, 20)])
def test_a_step_limit_is_base_times_ratio_and_at_most_twice(ratio, limit):
    assert planning.step_limit("shop/cart", 10, [known(module="shop", ratio=ratio, samples=4)]).limit == limit


def test_without_experience_the_base_is_the_limit():
    assert planning.step_limit("shop", 10, [known(module="other", ratio=2), known(ratio=2)]).limit == 10
    assert planning.step_limit("shop", 10, [known(module="shop", actual=30, planned=20)]).ratio == 1.5
    for base in (0, -1, True, 10**9):
        with pytest.raises(BadInputError, match="base"):
            planning.step_limit("shop", base, [])


def test_prefetching_takes_what_is_read_most_within_12_files_and_32_000_tokens():
    patterns = [
        known(module="shop", always_read=["b.py", "a.py"], often_read=["c.py", "gone.py"]),
        known(module="web", always_read=["x.py"]),
    ]
    wanted = planning.wanted_of(patterns, "shop/cart")
    sizes = {"a.py": 20_000, "b.py": 13_000, "c.py": 10_000}
    files, left_out = planning.prefetched(wanted, sizes.get)
    assert [one.path for one in files] == ["a.py", "c.py"]
    assert left_out == 1
    many = [planning.Wanted(f"f{n:02}.py", 0.9, "read always") for n in range(20)]
    files, left_out = planning.prefetched(many, lambda path: 10)
    assert (len(files), left_out) == (12, 8)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1)), max_size=30), st.integers(0, 20_000))
def test_prefetching_never_exceeds_its_bounds(wanted, size):
    files, left_out = planning.prefetched([planning.Wanted(path, share, "") for path, share in wanted], lambda path: size)
    assert len(files) <= planning.MAX_FILES
    assert sum(one.tokens for one in files) <= planning.MAX_TOKENS
    assert len(files) + left_out == len({path for path, _ in wanted})


def test_a_relay_to_an_unknown_phase_is_refused():
    assert "requirement" in planning.relay_types("validate")
    with pytest.raises(BadInputError, match="define, implement"):
        planning.relay_types("deploy")
