"""A pushed branch is an overlay of the main branch: its answers are those of the whole branch, and everybody else sees the main branch."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random

import anyio
import httpx
import pytest
from mcp.client import Client

from commands import environ, git, graphmem
from graphmem.answers import to_json
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import BadInputError, ForbiddenError, GraphMemError
from graphmem.project.hosted.pushing import Pushing, _Parts
from graphmem.projection.words import index as words
from hosted import SHOP, SITE, hosted, indexed, written

__all__ = ["environ", "graphmem"]

TAX = {"shop/tax.py": "from shop.price import total\n\n\ndef with_tax(prices):\n    return total(prices) * 119 // 100\n"}
CHEAP = {"shop/price.py": SHOP["shop/price.py"].replace("return rounded(sum(prices))", "return sum(prices)")}


@pytest.fixture
def server(tmp_path):
    with hosted(tmp_path / "srv", idle_s=2.0) as running:
        yield running


@pytest.fixture
def clone(tmp_path):
    """A repository with a main branch, and the checked-out branch `feature/tax`."""
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


def test_the_first_push_of_a_project_is_that_of_its_main_branch(server, clone, graphmem):
    git(clone, "checkout", "-q", "-b", "feature/tax")
    assert graphmem("index", cwd=clone).code == 0
    ran = graphmem("push", server.project("shop"), cwd=clone)
    assert ran.code == 2, ran.said
    assert "push the main branch, 'main', first, or push the current files as 'main' with `--branch main`" in ran.err
    assert graphmem("push", server.project("shop"), "--branch", "main", cwd=clone).code == 0
    ran = graphmem("impact", "total", "--server", server.project("none"), "--branch", "feature/tax", cwd=clone)
    assert (ran.code, "no project 'none'" in ran.err) == (2, True), ran.said


def test_a_pushed_branch_is_seen_by_those_who_ask_for_it_and_the_main_branch_by_everybody_else(server, clone, graphmem):
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
    """Random edits of both lines; each is compared with its whole push to another project."""
    random = Random(7)
    with indexed(tmp_path / "a" / "shop", SHOP) as line, indexed(tmp_path / "b" / "shop", SHOP) as own:
        pushed(line, server, "shop")
        differing = 0
        for step in range(4):
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
        assert differing == 4


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


def test_a_memory_about_code_of_a_branch_says_so_elsewhere_and_is_linked_after_the_merge(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        written(tmp_path / "shop", TAX)
        own.index()
        pushed(own, server, "shop", "feature/tax")
        main, branch = RemoteGraphMem(server.project("shop")), RemoteGraphMem(server.project("shop@feature~tax"))
        told = branch.remember("The tax of `with_tax` is 19 percent.", "fact").memory
        assert [one.name for one in told.about] == ["shop/tax.py:with_tax"]
        assert (told.about[0].anchor, told.branches) == ("valid", [])
        assert [one.id for one in branch.impact(["with_tax"]).known.memories] == [told.id]
        there = main.memory(told.id)
        assert (there.about, there.branches) == ([], ["feature/tax"])
        told_of_both = main.remember("`rounded` rounds half to even.", "gotcha").memory
        assert [one.name for one in branch.memory(told_of_both.id).about] == ["shop/price.py:rounded"]

        written(tmp_path / "shop", {"shop/price.py": SHOP["shop/price.py"].replace("round(cents)", "int(cents)")})
        own.index()
        pushed(own, server, "shop", "feature/tax")
        assert [one.anchor for one in branch.memory(told_of_both.id).about] == ["suspect"]
        assert [one.anchor for one in main.memory(told_of_both.id).about] == ["valid"]
        assert [one.anchor for one in branch.memory(told.id).about] == ["valid"]

        answer = pushed(own, server, "shop")
        assert answer.dropped == ["feature/tax"]
        merged = main.memory(told.id)
        assert ([one.name for one in merged.about], merged.about[0].anchor, merged.branches) == (["shop/tax.py:with_tax"], "valid", [])
        assert [one.anchor for one in main.memory(told_of_both.id).about] == ["suspect"]


@contextmanager
def held_copy(monkeypatch):
    """Hold up the next copy of an index of words: another connection locks the new file, so that SQLite waits to write it."""
    locks, is_held, create = [], threading.Event(), words.private_file

    def locked(path):
        lock = sqlite3.connect(create(path), isolation_level=None, check_same_thread=False)
        lock.execute("BEGIN EXCLUSIVE")
        locks.append(lock)
        monkeypatch.setattr(words, "private_file", create)
        is_held.set()
        return path

    monkeypatch.setattr(words, "private_file", locked)
    try:
        yield is_held
    finally:
        for lock in locks:
            lock.close()


def test_a_push_and_a_search_end_while_the_words_of_the_main_branch_are_copied(tmp_path, server, monkeypatch):
    with ThreadPoolExecutor(3) as pool, indexed(tmp_path / "a" / "shop", SHOP) as line, indexed(tmp_path / "b" / "shop", SHOP | TAX) as own:
        pushed(line, server, "shop")
        pushed(own, server, "shop", "feature/tax")
        written(tmp_path / "a" / "shop", {"shop/more.py": "def more():\n    pass\n"})
        line.index()
        with held_copy(monkeypatch) as is_held:
            opening = pool.submit(RemoteGraphMem(server.project("shop@feature~tax")).search, "with tax")
            assert is_held.wait(30)
            pool.submit(pushed, line, server, "shop").result(30)
            found = pool.submit(RemoteGraphMem(server.project("shop")).search, "more").result(30)
            assert "shop/more.py" in [hit.path for hit in found.hits]
            assert not opening.done()
        assert "shop/tax.py" in [hit.path for hit in opening.result(60).hits]


@pytest.mark.parametrize("fault", ["closed", "damaged"])
def test_a_branch_opens_although_the_words_of_the_main_branch_cannot_be_read(tmp_path, server, fault):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        written(tmp_path / "shop", TAX)
        own.index()
        pushed(own, server, "shop", "feature/tax")
    main = server.hosting._open["shop"].service.parts.runs.projections.snapshot().words
    if fault == "closed":
        main.close()
    else:
        main.path.write_bytes(b"damaged" * 1000)
    branch = RemoteGraphMem(server.project("shop@feature~tax"))
    assert branch.wait_until_ready(30)
    assert "shop/tax.py" in [hit.path for hit in branch.search("with tax").hits]


def test_a_merged_branch_is_dropped_by_the_next_push_of_the_main_branch(server, clone, graphmem):
    address = server.project("shop")
    assert graphmem("index", cwd=clone).code == graphmem("push", address, cwd=clone).code == 0
    git(clone, "checkout", "-q", "-b", "fix")
    written(clone, CHEAP)
    git(clone, "commit", "-qam", "Round once")
    assert graphmem("index", cwd=clone).code == graphmem("push", address, cwd=clone).code == 0
    git(clone, "checkout", "-q", "main")
    written(clone, TAX)
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Add tax")
    assert graphmem("index", cwd=clone).code == 0
    assert "main branch contains" not in graphmem("push", address, cwd=clone).out
    assert "with_tax" not in graphmem("impact", "total", "--server", address, "--branch", "fix", cwd=clone).out
    git(clone, "merge", "-q", "--no-edit", "fix")
    assert graphmem("index", cwd=clone).code == 0
    ran = graphmem("push", address, cwd=clone)
    assert "the main branch contains fix now" in ran.out, ran.said
    with server.hosting.branches("shop") as stored:
        assert (stored.all(), stored._rows("SELECT * FROM body"), stored._rows("SELECT * FROM file")) == ([], [], [])


def test_roles_decide_who_pushes_sees_and_drops_a_branch(tmp_path, server):
    ann, bob = server.enter("ann"), server.enter("bob")
    eve, cid = server.enter("eve", level="read"), server.enter("cid", level="curate")
    stranger = server.enter("out", project="other")
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop", token=ann)
        written(tmp_path / "shop", TAX)
        own.index()
        with pytest.raises(ForbiddenError, match="lack the scope index"):
            pushed(own, server, "shop", "x", token=eve)
        with pytest.raises(GraphMemError):
            pushed(own, server, "shop", "x", token=stranger)
        pushed(own, server, "shop", "secret/tax", private=True, token=ann)
        pushed(own, server, "shop", "open", token=ann)

        def names(token):
            [listed] = RemoteGraphMem(server.address, token).projects().projects
            return [(one.name, one.private) for one in listed.branches]

        assert names(ann) == [("open", False), ("secret/tax", True)]
        assert names(bob) == names(eve) == names(cid) == [("open", False)]
        assert RemoteGraphMem(server.project("shop@secret~tax"), ann).symbol("with_tax")
        assert RemoteGraphMem(server.project("shop@open"), eve).symbol("with_tax")
        hidden, missing = [], []
        for token in (bob, eve, cid):
            for name, said in (("secret~tax", hidden), ("no~such", missing)):
                with pytest.raises(BadInputError) as refused:
                    RemoteGraphMem(server.project(f"shop@{name}"), token).symbol("with_tax")
                said.append(str(refused.value).replace(name.replace("~", "/"), "NAME"))
        assert hidden == missing
        for name in ("shop@open", "shop@secret~tax"):
            with pytest.raises(GraphMemError):
                RemoteGraphMem(server.project(name), stranger).symbol("with_tax")

        pushed(own, server, "shop", "secret/tax", token=bob)  # a branch of its own: the name is free
        assert names(bob) == [("open", False), ("secret/tax", False)]
        with pytest.raises(ForbiddenError, match="only ann, who pushed the branch 'open'"):
            RemoteGraphMem(server.project("shop"), bob).drop_branch("open")
        with pytest.raises(ForbiddenError):
            RemoteGraphMem(server.project("shop"), eve).drop_branch("open")
        RemoteGraphMem(server.project("shop"), cid).drop_branch("open")
        RemoteGraphMem(server.project("shop"), cid).drop_branch("secret/tax")
        assert names(ann) == [("secret/tax", True)]
        RemoteGraphMem(server.project("shop"), ann).drop_branch("secret/tax")
        assert names(ann) == []


def test_a_damaged_file_of_branches_is_quarantined_and_the_projects_are_still_listed(tmp_path, clone, graphmem):
    with hosted(tmp_path / "srv") as server:
        assert graphmem("index", cwd=clone).code == 0
        assert graphmem("push", server.project("shop"), cwd=clone).code == 0
        assert graphmem("push", server.project("shop"), "--branch", "feature/tax", cwd=clone).code == 0
    file = tmp_path / "srv" / "shop" / ".graphmem" / "branches.sqlite"
    file.write_bytes(b"damaged" + file.read_bytes()[7:])
    with hosted(tmp_path / "srv") as server:
        (shop,) = RemoteGraphMem(server.address).projects().projects
        assert (shop.name, shop.branches) == ("shop", [])
        assert list(file.parent.glob("branches.sqlite.*.quarantine"))
        assert graphmem("push", server.project("shop"), "--branch", "feature/tax", cwd=clone).code == 0
        assert [one.name for one in RemoteGraphMem(server.address).projects().projects[0].branches] == ["feature/tax"]


def test_a_branch_expires_and_survives_a_restore_only_by_its_next_push(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        written(tmp_path / "shop", TAX)
        own.index()
        pushed(own, server, "shop", "old")
        pushed(own, server, "shop", "new")
        with server.hosting.branches("shop") as stored, stored._changing() as db:
            db.execute("UPDATE branch SET pushed_at = '2020-01-01T00:00:00+00:00' WHERE name = 'old'")
        assert [key.name for key in server.hosting.drop_expired("shop")] == ["old"]
        [listed] = RemoteGraphMem(server.address).projects().projects
        assert [one.name for one in listed.branches] == ["new"]
        with server.hosting.using("shop") as line:
            line.parts.store.set_meta({"run": "another"})  # as a restore from a backup does
        server.wait_until_closed("shop")
        with pytest.raises(BadInputError, match="after the branch 'new' was pushed; push the branch again"):
            RemoteGraphMem(server.project("shop@new")).symbol("with_tax")
        pushed(own, server, "shop", "new")
        assert RemoteGraphMem(server.project("shop@new")).symbol("with_tax")


def test_a_branch_has_the_same_address_for_agents_pages_and_a_header(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        written(tmp_path / "shop", TAX)
        own.index()
        pushed(own, server, "shop", "feature/tax")
    asked = {"query": '{ symbols(query: "with_tax") { edges { node { qualname } } } }'}
    for address, headers, wanted in (
        (server.project("shop"), {}, []),
        (server.project("shop"), {"Graphmem-Branch": "feature/tax"}, [{"node": {"qualname": "with_tax"}}]),
        (server.project("shop@feature~tax"), {}, [{"node": {"qualname": "with_tax"}}]),
    ):
        said = httpx.post(f"{address}/graphql", json=asked, headers=headers, timeout=60, trust_env=False).json()
        assert said["data"]["symbols"]["edges"] == wanted, said
    assert httpx.get(f"{server.project('shop@feature~tax')}/explore/", timeout=60, trust_env=False).status_code == 200

    async def tool() -> str:
        async with Client(f"{server.project('shop@feature~tax')}/mcp") as client:
            return "\n".join(part.text for part in (await client.call_tool("impact", {"targets": ["total"]})).content)

    assert "with_tax" in anyio.run(tool)
    [opened] = (tmp_path / "srv" / "shop" / ".graphmem" / "branches").iterdir()
    assert list((opened / ".graphmem").glob("words-*.sqlite"))  # patched like the graph, which would have a file if it were built
    assert not (opened / ".graphmem" / "graph.projection").exists()


def test_a_request_names_a_branch_itself_in_graphql_tools_and_lists_of_projects(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        page = SHOP["shop/app.py"].replace("total([1, 2])", "with_tax([1, 2])").replace("price import total", "tax import with_tax")
        written(tmp_path / "shop", {**TAX, "shop/app.py": page})
        own.index()
        pushed(own, server, "shop", "feature/tax")
    with indexed(tmp_path / "site", SITE) as own:
        pushed(own, server, "site")
    address = server.project("shop")

    def graphql(address, **body):
        return httpx.post(f"{address}/graphql", json=body, timeout=60, trust_env=False).json()

    query = '{ symbols(query: "with_tax") { edges { node { qualname callers { edges { node { qualname } } } } } } }'
    there = graphql(address, query=query, extensions={"branch": "feature/tax"})
    assert "show_cart" in json.dumps(there), there
    assert there == graphql(server.project("shop@feature~tax"), query=query)
    assert graphql(address, query=query)["data"]["symbols"]["edges"] == []
    stored = graphql(address, operationName="Impact", variables={"targets": ["with_tax"]}, extensions={"branch": "feature/tax"})
    assert "show_cart" in json.dumps(stored), stored
    for wrong, said in (("no/such", "unknown branch 'no/such'"), (3, "`extensions.branch` of the GraphQL request must be a string")):
        [error] = graphql(address, query=query, extensions={"branch": wrong})["errors"]
        assert said in error["message"]
        assert error["extensions"]["code"] == "BAD_INPUT"

    async def tools():
        async with Client(f"{address}/mcp") as client:
            answers = [await client.call_tool("impact", {"targets": ["with_tax"], **more}) for more in ({}, {"branch": "feature/tax"})]
            kept = await client.call_tool("remember", {"content": "The tax of `with_tax` is 19 percent.", "branch": "feature/tax"})
            return [(one.is_error, one.content[0].text) for one in (*answers, kept)]

    main, branch, kept = anyio.run(tools)
    assert (main[0], branch[0], kept[0]) == (True, False, False), (main, branch, kept)
    assert "show_cart" in branch[1]
    assert "cart_of" in branch[1], branch[1]  # the code of another project that uses a route of the branch
    assert [one.branches for one in RemoteGraphMem(address).memories().memories] == [["feature/tax"]]

    remote = RemoteGraphMem(server.address)
    found = remote.search_projects("with_tax", ["site", "shop@feature/tax"])
    assert found.projects == ["site", "shop@feature/tax"]
    assert any(one.project == "shop@feature/tax" and "with_tax" in json.dumps(to_json(one)) for one in found.hits)
    reached = remote.impact_projects("with_tax", "shop@feature/tax")
    assert [(one.project, one.of) for one in reached.reached] == [("site", "shop@feature/tax")], reached
    with pytest.raises(BadInputError, match="unknown branch 'none'"):
        remote.search_projects("x", ["shop@none"])
    with pytest.raises(BadInputError, match="unknown project 'hidden'"):
        remote.impact_projects("x", "hidden@none")


def test_a_subscription_follows_the_branch_that_it_names(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        written(tmp_path / "shop", TAX)
        own.index()
        pushed(own, server, "shop", "feature/tax")
        query = 'subscription { impactChanged(targets: ["total"]) { hits { symbol { qualname } } } }'
        body = {"query": query, "extensions": {"branch": "feature/tax"}}
        stream = {"headers": {"accept": "text/event-stream"}, "timeout": 60, "trust_env": False}
        with httpx.stream("POST", f"{server.project('shop')}/graphql", json=body, **stream) as said:
            lines, end = said.iter_lines(), time.monotonic() + 60

            def event():
                for line in lines:  # the server sends a comment every few seconds
                    assert time.monotonic() < end
                    if line.startswith("data:") and len(line) > len("data: "):
                        return line
                raise AssertionError("the subscription ended")

            first = event()
            assert "with_tax" in first, first
            written(tmp_path / "shop", {"shop/late.py": "from shop.price import total\n\n\ndef late():\n    return total([])\n"})
            own.index()
            pushed(own, server, "shop", "feature/tax")
            second = event()
            assert "late" in second, second


def test_a_killed_push_loses_nothing_of_the_main_branch_and_of_branches(tmp_path, postgres, environ):
    """The server is killed inside pushes of a branch and of the main branch, before and after each of their commits."""
    url = postgres.make(f"d{uuid.uuid4().hex}")
    with indexed(tmp_path / "a" / "shop", SHOP) as line, indexed(tmp_path / "b" / "shop", SHOP) as own:
        with served(tmp_path, url, environ) as address:
            pushed_to(line, address)
            written(tmp_path / "b" / "shop", {**TAX, **CHEAP})
            own.index()
            pushed_to(own, address, "feature/tax")
            main, branch = answers(RemoteGraphMem(f"{address}/p/shop")), answers(RemoteGraphMem(f"{address}/p/shop@feature~tax"))
        written(
            tmp_path / "a" / "shop",
            {"shop/price.py": f"LIMIT = 3\n\n\n{SHOP['shop/price.py']}", "shop/other.py": "def other():\n    pass\n"},
        )
        line.index()
        moments = ("after keep", "after apply", "after settle")
        for dies, before in zip((*moments, ""), ("", *moments), strict=True):
            with served(tmp_path, url, environ, dies) as address:
                now = answers(RemoteGraphMem(f"{address}/p/shop"))
                if before == "after apply":  # the graph is new; the next push brings the texts
                    assert differences(now, main) != []
                elif before == "after settle":
                    changed = now
                else:
                    assert differences(now, main) == [], before
                [listed] = RemoteGraphMem(address).projects().projects
                assert [one.files for one in listed.branches] == [2 if not before else 3], before
                assert differences(answers(RemoteGraphMem(f"{address}/p/shop@feature~tax")), branch) == [], before
                if dies:
                    with pytest.raises(GraphMemError):
                        pushed_to(line, address)
        written(tmp_path / "b" / "shop", {"shop/more.py": "def more():\n    pass\n"})
        own.index()
        with served(tmp_path, url, environ, "before put") as address, pytest.raises(GraphMemError):
            pushed_to(own, address, "feature/tax")
        with served(tmp_path, url, environ) as address:
            assert differences(answers(RemoteGraphMem(f"{address}/p/shop")), changed) == []
            assert differences(answers(RemoteGraphMem(f"{address}/p/shop@feature~tax")), branch) == []
            pushed_to(own, address, "feature/tax")
            pushed_to(own, address, project="whole")
            whole = answers(RemoteGraphMem(f"{address}/p/whole"))
            assert differences(answers(RemoteGraphMem(f"{address}/p/shop@feature~tax")), whole) == []


def pushed_to(own, address, branch="", project="shop"):
    return own.push_index(f"{address}/p/{project}", "", branch)


DYING = """
import os, signal, sys
from graphmem.project.hosted.branches import Branches
from graphmem.store.postgres.store import PostgresStore

def dying(owner, name, before):
    plain = getattr(owner, name)
    def call(*args, **kwargs):
        if before:
            os.kill(os.getpid(), signal.SIGKILL)
        plain(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, call)

when, _, name = sys.argv.pop(1).partition(" ")
if name:
    dying(PostgresStore if name == "apply" else Branches, name, when == "before")
from graphmem.__main__ import run
run()
"""


@contextmanager
def served(tmp_path, url, environ, dies=""):
    """The server as its command starts it; it kills itself at the given moment of a push."""
    command = [sys.executable, "-c", DYING, dies, "serve", "--projects", str(tmp_path / "srv"), "--store", url, "--port", "0", "--quiet"]
    environment = {**environ, "GRAPHMEM_EMBEDDER": "none"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def test_a_private_push_never_becomes_visible_to_others(tmp_path, server):
    ann, bob = server.enter("ann"), server.enter("bob")
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop", token=ann)
        pushed(own, server, "shop", "tax", token=bob)
        written(tmp_path / "shop", TAX)
        own.index()
        with pytest.raises(BadInputError, match="everybody in the project sees the branch 'tax'"):
            pushed(own, server, "shop", "tax", private=True, token=ann)
        assert RemoteGraphMem(server.project("shop@tax"), bob).symbols("with_tax").total == 0
        pushed(own, server, "shop", "mine", private=True, token=ann)
        pushed(own, server, "shop", "mine", private=True, token=ann)
        assert [one.name for one in RemoteGraphMem(server.address, bob).projects().projects[0].branches] == ["tax"]


def test_a_private_push_without_a_person_is_refused(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        with pytest.raises(BadInputError, match="a private branch belongs to a person"):
            pushed(own, server, "shop", "mine", private=True)
        assert RemoteGraphMem(server.address).projects().projects[0].branches == []


FALSE = "def with_tax(prices):\n    return 0\n"


def forge_text(part):
    part["texts"]["shop/tax.py"] = FALSE


def forge_rows(part):
    rows = part["rows"]["symbols"]
    part["rows"]["symbols"] = json.loads(json.dumps(rows).replace("with_tax", "without_tax"))


def forge_text_alone(part):
    part["texts"]["shop/price.py"] = FALSE


def forge_external(part):
    part["externals"] = {one: [one, "elsewhere", "stolen"] for one in part["externals"]}


@pytest.mark.parametrize("forge", [forge_rows, forge_text, forge_text_alone, forge_external])
@pytest.mark.parametrize("branch", ["", "mine"])
def test_a_push_is_refused_whose_rows_or_texts_differ_from_their_hashes(tmp_path, server, monkeypatch, forge, branch):
    """Branches share stored rows by their hash: nobody may store other rows there."""
    ann, bob = server.enter("ann"), server.enter("bob")
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop", token=ann)
        written(tmp_path / "shop", {"shop/tax.py": TAX["shop/tax.py"].replace("total(prices)", "round(total(prices))")})
        own.index()
        with monkeypatch.context() as patch:
            post = _Parts.send

            def send(parts):
                forge(parts._part)
                post(parts)

            patch.setattr(_Parts, "send", lambda parts: send(parts) if parts._part["rows"] else None)
            with pytest.raises(BadInputError, match="and the hash sent with it differ"):
                pushed(own, server, "shop", branch, token=ann)
        pushed(own, server, "shop", "tax", token=bob)
        answer = RemoteGraphMem(server.project("shop@tax"), bob).file_source("shop/tax.py")
        assert "round(total(prices))" in answer.text


def test_a_push_of_a_branch_that_leaves_out_external_names_is_refused(tmp_path, server, monkeypatch):
    """Branches share stored rows by their hash: a name that one push leaves out would be missing for everybody."""
    ann, bob = server.enter("ann"), server.enter("bob")
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop", token=ann)
        written(tmp_path / "shop", {"shop/tax.py": "import colorsys\n\n\ndef shade(tax):\n    return colorsys.rgb_to_hls(tax, 0, 0)\n"})
        own.index()
        with monkeypatch.context() as patch:
            post = _Parts.send

            def send(parts):
                parts._part["externals"] = {}
                post(parts)

            patch.setattr(_Parts, "send", send)
            with pytest.raises(BadInputError, match="has an edge without its end"):
                pushed(own, server, "shop", "mine", token=ann)
        pushed(own, server, "shop", "tax", token=bob)
        found = RemoteGraphMem(server.project("shop@tax"), bob).symbol("shade")
        assert [one.symbol.qualname for one in found.callees] == ["colorsys.rgb_to_hls"]
        written(tmp_path / "shop", {"shop/levy.py": "from shop.tax import shade\n\n\ndef levy():\n    return shade(1)\n"})
        own.index()
        assert pushed(own, server, "shop", "tax", token=bob).sent == 1  # its edge leads to a file that only the branch has


@pytest.mark.parametrize("branch", ["", "mine"])
def test_a_text_that_a_push_lacked_is_sent_by_the_next_one(tmp_path, server, monkeypatch, branch):
    """A file that was edited after the index run is pushed without its text, because the text would not fit the index."""
    ann, bob = server.enter("ann"), server.enter("bob")
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop", token=ann)
        written(tmp_path / "shop", TAX | CHEAP)
        own.index()
        with monkeypatch.context() as patch:
            patch.setattr(Pushing, "_text", lambda *given: None)
            pushed(own, server, "shop", branch, token=ann)
        shown = RemoteGraphMem(server.project(f"shop@{branch}" if branch else "shop"), ann)
        assert shown.file_source("shop/tax.py").is_stale
        pushed(own, server, "shop", "tax", token=bob)
        if branch:
            assert RemoteGraphMem(server.project("shop@tax"), bob).file_source("shop/tax.py").text == TAX["shop/tax.py"]
        assert pushed(own, server, "shop", branch, token=ann).sent == (0 if branch else 2)
        for path, text in (TAX | CHEAP).items():
            answer = shown.file_source(path)
            assert (answer.text, answer.is_stale) == (text, False), path
        assert pushed(own, server, "shop", branch, token=ann).sent == 0


def test_a_branch_that_keeps_the_earlier_version_of_a_file_does_not_show_another_text_for_it(tmp_path, server, monkeypatch):
    with indexed(tmp_path / "shop", SHOP) as own:
        pushed(own, server, "shop")
        written(tmp_path / "shop", CHEAP)
        own.index()
        with monkeypatch.context() as patch:
            patch.setattr(Pushing, "_text", lambda *given: None)
            pushed(own, server, "shop")
        written(tmp_path / "shop", TAX)
        own.index()
        pushed(own, server, "shop", "tax")
        (tmp_path / "shop" / "shop" / "tax.py").unlink()
        written(tmp_path / "shop", {"shop/price.py": SHOP["shop/price.py"] + "\n\ndef last():\n    return 1\n"})
        own.index()
        pushed(own, server, "shop")
        assert RemoteGraphMem(server.project("shop@tax")).file_source("shop/price.py").text == ""
        written(tmp_path / "shop", TAX | CHEAP)
        own.index()
        pushed(own, server, "shop", "tax")
        assert RemoteGraphMem(server.project("shop@tax")).file_source("shop/price.py").text == CHEAP["shop/price.py"]
