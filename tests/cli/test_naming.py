"""References in the notation of editors and GraphQL, at every interface.

One bad reference among several does not affect the others.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from graphmem.api.requests.ids import global_id
from graphmem.project.graphmem import GraphMem
from graphmem.runtime.texts.naming import in_project, raw
from graphmem.settings import Settings


def test_places_of_files_inside_the_project_become_paths(tmp_path: Path) -> None:
    root = tmp_path / "a pro:ject"
    (root / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    uri = "file://" + quote(str(root))
    for given, wanted in [
        (f"{root}/src/a.py", "src/a.py"),
        (f"{root}/src/a.py:12", "src/a.py:12"),
        (f"{uri}/src/a%20b.py:Class.method", "src/a b.py:Class.method"),
        (f"{uri.replace('file://', 'file://localhost')}/src/a.py", "src/a.py"),
        (f"{tmp_path}/link/src/a.py:f", "src/a.py:f"),
        ("src/a.py", "src/a.py"),
        ("/elsewhere/a.py", "/elsewhere/a.py"),
        (f"{root}er/a.py", f"{root}er/a.py"),
        ("file://host/a.py", "file://host/a.py"),
        ("file:///\0", "file:///\0"),
        ("file://[", "file://["),
    ]:
        assert in_project(given, root) == wanted
        assert in_project(given, None) == given


def test_global_ids_become_ids_and_nothing_else_does() -> None:
    assert raw(global_id("Memory", "commit-1")) == "commit-1"
    for plain in ("a.b", "YWJj", global_id("offset", "3"), "é", "", "Symbol:1"):
        assert raw(plain) == plain


@pytest.mark.parametrize("served", [False, True])
def test_a_file_may_be_named_as_editors_do(graphmem, serve, shop: Path, served: bool) -> None:
    assert graphmem("index", cwd=shop).code == 0
    with GraphMem.open(repo=shop, settings=Settings(embedder="none")) as memory:
        path = next(one.path for one in memory.files()[0] if one.path.endswith(".py") and one.lines > 3)
        symbol = next(one for one in memory.symbols("")[0] if one.path == path and one.kind == "function")
    if served:
        serve(shop).wait_until_it_answers()
    ids = {}
    for given in (path, str(shop / path), (shop / path).as_uri()):
        ran = graphmem("symbol", f"{given}:{symbol.name}", "--json", cwd=shop)
        assert ran.code == 0, ran.said
        ids[given] = json.loads(ran.out)["symbol"]["id"]
        ran = graphmem("impact", f"{given}:{symbol.start_line}", "--json", cwd=shop)
        assert ran.code == 0, ran.said
        ran = graphmem("remember", f"The file given as {len(given)} characters is what it is about.", "--file", given, "--json", cwd=shop)
        assert ran.code == 0, ran.said
        assert path in json.loads(ran.out)["memory"]["files"]
    assert set(ids.values()) == {symbol.id}
    assert graphmem("symbol", global_id("Symbol", symbol.id), cwd=shop).code == 0


def test_ids_of_graphql_are_taken_wherever_an_id_is(graphmem, shop: Path) -> None:
    assert graphmem("index", cwd=shop).code == 0
    ran = graphmem("remember", "The till is never left open over night.", "--json", cwd=shop)
    memory = json.loads(ran.out)["memory"]["id"]
    for command in (("memory", "show"), ("forget",)):
        ran = graphmem(*command, global_id("Memory", memory), cwd=shop)
        assert ran.code == 0, (command, ran.said)


@pytest.mark.parametrize("served", [False, True])
def test_one_bad_target_of_several_is_reported_and_the_others_are_answered(graphmem, serve, indexed: Path, served: bool) -> None:
    with GraphMem.open(repo=indexed, settings=Settings(embedder="none")) as memory:
        good = next(one for one in memory.symbols("")[0] if one.kind == "function")
        report = memory.impact(["no_such_thing", good.ref, "", good.ref])
    assert [one.id for one in report.targets] == [good.id]
    assert [(one.ref, one.code) for one in report.missed] == [("no_such_thing", "NOT_FOUND"), ("", "BAD_INPUT")]
    if served:
        serve(indexed).wait_until_it_answers()
    ran = graphmem("impact", "no_such_thing", good.ref, cwd=indexed)
    assert ran.code == 1
    assert "left out: the index has no symbol or file named 'no_such_thing'" in ran.err
    assert good.name in ran.out
    ran = graphmem("impact", "no_such_thing", good.ref, "--json", cwd=indexed)
    assert ran.code == 1
    assert [one["ref"] for one in json.loads(ran.out)["missed"]] == ["no_such_thing"]
    ran = graphmem("impact", "no_such_thing", "nor_this", cwd=indexed)
    assert ran.code == 1
    assert "no_such_thing" in ran.said
