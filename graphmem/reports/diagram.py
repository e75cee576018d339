"""Make diagrams of modules or dependents: DOT, Mermaid, GraphML or JSON.

The module `reports.svg` writes SVG.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.answers import to_json
from graphmem.runtime.texts.safe_text import inert, inert_json

if TYPE_CHECKING:
    from graphmem.answers import ImpactReport
    from graphmem.answers.modules import ModuleMap

GRAPHML: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)

_NO_XML: Final = {0xFFFE: "\ufffd", 0xFFFF: "\ufffd"}
ZONE: Final = 24  # folders shown in a zone; the others become one box


@dataclass(frozen=True, slots=True)
class Box:
    """A node of a diagram: a module, symbol or folder, with text and position."""

    id: str
    title: str
    detail: str  # a second, smaller line
    hint: str  # tooltip
    x: float  # centre, 0..1 from the left
    y: float  # 0..1 from the top
    heat: float = 0.0  # 0..1
    kind: str = "module"  # module | focus | dependency | dependent


@dataclass(frozen=True, slots=True)
class Line:
    """An edge of a diagram: the box `src` depends on the box `dst`."""

    src: str
    dst: str
    weight: int
    hint: str
    wrong: bool = False  # against the layers
    possible: bool = False  # less certain than 0.5


@dataclass(frozen=True, slots=True)
class Diagram:
    """A picture to export: boxes with positions, and lines between them."""

    title: str
    boxes: list[Box]
    lines: list[Line]
    columns: int  # boxes side by side in the widest row
    rows: int
    notes: list[str] = field(default_factory=list)
    gap: float = 62.0  # between rows, in units of the picture


def of_modules(found: ModuleMap, title: str) -> Diagram:
    """Make a diagram of modules, with one box for each module.

    The boxes have the positions of the module map, in layers from top to bottom.
    """
    rows: dict[float, int] = {}
    for one in found.modules:
        rows[one.y] = rows.get(one.y, 0) + 1
    boxes = [
        Box(
            one.id,
            one.name,
            f"{_count(one.files, 'file')} · {one.lines:,} lines",
            f"{one.name}: {one.summary or 'no documentation'} Layer {one.layer}, {_count(one.symbols, 'symbol')}, "
            f"heat {one.heat:.2f}, cohesion {one.cohesion:.2f}.",
            one.x,
            one.y,
            one.heat,
        )
        for one in found.modules
    ]
    lines = [
        Line(
            one.src, one.dst, one.weight, f"{one.src_name} → {one.dst_name}: {_count(one.weight, 'edge')} ({_kinds(one.kinds)})", one.upward
        )
        for one in found.dependencies
    ]
    return Diagram(title, boxes, lines, max(rows.values(), default=1), max(1, len(rows)), list(found.notes))


def of_impact(up: ImpactReport, down: ImpactReport, title: str) -> Diagram:
    """Make a diagram of the code that a change could break.

    The changed code is in the middle. The code it depends on (`down`) is on the left. The code that depends on it (`up`) is on the right.
    Each folder is one box.
    """
    focus = [(one.ref, one.qualname or one.path, one.path) for one in up.targets]
    zones = ((down, "dependency", 0.14), (up, "dependent", 0.86))
    tallest = max(len(focus), *(min(len(report.by_module), ZONE + 1) for report, _, _ in zones))

    def height(place: int, count: int) -> float:
        return (tallest / 2 + place + 0.5 - count / 2) / tallest  # a shorter zone is centred

    boxes = [
        Box(ref, name, path, f"{ref}: the focus", 0.5, height(i, len(focus)), 0.0, "focus") for i, (ref, name, path) in enumerate(focus)
    ]
    lines = []
    for report, kind, x in zones:
        groups = report.by_module[:ZONE]
        rest = report.by_module[ZONE:]
        shown = len(groups) + bool(rest)
        for i, group in enumerate(groups):
            key = f"{kind}:{group.name}"
            words = f"{_count(group.hits, 'symbol')}, {_steps(group.min_depth)}"
            hint = f"{group.name}: {words}, confidence up to {group.max_confidence:.2f}"
            boxes.append(Box(key, group.name or "top level", words, hint, x, height(i, shown), 0.0, kind))
            for ref, _, _ in focus:
                ends = (ref, key) if kind == "dependency" else (key, ref)
                lines.append(Line(*ends, group.hits, hint, possible=group.max_confidence < 0.5))
        if rest:
            hits = sum(group.hits for group in rest)
            words = f"{_count(hits, 'symbol')} in {_count(len(rest), 'more folder')}"
            boxes.append(
                Box(f"{kind}:", f"… {_count(len(rest), 'more folder')}", _count(hits, "symbol"), words, x, height(ZONE, shown), 0.0, kind)
            )
    notes = [cause.message for report in (up, down) for cause in report.causes]
    return Diagram(title, boxes, lines, 4, max(1, tallest), list(dict.fromkeys(notes)), 16.0)


def dot(view: Diagram) -> str:
    """Return a diagram in Graphviz's language DOT."""
    out = [f"digraph {quoted(view.title)} {{", '  rankdir="TB";', '  node [shape="box", style="rounded", fontname="sans-serif"];']
    out += [f"  {quoted(one.id)} [label={quoted(one.title)}, tooltip={quoted(one.hint)}];" for one in view.boxes]
    for one in view.lines:
        more = ', color="red", style="dashed", constraint="false"' if one.wrong else ', style="dotted"' if one.possible else ""
        out.append(f"  {quoted(one.src)} -> {quoted(one.dst)} [label={quoted(str(one.weight))}, tooltip={quoted(one.hint)}{more}];")
    return "\n".join([*out, "}"]) + "\n"


def mermaid(view: Diagram) -> str:
    """Return a diagram as Mermaid, which Markdown renderers draw."""
    number = {one.id: f"n{i}" for i, one in enumerate(view.boxes)}
    out = ["flowchart TD"]
    out += [f'  {number[one.id]}["{_mermaid(one.title)}<br/>{_mermaid(one.detail)}"]' for one in view.boxes]
    wrong = []
    for i, one in enumerate(view.lines):
        arrow = "-.->" if one.wrong or one.possible else "-->"
        out.append(f"  {number[one.src]} {arrow}|{one.weight}| {number[one.dst]}")
        if one.wrong:
            wrong.append(str(i))
    if wrong:
        out.append(f"  linkStyle {','.join(wrong)} stroke:#c0392b")
    return "\n".join(out) + "\n"


def graphml(view: Diagram) -> str:
    """Return a diagram as GraphML for networkx, yEd and Gephi."""
    out = [GRAPHML]
    for name, kind in (("title", "string"), ("detail", "string"), ("kind", "string"), ("heat", "double"), ("x", "double"), ("y", "double")):
        out.append(f'  <key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n')
    for name, kind in (("weight", "long"), ("wrong", "boolean"), ("possible", "boolean")):
        out.append(f'  <key id="{name}" for="edge" attr.name="{name}" attr.type="{kind}"/>\n')
    out.append('  <graph edgedefault="directed">\n')
    for box in view.boxes:
        values = {"title": box.title, "detail": box.detail, "kind": box.kind, "heat": box.heat, "x": box.x, "y": box.y}
        data = "".join(f'<data key="{key}">{xml(str(value))}</data>' for key, value in values.items())
        out.append(f"    <node id={xml_attribute(printable(box.id))}>{data}</node>\n")
    for line in view.lines:
        flags = {"weight": str(line.weight), "wrong": str(line.wrong).lower(), "possible": str(line.possible).lower()}
        data = "".join(f'<data key="{key}">{value}</data>' for key, value in flags.items())
        out.append(f"    <edge source={xml_attribute(printable(line.src))} target={xml_attribute(printable(line.dst))}>{data}</edge>\n")
    return "".join([*out, "  </graph>\n</graphml>\n"])


def as_json(view: Diagram) -> str:
    """Return a diagram as JSON."""
    return inert_json(json.dumps(to_json(view), ensure_ascii=False, indent=1)) + "\n"


def printable(text: str) -> str:
    """Return a label on one line, without characters that XML forbids."""
    return inert(text).translate(_NO_XML)


def xml(text: str) -> str:
    """Return text escaped for the content of an XML element."""
    from xml.sax.saxutils import escape  # imports the client of HTTP, which most commands need not

    return escape(printable(text))


def xml_attribute(text: str) -> str:
    """Return a printable text, quoted as the value of an XML attribute."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(text)


def quoted(text: str) -> str:
    """Return a name in quotes for Graphviz."""
    return '"' + inert(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _mermaid(text: str) -> str:
    """Return a string escaped for a quoted label of Mermaid.

    Characters with a meaning in Mermaid are replaced by numeric codes.
    """
    return "".join(f"#{ord(c)};" if c in '"#;&<>`[]{}|\\' else c for c in inert(text))


def _steps(depth: int) -> str:
    return "directly" if depth == 1 else f"from step {depth} on"


def _kinds(kinds: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind.lower().replace('_', ' ')}" for kind, count in kinds.items())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
