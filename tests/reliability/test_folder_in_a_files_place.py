"""A folder in the place of the database or of its lock: renamed and mended from the journal, or refused with the remedy."""

from __future__ import annotations

import pytest

from graphmem.errors import BadInputError


@pytest.fixture
def closed(index, tmp_path):
    """An index of a project with one memory, closed."""
    index.remember("the ring begins at f0", id="ring")
    index.close()
    return tmp_path / "index"


def folder_instead(path):
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "of a person.txt").write_text("not to be lost")


def aside(db, name):
    (found,) = db.glob(f"{name}.*.quarantine")
    return (found / "of a person.txt").read_text()


def test_a_folder_in_the_place_of_the_database_is_renamed_and_the_memories_come_back(closed, repo, open_index):
    folder_instead(closed / "graph.db")
    with open_index() as memory:
        assert memory.memory("ring").title == "the ring begins at f0"
        assert any("directory in place of a file" in note for note in memory.parts.store.notes)
        memory.index(repo)
        assert memory.symbol("f0")
        assert memory.verify_index().sound
    assert aside(closed, "graph.db") == "not to be lost"


def test_a_folder_in_the_place_of_the_lock_is_renamed_and_nothing_is_lost(closed, open_index):
    folder_instead(closed / "graph.db.lock")
    with open_index() as memory:
        assert memory.memory("ring").title == "the ring begins at f0"
        assert memory.symbol("f0")
        assert memory.verify_index().sound
    assert aside(closed, "graph.db.lock") == "not to be lost"


def test_without_a_journal_a_folder_in_the_place_of_the_database_is_refused_with_the_remedy(closed, open_index):
    folder_instead(closed / "graph.db")
    (closed / "memories").rename(closed / "elsewhere")
    with pytest.raises(BadInputError, match="is a directory where the database file should be; rename the directory, then index again"):
        open_index()
    assert (closed / "graph.db" / "of a person.txt").read_text() == "not to be lost"
