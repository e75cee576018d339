"""Which dependencies are worth cutting, what role a file has, and what a module is called."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.analysis.semantic.cutting import crossing_symbols, split
from graphmem.analysis.semantic.layering import ALARMS, components, feedback, frees, strata, worth_cutting
from graphmem.analysis.semantic.modules import Modules
from graphmem.analysis.semantic.naming import Known, Named
from graphmem.analysis.semantic.roles import role_of
from graphmem.analysis.semantic.titles import LONGEST, folder_descriptions, shortened
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.explorer import atlas
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings
from made_once import empty_index

GRAPHS = st.dictionaries(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] != pair[1]), st.integers(1, 50).map(float), max_size=50
)


@given(GRAPHS)
def test_cutting_what_is_worth_it_takes_a_node_out_of_its_cycle(weights):
    def bound(kept):
        graph = nx.DiGraph(list(kept))
        return sum(len(one) for one in nx.strongly_connected_components(graph) if len(one) > 1)

    chosen = worth_cutting(weights, feedback(weights))
    assert len(chosen) * ALARMS <= len(weights)
    assert all(bound(set(weights) - {pair}) < bound(weights) for pair in chosen)
    freed = frees(weights, weights)
    assert all((pair in freed) == (bound(set(weights) - {pair}) < bound(weights)) for pair in weights)


@given(GRAPHS)
def test_every_edge_leads_to_a_lower_stratum_except_in_a_cycle(weights):
    nodes = sorted({one for pair in weights for one in pair})
    layer = strata(nodes, weights)
    knots = [set(one) for one in components(weights)]
    for a, b in weights:
        assert any({a, b} <= knot for knot in knots) or layer[a] > layer[b]
    assert all(len({layer[one] for one in knot}) == 1 for knot in knots)


def test_a_chain_with_one_edge_back_has_that_edge_to_cut():
    weights = {(a, a + 1): 9.0 for a in range(30)} | {(1, 0): 1.0}
    assert worth_cutting(weights, feedback(weights)) == [(1, 0)]


@pytest.mark.parametrize(
    ("path", "is_test", "has_code", "role"),
    [
        ("shop/cart.py", False, True, "code"),
        ("tests/test_cart.py", True, True, "test"),
        ("packages/load/fixtures/basic/index.js", False, True, "test"),
        ("shop/fixtures.py", False, True, "code"),
        ("shop/migrations/0001_initial.py", False, True, "migration"),
        ("web/locales/de.ts", False, True, "translation"),
        ("web/i18n/pt-BR/cart.js", False, True, "translation"),
        ("lang/zh_Hans/validation.php", False, True, "translation"),
        ("web/i18n/index.ts", False, True, "code"),
        ("web/de/cart.ts", False, True, "code"),
        ("api/shop_pb2.py", False, True, "generated"),
        ("web/generated/schema.ts", False, True, "generated"),
        ("README.md", False, False, "no_code"),
    ],
)
def test_a_file_has_the_role_its_place_says(path, is_test, has_code, role):
    assert role_of(path, is_test, has_code) == role


def test_rows_and_items_about_folders_are_found_in_overviews():
    page = """
| room | what |
|---|---|
| `parsing` | bytes to facts, one file at a time | none |

- **store/**: the database and its [queries](queries/)
- `--flag` does something
- **Celery** happens at GitHub
1. [`api`](src/api) — routes of the shop
"""
    told = folder_descriptions([page], {"parsing", "store", "src/api"})
    assert told["parsing"] == "bytes to facts, one file at a time"
    assert shortened(told["store"]) == "the database and its queries"
    assert told["api"] == "routes of the shop"
    assert "Celery" not in told


def test_an_item_of_a_list_of_options_does_not_describe_the_folder_of_its_name():
    page = """
## Settings

- `host`: the address to bind, by default all
- `email`: whether reports are sent, on or off
- `port`: the port to listen on

## Folders

- `email`: templates and sending
- `hc/api`: the interface for programs
"""
    told = folder_descriptions([page], {"hc/integrations/email", "hc/api"})
    assert told == {"email": "templates and sending", "hc/api": "the interface for programs"}


@pytest.mark.parametrize("text", ["a b", "word " * 40, "one, two, " * 20, "x" * 200, ""])
def test_a_title_is_short(text):
    assert len(shortened(text)) <= LONGEST + 1


SHOP = {
    "pay/charge.py": "def charge_card(card): return card\ndef refund_card(card): return charge_card(card)\n",
    "pay/invoice.py": "from pay.charge import charge_card\ndef invoice_total(x): return charge_card(x)\ndef invoice_tax(x): return x\n",
    "ship/route.py": "def plan_route(stops): return stops\ndef parcel_weight(p): return p\ndef parcel_label(p): return plan_route(p)\n",
    "ship/label.py": "from ship.route import parcel_label\ndef printed(p): return parcel_label(p)\n",
    "README.md": "# Shop\n\n- **ship**: brings parcels to customers\n",
}


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    for path, text in SHOP.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        yield memory


def test_modules_say_what_they_do_and_keep_what_people_change(shop, tmp_path):
    columns = shop.atlas().columns["modules"]
    titles = dict(zip(columns["name"], columns["title"], strict=True))
    assert titles["ship"] == "brings parcels to customers"
    assert {"card", "invoice"} & set(titles["pay"].split(", "))

    changed = shop.change_map("pay", name="Payments", colour="#AA3377", group="money", note="Ask Ada.", pinned=[0.25, 0.5])
    (entry,) = changed.entries
    assert (entry.module, entry.name, entry.colour, entry.group, entry.pinned) == ("pay", "Payments", "#aa3377", "money", [0.25, 0.5])
    kept = tmp_path / "shop" / ".graphmem"
    assert json.loads((kept / "map.json").read_text())["modules"][0]["files"] == ["pay/charge.py", "pay/invoice.py"]
    assert "!map.json" in (kept / ".gitignore").read_text().split()
    assert shop.map_entries() == changed

    said = json.loads((kept / "map.json").read_text())
    said["modules"][0]["module"] = "billing"  # as another clone may call it
    (kept / "map.json").write_text(json.dumps(said))
    assert [one.module for one in shop.map_entries().entries] == ["pay"], "its files say which module is meant"

    assert shop.change_map("pay", name="", colour="", group="", note="", pinned=[]).entries == []
    shop.change_map("ship", hidden=True)
    (kept / "map.json").write_text('{"version": 1, "modules": [{"module": "ship", "colour": "url(evil)"}]}')
    with pytest.raises(BadInputError, match="colour"):
        shop.map_entries()
    with pytest.raises(BadInputError, match="colour"):
        shop.change_map("pay", colour="red")


def test_what_people_said_of_a_module_that_is_gone_outlives_other_changes(shop, tmp_path):
    shop.change_map("pay", note="Ask Ada.")
    file = tmp_path / "shop" / ".graphmem" / "map.json"
    file.write_text(file.read_text().replace('"pay', '"sold'))
    (lost,) = shop.map_entries().entries
    assert (lost.module, lost.note) == ("", "Ask Ada.")
    shop.change_map("ship", name="Parcels")
    shop.change_map("ship", group="outside")
    answer = shop.map_entries()
    assert [(one.module, one.name, one.note) for one in answer.entries] == [("ship", "Parcels", ""), ("", "", "Ask Ada.")]
    assert len(answer.notes) == 1
    assert [one["module"] for one in json.loads(file.read_text())["modules"]] == ["ship", "sold"]


def test_a_map_that_is_kept_elsewhere_hides_nothing_from_git(shop, tmp_path):
    root = tmp_path / "shop"
    (root / "docs").mkdir()
    (root / ".graphmem").mkdir()
    (root / ".graphmem" / "map.json").symlink_to(Path("..", "docs", "map.json"))
    shop.change_map("pay", name="Payments")
    assert [one.name for one in (root / "docs").iterdir()] == ["map.json"]
    assert shop.map_entries().entries[0].name == "Payments"


@pytest.mark.parametrize("given", [{"colour": "red"}, {"pinned": [1]}, {"pinned": [9, 9]}, {"name": "x" * 61}, {"note": "a\x00b"}])
def test_what_cannot_be_on_a_map_is_refused(shop, given):
    with pytest.raises(BadInputError):
        shop.change_map("pay", **given)
    assert shop.map_entries().entries == []
    with pytest.raises(SymbolNotFoundError, match="unknown module"):
        shop.change_map("no such module", name="x")


def test_a_module_is_cut_off_at_its_interface_and_in_two_where_least_crosses(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    one = "".join(f"def a_{i}(): return 1\n" for i in range(3))
    (root / "a0.py").write_text(one)
    (root / "b0.py").write_text(one.replace("def a", "def b"))
    for side in "ab":
        for i in (1, 2, 3):
            (root / f"{side}{i}.py").write_text(
                f"from {side}0 import {side}_0, {side}_1, {side}_2\ndef use_{side}_{i}(): return {side}_0() + {side}_1() + {side}_2()\n"
            )
    (root / "b4.py").write_text("from a0 import a_0\nfrom b0 import b_0, b_1, b_2\ndef both(): return a_0() + b_0() + b_1() + b_2()\n")
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        view = memory.parts.graph.view()
        paths = frozenset(path for path in view.paths if path.endswith(".py"))
        modules = Modules(view, [Known("m", "shop", paths)], current=True)
        found = split(modules, 0)
        (crossing,) = crossing_symbols(modules, found)
    assert {path[0] for path in found.larger} == {"b"}
    assert {path[0] for path in found.smaller} == {"a"}
    assert (len(found.crossing), found.inside, found.is_good) == (1, 9, True), "an import is not a use"
    assert (crossing.symbol.qualname, crossing.uses, crossing.files, crossing.in_larger) == ("a_0", 1, ["b4.py"], False)


def test_a_module_whose_files_all_use_each_other_has_no_good_split(tmp_path):
    """Two helpers that hardly anything uses are not a part, though cutting them off costs least."""
    root = tmp_path / "knot"
    root.mkdir()
    for i in range(10):
        others = [(i + step) % 10 for step in (1, 2, 3, 4)]
        imports = "".join(f"from k{one} import f{one}\n" for one in others)
        (root / f"k{i}.py").write_text(f"{imports}def f{i}(): return {' + '.join(f'f{one}()' for one in others)}\n")
    (root / "k0.py").write_text((root / "k0.py").read_text() + "from aid import aid\ndef helped(): return aid()\n")
    (root / "aid.py").write_text("from low import low\ndef aid(): return low()\n")
    (root / "low.py").write_text("def low(): return 1\n")
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        view = memory.parts.graph.view()
        paths = frozenset(path for path in view.paths if path.endswith(".py"))
        modules = Modules(view, [Known("m", "knot", paths)], current=True)
        found = split(modules, 0)
        (name,) = [group.name for group in modules.groups]
        answer = memory.boundary(memory.modules().modules[0].name)
    assert name == "knot"
    assert len(found.smaller) >= 3, "at least a fifth of the files"
    assert not found.is_good
    if len(answer.larger) + len(answer.smaller) == 12:
        assert not answer.splits_well
        assert answer.crossing_symbols[0].uses >= answer.crossing_symbols[-1].uses


def test_an_import_of_a_barrel_or_prelude_is_not_a_dependency_but_the_use_behind_it_is(tmp_path):
    """The barrel has a function of its own, so it is not a façade."""
    root = tmp_path / "shop"
    for folder in ("deep", "web"):
        (root / folder).mkdir(parents=True)
    (root / "deep/rows.py").write_text("def load(): return 1\n")
    (root / "deep/other.py").write_text("def more(): return 1\n")
    (root / "barrel.py").write_text("from deep.rows import load\nfrom deep.other import more\ndef own(): return more()\n")
    (root / "web/page.py").write_text("from barrel import load\ndef page(): return load()\n")
    (root / "web/form.py").write_text("from barrel import own\ndef form(): return own()\n")
    with GraphMem.open(empty_index(tmp_path / "index"), repo=root, settings=Settings(embedder="none")) as memory:
        memory.index(root)
        view = memory.parts.graph.view()
        groups = {"deep": ["deep/other.py", "deep/rows.py"], "barrel": ["barrel.py"], "web": ["web/form.py", "web/page.py"]}
        modules = Modules(view, division=lambda code: [Named(name, name, "", paths) for name, paths in groups.items()])
        found = {(one.src_name, one.dst_name): one for one in modules.dependencies}
    pages = {(step.src.path, step.dst.path) for one in found.values() for step in one.sites}
    assert ("web/page.py", "deep/rows.py") in pages, "the use behind the barrel"
    assert ("web/page.py", "barrel.py") not in pages, "which the page only passes"
    assert ("barrel.py", "deep/rows.py") not in pages, "which the barrel only passes on"
    assert {("web/form.py", "barrel.py"), ("barrel.py", "deep/other.py")} <= pages, "uses of the barrel, and by the barrel"
    assert all(one.sites[0].kind != "IMPORTS" for one in found.values()), "calls are shown before imports"


def test_a_map_is_answered_whole_while_the_index_changes(shop, tmp_path, monkeypatch):
    drawn = atlas.columns

    def columns(drawing, edges):
        (tmp_path / "shop" / "pay" / "invoice.py").unlink()
        shop.index(tmp_path / "shop")
        return drawn(drawing, edges)

    monkeypatch.setattr(atlas, "columns", columns)
    files = shop.atlas().columns["files"]
    assert "pay/invoice.py" in files["path"]
    assert len(files["role"]) == len(files["path"])
