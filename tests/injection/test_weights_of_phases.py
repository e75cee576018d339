"""Weights of memory types in phases of work, estimated from sessions.

They change only when a person accepts them.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run_here
from graphmem.answers import to_json
from graphmem.errors import BadInputError, DiskFullError
from graphmem.injection.budgets import PHASE_SHARES, shares_of
from graphmem.injection.experiment import FULL, group_of
from graphmem.project.graphmem import GraphMem
from graphmem.search.memories.phases import ENOUGH_SHOWN, FILE, MOST, SESSIONS, PhaseBook, Use, proposed, weight
from graphmem.search.request import PHASES
from graphmem.settings import Settings

PHASE = "implement"
TYPES = ("gotcha", "decision", "pattern", "requirement")
HELD = 1e-9

phases = st.sampled_from(sorted(PHASES))
types = st.lists(st.sampled_from(TYPES), min_size=2, max_size=4, unique=True)


@st.composite
def counted(draw):
    """Uses in one phase of several types, each shown often enough."""
    phase, uses = draw(phases), {}
    for name in draw(types):
        shown = draw(st.integers(ENOUGH_SHOWN, 400))
        uses[phase, name] = Use(shown, draw(st.integers(0, shown)))
    return uses


@given(phases, types, st.integers(1, 10), st.data())
def test_types_used_equally_often_keep_their_weights(phase, names, of_ten, data):
    uses = {(phase, name): Use(10 * tens, of_ten * tens) for name in names for tens in [data.draw(st.integers(2, 40))]}
    assert proposed(uses) == {key: weight(PHASES, *key) for key in uses}


@given(counted())
def test_no_weight_leaves_half_to_twice_the_built_in_one(uses):
    for key, value in proposed(uses).items():
        prior = weight(PHASES, *key)
        assert round(prior / MOST, 2) - HELD <= value <= round(prior * MOST, 2) + HELD


@given(counted(), st.data())
def test_more_use_never_lowers_a_weight(uses, data):
    key = data.draw(st.sampled_from(sorted(uses)))
    before = proposed(uses)
    shown, used = uses[key]
    after = proposed(uses | {key: Use(shown, data.draw(st.integers(used, shown)))})
    if before:
        assert after[key] >= before[key]


def test_what_was_shown_too_rarely_or_never_used_proposes_nothing():
    assert proposed({(PHASE, "gotcha"): Use(ENOUGH_SHOWN - 1, 5), (PHASE, "decision"): Use(100, 50)}).keys() == {(PHASE, "decision")}
    assert proposed({(PHASE, "gotcha"): Use(100, 0), (PHASE, "decision"): Use(100, 0)}) == {}


def test_the_formula_is_the_mean_of_a_beta_posterior():
    # R = 30 / 100; gotcha (25 + 20 R) / (50 + 20) = 31/70, decision (5 + 6) / 70 = 11/70; built-in 1.4 and 1
    found = proposed({(PHASE, "gotcha"): Use(50, 25), (PHASE, "decision"): Use(50, 5)})
    assert found == {(PHASE, "gotcha"): round(1.4 * 31 / 70 / 0.3, 2), (PHASE, "decision"): round(11 / 70 / 0.3, 2)}


@given(phases, st.dictionaries(st.sampled_from(TYPES), st.floats(1 / MOST, MOST), max_size=4))
def test_shares_of_tokens_move_with_the_weights_and_stay_whole(phase, leaning):
    own, moved = PHASE_SHARES[phase].shares, shares_of(phase, leaning)
    assert moved.keys() == own.keys()
    assert sum(moved.values()) == pytest.approx(sum(own.values()))
    for one in own:
        for other in own:
            grows = leaning.get(one, 1.0) >= leaning.get(other, 1.0)
            assert not grows or moved[one] / own[one] >= moved[other] / own[other] - HELD


@pytest.mark.parametrize(
    "text", ["", "[]", '{"at": "", "sessions": 1, "weights": {"implement": {"gotcha": 99}}}', '{"weights": {"x": {"y": 1}}}']
)
def test_a_broken_file_means_the_built_in_weights(tmp_path, text):
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert PhaseBook(tmp_path).table() is PHASES


def test_a_disk_that_refuses_leaves_in_force_what_was(tmp_path):
    book = PhaseBook(tmp_path)
    at = datetime(2026, 3, 2, tzinfo=UTC)
    book.accept({(PHASE, "gotcha"): 1.9}, at, 30)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    for change in (lambda: book.accept({(PHASE, "gotcha"): 0.9}, at, 31), book.reset):
        with pytest.raises(DiskFullError, match="the weights are unchanged"):
            change()
        assert weight(book.table(), PHASE, "gotcha") == 1.9
    assert [one.name for one in tmp_path.iterdir()] == [FILE]


# ---- sessions, through the verbs


def opened(folder):
    return GraphMem.open(folder, settings=Settings(embedder="none"))


def session(service, name, used, memories, phase=PHASE):
    """A session in a phase that is shown what is known and uses some of it."""
    service.start_session(name, kind="build", agent=f"agent of {name}", phase=phase, title=name)
    service.observe([{"kind": "tool_call", "tool": "Read", "args": {"path": f"src/{name}.py"}}], session=name)
    shown = {one.id for one in service.context("start", name, phase=phase, deadline_s=30).items}
    assert service.parts.injector.settle(30)
    assert memories.keys() <= shown
    service.note_use([one for one, type_ in memories.items() if type_ in used], "used", session=name)
    service.end_session(name, "accepted")


def full(service, count):
    every = (f"work-{n}" for n in range(10_000))
    named = (one for one in every if group_of(one, service.project().name) == FULL)
    return [next(named) for _ in range(count)]


def by_type(found, phase=PHASE):
    return {one.type: one for one in found.weights if one.phase == phase}


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """Thirty sessions that ended, which used the gotcha always and the decision seldom."""
    folder = tmp_path_factory.mktemp("phases") / "index"
    with opened(folder) as service:
        known = {
            "gotcha": "Totals are rounded by the tax table before they are summed.",
            "decision": "Carts are kept in Redis, for they outlive the process.",
        }
        memories = {service.remember(text, name, source="user_taught").memory.id: name for name, text in known.items()}
        for one in memories:
            service.pin(one)
        for n, name in enumerate(full(service, SESSIONS)):
            if n == SESSIONS - 1:
                missing = service.phase_weights()
                with pytest.raises(BadInputError) as refused:
                    service.choose_phase_weights("proposed")
            session(service, name, {"gotcha", "decision"} if n % 5 == 0 else {"gotcha"}, memories)
    return folder, memories, missing, refused.value


def test_before_thirty_sessions_nothing_is_proposed_and_nothing_can_be_accepted(lived):
    _, _, missing, refused = lived
    assert (missing.sessions, missing.missing) == (29, 1)
    assert all(one.proposed is None and one.weight == one.built_in for one in missing.weights)
    assert missing.notes[0].startswith("1 more session has to end")
    assert (refused.facts["sessions"], refused.facts["needed"], refused.facts["missing"]) == (29, 30, 1)


def test_what_is_proposed_changes_nothing_until_it_is_accepted_and_then_search_goes_by_it(lived):
    folder, memories, _, _ = lived
    gotcha = next(one for one, name in memories.items() if name == "gotcha")

    def phase_factor(service):
        hits = service.search("totals rounded tax", kinds=["memory"], phase=PHASE).hits
        hit = next(one for one in hits if one.memory.id == gotcha)
        return next(one.value for one in hit.factors if one.name == "phase")

    with opened(folder) as service:
        found = service.phase_weights()
        own = by_type(found)
        assert (found.sessions, found.missing, found.notes, found.accepted_at) == (30, 0, [], "")
        assert (own["gotcha"].shown, own["gotcha"].used, own["decision"].shown, own["decision"].used) == (30, 30, 30, 6)
        # R = 36 / 60; gotcha 1.4 × (30 + 20 R) / 50 / R, decision 1 × (6 + 20 R) / 50 / R
        assert (own["gotcha"].proposed, own["decision"].proposed) == (1.96, 0.6)
        assert phase_factor(service) == own["gotcha"].weight == 1.4

        accepted = service.choose_phase_weights("proposed")
        own = by_type(accepted)
        assert (own["gotcha"].weight, own["decision"].weight, own["pattern"].weight) == (1.96, 0.6, 1.1)
        assert (own["gotcha"].built_in, own["gotcha"].proposed) == (1.4, 1.96)  # accepting again moves nothing further
        assert accepted.accepted_sessions == 30
        assert phase_factor(service) == 1.96
        assert service.parts.injector._finder.leaning(PHASE) == pytest.approx({"decision": 0.6, "gotcha": 1.4})
    with opened(folder) as service:
        assert service.phase_weights() == accepted
        assert phase_factor(service) == 1.96

        reset = service.choose_phase_weights("built-in")
        assert reset == found
        assert phase_factor(service) == 1.4
    with opened(folder) as service:
        assert service.phase_weights() == found


def test_every_door_tells_the_same_and_decides_the_same(lived, served):
    folder, *_ = lived
    with opened(folder) as service:
        here = service.phase_weights()
        with served(service) as remote:
            assert remote.phase_weights() == here
            accepted = remote.choose_phase_weights("proposed")
            assert accepted == service.phase_weights() != here

    def told(*more):
        ran = run_here(os.environ, "memory", "phases", "--db", folder, *more)
        assert ran.code == 0, ran.err
        return ran.out

    assert json.loads(told("--json")) == to_json(accepted)
    assert "1.96" in told()
    assert json.loads(told("--reset", "--json")) == to_json(here)
    assert "--accept` applies the proposed weights" in told()


def test_a_use_that_names_no_session_counts_for_those_that_were_shown_the_memory(tmp_path):
    with opened(tmp_path / "index") as service:
        memory = service.remember("Totals are rounded by the tax table.", "gotcha", source="user_taught").memory.id
        service.pin(memory)
        shown, blind = full(service, 2)
        for name in (shown, blind):
            service.start_session(name, kind="build", agent=name)
        service.context("start", shown, phase="refine", deadline_s=30)
        assert service.parts.injector.settle(30)
        service.note_use([memory])
        for name in (shown, blind):
            service.end_session(name, "accepted")
        own = by_type(service.phase_weights(), "refine")
        assert (own["gotcha"].shown, own["gotcha"].used) == (1, 1)
        assert service.phase_weights().sessions == 1


def test_what_nobody_observes_begins_no_session(tmp_path):
    with opened(tmp_path / "index") as service:
        memory = service.remember("Totals are rounded by the tax table.", "gotcha").memory.id
        service.note_use([memory], "used", session="nobody")
        service.note_use([memory], "injected", session="nobody")
        assert service.sessions().total == 0


def test_another_choice_is_refused(tmp_path):
    with opened(tmp_path / "index") as service, pytest.raises(BadInputError) as refused:
        service.choose_phase_weights("mine")
    assert refused.value.facts["argument"] == "choice"
