"""`graphmem contracts`: who uses what, in one project and across projects, and what a change breaks."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem.cli.output import Output
from graphmem.cli.render.impact import impact as impact_text
from graphmem.contracts import projects
from graphmem.errors import BadInputError
from graphmem.injection.experiment import FULL, group_of
from graphmem.mcp_server.impact_text import impact as tool_text
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

PROTO = """\
syntax = "proto3";
package shop.v1;
service Stock {
  rpc Reserve (ReserveRequest) returns (Reserved) {}
}
message ReserveRequest { string sku = 1; int32 pieces = 2; }
message Reserved { bool done = 1; }
"""
STOCK = """\
import stock_pb2_grpc


class Stock(stock_pb2_grpc.StockServicer):
    def Reserve(self, request, context):
        return keep(request.sku, request.pieces)


def serve(server):
    stock_pb2_grpc.add_StockServicer_to_server(Stock(), server)
"""
ORDERS = """\
package main

func buy(ctx context.Context, conn *grpc.ClientConn) {
	client := pb.NewStockClient(conn)
	client.Reserve(ctx, &pb.ReserveRequest{Sku: "a", Pieces: 2})
}
"""


def names(answer):
    return {one.name: [f"{place.project}:{place.path}" for place in one.asked] for one in answer.contracts}


def test_procedures_join_their_callers_and_a_dropped_field_names_who_uses_it(tmp_path, open_memory):
    root = tmp_path / "shop"
    for path, text in {"proto/stock.proto": PROTO, "stock/server.py": STOCK, "orders/main.go": ORDERS}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    memory = open_memory()
    memory.index(root)
    assert names(memory.contracts("Reserve"))["shop.v1.Stock/Reserve"] == [":orders/main.go"]
    assert memory.contracts(base="HEAD").contracts == []
    (root / "proto/stock.proto").write_text(PROTO.replace(" int32 pieces = 2;", ""))
    memory.index()
    broken = memory.contracts(base="HEAD").contracts
    assert [(one.kind, one.name, one.change) for one in broken] == [("field", "shop.v1.ReserveRequest.pieces", "removed")]
    assert [place.path for place in broken[0].asked] == ["orders/main.go", "stock/server.py"]
    assert [one.name for one in memory.review().contracts] == ["shop.v1.ReserveRequest.pieces"]


@pytest.fixture
def organisation(shop, tmp_path, monkeypatch):
    """The services of the shop as repositories of their own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    roots = []
    for name in ("catalogue", "orders", "web"):
        roots.append(shutil.copytree(shop / name, tmp_path / "organisation" / name))
        with GraphMem.open(repo=roots[-1], settings=Settings(embedder="none")) as memory:
            memory.index(roots[-1])
    projects.change(roots[:2])
    return roots


def test_other_projects_are_asked_when_they_are_on_the_list(organisation):
    catalogue, _, web = organisation
    with GraphMem.open(repo=catalogue, settings=Settings(embedder="none")) as memory:
        assert names(memory.contracts("/product/{}"))["GET /product/{}"] == []
        projects.change(organisation)
        answer = memory.contracts("/product/{}")
    assert names(answer)["GET /product/{}"] == ["web:shop.py"]
    assert str(web) in answer.projects


def test_projects_in_folders_of_the_same_name_are_told_apart(organisation, tmp_path):
    catalogue, _, web = organisation
    twin = shutil.copytree(web, tmp_path / "twin" / "catalogue", ignore=shutil.ignore_patterns(".graphmem"))
    with GraphMem.open(repo=twin, settings=Settings(embedder="none")) as memory:
        memory.index(twin)
    projects.change([twin])
    with GraphMem.open(repo=catalogue, settings=Settings(embedder="none")) as memory:
        assert names(memory.contracts("/product/{}"))["GET /product/{}"] == ["twin/catalogue:shop.py"]


@pytest.mark.parametrize("text", ["{", '{"projects": 1}', "[]"])
def test_a_damaged_list_of_projects_is_an_error_and_stays_as_it_is(organisation, tmp_path, text):
    [file] = (tmp_path / "data").rglob("organisation.json")
    file.write_text(text)
    with pytest.raises(BadInputError, match="is damaged"):
        projects.change(organisation)
    with pytest.raises(BadInputError, match="graphmem organisation add"):
        projects.neighbours(organisation[0])
    with GraphMem.open(repo=organisation[0], settings=Settings(embedder="none")) as memory:
        [cause] = [one for one in memory.impact("server.js").causes if one.kind == "projects"]
    assert "is damaged" in cause.message
    assert file.read_text() == text


def test_two_processes_that_add_projects_at_once_lose_none(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    code = "import sys; from pathlib import Path; from graphmem.contracts import projects; projects.change([Path(sys.argv[1])])"
    running = [subprocess.Popen([sys.executable, "-c", code, f"/p{number}"]) for number in range(4)]
    assert [one.wait(timeout=60) for one in running] == [0] * 4
    assert sorted(projects.listed()) == [Path(f"/p{number}") for number in range(4)]


def test_a_name_that_no_contract_has_is_said_to_have_none(organisation):
    with GraphMem.open(repo=organisation[0], settings=Settings(embedder="none")) as memory:
        answer = memory.contracts("nosuch")
    assert answer.count == 0
    assert "no contract's name contains 'nosuch'" in answer.notes[0]


def test_impact_names_the_code_of_other_projects_that_uses_a_route(organisation, capsys):
    catalogue, _, web = organisation
    with GraphMem.open(repo=catalogue, settings=Settings(embedder="none")) as memory:
        handler = memory.contracts("/product/{}").contracts[0].offered[0]
        assert memory.impact(f"{handler.path}:{handler.name}").outside == []
        projects.change([web])
        [use] = memory.impact(f"{handler.path}:{handler.name}").outside
        assert (use.kind, use.name) == ("http", "GET /product/{}")
        assert use.symbol == memory.symbol(f"{handler.path}:{handler.name}").symbol.id
        assert (use.place.project, use.place.path) == ("web", "shop.py")
        assert 0.5 < use.place.confidence <= 1
        assert "web: " in tool_text(memory.impact(handler.name), 2000)
        impact_text(Output(), memory.impact(handler.name), 10)
        said = capsys.readouterr().out
        assert "Other projects" in said
        assert "GET /product/{}" in said
    with GraphMem.open(repo=web, settings=Settings(embedder="none")) as memory:
        asking = use.place.name or "shop.py"
        [used] = [one for one in memory.impact(asking, direction="dependencies").outside if one.name == "GET /product/{}"]
        assert (used.place.project, used.place.path) == ("catalogue", handler.path)


def test_before_an_edit_an_agent_hears_which_other_projects_use_the_route(organisation, monkeypatch):
    monkeypatch.setattr("graphmem.injection.injector.deadline_of", lambda point: 60.0)
    catalogue, _, web = organisation
    projects.change([web])
    given = {"file_path": str(catalogue / "server.js"), "old_string": "res.json(req.params.sku)", "new_string": "res.json({})"}
    with GraphMem.open(repo=catalogue, settings=Settings(embedder="none")) as memory:
        memory.impact("showProduct")  # the graph is open
        session = next(one for one in (f"s{number}" for number in range(1_000)) if group_of(one, memory.project().name) == FULL)
        payload = {"session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Edit", "cwd": str(catalogue), "tool_input": given}
        said = memory.hook("claude-code", json.dumps(payload)).output
    assert "over the network: web: shop.py:" in said
    assert "(GET /product/{})" in said
