"""The word index scores as BM25 says, follows edits exactly, and keeps a reader's generation while another is written."""

from __future__ import annotations

import math
import random
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.errors import DeadlineError
from graphmem.model import ChunkRow, GraphDelta
from graphmem.projection.words import readers as word_readers
from graphmem.projection.words import scores as word_scores
from graphmem.projection.words.entries import DamagedWordsError
from graphmem.projection.words.index import WordIndex
from graphmem.projection.words.postings import Stemmer
from graphmem.projection.words.stem_numbers import LINE, unpacked
from graphmem.projection.words.text import normalise, query_words
from graphmem.runtime.files.checksums import Proof, proof

seeds = st.integers(0, 2**32)
QUERIES = ["load", "get_value", "HTTPServer2 run", "größe", "данные cache x", "Read the settings", "parser pkg f1", "def return"]


def build(folder, w):
    return WordIndex.build(folder, w.generation, [w.chunk_table()])


def answers(index, queries=QUERIES, k=1000):
    return {query: [(hit.id, f"{hit.score:.9g}") for hit in index.search(query, k, forgiving=False).hits] for query in queries}


STEM = Stemmer()


def split(text):
    lines = [normalise(line).split() for line in text.split("\n")]
    return [[STEM([word])[word] for word in line] for line in lines]


def stems_by_line(index, entries):
    stem_of = {
        number: stem for stem, number in index.numbers_of({s for e in entries.values() for line in split(e.text) for s in line}).items()
    }
    lines = {key: [[]] for key in entries}
    for key, entry in entries.items():
        for number in unpacked(entry.stems).tolist():
            if number == LINE:
                lines[key].append([])
            else:
                lines[key][-1].append(stem_of[number])
    return lines


def rows(*texts, kind="code", path="a.py"):
    return [ChunkRow(f"{i:04}", path, "", kind, "", 1, 2, "", text, f"h{i}") for i, text in enumerate(texts)]


def of_rows(as_packed, folder, chunks):
    return WordIndex.build(folder, 1, [as_packed(chunks)])


def test_scores_are_bm25_with_weighted_columns(as_packed, tmp_path):
    r = random.Random(5)
    vocabulary = ["alpha", "beta", "gamma", "delta", "zeta", "omega"]
    chunks = [
        ChunkRow(
            f"{i:04}",
            "",
            "",
            "code",
            " ".join(r.choices(vocabulary, k=2)),
            1,
            2,
            "",
            " ".join(r.choices(vocabulary, k=r.randrange(1, 9))),
            "",
        )
        for i in range(40)
    ]
    chunks += [ChunkRow(f"9{i:03}", "", "", "code", "", 1, 2, "", "filler words only", "") for i in range(200)]
    index = of_rows(as_packed, tmp_path, chunks)
    documents = {row.id: (row.title.split(), row.text.split()) for row in chunks}
    average = sum(len(title) + len(text) for title, text in documents.values()) / len(documents)
    asked = ["alpha", "omega"]

    def bm25(title, text):
        score = 0.0
        for word in asked:
            n = sum(word in t or word in x for t, x in documents.values())
            idf = math.log((len(documents) - n + 0.5) / (n + 0.5))
            tf = 5.0 * title.count(word) + 1.0 * text.count(word)
            score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * (len(title) + len(text)) / average))
        return score

    expected = {key: bm25(*parts) for key, parts in documents.items() if set(asked) & {*parts[0], *parts[1]}}
    order = sorted(expected, key=lambda key: (-round(expected[key], 9), key))
    hits = index.search("Alpha omega", 1000).hits
    assert [hit.id for hit in hits] == order
    assert [hit.score for hit in hits] == pytest.approx([expected[key] for key in order])


@pytest.mark.parametrize("kept", [1_000_000, 40])
def test_scores_that_are_kept_for_the_next_query_are_those_of_the_whole_query(as_packed, tmp_path, monkeypatch, kept):
    monkeypatch.setattr(word_scores, "_MOST_KEPT", kept)
    monkeypatch.setattr(word_scores, "_FIRST", 3)
    r = random.Random(8)
    vocabulary = ["alpha", "beta", "gamma", "delta", "zeta"]
    chunks = [
        ChunkRow(
            f"{i:04}", f"{r.choice('ab')}/f.py", "", r.choice(["code", "prose"]), "", 1, 2, "", " ".join(r.choices(vocabulary, k=4)), ""
        )
        for i in range(60)
    ]
    index = of_rows(as_packed, tmp_path, chunks)
    sql = (
        "SELECT e.id, -bm25(words, 5.0, 1.0, 2.0) AS score FROM words JOIN entries e ON e.rowid = words.rowid "
        "JOIN paths p ON p.number = e.path "
        "WHERE words MATCH ? AND e.kind LIKE ? AND p.path LIKE ? ORDER BY score DESC, e.id LIMIT ?"
    )
    for _ in range(200):
        asked = r.sample(vocabulary, r.randrange(1, 5))
        kind, folder, k = r.choice(["", "code"]), r.choice(["", "a"]), r.choice([1, 2, 7, 50])
        hits = index.search(" ".join(asked), k, kinds=[kind] if kind else (), paths=[folder] if folder else ()).hits
        with index._readers.lend() as db:
            used = sorted(asked, key=lambda word: (index._scores.count(db, word), word))
            matched = " OR ".join(f'"{word}"' for word in used)
            assert [tuple(hit) for hit in hits] == db.execute(sql, (matched, kind or "%", f"{folder}%", k)).fetchall()


def test_a_words_scores_are_those_of_fts5_to_the_last_bit_also_after_changes(as_packed, tmp_path):
    r = random.Random(3)
    vocabulary = ["alpha", "running", "größe", "Übung", "getUser", "x_y", "数据", "naïve"]
    texts = [" ".join(r.choices(vocabulary, k=r.randrange(400))) for _ in range(60)]
    chunks = [
        ChunkRow(f"{i:04}", f"alpha/{r.choice('abc')}.py", "", "code", "", 1, 2, f"running {i}", text, "") for i, text in enumerate(texts)
    ]
    index = of_rows(as_packed, tmp_path, chunks)
    for generation in range(2, 6):
        with index._readers.lend() as db:
            rows = index._scores.rows(db)
            sizes = "SELECT count(*), (SELECT count(*) FROM places) FROM entries"
            assert (rows.rows, rows.words) == db.execute(sizes).fetchone()
            for word in query_words(" ".join(vocabulary)):
                found = index._scores._scores(db, word)
                sql = "SELECT rowid, -bm25(words, 5.0, 1.0, 2.0) FROM words WHERE words MATCH ? ORDER BY rowid"
                assert list(zip(*(part.tolist() for part in found), strict=True)) == db.execute(sql, (f'"{word}"',)).fetchall()
        gone = chunks.pop()  # the next row gets the number of the last one
        changed = [chunk._replace(text=f"{chunk.text} alpha {generation}", text_hash=f"{generation}") for chunk in r.sample(chunks, 5)]
        index = index.patched(GraphDelta.empty()._replace(chunks=changed, removed_chunks=[gone.id]), generation)


@settings(max_examples=12)
@given(seed=seeds)
def test_every_row_that_has_a_word_is_found_and_no_other(world, seed, tmp_path_factory):
    w = world(seed, 7)
    index = build(tmp_path_factory.mktemp("words"), w)
    for query in ("load", "cache", "x", "run"):
        with_word = {
            row.id for row in w.chunks.values() if query in f"{normalise(row.title)} {normalise(row.text)} {normalise(row.path)}".split()
        }
        found = index.search(query, 10_000, forgiving=False).hits
        assert {hit.id for hit in found} == with_word
        assert [hit.id for hit in found] == [hit.id for hit in sorted(found, key=lambda hit: (-hit.score, hit.id))]
    assert len(index) == len(w.chunks)
    entries = index.entries([*w.chunks, "unknown"])
    assert {key: entry.text for key, entry in entries.items()} == {key: row.text for key, row in w.chunks.items()}
    assert index.chunk_keys() == sorted((row.id, row.text_hash, row.symbol_id) for row in w.chunks.values())
    assert index.hashes() == sorted({row.text_hash for row in w.chunks.values()})


@settings(max_examples=25)
@given(seed=seeds, edits=st.integers(1, 4))
def test_a_patched_index_answers_as_one_built_from_scratch(world, seed, edits, tmp_path_factory):
    w = world(seed, 7)
    folder = tmp_path_factory.mktemp("words")
    index = build(folder / "patched", w)
    for _ in range(edits):
        answers(index)  # reads the lengths of all rows, so that the patch has to update them
        index = index.patched(w.edit(), w.generation)
    fresh = build(folder / "fresh", w)
    assert answers(index) == answers(fresh)
    assert index.chunk_keys() == fresh.chunk_keys()
    assert index.generation == fresh.generation == w.generation
    patched, built = index.entries(w.chunks), fresh.entries(w.chunks)
    assert {key: entry._replace(stems=b"") for key, entry in patched.items()} == {
        key: entry._replace(stems=b"") for key, entry in built.items()
    }
    assert stems_by_line(index, patched) == stems_by_line(fresh, built) == {key: split(entry.text) for key, entry in built.items()}


def test_a_reader_keeps_its_generation_while_others_are_written(world, tmp_path):
    w = world(11, 9)
    readers = [build(tmp_path, w)]
    expected = [answers(readers[0])]
    for _ in range(5):
        readers.append(readers[-1].patched(w.edit(), w.generation))
        expected.append(answers(readers[-1]))
    assert [answers(reader) for reader in readers] == expected
    assert len({str(one) for one in expected}) > 1


def test_the_write_ahead_log_does_not_grow_with_the_number_of_edits(world, tmp_path):
    w = world(12, 9)
    index = build(tmp_path, w)
    sizes = []
    for _ in range(40):
        index = index.patched(w.edit(), w.generation)
        sizes.append(sum(file.stat().st_size for file in tmp_path.glob("*-wal")))
    assert max(sizes[20:]) <= 2 * max(sizes[:20])


def test_threads_read_while_a_writer_patches(world, tmp_path):
    w = world(13, 9)
    index = build(tmp_path, w)
    expected, wrong, stop = answers(index), [], threading.Event()

    def read():
        while not stop.is_set():
            if answers(index) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    latest = index
    for _ in range(3):
        latest = latest.patched(w.edit(), w.generation)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_close_waits_for_the_query_that_runs_and_refuses_later_ones(world, tmp_path):
    words = build(tmp_path, world(13, 9))
    lent, found, failed = threading.Event(), [], []

    def slow():
        try:
            with words._readers.lend() as db:
                lent.set()
                time.sleep(0.3)
                found.append(db.execute("SELECT count(*) FROM words").fetchone()[0])
        except sqlite3.Error as error:
            failed.append(error)

    reader = threading.Thread(target=slow)
    reader.start()
    assert lent.wait(30)
    words.close()
    reader.join(30)
    assert (len(found), failed) == (1, [])
    with pytest.raises(sqlite3.ProgrammingError, match="closed"), words._readers.lend():
        pass


def test_a_copy_has_the_rows_of_its_reader_or_is_refused_and_leaves_no_file(world, tmp_path):
    w = world(13, 9)
    words = build(tmp_path, w)
    folder = tmp_path / "copies"
    folder.mkdir()
    copy = words.copied(folder)
    assert (answers(copy), copy.generation) == (answers(words), words.generation)
    copy.close()
    copy.delete_files()
    words.patched(w.edit(), w.generation)
    with pytest.raises(DamagedWordsError, match="does not belong to the current state"):
        words.copied(folder)
    assert list(folder.iterdir()) == []


def test_an_index_that_is_closed_during_a_copy_is_sealed_after_it(world, tmp_path):
    words = build(tmp_path, world(13, 9))
    with words._readers.separate() as db:
        words.close()
        assert db.execute("SELECT count(*) FROM entries").fetchone()[0]
    assert proof(words.path) is Proof.SOUND


def test_a_saved_index_is_opened_for_its_generation_only(world, tmp_path):
    w = world(14, 8)
    assert WordIndex.open(tmp_path, w.generation) is None
    first = build(tmp_path, w)
    expected = answers(first)
    first.close()
    assert WordIndex.open(tmp_path, w.generation + 1) is None
    opened = WordIndex.open(tmp_path, w.generation)
    assert answers(opened) == expected
    assert opened.generation == w.generation


def test_a_cut_or_overwritten_file_is_not_opened(world, tmp_path):
    w = world(15, 9)
    index = build(tmp_path, w)
    index.close()
    whole = index.path.read_bytes()
    flipped = [whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :] for at in range(0, len(whole), len(whole) // 200)]
    for damaged in (*flipped, b"", whole[:100], whole[: len(whole) // 2], b"\0" * len(whole), whole[:100] + b"\xff" * 4000 + whole[4100:]):
        index.path.write_bytes(damaged)
        notes: list[str] = []
        assert WordIndex.open(tmp_path, w.generation, notes) is None
        assert [note.partition(":")[0] for note in notes] == [f"{index.path.name} was damaged and was rebuilt from the database"]


def test_a_file_that_the_system_does_not_open_is_not_called_damaged(world, tmp_path):
    w = world(15, 9)
    index = build(tmp_path, w)
    index.close()
    for side in ("-wal", "-shm"):
        Path(f"{index.path}{side}").unlink(missing_ok=True)
        Path(f"{index.path}{side}").mkdir()
    notes: list[str] = []
    assert WordIndex.open(tmp_path, w.generation, notes) is None
    assert [note.partition(":")[0] for note in notes] == [f"{index.path.name} could not be read and was rebuilt from the database"]


def test_damage_met_while_asking_is_named(world, tmp_path):
    w = world(16, 9)
    index = build(tmp_path, w)
    size = index.path.stat().st_size
    with index.path.open("rb+") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    with pytest.raises(DamagedWordsError):
        answers(index)


def test_a_build_that_fails_leaves_nothing_behind(world, tmp_path):
    w = world(17, 9)
    build(tmp_path, w)

    def refuse(rows):
        raise OSError("no space left on device")

    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match="no space"):
        WordIndex.build(tmp_path, 5, [w.chunk_table()], progress=refuse)
    assert sorted(tmp_path.iterdir()) == before


def test_files_and_directories_narrow_the_answer(as_packed, tmp_path):
    paths = ["a/b.py", "a/b.pyi", "a/b/c.py", "a/bc.py", "a/b/d/e.py", "ab/b.py"]
    chunks = [ChunkRow(f"{i}", path, "", "prose" if i % 2 else "code", "", 1, 1, "", "needle", f"h{i}") for i, path in enumerate(paths)]
    index = of_rows(as_packed, tmp_path, chunks)

    def found(**filters):
        return sorted(paths[int(hit.id)] for hit in index.search("needle", 10, **filters).hits)

    assert found() == sorted(paths)
    assert found(paths=["a/b"]) == ["a/b/c.py", "a/b/d/e.py"]
    assert found(paths=["a/b/", "ab/b.py"]) == ["a/b/c.py", "a/b/d/e.py", "ab/b.py"]
    assert found(paths=["a"], kinds=["prose"]) == ["a/b.pyi", "a/bc.py"]
    assert found(paths=["nowhere"]) == []
    assert index.hashes(paths=["a/b"]) == ["h2", "h4"]
    assert index.chunks_of_hashes(["h0", "h2", "h9"], paths=["a/b"]) == {"h2": ["2"]}


def test_stop_words_count_only_when_there_is_nothing_else(as_packed, tmp_path):
    index = of_rows(as_packed, tmp_path, rows("how to be", "save it", "to be or not"))
    assert [hit.id for hit in index.search("how to save", 9).hits] == ["0001"]
    assert {hit.id for hit in index.search("to be", 9).hits} == {"0000", "0002"}


def test_words_are_found_in_their_other_forms(as_packed, tmp_path):
    index = of_rows(as_packed, tmp_path, rows("parsing tokens", "the token parser", "unrelated"))
    assert {hit.id for hit in index.search("parse token", 9, forgiving=False).hits} == {"0000", "0001"}


def test_a_misspelt_or_shortened_word_finds_the_nearest_and_says_so(as_packed, tmp_path):
    index = of_rows(as_packed, tmp_path, rows("session cookie", "middleware chain", "authenticate user"))
    answer = index.search("sesion", 9)
    assert ([hit.id for hit in answer.hits], answer.replaced) == (["0000"], {"sesion": ["session"]})
    assert [hit.id for hit in index.search("authen", 9).hits] == ["0002"]
    assert [hit.id for hit in index.search("midldeware", 9).hits] == ["0001"]
    assert index.search("sesion", 9, forgiving=False).hits == []
    assert index.search("zzzzzz", 9)[:3] == ([], [], {})


def test_words_in_too_many_rows_are_left_out_beside_rarer_ones_and_named(as_packed, tmp_path, monkeypatch):
    monkeypatch.setattr(word_scores, "_POSTINGS", 50)
    index = of_rows(as_packed, tmp_path, rows(*(["common often rare"] + ["common often"] * 29 + ["common"] * 60)))
    answer = index.search("common often rare", 1000)
    assert answer.left_out == ["common"]
    assert len(answer.hits) == 30
    assert answer.hits[0].id == "0000"
    alone = index.search("common", 1000)
    assert (len(alone.hits), alone.left_out) == (90, [])


def test_a_search_stops_at_its_deadline(as_packed, tmp_path, monkeypatch):
    monkeypatch.setattr(word_readers, "_STEPS", 50)
    index = of_rows(as_packed, tmp_path, rows(*["common often"] * 3000))
    with pytest.raises(DeadlineError):
        index.search("common often", 10, deadline=time.monotonic() - 1)
    assert len(index.search("common often", 10, deadline=time.monotonic() + 60).hits) == 10


def test_what_a_person_types_never_fails(as_packed, tmp_path):
    index = of_rows(as_packed, tmp_path, rows('say "hello" AND NOT bye*', "x" * 70))
    for query in (
        '"',
        "AND",
        "NOT hello",
        "hel*",
        "a:b",
        "-",
        "()",
        "^x",
        "\x00",
        "💥",
        "hello OR",
        "x" * 70,
        "NEAR(a b)",
        "{text}: a",
        "²",
    ):
        index.search(query, 5)
    assert [hit.id for hit in index.search('"hello"', 5).hits] == ["0000"]


def test_a_row_that_changes_twice_in_a_delta_counts_once(as_packed, tmp_path):
    chunks = rows("one", "two")
    index = of_rows(as_packed, tmp_path, chunks)
    delta = GraphDelta.empty()
    delta.chunks.extend([chunks[0]._replace(text="three"), chunks[0]._replace(text="four")])
    delta.removed_chunks.extend(["0001", "never there"])
    index = index.patched(delta, 2)
    assert Counter(hit.id for word in ("one", "two", "three", "four") for hit in index.search(word, 9, forgiving=False).hits) == {"0000": 1}
    assert [hit.id for hit in index.search("four", 9).hits] == ["0000"]
