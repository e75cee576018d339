"""A pushed branch is an overlay of the main line: its answers are those of the whole branch, and everybody else sees the main line."""

from __future__ import annotations

import json

import pytest

from commands import environ, git, graphmem
from graphmem.answers import to_json
from graphmem.errors import GraphMemError
from hosted import SHOP, hosted, written

__all__ = ["environ", "graphmem"]

TAX = {"shop/tax.py": "from shop.price import total\n\n\ndef with_tax(prices):\n    return total(prices) * 119 // 100\n"}
CHEAP = {"shop/price.py": SHOP["shop/price.py"].replace("return rounded(sum(prices))", "return sum(prices)")}


@pytest.fixture
def server(tmp_path):
    with hosted(tmp_path / "srv") as running:
        yield running


@pytest.fixture
def clone(tmp_path):
    """A repository with a main line, and the checked-out branch `feature/tax`."""
    root = written(tmp_path / "shop", SHOP)
    git(root, "init", "-q", "-b", "main")
    (root / ".gitignore").write_text(".graphmem\n", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "A shop")
    return root


def plain(answer):
    def without(value):
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name not in ("state", "generation", "indexed_at")}
        return [without(one) for one in value] if isinstance(value, list) else value

    return without(json.loads(json.dumps(to_json(answer))))


QUESTIONS = (
    ("impact", (["rounded"],)),
    ("impact", (["total"],)),
    ("symbols", ("total",)),
    ("search", ("how is the total rounded",)),
    ("search", ("tax of a cart",)),
    ("outline", ("shop/price.py",)),
    ("file_source", ("shop/price.py",)),
    ("occurrences", ("shop/price.py",)),
    ("usages", ("rounded",)),
    ("entry_points", ()),
    ("path", ("show_cart", "rounded")),
    ("modules", ()),
    ("dead_code", ()),
    ("symbol", ("total", True)),
)


def answers(remote, questions=QUESTIONS):
    found = []
    for operation, arguments in questions:
        try:
            found.append((operation, plain(getattr(remote, operation)(*arguments))))
        except GraphMemError as error:
            found.append((operation, error.message))
    return found


def test_a_pushed_branch_is_seen_by_those_who_ask_for_it_and_the_main_line_by_everybody_else(server, clone, graphmem):
    address = server.project("shop")
    assert graphmem("index", cwd=clone).code == 0
    assert graphmem("push", address, cwd=clone).code == 0
    git(clone, "checkout", "-q", "-b", "feature/tax")
    written(clone, {**TAX, **CHEAP})
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "Add tax")
    assert graphmem("index", cwd=clone).code == 0
    ran = graphmem("push", address, cwd=clone)
    assert (ran.code, "2 files sent" in ran.out, "branch feature/tax of shop" in ran.out) == (0, True, True), ran.said

    main = json.loads(graphmem("impact", "total", "--json", "--server", address, cwd=clone).out)
    branch = json.loads(graphmem("impact", "total", "--json", "--server", address, "--branch", "feature/tax", cwd=clone).out)
    assert [hit["symbol"]["qualname"] for hit in main["hits"]] == ["show_cart"]
    assert sorted(hit["symbol"]["qualname"] for hit in branch["hits"]) == ["show_cart", "with_tax"]
    ran = graphmem("impact", "rounded", "--server", address, "--branch", "feature/tax", cwd=clone)
    assert "show_cart" not in ran.out, ran.said  # total no longer calls it there
    assert "show_cart" in graphmem("impact", "rounded", "--server", address, cwd=clone).out

    [listed] = json.loads(graphmem("projects", "--json", "--server", server.address, cwd=clone).out)["projects"]
    [one] = listed["branches"]
    assert (one["name"], one["path"], one["files"]) == ("feature/tax", "/p/shop@feature~tax", 2)
    assert "branch feature/tax" in graphmem("projects", "--server", server.address, cwd=clone).out
    ran = graphmem("drop-branch", "feature/tax", "--server", address, cwd=clone)
    assert ran.code == 0, ran.said
    ran = graphmem("impact", "total", "--server", address, "--branch", "feature/tax", cwd=clone)
    assert (ran.code, "unknown branch 'feature/tax'" in ran.said) == (2, True), ran.said
