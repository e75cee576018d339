"""The memories projection: what was accepted is found by id, by words, by vector, by link and by time, and nothing else is."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from graphmem.embedding.fill import vector_table
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, MemoryRow, RelatesRow, SessionRow
from graphmem.model import stable_id
from graphmem.projection.memories.columns import MemoryFilter
from graphmem.projection.memories.index import MemoryIndex
from graphmem.projection.memories.moments import Moment
from graphmem.projection.memories.sight import seeing
from graphmem.projection.words.postings import Elsewhere
from graphmem.store.base import Knowledge

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = [
    "cache",
    "token",
    "session",
    "parser",
    "retry",
    "timeout",
    "index",
    "thread",
    "query",
    "buffer",
    "schema",
    "migration",
    "socket",
    "encoder",
    "größe",
    "получить",
]
EMBEDDER = HashedEmbedder()


def vectors_of(rows) -> pa.Table:
    texts = {row.text_hash: row.content for row in rows}
    return vector_table(list(texts), EMBEDDER.encode(list(texts.values())))


def asked(text: str):
    return EMBEDDER.encode([text])[0]


class Book:
    """The memories as a store would hold them, changed at random together with an index."""

    def __init__(self, seed: int, memory) -> None:
        self.memory = memory
        self.random = random.Random(seed)
        self.memories: dict[str, MemoryRow] = {}
        self.about: dict[str, list[AboutRow]] = {}
        self.relates: dict[tuple[str, str, str], RelatesRow] = {}
        self.learnt: dict[tuple[str, str], LearntRow] = {}
        self.sessions: dict[str, SessionRow] = {}
        self.made = 0

    def content(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randrange(3, 12))) + f" n{self.made}"

    def step(self) -> tuple[KnowledgeDelta, pa.Table]:
        chance = self.random
        removed = [one for one in sorted(self.memories) if chance.random() < 0.1]
        changed = [
            row._replace(content=self.content(), text_hash=stable_id("t", str(self.made), one), created_at=self.moment())
            if chance.random() < 0.5
            else row._replace(status="superseded", valid_to=self.moment())
            for one, row in sorted(self.memories.items())
            if one not in removed and chance.random() < 0.2
        ]
        fresh = []
        for _ in range(chance.randrange(1, 8)):
            self.made += 1
            fresh.append(self.memory(f"m{self.made}", self.content(), created_at=self.moment(), type=chance.choice(["fact", "gotcha"])))
        for one in removed:
            del self.memories[one]
            self.about.pop(one, None)
        self.relates = {key: row for key, row in self.relates.items() if not {row.src, row.dst}.intersection(removed)}
        self.learnt = {key: row for key, row in self.learnt.items() if row.memory_id not in removed}
        self.memories |= {row.id: row for row in [*changed, *fresh]}
        about = []
        anchored = [row.id for row in fresh] + [row.id for row in changed if chance.random() < 0.5]
        for one in anchored:
            targets = chance.sample([f"file{n}" for n in range(5)], chance.randrange(3))
            self.about[one] = sorted(AboutRow(one, target, "File", "about", 0.9, "", "", "valid") for target in targets)
            about += self.about[one]
        session = SessionRow(f"s{chance.randrange(4)}", "tester", "agent", "", NOON, None, "", "{}", None)
        self.sessions[session.id] = session
        learnt = [LearntRow(row.id, session.id, 0, 1) for row in fresh]
        self.learnt |= {(row.memory_id, row.session_id): row for row in learnt}
        ends = chance.sample(sorted(self.memories), min(2, len(self.memories)))
        relates = [RelatesRow(ends[0], ends[1], "conflicts_with", 1.0, True)] if len(ends) == 2 else []
        self.relates |= {(row.src, row.dst, row.kind): row for row in relates}
        delta = KnowledgeDelta(
            memories=[*changed, *fresh],
            removed_memories=removed,
            anchored=anchored,
            about=about,
            relates=relates,
            sessions=[session],
            learnt=learnt,
        )
        return delta, vectors_of([*changed, *fresh])

    def moment(self) -> datetime:
        return NOON + timedelta(seconds=self.random.randrange(1000))

    def knowledge(self, generation: int) -> Knowledge:
        return Knowledge(
            generation,
            [self.memories[one] for one in sorted(self.memories)],
            [link for one in sorted(self.about) for link in self.about[one]],
            [self.relates[key] for key in sorted(self.relates)],
            [self.sessions[key] for key in sorted(self.sessions)],
            [self.learnt[key] for key in sorted(self.learnt)],
        )


def everything(index: MemoryIndex, book: Book) -> dict:
    ids = sorted(book.memories)
    found = {
        "rows": list(index.all_rows()),
        "live": index.ids(),
        "about": {one: index.about(one) for one in ids},
        "targets": {f"file{n}": index.about_target(f"file{n}") for n in range(5)},
        "relates": {one: index.relates(one) for one in ids},
        "learnt": {one: index.learnt(one) for one in ids},
        "sessions": {f"s{n}": (index.session(f"s{n}"), index.of_session(f"s{n}")) for n in range(4)},
        "fingerprints": {row.fingerprint: index.by_fingerprint(row.fingerprint) for row in book.memories.values()},
        "times": {one: index.timeline(one, 2, 2) for one in ids},
        "moments": {one: index.moments(one, 2) for one in ids},
        "covered": index.covered(),
    }
    for query in ("cache timeout", "größe", "parser retry n3"):
        for only in (MemoryFilter(), MemoryFilter(frozenset({"gotcha"})), MemoryFilter(retired=True)):
            found[query, "words", only] = [(one, round(score, 9)) for one, score in index.words(query, 5, only)]
            found[query, "near", only] = [(one, round(score, 5)) for one, score in index.near(asked(query), 5, only=only)]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_after_any_writes_the_index_equals_one_made_again(seed, memory):
    book = Book(seed, memory)
    index = MemoryIndex()
    index.use_model(EMBEDDER.model_id, vectors_of([]))
    for _ in range(25):
        delta, vectors = book.step()
        index.patch(delta, vectors)
    anew = MemoryIndex.from_knowledge(book.knowledge(25), EMBEDDER.model_id, vectors_of(book.memories.values()))
    assert index.generation == anew.generation == 25
    assert everything(index, book) == everything(anew, book)


def test_near_is_the_exact_answer(memory):
    book = Book(3, memory)
    for _ in range(30):
        book.step()
    index = MemoryIndex.from_knowledge(book.knowledge(30), EMBEDDER.model_id, vectors_of(book.memories.values()))
    query = asked("session parser cache")
    live = {row.id: row for row in book.memories.values() if row.status != "superseded"}
    cosines = {one: float(np.dot(EMBEDDER.encode([row.content])[0], query)) for one, row in live.items()}
    expected = sorted(cosines, key=lambda one: (-round(cosines[one], 6), one))[:10]
    assert [one for one, _ in index.near(query, 10)] == expected
    near = index.near(query, 100, min_cosine=0.2)
    assert {one for one, _ in near} == {one for one, value in cosines.items() if value >= 0.2}


def test_retired_memories_are_found_only_when_asked_for(memory):
    old = memory("old", "the cache is flushed hourly", status="superseded", valid_to=NOON + timedelta(days=1))
    new = memory("new", "the cache is flushed daily", created_at=NOON + timedelta(days=1))
    index = MemoryIndex.from_knowledge(Knowledge(1, [new, old], [], [], [], []), EMBEDDER.model_id, vectors_of([old, new]))
    assert [one for one, _ in index.words("cache flushed", 5)] == ["new"]
    assert [one for one, _ in index.near(asked("cache flushed"), 5)] == ["new"]
    everything = MemoryFilter(retired=True)
    assert {one for one, _ in index.words("cache flushed", 5, everything)} == {"old", "new"}
    then = MemoryFilter(before=NOON + timedelta(hours=1))
    assert [one for one, _ in index.near(asked("cache flushed"), 5, only=then)] == ["old"]


def test_neighbours_in_time_say_how_far_and_whether_they_were_learnt_together(memory):
    rows = [memory(f"m{n}", f"turn {n} of the talk", created_at=NOON + timedelta(seconds=60 * n * n)) for n in range(4)]
    index = MemoryIndex.from_knowledge(Knowledge(1, rows, [], [], [], [LearntRow("m1", "s", 0, 1), LearntRow("m2", "s", 1, 2)]))
    assert index.timeline("m1", 5, 1) == ["m0", "m1", "m2"]
    assert index.moments("m1") == [Moment("m0", 1, 60.0, False, False), Moment("m2", 1, 180.0, True, True)]
    assert index.moments("nobody") == index.timeline("nobody", 1, 1) == []


def test_a_memory_without_a_vector_is_still_found_by_words_and_named_as_missing(memory):
    rows = [memory("a", "retry the socket"), memory("b", "retry the parser")]
    index = MemoryIndex.from_knowledge(Knowledge(1, rows, [], [], [], []), EMBEDDER.model_id, vectors_of(rows[:1]))
    assert [one for one, _ in index.words("retry parser", 5)] == ["b", "a"]
    assert index.missing_vectors() == ["b"]
    assert index.covered() == (1, 2)
    index.add_vectors([rows[1].text_hash], EMBEDDER.encode([rows[1].content]))
    assert index.near(asked("retry the parser"), 1)[0][0] == "b"


def test_words_that_no_query_should_hold_do_no_harm(memory):
    index = MemoryIndex.from_knowledge(Knowledge(1, [memory("a", 'say "OR" NEAR( * \x00 title:x')], [], [], [], []))
    for query in ('"', "OR", "NEAR(", "title:x", "*", "", "\x00", "\ud800"):
        index.words(query, 5)
    assert [one for one, _ in index.words("near title", 5)] == ["a"]


def test_scores_for_a_caller_are_those_of_an_index_without_the_memories_that_the_caller_does_not_see(memory):
    shown = [memory("m1", "The cache retries a token."), memory("m2", "The parser keeps a buffer of the token.")]
    hidden = [memory(f"h{n}", "A token of the payroll of the index, the cache and the schema.", visibility="personal") for n in range(9)]
    whole, part = (MemoryIndex.from_knowledge(Knowledge(1, rows, [], [], [], [])) for rows in (sorted([*shown, *hidden]), shown))
    words, ids, elsewhere = ["token", "payroll", "cache", "unheard"], ["m1", "m2"], Elsewhere({"cache": 3}, 7)

    def answers(index):
        found = index.find(words, None, 10)
        best = index.words("token cache", 10), index.echoes({"m1": 1.0}, ["token"], ids), index.words_beside(words, elsewhere, ids)
        return found._replace(score=None), best, index.terms(words, ids)

    with seeing(frozenset({"project"})):
        assert answers(whole) == answers(part)
        assert answers(whole)[0].unknown == ["payroll", "unheard"]
