"""Circle layouts: pack circles tightly, or spread points over a disc.

Every layout is deterministic: the result does not depend on threads or hash seeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

F64 = npt.NDArray[np.float64]

GOLDEN_ANGLE: Final = math.pi * (3 - math.sqrt(5))
TOUCH: Final = 1e-6  # circles that overlap by less touch


def sunflower(n: int, radius: float) -> tuple[F64, F64]:
    """Spread `n` points evenly over a disc, the first in the middle.

    Args:
        n: number of points; 0 gives empty arrays.
        radius: radius of the disc.

    Returns:
        x and y, float64, shape (n,).

    Source:
        Vogel 1979, A better way to construct the sunflower head.
    """
    at = np.arange(n, dtype=np.float64)
    distance = radius * np.sqrt((at + 0.5) / max(n, 1))
    return distance * np.cos(at * GOLDEN_ANGLE), distance * np.sin(at * GOLDEN_ANGLE)


@dataclass(slots=True)
class _Circle:
    """A circle in the front, the outermost ring of circles packed so far."""

    x: float
    y: float
    r: float
    near: float = 0.0  # squared distance from (0, 0) to the point where it touches the next circle in the front
    after: Any = None
    before: Any = None


def packed(radii: Sequence[float]) -> tuple[F64, F64, float]:
    """Pack circles around (0, 0) without overlap, in the given order.

    Args:
        radii: radii of the circles, each > 0.

    Returns:
        x and y, float64, shape (n,), and the radius of a circle around (0, 0) that contains all of them.

    Source:
        Wang, Wang, Dai, Wang 2006, Visualization of large hierarchical data by circle packing: the front chain.
    """
    circles = [_Circle(0.0, 0.0, float(r)) for r in radii]
    if len(circles) > 1:
        circles[0].x, circles[1].x = -circles[1].r, circles[0].r
    if len(circles) > 2:
        _chain(circles)
    x = np.array([one.x for one in circles])
    y = np.array([one.y for one in circles])
    r = np.array([one.r for one in circles])
    if len(circles):
        weight = r * r
        x -= float((x * weight).sum() / weight.sum())
        y -= float((y * weight).sum() / weight.sum())
    return x, y, float((np.hypot(x, y) + r).max()) if len(circles) else 0.0


def _chain(circles: list[_Circle]) -> None:
    a, b, c = circles[:3]
    _beside(b, a, c)
    a.after = c.before = b
    b.after = a.before = c
    c.after = b.before = a
    for one in (a, b, c):
        _note_nearness(one)
    at = 3
    while at < len(circles):
        c = circles[at]
        _beside(a, b, c)
        ahead, behind = _hit(a, b, c)
        if ahead is not None:  # the circles between are no longer outermost; retry in the wider gap
            b = ahead
        elif behind is not None:
            a = behind
        if ahead is not None or behind is not None:
            a.after, b.before = b, a
            _note_nearness(a)
            continue
        c.before, c.after = a, b
        a.after = b.before = c
        _note_nearness(a)
        _note_nearness(c)
        b = c
        best, one = a.near, c.after
        while one is not b:  # the innermost gap
            if one.near < best:
                a, best = one, one.near
            one = one.after
        b = a.after
        at += 1


def _hit(a: _Circle, b: _Circle, c: _Circle) -> tuple[_Circle | None, _Circle | None]:
    """Find a circle in the front that `c` overlaps; return (ahead, behind).

    The front is the outermost ring of the circles packed so far. `c` is a new circle that touches `a` and `b` in the front. The front is
    searched in both directions, nearer circles first. A circle found after `b` is returned as `ahead`, and a circle found before `a` as
    `behind`. The other element is None. If `c` overlaps no circle, both elements are None.
    """
    x, y, r = c.x, c.y, c.r - TOUCH
    ahead, behind, way_ahead, way_behind = b.after, a.before, b.r, a.r
    while True:
        if way_ahead <= way_behind:
            reach = ahead.r + r
            if reach > 0 and reach * reach > (ahead.x - x) ** 2 + (ahead.y - y) ** 2:
                return ahead, None
            way_ahead += ahead.r
            ahead = ahead.after
        else:
            reach = behind.r + r
            if reach > 0 and reach * reach > (behind.x - x) ** 2 + (behind.y - y) ** 2:
                return None, behind
            way_behind += behind.r
            behind = behind.before
        if ahead is behind.after:
            return None, None


def _beside(b: _Circle, a: _Circle, c: _Circle) -> None:
    """Place the circle `c` so that it touches the circles `a` and `b`."""
    dx, dy = b.x - a.x, b.y - a.y
    d2 = dx * dx + dy * dy
    if not d2:
        c.x, c.y = a.x + c.r, a.y
        return
    a2, b2 = (a.r + c.r) ** 2, (b.r + c.r) ** 2
    if a2 > b2:
        x = (d2 + b2 - a2) / (2 * d2)
        y = math.sqrt(max(0.0, b2 / d2 - x * x))
        c.x, c.y = b.x - x * dx - y * dy, b.y - x * dy + y * dx
    else:
        x = (d2 + a2 - b2) / (2 * d2)
        y = math.sqrt(max(0.0, a2 / d2 - x * x))
        c.x, c.y = a.x + x * dx - y * dy, a.y + x * dy + y * dx


def _note_nearness(one: _Circle) -> None:
    """Compute `near`, an attribute of the circle `one`.

    `near` is the squared distance from (0, 0) to the point where the circle touches the next circle in the front, the outermost ring.
    """
    other = one.after
    both = one.r + other.r
    one.near = ((one.x * other.r + other.x * one.r) / both) ** 2 + ((one.y * other.r + other.y * one.r) / both) ** 2
