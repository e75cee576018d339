"""A file that cannot be read for want of descriptors or memory is not damaged: it stays, and what it says is not replaced."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from graphmem.errors import ResourceError
from graphmem.injection.trust import TrustBook
from graphmem.maintenance import proving
from graphmem.projection.words.index import WordIndex
from graphmem.search.memories.phases import PhaseBook
from graphmem.security.tokens import TokenFile

REFUSALS = (OSError(errno.EMFILE, "Too many open files"), OSError(errno.ENOMEM, "Cannot allocate memory"))
refused_by = pytest.mark.parametrize("error", REFUSALS, ids=lambda one: errno.errorcode[one.errno])


@pytest.fixture
def refuse(monkeypatch):
    """refuse(error): until it is called with None, no file is read whole."""
    read = Path.read_bytes

    def refusing(error):
        def instead(path):
            if error is not None:
                raise error
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", instead)

    return refusing


@refused_by
def test_no_file_is_quarantined_or_called_damaged(index, tmp_path, refuse, error):
    index.set_trust_level("confident")
    index.sync_file(tmp_path / "repo" / "MEMORY.md")
    index.close()
    db = tmp_path / "index"
    before = {path: path.stat().st_mtime_ns for path in sorted(db.rglob("*"))}
    refuse(error)
    assert proving.put_aside_damaged(db) == []
    with pytest.raises(ResourceError):
        proving.damaged_files(db)
    refuse(None)
    assert proving.damaged_files(db)[0] == []
    assert {path: path.stat().st_mtime_ns for path in sorted(db.rglob("*"))} == before


@refused_by
def test_what_a_person_chose_is_not_replaced(index, tmp_path, repo, refuse, error):
    index.set_trust_level("confident")
    index.sync_file(repo / "MEMORY.md")
    synced, state = (repo / "MEMORY.md").read_text(), (tmp_path / "index" / "memory-md.json").read_text()
    index.remember("one more, so that there is something to write")
    refuse(error)
    with pytest.raises(ResourceError):
        index.sync_file(repo / "MEMORY.md")
    for read in (lambda: TrustBook(tmp_path / "index"), lambda: PhaseBook(tmp_path / "index").accepted()):
        with pytest.raises(ResourceError):
            read()
    refuse(None)
    assert TrustBook(tmp_path / "index").now().chosen == "confident"
    assert ((repo / "MEMORY.md").read_text(), (tmp_path / "index" / "memory-md.json").read_text()) == (synced, state)


@refused_by
def test_tokens_are_accepted_again_at_the_next_request(tmp_path, refuse, error):
    token = TokenFile(tmp_path / "tokens.json").create("ci").token
    file = TokenFile(tmp_path / "tokens.json")
    refuse(error)
    assert file.find(token) is None
    refuse(None)
    assert file.find(token) is not None


def test_a_word_index_that_cannot_be_opened_is_not_said_to_be_damaged(index, tmp_path, monkeypatch):
    index.close()
    notes: list[str] = []
    db = tmp_path / "index"

    def refusing(*_, **__):
        raise sqlite3.OperationalError("unable to open database file: Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", refusing)
        with pytest.raises(ResourceError, match="descriptors"):
            WordIndex.open(db, 1, notes)
    assert notes == []
    assert WordIndex.open(db, 1, notes) is not None
