"""A new worktree answers from the index of the first one, and has its memories."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphmem.maintenance.worktrees import copy_with_holes
from graphmem.project.graphmem import GraphMem
from graphmem.runtime.worktree import first_worktree, journal_folder
from graphmem.settings import Settings

SETTINGS = Settings(embedder="none", seeds=False)


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(root), *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    root = tmp_path / "first"
    root.mkdir()
    (root / "cart.py").write_text(
        "def total(items):\n    return sum(items)\n\n\ndef pay(items):\n    return total(items)\n", encoding="utf-8"
    )
    git(root, "init", "-q")
    git(root, "add", "cart.py")
    git(root, "commit", "-q", "-m", "Add the cart")
    with GraphMem.open(root / ".graphmem", root, settings=SETTINGS, keep_warm=False) as memory:
        memory.index(root)
        memory.remember("Never round inside total; the tax table does.", "gotcha", symbols=["cart.py:total"])
    git(root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "second"))
    return root


def test_a_new_worktree_answers_before_its_first_index_run(first: Path) -> None:
    second = first.parent / "second"
    assert first_worktree(second) == first
    assert first_worktree(first) is None
    (second / "cart.py").write_text((first / "cart.py").read_text() + "\n\ndef gift(items):\n    return pay(items)\n", encoding="utf-8")
    with GraphMem.open(second / ".graphmem", second, settings=SETTINGS, keep_warm=False) as memory:
        assert [hit.symbol.qualname for hit in memory.impact("total").hits] == ["pay"]
        [known] = memory.memories().memories
        assert [(one.name, one.anchor) for one in known.about] == [("cart.py:total", "valid")]
        assert known.content == "Never round inside total; the tax table does."
        assert memory.parts.graph.root() == second
        assert memory.index(second).changed == 1
        assert {hit.symbol.qualname for hit in memory.impact("total").hits} == {"pay", "gift"}
    with GraphMem.open(first / ".graphmem", first, settings=SETTINGS, keep_warm=False) as memory:  # the first one is as it was
        assert [hit.symbol.qualname for hit in memory.impact("total").hits] == ["pay"]


@contextmanager
def open_elsewhere(root: Path) -> Iterator[None]:
    """Another process has an index open, and has just stored a memory in it."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom graphmem import GraphMem\nfrom graphmem.settings import Settings\n"
        "root = Path(sys.argv[1])\nsettings = Settings(embedder='none', seeds=False)\n"
        "with GraphMem.open(root / '.graphmem', root, settings=settings, keep_warm=False) as memory:\n"
        "    memory.remember('Totals are in cents.', 'fact')\n    memory.impact('total')\n"
        "    print('open', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "open\n"
            yield
        finally:
            process.stdin.close()
        assert process.wait(60) == 0


def test_a_new_worktree_answers_while_another_process_has_the_first_index_open(first: Path) -> None:
    second = first.parent / "second"
    with (
        open_elsewhere(first),
        GraphMem.open(second / ".graphmem", second, settings=SETTINGS, keep_warm=False) as memory,
    ):
        assert memory.damage == []
        assert [hit.symbol.qualname for hit in memory.impact("total").hits] == ["pay"]
        assert "Totals are in cents." in contents(memory)
        assert memory.verify_index().sound
        assert memory.index(second).changed == 0


def test_an_index_that_another_process_is_writing_gives_its_memories(first: Path) -> None:
    second = first.parent / "second"
    over = threading.Event()

    def write() -> None:
        while not over.wait(0.005):
            os.utime(first / ".graphmem" / "graph.db")

    writer = threading.Thread(target=write)
    with open_elsewhere(first):
        writer.start()
        try:
            with GraphMem.open(second / ".graphmem", second, settings=SETTINGS, keep_warm=False) as memory:
                assert memory.state().generation == 0
                assert "Totals are in cents." in contents(memory)
        finally:
            over.set()
            writer.join()


def test_an_index_that_is_open_elsewhere_gives_its_memories(first: Path) -> None:
    second = first.parent / "second"
    with (
        GraphMem.open(first / ".graphmem", first, settings=SETTINGS, keep_warm=False) as one,
        GraphMem.open(second / ".graphmem", second, settings=SETTINGS, keep_warm=False) as other,
    ):
        assert [known.content for known in other.memories().memories] == [known.content for known in one.memories().memories]
        other.index(second)
        assert [hit.symbol.qualname for hit in other.impact("total").hits] == ["pay"]


def test_other_folders_and_forged_links_are_not_worktrees(first: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged"
    forged.mkdir()
    assert first_worktree(forged) is None
    (forged / ".git").write_text(f"gitdir: {first / '.git' / 'worktrees' / 'second'}\n", encoding="utf-8")
    assert first_worktree(forged) is None  # git names another folder for it
    (forged / ".git").write_text("gitdir: \0\n", encoding="utf-8")
    assert first_worktree(forged) is None


def test_a_command_in_a_new_worktree_answers_without_an_index_run(first: Path) -> None:
    inner = first / "trees" / "inner"  # a worktree inside the first one is a project of its own
    git(first, "worktree", "add", "-q", "-b", "inner", str(inner))
    done = subprocess.run(
        [sys.executable, "-m", "graphmem", "impact", "total", "--json"], cwd=inner, capture_output=True, text=True, check=True
    )
    assert [hit["symbol"]["qualname"] for hit in json.loads(done.stdout)["hits"]] == ["pay"]
    assert (inner / ".graphmem" / "graph.db").exists()


def contents(memory: GraphMem) -> list[str]:
    return sorted(one.content for one in memory.memories().memories)


def test_worktrees_share_one_journal(first: Path) -> None:
    second = first.parent / "second"
    with (
        GraphMem.open(first / ".graphmem", first, settings=SETTINGS, keep_warm=False) as one,
        GraphMem.open(second / ".graphmem", second, settings=SETTINGS, keep_warm=False) as other,
    ):
        assert not (second / ".graphmem" / "memories").exists()
        there = other.remember("The gift card is never taxed.", "gotcha").memory
        assert one.follow_journal() == 1
        assert one.follow_journal() == 0
        here = one.remember("Totals are in cents.", "fact").memory  # after the other's entry, with its number
        assert other.follow_journal() == 1
        assert contents(one) == contents(other)
        assert len(contents(other)) == 3
        other.update_memory(there.id, content="The gift card is taxed when it is sold.")
        one.forget(here.id, hard=True)  # rewrites the journal without the other's knowledge
        other.follow_journal()
        assert contents(one) == contents(other)
        assert "Totals are in cents." not in contents(other)
        assert one.verify_index().sound
        assert other.parts.book.recovery.compare() == (0, 0, 0)
    for root in (first, second):
        with GraphMem.open(root / ".graphmem", root, settings=SETTINGS, keep_warm=False) as memory:
            assert "The gift card is taxed when it is sold." in contents(memory)
            assert memory.damage == []


def test_worktrees_write_at_the_same_time_and_lose_nothing(first: Path) -> None:
    second = first.parent / "second"
    with (
        GraphMem.open(first / ".graphmem", first, settings=SETTINGS, keep_warm=False) as one,
        GraphMem.open(second / ".graphmem", second, settings=SETTINGS, keep_warm=False) as other,
        ThreadPoolExecutor(2) as threads,
    ):

        def write(memory: GraphMem, name: str) -> None:
            for number in range(20):
                memory.remember(f"Note {number} of the {name} worktree.", "fact", id=f"{name}-{number}")

        for done in [threads.submit(write, one, "first"), threads.submit(write, other, "second")]:
            done.result()
        one.follow_journal()
        other.follow_journal()
        assert contents(one) == contents(other)
        assert len({known.id for known in one.memories(limit=100).memories}) == 41
        assert one.parts.book.journal.verify() == []


def test_a_worktree_with_memories_of_its_own_keeps_its_journal(first: Path) -> None:
    own = first.parent / "second" / ".graphmem" / "memories"
    own.mkdir(parents=True)
    (own / "journal-0000000001.jsonl").write_bytes(b"")
    assert journal_folder(own.parent) == own
    (own / "journal-0000000001.jsonl").unlink()
    assert journal_folder(own.parent) == first / ".graphmem" / "memories"
    assert journal_folder(first / ".graphmem") == first / ".graphmem" / "memories"


def test_a_copied_database_takes_no_space_for_zeros(tmp_path):
    source, target = tmp_path / "graph.db", tmp_path / "copy"
    content = b"".join((b"head" * 1_024, bytes(400_000), b"end", bytes(9_000)))
    source.write_bytes(content)
    target.write_bytes(b"longer" * 200_000)
    copy_with_holes(source, target)
    assert target.read_bytes() == content
    assert target.stat().st_blocks * 512 < 40_000
