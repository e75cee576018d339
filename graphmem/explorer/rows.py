"""Arrange modules in rows: each module is above its dependencies.

Modules that depend on each other in a cycle share a block, because no module of a cycle can be above the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphmem.explorer.packing import F64

WIDER: Final = 2.1  # width of the map by its height, as windows are
TRIES: Final = 5  # widths that are tried for the wanted shape
SWEEPS: Final = 6  # over the rows, sorting each by where its neighbours are
MOST_APART: Final = 5.0  # times as far apart, at most
# In units of the radius of a typical circle, so that names have room at the scale at which everything is seen.
GAP: Final = 0.35  # between two circles
LABEL: Final = 2.9  # least width of a circle with its name
NAME: Final = 0.75  # height of a name below its circle
INSIDE: Final = 0.5  # between a block and its circles


@dataclass(frozen=True, slots=True)
class Band:
    """The horizontal strip of the map that one layer of modules fills.

    Attributes:
        number: the layer, 0 at the bottom.
        top, bottom: y of the strip's edges; y grows downwards.
    """

    number: int
    top: float
    bottom: float


@dataclass(slots=True)
class Block:
    """A rectangle around modules that depend on each other in a cycle."""

    members: list[int]
    left: float
    top: float
    right: float
    bottom: float


@dataclass(slots=True)
class _Item:
    """A circle, or a block of circles, which is placed in a row as one object.

    `at` maps each circle of the item to its position relative to the item's centre.
    """

    members: list[int]
    width: float
    height: float
    at: dict[int, tuple[float, float]] = field(default_factory=dict)
    block: bool = False


def in_rows(
    radii: F64, band: Sequence[int], knots: Sequence[Sequence[int]], inner: Sequence[int], weight: Mapping[tuple[int, int], float]
) -> tuple[F64, F64, list[Band], list[Block]]:
    """Place circles (modules) in rows by layer, near their neighbours.

    Args:
        radii: float64, shape (n,), each > 0.
        band: layer of each circle, 0 at the bottom; all members of a knot have the same layer.
        knots: groups of circles that share a block, because their modules depend on each other in a cycle.
        inner: order within a block; circles with lower values are placed lower.
        weight: number of edges by pair of circles.

    Returns:
        x and y, float64, shape (n,), with y growing downwards; the layers, top first; the blocks, in the order of `knots`.
    """
    if not len(radii):
        return np.zeros(0), np.zeros(0), [], []
    unit = float(np.sqrt((radii * radii).mean()))
    whole = max(float(np.sqrt((9.0 * radii * radii).sum() * WIDER)), 2.2 * float(radii.max()))
    made = _laid_out(radii, band, knots, inner, weight, unit, whole)
    for _ in range(TRIES):
        x, bands = made[0], made[2]
        wide = float((x + radii).max() - (x - radii).min())
        high = max(one.bottom for one in bands) - min(one.top for one in bands)
        if 0.85 < wide / high / WIDER < 1.2:
            break
        whole = max(whole * (WIDER * high / wide) ** 0.5, 2.2 * float(radii.max()))
        made = _laid_out(radii, band, knots, inner, weight, unit, whole)
    return _spread(radii, knots, *made)


def _spread(
    radii: F64, knots: Sequence[Sequence[int]], x: F64, y: F64, bands: list[Band], blocks: list[Block]
) -> tuple[F64, F64, list[Band], list[Block]]:
    """Move circles apart sideways if the map is much narrower than a window.

    A map of many layers with few modules each is high and narrow, and its lines and names cover each other. Each circle is a module. A
    block is a rectangle around modules that depend on each other in a cycle; it moves as a whole. For the arguments and the result, see
    `in_rows`.
    """
    wide = float((x + radii).max() - (x - radii).min())
    factor = min(WIDER * (max(one.bottom for one in bands) - min(one.top for one in bands)) / wide, MOST_APART)
    if factor <= 1.0:
        return x, y, bands, blocks
    centre = x.copy()
    for knot, block in zip(knots, blocks, strict=True):
        centre[knot] = (block.left + block.right) / 2
        moved = (factor - 1) * (block.left + block.right) / 2
        block.left, block.right = block.left + moved, block.right + moved
    return x + (factor - 1) * centre, y, bands, blocks


def _laid_out(
    radii: F64,
    band: Sequence[int],
    knots: Sequence[Sequence[int]],
    inner: Sequence[int],
    weight: Mapping[tuple[int, int], float],
    unit: float,
    whole: float,
) -> tuple[F64, F64, list[Band], list[Block]]:
    """Place circles in rows of about the width `whole`, as `in_rows` does.

    The other arguments and the result are those of `in_rows`. Gaps between circles are multiples of `unit`, an average radius.
    """
    n = len(radii)
    near: list[list[tuple[int, float]]] = [[] for _ in range(n)]
    for (a, b), count in sorted(weight.items()):
        near[a].append((b, math.log1p(count)))
        near[b].append((a, math.log1p(count)))
    x, y = np.zeros(n), np.zeros(n)

    def wanted(members: Sequence[int], own: set[int]) -> float | None:
        pulls = [(x[other], pull) for one in members for other, pull in near[one] if other not in own]
        return sum(place * pull for place, pull in pulls) / sum(pull for _, pull in pulls) if pulls else None

    items: dict[int, list[_Item]] = {}
    blocks: list[_Item] = []
    held = {one for knot in knots for one in knot}
    for knot in knots:
        blocks.append(_block(knot, radii, inner, near, unit, whole))
        items.setdefault(band[knot[0]], []).append(blocks[-1])
    for one in range(n):
        if one not in held:
            items.setdefault(band[one], []).append(_single(one, float(radii[one]), unit))
    for layer in items.values():
        layer.sort(key=lambda item: (-item.width, item.members[0]))
        layer[:] = layer[::2][::-1] + layer[1::2]  # the largest in the middle
    bands: list[Band] = []
    centres: dict[int, tuple[float, float]] = {}
    for _ in range(SWEEPS):
        bands, bottom = [], 0.0
        for number in sorted(items):
            layer = items[number]
            places = {id(item): wanted(item.members, set(item.members)) for item in layer}
            layer.sort(key=lambda item: near_to if (near_to := places[id(item)]) is not None else float(x[item.members[0]]))
            height = _rows(layer, unit, whole, lambda item, cx, cy, base=bottom: _put(item, cx, base - cy, x, y, centres))
            bands.append(Band(number, bottom - height, bottom))
            bottom -= height + unit * GAP
    found = []
    for knot, item in zip(knots, blocks, strict=True):
        cx, cy = centres[item.members[0]]
        found.append(Block(list(knot), cx - item.width / 2, cy - item.height / 2, cx + item.width / 2, cy + item.height / 2))
    return x, y, bands[::-1], found


def _single(one: int, radius: float, unit: float) -> _Item:
    height = 2 * radius + unit * NAME
    return _Item([one], max(2 * radius, unit * LABEL) + unit * GAP, height, {one: (0.0, radius - height / 2)})


def _block(
    knot: Sequence[int], radii: F64, inner: Sequence[int], near: Sequence[Sequence[tuple[int, float]]], unit: float, whole: float
) -> _Item:
    """Arrange the modules of one cycle in rows, as one block with a border.

    Args:
        knot: numbers of the modules in the cycle.
        radii: for each module of the map, the radius of its circle.
        inner: for each module, a number; lower numbers are placed lower, so that few edges lead upwards.
        near: for each module, its (neighbour, weight) pairs; a module is placed near neighbours with high weights.
        unit: the average radius; the border and the gaps are multiples of this length.
        whole: maximum width of a row, unless one circle is wider.
    """
    members = set(knot)
    singles = {one: _single(one, float(radii[one]), unit) for one in knot}
    area = sum(item.width * item.height for item in singles.values())
    width = max(max(item.width for item in singles.values()), min(whole, math.sqrt(area * WIDER * 1.3)))
    rows: list[list[_Item]] = [[]]
    for one in sorted(knot, key=lambda one: (inner[one], -float(radii[one]), one)):
        if rows[-1] and sum(item.width for item in rows[-1]) + singles[one].width > width:
            rows.append([])
        rows[-1].append(singles[one])
    across = dict.fromkeys(knot, 0.0)
    for _ in range(SWEEPS):
        for row in rows:
            pulls = {item.members[0]: [(across[other], pull) for other, pull in near[item.members[0]] if other in members] for item in row}
            means = {one: sum(p * w for p, w in some) / sum(w for _, w in some) if some else across[one] for one, some in pulls.items()}
            row.sort(key=lambda item: (means[item.members[0]], item.members[0]))
            left = -sum(item.width for item in row) / 2
            for item in row:
                across[item.members[0]] = left + item.width / 2
                left += item.width
    heights = [max(item.height for item in row) for row in rows]
    edge = INSIDE * unit
    width = max(sum(item.width for item in row) for row in rows) + 2 * edge
    height = sum(heights) + 2 * edge + NAME * unit  # and the name of the block above its circles
    at: dict[int, tuple[float, float]] = {}
    bottom = height / 2 - edge
    for row, tall in zip(rows, heights, strict=True):
        for item in row:
            one = item.members[0]
            at[one] = across[one], bottom - tall / 2 + item.at[one][1]
        bottom -= tall
    return _Item(list(knot), width + GAP * unit, height, at, block=True)


def _rows(layer: Sequence[_Item], unit: float, whole: float, put: Callable[..., None]) -> float:
    """Place the items of a layer in few rows; return the rows' total height.

    Args:
        layer: circles and blocks, from left to right.
        unit: the average radius; the gap between rows is a multiple of this length.
        whole: wanted width of a row.
        put: called with (item, x, y) for each item.
    """
    total = sum(item.width for item in layer)
    count = max(1, math.ceil(total / whole))
    limit = max(total / count * 1.08, max(item.width for item in layer))
    rows: list[list[_Item]] = [[]]
    for item in layer:
        if rows[-1] and sum(one.width for one in rows[-1]) + item.width > limit:
            rows.append([])
        rows[-1].append(item)
    done = 0.0
    for row in rows:
        tall = max(item.height for item in row) + unit * GAP
        left = -sum(item.width for item in row) / 2
        for item in row:
            put(item, left + item.width / 2, done + tall / 2)
            left += item.width
        done += tall
    return done


def _put(item: _Item, cx: float, cy: float, x: F64, y: F64, centres: dict[int, tuple[float, float]]) -> None:
    for one, (dx, dy) in item.at.items():
        x[one], y[one] = cx + dx, cy + dy
        centres[one] = cx, cy
