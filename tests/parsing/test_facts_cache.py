"""Cache of parsed files: nothing is parsed twice.

A damaged cache costs only time.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from graphmem.parsing.discovery import FoundFile, discover
from graphmem.parsing.facts import Definition, FileFacts
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.packing import ParsedFile, pack, unpack_chunks, unpack_facts
from graphmem.parsing.worker import parse_file
from trees import NETWORKX


@pytest.fixture(scope="module")
def real() -> list[tuple[FoundFile, ParsedFile]]:
    return [(file, parse_file(file, "p")) for file in discover(NETWORKX / "classes").files]


def loaded(cache: FactsCache, files: list[FoundFile]) -> list[FileFacts]:
    return [facts for file in files if (facts := cache.get(file)) is not None]


@pytest.fixture
def cache(tmp_path: Path):
    with FactsCache(tmp_path / "facts.sqlite", "p") as opened:
        yield opened


def test_what_is_put_comes_back_equal_also_in_a_new_process_life(tmp_path, real):
    files = [file for file, _ in real]
    with FactsCache(tmp_path / "facts.sqlite", "p") as cache:
        cache.put_many([parsed for _, parsed in real])
    with FactsCache(tmp_path / "facts.sqlite", "p") as cache:
        found = loaded(cache, files)
        assert cache.notes == []
    assert found == [one.facts for _, one in real]
    assert {type(one) for facts in found for one in facts.definitions} == {Definition}


def test_packing_keeps_everything(real):
    for _, parsed in real:
        packed = pack(parsed.facts, parsed.chunks)
        assert unpack_facts(packed.facts) == parsed.facts
        assert unpack_chunks(packed.chunks) == parsed.chunks
        assert [type(one) for one in unpack_facts(packed.facts).references[:1]] == [type(one) for one in parsed.facts.references[:1]]


def test_another_content_language_or_project_is_not_found(tmp_path, cache, real):
    file, parsed = real[0]
    cache.put_many([parsed])
    assert loaded(cache, [file._replace(content_hash="0" * 32)]) == []
    assert loaded(cache, [file._replace(language="text")]) == []
    assert loaded(cache, [file._replace(path="other.py")]) == []
    with FactsCache(tmp_path / "facts.sqlite", "another") as other:
        assert loaded(other, [file]) == []


def test_prune_forgets_what_is_not_kept(cache, real):
    cache.put_many([parsed for _, parsed in real])
    kept = [file for file, _ in real[:2]]
    assert cache.prune({(file.path, file.content_hash) for file in kept}) == len(real) - 2
    assert [one.path for one in loaded(cache, [file for file, _ in real])] == [file.path for file in kept]
    assert cache.prune({(file.path, file.content_hash) for file in kept}) == 0


@pytest.mark.parametrize("damage", ["overwritten", "truncated", "empty", "other format", "folder"])
def test_a_damaged_file_starts_empty_and_works_again(tmp_path, real, damage):
    path = tmp_path / "facts.sqlite"
    files = [file for file, _ in real]
    with FactsCache(path, "p") as cache:
        cache.put_many([parsed for _, parsed in real])
    data = path.read_bytes()
    if damage == "overwritten":
        path.write_bytes(b"nonsense" * 1000)
    elif damage == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other format":
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE format SET value = 'another'")
        connection.close()
    else:
        path.unlink()
        path.mkdir()
    with FactsCache(path, "p") as cache:
        assert len(loaded(cache, files)) < len(files)
        cache.put_many([parsed for _, parsed in real])
        if damage == "folder":
            assert "cannot be used" in cache.notes[0]
        else:
            cache.put_many([parsed for _, parsed in real])
            assert len(loaded(cache, files)) == len(files)


def test_a_damaged_entry_is_left_out_with_a_note(tmp_path, real):
    path = tmp_path / "facts.sqlite"
    with FactsCache(path, "p") as cache:
        cache.put_many([parsed for _, parsed in real])
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE facts SET facts = x'00' WHERE path = ?", (real[0][0].path,))
        connection.close()
        assert len(loaded(cache, [file for file, _ in real])) == len(real) - 1
        assert real[0][0].path in cache.notes[0]


def test_a_place_that_cannot_be_written_costs_only_a_note(tmp_path, real):
    (tmp_path / "file").write_text("")
    with FactsCache(tmp_path / "file" / "facts.sqlite", "p") as cache:
        cache.put_many([real[0][1]])
        assert loaded(cache, [real[0][0]]) == []
        assert cache.prune(set()) == 0
        assert len(cache.notes) == 1


def test_loading_is_much_quicker_than_parsing(cache, real):
    cache.put_many([parsed for _, parsed in real])
    files = [file for file, _ in real]
    started = time.process_time()
    for file in files:
        parse_file(file, "p")
    parsing = time.process_time() - started
    loading = []
    for _ in range(3):  # a busy machine can slow down one of them
        started = time.process_time()
        assert len(loaded(cache, files)) == len(files)
        loading.append(time.process_time() - started)
    assert min(loading) < parsing / 3
