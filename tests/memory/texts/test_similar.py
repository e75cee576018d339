"""Two memories are joined only when one says all that the other says; what differs in a word or in order stays, and is found."""

from __future__ import annotations

import numpy as np
import pytest

from graphmem.memory.texts.wording import says_all_of

DIFFERENT = [
    (
        "windows builds are signed by the release manager before they are uploaded to the mirror",
        "macos builds are signed by the release manager before they are uploaded to the mirror",
    ),
    ("the page cache must be cleared before deploying to staging", "the page cache must be cleared after deploying to staging"),
    ("the store must take the read lock before the write lock", "the store must take the write lock before the read lock"),
    ("session tokens of the gateway are kept in redis for a day", "session tokens of the gateway are kept in postgres for a day"),
    ("the test runner writes its progress report to stdout by default", "the test runner writes its progress report to stderr by default"),
    ("the billing service retries failed calls to the mail provider", "the search service retries failed calls to the mail provider"),
    ("dates are stored in utc and shown in local time everywhere", "dates are stored in local time and shown in utc everywhere"),
    ("files are copied from the queue to the archive at midnight", "files are copied from the archive to the queue at midnight"),
    ("the mirror of the build server is served over http", "the mirror of the build server is served over https"),
    ("the ingest worker blocks while the schema cache is filled", "the ingest worker is blocked while the schema cache is filled"),
    ("we used celery for the report queue of the web application", "we use celery for the report queue of the web application"),
    ("tenant A keeps its documents on shard B of the cluster", "tenant B keeps its documents on shard A of the cluster"),
    ("the parser must run in the main thread of the editor", "the parser may run in the main thread of the editor"),
    ("release builds are signed by the release manager in person", "windows release builds are signed by the release manager in person"),
    ("all uploads of the mirror are signed by hand", "all uploads of the mirror are signed by hand, except on fridays"),
    ("`user` rows of the legacy table are read by the worker", "`users` rows of the legacy table are read by the worker"),
    ("retries of the mirror stop when the count is >= 3", "retries of the mirror stop when the count is > 3"),
    ("the exit code of the nightly import job is 1 then", "the exit code of the nightly import job is -1 then"),
]
SAME = [
    ("Windows builds are signed by the release manager.", "The Windows build is signed by the release manager"),
    ("Run the smoke tests before tagging a release.", "run smoke tests before tagging the release"),
    ("Don't share a session between threads of the worker.", "Do not share a session between threads of the worker!"),
    ("The config loader reads overrides from the env last.", "The configuration loader reads overrides from the environment last."),
    ("All timestamps in the audit log are UTC.", "Timestamps in the audit log are all utc."),
    ("Server-side rendering is off in admin pages.", "Server side rendering is off in the admin pages."),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_one_word_or_the_order_of_words_makes_two_memories_that_are_both_found(gm, one, other):
    first = gm.remember(one, "requirement")
    answer = gm.remember(other, "requirement")
    assert (first.result.outcome, answer.result.outcome) == ("added", "added")
    found = {hit.memory.id for hit in gm.search(one, kinds=["memory"])}
    assert found == {first.result.id, answer.result.id}
    assert [memory.strength for memory in gm.memories().memories] == [1, 1]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_no_cosine_is_high_enough_to_make_one_of_two_different_memories(gm, one, other):
    gm.parts.book.projections.use_model("test-model", 4)
    vector = np.ones(4, np.float32)
    for text in (one, other):
        assert gm.remember(text, "requirement", vector=vector, embedding_model="test-model").result.outcome == "added"
    assert [memory.relations for memory in gm.memories().memories] == [[], []], "nor does the one confirm the other"


@pytest.mark.parametrize(("one", "other"), SAME)
def test_number_case_articles_and_short_forms_make_no_second_memory(gm, one, other):
    gm.parts.book.projections.use_model("test-model", 4)
    vector = np.ones(4, np.float32)
    first = gm.remember(one, "requirement", vector=vector, embedding_model="test-model").memory
    answer = gm.remember(other, "requirement", vector=vector, embedding_model="test-model")
    assert (answer.result.outcome, answer.result.others) == ("consolidated", [first.id])
    assert gm.memories().total == 1


def test_records_that_differ_in_their_numbers_all_stay(gm):
    texts = [f"durable record alpha{i} keeps value v{400 + i} in slot s{i}" for i in range(120)]
    assert [gm.remember(text, "fact").result.outcome for text in texts[:20]] == ["added"] * 20
    assert gm.remember_many([{"content": text, "type": "fact"} for text in texts[20:]]).counts == {"added": 100}
    assert gm.memories(limit=200).total == 120


def test_of_two_that_say_the_same_the_one_with_a_clause_more_stays(gm):
    short, long = "Never share the connection of the worker pool.", "Never share the connection of the worker pool, it loses data."
    for first, second in ((short, long), (long.replace("pool", "queue"), short.replace("pool", "queue"))):
        gm.remember(first, "gotcha")
        answer = gm.remember(second, "gotcha")
        assert answer.result.outcome == "consolidated"
        assert answer.memory.content.endswith("it loses data.")


def test_what_a_person_said_is_not_joined_with_more_that_an_agent_kept_on_purpose(gm):
    short, long = "Never share the connection of the worker pool.", "Never share the connection of the worker pool, it loses data."
    first = gm.remember(short, "gotcha", source="user_taught").memory
    answer = gm.remember(long, "gotcha", source="agent_explicit")
    assert answer.result.outcome == "added"
    assert [(one.id, one.kind) for one in answer.memory.relations] == [(first.id, "validates")]
    assert gm.memories().total == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The worker blocks the queue.", "The worker blocks the queue until noon."),
        ("Deploys are frozen.", "Deploys are frozen, but not for hotfixes."),
        ("foo(x) is pure", "foo(y) is pure"),
        ("C++ code is vendored", "C code is vendored"),
        ("Tests run in parallel.", "Tests run in parallel?"),
        ("MAX_SIZE is read once", "max_size is read once"),
        ("", "anything at all"),
    ],
)
def test_neither_text_stands_for_the_other(one, other):
    assert not says_all_of(one, other)
    assert not says_all_of(other, one)
