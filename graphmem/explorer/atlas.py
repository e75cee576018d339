"""Map of a project, in which modules are circles of files.

Files are circles of symbols. Edges between symbols of two files are shown as one sum. The map is computed again after each change of the
code. A browser shows the part that fits its window, and requests symbols when zoomed in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from graphmem.explorer.packing import F64, packed, sunflower
from graphmem.explorer.rows import Band, Block, in_rows
from graphmem.projection.graph.arrays import EDGE_KINDS, FUNCTION_CODES, NODE_KINDS, SYMBOL, distinct, grouped

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from graphmem.projection.graph.view import GraphView

SURE: Final = 0.8  # edges of at least this confidence are drawn as certain; the explorer's legend says so
_KIND_DEFINES: Final = EDGE_KINDS.index("DEFINES") if "DEFINES" in EDGE_KINDS else -1


@dataclass(frozen=True, slots=True)
class Atlas:
    """The map of a project: positions of modules and files, and edges.

    Positions are in units of the map; y grows downwards.

    Attributes (k modules, f files; files are sorted by path):
        modules: name of each module, ascending; "" stands for all files without a module.
        titles: what each module does.
        worded: whether a title is only frequent words of names.
        layers: int64, shape (k,): layer of each module, see `Plan`.
        bands: the distinct numbers of layers, from the top of the map to the bottom.
        blocks: modules that depend on each other in cycles, as positions in `modules`.
        cuts: edges that are worth removing, by pairs of positions in `modules`, see `Plan`.
        module_x, module_y, module_r: float64, shape (k,): centre and radius of each module.
        paths: paths of the files.
        module_of: int64, shape (f,): position of each file's module in `modules`.
        file_x, file_y, file_r: float64, shape (f,): centre and radius of each file.
        symbols: int64, shape (f,): number of definitions in each file.
        complexity: int64, shape (f,): sum of the complexity of each file's symbols.
        dependents: int64, shape (f,): number of other files with an edge into each file; tests are not counted.
        edges: int64, shape (m, 5), sorted by the first three columns. The columns are source file, destination file, kind (position in
            EDGE_KINDS), number of edges, and number of certain edges.
        measures: three arrays, int64, shape (f,), by name. `functions` counts functions outside tests, `tested` counts those that a test
            uses directly, and `unresolved` counts unresolved calls.
    """

    generation: int
    modules: list[str]
    titles: list[str]
    worded: list[bool]
    layers: npt.NDArray[np.int64]
    bands: list[Band]
    blocks: list[Block]
    cuts: Mapping[tuple[int, int], int]
    module_x: F64
    module_y: F64
    module_r: F64
    paths: list[str]
    module_of: npt.NDArray[np.int64]
    file_x: F64
    file_y: F64
    file_r: F64
    symbols: npt.NDArray[np.int64]
    complexity: npt.NDArray[np.int64]
    dependents: npt.NDArray[np.int64]
    edges: npt.NDArray[np.int64]
    measures: Mapping[str, npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The modules, layers and cycles that a map shows; input of `draw`.

    Attributes:
        module_of: name of the module of each file that is shown.
        titles: what each module does.
        worded: modules whose title is only frequent words of names.
        layers: layer of each module. Modules in higher layers depend on lower layers; all modules of a cycle are in the same layer.
        inner: position of each module within its cycle; modules with lower numbers are drawn lower.
        knots: the cycles, as groups of modules that depend on each other.
        cuts: dependencies that are worth removing, with their number of edges. The same two modules may have further edges that are ignored
            for layers, such as those of tests.
    """

    module_of: Mapping[str, str]
    titles: Mapping[str, str] = field(default_factory=dict)
    worded: Collection[str] = ()
    layers: Mapping[str, int] = field(default_factory=dict)
    inner: Mapping[str, int] = field(default_factory=dict)
    knots: Sequence[Sequence[str]] = ()
    cuts: Mapping[tuple[str, str], int] = field(default_factory=dict)


def draw(view: GraphView, plan: Plan) -> Atlas:
    """Compute the map of a project: positions of modules, files and edges.

    This takes about 60 ms for 600 files and 0.5 s for 3,000 files.
    """
    numbers = np.array([i for i, path in enumerate(view.paths) if path in plan.module_of and view.file_node(path) is not None], np.int64)
    paths = [view.paths[i] for i in numbers.tolist()]
    f = len(paths)
    names = [plan.module_of[path] for path in paths]
    modules = sorted(set(names))
    place = {name: i for i, name in enumerate(modules)}
    module_of = np.array([place[name] for name in names], dtype=np.int64)
    at = np.full(len(view.paths) + 1, -1, dtype=np.int64)  # file by path number; the last entry is for "no path"
    at[numbers] = np.arange(f)

    file_of_node = at[view.path_index]
    defined = (view.label == SYMBOL) & (file_of_node >= 0)
    symbols = np.bincount(file_of_node[defined], minlength=f).astype(np.int64)
    complexity = np.bincount(file_of_node[defined], weights=view.complexity[defined], minlength=f).astype(np.int64)
    edges = _between(view, file_of_node, f)
    dependents = _users(view)[numbers]

    file_r = 1.2 + 1.5 * np.sqrt(symbols)
    file_x, file_y, module_r = _in_circles(file_r, module_of, len(modules))
    between = _between_modules(edges, module_of, len(modules))
    layers = [plan.layers.get(name, 0) for name in modules]
    knots = [knot for knot in ([place[name] for name in one if name in place] for one in plan.knots) if len(knot) > 1]
    module_x, module_y, bands, blocks = in_rows(module_r, layers, knots, [plan.inner.get(name, 0) for name in modules], between)
    return Atlas(
        view.generation,
        modules,
        [plan.titles.get(name, "") for name in modules],
        [name in plan.worded for name in modules],
        np.array(layers, dtype=np.int64),
        bands,
        blocks,
        {(place[a], place[b]): count for (a, b), count in plan.cuts.items() if a in place and b in place},
        module_x,
        module_y,
        module_r,
        paths,
        module_of,
        file_x + module_x[module_of],
        file_y + module_y[module_of],
        file_r,
        symbols,
        complexity,
        dependents,
        edges,
        _measures(view, file_of_node, at, f),
    )


def _in_circles(
    file_r: npt.NDArray[np.float64], module_of: npt.NDArray[np.int64], count: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Pack the circles of files into a circle for each module.

    The result is (x, y, radius): the centre of each file relative to its module, and the radius of each of `count` modules.
    """
    file_x, file_y = np.zeros(len(file_r)), np.zeros(len(file_r))
    module_r = np.ones(count)
    for number in range(count):
        held = np.flatnonzero(module_of == number)
        order = held[np.lexsort((held, -file_r[held]))]
        x, y, radius = packed((file_r[order] + 0.5).tolist())
        file_x[order], file_y[order] = x, y
        module_r[number] = radius + 2.5
    return file_x, file_y, module_r


def _between_modules(edges: npt.NDArray[np.int64], module_of: npt.NDArray[np.int64], count: int) -> dict[tuple[int, int], float]:
    """Sum the weights of edges between two of `count` modules, by (from, to)."""
    ends = module_of[edges[:, :2]]
    keys, back, _ = grouped(ends[:, 0] * count + ends[:, 1])
    weight = np.bincount(back, weights=edges[:, 3], minlength=len(keys)) if len(edges) else np.zeros(0)
    src, dst = keys // max(count, 1), keys % max(count, 1)
    return {(a, b): w for a, b, w in zip(src.tolist(), dst.tolist(), weight.tolist(), strict=True) if a != b}


def _measures(view: GraphView, file_of_node: npt.NDArray[np.int64], at: npt.NDArray[np.int64], f: int) -> dict[str, npt.NDArray[np.int64]]:
    """Count functions, tested functions and unresolved calls of each file.

    The result has the form of `Atlas.measures`. `file_of_node` maps each node of the graph to the number of its file on the map, from 0 to
    `f` - 1. `at` maps the graph's path numbers to the same file numbers. The number is -1 for a file that is not on the map.
    """
    functions = np.isin(view.kind, FUNCTION_CODES) & (view.label == SYMBOL) & (file_of_node >= 0) & ~view.is_test
    tested = np.zeros(view.n, np.bool_)
    tested[view.dst[view.is_test[view.src] & (view.edge_kind != _KIND_DEFINES)]] = True
    numbers = at[view.arrays.unresolved.path]
    return {
        "functions": np.bincount(file_of_node[functions], minlength=f).astype(np.int64),
        "tested": np.bincount(file_of_node[functions & tested], minlength=f).astype(np.int64),
        "unresolved": np.bincount(numbers[numbers >= 0], minlength=f).astype(np.int64),
    }


def _between(view: GraphView, file_of_node: npt.NDArray[np.int64], f: int) -> npt.NDArray[np.int64]:
    """Count the edges of each kind between different files of the map.

    `file_of_node` maps each node of the graph to the number of its file on the map, from 0 to `f` - 1. The number is -1 for a file that is
    not on the map.
    """
    src, dst = file_of_node[view.src], file_of_node[view.dst]
    real = (src >= 0) & (dst >= 0) & (src != dst) & (view.edge_kind != _KIND_DEFINES)
    kinds = len(EDGE_KINDS)
    key = (src[real] * f + dst[real]) * kinds + view.edge_kind[real]
    found, back, count = grouped(key)
    sure = np.bincount(back, weights=(view.confidence[real] >= SURE), minlength=len(found)).astype(np.int64)
    return np.column_stack((found // kinds // f, found // kinds % f, found % kinds, count, sure)).astype(np.int64).reshape(-1, 5)


def _users(view: GraphView) -> npt.NDArray[np.int64]:
    """Count, for each path, the other files that use the file at this path.

    Uses in tests are ignored. The result covers all paths of the graph, also those that the map does not show.
    """
    src, dst = view.path_index[view.src], view.path_index[view.dst]
    real = (src >= 0) & (dst >= 0) & (src != dst) & (view.edge_kind != _KIND_DEFINES) & ~view.is_test[view.src]
    pairs = distinct(src[real].astype(np.int64) * len(view.paths) + dst[real])
    counts: npt.NDArray[np.int64] = np.bincount(pairs % max(len(view.paths), 1), minlength=len(view.paths))
    return counts


def columns(atlas: Atlas, edge_limit: int) -> tuple[dict[str, Any], int]:
    """Convert a map to columns (lists of values) for a browser.

    Args:
        atlas: the map.
        edge_limit: maximum number of edges between files; those with the highest counts are kept. Edges between modules are not limited.

    Returns:
        The columns, and the number of edges between files that were left out.
    """
    edges = atlas.edges
    kept = edges[np.sort(np.lexsort((np.arange(len(edges)), -edges[:, 3]))[:edge_limit])]
    return {
        "kinds": list(EDGE_KINDS),
        "modules": _module_columns(atlas),
        "bands": {
            "layer": [one.number for one in atlas.bands],
            "top": [round(one.top, 2) for one in atlas.bands],
            "bottom": [round(one.bottom, 2) for one in atlas.bands],
        },
        "blocks": {
            "members": [one.members for one in atlas.blocks],
            **{side: [round(getattr(one, side), 2) for one in atlas.blocks] for side in ("left", "top", "right", "bottom")},
        },
        "files": {
            "path": atlas.paths,
            "module": atlas.module_of.tolist(),
            "x": _short(atlas.file_x),
            "y": _short(atlas.file_y),
            "r": _short(atlas.file_r),
            "symbols": atlas.symbols.tolist(),
            "complexity": atlas.complexity.tolist(),
            "dependents": atlas.dependents.tolist(),
            **{name: values.tolist() for name, values in atlas.measures.items()},
        },
        "moduleEdges": _module_edges(atlas),
        "fileEdges": {name: kept[:, at].tolist() for at, name in enumerate(("src", "dst", "kind", "count", "certain"))},
    }, max(0, len(edges) - edge_limit)


def _module_columns(atlas: Atlas) -> dict[str, object]:
    k = len(atlas.modules)
    return {
        "name": atlas.modules,
        "title": atlas.titles,
        "worded": atlas.worded,
        "layer": atlas.layers.tolist(),
        "x": _short(atlas.module_x),
        "y": _short(atlas.module_y),
        "r": _short(atlas.module_r),
        "files": np.bincount(atlas.module_of, minlength=k).tolist(),
        "symbols": np.bincount(atlas.module_of, weights=atlas.symbols, minlength=k).astype(int).tolist(),
    }


def _module_edges(atlas: Atlas) -> dict[str, object]:
    """Return the edges between modules, by (source, target, kind of edge).

    The counts are sums over the edges between their files.
    """
    edges, k, kinds = atlas.edges, len(atlas.modules), len(EDGE_KINDS)
    ends = atlas.module_of[edges[:, :2]]
    apart = ends[:, 0] != ends[:, 1]
    found, back, _ = grouped((ends[apart, 0] * k + ends[apart, 1]) * kinds + edges[apart, 2])
    src, dst = found // kinds // max(k, 1), found // kinds % max(k, 1)
    count = np.bincount(back, weights=edges[apart, 3], minlength=len(found)).astype(np.int64)
    sure = np.bincount(back, weights=edges[apart, 4], minlength=len(found)).astype(np.int64)
    return {
        "src": src.tolist(),
        "dst": dst.tolist(),
        "kind": (found % kinds).tolist(),
        "count": count.tolist(),
        "certain": sure.tolist(),
        "cut": [atlas.cuts.get(pair, 0) for pair in zip(src.tolist(), dst.tolist(), strict=True)],
    }


def symbol_columns(view: GraphView, atlas: Atlas, files: Sequence[int], limit: int) -> tuple[dict[str, object], int]:
    """Return the symbols of some files with positions, and edges among them.

    Args:
        view: the graph from which the map was drawn.
        atlas: the map.
        files: positions in `atlas.paths`.
        limit: maximum number of symbols in the result. Symbols are added file by file, in the given order, until the limit is reached.

    Returns:
        The columns (lists of values), and the number of symbols left out.
    """
    nodes: list[int] = []
    holder: list[int] = []
    xs: list[F64] = []
    ys: list[F64] = []
    left_out = 0
    for file in dict.fromkeys(files):
        inside = view.by_path(atlas.paths[file])
        room = max(0, limit - len(nodes))
        left_out += max(0, len(inside) - room)
        x, y = sunflower(len(inside), float(atlas.file_r[file]) - 0.9)
        nodes.extend(inside[:room].tolist())
        holder.extend([file] * min(room, len(inside)))
        xs.append(atlas.file_x[file] + x[:room])
        ys.append(atlas.file_y[file] + y[:room])
    chosen = np.array(nodes, dtype=np.int64)
    place = np.full(view.n, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    src, dst = place[view.src], place[view.dst]
    rows = np.flatnonzero((src >= 0) & (dst >= 0) & (src != dst) & (view.edge_kind != _KIND_DEFINES))
    infos = view.infos(chosen) if nodes else []
    return {
        "symbols": {
            "ref": [one.ref for one in infos],
            "name": [one.name for one in infos],
            "kind": [one.kind for one in infos],
            "file": holder,
            "line": [one.start_line for one in infos],
            "test": [one.is_test for one in infos],
            "dependents": np.diff(view.in_ptr)[chosen].tolist() if nodes else [],
            "x": _short(np.concatenate(xs)) if xs else [],
            "y": _short(np.concatenate(ys)) if ys else [],
        },
        "edges": {
            "src": src[rows].tolist(),
            "dst": dst[rows].tolist(),
            "kind": view.edge_kind[rows].tolist(),
            "confidence": np.round(view.confidence[rows].astype(np.float64), 2).tolist(),
        },
        "kinds": list(EDGE_KINDS),
        "symbolKinds": list(NODE_KINDS),
    }, left_out


def _short(values: F64) -> list[float]:
    return [float(value) for value in np.round(values, 2)]
