"""Divide files into groups, which become the modules of the map.

Files are tied by dependencies, common changes, folders and earlier modules. All ties form one weighted undirected graph, which Louvain's
method partitions. Each folder and each earlier module is an extra node ("hub"), tied to each of its files. With a hub, a folder needs one
edge per file instead of one per pair of files. Files of one unit, such as a Go package, are contracted to one node, as Louvain's method
contracts the communities of a level.

Source:
    V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, Fast unfolding of communities in large networks, J. Stat. Mech. (2008) P10008.
    M. Newman, Analysis of weighted networks, Phys. Rev. E 70 (2004) 056131, for modularity.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.semantic.naming import main_folder, naming_files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import networkx as nx


class Ties(NamedTuple):
    """Weights of the kinds of ties between files, such as a common folder.

    A weight of 1 equals one dependency between files. benchmarks/modules.py measures the weights.
    """

    folder: float = 2.0  # a file and its folder, a folder and the one above
    earlier: float = 3.0  # a file and its former module
    co_change: float = 1.0  # two files that always change together
    resolution: float = 1.5  # larger means more and smaller communities


USUAL: Final = Ties()
LEAST_FILES: Final = 5  # smallest community whose folders hold files of other communities
_SEED: Final = 1  # seed for the order in which Louvain visits nodes; any fixed number will do

_FILE, _FOLDER, _MODULE, _UNIT = "file", "folder", "module", "unit"
Node = tuple[str, str]


def communities(
    paths: Sequence[str],
    links: Mapping[tuple[str, str], float],
    co_change: Mapping[tuple[str, str], float] | None = None,
    earlier: Mapping[str, str] | None = None,
    ties: Ties = USUAL,
    units: Mapping[str, str] | None = None,
) -> list[list[str]]:
    """Partition files into groups that belong together.

    Args:
        paths: all files, distinct.
        links: maps a pair of paths to the number of edges between them, in either direction.
        co_change: maps a pair of paths to the strength of their co-change, in [0, 1].
        earlier: maps a path to the id of its former module; removed paths are ignored.
        ties: weights of the ties.
        units: maps a path to the name of its unit (such as a Go package), which is never divided.

    Returns:
        Groups of ascending paths, in the order of their first paths. The same input gives the same groups in every process.
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    whole = units or {}
    graph = _contracted(_graph(paths, links, co_change or {}, earlier or {}, ties), whole)
    found = nx.community.louvain_communities(graph, weight="weight", resolution=ties.resolution, seed=_SEED)
    number = {node: i for i, group in enumerate(found) for node in group}
    grouped: dict[int, list[str]] = defaultdict(list)
    for path in sorted(paths):
        grouped[number[_node(path, whole)]].append(path)
    groups = list(grouped.values())
    return _with_splinters_joined(sorted(group for group in groups if group))


def _with_splinters_joined(groups: list[list[str]]) -> list[list[str]]:
    """Merge each group with too few files into a group of the same folders.

    The other group is the one with the most files in the folders of the small group. If no other group has files there, the small group
    stays.
    """
    home = {path: i for i, group in enumerate(groups) for path in group}
    siblings: dict[str, list[str]] = defaultdict(list)
    for path in sorted(home):
        siblings[path.rpartition("/")[0]].append(path)
    members = dict(enumerate(groups))
    for i in sorted(members, key=lambda one: (len(members[one]), members[one])):
        if len(members[i]) >= LEAST_FILES:
            continue
        folders = {path.rpartition("/")[0] for path in members[i]}
        near = Counter(home[path] for folder in folders for path in siblings[folder] if home[path] != i)
        if near:
            other = max(near, key=lambda one: (near[one], -one))
            members[other] = sorted([*members[other], *members[i]])
            home.update(dict.fromkeys(members.pop(i), other))
    return sorted(members.values())


def without_strangers(groups: Sequence[Sequence[str]], tests: Collection[str], units: Mapping[str, str]) -> list[list[str]]:
    """Regroup files that the name of their group would describe wrongly.

    A group is named after the folder with most of its files. If this is a folder of tests, other code is in the group only because of its
    tests. Such code moves folder by folder, together with the tests of its folder. The new group is the one with most files of that folder,
    or of the nearest folder above that has files in a group. Then single files move to the group that holds more than half of their folder.
    Files in `units` stay.

    Args:
        groups: groups of paths.
        tests: paths of tests.
        units: maps a path to its unit, such as a Go package, which is never divided.
    """
    all_files = [path for group in groups for path in group]
    members = [set(group) for group in groups]
    for i, group in enumerate(groups):
        folder = main_folder(naming_files(group, tests))
        inside = [path for path in all_files if path.startswith(f"{folder}/")]
        if not folder or 2 * sum(path in tests for path in inside) <= len(inside):
            continue
        code = [path for path in group if path not in tests and path not in units and not path.startswith(f"{folder}/")]
        for home in sorted({path.rpartition("/")[0] for path in code}):
            moved = {path for path in group if path.rpartition("/")[0] == home and path not in units}
            other = _nearest(home, moved, [[] if j == i else one for j, one in enumerate(members)])
            if other is not None:
                members[i] -= moved
                members[other] |= moved
    return _with_single_files_at_home([sorted(group) for group in members if group], tests, units)


def _with_single_files_at_home(groups: Sequence[Sequence[str]], tests: Collection[str], units: Mapping[str, str]) -> list[list[str]]:
    """Move each code file to the group that holds most of its folder.

    Such a group has more than half of the folder's files. Files stay if they are in `tests` or `units`, or below the folder that names
    their group.
    """
    holders: dict[str, Counter[int]] = defaultdict(Counter)
    for i, group in enumerate(groups):
        for path in group:
            holders[path.rpartition("/")[0]][i] += 1
    members = [set(group) for group in groups]
    for i, group in enumerate(groups):
        folder = main_folder(naming_files(group, tests))
        away = [path for path in group if path not in tests and path not in units and not path.startswith(f"{folder}/")] if folder else []
        for path in away:
            home = path.rpartition("/")[0]
            other, count = holders[home].most_common(1)[0]
            if other != i and 2 * count > holders[home].total():
                members[i].remove(path)
                members[other].add(path)
    return sorted(sorted(group) for group in members if group)


def _nearest(home: str, moved: Collection[str], members: Sequence[Collection[str]]) -> int | None:
    """Return the position of the group with most files of a folder.

    The folder is `home`, or the nearest folder above it in which some group has files. Returns None if no such folder exists. Files in
    `moved` are ignored. `members` has the files of each group.
    """
    folder = home
    while folder:
        counts = [sum(path.startswith(f"{folder}/") and path not in moved for path in group) for group in members]
        if any(counts):
            return counts.index(max(counts))
        folder = folder.rpartition("/")[0]
    return None


def _graph(
    paths: Sequence[str],
    links: Mapping[tuple[str, str], float],
    co_change: Mapping[tuple[str, str], float],
    earlier: Mapping[str, str],
    ties: Ties,
) -> nx.Graph:
    import networkx as nx  # takes 70 ms; impact questions do not need it

    weights: dict[tuple[str, str], float] = defaultdict(float)
    for (a, b), count in links.items():
        weights[min(a, b), max(a, b)] += count
    strengths = {pair: math.log2(1 + count) for pair, count in weights.items()}
    degree: dict[str, float] = defaultdict(float)
    for (a, b), strength in sorted(strengths.items()):
        degree[a] += strength
        degree[b] += strength

    graph = nx.Graph()
    graph.add_nodes_from((_FILE, path) for path in sorted(paths))  # Louvain visits nodes in this order, shuffled by its seed
    for (a, b), strength in sorted(strengths.items()):
        # A dependency that everybody uses says little about a file's group: the ties of a file are divided among its dependencies.
        graph.add_edge((_FILE, a), (_FILE, b), weight=4 * strength / max(degree[a], degree[b]))
    for (a, b), strength in sorted(co_change.items()):
        before = graph.get_edge_data((_FILE, a), (_FILE, b), {"weight": 0.0})["weight"]
        graph.add_edge((_FILE, a), (_FILE, b), weight=before + ties.co_change * strength)
    for path in sorted(paths):
        _hang(graph, (_FILE, path), path.rpartition("/")[0], ties.folder)
        if path in earlier:
            graph.add_edge((_FILE, path), (_MODULE, earlier[path]), weight=ties.earlier)
    return graph


def _node(path: str, units: Mapping[str, str]) -> Node:
    """Return the node of the graph that stands for a file.

    The node is the file itself, or the file's unit: a set of files that is never divided, such as a Go package.
    """
    return (_UNIT, units[path]) if path in units else (_FILE, path)


def _contracted(graph: nx.Graph, units: Mapping[str, str]) -> nx.Graph:
    """Replace the files of each Go package by one node; add up their edges.

    `units` maps files to packages, or to other units that are never divided. An edge inside a unit becomes a loop, so that the unit keeps
    its weight.
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    if not units:
        return graph
    node = {one: _node(one[1], units) if one[0] == _FILE else one for one in graph}
    smaller = nx.Graph()
    smaller.add_nodes_from(node[one] for one in graph)
    for a, b, weight in graph.edges(data="weight"):
        before = smaller.get_edge_data(node[a], node[b], {"weight": 0.0})["weight"]
        smaller.add_edge(node[a], node[b], weight=before + weight)
    return smaller


def _hang(graph: nx.Graph, node: Node, folder: str, weight: float) -> None:
    """Add edges from a node to its folder, and from each folder to its parent.

    The edges are added to `graph`. They lead from the node to `folder`, from `folder` to its parent, and so on. `weight` is the weight of
    each edge.
    """
    while True:
        above = (_FOLDER, folder)
        known = above in graph
        graph.add_edge(node, above, weight=weight)
        if known or not folder:
            return
        node, folder = above, folder.rpartition("/")[0]


def modularity(groups: Iterable[Sequence[str]], links: Mapping[tuple[str, str], float]) -> float:
    """Return Newman's weighted modularity of the groups.

    `links` maps a pair of files to the weight of their dependencies. The value is in [-0.5, 1]; it is 0 if `links` is empty.
    """
    of = {path: number for number, group in enumerate(groups) for path in group}
    total = sum(links.values())
    if not total:
        return 0.0
    inside: dict[int, float] = defaultdict(float)
    degree: dict[int, float] = defaultdict(float)
    for (a, b), count in links.items():
        degree[of[a]] += count
        degree[of[b]] += count
        if of[a] == of[b]:
            inside[of[a]] += count
    return sum(inside[one] / total - (degree[one] / (2 * total)) ** 2 for one in sorted(degree))
