"""Names under which frameworks know functions are in the graph, follow edits, and are gone with what said them."""

from __future__ import annotations

import pytest

from graphmem.project.graphmem import GraphMem
from graphmem.reports.exporting import WRITERS

URLS = """\
from django.urls import include, path
import views

urlpatterns = [path("users/<int:id>/", views.user), path("basket/", views.Basket.as_view()), path(prefix + "no/", views.plain)]
"""
VIEWS = """\
def user(request, id):
    return id


def plain(request):
    return None


class Basket:
    def get(self, request):
        return None

    def helper(self):
        return None
"""
APP = """\
import celery
from django.dispatch import Signal, receiver
from flask import Flask

app = Flask(__name__)
saved = Signal()


@app.route("/home", methods=["GET"])
def home():
    return 1


@app.cli.command("init-db")
def init():
    return None


@receiver(saved)
def on_saved(sender):
    return None


def connected(sender):
    return None


saved.connect(connected)
database.connect("file.db")


@celery.task(name="mail.send")
def mail():
    return None
"""
ROUTER = """\
const express = require("express");
const router = express.Router();
function show(request, response) {}
router.get("/a/:id", show);
"""


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    for name, text in (("urls.py", URLS), ("views.py", VIEWS), ("app.py", APP), ("router.js", ROUTER)):
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def memory(tmp_path, tree, monkeypatch):
    monkeypatch.setenv("GRAPHMEM_EMBEDDER", "none")
    with GraphMem.open(tmp_path / "db") as memory:
        memory.index(tree)
        yield memory


def keys(memory: GraphMem) -> set[tuple[str, str, str]]:
    view = memory.parts.graph.view()
    return {(row["kind"], row["name"], view.info(view.index_of[row["symbol_id"]]).ref) for row in memory.parts.store.read("framework_keys")}


ALL = {
    ("route", "users/<int:id>/", "views.py:user"),
    ("route", "basket/", "views.py:Basket"),
    ("route", "basket/", "views.py:Basket.get"),
    ("route", "/home", "app.py:home"),
    ("route", "/a/:id", "router.js:show"),
    ("command", "init-db", "app.py:init"),
    ("event", "saved", "app.py:on_saved"),
    ("event", "saved", "app.py:connected"),
    ("task", "mail.send", "app.py:mail"),
}


def test_every_name_that_is_written_leads_to_what_handles_it_and_computed_ones_to_nothing(memory):
    assert keys(memory) == ALL
    rows = memory.parts.store.read("framework_keys")
    assert {row["source"] for row in rows} == {"ast"}
    rules = {(row["kind"], row["rule"]) for row in rows}
    assert rules == {("route", "route"), ("command", "command"), ("event", "signal"), ("task", "task")}
    assert all(0 < row["confidence"] <= 1 for row in rows)
    assert {row["line"] for row in rows if row["name"] == "/home"} == {APP[: APP.index("@app.route")].count("\n") + 1}
    assert {row["line"] for row in rows if row["name"] == "basket/"} == {0}  # another file says it


def test_a_name_goes_and_comes_with_the_line_that_says_it(memory, tree):
    (tree / "urls.py").write_text(URLS.replace('"basket/"', '"cart/"'))
    memory.parts.runs.run(paths=["urls.py"])
    assert keys(memory) == {(kind, name.replace("basket/", "cart/"), ref) for kind, name, ref in ALL}
    (tree / "urls.py").unlink()
    memory.index()
    assert keys(memory) == {one for one in ALL if one[2].startswith(("app.py", "router.js"))}
    (tree / "urls.py").write_text(URLS)
    memory.index()
    assert keys(memory) == ALL


def test_what_handles_a_name_may_go_and_come_back(memory, tree):
    (tree / "views.py").write_text(VIEWS.replace("def user", "def other"))
    memory.parts.runs.run(paths=["views.py"])
    assert keys(memory) == {one for one in ALL if one[2] != "views.py:user"}
    (tree / "views.py").write_text(VIEWS)
    memory.parts.runs.run(paths=["views.py"])
    assert keys(memory) == ALL


def test_a_new_process_goes_on_and_a_full_run_says_the_same(memory, tree, tmp_path):
    memory.close()
    with GraphMem.open(tmp_path / "db") as again:
        again.index()
        assert keys(again) == ALL
        (tree / "app.py").write_text(APP.replace('"/home"', '"/"'))
        again.index()
        assert ("route", "/", "app.py:home") in keys(again)
        incremental = keys(again)
        again.index(full=True)
        assert keys(again) == incremental


def test_an_edit_elsewhere_does_not_write_them_again(memory, tree, monkeypatch):
    calls = []
    monkeypatch.setattr(memory.parts.store, "put_handles", lambda *given: calls.append(given), raising=False)
    (tree / "views.py").write_text(VIEWS.replace("return id", "return id + 1"))
    memory.parts.runs.run(paths=["views.py"])
    (tree / "urls.py").write_text(URLS + "\n# a comment\n")
    memory.parts.runs.run(paths=["urls.py"])
    assert calls == []


def test_they_are_exported_and_shown_with_the_entry_points(memory):
    rows = list(memory.export())
    nodes = {row["name"]: row for row in rows if row["kind"] == "FrameworkKey"}
    assert nodes["users/<int:id>/"]["key_kind"] == "route"
    assert nodes["users/<int:id>/"]["framework"] == "django"
    joined = {(row["src"]["qualname"], row["dst"]["qualname"]) for row in rows if row["kind"] == "HANDLES"}
    assert ("user", "route users/<int:id>/ django") in joined
    assert len(joined) == len(ALL)
    for writer in WRITERS.values():
        assert "init-db" in "".join(writer(iter(rows)))
    told = {(name.kind, name.name, one.symbol.ref) for one in memory.entry_points(limit=100).entry_points for name in one.names}
    assert told >= {one for one in ALL if one[0] in ("route", "command")}
