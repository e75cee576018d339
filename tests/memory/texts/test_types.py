"""Without a type, the words of a memory decide its type.

A memory that a person means to keep is not forgotten in days.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphmem.memory.texts.types import TYPES, classify


@pytest.mark.parametrize(
    "content",
    [
        "Careful: parse_args returns None for --help and callers crash.",
        "Beware of the second argument.",
        "Never call Context.exit inside a result callback.",
        "Don't use `eval` in the templates.",
        "Do not edit schema.py by hand.",
        "The build must not touch the network.",
        "The server breaks if the port is taken.",
        "The mailer crashes on empty subjects.",
        "A new worker is a trap for the scheduler.",
    ],
)
def test_a_warning_is_a_gotcha(content):
    assert classify(content) == "gotcha"


@pytest.mark.parametrize(
    "content",
    [
        "click creates a NEW object per context.",
        "ProgressBar doesn't redraw when the update interval is long.",
        "The address book is loaded lazily.",
        "Updates are sent every night, features once a month.",
        "Error codes above 500 are retried.",
        "Prices are fixed in cents.",
        "A user that is not found is answered with 404.",
        "The newsletter prefix is kept in the debugger settings.",
    ],
)
def test_a_fact_that_has_such_a_word_or_a_part_of_one_is_not_an_outcome_error_or_insight(content):
    assert classify(content) == "observation"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("We fixed the race by taking the lock first.", "error_pattern"),
        ("The fix is to clear the cache.", "error_pattern"),
        ("We changed the default of the timeout.", "work_unit_outcome"),
        ("Refactored the loader.", "work_unit_outcome"),
        ("Never push on Fridays. Use the_form.", "preference"),
        ("I want commit messages in the imperative.", "preference"),
    ],
)
def test_unmistakable_words_say_what_it_is(content, expected):
    assert classify(content) == expected


@pytest.mark.parametrize("source", ["user_taught", "agent_explicit", "imported"])
def test_what_was_taught_without_a_type_lives_as_long_as_a_fact(gm, clock, source):
    text = "The address book is loaded lazily."
    kept = gm.remember(text, source=source, confidence=0.8).memory
    assert (kept.type, kept.half_life_days) == ("observation", TYPES["fact"].half_life_days)
    fact = gm.remember("Deploys need two approvals.", "fact", source=source, confidence=0.8).memory
    clock.advance(timedelta(days=89))
    assert gm.prune(dry_run=True).pruned == []
    assert gm.memory(kept.id).confidence_in_use == pytest.approx(gm.memory(fact.id).confidence_in_use)
    clock.advance(timedelta(days=2))
    assert {one.id for one in gm.prune(dry_run=True).pruned} == {kept.id, fact.id}


def test_an_inference_and_what_is_called_an_observation_fade_as_observations(gm):
    inferred = gm.remember("The address book is loaded lazily.", source="observer_inferred").memory
    called = gm.remember("Deploys need two approvals.", "observation").memory
    own = gm.remember("Carts are shared.", half_life_days=3).memory
    assert [one.half_life_days for one in (inferred, called, own)] == [7, 7, 3]


def test_a_type_that_is_given_later_brings_its_own_half_life(gm):
    kept = gm.remember("Deploys need two approvals.").memory
    assert gm.update_memory(kept.id, tags=["deploy"]).half_life_days == 30
    assert gm.update_memory(kept.id, type="requirement").half_life_days is None
