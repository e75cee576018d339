"""`verify` finds what differs from what it was made of, `rebuild` mends it, `compact` changes nothing but the size."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.knowledge import KnowledgeDelta


def levels(answer):
    return {one.name: one.level for one in answer.checks}


def test_a_sound_index_is_said_to_be_sound(index):
    index.backup()
    answer = index.verify_index(deep=True)
    assert set(levels(answer).values()) == {"ok"}
    assert levels(answer).keys() >= {"journal", "memories", "graph", "graph projection", "word index", "files", "backup", "fresh index"}


def test_a_memory_that_the_graph_lost_is_found_and_made_again(index):
    index.parts.store.apply_knowledge(KnowledgeDelta(removed_memories=["memory-1"]))
    answer = index.verify_index()
    assert not answer.sound
    assert levels(answer)["memories"] == "bad"
    assert all(one.fix for one in answer.checks if one.level == "bad")
    told = index.rebuild()
    assert (told.memories, told.restored) == (3, 1)
    assert index.verify_index().sound


def test_a_memory_the_journal_does_not_know_is_found(index, memory):
    index.parts.store.apply_knowledge(KnowledgeDelta(memories=[memory("stranger", "nobody wrote this")]))
    assert levels(index.verify_index())["memories"] == "bad"
    assert index.rebuild().removed == 1


def test_a_damaged_line_of_the_journal_is_found(index, tmp_path):
    segment = next((tmp_path / "index" / "memories").glob("*.jsonl"))
    segment.write_bytes(segment.read_bytes().replace(b"number 1", b"number 7"))
    answer = index.verify_index()
    assert levels(answer)["journal"] == "bad"


def test_files_that_changed_are_not_damage(index, repo):
    (repo / "m0.py").write_text("def other():\n    pass\n")
    (repo / "m1.py").unlink()
    answer = index.verify_index()
    assert answer.sound
    assert levels(answer)["files"] == "note"
    assert "1 changed, 0 new, 1 gone" in next(one.said for one in answer.checks if one.name == "files")


def test_a_graph_that_is_not_the_trees_is_found_by_a_deep_look(index):
    index.parts.store.set_meta({"made_by": index.parts.store.meta()["made_by"]})
    row = index.parts.store.rows_of(["m0.py"], []).symbols[0]
    from graphmem.model import GraphDelta

    index.parts.projections.refresh(index.parts.store.apply(GraphDelta.empty()._replace(symbols=[row._replace(complexity=99)])), None)
    assert index.verify_index().sound
    assert levels(index.verify_index(deep=True))["fresh index"] == "bad"


def test_a_compaction_gives_room_back_and_changes_nothing(index, repo):
    graph, memories = list(index.export()), index.memories().total
    for round_ in range(12):
        index.remember(f"one more thing, number {round_}")
        index.parts.book.flush()
        index.parts.store.checkpoint()
    grown = index.parts.store.waste()
    answer = index.compact()
    assert grown > 0
    assert answer.after < answer.before
    assert list(index.export()) == graph
    assert index.memories().total == memories + 12
    assert index.verify_index().sound


def test_a_compaction_does_not_write_the_word_index_again(index):
    index.wait_until_ready()
    words = index.parts.projections.snapshot().words
    found = [hit.id for hit in index.search("ring begins").hits]
    index.compact()
    after = index.parts.projections.snapshot()
    assert after.words.path == words.path
    assert after.words.generation == after.graph.generation == index.parts.store.generation()
    assert [hit.id for hit in index.search("ring begins").hits] == found


def test_a_small_waste_is_left_alone(index):
    assert index.compact_when_wasteful() is None


@pytest.mark.parametrize("what", ["graph.db", "graph.projection", "words", "facts.sqlite", "inputs.sqlite"])
def test_a_flipped_byte_in_any_file_is_mended_at_the_next_open(index, open_index, repo, tmp_path, what):
    graph = list(index.export())
    index.close()
    path = next(path for path in sorted((tmp_path / "index").iterdir()) if path.name.startswith(what) and path.suffix != ".lock")
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 3, len(data), max(1, len(data) // 7)):
        data[at] ^= 0x40
    path.write_bytes(data)
    again = open_index()
    again.wait_until_ready()
    if what == "graph.db":
        assert any("quarantined" in note for note in again.parts.store.notes)
        assert list((tmp_path / "index").glob("graph.db.*.quarantine"))
    again.search("ring begins", kinds=["memory"])
    again.index(repo)
    again.wait_until_ready()
    assert {one.id for one in again.memories().memories} == {"memory-0", "memory-1", "memory-2"}
    assert list(again.export()) == graph
    assert again.verify_index(deep=True).sound


def test_a_database_that_is_gone_is_made_again(index, open_index, repo, tmp_path):
    index.close()
    (tmp_path / "index" / "graph.db").unlink()
    again = open_index()
    assert again.memories().total == 3
    again.index(repo)
    assert again.verify_index(deep=True).sound


def test_a_child_of_a_killed_process_that_still_tries_the_copy_is_not_damage(index, open_index, repo, tmp_path):
    """A process is killed while a child of it has the copy of the database open that is tried after a crash."""
    index.close()
    path = tmp_path / "index" / "graph.db"
    copy = path.with_name("graph.db.probe")
    copy.write_bytes(path.read_bytes())
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import kuzu, sys; d = kuzu.Database({str(copy)!r}); print('open', flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        crash = f"""
import os
from pathlib import Path
from graphmem import GraphMem
from graphmem.settings import Settings
memory = GraphMem.open({str(tmp_path / "index")!r}, settings=Settings(embedder="none", workers=1, max_db_gb=1))
memory.remember("written just before the crash", id="last")
os.kill(os.getpid(), {int(signal.SIGKILL)})
"""
        subprocess.run([sys.executable, "-c", crash], check=False)
        again = open_index()
        assert again.memories().total == 4
        assert not list(path.parent.glob("graph.db.*.quarantine"))
        assert again.parts.store.generation()
    finally:
        holder.communicate(b"")


def test_a_damaged_index_is_mended_for_the_command_line_with_a_sentence(index, repo, tmp_path, here):
    index.close()
    folder = tmp_path / "index"
    os.truncate(folder / "graph.db", 5000)
    ran = here("verify", "--db", folder)
    assert "quarantined" in ran.stdout
    os.truncate(folder / "graph.db", 5000)
    again = here("index", repo, "--db", folder)
    assert again.returncode == 0
    assert "quarantined" in again.stdout
    assert here("verify", "--db", folder, "--deep").returncode == 0
    with GraphMem.open(folder) as memory:
        assert memory.memories().total == 3


def test_the_file_is_kept_before_the_schema_changes(index, open_index, tmp_path, monkeypatch):
    from graphmem.store.file import migrate

    index.close()
    known = migrate.load_migrations()
    number = f"{len(known) + 1:04}"
    more = migrate.Migration(number, "later", "0" * 64, ("CREATE NODE TABLE Later(id STRING PRIMARY KEY)",))
    monkeypatch.setattr(migrate, "load_migrations", lambda: (*known, more))
    newer = open_index()
    assert len(newer.parts.store.knowledge().memories) == 3  # the database opens when it is first needed
    newer.close()
    kept = tmp_path / "index" / f"graph.db.before-{number}"
    assert kept.exists()
    monkeypatch.undo()
    older = tmp_path / "older"
    older.mkdir()
    Path(older / "graph.db").write_bytes(kept.read_bytes())
    (tmp_path / "index" / "memories").rename(older / "memories")
    assert open_index("older").memories().total == 3


def test_deleting_everything_takes_the_sessions_along(index, open_index):
    index.remember("learnt in a session", session="a session of an agent")
    index.parts.book.flush()
    assert index.parts.store.knowledge().sessions
    index.delete_all(index.project().name)
    assert not index.parts.store.knowledge().sessions
    assert not index.parts.store.knowledge().memories
    index.close()
    again = open_index()
    assert not again.parts.store.knowledge().sessions
    assert again.verify_index().sound


def test_an_index_that_released_its_memory_goes_on_as_before(index, repo):
    (repo / "m0.py").write_text("from m1 import f1\n\n\ndef f0(value):\n    return f1(value) * 2\n")
    index.index(repo)
    assert not index.release_memory(unused_s=600), "an index run has just used it"
    assert index.release_memory()
    assert not index.release_memory(), "there is nothing left"
    (repo / "m3.py").write_text("def f3(value):\n    return value\n")
    index.index(repo)
    assert index.verify_index(deep=True).sound
