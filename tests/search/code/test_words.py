"""Search for functions by words: descriptions, sentences, names.

Abbreviations that programmers write are found, too.
"""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.search.code.words import sentences
from graphmem.search.pipeline import Request, Tuning, search
from graphmem.search.query.abbreviations import _ROWS, other_forms
from graphmem.search.units.stems import stems_of
from graphmem.settings import Settings

FILES = {
    "ledger/accounts.py": '''"""Accounts."""


class Account:
    """Money that belongs to somebody."""

    def close(self):
        self.is_open = False
        self.balance = 0

    def describe(self):
        return "account"


def interest(account, days):
    return account.balance * days
''',
    "ledger/letters.py": '''"""What is sent."""


def statement(account):
    """A letter with the balance of an account."""
    return f"{account.balance}"


def reminder(args, dirs):
    """A letter about what args ask for."""
    return [args, dirs]


def farewell(account, weather, season, flowers):
    """A letter about the weather, the season and the flowers of the garden."""
    return weather, season, flowers
''',
}


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    root = tmp_path_factory.mktemp("ledger")
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(tmp_path_factory.mktemp("index"), settings=Settings(embedder="none")) as memory:
        memory.index(root)
        memory.parts.projections.wait()
        yield memory.parts.projections.snapshot(), memory.state()


@pytest.fixture
def ask(searched):
    shot, state = searched

    def asked(query, tuning=None):
        return {hit.qualname: hit for hit in search(shot, None, Request(query, k=50, kinds=frozenset({"symbol"})), state, tuning).hits}

    return asked


def part_of(hit, path):
    return next((part for part in hit.parts if part.path == path), None)


def test_sentences_are_lines_and_what_ends_with_a_point():
    assert sentences("Close the account. Send the letter at once\n\n* add some tests here\n* ok") == [
        "Close the account.",
        "Send the letter at once",
        "add some tests here",
    ]
    assert sentences("Close the account and send the letter") == []
    assert sentences("one two three\none two three") == []


def test_a_function_with_all_the_words_of_one_sentence_is_full_there(ask):
    hits = ask("Interest of days on the account\nA letter about weather, season and flowers of the garden")
    assert part_of(hits["farewell"], "sentence").normalised == pytest.approx(1)
    assert part_of(hits["interest"], "sentence").normalised == pytest.approx(1)
    whole = [part_of(hits[name], "words").normalised for name in ("farewell", "interest")]
    assert max(whole) == pytest.approx(1)
    assert min(whole) < 1


def test_one_sentence_says_what_the_query_says(ask):
    for hit in ask("letter with the balance").values():
        words, sentence = part_of(hit, "words"), part_of(hit, "sentence")
        assert (words is None) == (sentence is None)
        if words is not None:
            assert sentence.normalised == pytest.approx(words.normalised)


def test_sentences_beyond_the_bound_are_left_to_the_whole(ask):
    tuning = Tuning()
    one = tuning._replace(fields=tuning.fields._replace(sentences=1))
    query = "Interest of days on the account\nA letter about weather, season and flowers of the garden"
    assert part_of(ask(query, one)["farewell"], "sentence").normalised == pytest.approx(1)  # the longest is kept
    assert part_of(ask(query, one)["interest"], "sentence") is None
    assert part_of(ask(query, one)["interest"], "words") is not None


def test_the_share_of_names_a_query_has_counts(ask):
    hits = ask("close accounts of somebody")
    fields = Tuning().fields
    total = fields.name_share + fields.outer_share + fields.file_share
    # All of `close`, all of `Account`, all of `accounts`: the stems are the same.
    assert part_of(hits["Account.close"], "names").raw == pytest.approx(1)
    assert part_of(hits["Account"], "names").raw == pytest.approx((fields.name_share + fields.file_share) / total)
    assert part_of(hits["statement"], "words") is not None
    assert part_of(hits["statement"], "names") is None


def test_a_short_form_is_found_by_the_word_it_stands_for(ask):
    hits = ask("arguments and directories of a letter")
    # `letter` is in the name of the file of both; what sets them apart are `args` and `dirs`.
    assert part_of(hits["reminder"], "words").raw > part_of(hits["farewell"], "words").raw


def test_forms_that_are_asked_for_stand_for_themselves():
    asked = {stems_of([word])[word] for word in ("argument", "args", "folder")}
    others = other_forms(asked, stems_of)
    assert not asked & set(others)
    assert others[stems_of(["directory"])["directory"]] == stems_of(["folder"])["folder"]
    assert set(others.values()) <= asked
    assert other_forms(["nothing in the table"], stems_of) == {}


def test_every_form_is_in_one_row():
    rows = [line.split() for line in _ROWS.splitlines() if line.strip()]
    stems = [stems_of(row) for row in rows]
    seen = [stem for of_row in stems for stem in dict.fromkeys(of_row.values())]
    assert len(seen) == len(set(seen)), sorted(stem for stem in seen if seen.count(stem) > 1)
    assert all(len(row) > 1 for row in rows)


def test_a_class_stands_behind_its_methods_unless_it_is_named(ask):
    as_it_is, like_any = Tuning(), Tuning()._replace(around=1.0)
    for query, factor in (("money that belongs to somebody", as_it_is.around), ("`Account`", 1.0)):
        assert ask(query)["Account"].score == pytest.approx(ask(query, like_any)["Account"].score * factor)


def test_documentation_that_says_little_else_answers_a_question(ask):
    question = "How do I write a letter?"
    described, silent = Tuning(), Tuning()._replace(weights={kind: one._replace(told=0.0) for kind, one in Tuning().weights.items()})

    def told(hit):
        return next((part.raw for part in hit.parts if part.path == "told"), 0.0)

    hits = ask(question, described)
    assert told(hits["statement"]) > told(hits["farewell"]) > 0
    assert not any(told(hit) for hit in ask(question, silent).values())
    assert not any(told(hit) for hit in ask("Fix: a letter was written twice.", described).values())
