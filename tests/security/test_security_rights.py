"""Only its owner may read an index, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.cli.traps import find_traps
from graphmem.contracts import rows
from graphmem.evidence import merge
from graphmem.location import locate
from graphmem.maintenance import archive, place
from graphmem.memory.files.sync_state import BASE
from graphmem.project.explaining import paragraphs
from graphmem.project.structure import kept
from graphmem.project.team import sharing
from graphmem.search import accepted
from graphmem.search.memories import phases
from graphmem.settings import Settings
from graphmem.sharing import sidecar

SETTINGS = Settings(embedder="none", workers=1, max_db_gb=1)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("def f():\n    return 1\n")
    return root


def used(memory: GraphMem, repo: Path) -> None:
    """Everything that writes a file of its own."""
    memory.index(repo)
    memory.remember("the key to the cellar is under the mat", files=["a.py"])
    memory.start_session("one")
    memory.observe([{"kind": "command", "text": "make", "failed": True}], session="one")
    memory.backup()
    memory.backup(portable=True)
    memory.compact()
    memory.end_session("one")
    memory.remember("and the cellar is behind the house")
    memory.parts.book.flush()


def open_to_others(folder: Path) -> list[str]:
    """Return the files that other accounts may use, with links and folders."""
    entries = [folder, *folder.rglob("*")]
    return sorted(str(one.relative_to(folder)) for one in entries if one.exists() and stat.S_IMODE(one.lstat().st_mode) & 0o077)


def test_an_index_is_closed_to_other_accounts_while_it_is_open_and_afterwards(tmp_path, repo):
    folder = tmp_path / "index"
    with GraphMem.open(folder, settings=SETTINGS) as memory:
        used(memory, repo)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert (folder / "graph.db.wal").exists()
        own = ("graph.", "words-", "facts.", "inputs.", "memories", "backups", "ledger", "history")
        assert [one for one in open_to_others(folder) if one.startswith(own)] == []
    assert open_to_others(folder) == []


def test_every_file_of_an_index_is_known_as_its_own(tmp_path, repo):
    folder = tmp_path / "index"
    with GraphMem.open(folder, settings=SETTINGS) as memory:
        used(memory, repo)
    named = (kept.FILE, sidecar.FILE, sharing.KEY, merge.SIDECAR, paragraphs.PARAGRAPHS, rows.FILE, phases.FILE, accepted.FILE, BASE)
    names = {one.name for one in folder.iterdir()} | set(named)
    names |= set(archive.LEFT_OUT)  # what is left out of a backup is of the index, too
    assert {one for one in names if not one.startswith(place._OURS)} == set()


def test_an_index_that_others_could_read_is_closed_to_them_when_it_is_opened(tmp_path, repo):
    folder = tmp_path / ".graphmem"
    with GraphMem.open(folder, settings=SETTINGS) as memory:
        used(memory, repo)
    for one in (folder, *folder.rglob("*")):
        one.chmod(0o755 if one.is_dir() else 0o644)
    rules = folder / "rules"
    rules.mkdir(mode=0o755)
    (rules / "style.md").write_text("Tabs.\n")
    (tmp_path / "elsewhere").write_text("not of the index")
    (folder / "sessions").mkdir(exist_ok=True)
    (folder / "sessions" / "link.md").symlink_to(tmp_path / "elsewhere")
    with GraphMem.open(folder, settings=SETTINGS) as memory:
        assert len(memory.memories().memories) == 2
        assert [one for one in open_to_others(folder) if not one.startswith(("rules", "sessions/link.md"))] == []
    assert stat.S_IMODE((rules / "style.md").stat().st_mode) == 0o644, "rules are for people"
    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o644, "links are not followed"


def test_a_folder_that_holds_other_things_keeps_its_rights_and_doctor_says_so(tmp_path, repo):
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    script = shared / "deploy.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    with GraphMem.open(shared, settings=SETTINGS) as memory:
        used(memory, repo)
        said = memory.doctor()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert {one.split("/")[0] for one in open_to_others(shared)} <= {".", "deploy.sh", "trails", "sessions", "backups", "memories"}
    assert all(stat.S_IMODE(one.stat().st_mode) == 0o700 for one in shared.iterdir() if one.is_dir()), "nobody else gets to those"
    location = locate(repo, Settings(db=str(shared)))
    assert "open to other accounts" in [trap.name for trap in find_traps(location, said)]
