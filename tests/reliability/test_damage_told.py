"""After damage every command says the same: what happened, what to do next, and all is well only when it is."""

from __future__ import annotations

import json

import pytest

FACTS = ("Ports of the proxy begin at 8000.", "Carts are emptied at midnight.", "Refunds take ten days.")


@pytest.fixture
def command(repo, here):
    """Runs commands in a project with code and three memories, without a server."""

    def run(*args):
        return here(*args, cwd=repo)

    assert run("index", "--quiet").returncode == 0
    for fact in FACTS:
        assert run("remember", fact).returncode == 0
    return run


def kept(command):
    return {one["content"] for one in json.loads(command("memory", "list", "--json").stdout)["memories"]}


def test_a_flipped_byte_of_the_journal_is_told_once_and_mended(command, repo):
    (segment,) = (repo / ".graphmem" / "memories").glob("journal-*")
    segment.write_bytes(segment.read_bytes().replace(b"midnight", b"midnighu", 1))
    opened = command("recall", "carts")
    assert "did not match" in opened.stderr
    assert "graphmem verify" in opened.stderr
    assert "midnight" in opened.stdout
    assert command("recall", "carts").stderr == ""
    verified = command("verify")
    assert verified.returncode == 0, verified.stdout
    assert "missing before entry" in verified.stdout
    assert "written again" in verified.stdout
    doctor = command("doctor").stdout
    assert "quarantine-journal" in doctor
    assert "all is well" not in doctor
    audit = command("memory", "audit")
    assert audit.returncode == 0
    assert "missing before entry" in audit.stdout
    assert kept(command) == set(FACTS)
    for aside in (repo / ".graphmem" / "memories").glob("quarantine-*"):
        aside.unlink()
    assert "all is well" in command("doctor").stdout


def test_what_verify_advises_for_a_damaged_journal_mends_it(index, tmp_path):
    segment = next((tmp_path / "index" / "memories").glob("*.jsonl"))
    segment.write_bytes(segment.read_bytes().replace(b"number 1", b"number 7"))
    (journal,) = (one for one in index.verify_index().checks if one.name == "journal")
    assert (journal.level, "graphmem memory rebuild" in journal.fix) == ("bad", True)
    answer = index.rebuild_memories()
    assert any("did not match" in note for note in answer.notes)
    assert (answer.memories, answer.restored, answer.removed) == (3, 0, 0)
    assert index.verify_index().sound
    index.remember("the ring ends at number 3")
    assert index.verify_index().sound
    assert index.memory("memory-1").content == "the ring begins at number 1"


def test_a_line_that_somebody_took_out_of_the_journal_stays_on_record(index, open_index, tmp_path):
    index.close()
    segment = next((tmp_path / "index" / "memories").glob("*.jsonl"))
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join([lines[0], *lines[2:]]))
    again = open_index()
    assert not again.verify_index().sound
    assert not again.audit().sound
    again.rebuild_memories()
    assert again.verify_index().sound
    assert any("missing before entry" in note for note in again.audit().notes)
    assert again.memories().total == 3


@pytest.mark.parametrize("how", ["noise", "gone"])
def test_a_lost_database_is_told_and_its_memories_are_there(command, repo, how):
    database = repo / ".graphmem" / "graph.db"
    if how == "noise":
        database.write_bytes(b"\x5a\x13" * (database.stat().st_size // 2))
    else:
        database.unlink()
    opened = command("recall", "carts")
    assert opened.returncode == 0
    assert "graph.db" in opened.stderr
    assert "graphmem index" in opened.stderr
    assert "midnight" in opened.stdout
    assert command("recall", "carts").stderr == ""
    verified = command("verify")
    assert verified.returncode == 1
    assert "run `graphmem index`" in verified.stdout
    doctor = command("doctor")
    assert "all is well" not in doctor.stdout
    assert "run `graphmem index`" in doctor.stdout
    assert kept(command) == set(FACTS)
    assert command("index", "--quiet").returncode == 0
    assert command("verify").returncode == 0


def test_a_database_that_is_gone_is_told_by_doctor_when_it_is_the_first_to_look(command, repo):
    (repo / ".graphmem" / "graph.db").unlink()
    doctor = command("doctor")
    assert "graph.db was missing" in doctor.stdout
    assert "all is well" not in doctor.stdout
