"""A pushed branch is an overlay of the main line: its answers are those of the whole branch, and everybody else sees the main line."""

from __future__ import annotations

import json
import time
from random import Random

import pytest

from commands import environ, git, graphmem
from graphmem.answers import to_json
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import GraphMemError
from hosted import SHOP, hosted, indexed, written

__all__ = ["environ", "graphmem"]

TAX = {"shop/tax.py": "from shop.price import total\n\n\ndef with_tax(prices):\n    return total(prices) * 119 // 100\n"}
CHEAP = {"shop/price.py": SHOP["shop/price.py"].replace("return rounded(sum(prices))", "return sum(prices)")}


@pytest.fixture
def server(tmp_path):
    with hosted(tmp_path / "srv", idle_s=2.0) as running:
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
    ("modules", ()),
    ("flows", ()),
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
    ("dead_code", ()),
    ("symbol", ("total", True)),
)


def differences(one, other, at=""):
    """Return where two answers differ, as path and both values."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [found for name in one for found in differences(one[name], other[name], f"{at}.{name}")]
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        return [found for n, pair in enumerate(zip(one, other, strict=True)) for found in differences(*pair, f"{at}[{n}]")]
    return [] if one == other else [f"{at}: {one} / {other}"[:1500]]


def answers(remote, questions=QUESTIONS):
    end = time.monotonic() + 30
    while "word index" in remote.project().state.note:  # of a project that was just opened
        assert time.monotonic() < end
        time.sleep(0.02)
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


def pushed(own, server, project, branch="", private=False, token=""):
    return own.push_index(server.project(project), token, branch, private)


def test_a_branch_answers_as_if_it_had_been_pushed_whole(tmp_path, server):
    """Random edits of a branch and of the main line, in both orders; the branch is compared with its whole push to another project."""
    random = Random(7)
    with indexed(tmp_path / "a" / "shop", SHOP) as line, indexed(tmp_path / "b" / "shop", SHOP) as own:
        pushed(line, server, "shop")
        differing = 0
        for step in range(6):
            if step % 2:
                edited(tmp_path / "a" / "shop", random)
                line.index()
                before = answers(RemoteGraphMem(server.project("shop@feature~x")))
                pushed(line, server, "shop")
                assert differences(answers(RemoteGraphMem(server.project("shop@feature~x"))), before) == [], step
            else:
                edited(tmp_path / "b" / "shop", random)
                own.index()
                pushed(own, server, "shop", "feature/x")
                if step == 2:
                    server.wait_until_closed("shop")  # the branch is opened again from what is stored
            pushed(own, server, f"whole{step}")
            branch = answers(RemoteGraphMem(server.project("shop@feature~x")))
            assert differences(branch, answers(RemoteGraphMem(server.project(f"whole{step}")))) == [], step
            main = answers(RemoteGraphMem(server.project("shop")))
            pushed(line, server, f"line{step}")
            assert differences(main, answers(RemoteGraphMem(server.project(f"line{step}")))) == [], step
            differing += main != branch
        assert differing == 6


def edited(root, random):
    """Change, add or remove a file, or move its code to another file."""
    kind = random.choice(("call", "add", "rename", "remove", "external"))
    price, number = root / "shop/price.py", random.randrange(1000)
    extra = sorted((root / "shop").glob("extra*.py"))
    if kind == "call":
        price.write_text(f"{price.read_text()}\n\ndef more{number}(prices):\n    return total(prices) + rounded({number})\n")
    elif kind == "rename":
        price.write_text(price.read_text().replace("def rounded", f"def helper{number}():\n    return {number}\n\n\ndef rounded"))
    elif kind == "remove" and extra:
        extra[0].unlink()
    elif kind == "external":
        price.write_text(f"import os\n\n{price.read_text()}\n\ndef home{number}():\n    return os.path.join('a', '{number}')\n")
    else:
        (root / f"shop/extra{number}.py").write_text(
            f"from shop.price import total\n\n\ndef extra{number}():\n    '''Total number {number}.'''\n    return total([{number}])\n"
        )
