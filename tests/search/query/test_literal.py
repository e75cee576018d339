"""Code and quotations in a query are searched exactly as written."""

from __future__ import annotations

import pytest

from graphmem.search.pipeline import Request, Tuning, search
from graphmem.search.query.literal import MOST, is_message, literal, messages

TEXTS = [
    ("save", "def save(self):\n    store(session_id, self.data)"),
    ("load", "def load(self):\n    return self.session"),
    ("close", "def close(self):\n    raise Gone('the session has gone')"),
    ("save", "    os.replace(part, whole)\n    log(session_ids)"),
]


@pytest.mark.parametrize(
    ("query", "units"),
    [
        ("session_id is lost", {"save"}),
        ("`session` is None", {"load", "close"}),  # a word of its own, not a part of `session_id`
        ("use os.replace instead of os.rename", {"save"}),  # in the second chunk of the function
        ("it says 'the session has gone' when it has not", {"close"}),
        ("it says 'a session has gone'", set()),
        ("the session is saved twice", set()),  # plain words are for BM25
        ("`id`", set()),  # too short to say anything
        ("", set()),
    ],
)
def test_code_that_has_what_the_query_writes_is_found_whatever_its_words_are(query, units):
    assert set(literal(query, TEXTS)) == units


def test_what_few_have_counts_more_and_all_of_it_counts_one():
    scores = literal("`self` and `session_id`", TEXTS)
    assert scores["save"] == pytest.approx(1.0)
    assert 0 < scores["load"] == scores["close"] < 0.5


def test_of_a_pasted_log_the_first_names_are_looked_for():
    log = " ".join(f"name_{i}" for i in range(MOST))
    assert literal(f"{log} session_id", TEXTS) == {}
    assert literal(f"session_id {log}", TEXTS) == {"save": 1.0}


def test_a_name_that_nothing_defines_finds_the_code_that_uses_it(bare, state):
    hits = search(bare, None, Request("`cents` are lost", k=5, kinds=frozenset({"code"})), state, Tuning()).hits
    assert hits[0].qualname == "format_price"
    assert "literal" in {part.path for part in hits[0].parts}


def test_the_code_that_prints_a_message_has_the_longest_run_of_its_words():
    texts = [
        ("prints", 'raise ValueError(f"Job {name} must be an Array of strings")'),
        ("alike", "# strings of a job, as an Array must be"),
        ("plain", "it must be the other"),
    ]
    assert messages("Job foo must be an Array of strings", texts) == {"prints": 3 / 5}
    assert messages("must be the other", texts) == {}  # only one word says something


def test_code_with_the_whole_message_leaves_no_place_to_similar_messages():
    texts = [("link", 'return "Please choose a valid link."'), ("tag", 'return "Please choose a valid name for the tag."')]
    assert messages("Please choose a valid link", texts) == {"link": 1.0}
    assert messages("Please choose a valid name for tag 7", texts) == {"tag": 4 / 5, "link": 3 / 5}


def test_code_with_the_parts_around_a_value_has_the_whole_message():
    texts = [
        ("prints", 'throw new Error(`The file does not exist at "${id}" which is in the directory of dependencies.`)'),
        ("ends alike", 'log("a module which is in the directory of dependencies.")'),
    ]
    asked = 'The file does not exist at "/app/deps/chunk-3.js" which is in the directory of dependencies.'
    assert messages(asked, texts) == {"prints": 1.0}
    code = [("reads", 'f"Cannot read lines {first} to {last} of file {path}"')]
    assert messages("Cannot read lines 3 to 70 of file a/b.py", code) == {"reads": 2 / 3}  # "of file" is too short for a run


def test_a_question_is_not_a_message():
    assert is_message("Stream is closed")
    assert not is_message("when is a stream closed")
    assert not is_message("stream closed")
