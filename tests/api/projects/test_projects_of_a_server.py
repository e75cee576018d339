"""One server answers for many projects: they are pushed to it, opened when they are asked, and asked together."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import signal
import subprocess
import sys
import time
import uuid
import zlib
from functools import partial
from unittest import mock

import anyio
import httpx
import psycopg
import pytest
from mcp.client import Client

from commands import environ, git, graphmem
from graphmem.answers import to_json
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import BadInputError, GitError, GraphMemError, StoreClosedError
from graphmem.project.graphmem import GraphMem
from graphmem.project.hosted import pushed_parts
from graphmem.project.hosted.pushed_parts import PushedParts
from graphmem.project.hosted.pushing import Pushing
from graphmem.server.hosting import Hosting
from graphmem.store.wire import packed
from hosted import SETTINGS, SHOP, SITE, hosted, indexed, written

__all__ = ["environ", "graphmem"]


TAX = "\n\ndef tax(prices):\n    return total(prices)\n"
NEW = {"shop/new.py": "from shop.price import total\n\n\ndef new():\n    return total([])\n"}
OUTSIDE = ["../evil.py", "/etc/evil.py", ".graphmem/tokens.json", "a/../../evil.py", "a\0b", ".git/hooks/post-commit"]


@pytest.fixture
def server(tmp_path):
    with hosted(tmp_path / "srv") as running:
        yield running


def test_pushed_projects_are_listed_searched_and_followed_from_one_to_the_other(tmp_path, server, graphmem):
    for name, files in (("shop", SHOP), ("site", SITE)):
        root = written(tmp_path / name, files)
        assert graphmem("index", cwd=root).code == 0
        ran = graphmem("push", server.project(name), cwd=root)
        assert (ran.code, f"{len(files)} file" in ran.out) == (0, True), ran.said
    listed = json.loads(graphmem("projects", "--json", "--server", server.address, cwd=tmp_path).out)["projects"]
    assert [(one["name"], one["path"], one["files"]) for one in listed] == [("shop", "/p/shop", 2), ("site", "/p/site", 1)]
    found = json.loads(graphmem("search-projects", "cart", "--json", "--server", server.address, cwd=tmp_path).out)
    assert {one["project"] for one in found["hits"][:2]} == {"shop", "site"}
    impact = json.loads(
        graphmem("impact-projects", "rounded", "--in-project", "shop", "--json", "--server", server.address, cwd=tmp_path).out
    )
    [reached] = impact["reached"]
    assert (reached["project"], reached["through"], reached["place"]["name"]) == ("site", "http GET /carts/{}", "cart_of")
    assert [one["qualname"] for one in reached["affected"]] == ["page"]
    ran = graphmem("impact", "rounded", cwd=tmp_path, GRAPHMEM_SERVER=server.project("shop"))
    assert "show_cart" in ran.out, ran.said


def test_a_pushed_project_answers_as_its_own_index(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
        remote = RemoteGraphMem(server.project("shop"))
        for operation, arguments in (
            ("impact", (["rounded"],)),
            ("symbols", ("total",)),
            ("search", ("how is the total rounded",)),
            ("outline", ("shop/app.py",)),
            ("file_source", ("shop/app.py",)),
            ("occurrences", ("shop/app.py",)),
            ("entry_points", ()),
            ("path", ("show_cart", "rounded")),
            ("symbol", ("total", True)),
        ):
            here, there = (_plain(getattr(one, operation)(*arguments)) for one in (own, remote))
            assert here == there, operation


def test_agents_of_one_project_hear_of_the_others(tmp_path, server):
    for name, files in (("shop", SHOP), ("site", SITE)):
        with indexed(tmp_path / name, files) as own:
            own.push_index(server.project(name))

    async def asked(name: str, **arguments) -> str:
        async with Client(f"{server.project('shop')}/mcp") as client:
            return "\n".join(part.text for part in (await client.call_tool(name, arguments)).content)

    breaks = anyio.run(partial(asked, "impact", targets=["rounded"]))
    assert "other projects use it (1):\n- site: site/client.py:5 cart_of (http GET /carts/{}) " in breaks
    assert "; 1 depends on it: page" in breaks
    found = anyio.run(partial(asked, "search", query="cart", everywhere=True))
    assert "searched shop, site" in found
    assert "site: function site/client.py:4 cart_of" in found
    assert "shop: function shop/app.py:" in found


def test_a_search_of_all_projects_holds_back_what_a_person_has_to_review_and_refuses_what_it_cannot_do(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
    with RemoteGraphMem(server.project("shop")) as remote:
        remote.remember("Carts are sent to the address in this page.", "gotcha", contaminated=True)
        remote.remember("Carts are emptied at night.", "fact")

    async def asked(**arguments) -> str:
        async with Client(f"{server.project('shop')}/mcp") as client:
            return "\n".join(
                part.text for part in (await client.call_tool("search", {"query": "carts", "everywhere": True, **arguments})).content
            )

    found = anyio.run(asked)
    assert "Carts are emptied at night" in found
    assert "sent to the address" not in found
    assert "1 more wait for a person's review: text from outside" in found
    assert anyio.run(partial(asked, files=["shop/app.py"])) == "`everywhere` cannot be combined with files; omit files"


def _plain(answer):
    text = json.dumps(to_json(answer))
    found = json.loads(text)

    def without(value):
        if isinstance(value, dict):
            return {name: without(one) for name, one in value.items() if name not in ("state", "generation", "indexed_at")}
        return [without(one) for one in value] if isinstance(value, list) else value

    return without(found)


def test_questions_about_git_say_that_the_server_has_no_repository(tmp_path, server):
    git(tmp_path, "init", "-q")  # around the server's directory; it is not the project's
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Of another project")
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
    remote = RemoteGraphMem(server.project("shop"))
    why = "the server has no repository of this project"
    assert [why in note for note in remote.commits().notes] == [True]
    assert [why in note for note in remote.reviewers("shop/price.py").notes] == [True]
    assert "pushed to this server without commits" in " ".join(remote.co_access(["shop/price.py"]).notes)
    assert remote.remember("Prices are whole cents.").memory.commit_sha == ""
    for asked in (lambda: remote.review(base="HEAD"), lambda: remote.impact(["rounded"], as_of="HEAD")):
        with pytest.raises(
            (BadInputError, GitError), match=r"has no repository of this project|has no Git repository in which to look up a revision"
        ):
            asked()


def test_a_push_sends_the_commits_that_the_server_lacks(tmp_path, server, monkeypatch):
    settings = dataclasses.replace(SETTINGS, git_history=True)
    first, second = written(tmp_path / "a" / "shop", SHOP), tmp_path / "b" / "shop"

    def commit(root, text):
        for name in SHOP:
            (root / name).write_text(SHOP[name] + f"\n\nLAST = {text!r}\n", encoding="utf-8")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", text)

    def push(root):
        with GraphMem.open(repo=root, settings=settings) as own:
            own.index(root)
            return own.push_index(server.project("shop")).commits

    git(first, "init", "-q")
    for text in ("one", "two", "three"):
        commit(first, text)
    git(tmp_path, "clone", "-q", str(first), str(second))
    monkeypatch.setattr("graphmem.project.hosted.pushed_commits.MOST", 2)
    assert [push(first) for _ in range(3)] == [2, 1, 0], "a limit of one push leaves the older commits to the next"
    remote = RemoteGraphMem(server.project("shop"))
    found = remote.co_access(["shop/price.py"])
    assert ([(one.path, one.commits) for one in found.hits], found.notes) == ([("shop/app.py", 3)], [])
    commit(second, "four")
    assert push(second) == 1
    assert push(first) == 0, "the server has them all"
    assert remote.co_access(["shop/price.py"]).hits[0].commits == 4
    assert [one.churn > 0 for one in remote.hotspots().hotspots] == [True, True]


@pytest.mark.parametrize("wrong", [["../evil.py"], ["shop/price.py", "/etc/passwd"], 7])
def test_commits_that_are_not_valid_are_refused(tmp_path, server, wrong):
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
    body = packed([["a" * 40, 1.0, "", ["shop/price.py"], [], [], True], ["b" * 40, 1.0, "", wrong, [], [], True]])
    answer = httpx.post(server.project("shop") + "/push/commits", content=body)
    assert answer.json()["errors"][0]["extensions"]["code"] == "BAD_INPUT"
    assert httpx.get(server.project("shop") + "/push/commits").json() == {"keys": []}


def test_a_second_push_sends_what_changed_and_nothing_else(tmp_path, server):
    root = tmp_path / "shop"
    with indexed(root, SHOP | {"shop/old.py": "def old():\n    return 1\n"}) as own:
        assert own.push_index(server.project("shop")).sent == 3
        assert own.push_index(server.project("shop")).sent == 0
        (root / "shop" / "old.py").unlink()
        (root / "shop" / "price.py").write_text(
            SHOP["shop/price.py"] + "\n\ndef tax(prices):\n    return total(prices)\n", encoding="utf-8"
        )
        own.index(root)
        pushed = own.push_index(server.project("shop"))
        assert (pushed.sent, pushed.removed, pushed.unchanged, pushed.generation) == (1, 1, 1, 2)
        remote = RemoteGraphMem(server.project("shop"))
        assert {one.symbol.name for one in remote.impact(["rounded"]).hits} == {"total", "tax", "show_cart"}
        assert not (tmp_path / "srv" / "shop" / "shop" / "old.py").exists()
        assert [one.path for one in remote.files().files] == ["shop/app.py", "shop/price.py"]


def test_a_fresh_index_of_a_runner_pushes_only_differences(tmp_path, server):
    with indexed(tmp_path / "laptop" / "shop", SHOP) as laptop:
        laptop.push_index(server.project("shop"))
    with indexed(tmp_path / "runner" / "shop", SHOP | NEW) as ci:
        pushed = ci.push_index(server.project("shop"))
    assert (pushed.sent, pushed.unchanged) == (1, 2)
    with indexed(tmp_path / "runner" / "other", SHOP) as other, pytest.raises(BadInputError, match="directory named 'shop'"):
        other.push_index(server.project("shop"))


def test_memories_follow_the_code_of_a_push(tmp_path, server):
    root = tmp_path / "shop"
    with indexed(root, SHOP) as own:
        own.push_index(server.project("shop"))
        remote = RemoteGraphMem(server.project("shop"))
        kept = remote.remember("Prices are whole cents.", symbols=["rounded"]).memory
        assert [one.anchor for one in kept.about] == ["valid"]
        (root / "shop" / "price.py").write_text(SHOP["shop/price.py"].replace("round(cents)", "round(cents, 0)"), encoding="utf-8")
        own.index(root)
        own.push_index(server.project("shop"))
        assert [one.anchor for one in remote.memory(kept.id).about] == ["suspect"]


def test_projects_are_opened_on_demand_and_closed_when_idle(tmp_path):
    with indexed(tmp_path / "shop", SHOP) as own, hosted(tmp_path / "srv", idle_s=0.5) as server:
        own.push_index(server.project("shop"))
        assert server.hosting.is_open("shop")
        deadline = time.monotonic() + 30
        while server.hosting.is_open("shop") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not server.hosting.is_open("shop")
        assert RemoteGraphMem(server.project("shop")).impact(["rounded"]).total == 2
        [listed] = RemoteGraphMem(server.address).projects().projects
        assert (listed.is_open, listed.files) == (True, 2)
        _until(lambda: not server.app._turns and not server.hosting._turns)  # locks are kept only while they are used


def _status(server):
    answer = httpx.get(f"{server.address}/ready", trust_env=False)
    return answer.status_code, answer.json()["status"]


def _until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_check_for_idle_projects_that_fails_is_told_and_repeated(tmp_path, monkeypatch):
    with indexed(tmp_path / "shop", SHOP) as own, hosted(tmp_path / "srv", idle_s=0.5) as server:
        own.push_index(server.project("shop"))
        assert _status(server) == (200, "ok")
        with monkeypatch.context() as patch:
            patch.setattr(server.hosting, "close_idle", mock.Mock(side_effect=OSError(errno.EMFILE, "Too many open files")))
            _until(lambda: _status(server) == (200, "degraded"))
            [part] = [one for one in RemoteGraphMem(server.address).health().parts if one.degraded]
            assert part.degraded == "idle projects are not closed; the log of the server has the reason"
            assert server.hosting.is_open("shop")
        _until(lambda: not server.hosting.is_open("shop") and _status(server) == (200, "ok"))


def test_a_project_whose_branches_cannot_be_read_costs_the_others_nothing(tmp_path, monkeypatch):
    with hosted(tmp_path / "srv", idle_s=0.2) as server:
        for name in ("a", "b"):
            server.hosting.make(name, "")
        seen = []

        def fail(name):
            seen.append(name)
            if name == "a":
                raise OSError(errno.EIO, "Input/output error")
            return []

        monkeypatch.setattr(server.hosting, "drop_expired", fail)
        _until(lambda: seen.count("b") > 1)
        assert _status(server) == (200, "ok")


def test_a_server_whose_directory_cannot_be_read_is_not_ready(tmp_path, server, monkeypatch):
    monkeypatch.setattr(server.hosting, "names", mock.Mock(side_effect=OSError(errno.EMFILE, "Too many open files")))
    assert _status(server) == (503, "degraded")


def test_only_so_many_unused_projects_stay_open(tmp_path):
    hosting = Hosting(tmp_path / "srv", SETTINGS, most_open=2)
    for name in ("a", "b", "c"):
        hosting.make(name, "")
        with hosting.using(name) as service:
            assert service.state().generation == 0
    assert [hosting.is_open(one) for one in ("a", "b", "c")] == [False, True, True]
    hosting.close()


def _post(server, path, body):
    return httpx.post(server.project("shop") + path, content=body, timeout=30, trust_env=False).json()


def _end(parts, path, base=0):
    meta = {"indexed_at": "2026-01-01T00:00:00+00:00", "made_by": "", "project": "shop", "run": "r", "evidence": ""}
    last = {"format": 1, "base": base, "parts": parts, "digests": {path: "d"}, "meta": meta, "contracts": {}, "handles": []}
    return zlib.compress(json.dumps(last).encode())


@pytest.mark.parametrize(
    "path", ["../evil.py", "/etc/evil.py", ".graphmem/tokens.json", "a/../../evil.py", "a\0b", ".git/hooks/post-commit"]
)
def test_a_push_cannot_leave_its_directory(tmp_path, server, path):
    push = uuid.uuid4().hex
    row = ["f", path, "python", "", "h", 1, 1, False, 0, "", 0]
    part = {"rows": {"files": [row]}, "externals": {}, "texts": {path: "print()"}}
    assert _post(server, f"/push/{push}/0", zlib.compress(json.dumps(part).encode())) == {"kept": 0}
    [error] = _post(server, f"/push/{push}/end", _end(1, path))["errors"]
    assert "is not a source file inside the project" in error["message"]
    assert [one.name for one in (tmp_path / "srv").rglob("evil.py")] + [one.name for one in tmp_path.glob("evil.py")] == []
    with server.hosting.using("shop") as service:
        assert service.state().generation == 0


def test_a_damaged_or_incomplete_push_changes_nothing(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
    push = uuid.uuid4().hex
    wrong = {b"no": "damaged", _end(3, "a.py", 1): "missing", _end(0, "a.py", 1): "lacks the data of", _end(0, "a.py"): "another push"}
    for body, said in wrong.items():
        [error] = _post(server, f"/push/{push}/end", body)["errors"]
        assert said in error["message"]
    assert RemoteGraphMem(server.project("shop")).state().generation == 1


def test_a_push_is_limited_in_parts_and_bytes(tmp_path, server, monkeypatch):
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
        push, folder = uuid.uuid4().hex, tmp_path / "srv" / "shop" / ".graphmem" / "pushing"

        def refused(number, body):
            [error] = _post(server, f"/push/{push}/{number}", body)["errors"]
            return error["message"]

        assert "more than 10,000 parts" in refused(10_000, b"a")
        assert _post(server, f"/push/{push}/9999", b"a") == {"kept": 9999}
        monkeypatch.setattr(pushed_parts, "MOST_KEPT", 1_000)
        assert "unfinished pushes of the project have more than 1,000 bytes" in refused(0, bytes(1_000))
        assert [one.name for one in folder.glob("*/*")] == ["9999"], "a refused part is not stored"
        for one in folder.iterdir():
            os.utime(one, (0, 0))
        push = uuid.uuid4().hex
        assert _post(server, f"/push/{push}/0", bytes(990)) == {"kept": 0}, "interrupted pushes are deleted"
        monkeypatch.undo()

        monkeypatch.setattr(pushed_parts, "MOST_PUSH", 10_000)
        parts = [packed({"rows": {}, "externals": {}, "texts": {}, "more": " " * 6_000})] * 2
        for number, part in enumerate(parts):
            assert _post(server, f"/push/{push}/{number}", part) == {"kept": number}
        [error] = _post(server, f"/push/{push}/end", _end(2, "a.py", 1))["errors"]
        assert "the push has more than 10,000 bytes" in error["message"]
        assert RemoteGraphMem(server.project("shop")).state().generation == 1
        assert list(folder.iterdir()) == []


def test_one_part_of_a_push_is_read_at_a_time(tmp_path):
    parts = PushedParts(tmp_path, "0" * 32)
    parts.keep(0, packed(["first"]))
    reading = iter(parts.read(2))
    assert next(reading) == ["first"]
    parts.keep(1, packed(["second"]))
    assert list(reading) == [["second"]]
    with pytest.raises(BadInputError, match="a part of the pushed index is missing"):
        list(parts.read(3))


def test_a_first_push_is_refused_with_the_reason(tmp_path, server):
    (tmp_path / "srv" / "shop").write_text("A file where the project should be.")
    with indexed(tmp_path / "shop", SHOP) as own:
        with pytest.raises(BadInputError, match="invalid project name 'Shop'; use up to 63 lower-case letters"):
            own.push_index(server.project("Shop"))
        with pytest.raises(GraphMemError, match=r"creating a project failed: .*; check the disk"):
            own.push_index(server.project("shop"))


def test_a_push_that_another_one_overtook_begins_again(tmp_path, server, monkeypatch):
    with indexed(tmp_path / "laptop" / "shop", SHOP) as laptop, indexed(tmp_path / "ci" / "shop", SHOP | {"shop/b.py": "B = 1\n"}) as ci:
        files, begun = Pushing._files, []

        def late(self):
            if not begun:
                begun.append(True)
                assert ci.push_index(server.project("shop")).generation == 1
            return files(self)

        monkeypatch.setattr(Pushing, "_files", late)
        assert laptop.push_index(server.project("shop")).generation == 2
    assert [one.path for one in RemoteGraphMem(server.project("shop")).files().files] == ["shop/app.py", "shop/price.py"]


def test_questions_without_a_project_name_the_projects(tmp_path, server):
    with indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
    with pytest.raises(BadInputError, match="/p/NAME, where NAME is one of shop"):
        RemoteGraphMem(server.address).symbols("total")
    with pytest.raises(BadInputError, match="unknown project 'no'"):
        RemoteGraphMem(server.address).search_projects("cart", projects=["no"])
    with pytest.raises(BadInputError, match="graphmem push"):
        RemoteGraphMem(server.project("shop")).index()
    assert httpx.get(server.project("no") + "/push", trust_env=False).status_code == 200, "the first push makes a project"
    assert httpx.post(server.project("other") + "/graphql", json={}, trust_env=False).status_code == 404


def test_one_project_alone_answers_for_itself(tmp_path):
    with indexed(tmp_path / "shop", SHOP) as own:
        assert [(one.name, one.path, one.is_open) for one in own.projects().projects] == [("shop", "", True)]
        assert own.search_projects("rounded").hits[0].hit.qualname == "rounded"
        assert own.impact_projects("rounded").total == 2


# Runs the command; when the interpreter shuts down, prints the threads that are still there.
TELLS_THREADS = """
import atexit, sys, threading
others = lambda: [one.name for one in threading.enumerate() if one is not threading.main_thread()]
atexit.register(lambda: print("threads at the end:", others(), file=sys.stderr, flush=True))
from graphmem.__main__ import run
run()
"""


def test_a_server_that_stops_closes_the_project_that_it_is_opening(tmp_path):
    with hosted(tmp_path / "srv") as server, indexed(tmp_path / "shop", SHOP) as own:
        own.push_index(server.project("shop"))
    hosting, opened = Hosting(tmp_path / "srv", SETTINGS), GraphMem.open
    services = []

    def slow(*given, **more):
        services.append(opened(*given, **more))
        hosting.close()  # in the meantime
        return services[0]

    with mock.patch.object(GraphMem, "open", slow), pytest.raises(BadInputError, match="shutting down"):
        hosting.acquire("shop")
    with pytest.raises(StoreClosedError):
        services[0].remember("Closed.")
    assert not hosting.is_open("shop")
    hosting.release("shop")  # of a request that began before


def test_a_database_that_does_not_answer_is_told_at_the_start(tmp_path, graphmem):
    ran = graphmem(
        "serve", "--projects", str(tmp_path / "srv"), "--store", f"postgresql:///gm?host={tmp_path}", "--port", "0", cwd=tmp_path
    )
    assert ran.code == 1
    assert "serves" not in ran.said
    assert "database" in ran.said


def test_the_command_serves_a_directory_whose_graphs_are_in_postgresql(tmp_path, postgres, environ):
    url = postgres.make(f"d{uuid.uuid4().hex}")
    command = [sys.executable, "-X", "faulthandler", "-c", TELLS_THREADS]
    command += ["serve", "--projects", str(tmp_path / "srv"), "--store", url, "--port", "0", "--quiet"]
    for stop in (signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen(command, env=environ, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                address = process.stdout.readline().strip()
                remote = RemoteGraphMem(f"{address}/p/shop")
                if stop is signal.SIGTERM:
                    with indexed(tmp_path / "shop", SHOP) as own:
                        own.push_index(f"{address}/p/shop")
                assert remote.impact(["rounded"]).total == 2
                process.send_signal(stop)
                said = process.communicate(timeout=30)[1]
                assert process.returncode == 0, said
                assert "Traceback" not in said
                assert "threads at the end: []" in said  # one in native code could abort the process
            finally:
                process.kill()
    with psycopg.connect(url) as db:
        assert db.execute("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'graph%'").fetchone() == (1,)
    assert not (tmp_path / "srv" / "shop" / ".graphmem" / "graph.db").exists()
