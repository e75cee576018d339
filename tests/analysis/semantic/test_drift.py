"""What is promised of drift, and that every interface gives the same answers."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from commands import run_here
from graphmem.answers import to_json
from graphmem.errors import GitError
from graphmem.project.graphmem import GraphMem

BEFORE = {
    "shop/__init__.py": "from shop.orders import order\n",
    "shop/orders.py": "from shop.stock import left\n\n\ndef order(name):\n    return left(name)\n\n\ndef cancel(name):\n    return None\n",
    "shop/stock.py": "def left(name):\n    return 1\n",
    ".gitattributes": "shop/stock.py export-ignore\n",
}
AFTER = {
    "shop/orders.py": "from shop.stock import left\n\n\ndef order(name, count=1):\n    return left(name)\n",
    "shop/stock.py": "def left(name):\n    from shop import orders\n\n    return orders.order(name)\n",
}


def test_drift_says_what_breaks_others_and_which_cycles_are_new(repository, tmp_path):
    root = repository(BEFORE)
    repository(AFTER)
    before = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True).stdout
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.drift("HEAD~1", "HEAD")
        assert {(one.change, one.symbol.qualname) for one in found.api} == {("removed", "cancel"), ("signature", "order")}
        assert found.api_counts == {"removed": 1, "signature": 1}
        assert [one.before for one in found.api if one.change == "signature"] == ["def order(name)"]
        cycles = [one for one in found.new_cycles if one.level == "files"]
        assert [one.members for one in cycles] == [["shop/orders.py", "shop/stock.py"]] or cycles[0].members[0].startswith("shop/")
        assert found.resolved_cycles == []
        assert len(found.base) == 40
        back = service.drift("HEAD", "HEAD~1")
        assert back.resolved_cycles
        assert not back.new_cycles
        assert service.drift("HEAD~1").api == found.api, "the index as it is, is the head"
        with pytest.raises(GitError):
            service.drift("nowhere")
        with pytest.raises(GitError, match="unknown revision"):
            service.drift("--output=x")
    after = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert before == after, "neither the tree nor git's own index was touched"


def test_a_module_that_comes_or_goes_is_named(repository, tmp_path):
    def package(name: str, others: str = "") -> dict[str, str]:
        files = {f"src/{name}/__init__.py": ""}
        for i in range(6):
            files[f"src/{name}/part{i}.py"] = (
                f"from {name}.part{(i + 1) % 6} import f{(i + 1) % 6}\n{others}\n\ndef f{i}():\n    return f{(i + 1) % 6}()\n"
            )
        return files

    root = repository(package("first"))
    repository(package("second", "from first.part0 import f0 as other"))
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.drift("HEAD~1")
    (added,) = [one for one in found.modules if one.change == "added"]
    assert added.name.startswith("second")
    (depends,) = [one for one in found.dependencies if (one.src, one.dst, one.change) == (added.name, "first", "added")]
    assert depends.sites
    assert depends.before == 0 < depends.after


@pytest.mark.parametrize(
    ("command", "verb"),
    [
        (["modules"], lambda service: service.modules()),
        (["modules", "drawing"], lambda service: service.module("drawing")),
        (["cycles", "--level", "modules", "-n", "3"], lambda service: service.cycles("modules", 3)),
        (["entry-points", "-n", "4"], lambda service: service.entry_points(limit=4)),
        (["flows", "-n", "3"], lambda service: service.flows(limit=3)),
        (["hotspots", "--level", "symbols", "-n", "3"], lambda service: service.hotspots("symbols", 3)),
        (["central", "-n", "3"], lambda service: service.central_symbols(3)),
        (["dead-code", "-c", "0", "-n", "5"], lambda service: service.dead_code(0.0, 5)),
        (["duplicates", "-n", "3"], lambda service: service.duplicates(limit=3)),
        (["export", "--view", "modules", "--format", "svg"], lambda service: service.export_view("modules", "svg").text),
        (["report"], lambda service: service.report().text),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_every_door_gives_the_same_answer(served, command, verb):
    """A server answers over GraphQL; the command line asks it, and so does the Python client."""
    here, client, folder = served
    mine = to_json(verb(here))
    assert to_json(verb(client)) == mine
    plain = command[0] in ("export", "report")
    done = run_here(os.environ, *command, "--db", folder, *([] if plain else ["--json"]))
    assert done.code == 0, done.err
    assert (done.out if plain else json.loads(done.out)) == mine
