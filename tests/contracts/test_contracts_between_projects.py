"""`graphmem contracts`: who uses what, in one project and across projects, and what a change breaks."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from graphmem.contracts import projects
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
    projects.keep(roots[:2])
    return roots


def test_other_projects_are_asked_when_they_are_on_the_list(organisation):
    catalogue, _, web = organisation
    with GraphMem.open(repo=catalogue, settings=Settings(embedder="none")) as memory:
        assert names(memory.contracts("/product/{}"))["GET /product/{}"] == []
        projects.keep(organisation)
        answer = memory.contracts("/product/{}")
    assert names(answer)["GET /product/{}"] == ["web:shop.py"]
    assert str(web) in answer.projects
