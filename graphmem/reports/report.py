"""HTML report on the structure of a system and its problems.

The document has no scripts and no network addresses. It is made only from answers of operations, so that it is the same through every
interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as html_escape
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Protocol

from graphmem.reports.diagram import of_modules
from graphmem.reports.svg import STYLE, colour, svg
from graphmem.runtime.safe_text import inert

if TYPE_CHECKING:
    from graphmem.answers import IndexState, PathStep, Project, SymbolInfo
    from graphmem.answers.semantic import (
        CentralPage,
        Cycle,
        CycleCut,
        CyclesAnswer,
        DeadCodePage,
        DuplicatePage,
        EntryPointPage,
        FlowPage,
        HotspotPage,
        ModuleMap,
    )


def escape(text: str) -> str:
    """Escape text as HTML on one line."""
    return html_escape(inert(text))


ROWS: Final = 15  # of a table; a command lists the rest
FEW: Final = 8

Cells = Sequence[str]


class Answers(Protocol):
    """Operations that the report asks."""

    def modules(self) -> ModuleMap:
        """Modules of the system."""

    def cycles(self, level: str = "files", limit: int = 50) -> CyclesAnswer:
        """Import cycles."""

    def entry_points(self, kinds: Sequence[str] | None = None, limit: int = 100, offset: int = 0) -> EntryPointPage:
        """Entry points."""

    def flows(self, kinds: Sequence[str] | None = None, module: str | None = None, limit: int = 50, offset: int = 0) -> FlowPage:
        """Flows from entry points."""

    def hotspots(self, level: str = "files", limit: int = 50, offset: int = 0) -> HotspotPage:
        """Hot spots."""

    def central_symbols(self, limit: int = 50) -> CentralPage:
        """Central symbols."""

    def dead_code(self, min_confidence: float = 0.6, limit: int = 100, offset: int = 0) -> DeadCodePage:
        """Dead code."""

    def duplicates(
        self, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: int = 50, offset: int = 0
    ) -> DuplicatePage:
        """Duplicated code."""


def report(project: Project, ask: Answers) -> str:
    """Write the document. The same index gives the same bytes."""
    found = ask.modules()
    module_cycles, file_cycles = ask.cycles("modules", FEW), ask.cycles("files", FEW)
    entries, flows = ask.entry_points(limit=1), ask.flows(limit=FEW)
    hot_files, hot_symbols = ask.hotspots("files", ROWS), ask.hotspots("symbols", ROWS)
    central, dead, twice = ask.central_symbols(ROWS), ask.dead_code(limit=ROWS), ask.duplicates(limit=FEW)
    parts = [
        ("map", "Map of modules", _map(found)),
        ("modules", "Modules", _modules(found)),
        ("upward", "Dependencies against the layers", _upward(found)),
        ("hotspots", "Hot spots", _hot(hot_files, "Files") + _hot(hot_symbols, "Symbols")),
        ("cycles", "Cycles", _cycles(module_cycles, "modules") + _cycles(file_cycles, "files, by their imports")),
        ("entries", "Entry points and flows", _entries(entries) + _flows(flows)),
        ("central", "What the rest leans on", _central(central)),
        ("dead", "Probably dead code", _dead(dead)),
        ("duplicates", "Duplicates", _duplicates(twice)),
    ]
    lines = sum(one.lines for one in found.modules)
    tiles = [
        (f"{project.state.files:,}", "files"),
        (f"{lines:,}", "lines of code files"),
        (f"{project.state.symbols:,}", "symbols"),
        (f"{len(found.modules):,}", "modules"),
        (f"{sum(one.upward for one in found.dependencies):,} of {len(found.dependencies):,}", "dependencies go up"),
        (f"{file_cycles.total:,}", "import cycles"),
        (f"{sum(entries.by_kind.values()):,}", "entry points"),
        (f"{dead.total:,}", "probably dead"),
        (f"{twice.lines:,}", "duplicate lines"),
    ]
    css = files("graphmem.reports").joinpath("report.css").read_text(encoding="utf-8")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(project.name)} – what it is made of</title>",
            f"<style>\n{css}{STYLE}</style></head><body>",
            f"<header><h1>{escape(project.name)}</h1><p class='lead'>{_when(project)}</p>",
            "<nav aria-label='Sections'>" + "".join(f"<a href='#{key}'>{title}</a>" for key, title, _ in parts) + "</nav></header><main>",
            "<div class='tiles'>"
            + "".join(f"<div class='tile'><b>{value}</b><span>{label}</span></div>" for value, label in tiles)
            + "</div>",
            *(f"<section id='{key}'><h2>{title}</h2>{body}</section>" for key, title, body in parts),
            f"</main><footer class='soft'>{_reading(found.state)}</footer></body></html>",
            "",
        ]
    )


def _when(project: Project) -> str:
    state = project.state
    stale = f"; {state.stale_files:,} files have changed since" if state.stale_files else ""
    at = state.indexed_at[:16].replace("T", " ")
    return f"As indexed on {escape(at)} UTC by graphmem {escape(project.version)}{stale}."


def _reading(state: IndexState) -> str:
    return (
        f"Made from {state.edges:,} edges between {state.symbols:,} symbols. What the source does not say outright is left out of the map; "
        "what could not be resolved lowers the confidence of what is called dead. Nothing here was guessed by a language model."
    )


def _map(found: ModuleMap) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    picture = svg(of_modules(found, "Map of modules"), style=False)
    return (
        "<p class='soft'>Each box is a group of files that belong together; what is higher depends on what is lower. The bar on the left "
        "is its heat. Dashed red lines go against the layers. Rest the pointer on a box or a line for what it says; the tables below hold "
        "the same.</p>"
        f"<div class='map scroll'>{picture}</div>" + (f"<ul class='plain soft'>{notes}</ul>" if notes else "")
    )


def _modules(found: ModuleMap) -> str:
    rows = [
        (
            f"<b>{escape(one.name)}</b><br><span class='soft'>{escape(one.summary)}</span>",
            str(one.layer),
            f"{one.files:,}",
            f"{one.lines:,}",
            _bar(one.heat),
            f"{one.cohesion:.2f}",
            ", ".join(f"<code>{escape(symbol.qualname)}</code>" for symbol in one.central[:3]),
        )
        for one in found.modules
    ]
    head = [("Module", ""), ("Layer", "n"), ("Files", "n"), ("Lines", "n"), ("Heat", ""), ("Cohesion", "n"), ("Leans on", "")]
    return _table("Largest first. Cohesion is the share of a module's dependencies that stays inside it.", head, rows)


def _upward(found: ModuleMap) -> str:
    upward = sorted((one for one in found.dependencies if one.upward), key=lambda one: (one.weight, one.src_name, one.dst_name))
    if not upward:
        return "<p>None: every dependency leads to a lower layer.</p>"
    rows = [
        (escape(one.src_name), escape(one.dst_name), f"{one.weight:,}", "<br>".join(_step(step) for step in one.sites[:3]))
        for one in upward
    ]
    head = [("From", ""), ("To", ""), ("Edges", "n"), ("Where", "")]
    return _table("Lightest first: without these, the modules would have layers.", head, rows[:ROWS]) + _rest(len(rows), ROWS, "modules")


def _hot(found: HotspotPage, title: str) -> str:
    rows = [
        (
            f"<code>{escape(one.symbol.ref if found.level == 'symbols' else one.symbol.path)}</code>",
            _bar(one.score / 100),
            *((f"{one.churn:.1f}",) if found.churn_known else ()),
            f"{one.complexity:,}",
            f"{one.dependents:,}",
        )
        for one in found.hotspots
    ]
    head = [(title, ""), ("Heat", ""), *((("Churn", "n"),) if found.churn_known else ()), ("Complexity", "n"), ("Dependents", "n")]
    what = "Often changed, complex, and depended upon" if found.churn_known else "Complex and depended upon; no history of changes is known"
    return _table(f"{what}: hottest first.", head, rows) + _rest(found.total, len(rows), f"hotspots --level {found.level}")


def _cycles(found: CyclesAnswer, between: str) -> str:
    if not found.total:
        return f"<p>No cycle between {between}.</p>"
    body = "".join(_cycle(one) for one in found.cycles)
    return f"<h3>Between {between}: {found.total:,}</h3>{body}" + _rest(found.total, len(found.cycles), f"cycles --level {found.level}")


def _cycle(one: Cycle) -> str:
    trip = " → ".join(f"<code>{escape(name)}</code>" for name in [*one.example, one.example[0]])
    late = " Loading works: an import on every way round is made inside a function." if one.deferred else ""
    members = "".join(f"<li><code>{escape(name)}</code></li>" for name in one.members)
    cuts = "".join(f"<li>{_cut(cut)}</li>" for cut in one.cuts)
    more = f" {one.cut_count:,} cuts leave no cycle." if one.cut_count > 1 else ""
    return (
        f"<p><b>{len(one.members):,} members.</b> {trip}.{late}<br>Cut first: {_cut(one.cheapest)}{more}</p>"
        f"<details><summary>Members and all cuts</summary><ul class='plain'>{members}</ul><ul class='plain'>{cuts}</ul></details>"
    )


def _cut(cut: CycleCut) -> str:
    frees = f", frees {cut.frees:,}" if cut.frees else ""
    where = f" <span class='soft'>{_step(cut.sites[0])}</span>" if cut.sites else ""
    edges = f"{cut.weight:,} edge{'' if cut.weight == 1 else 's'}"
    return f"<code>{escape(cut.src)}</code> → <code>{escape(cut.dst)}</code> ({edges}{frees}){where}"


def _entries(found: EntryPointPage) -> str:
    kinds = ", ".join(f"{count:,} × {escape(kind)}" for kind, count in found.by_kind.items())
    return f"<p>{kinds or 'None was recognised.'}</p>"


def _flows(found: FlowPage) -> str:
    rows = []
    for one in found.flows:
        steps = " → ".join(f"<code>{escape(step.dst.qualname)}</code>" for step in one.steps)
        others = f"<br><span class='soft'>and {one.variant_count:,} more entry points the same way</span>" if one.variant_count else ""
        rows.append((f"<code>{escape(one.entry.ref)}</code>{others}", escape(one.kind), steps, escape(", ".join(one.modules))))
    head = [("From", ""), ("Kind", ""), ("Along", ""), ("Through", "")]
    return (
        _table("Ways through the most modules, along confident calls.", head, rows) + _rest(found.total, len(rows), "flows") if rows else ""
    )


def _central(found: CentralPage) -> str:
    rows = [
        (f"<code>{escape(one.symbol.ref)}</code>", escape(one.symbol.kind), f"{one.rank:,.1f}", f"{one.dependents:,}")
        for one in found.symbols
    ]
    head = [("Symbol", ""), ("Kind", ""), ("Rank", "n"), ("Dependents", "n")]
    return _table("By PageRank along dependencies, as a multiple of the average symbol's.", head, rows)


def _dead(found: DeadCodePage) -> str:
    rows = [
        (
            f"<code>{_place(one.symbol)}</code>",
            escape(one.reason.replace("_", " ")),
            f"{one.confidence:.2f}",
            f"{one.lines:,}",
            escape("; ".join(one.why)),
        )
        for one in found.symbols
    ]
    head = [("Definition", ""), ("Because", ""), ("Confidence", "n"), ("Lines", "n"), ("Weighed", "")]
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    table = _table("Most certain first; look before you delete.", head, rows) if rows else "<p>None.</p>"
    return table + _rest(found.total, len(rows), "dead-code") + (f"<ul class='plain soft'>{notes}</ul>" if notes else "")


def _duplicates(found: DuplicatePage) -> str:
    rows = [
        (
            "<br>".join(
                f"<code>{escape(one.path)}:{one.start_line}</code> <span class='soft'>{escape(one.qualname)}</span>"
                for one in group.places[:4]
            )
            + (f"<br><span class='soft'>and {len(group.places) - 4:,} more places</span>" if len(group.places) > 4 else ""),
            escape(group.kind),
            f"{group.similarity:.2f}",
            f"{group.lines:,}",
        )
        for group in found.groups
    ]
    head = [("Places", ""), ("Kind", ""), ("Similarity", "n"), ("Lines to save", "n")]
    return (_table("Outside tests.", head, rows) if rows else "<p>None.</p>") + _rest(found.total, len(rows), "duplicates")


# ---- pieces


def _table(caption: str, head: Sequence[tuple[str, str]], rows: Iterable[Cells]) -> str:
    def cell(tag: str, text: str, kind: str) -> str:
        scope = " scope='col'" if tag == "th" else ""
        return f"<{tag}{scope} class='n'>{text}</{tag}>" if kind else f"<{tag}{scope}>{text}</{tag}>"

    top = "".join(cell("th", title, kind) for title, kind in head)
    body = "".join("<tr>" + "".join(cell("td", text, kind) for text, (_, kind) in zip(row, head, strict=True)) + "</tr>" for row in rows)
    return f"<div class='scroll'><table><caption>{caption}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def _rest(total: int, shown: int, command: str) -> str:
    return f"<p class='soft'>{total - shown:,} more: <code>graphmem {command}</code></p>" if total > shown else ""


def _bar(share: float) -> str:
    wide = max(2, round(100 * share))
    return (
        f"<span class='bar' role='img' aria-label='{share:.2f}'><i style='width:{wide}%;background:{colour(share)}'></i></span> {share:.2f}"
    )


def _step(step: PathStep) -> str:
    name = step.dst.qualname if step.dst.qualname and step.dst.qualname != "<module>" else step.dst.path
    return f"<code>{escape(step.src.path)}:{step.line}</code> → <code>{escape(name)}</code>"


def _place(symbol: SymbolInfo) -> str:
    return escape(f"{symbol.path}:{symbol.start_line} {symbol.qualname}")
