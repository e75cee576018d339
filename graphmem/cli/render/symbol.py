"""A symbol and what stands around it, and lists of symbols."""

from __future__ import annotations

from graphmem.answers import PathAnswer, Site, SymbolDetail, SymbolInfo
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.runtime.safe_text import inert_lines


def symbol(output: Output, detail: SymbolDetail, top: int) -> None:
    """One symbol; at most `top` lines of each list, 0 for all."""
    one = detail.symbol
    output.line(common.name(one), "  ", common.place(one.path, one.start_line), (f"  {common.kind(one)}", common.DIM))
    if one.signature:
        output.line("  ", one.signature)
    facts = [*detail.modifiers]
    if one.end_line > one.start_line:
        facts.append(f"{one.end_line - one.start_line + 1} lines")
    if detail.complexity:
        facts.append(f"complexity {detail.complexity}")
    if detail.parent is not None:
        facts.append(f"in {detail.parent.qualname or detail.parent.name}")
    if facts:
        output.line(("  " + " · ".join(facts), common.DIM))
    for text in detail.doc.splitlines():
        output.line("  ", (text, "italic"))
    _members(output, detail.members, top)
    for title, sites in (
        ("Called by", detail.callers),
        ("Calls", detail.callees),
        ("Used by", detail.references),
        ("Bases", detail.bases),
        ("Subclasses", detail.subclasses),
        ("Overrides", detail.overrides),
        ("Overridden by", detail.overridden_by),
        ("Tests", detail.tests),
    ):
        _sites(output, title, sites, top, here=one.path if title in {"Calls", "Bases", "Overrides"} else "")
    if detail.source:
        output.line()
        _source(output, one, detail.source)


def symbols(output: Output, found: list[SymbolInfo], total: int, query: str) -> None:
    """A page of symbols, each with the reference to type."""
    output.line((f"{plural(total, 'symbol')} for ", common.HEADING), (query, common.NAME))
    output.rows([(one.ref, (f"line {one.start_line}", common.DIM), (common.kind(one), common.DIM)) for one in found])
    if more := common.cut(len(found), total, "--top shows more"):
        output.line(("  " + more, common.DIM))


def path(output: Output, answer: PathAnswer) -> None:
    """How one symbol depends on another, edge by edge."""
    ends = (common.name(answer.source), " → ", common.name(answer.target))
    if not answer.steps:
        sure = answer.epistemic == "exact"
        output.line(
            "No dependency path ", *ends, f" within {answer.max_depth} steps" + ("." if sure else "; unresolved call sites could hide one.")
        )
    else:
        output.line(*ends, f"   {plural(len(answer.steps), 'step')}, confidence ", common.confidence(answer.confidence))
        output.line()
        common.steps(output, answer.steps)
    output.line()
    output.line(common.state_line(answer.state))


def _members(output: Output, members: list[SymbolInfo], top: int) -> None:
    if members:
        shown = members[: top or None]
        output.line()
        output.line(("Members", common.HEADING), (f"  {len(members):,}", common.DIM))
        output.rows([(common.name(one), common.place(one.path, one.start_line), (one.signature or one.kind, common.DIM)) for one in shown])
        _say_cut(output, len(shown), len(members))


def _sites(output: Output, title: str, sites: list[Site], top: int, here: str) -> None:
    """Edges of one relation; `here` is the file the lines are in when that is not the other end's."""
    if not sites:
        return
    shown = sites[: top or None]
    output.line()
    output.line((title, common.HEADING), (f"  {len(sites):,}", common.DIM))
    output.rows(
        [
            (
                common.confidence(site.confidence),
                common.name(site.symbol),
                common.place(here or site.symbol.path, site.lines[0] if site.lines else 0)
                if site.lines
                else common.place(site.symbol.path, site.symbol.start_line),
                (common.evidence(site.source, site.rule), common.DIM),
                (
                    f"and line{'s' * (len(site.lines) > 2)} {', '.join(map(str, site.lines[1:6]))}{', …' * (len(site.lines) > 6)}"
                    if len(site.lines) > 1
                    else "",
                    common.DIM,
                ),
            )
            for site in shown
        ]
    )
    _say_cut(output, len(shown), len(sites))


def _source(output: Output, one: SymbolInfo, text: str) -> None:
    if output.is_terminal:
        from rich.syntax import Syntax

        lexer = Syntax.guess_lexer(one.path, code=text)
        output.console.print(Syntax(inert_lines(text), lexer, line_numbers=True, start_line=one.start_line, background_color="default"))
        return
    width = len(str(one.end_line))
    for number, line in enumerate(text.splitlines(), one.start_line):
        output.line((f"{number:>{width}}  ", common.DIM), line)


def _say_cut(output: Output, shown: int, total: int) -> None:
    if more := common.cut(shown, total, "--top 0 shows all"):
        output.line(("  " + more, common.DIM))
