"""Divide modules that form a cycle although their packages form none.

A language such as Go forbids import cycles between packages. In such a language, modules can form a cycle only if a module holds several
packages. For example, package a uses b, and b uses c. If one module holds a and c, and another module holds b, the two modules use each
other. Such a module is divided here between its packages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import networkx as nx


def acyclic(groups: Sequence[Sequence[str]], units: Mapping[str, str], arcs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Divide groups of files until the groups' dependencies form no cycle.

    A unit is a set of files that must stay together, such as a package. Only dependencies between different units are considered. A unit
    that is taken out of its group joins another group, or becomes a group of its own. If the units themselves depend on each other in a
    cycle, their groups keep this cycle.

    Args:
        groups: groups of ascending paths.
        units: maps a path to its unit. A path without a unit stays in its group.
        arcs: pairs of paths, of which the first depends on the second.

    Returns:
        Groups of ascending paths, in the order of their first paths.
    """
    home = {units[path]: i for i, group in enumerate(groups) for path in group if path in units}
    first = dict(home)
    size = Counter(units[path] for group in groups for path in group if path in units)
    between = sorted({(units[a], units[b]) for a, b in arcs if a in units and b in units and units[a] != units[b]})
    fresh = len(groups)
    out: list[str] = []
    while loose := _loose(home, size, between):
        for unit in loose:
            home[unit], fresh = fresh, fresh + 1
        out += loose
    for unit in sorted(out, key=lambda one: (-size[one], one)):
        graph = _quotient(home, between)
        for other in _candidates(unit, home, first):
            if not _lies_between(graph, home[unit], other):
                home[unit] = other
                break
    found: dict[int, list[str]] = defaultdict(list)
    for i, group in enumerate(groups):
        for path in group:
            found[home[units[path]] if path in units else i].append(path)
    return sorted(sorted(group) for group in found.values())


def _quotient(home: Mapping[str, int], between: Sequence[tuple[str, str]]) -> nx.DiGraph:
    import networkx as nx  # takes 70 ms; impact questions do not need it

    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(set(home.values())))
    graph.add_edges_from((home[a], home[b]) for a, b in between if home[a] != home[b])
    return graph


def _loose(home: Mapping[str, int], size: Mapping[str, int], between: Sequence[tuple[str, str]]) -> list[str]:
    """Return packages to take out of groups that form a dependency cycle.

    A package (or other set of files that stay together) is taken out if a dependency joins it to another group of the cycle. The largest
    package of each group stays in the group.

    Args:
        home: maps a package to its group.
        size: maps a package to its size.
        between: dependencies, as (dependent package, package).
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    graph = _quotient(home, between)
    ring = {one: i for i, part in enumerate(nx.strongly_connected_components(graph)) if len(part) > 1 for one in part}
    inside = {unit for a, b in between if home[a] != home[b] and ring.get(home[a], -1) == ring.get(home[b], -2) for unit in (a, b)}
    held: dict[int, list[str]] = defaultdict(list)
    for unit in sorted(home):
        held[home[unit]].append(unit)
    stays = {max(some, key=lambda one: (size[one], one)) for some in held.values()}
    return sorted(inside - stays)


def _candidates(unit: str, home: Mapping[str, int], first: Mapping[str, int]) -> list[int]:
    """Return the groups that a package may join, best first.

    `home` maps a package (or other set of files that stay together) to its current group, and `first` maps it to its original group. The
    original group of `unit` comes first, if other packages are still in it. Then come the groups of packages in the nearest folders.
    """
    found = [home[one] for one in sorted(home) if first[one] == first[unit] and home[one] == first[one]]
    above = unit
    while above:
        above = above.rpartition("/")[0]
        found += [home[above]] if above in home else []
        found += [home[one] for one in sorted(home) if above and one != unit and one.startswith(f"{above}/")]
    return [one for one in dict.fromkeys(found) if one != home[unit]]


def _lies_between(graph: nx.DiGraph, one: int, other: int) -> bool:
    """Whether one of two groups depends on the other through a third group.

    `one` and `other` are the two groups, and `graph` has the dependencies between groups.
    """
    import networkx as nx  # takes 70 ms; impact questions do not need it

    for start, end in ((one, other), (other, one)):
        for after in graph.successors(start):
            if after != end and nx.has_path(graph, after, end):
                return True
    return False
