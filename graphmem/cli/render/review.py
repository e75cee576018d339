"""Print a review of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.cli.output import Output, joined, plural
from graphmem.cli.render import common
from graphmem.cli.render.impact import CHANGE_STYLES, RISK_STYLES
from graphmem.reports.review_formats import why

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import Risk
    from graphmem.answers.review import Review
    from graphmem.cli.output import Cell

WHY = {
    "ran": "a recorded run",
    "changed": "it changed",
    "reaches": "its source leads here",
    "maybe": "it calls this name on a value of unknown type",
    "named": "it is named after the file or the function",
}


def review(output: Output, found: Review, top: int) -> None:
    """Print a review of a change; at most `top` lines a group, 0 for all."""
    what = "the given diff" if found.base == "diff" else f"{found.head} since {found.base}"
    counts = f"  {plural(len(found.files), 'file')}, {plural(len(found.changed), 'changed symbol')}"
    output.line(("Review of ", common.HEADING), (what, common.NAME), counts)
    if not found.files:
        output.line(("  nothing changed; name what to compare with, as in `graphmem review main`", common.UNSURE))
        for one in found.causes:
            if one.kind == "untracked":
                output.line(f"  {one.count:,} {one.message}")
        return
    _risk(output, found.risk)
    _changes(output, found, top)
    _tests(output, found, top)
    _beside(output, found, top)
    causes = [(joined([f"{one.count:,} " if one.count else "", one.message]),) for one in found.causes]
    _group(output, "Limits", "why this may be incomplete", causes, top)
    output.line()
    common.calls_line(output, found.known_calls)
    output.line(common.state_line(found.state))


def _risk(output: Output, risk: Risk) -> None:
    score = f" {risk.score:.0f} of 100" if risk.level != "unknown" else ""
    output.line(
        "  ", "risk not below " if risk.at_least else "risk ", (f" {risk.level.upper()} ", RISK_STYLES.get(risk.level, "bold")), score
    )
    output.rows([(one.name, f"{one.points:.1f}", (f"of {one.most:.0f}  {one.counted}", common.DIM)) for one in risk.factors], 4, right=(1,))


def _changes(output: Output, found: Review, top: int) -> None:
    """Print the changed symbols, and the symbols that they may break."""
    changed = [
        (
            (one.change, CHANGE_STYLES.get(one.change, "")),
            common.name(one.symbol),
            common.place(one.symbol.path, min(one.lines, default=one.symbol.start_line)),
        )
        for one in found.changed
    ]
    _group(output, "Changed", "", changed, top)
    breaks = [
        (
            common.confidence(hit.confidence),
            common.name(hit.symbol),
            common.place(hit.symbol.path, hit.symbol.start_line),
            (why(hit), common.DIM),
        )
        for hit in found.breaks
    ]
    _group(output, "Could break", "", breaks, top, found.break_count)


def _tests(output: Output, found: Review, top: int) -> None:
    """Print the tests to run with their commands, and untested changes."""
    tests = [(common.confidence(one.confidence), (one.id, common.NAME), (WHY.get(one.why, one.why), common.DIM)) for one in found.tests]
    _group(output, "Tests to run", "", tests, top, found.test_count)
    for one in found.commands:
        whole = "  # whole files" if one.whole_files else ""
        output.line("  $ ", (one.command, common.NAME), (whole, common.DIM))
    untested = [(common.name(one.symbol), common.place(one.symbol.path, one.symbol.start_line)) for one in found.untested]
    _group(output, "Changed without a test", "no known test reaches them", untested, top)


def _beside(output: Output, found: Review, top: int) -> None:
    """Print memories, contracts and related files for the changed code.

    A contract is, for example, a route with its clients.
    """
    known = [
        ((f"#{one.memory.short_id}", common.NAME), (one.memory.type, common.PATH), one.memory.title, common.place(one.path, one.line))
        for one in found.known
    ]
    _group(output, "Known about this code", "", known, top, found.known_count)
    contracts = [
        (
            (one.change, common.BAD),
            (one.name, common.NAME),
            f"used in {plural(len(one.asked), 'place')}",
            common.place(place.path, place.line),
        )
        for one in found.contracts
        for place in one.asked[:3] or one.offered[:1]
    ]
    _group(output, "Broken contracts", "other programs may use them", contracts, top)
    forgotten = [((one.path, common.PATH), f"{one.support}×", f"{one.confidence:.0%} of their changes") for one in found.forgotten]
    _group(output, "Often changes along", "but is not in this change", forgotten, top, found.forgotten_count)


def _group(output: Output, title: str, note: str, rows: Sequence[Sequence[Cell]], top: int, total: int = 0) -> None:
    if not rows:
        return
    output.line()
    output.line((title, common.HEADING), (f"  {note + ' · ' if note else ''}{max(total, len(rows)):,}", common.DIM))
    shown = rows[: top or None]
    output.rows(shown)
    how = "--top 0 shows all" if total <= len(rows) else "--top 0, --limit and --tests show more"
    if more := common.cut(len(shown), max(total, len(rows)), how):
        output.line(("  " + more, common.DIM))
