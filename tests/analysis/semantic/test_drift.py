"""Architecture drift, and that every interface gives the same answers."""

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


PLAIN = {"run.py": "from web.views import page\n\n\ndef main():\n    page()\n\n\nif __name__ == '__main__':\n    main()\n"}


def _website(views: str) -> dict[str, str]:
    """Return a program without a public API: nothing is exported, and no `__init__` imports anything."""
    return {
        **PLAIN,
        "web/views.py": f"from web.forms import Form\nfrom store.rows import load\n\n\n{views}",
        "web/forms.py": "class Form:\n    def clean(self):\n        return 1\n\n\ndef field(name):\n    return name\n",
        "web/urls.py": "from web import views\nfrom web.forms import field\n\nROUTES = [views.page, field]\n",
        "store/rows.py": "from store.files import read\n\n\ndef load():\n    return read()\n",
        "store/files.py": "def read():\n    return 1\n",
    }


def test_definitions_that_other_files_use_are_compared_though_nothing_is_exported(repository, tmp_path):
    root = repository(_website("def page():\n    return Form().clean(), load()\n"))
    repository(
        {
            "web/views.py": "from web.forms import Form\nfrom store.rows import load\n\n\n"
            "def page(size=1):\n    return _own(), load(), Form()\n\n\ndef other():\n    return 2\n\n\ndef _own():\n    return 3\n",
            "web/forms.py": "class Form:\n    def clean(self):\n        return 1\n",
            "web/urls.py": "from web import views\n\nROUTES = [views.page, views.other]\n",
        }
    )
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.drift("HEAD~1")
    assert {(one.change, one.symbol.qualname, one.public) for one in found.api} == {
        ("added", "other", False),
        ("removed", "field", False),
        ("signature", "page", False),
    }, "and neither _own, which only its own file uses, nor what stayed as it was"


def test_a_function_that_a_public_function_makes_is_not_public(repository, tmp_path):
    """The shape of pocketbase's pages, where a function sets `input.onchange` of an element that it makes."""
    page = "export function page(input) {\n  input.value = 1;\n  return input;\n}\n"
    repository({"package.json": '{"name": "web", "main": "page.js"}', "page.js": page})
    root = repository({"page.js": page.replace("input.value = 1;", "input.onchange = () => save();\n  function save() { return 2; }")})
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        assert service.drift("HEAD~1").api == []


def test_a_library_in_a_folder_called_tools_is_compared_and_a_migration_is_not(repository, tmp_path):
    """The shape of pocketbase, whose packages are in `tools`."""
    repository({"go.mod": "module example.org/base\n", "tools/routine/routine.go": "package routine\n\nfunc Run() int { return 1 }\n"})
    root = repository(
        {
            "tools/routine/routine.go": "package routine\n\nfunc Run() int { return 1 }\n\nfunc SafeWrap() int { return 2 }\n",
            "migrations/first.go": "package migrations\n\nfunc Up() int { return 3 }\n",
        }
    )
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.drift("HEAD~1")
    assert [(one.change, one.symbol.qualname, one.public) for one in found.api] == [("added", "SafeWrap", True)]


def test_dependencies_are_compared_by_one_division_even_if_files_move(repository, tmp_path):
    def package(name: str, others: str = "") -> dict[str, str]:
        return {
            f"{name}/part{i}.py": f"from {name}.part{(i + 1) % 6} import f{name}{(i + 1) % 6}\n{others}\n\ndef f{name}{i}():\n"
            f"    return f{name}{(i + 1) % 6}()\n"
            for i in range(6)
        }

    uses = package("web", "from store.part0 import fstore0\nVALUE = fstore0()\n")
    helper = "def helping():\n    return 'text'\n\n\ndef more():\n    return 'x' * 7\n"
    root = repository({**package("store"), **uses, "web/helper.py": helper})
    (root / "web/helper.py").unlink()
    repository({"web/inner/aid.py": helper, "web/part1.py": uses["web/part1.py"] + "\n\ndef third():\n    return fstore0()\n"})
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.drift("HEAD~1")
    assert [(one.src, one.dst, one.change) for one in found.dependencies if one.change in ("added", "removed")] == []
    assert not [one for one in found.modules if one.change in ("added", "removed")], "a renamed file is in the module that it is in now"
    assert not found.new_cycles
    assert not found.resolved_cycles
    assert found.modularity_before != 0


def test_files_of_a_removed_folder_are_a_removed_module(repository, tmp_path):
    root = repository(_website("def page():\n    return Form().clean(), load()\n"))
    for name in ("rows", "files"):
        (root / f"store/{name}.py").unlink()
    repository({"web/views.py": "from web.forms import Form\n\n\ndef page():\n    return Form().clean()\n"})
    with GraphMem.open(tmp_path / "db") as service:
        service.index(root)
        found = service.drift("HEAD~1")
    assert [(one.name, one.files_before, one.files_after) for one in found.modules if one.change == "removed"] == [("store", 2, 0)]
    assert [(one.dst, one.change) for one in found.dependencies] == [("store", "removed")]


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
    """A server, the command line and the Python client give one answer."""
    here, client, folder = served
    mine = to_json(verb(here))
    assert to_json(verb(client)) == mine
    plain = command[0] in ("export", "report")
    done = run_here(os.environ, *command, "--db", folder, *([] if plain else ["--json"]))
    assert done.code == 0, done.err
    assert (done.out if plain else json.loads(done.out)) == mine
