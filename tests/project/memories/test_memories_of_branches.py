"""A memory about code of another branch says so where that branch is not checked out."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import git, write
from graphmem import GraphMem
from graphmem.answers.memory import code_since
from graphmem.settings import Settings
from made_once import empty_index


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with the branch `feature/refunds` checked out, which alone has `refund.py`."""
    root = write(tmp_path / "shop", {"cart.py": "def total(cart):\n    return sum(cart)\n"})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    git(root, "checkout", "-qb", "feature/refunds")
    write(root, {"refund.py": "from cart import total\n\n\ndef pay_back(cart):\n    return -total(cart)\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "refunds")
    return root


def test_a_memory_names_the_branch_of_its_code_elsewhere_and_not_on_it(root: Path, tmp_path: Path) -> None:
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none", workers=1)) as gm:
        gm.index(root)
        both = gm.remember("pay_back negates the total of refund.py, so total must stay positive.", symbols=["cart.py:total"]).memory
        assert both.branches == []

        git(root, "checkout", "-q", "main")
        gm.index(root)
        here = gm.memory(both.id)
        assert here.branches == ["feature/refunds"]
        assert code_since(here) == "about code of branch feature/refunds, which is not checked out"
        [nearby] = gm.symbol("cart.py:total").known.memories
        assert nearby.doubt == "about code of branch feature/refunds, which is not checked out"

        git(root, "merge", "-q", "feature/refunds")
        gm.index(root)
        merged = gm.memory(both.id)
        assert merged.branches == []
        assert code_since(merged) == ""


def test_a_memory_about_deleted_code_names_no_branch(root: Path, tmp_path: Path) -> None:
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none", workers=1)) as gm:
        gm.index(root)
        told = gm.remember("pay_back rounds towards zero.").memory
        git(root, "rm", "-q", "refund.py")
        git(root, "commit", "-qm", "no refunds")
        gm.index(root)
        gone = gm.memory(told.id)
        assert gone.branches == []
        assert code_since(gone) == "about refund.py:pay_back, which is gone"
