"""The map of modules: division, names, layers and dependencies."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys

import pytest

from graphmem.analysis.semantic.acyclic import acyclic
from graphmem.analysis.semantic.communities import communities, without_strangers
from graphmem.analysis.semantic.files import FileGraph, Packages
from graphmem.analysis.semantic.modules import Modules
from graphmem.analysis.semantic.naming import Known, named
from graphmem.answers import to_json
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.project.graphmem import GraphMem
from graphmem.project.structure.derived import packages_of


def test_every_code_file_is_in_exactly_one_module(indexed):
    found = indexed.modules()
    paths = [file.path for module in found.modules for file in indexed.module(module.id).files]
    assert len(paths) == len(set(paths)) == sum(module.files for module in found.modules)
    assert set(paths) == {info.path for info in indexed.files(limit=1000)[0]}


def test_modules_follow_what_the_authors_put_together(indexed):
    names = {module.name: module for module in indexed.modules().modules}
    assert {"algorithms/centrality", "algorithms/bipartite", "drawing", "generators", "readwrite"} <= set(names)
    assert names["drawing"].path == "drawing"
    assert next(symbol.name for symbol in names["classes"].central) == "Graph"


def test_dependencies_lead_down_unless_they_are_called_upward(indexed):
    found = indexed.modules()
    layer = {module.id: module.layer for module in found.modules}
    assert any(one.upward for one in found.dependencies)
    for one in found.dependencies:
        assert one.upward or layer[one.src] > layer[one.dst], one
        assert one.weight == sum(one.kinds.values())
        assert one.sites


def test_places_on_the_map_are_in_the_picture_and_apart(indexed):
    modules = indexed.modules().modules
    assert all(0 < module.x < 1 and 0 < module.y < 1 for module in modules)
    assert len({(module.x, module.y) for module in modules}) == len(modules)


def test_a_module_is_found_by_name_id_and_file(indexed):
    by_name = indexed.module("drawing")
    assert indexed.module(by_name.module.id).module == by_name.module
    assert indexed.module("drawing/layout.py").module == by_name.module
    with pytest.raises(SymbolNotFoundError) as refused:
        indexed.module("drawings")
    assert refused.value.suggestions


def derived(service):
    """Every answer of the semantic layer, without the state of the index, in which there are times."""
    found = {
        "modules": service.modules(),
        "cycles": service.cycles(),
        "module cycles": service.cycles("modules"),
        "entries": service.entry_points(limit=1_000),
        "flows": service.flows(limit=1_000),
        "hot": service.hotspots("symbols"),
        "central": service.central_symbols(),
        "dead": service.dead_code(0.0, limit=1_000),
        "twice": service.duplicates(limit=1_000),
    }
    answers = {name: to_json(one) for name, one in found.items()}
    for one in answers.values():
        one.pop("state")
    return json.loads(json.dumps(answers))


def test_another_process_with_another_hash_seed_derives_the_same(small_tree, tmp_path):
    program = (
        "import sys, json\n"
        "from graphmem.answers import to_json\n"
        "from graphmem.project.graphmem import GraphMem\n"
        f"{inspect.getsource(derived)}\n"
        "with GraphMem.open(sys.argv[1]) as service:\n"
        "    service.index(sys.argv[2])\n"
        "    print(json.dumps(derived(service)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "there"), str(small_tree)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "12345", "PATH": os.environ["PATH"]},
    )
    with GraphMem.open(tmp_path / "here") as service:
        service.index(small_tree)
        here = derived(service)
    assert here["flows"]["flows"]
    assert here["dead"]["symbols"]
    assert here["twice"]["groups"]
    assert json.loads(done.stdout) == here


def test_names_and_ids_outlive_a_restart_and_a_change(small_tree, tmp_path):
    tree = tmp_path / "tree"
    shutil.copytree(small_tree, tree)
    with GraphMem.open(tmp_path / "db") as service:
        service.index(tree)
        before = {module.name: module.id for module in service.modules().modules}
        of_file = {file.path: name for name, key in before.items() for file in service.module(key).files}
    with GraphMem.open(tmp_path / "db") as service:
        assert {module.name: module.id for module in service.modules().modules} == before
        (tree / "networkx/drawing/layout.py").rename(tree / "networkx/drawing/places.py")
        (tree / "networkx/readwrite/leda.py").unlink()
        service.index(tree)
        after = {module.name: module.id for module in service.modules().modules}
        assert after == before
        moved = [path for path, name in of_file.items() if service.parts.semantics.newest().modules.name_of(path) not in (name, "")]
        assert len(moved) <= 1
        assert service.module("networkx/drawing/places.py").module.id == service.module("networkx/drawing/nx_pylab.py").module.id
        service.index(tree, full=True)
        assert {module.name: module.id for module in service.modules().modules} == before


def test_modules_and_flows_are_in_the_graph_database(indexed):
    found = indexed.modules()
    indexed.flows()
    generation, stored = indexed.parts.store.modules()
    assert generation == indexed.state().generation
    assert {(one.id, one.name, len(one.paths)) for one in stored} == {(one.id, one.name, one.files) for one in found.modules}


def test_an_empty_and_a_tiny_project_have_a_map(project):
    service = project({"only.py": "def f():\n    return 1\n", "notes.md": "# Notes\n"})
    found = service.modules()
    assert [(module.files, module.layer) for module in found.modules] == [(1, 0)]
    assert found.dependencies == []
    assert service.cycles("modules").cycles == []


def _go(package, *, uses, name, imported=""):
    """A file of Go whose function `name` calls each of `uses`."""
    calls = " + ".join(f"{one}(value)" for one in uses)
    head = f'import "example.org/web/{imported}"\n\n' if imported else ""
    return f'package {package}\n\n{head}func {name}(value any) string {{ return "" + {calls} }}\n'


ROUTES = [f"Route{number}" for number in range(8)]
CODECS = [f"Codec{number}" for number in range(6)]
GIN_LIKE = {  # `errors.go` is tied more to the codecs than to its own package
    "go.mod": "module example.org/web\n\ngo 1.22\n",
    **{f"{one.lower()}.go": _go("web", uses=[other for other in ROUTES if other != one], name=one) for one in ROUTES},
    **{f"codec/json/{one.lower()}.go": _go("json", uses=[other for other in CODECS if other != one], name=one) for one in CODECS},
    "errors.go": _go("web", uses=[f"json.{one}" for one in CODECS], name="Fail", imported="codec/json"),
}


@pytest.mark.parametrize("module", ["example.org/web/v5", "example.org/web.v5", "example.org/web"])
def test_a_go_module_is_not_named_after_its_major_version(project, module):
    service = project({**GIN_LIKE, "go.mod": f"module {module}\n\ngo 1.22\n"})
    assert service.module("route0.go").module.name == "web"


def test_a_go_package_is_never_divided(project):
    service = project(GIN_LIKE)
    module_of = {file.path: one.name for one in service.modules().modules for file in service.module(one.id).files}
    for folder in ("", "codec/json"):
        assert len({name for path, name in module_of.items() if path.rpartition("/")[0] == folder}) == 1, module_of


def test_a_go_package_that_an_earlier_version_divided_is_whole_again_without_the_cycle(project):
    files = {**GIN_LIKE, "context.go": _go("web", uses=["Route0", "Fail"], name="Run")}
    view = project(files).parts.graph.view()
    torn = [Known("one", "web", frozenset(files) - {"go.mod", "errors.go"}), Known("two", "json", frozenset({"errors.go"}))]
    before = Modules(view, torn, current=True)
    assert before.name_of("errors.go") != before.name_of("context.go")
    assert before.module_cycles
    made = Modules(view, torn, current=True, packages=Packages(frozenset({"go"})))
    assert made.name_of("errors.go") == made.name_of("context.go")
    assert not made.module_cycles


def test_packages_above_and_below_a_third_are_not_one_module_as_that_would_be_a_cycle():
    unit = {
        f"{folder}/{name}.go": folder for folder, names in {"app": "ab", "kit": "c", "mid": "de", "kit/log": "f"}.items() for name in names
    }
    arcs = [("app/a.go", "mid/d.go"), ("mid/e.go", "kit/c.go"), ("app/b.go", "kit/log/f.go")]
    groups = [["app/a.go", "app/b.go", "kit/c.go", "kit/log/f.go"], ["mid/d.go", "mid/e.go"]]
    found = acyclic(groups, unit, arcs)
    assert found == [["app/a.go", "app/b.go", "kit/log/f.go"], ["kit/c.go"], ["mid/d.go", "mid/e.go"]]
    assert acyclic(groups, unit, arcs[:1]) == groups, "without a cycle nothing is divided"


def test_packages_that_form_a_cycle_themselves_stay_as_they_are():
    unit = {"a/x.go": "a", "b/y.go": "b"}
    groups = [["a/x.go"], ["b/y.go"]]
    assert acyclic(groups, unit, [("a/x.go", "b/y.go"), ("b/y.go", "a/x.go")]) == groups


def test_files_of_one_folder_in_python_may_be_in_different_modules():
    sides = [[f"shop/{side}{i}.py" for i in range(6)] for side in "ab"]
    paths = sorted(path for side in sides for path in side)
    links = {(one, other): 9.0 for side in sides for one in side for other in side if one < other}
    assert communities(paths, links) == sides
    assert communities(paths, links, units=dict.fromkeys(paths, "shop")) == [paths]


def test_parts_of_one_folder_are_told_apart_and_none_is_called_like_the_whole():
    shop = [f"src/shop/{name}.py" for name in ("app", "cart", "tax", "log", "mail")]
    groups = [shop[:2], shop[2:4], shop[4:], ["tests/test_shop.py"]]
    weight = {path: float(len(shop) - i) for i, path in enumerate(shop)}
    names = [one.name for one in named(groups, [], weight, {"tests/test_shop.py"}, "shop")]
    assert names == ["shop: app, cart", "shop: tax, log", "shop: mail", "tests"]
    most = [one.name for one in named([shop[:4], shop[4:]], [], weight, set(), "shop")]
    assert most == ["shop", "shop: mail"]
    known = Known("k", "old name", frozenset(shop[:4]))
    assert [one.name for one in named([shop[:4], shop[4:]], [known], weight, set(), "shop")] == ["old name", "shop: mail"]


def test_a_group_of_tests_with_one_file_of_code_is_named_after_the_tests():
    cases = [f"tests/test_{number:02}.py" for number in range(21)]
    weight = {"src/shop/log.py": 9.0}
    shop = [f"src/shop/{name}.py" for name in ("app", "cart", "tax", "mail")]
    groups = [shop, ["src/shop/log.py", *cases]]
    assert [one.name for one in named(groups, [], weight, set(cases), "shop")] == ["shop", "tests"]
    few = [shop, ["src/shop/log.py", *cases[:2]]]
    assert [one.name for one in named(few, [], weight, set(cases), "shop")] == ["shop", "shop: log"]


def test_a_kept_name_is_given_up_when_its_folder_holds_less_than_two_thirds():
    shop = [f"shop/{name}.py" for name in ("app", "cart", "tax")]
    mail = [f"mail/{name}.py" for name in ("send", "queue", "list", "host")]
    known = Known("k", "shop", frozenset(shop))
    (one,) = named([[*shop, *mail]], [known], {}, set(), "p")
    assert (one.id, one.name) == ("k", "mail + shop")
    (less,) = named([[*shop, *mail[:2]]], [known], {}, set(), "p")
    assert (less.id, less.name) == ("k", "shop + mail"), "three of five files"
    (same,) = named([[*shop, mail[0]]], [known], {}, set(), "p")
    assert (same.id, same.name) == ("k", "shop")


def test_files_of_the_root_are_named_after_their_package_or_as_the_top_level():
    root, core = ["gin.go", "tree.go", "context.go"], ["binding/form.go", "binding/json.go"]
    assert [one.name for one in named([root, core], [], {}, set(), "p", "gin")] == ["gin", "binding"]
    assert [one.name for one in named([root, core], [], {}, set(), "p")] == ["top level", "binding"]
    for former in ("(root)", "top level"):
        known = Known("k", former, frozenset(root))
        assert [(one.id == "k", one.name) for one in named([root, core], [known], {}, set(), "p", "gin")] == [
            (True, "gin"),
            (False, "binding"),
        ]
    renamed = Known("k", "my name", frozenset(root))
    assert [one.name for one in named([root, core], [renamed], {}, set(), "p", "gin")] == ["my name", "binding"]


def test_files_without_a_common_folder_are_named_after_the_folders_that_hold_most():
    scattered = ["build/a.py", "build/b.py", "perf/c.py", "perf/d.py", "setup.py"]
    core = [f"core/{name}.py" for name in "abcdef"]
    assert [one.name for one in named([scattered, core], [], {}, set(), "p")] == ["perf + build", "core"]


def test_the_folder_of_sources_does_not_name_a_module():
    groups = [
        [f"packages/cli/src/{name}.ts" for name in "abc"],
        [f"packages/load/src/{name}.ts" for name in "abc"],
        ["packages/load/fixtures.ts"],
    ]
    assert [one.name for one in named(groups, [], {}, set(), "p")] == ["cli", "load", "load: fixtures"]
    spread = ["src/query/a.ts", "src/query/b.ts", "src/util/c.ts", "src/util/d.ts", "src/e.ts", "scripts/f.ts"]
    decorator = [f"src/decorator/{name}.ts" for name in "abcdefg"]
    assert [one.name for one in named([spread, decorator], [], {}, set(), "p")] == ["query + util", "decorator"]


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (
            [
                ["src/main/java/org/shop/store/Store.java"],
                ["src/main/java/org/shop/store/cart/Cart.java", "src/main/java/org/shop/store/cart/Line.java"],
                ["src/test/java/org/shop/store/cart/CartTests.java"],
                ["src/main/resources/templates/cart.html"],
            ],
            ["store", "cart", "test/cart", "main/resources/templates"],
        ),
        (
            [
                ["core/src/main/kotlin/org/shop/core/Store.kt", "core/src/main/java/org/shop/core/Old.java"],
                ["core/src/main/kotlin/org/shop/core/api/Api.kt"],
                ["web/src/main/kotlin/org/shop/web/Page.kt"],
                ["web/src/test/kotlin/org/shop/web/PageTest.kt"],
            ],
            ["core", "core/api", "web", "web/test"],
        ),
    ],
)
def test_names_of_modules_have_no_folders_that_every_package_has(groups, names):
    assert [one.name for one in named(groups, [], {}, (), "p")] == names


def test_a_module_that_holds_much_of_a_second_folder_names_both():
    net, platform = [f"net/{name}.py" for name in "abcdef"], [f"platform/{name}.py" for name in "abcde"]
    core = [f"core/{name}.py" for name in "abcdef"]
    assert [one.name for one in named([net + platform, core], [], {}, set(), "p")] == ["net + platform", "core"]
    assert [one.name for one in named([net + platform[:2], core], [], {}, set(), "p")] == ["net", "core"]


def test_parts_of_a_module_are_named_by_their_own_folders():
    whole = [f"pkg/backup/{name}.go" for name in "abcdef"]
    rest = [f"pkg/{kind}/actions/csi/{name}.go" for kind in ("backup", "restore") for name in "xyz"]
    types = [f"pkg/{kind}/{name}.go" for kind in ("persistence", "types") for name in "abc"]
    cli = [f"cmd/cli/{part}/{name}.go" for part in ("agent", "repo") for name in "ab"]
    more = [f"cmd/cli/{part}/{name}.go" for part in ("list", "show") for name in "ab"]
    groups = [whole, types, rest, [*cli, "pkg/agent/run.go"], [*more, "cmd/cli/get/c.go"]]
    assert [one.name for one in named(groups, [], {}, set(), "p")] == [
        "pkg/backup",
        "pkg: persistence, types",
        "pkg: backup/actions/csi, restore/actions/csi",
        "cmd/cli: agent, repo",
        "cmd/cli: list, show",
    ]


def _files(**folders: int) -> list[str]:
    return sorted(f"{folder}/f{number:03}.py" for folder, count in folders.items() for number in range(count))


def _names(*groups: dict[str, int]) -> list[str]:
    """Return the names of groups, each given by its numbers of files in folders."""
    made = [_files(**one) for one in groups]
    tests = {path for group in made for path in group if "/tests/" in path}
    return [one.name for one in named(made, [], {}, tests, "p")]


def test_a_module_of_a_whole_folder_is_not_named_after_its_largest_subfolder():
    """The shapes of healthchecks/healthchecks, which graphmem named hc/api/management, hc/payments/migrations and hc."""
    names = _names(
        {"hc/api": 9, "hc/api/management": 1, "hc/api/management/commands": 9, "hc/api/tests": 35},
        {"hc/api/migrations": 124},
        {"hc/payments": 5, "hc/payments/migrations": 10},
        {"hc/lib": 14, "hc/lib/tests": 10},
        {"hc/integrations/msteamsw": 6, "hc/integrations/prometheus": 4, "hc/integrations": 1},
        {"hc/integrations/zulip": 9},
        {"static/js": 28, "hc": 5, "docker": 1, "stuff": 1},
    )
    assert names == [
        "hc/api",
        "hc/api/migrations",
        "hc/payments",
        "hc/lib",
        "hc/integrations: msteamsw, prometheus",
        "hc/integrations/zulip",
        "static/js",
    ]


def test_a_module_of_few_subfolders_is_not_named_like_the_folder_of_all():
    """The shapes of miniflux/v2 and umami-software/umami, which graphmem named internal, app/(main) and app/api + queries/prisma."""
    go = _names(
        {"internal/config": 4, "internal/proxyrotator": 1, "internal/timezone": 1, "internal/urllib": 1, "internal/version": 1},
        {"internal/ui": 93, "internal/ui/view": 1},
        {"internal/ui/form": 11},
        {"internal/fever": 3, "internal/worker": 2, "internal/systemd": 1},
        {"internal/reader/sanitizer": 5, "internal/reader/readingtime": 1},
        {"client": 5},
    )
    assert go == [
        "internal: config, proxyrotator, timezone",
        "internal/ui",
        "internal/ui/form",
        "internal: fever, worker",
        "internal/reader",
        "client",
    ]
    web = _names(
        {"src/app/(main)/links": 16, "src/app/(main)/pixels": 16},
        {"src/app/(main)/boards": 33, "src/app/(main)/dashboard": 6},
        {"src/app/(main)": 6, "src/components/input": 36},
        {"src/queries/prisma": 12, "src/permissions": 9, "src/app/api/boards": 9, "src/app/api/reports": 9},
        {"src/app/api/users": 2, "src/app/api/me": 12, "src/app/api/batch": 8, "src/app/api/admin": 8},
        {"src/lib": 38},
    )
    assert web == [
        "app/(main): links, pixels",
        "app/(main)/boards",
        "components/input",
        "queries/prisma + permissions + more",
        "app/api: me, admin",
        "lib",
    ]


def test_a_feature_spread_over_layers_is_named_after_the_folder_name_that_its_files_share():
    feature = {"src/app/sites/replays": 7, "src/app/sites/replays/one": 4, "src/queries/sql/replays": 3, "src/web/api/replays": 4}
    assert _names(feature, {"src/app/sites": 20}, {"src/queries/sql": 9}, {"src/web/api": 9})[0] == "replays"


def test_a_folder_in_a_folder_of_sources_has_its_whole_name():
    """The shape of pocketbase/pocketbase, which graphmem named ui/base beside ui/src/settings."""
    assert _names({"ui/src/base": 31}, {"ui/src/settings/sync": 9, "ui/src/settings/mail": 9}, {"apis": 40}) == [
        "ui/src/base",
        "ui/src/settings",
        "apis",
    ]


def test_a_name_that_does_not_cover_most_files_says_that_there_are_more():
    """The shape of casey/just beside its sources."""
    assert _names({"bin": 3, "completions": 1, "contrib": 1, "etc": 1, "www": 1, "other": 1}, {"core": 9})[0].endswith(" + more")


def test_folders_beside_the_product_are_named_last():
    scattered = ["scripts/a.go", "scripts/b.go", "limit/a.go", "store/a.go", "store/b.go"]
    core = [f"core/{name}.go" for name in "abcdef"]
    heavy = {"limit/a.go": 2.0}
    assert [one.name for one in named([scattered, core], [], heavy, set(), "p")] == ["store + limit + scripts", "core"]


def test_code_that_only_tests_tie_to_them_is_in_the_module_of_its_folder():
    tests = {f"e2e/{name}.test.ts" for name in "abcd"} | {"src/helper/adapter/index.test.ts"}
    groups = [
        sorted([*tests, "e2e/setup.ts", "e2e/config.ts", "src/helper/adapter/index.ts"]),
        ["src/helper/cookie/index.ts", "src/helper/html/index.ts"],
        ["src/utils/url.ts"],
    ]
    found = without_strangers(groups, tests, {})
    names = {one.name: one.paths for one in named(found, [], {}, tests, "p")}
    assert set(names) == {"e2e", "helper", "utils"}
    assert "src/helper/adapter/index.ts" in names["helper"]
    assert "src/helper/adapter/index.test.ts" in names["helper"]


def test_one_file_of_a_folder_is_in_the_module_of_the_others():
    web = [f"web/{name}.py" for name in ("app", "routes", "views")]
    bench = [f"bench/{name}.py" for name in ("load", "soak", "spike")]
    assert without_strangers([web, [*bench, "web/options.py"]], set(), {}) == [bench, ["web/app.py", "web/options.py", *web[1:]]]
    halves = [[*web[:2], "web/b.py"], [*bench, "web/c.py", "web/d.py", "web/e.py"]]
    assert without_strangers(halves, set(), {}) == sorted(sorted(one) for one in halves), "no module has most of the folder"


def test_a_wrong_level_is_refused(indexed):
    with pytest.raises(BadInputError, match="files, modules"):
        indexed.cycles("folders")
    with pytest.raises(BadInputError, match="limit"):
        indexed.hotspots(limit=0)


PROTOCOL = """from typing import Protocol


class Embedder(Protocol):
    def encode(self, text: str) -> list[float]: ...
"""
IMPLEMENTED = "class {name}:\n    def encode(self, text: str) -> list[float]:\n        return [1.0]\n"


def test_a_call_through_an_interface_is_not_a_dependency_on_its_implementations(project):
    service = project(
        {
            "search/types.py": PROTOCOL,
            "search/query.py": "from search.types import Embedder\n\n\n"
            "def vector(embedder: Embedder, text: str):\n    return embedder.encode(text)\n",
            "models/hashed.py": IMPLEMENTED.format(name="Hashed"),
            "models/served.py": IMPLEMENTED.format(name="Served"),
            "bench/run.py": "from models.hashed import Hashed\nfrom models.served import Served\nfrom search.query import vector\n\n\n"
            "def run():\n    return [vector(Hashed(), 'a'), vector(Served(), 'b')]\n",
        }
    )
    callees = {one.symbol.path for one in service.symbol("search/query.py:vector").callees}
    assert {"models/hashed.py", "models/served.py"} <= callees, "the calls themselves are known"
    files = FileGraph(service.parts.graph.view())
    links = {(files.paths[a], files.paths[b]) for a, b in zip(files.src.tolist(), files.dst.tolist(), strict=True)}
    assert ("search/query.py", "search/types.py") in links
    assert not [pair for pair in links if pair[0] == "search/query.py" and pair[1].startswith("models/")]


CLIENT = "export async function token() {\n  const answer = await fetch('/token', { method: 'POST' })\n  return answer.json()\n}\n"
SERVER = (
    "import express from 'express'\nimport { page } from '../web/page'\n\nconst app = express()\n\n"
    "export function give(request, response) {\n  response.json(page())\n}\n\napp.post('/token', give)\n"
)


def test_a_request_to_a_server_closes_no_cycle_of_modules_but_remains_a_dependency(project):
    service = project(
        {
            "web/client.ts": CLIENT,
            "web/page.ts": "import { token } from './client'\n\nexport function page() {\n  return token\n}\n",
            "server/app.ts": SERVER,
        }
    )
    assert service.symbol("server/app.ts:give").callers[0].rule == "endpoint"
    known = [Known("w", "web", frozenset({"web/client.ts", "web/page.ts"})), Known("s", "server", frozenset({"server/app.ts"}))]
    made = Modules(service.parts.graph.view(), known, current=True)
    assert made.module_cycles == []
    assert made.knots == []
    assert not made.worth_cutting
    names = {(one.src_name, one.dst_name): one.upward for one in made.dependencies}
    assert names == {("server", "web"): False, ("web", "server"): True}


def test_a_client_whose_server_does_not_use_it_is_above_the_server(project):
    server = SERVER.replace("import { page } from '../web/page'\n", "").replace("page()", "1")
    service = project({"web/client.ts": CLIENT, "server/app.ts": server})
    known = [Known("w", "web", frozenset({"web/client.ts"})), Known("s", "server", frozenset({"server/app.ts"}))]
    made = Modules(service.parts.graph.view(), known, current=True)
    above = {group.name: made.layer[i] for i, group in enumerate(made.groups)}
    assert above["web"] > above["server"]


def test_a_using_of_c_sharp_alone_is_not_a_dependency_on_the_files_of_the_namespace(project):
    order = "using Shop.Interfaces;\nnamespace Shop.Orders;\npublic class Order : IRoot { }\n"
    service = project(
        {
            "Orders/Order.cs": order,
            "Interfaces/IRoot.cs": "namespace Shop.Interfaces;\npublic interface IRoot { }\n",
            "Interfaces/IOrders.cs": "using Shop.Orders;\nnamespace Shop.Interfaces;\npublic interface IOrders { Order Find(int id); }\n",
        }
    )
    assert service.cycles("files").cycles == []
    view = service.parts.graph.view()
    files = FileGraph(view, packages_of(view.languages).of_names)
    found = {(files.paths[a], files.paths[b]) for a, b in zip(files.src.tolist(), files.dst.tolist(), strict=True)}
    assert found == {("Orders/Order.cs", "Interfaces/IRoot.cs"), ("Interfaces/IOrders.cs", "Orders/Order.cs")}
