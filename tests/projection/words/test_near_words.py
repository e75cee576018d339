"""A misspelt word finds what a look at every word there is would find, of the generation that is asked."""

from __future__ import annotations

import random
import sqlite3

import pytest

from graphmem.model import ChunkRow, GraphDelta
from graphmem.projection.words import near_words
from graphmem.projection.words.index import WordIndex
from graphmem.projection.words.near_words import NearWords
from graphmem.projection.words.text import normalise
from trees import NETWORKX


@pytest.fixture(scope="module")
def vocabulary():
    """(connection, word -> rows that have it) of networkx's own source, a row for each file, and of some words in other scripts."""
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61 remove_diacritics 2 tokenchars ''_''')")
    texts = [path.read_text(encoding="utf-8") for path in sorted(NETWORKX.rglob("*.py"))]
    texts += ["größe größer gröber данные данных дании", "aaaa aaaaa aaaaaa aaab aab", "x y zz abc abcd"]
    db.executemany("INSERT INTO words(text) VALUES (?)", ((normalise(text),) for text in texts))
    db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)")
    yield db, dict(db.execute("SELECT term, doc FROM temp.vocabulary"))
    db.close()


def is_one_edit(a: str, b: str) -> bool:
    """By the definition: one letter less, other, or exchanged with its neighbour; or none."""
    if len(a) < len(b):
        a, b = b, a
    if len(a) > len(b):
        return any(a[:i] + a[i + 1 :] == b for i in range(len(a)))
    changed = [i for i in range(len(a)) if a[i] != b[i]]
    return len(changed) < 2 or (
        len(changed) == 2 and changed[1] == changed[0] + 1 and (a[changed[0]], a[changed[1]]) == (b[changed[1]], b[changed[0]])
    )


def by_looking_at_all(rows: dict[str, int], word: str) -> list[str]:
    """Return the expected result of `nearest`, computed without an index."""

    def commonest(words, most):
        return sorted(words, key=lambda one: (-rows[one], one))[:most]

    if len(word) >= 3 and (longer := [one for one in rows if one.startswith(word)]):
        return commonest(longer, 5)
    if len(word) < 5:
        return []
    alike = [one for one in rows if one.startswith(word[:3])]
    forms = [word[: len(word) - cut] for cut in range(4) if len(word) - cut >= 4]
    near = [one for one in alike if len(one) >= 4 and any(is_one_edit(form, one) for form in forms)]
    begun = [one for one in alike if word.startswith(one) and len(one) >= 4 and len(one) * 2 > len(word)]
    return commonest(near or sorted(begun, key=len)[-1:], 3)


def misspelt(word: str, chance: random.Random, letters: str) -> str:
    at = chance.randrange(len(word))
    return chance.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + chance.choice(letters) + word[at:],
            word[:at] + chance.choice(letters) + word[at + 1 :],
            word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
            word[:-2] + word[-1] + word[-2] if len(word) > 1 else word,
            word + chance.choice(("s", "ing", "ation", letters[0])),
            word[: max(1, at)],
        ]
    )


def test_what_is_found_is_what_a_look_at_every_word_would_find(vocabulary):
    db, rows = vocabulary
    chance = random.Random(4)
    words = chance.sample(sorted(rows), 350) + [one for one in rows if not one.isascii() or "aaa" in one] * 10
    near = NearWords()
    found = 0
    for word in (misspelt(one, chance, "aeionrst_x2öд") for one in words):
        if word and word not in rows:
            assert near.nearest(db, word) == by_looking_at_all(rows, word), word
            found += bool(near.nearest(db, word))
    assert found > 150


def test_words_that_begin_alike_are_read_once(vocabulary):
    db, _ = vocabulary
    asked = []
    db.set_trace_callback(asked.append)
    near = NearWords()
    near.nearest(db, "conected")
    first = sum("group_concat" in sql for sql in asked)
    near.nearest(db, "conectivity")
    near.nearest(db, "conponent")
    db.set_trace_callback(None)
    assert (first, sum("group_concat" in sql for sql in asked)) == (1, 1)


def test_no_more_words_are_kept_than_is_bearable(vocabulary, monkeypatch):
    db, rows = vocabulary
    monkeypatch.setattr(near_words, "_MOST", 400)
    near = NearWords()
    largest = 0
    for head in sorted({word[:3] for word in rows if len(word) > 5})[:200]:
        word = f"{head}qqqq"
        assert near.nearest(db, word) == by_looking_at_all(rows, word)
        largest = max(largest, sum(map(len, near._of_head.values())))
    assert 200 < largest <= 400


def test_every_generation_finds_its_own_words(as_packed, tmp_path):
    def chunk(number: int, text: str) -> ChunkRow:
        return ChunkRow(f"{number:04}", "a.py", "", "code", "", 1, 2, "", text, f"h{number}")

    before = WordIndex.build(tmp_path, 1, [as_packed([chunk(1, "session cookie")])])
    assert before.search("sesion", 9).replaced == {"sesion": ["session"]}
    delta = GraphDelta.empty()._replace(removed_chunks=["0001"], chunks=[chunk(2, "sesyon cookie")])
    after = before.patched(delta, 2)
    assert after.search("sesion", 9).replaced == {"sesion": ["sesyon"]}
    assert before.search("sesiom", 9).replaced == {}
    assert before.search("sesssion", 9).replaced == {"sesssion": ["session"]}
