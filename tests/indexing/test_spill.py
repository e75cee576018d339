"""Rows of a first load come back in order, from memory and from the unnamed file."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from graphmem.errors import DiskFullError
from graphmem.indexing.packed import PackedRows
from graphmem.indexing.spill import Spill
from graphmem.model import Diagnostic
from graphmem.parsing.discovery import FoundFile, content_hash
from graphmem.parsing.packing import ParsedFile, pack, unpack_chunks
from graphmem.parsing.worker import parse_file


def rows(count):
    return [Diagnostic(f"a/{number}.py", "note", "code", "x" * 50, number) for number in range(count)]


@pytest.mark.parametrize("memory", [1 << 30, 1_000])
def test_rows_are_read_as_they_were_written(tmp_path, memory):
    spill = Spill(tmp_path, memory)
    one, other = PackedRows(Diagnostic, spill), PackedRows(Diagnostic, spill)
    for row in rows(9_000):  # two kinds take turns in one spill, and a batch has 4,000 rows
        one.append(row)
        other.append(row._replace(message="y"))
    assert list(one) == rows(9_000)
    assert [row.message for row in other] == ["y"] * 9_000
    assert one[8_999].line == other[-1].line == 8_999
    assert list(tmp_path.iterdir()) == []  # the file has no name, so a killed run leaves nothing
    spill.close()


def test_chunks_of_a_parsed_file_move_to_the_spill(tmp_path, found_file):
    parsed = parse_file(found_file, "p")
    packed = ParsedFile(packed=pack(parsed.facts, parsed.chunks))
    with closing(Spill(tmp_path, 0)) as spill:
        packed.spill_chunks(spill.write)
        place, count = packed.spilled_chunks
        assert unpack_chunks(spill.read(place)) == parsed.chunks
    assert count == len(parsed.chunks) > 0
    assert packed.chunks == []
    assert packed.facts == parsed.facts
    packed.forget_facts()
    assert not packed.has_facts
    with pytest.raises(LookupError, match="were used after their release from memory; report this defect"):
        _ = packed.facts


def test_a_disk_that_refuses_is_named(tmp_path, monkeypatch):
    spill = Spill(tmp_path, 0)

    def refuse(data):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(spill._file, "write", refuse)
    with closing(spill), pytest.raises(DiskFullError, match="writing rows of the new graph"):
        spill.write(b"x")


@pytest.fixture
def found_file(tmp_path):
    path = tmp_path / "source" / "one.py"
    path.parent.mkdir()
    path.write_bytes(b"def first(a):\n    return a\n\n\nclass Second:\n    def third(self):\n        return first(self)\n")
    yield FoundFile("one.py", str(path), path.stat().st_size, content_hash(path.read_bytes()), "python")
    path.unlink()
    path.parent.rmdir()
