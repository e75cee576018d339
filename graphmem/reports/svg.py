"""Convert a diagram to self-contained SVG, for light and dark backgrounds.

The SVG has no scripts and loads no fonts or pictures.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from graphmem.reports.diagram import xml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmem.reports.diagram import Box, Diagram, Line

BOX_WIDTH, BOX_HEIGHT = 216.0, 50.0
GAP_X: Final = 26.0
TITLE: Final = 24  # characters of a title that fit into a box
DETAIL: Final = 34
LEAST_SHARE: Final = 0.04  # of the heaviest line; lighter lines are drawn faintly

STYLE: Final = """
.gm-map { --ink: #1d2733; --soft: #5b6775; --paper: #ffffff; --line: #7d8a99; --wrong: #c0392b; --edge: #c9d1da; --focus: #1f6feb;
  font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; }
@media (prefers-color-scheme: dark) { .gm-map { --ink: #e6ebf1; --soft: #9aa7b5; --paper: #1a212b; --line: #8593a3; --wrong: #ff7b6b;
  --edge: #364252; --focus: #6cb0ff; } }
.gm-map .box { fill: var(--paper); stroke: var(--edge); }
.gm-map .focus .box { stroke: var(--focus); stroke-width: 2; }
.gm-map .title { fill: var(--ink); font-weight: 600; }
.gm-map .detail { fill: var(--soft); font-size: 11px; }
.gm-map .line { fill: none; stroke: var(--line); }
.gm-map .wrong { stroke: var(--wrong); stroke-dasharray: 5 4; }
.gm-map .possible { stroke-dasharray: 2 4; }
.gm-map g.node:hover .box { stroke: var(--focus); }
.gm-map path.line:hover { stroke-opacity: 1; stroke: var(--focus); }
"""


def svg(view: Diagram, *, style: bool = True) -> str:
    """Return a diagram as one `<svg>` element.

    Args:
        view: the diagram, with positions.
        style: include the style sheet `STYLE`. In a page with several pictures, one of them includes `STYLE`.
    """
    width = view.columns * (BOX_WIDTH + GAP_X) + GAP_X
    height = view.rows * (BOX_HEIGHT + view.gap) + view.gap / 2
    places = {one.id: (one.x * width, one.y * height) for one in view.boxes}
    heaviest = max((one.weight for one in view.lines), default=1)
    sideways = any(one.kind == "focus" for one in view.boxes)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gm-map" role="img" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">',
        f"<title>{xml(view.title)}</title>",
        f"<style>{STYLE}</style>" if style else "",
    ]
    # Heavy lines are drawn last, above the others; lines against the layers on top.
    lines = sorted(view.lines, key=lambda one: (one.wrong, one.weight, one.src, one.dst))
    out += [_line(line, places, heaviest, sideways=sideways) for line in lines]
    out += [_box(one, places[one.id]) for one in view.boxes]
    return "\n".join([part for part in out if part] + ["</svg>"]) + "\n"


def _line(line: Line, places: Mapping[str, tuple[float, float]], heaviest: int, *, sideways: bool) -> str:
    (ax, ay), (bx, by) = places[line.src], places[line.dst]
    share = line.weight / heaviest
    if sideways:
        side = 1 if bx > ax else -1
        ax, bx = ax + side * BOX_WIDTH / 2, bx - side * BOX_WIDTH / 2
        bend = (bx - ax) / 2
        path = f"M{ax:.1f} {ay:.1f}C{ax + bend:.1f} {ay:.1f} {bx - bend:.1f} {by:.1f} {bx:.1f} {by:.1f}"
    elif abs(ay - by) < 1:  # in one row: an arc below the boxes
        low = ay + BOX_HEIGHT / 2
        path = f"M{ax:.1f} {low:.1f}C{ax:.1f} {low + BOX_HEIGHT * 0.8:.1f} {bx:.1f} {low + BOX_HEIGHT * 0.8:.1f} {bx:.1f} {low:.1f}"
    else:
        side = 1 if by > ay else -1
        ay, by = ay + side * BOX_HEIGHT / 2, by - side * BOX_HEIGHT / 2
        bend = side * max(28.0, abs(by - ay) * 0.4)
        path = f"M{ax:.1f} {ay:.1f}C{ax:.1f} {ay + bend:.1f} {bx:.1f} {by - bend:.1f} {bx:.1f} {by:.1f}"
    opacity = 0.75 if line.wrong or sideways else 0.12 if share < LEAST_SHARE else 0.25 + 0.55 * math.sqrt(share)
    wide = 1 + 4 * math.sqrt(share)
    classes = "line" + (" wrong" if line.wrong else "") + (" possible" if line.possible else "")
    stroke = f'stroke-width="{wide:.1f}" stroke-opacity="{opacity:.2f}"'
    return f'<path class="{classes}" d="{path}" {stroke}><title>{xml(line.hint)}</title></path>'


def _box(box: Box, place: tuple[float, float]) -> str:
    x, y = place[0] - BOX_WIDTH / 2, place[1] - BOX_HEIGHT / 2
    heat = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="6" height="{BOX_HEIGHT}" rx="3" fill="{colour(box.heat)}"/>' if box.kind == "module" else ""
    )
    return (
        f'<g class="node {box.kind}"><title>{xml(box.hint)}</title>'
        f'<rect class="box" x="{x:.1f}" y="{y:.1f}" width="{BOX_WIDTH:.0f}" height="{BOX_HEIGHT:.0f}" rx="7"/>{heat}'
        f'<text class="title" x="{x + 16:.1f}" y="{y + 21:.1f}">{xml(_short(box.title, TITLE))}</text>'
        f'<text class="detail" x="{x + 16:.1f}" y="{y + 38:.1f}">{xml(_short(box.detail, DETAIL))}</text></g>'
    )


def colour(heat: float) -> str:
    """Return a colour from blue over amber to red for a heat (risk) of 0 to 1."""
    stops = ((0.0, (118, 152, 190)), (0.6, (232, 170, 66)), (1.0, (208, 66, 48)))
    for (low, a), (high, b) in pairwise(stops):
        if heat <= high:
            part = (heat - low) / (high - low)
            return "#" + "".join(f"{round(p + (q - p) * part):02x}" for p, q in zip(a, b, strict=True))
    return "#d04230"


def _short(text: str, most: int) -> str:
    """Shorten a path to `most` characters if it is longer.

    A shortened path begins with "…". The end of the path is kept, because it is more specific.
    """
    return text if len(text) <= most else "…" + text[len(text) - most + 1 :]
