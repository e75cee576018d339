"""Code and memories in one answer: each counts as much as it has of the query, however few memories there are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import starlette

from graphmem import GraphMem
from graphmem.embedding.fill import vector_table
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.knowledge import AboutRow
from graphmem.projection.memories.index import MemoryIndex
from graphmem.projection.vectors import VectorIndex
from graphmem.projection.words.postings import Elsewhere
from graphmem.search.pipeline import Aids, Judge, Request, search
from graphmem.settings import Settings
from graphmem.store.base import Knowledge

NOW = datetime(2026, 3, 2, tzinfo=UTC)
EMBEDDER = HashedEmbedder()

# A question, the code that answers it, and a memory about something else that shares one word with it.
ELSEWHERE = {
    "how is the session cookie signed and read": (
        "SessionMiddleware",
        "The planning call on Thursday is recorded; the session is on the wiki.",
    ),
    "how does a file response handle a range request": (
        "FileResponse",
        "Invoices go out monthly, with a request for payment within 14 days.",
    ),
    "how is a path compiled into a regular expression": ("compile_path", "Ask Maria about the path of the old billing exports."),
    "read environment variables from a config file": ("Config", "Squash the commits of a branch before the file is merged."),
    "parse the body of a request as json": ("Request.json", "Every request for leave needs the approval of two people."),
}
# A question, the code that answers it, and a memory that belongs to that code.
BELONGS = {
    "how is the session cookie signed and read": ("SessionMiddleware", "The session cookie is signed and not encrypted: no secrets in it."),
    "serve static files from a directory": (
        "StaticFiles",
        "Static files are served without html mode, or the listing of a directory leaks.",
    ),
    "compress responses with gzip": (
        "GZip",
        "Responses with server sent events are not compressed with gzip, because proxies buffer them.",
    ),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Snapshot of starlette's installed source, and the state of its index."""
    with GraphMem.open(tmp_path_factory.mktemp("index"), settings=Settings(embedder="none")) as indexed:
        indexed.index(Path(starlette.__file__).parent)
        indexed.wait_until_ready()
        yield indexed.parts.projections.snapshot(), indexed.state()


@pytest.fixture(scope="module")
def filled(served):
    """The same snapshot with vectors of all code."""
    shot, _ = served
    vectors = VectorIndex(EMBEDDER.model_id, EMBEDDER.dim)
    chunks = {key: text_hash for key, text_hash, _ in shot.words.chunk_keys()}
    entries = shot.words.entries(chunks)
    vectors.add(
        [entries[key].text_hash for key in chunks], EMBEDDER.encode([f"{entries[key].title} {entries[key].text}" for key in chunks])
    )
    return shot._replace(vectors=vectors, vectors_note="", covered=(len(chunks), len(chunks)))


@pytest.fixture
def ask(served, memory):
    """Searches code beside memories with these texts; m0 is the first of them."""
    without, state = served

    def asks(query, *texts, embedder=None, shot=without, **options):
        rows = [memory(f"m{n}", text, created_at=NOW - timedelta(hours=5 * n + 1)) for n, text in enumerate(texts)]
        vectors = vector_table([row.text_hash for row in rows], EMBEDDER.encode([row.content for row in rows]))
        known = Knowledge(1, rows, [], [], [], [])
        index = MemoryIndex.from_knowledge(known, EMBEDDER.model_id, vectors) if embedder else MemoryIndex.from_knowledge(known)
        aids = Aids("p", Judge(now=lambda: NOW))
        return search(shot._replace(memories=index, memories_note=""), embedder, Request(query, **options), state, None, aids)

    return asks


def place(answer, name: str) -> int:
    """Of the first hit on a memory with this id or on code with this name; beyond the last when there is none."""
    return next((n for n, hit in enumerate(answer.hits) if name in (hit.id if hit.kind == "memory" else hit.qualname)), len(answer.hits))


@pytest.mark.parametrize("question", ELSEWHERE)
def test_a_memory_about_something_else_does_not_come_before_the_right_code(ask, question):
    code, text = ELSEWHERE[question]
    others = [other for _, other in ELSEWHERE.values() if other != text]
    for texts in ([text], [text, others[0]], [*others[1:], text]):
        answer = ask(question, *texts)
        first = min(place(answer, f"m{n}") for n in range(len(texts)))
        assert place(answer, code) < first


def test_while_code_has_no_vectors_the_nearest_of_some_far_memories_is_not_near(ask):
    texts = [text for _, text in ELSEWHERE.values()]
    for question, (code, _) in ELSEWHERE.items():
        answer = ask(question, *texts, embedder=EMBEDDER)
        assert place(answer, code) < min(place(answer, f"m{n}") for n in range(len(texts)))


@pytest.mark.parametrize("question", BELONGS)
def test_a_memory_that_belongs_to_the_code_comes_with_it(ask, question):
    code, text = BELONGS[question]
    for texts in ([text], [text, *(other for _, other in ELSEWHERE.values())]):
        answer = ask(question, *texts)
        assert place(answer, "m0") < 3
        assert place(answer, code) < 3


def test_beside_code_words_count_as_the_share_of_the_query_a_memory_has(ask):
    question = "session cookie signed"

    def words(text: str) -> float:
        answer = ask(question, text, k=50)
        return next(part.normalised for part in answer.hits[place(answer, "m0")].parts if part.path == "words")

    shares = [words("the session is long"), words("the session has a cookie"), words("the cookie of a session is signed")]
    assert 0 < shares[0] < shares[1] < shares[2] == 1


def test_with_vectors_of_both_the_right_code_comes_first_and_what_belongs_to_it_is_with_it(ask, filled):
    others = [text for _, text in ELSEWHERE.values()]
    for question, (code, text) in BELONGS.items():
        answer = ask(question, text, *others, embedder=EMBEDDER, shot=filled)
        assert place(answer, code) < 3
        assert place(answer, "m0") < 6
        assert answer.missing == {}
    for question, (code, _) in ELSEWHERE.items():
        answer = ask(question, *others, embedder=EMBEDDER, shot=filled)
        assert place(answer, code) < min(place(answer, f"m{n}") for n in range(len(others)))


def test_beside_memories_parts_of_code_still_add_up_and_its_order_is_the_same(ask, filled):
    text = "the weather was fine on Sunday"  # a memory nearer than any code would be what counts as a full cosine
    for question in (*BELONGS, *ELSEWHERE):
        beside = [hit for hit in ask(question, text, embedder=EMBEDDER, shot=filled, k=20).hits if hit.kind != "memory"]
        alone = ask(question, embedder=EMBEDDER, shot=filled, k=20).hits
        assert [hit.id for hit in beside] == [hit.id for hit in alone][: len(beside)]
        factors = {round(one.score / other.score, 9) for one, other in zip(beside, alone, strict=False)}
        assert len(factors) == 1
        assert max(factors) < 1
        for hit in beside:
            assert sum(part.weight * part.normalised for part in hit.parts) + hit.boost == pytest.approx(hit.score)


def test_among_themselves_memories_count_by_the_best_and_by_their_own_words_alone(ask, memory):
    texts = [text for _, text in (*ELSEWHERE.values(), *BELONGS.values())]
    for question in (*ELSEWHERE, *BELONGS):
        answer = ask(question, *texts, kinds=frozenset({"memory"}))
        assert max(part.normalised for hit in answer.hits for part in hit.parts if part.path == "words") == 1
        index = MemoryIndex.from_knowledge(Knowledge(1, [memory(f"m{n}", text) for n, text in enumerate(texts)], [], [], [], []))
        best = index.words(question, len(texts))
        assert dict(best) == {hit.id: part.raw for hit in answer.hits for part in hit.parts if part.path == "words"}


def test_a_word_that_is_common_in_code_says_little_and_one_that_nothing_has_says_nothing(memory):
    rows = [memory("a", "the request is slow"), memory("b", "the pottery is slow")]
    index = MemoryIndex.from_knowledge(Knowledge(1, rows, [], [], [], []))
    code = Elsewhere({"request": 500}, 1000)
    scores, full = index.words_beside(["request", "pottery"], code, ["a", "b"])
    assert scores["a"] < scores["b"] < full
    assert index.words_beside(["request", "pottery", "zyzzyva"], code, ["a", "b"]) == (scores, full)
    assert index.words_beside(["zyzzyva"], code, ["a", "b"])[0] == {}


def test_code_without_vectors_is_said_where_memories_have_some(ask):
    answer = ask("how is the session cookie signed", "The session cookie is signed and not encrypted.", embedder=EMBEDDER)
    assert "dense" in answer.missing
    assert any(hit.kind == "memory" for hit in answer.hits)
    assert any(hit.kind == "symbol" for hit in answer.hits)


LESSON = "Fix the session cookie being signed twice. Otherwise the reader of the session cookie rejects how it is signed."
QUESTION = "how is the session cookie signed and read"


@pytest.fixture
def beside(served, memory):
    """Searches code beside lessons of commits, each with the files it is about; c0 is the first lesson."""
    without, state = served

    def asks(query, *lessons, embedder=None, shot=without, status="candidate", **options):
        rows = [
            memory(f"c{n}", text, source="commit_auto", status=status, created_at=NOW - timedelta(hours=n + 1))
            for n, (text, _) in enumerate(lessons)
        ]
        about = [
            AboutRow(row.id, shot.graph.ids[shot.graph.file_node(path)], "File", "about", 1.0, "", "", "valid")
            for row, (_, paths) in zip(rows, lessons, strict=True)
            for path in paths
        ]
        vectors = vector_table([row.text_hash for row in rows], EMBEDDER.encode([row.content for row in rows]))
        index = MemoryIndex.from_knowledge(Knowledge(1, rows, about, [], [], []), EMBEDDER.model_id, vectors)
        aids = Aids("p", Judge(now=lambda: NOW))
        return search(shot._replace(memories=index, memories_note=""), embedder, Request(query, **options), state, None, aids)

    return asks


def test_a_lesson_about_another_file_ranks_below_all_code(beside, filled):
    answer = beside(QUESTION, (LESSON, ["staticfiles.py"]), embedder=EMBEDDER, shot=filled, k=60, within=())
    kinds = [hit.kind for hit in answer.hits]
    assert "memory" not in kinds[:-1]
    lesson = next((hit for hit in answer.hits if hit.kind == "memory"), None)
    assert lesson is None or "history" in {factor.name for factor in lesson.factors}


def test_a_lesson_about_the_file_of_a_hit_keeps_its_rank(beside, filled):
    answer = beside(QUESTION, (LESSON, ["middleware/sessions.py"]), embedder=EMBEDDER, shot=filled)
    assert place(answer, "c0") < 5


def test_a_lesson_that_somebody_confirmed_is_knowledge(beside, filled):
    answer = beside(QUESTION, (LESSON, ["staticfiles.py"]), embedder=EMBEDDER, shot=filled, status="confirmed")
    assert place(answer, "c0") < 5


def test_while_vectors_are_made_lessons_are_left_out_and_the_answer_says_so(beside):
    answer = beside(QUESTION, (LESSON, ["middleware/sessions.py"]), embedder=EMBEDDER)
    assert all(hit.kind != "memory" for hit in answer.hits)
    assert any("lessons of commits are left out" in note for note in answer.notes)
    alone = beside(QUESTION, (LESSON, ["middleware/sessions.py"]), embedder=EMBEDDER, kinds=frozenset({"memory"}))
    assert [hit.id for hit in alone.hits] == ["c0"]


def test_many_memories_leave_half_of_the_places_to_code(ask, filled):
    texts = [f"The session cookie is signed and read in step {n} of the plan." for n in range(12)]
    answer = ask(QUESTION, *texts, embedder=EMBEDDER, shot=filled)
    assert sum(hit.kind != "memory" for hit in answer.hits) >= 5
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)


def test_a_question_about_a_decision_has_room_for_memories(ask, filled):
    texts = ["We chose signing over encryption.", "Nobody may change that.", "The wiki has more."]
    answer = ask("what did we decide about the signed session cookie middleware", *texts, embedder=EMBEDDER, shot=filled, k=8)
    assert sum(hit.kind == "memory" for hit in answer.hits) >= 2


def test_the_language_of_the_project_counts_as_no_word_of_a_question(served, ask):
    assert served[0].graph.main_language == "python"
    plain, named = (ask(f"session cookie signed{tail}").hits for tail in ("", " in python"))
    assert [(hit.id, hit.score) for hit in named] == [(hit.id, hit.score) for hit in plain]


def test_a_question_that_names_the_language_counts_meaning_more(ask, filled):
    def weight(query: str) -> float:
        hits = ask(query, embedder=EMBEDDER, shot=filled).hits
        return next(part.weight for hit in hits for part in hit.parts if part.path == "dense")

    described, asked, outside = map(weight, ("fix the signed session cookie", "how is the cookie signed", "how to sign a cookie in python"))
    assert described < asked < outside
