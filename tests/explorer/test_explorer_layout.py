"""Pictures: nothing overlaps, everything is inside what holds it, nothing is left out unsaid, every interface draws the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import BadInputError, SymbolNotFoundError
from graphmem.explorer.packing import packed, sunflower
from graphmem.explorer.rows import in_rows

RADII = [((i * 7919) % 97 + 3) / 10 for i in range(300)]


def overlaps(x, y, r):
    gap = np.hypot(x[:, None] - x, y[:, None] - y) - (r[:, None] + r)
    np.fill_diagonal(gap, 1)
    return float(gap.min()) < -1e-6


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 17, 300])
def test_packed_circles_do_not_overlap_and_fit_the_radius_that_is_said(n):
    r = np.array(RADII[:n])
    x, y, radius = packed(RADII[:n])
    assert not (n and overlaps(x, y, r))
    assert n == 0 or float((np.hypot(x, y) + r).max()) <= radius + 1e-9
    assert n < 17 or radius < 1.6 * float(np.sqrt((r * r).sum()))  # side by side, not strewn


def rows_of(n, knots=()):
    """Circles in four layers with edges down, and some cycles."""
    r = np.array(RADII[:n])
    layer = [i % 4 for i in range(n)]
    for knot in knots:
        for one in knot:
            layer[one] = layer[knot[0]]
    weight = {(a, b): 1 + a % 5 for a in range(n) for b in range(n) if (a * 13 + b) % 7 == 0 and layer[a] > layer[b]}
    return r, layer, in_rows(r, layer, knots, list(range(n)), weight)


@pytest.mark.parametrize("knots", [(), ([0, 5, 9, 14], [3, 7])], ids=["without cycles", "with cycles"])
def test_modules_lie_in_rows_by_layer_and_do_not_overlap(knots):
    r, layer, (x, y, bands, blocks) = rows_of(40, knots)
    assert not overlaps(x, y, r)
    assert [one.number for one in bands] == [3, 2, 1, 0]
    assert all(above.bottom <= below.top for above, below in itertools.pairwise(bands))
    extent = {one.number: one for one in bands}
    assert all(extent[layer[i]].top <= y[i] - r[i] and y[i] + r[i] <= extent[layer[i]].bottom for i in range(40))
    for block in blocks:
        inside = [block.left <= x[i] - r[i] and x[i] + r[i] <= block.right and block.top <= y[i] - r[i] <= block.bottom for i in range(40)]
        assert [i for i, one in enumerate(inside) if one] == sorted(block.members), "a frame holds its cycle and nothing else"
    again = rows_of(40, knots)[2]
    assert np.array_equal(x, again[0])
    assert np.array_equal(y, again[1])


def test_many_layers_of_few_modules_use_the_width_of_a_window():
    n = 24
    layer = [i // 4 for i in range(n)]
    weight = {(a, b): 1 for a in range(n) for b in range(a) if layer[a] > layer[b]}
    r = np.array(RADII[:n])
    x, y, bands, (block,) = in_rows(r, layer, [[20, 21, 22]], list(range(n)), weight)
    assert not overlaps(x, y, r)
    high = max(one.bottom for one in bands) - min(one.top for one in bands)
    assert (x + r).max() - (x - r).min() > 1.7 * high
    assert all((block.left <= x[i] - r[i] and x[i] + r[i] <= block.right) == (i in block.members) for i in range(n) if layer[i] == 5)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_modules_without_any_edge_are_as_many_circles(n):
    x, y, _, blocks = in_rows(np.ones(n), [0] * n, [], [0] * n, {})
    assert not (n and overlaps(x, y, np.ones(n)))
    assert not blocks


def test_symbols_are_spread_inside_the_disc():
    x, y = sunflower(500, 10.0)
    assert float(np.hypot(x, y).max()) <= 10.0
    nearest = np.sort(np.hypot(x[:, None] - x, y[:, None] - y), axis=1)[:, 1]
    assert float(nearest.min()) > 0.5 * 10.0 / np.sqrt(500)


def test_every_file_of_the_index_is_on_the_map_inside_its_module(remembered):
    columns = remembered.atlas().columns
    modules, files = columns["modules"], columns["files"]
    assert files["path"] == [one.path for one in remembered.files(limit=10_000)[0]]
    assert set(modules["name"]) == {one.name for one in remembered.modules().modules}
    assert sum(modules["files"]) == len(files["path"])
    assert not overlaps(*(np.array(modules[one]) for one in "xyr"))
    for i, module in enumerate(files["module"]):
        out = np.hypot(files["x"][i] - modules["x"][module], files["y"][i] - modules["y"][module]) + files["r"][i]
        assert out <= modules["r"][module] + 0.05
    known = remembered.modules()
    edges, layer = columns["moduleEdges"], dict(zip(modules["name"], modules["layer"], strict=True))
    ends = zip(edges["src"], edges["dst"], edges["cut"], strict=True)
    cut = {(modules["name"][a], modules["name"][b]): count for a, b, count in ends if count}
    assert cut == {(one.src_name, one.dst_name): one.weight for one in known.dependencies if one.worth_cutting}
    framed = [{modules["name"][i] for i in members} for members in columns["blocks"]["members"]]
    for one in known.dependencies:
        together = any({one.src_name, one.dst_name} <= frame for frame in framed)
        assert together or layer[one.src_name] > layer[one.dst_name], "every dependency leads down, except in a cycle"


def test_files_of_other_roles_are_folded_until_they_are_asked_for(remembered):
    whole, code = remembered.atlas().columns, remembered.atlas(roles=["code"]).columns
    counts = dict(zip(whole["roles"]["role"], whole["roles"]["files"], strict=True))
    assert counts == {one: whole["files"]["role"].count(one) for one in counts}
    assert set(code["files"]["role"]) == {"code"}
    assert len(code["files"]["path"]) == counts["code"] < len(whole["files"]["path"])
    assert code["roles"] == whole["roles"]
    symbols = remembered.atlas_symbols(["convert.py"], roles=["code"]).columns["symbols"]
    at = code["files"]["path"].index("convert.py")
    assert set(symbols["file"]) == {at}
    with pytest.raises(BadInputError, match="roles"):
        remembered.atlas(roles=["towns"])


def test_the_map_s_edges_are_those_of_the_graph(remembered):
    columns = remembered.atlas(edges=1_000_000).columns
    path = columns["files"]["path"]
    edges = columns["fileEdges"]
    mine = [
        (path[a], path[b], columns["kinds"][kind], count)
        for a, b, kind, count in zip(edges["src"], edges["dst"], edges["kind"], edges["count"], strict=True)
        if path[b] == "algorithms/link_analysis/pagerank_alg.py"
    ]
    seen: dict[tuple[str, str, str], int] = {}
    symbols = [one.id for one in remembered.symbols("", limit=10_000)[0] if one.path == "algorithms/link_analysis/pagerank_alg.py"]
    for sites in remembered.sites(symbols, "callers", limit=1000).values():
        for site in sites:
            key = (site.symbol.path, "algorithms/link_analysis/pagerank_alg.py", site.kind)
            if site.symbol.path and site.symbol.path != key[1]:
                seen[key] = seen.get(key, 0) + 1
    calls = {(a, b, kind): count for a, b, kind, count in mine if kind == "CALLS"}
    assert calls
    assert calls == {key: count for key, count in seen.items() if key[2] == "CALLS"}


def test_what_a_limit_leaves_out_is_said(remembered):
    whole = remembered.atlas(edges=1_000_000)
    assert whole.left_out == 0
    some = remembered.atlas(edges=100)
    assert len(some.columns["fileEdges"]["src"]) == 100
    assert some.left_out == len(whole.columns["fileEdges"]["src"]) - 100
    assert min(some.columns["fileEdges"]["count"]) >= max(
        sorted(whole.columns["fileEdges"]["count"], reverse=True)[100:101]
    )  # the heaviest stay
    paths = ["classes/graph.py", "classes/digraph.py"]
    every = remembered.atlas_symbols(paths)
    cut = remembered.atlas_symbols(paths, limit=30)
    assert len(cut.columns["symbols"]["ref"]) == 30
    assert cut.left_out == len(every.columns["symbols"]["ref"]) - 30
    assert every.left_out == 0


def test_symbols_lie_inside_their_file_and_edges_join_them(remembered):
    atlas = remembered.atlas().columns["files"]
    columns = remembered.atlas_symbols(["classes/graph.py", "convert.py"]).columns
    symbols, edges = columns["symbols"], columns["edges"]
    assert {atlas["path"][file] for file in symbols["file"]} == {"classes/graph.py", "convert.py"}
    for x, y, file in zip(symbols["x"], symbols["y"], symbols["file"], strict=True):
        assert np.hypot(x - atlas["x"][file], y - atlas["y"][file]) <= atlas["r"][file]
    names = {
        (symbols["ref"][a], symbols["ref"][b])
        for a, b, kind in zip(edges["src"], edges["dst"], edges["kind"], strict=True)
        if columns["kinds"][kind] == "CALLS"
    }
    assert ("classes/graph.py:Graph.__init__", "convert.py:to_networkx_graph") in names


def test_the_neighbourhood_has_what_it_depends_on_left_and_dependents_right(remembered):
    nodes = remembered.neighbourhood(["pagerank"], depth=2, limit=60).columns["nodes"]
    side = dict(zip(nodes["ref"], nodes["side"], strict=True))
    assert side["algorithms/link_analysis/pagerank_alg.py:pagerank"] == 0
    assert side["algorithms/link_analysis/pagerank_alg.py:_pagerank_scipy"] == -1
    assert side["convert_matrix.py:to_scipy_sparse_array"] == -2
    assert any(one > 0 for one in side.values())
    for x, one in zip(nodes["x"], nodes["side"], strict=True):
        assert np.sign(x) == np.sign(one)
    places = list(zip(nodes["x"], nodes["y"], strict=True))
    assert len(set(places)) == len(places)


def test_a_neighbourhood_that_is_cut_says_how_many_are_missing_and_keeps_code_before_tests(remembered):
    cut = remembered.neighbourhood(["Graph.add_edge"], limit=40)
    assert len(cut.columns["nodes"]["ref"]) == 40
    whole = remembered.neighbourhood(["Graph.add_edge"], limit=5_000)
    assert cut.left_out == len(whole.columns["nodes"]["ref"]) - 40
    assert not any(cut.columns["nodes"]["test"])


def test_the_same_question_has_the_same_picture(remembered):
    first = remembered.neighbourhood(["DiGraph"], depth=2, limit=150)
    assert remembered.neighbourhood(["DiGraph"], depth=2, limit=150).columns == first.columns


def test_a_client_gets_the_same_pictures(remembered, explorer):
    with RemoteGraphMem(explorer) as remote:
        assert remote.atlas(edges=50).columns == remembered.atlas(edges=50).columns
        assert remote.atlas_symbols(["convert.py"]).columns == remembered.atlas_symbols(["convert.py"]).columns
        assert remote.neighbourhood(["pagerank"]).columns == remembered.neighbourhood(["pagerank"]).columns


@pytest.mark.parametrize(
    ("verb", "given"),
    [
        ("atlas", {"edges": -1}),
        ("atlas_symbols", {"paths": ["convert.py"], "limit": 0}),
        ("neighbourhood", {"refs": ["pagerank"], "depth": 9}),
        ("neighbourhood", {"refs": ["pagerank"], "min_confidence": 2}),
        ("neighbourhood", {"refs": ["pagerank"], "limit": 0}),
    ],
)
def test_bounds_are_checked(remembered, verb, given):
    with pytest.raises(BadInputError):
        getattr(remembered, verb)(**given)


def test_a_file_that_is_not_on_the_map_is_refused(remembered):
    with pytest.raises(SymbolNotFoundError, match=r"no/such\.py"):
        remembered.atlas_symbols(["convert.py", "no/such.py"])


def test_no_two_kinds_of_picture_share_a_place_by_chance(remembered):
    """Two modules are never drawn in one place, however alike they are."""
    modules = remembered.atlas().columns["modules"]
    places = list(zip(modules["x"], modules["y"], strict=True))
    assert all(a != b for a, b in itertools.combinations(places, 2))
