"""Whatever byte of an index flips: it is found before it is read, answered as before or said, and never called sound."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.memory.journal.journal_lines import line_of, scanned
from graphmem.runtime.files.checksums import Proof, proof
from graphmem.store.file.files import QUARANTINE
from small_index import write_modules


def flip(path: Path, share: float = 0.5) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 0x10
    path.write_bytes(data)


def one(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory, settings) -> Path:
    """The directory of an index that is closed and has every kind of side file, made once; tests copy it."""
    root = tmp_path_factory.mktemp("made")
    with GraphMem.open(root / "index", settings=settings) as memory:
        memory.index(write_modules(root / "repo"))
        for number in range(3):
            memory.remember(f"the ring begins at number {number}", id=f"memory-{number}", files=[f"m{number}.py"])
        memory.start_session("s", kind="build", agent="claude-code")
        memory.observe([{"session_id": "s", "step": 1, "at": 1.0, "kind": "message", "text": "The ring is read from its end."}])
        memory.set_trust_level("confident")
        memory.sync_file(root / "repo" / "MEMORY.md")
        memory.backup()
    return root / "index"


@pytest.fixture
def folder(made, tmp_path) -> Path:
    """A copy of `made`."""
    return Path(shutil.copytree(made, tmp_path / "index"))


@pytest.mark.parametrize("share", [0.03, 0.4, 0.7, 0.99])
def test_a_flipped_bit_of_the_word_index_costs_no_answer(folder, open_index, share):
    whole = open_index()
    before = [(hit.id, hit.score) for hit in whole.search("f3 value", kinds=["code"]).hits]
    whole.close()
    flip(one(folder, "words-*.sqlite"), share)
    again = open_index()
    again.wait_until_ready()
    assert [(hit.id, hit.score) for hit in again.search("f3 value", kinds=["code"]).hits] == before
    assert any("words-" in note for note in again.damage)
    assert any("words-" in check.said for check in again.verify_index().checks if check.level == "note")


def test_a_text_that_does_not_inflate_is_built_again_while_it_is_asked_for(index, monkeypatch):
    from graphmem.projection.words import index as words

    index.wait_until_ready()  # and no search before: texts that were read are kept
    damaged = index.parts.projections.snapshot().words
    intact = words.WordIndex.entries

    def entries(self, ids, *, texts=True):
        found = intact(self, ids, texts=texts)
        return {key: row._replace(packed=b"\x00" + row.packed[1:]) if self is damaged else row for key, row in found.items()}

    monkeypatch.setattr(words.WordIndex, "entries", entries)
    answer = index.search("f3 value", kinds=["code"])
    assert "words" not in answer.missing
    assert index.parts.projections.snapshot().words is not damaged
    monkeypatch.undo()
    assert [hit.id for hit in index.search("f3 value", kinds=["code"]).hits] == [hit.id for hit in answer.hits] != []


@pytest.mark.parametrize(
    "pattern",
    [
        *("graph.db", "graph.db.lock", "graph.projection", "words-*.sqlite", "facts.sqlite", "inputs.sqlite", "history.sqlite"),
        *("trust.json", "memory-md.json", "parsing.json", "memories/journal-*.jsonl", "trails/*.trail", "backups/*.zip"),
    ],
)
def test_verify_calls_no_flipped_bit_sound(folder, here, tmp_path, pattern):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    flip(one(copy, pattern))
    ran = here("verify", "--db", copy, "--json")
    assert ran.returncode in (0, 1), ran.stderr
    name = Path(pattern).name.partition("*")[0]
    told = [check for check in json.loads(ran.stdout)["checks"] if check["level"] in ("bad", "note") and name in check["said"]]
    assert told, ran.stdout


def test_a_closed_index_proves_each_of_its_sqlite_files(folder):
    assert {path.name: proof(path) for path in folder.glob("*.sqlite")} == dict.fromkeys(
        (path.name for path in folder.glob("*.sqlite")), Proof.SOUND
    )
    assert not [path.name for path in folder.iterdir() if path.name.endswith(("-wal", "-journal"))]


@pytest.mark.parametrize("name", ["history.sqlite", "ledger.sqlite", "trust.json", "memory-md.json"])
def test_a_damaged_file_that_cannot_be_made_again_is_quarantined_and_reported(folder, open_index, name):
    path = folder / name
    if not path.exists():
        memory = open_index()
        memory.end_session("s", "validated")
        memory.close()
    flip(path)
    again = open_index()
    (said,) = [note for note in again.damage if note.startswith(name)]
    assert "quarantined" in said
    assert list(folder.glob(f"{name}.*{QUARANTINE}"))
    assert again.verify_index().sound
    again.session_summaries()
    again.commits()
    again.close()
    assert not any(note.startswith(name) for note in open_index().damage)


def test_tokens_that_are_damaged_open_nothing(folder, open_index, here):
    here("token", "create", "ci", "--scope", "read", "--db", folder)
    flip(folder / "tokens.json")
    again = open_index()
    assert any(note.startswith("tokens.json is damaged") for note in again.damage)
    assert (folder / "tokens.json").exists()
    again.close()
    assert here("token", "list", "--db", folder).returncode == 2


@pytest.mark.parametrize("how", ["emptied", "is gone", "cut off"])
def test_a_journal_that_lost_its_entries_is_said_to_have(folder, open_index, how):
    segment = one(folder, "memories/journal-*.jsonl")
    data = segment.read_bytes()
    if how == "is gone":
        shutil.rmtree(segment.parent)
    else:
        segment.write_bytes(b"" if how == "emptied" else line_of(data, scanned(data).entries[0]) + data[-100:-50])
    again = open_index()
    told = "; ".join(again.damage)
    assert how in told
    assert "which were acknowledged, are missing" in told
    assert {one.id for one in again.memories().memories} == {"memory-0", "memory-1", "memory-2"}
    assert again.verify_index().sound
    again.close()
    assert open_index().damage == []
