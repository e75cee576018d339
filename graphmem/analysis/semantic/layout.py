"""Positions of boxes on a map of modules, with few crossing lines.

Layers are rows; the order in a row keeps crossings few.

Source:
    K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system structures, IEEE Trans. SMC 11 (1981) 109-125:
    the barycentre sweep; without its dummy nodes, because on this map lines may pass behind boxes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDEST: Final = 8  # boxes in a row
_SWEEPS: Final = 8

Place = tuple[float, float]


def layered(layer: Mapping[str, int], weights: Mapping[tuple[str, str], float], widest: int = WIDEST) -> dict[str, Place]:
    """Return the centre of each node on a map of 1 x 1, top layer highest.

    A layer of more than `widest` nodes takes several rows.

    Args:
        layer: maps a node to its layer; layer 0 is at the bottom.
        weights: maps a pair of nodes to the weight of the line between them.
        widest: maximum number of nodes in a row.
    """
    rows = _rows(layer, widest)
    near: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for (a, b), weight in sorted(weights.items()):
        near[a].append((b, weight))
        near[b].append((a, weight))
    x = {node: (i + 0.5) / len(row) for row in rows for i, node in enumerate(row)}
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            row.sort(key=lambda node: (round(_centre(near[node], x, x[node]), 9), node))
            for i, node in enumerate(row):
                x[node] = (i + 0.5) / len(row)
    shift = {i: _aside(i, len(row)) for i, row in enumerate(rows)}
    return {node: (round(x[node] + shift[i], 6), round((i + 0.5) / len(rows), 6)) for i, row in enumerate(rows) for node in row}


def _aside(number: int, boxes: int) -> float:
    """Return the distance by which a row of the map is shifted sideways.

    `number` is the row's position, and `boxes` its number of boxes. Only rows of one or two boxes are shifted. Several rows of one box
    would otherwise form a column that hides the lines behind it.
    """
    return (0.0, 0.17, -0.17)[number % 3] / boxes if boxes <= 2 else 0.0


def _rows(layer: Mapping[str, int], widest: int) -> list[list[str]]:
    by_layer: dict[int, list[str]] = defaultdict(list)
    for node in sorted(layer):
        by_layer[layer[node]].append(node)
    rows: list[list[str]] = []
    for number in sorted(by_layer, reverse=True):
        nodes = by_layer[number]
        pieces = -(-len(nodes) // widest)
        size = -(-len(nodes) // pieces)
        rows.extend(nodes[at : at + size] for at in range(0, len(nodes), size))
    return rows


def _centre(near: Sequence[tuple[str, float]], x: Mapping[str, float], default: float) -> float:
    total = sum(weight for _, weight in near)
    return sum(x[node] * weight for node, weight in near) / total if total else default
