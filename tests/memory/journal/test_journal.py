"""The journal is the truth: whole, readable, and able to say what is wrong with it."""

from __future__ import annotations

import errno
import gzip
import json
import os

import pytest

from graphmem.errors import DiskFullError
from graphmem.memory.journal import journal as module
from graphmem.memory.journal import journal_lines
from graphmem.memory.journal.journal import Journal
from graphmem.memory.journal.journal_lines import hash_of


def fill(journal, count, batch=1):
    for i in range(count):
        journal.append([{"at": "2026-01-01T00:00:00+00:00", "op": "add", "memory": f"m{i}-{j}", "note": "é 🦉"} for j in range(batch)])


def told(journal):
    return [entry.body["memory"] for entry in journal.entries()]


def test_entries_are_readable_lines_that_name_the_one_before(tmp_path):
    journal = Journal(tmp_path / "j")
    fill(journal, 3)
    lines = [json.loads(line) for line in next((tmp_path / "j").iterdir()).read_text(encoding="utf-8").splitlines()]
    assert [line["n"] for line in lines] == [1, 2, 3]
    assert [line["prev"] for line in lines[1:]] == [line["sum"] for line in lines[:2]]
    assert lines[0]["note"] == "é 🦉"


def test_it_goes_on_where_it_stopped_over_segments_and_compression(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SEGMENT_ENTRIES", 10)
    for part in range(4):
        journal = Journal(tmp_path / "j")
        assert journal.notes == []
        assert journal.head.number == part * 30
        fill(journal, 10, batch=3)
        journal.close()
    journal = Journal(tmp_path / "j")
    names = sorted(path.name for path in (tmp_path / "j").iterdir())
    assert sum(name.endswith(".jsonl") for name in names) == module.OPEN_SEGMENTS
    assert any(name.endswith(".gz") for name in names)
    assert len(told(journal)) == 120
    assert [entry.number for entry in journal.entries(after=100)] == list(range(101, 121))
    assert journal.verify() == []
    newest, total = journal.newest(1, 2)
    assert ([entry.number for entry in newest], total) == ([119, 118], 120)


@pytest.mark.parametrize("cut", [1, 5, 40, 200])
def test_a_torn_end_is_quarantined_with_a_sentence_and_the_rest_counts(tmp_path, cut):
    journal = Journal(tmp_path / "j")
    fill(journal, 5)
    journal.append([{"at": "x", "op": "add", "memory": f"last{i}"} for i in range(3)])
    journal.close()
    path = next((tmp_path / "j").iterdir())
    data = path.read_bytes()
    path.write_bytes(data[:-cut])
    again = Journal(tmp_path / "j")
    assert told(again) == [f"m{i}-0" for i in range(5)], "a write that was not finished does not count at all"
    assert len(again.notes) == 1
    assert "in the middle of a write" in again.notes[0]
    assert not again.damaged
    fill(again, 1)
    assert again.verify() == []
    again.close()
    assert Journal(tmp_path / "j").notes == []


def test_every_flipped_byte_is_found_and_costs_its_entry_alone(tmp_path):
    journal = Journal(tmp_path / "j")
    fill(journal, 6)
    journal.close()
    path = next((tmp_path / "j").iterdir())
    data = path.read_bytes()
    lines = data.splitlines(keepends=True)
    start = len(lines[0]) + len(lines[1])
    for at in range(start, start + len(lines[2]) - 1, 7):
        broken = bytearray(data)
        broken[at] ^= 0x20
        for leftover in (tmp_path / "j").iterdir():
            leftover.unlink()
        path.write_bytes(broken)
        again = Journal(tmp_path / "j")
        assert again.damaged, at
        assert told(again) == ["m0-0", "m1-0", "m3-0", "m4-0", "m5-0"]
        assert "did not match" in again.notes[0]
        aside = (tmp_path / "j" / f"quarantine-{path.name}").read_bytes()
        assert bytes(broken[start : start + len(lines[2])]) in aside
        again.close()


def test_new_entries_are_read_without_the_earlier_ones(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    fill(journal, 60, batch=3)
    every = list(journal.entries())
    assert [entry.number for entry in every] == [*range(1, 181)]
    checked = []
    monkeypatch.setattr(journal_lines, "hash_of", lambda start: checked.append(start) or hash_of(start))
    for after in (0, 1, 2, 90, 178, 179, 180, 500):
        checked.clear()
        assert list(journal.entries(after=after)) == every[after:]
        assert len(checked) == (180 - after + (after > 0) if after <= 180 else 180), after


def test_an_entry_that_was_taken_out_or_changed_with_its_hash_is_told(tmp_path):
    journal = Journal(tmp_path / "j")
    fill(journal, 4)
    journal.close()
    path = next((tmp_path / "j").iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    assert any("missing" in note for note in Journal(tmp_path / "j").verify())
    start = lines[1].replace(b"m1-0", b"evil").split(b',"sum":')[0]
    forged = start + b',"sum":"' + hash_of(start).encode() + b'"}\n'
    path.write_bytes(b"".join([lines[0], forged, *lines[2:]]))
    assert any("replaced" in note for note in Journal(tmp_path / "j").verify())


def test_every_byte_of_a_compressed_segment_is_proven(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SEGMENT_ENTRIES", 2)
    journal = Journal(tmp_path / "j")
    fill(journal, 20)
    packed = next(path for path in sorted((tmp_path / "j").iterdir()) if path.suffix == ".gz")
    whole = packed.read_bytes()
    for at in range(len(whole)):
        packed.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        assert any(packed.name in one for one in journal.verify()), at
    packed.write_bytes(whole[:-12])
    assert any(packed.name in one for one in journal.verify())
    journal.mend()
    assert (tmp_path / "j" / f"quarantine-{packed.name}").read_bytes() == whole[:-12]
    assert journal.damaged
    assert not any("hash" in one for one in journal.verify())


def test_a_crash_while_compressing_leaves_every_entry_once(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SEGMENT_ENTRIES", 2)
    journal = Journal(tmp_path / "j")
    fill(journal, 6)
    journal.close()
    first = sorted((tmp_path / "j").iterdir())[0]
    (tmp_path / "j" / (first.name + ".gz")).write_bytes(gzip.compress(first.read_bytes()))
    (tmp_path / "j" / (first.name + ".tmp")).write_bytes(b"half")
    again = Journal(tmp_path / "j")
    assert len(told(again)) == 6
    assert again.verify() == []


def test_a_full_disk_refuses_the_write_and_leaves_what_was_there(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "j")
    fill(journal, 2)
    real = os.write

    def full(file, data):
        real(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "write", full)
        with pytest.raises(DiskFullError):
            fill(journal, 1)
    fill(journal, 1)
    assert len(told(journal)) == 3
    assert journal.verify() == []


def test_the_past_can_lose_words_and_says_that_it_did(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SEGMENT_ENTRIES", 4)
    journal = Journal(tmp_path / "j")
    fill(journal, 10)
    before = journal.head
    changed = journal.rewrite(
        lambda line: line if line["memory"] != "m3-0" else {**line, "note": "gone"}, {"at": "x", "op": "rewrite", "note": "why"}
    )
    assert changed == 1
    assert journal.verify() == []
    entries = list(journal.entries())
    assert entries[3].body["note"] == "gone"
    assert before.sum in entries[-1].body["note"]


def test_a_swap_that_was_interrupted_is_finished(tmp_path):
    journal = Journal(tmp_path / "j")
    fill(journal, 3)
    journal.close()
    (tmp_path / "j").rename(tmp_path / "j.old")
    assert told(Journal(tmp_path / "j")) == ["m0-0", "m1-0", "m2-0"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j"]


# ---- with the graph


def write_some(gm):
    gm.remember("The cart is emptied after payment.", "gotcha", files=["shop/cart.py"], session="s1", id="a")
    gm.remember_many([{"id": f"n{i}", "content": f"Note {i} about subject {i}."} for i in range(5)])
    gm.pin("a")
    gm.update_memory("n1", content="Note one was rewritten entirely.", tags=["new"])
    gm.forget("n2")
    gm.dispute("n3")


def everything(gm):
    """Every memory in every respect but for when it was looked at."""
    query = {"statuses": ["candidate", "confirmed", "pinned", "superseded", "deprecated"]}
    return sorted(gm.memories(query, limit=100).memories, key=lambda one: one.id)


def test_the_journal_alone_makes_every_memory_again(gm, opened, tmp_path):
    write_some(gm)
    before = everything(gm)
    gm.close()
    for path in (tmp_path / "index").iterdir():
        if path.is_file():
            path.unlink()
    again = opened()
    assert "replayed" in again.parts.book.notes[0]
    assert everything(again) == before
    assert again.rebuild_memories().restored == 0


def test_writes_the_graph_missed_are_replayed_when_it_is_opened(gm, opened, monkeypatch):
    gm.remember("The first of all notes.", id="first")
    gm.parts.book.flush()
    monkeypatch.setattr(gm.parts.book.store, "apply_knowledge", lambda *_: (_ for _ in ()).throw(DiskFullError("full", path="x")))
    gm.remember("The second note, about something else.", id="second", files=["a.py"])
    assert gm.memory("second").files == ["a.py"], "it is kept, and visible"
    gm.close()
    monkeypatch.undo()
    again = opened()
    assert again.memory("second").files == ["a.py"]
    assert any("replayed" in note for note in again.parts.book.notes)


def test_a_damaged_entry_is_said_again_from_the_graph(gm, opened, tmp_path):
    write_some(gm)
    before = everything(gm)
    gm.close()
    path = next(path for path in (tmp_path / "index" / "memories").iterdir())
    lines = path.read_bytes().splitlines(keepends=True)
    lines[0] = lines[0].replace(b"emptied", b"EMPTIED")
    path.write_bytes(b"".join(lines))
    again = opened()
    assert any("did not match" in note for note in again.parts.book.notes)
    assert everything(again) == before
    assert again.rebuild_memories().restored == 0
    assert everything(again) == before


def test_a_lost_journal_is_written_again_from_the_graph(gm, opened, tmp_path):
    write_some(gm)
    before = everything(gm)
    gm.close()
    for path in (tmp_path / "index" / "memories").iterdir():
        path.unlink()
    again = opened()
    assert everything(again) == before
    assert again.rebuild_memories().restored == 0
    assert everything(again) == before


def test_the_audit_says_who_did_what(gm):
    kept = gm.remember("The cart is emptied after payment.", actor="ann").memory
    gm.pin(kept.id, actor="ben")
    page = gm.audit()
    assert [(one.actor, one.action, one.memory_id) for one in page.entries] == [("ben", "pin", kept.id), ("ann", "add", kept.id)]
    assert page.entries[1].after == gm.parts.book.index().row(kept.id).fingerprint
    assert page.sound
    assert page.total == 2


def test_an_alias_survives_a_replay_of_later_entries(gm, opened, monkeypatch):
    gm.set_alias("auth", ["login"])
    gm.parts.book.flush()
    with monkeypatch.context() as patch:
        patch.setattr(gm.parts.book.store, "apply_knowledge", lambda *_: (_ for _ in ()).throw(DiskFullError("full", path="x")))
        gm.remember("A note that the graph misses.", id="missed")
        gm.close()
    again = opened()
    assert again.memory("missed").content == "A note that the graph misses."
    assert [one.term for one in again.aliases()] == ["auth"]


def test_what_the_graph_missed_is_there_with_the_next_write(gm, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(gm.parts.book.store, "apply_knowledge", lambda *_: (_ for _ in ()).throw(DiskFullError("full", path="x")))
        gm.remember("A note that the graph misses.", id="missed")
        gm.parts.book.flush()
    gm.remember("Another note, later on.", id="later")
    gm.parts.book.flush()
    assert {row.id for row in gm.parts.book.store.knowledge().memories} == {"missed", "later"}
    assert {one.id for one in gm.memories().memories} == {"missed", "later"}
