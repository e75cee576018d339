"""Print symbols with their edges, dependency paths, and search hits."""

from __future__ import annotations

from graphmem.answers import PathAnswer, SearchAnswer, Site, SymbolDetail, SymbolInfo
from graphmem.answers.code import Implementations
from graphmem.answers.injection import PackedText
from graphmem.answers.places import EdgePlaces, Edges, Occurrence, Occurrences, SymbolAt, Usage, Usages
from graphmem.answers.search import unanswered
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common, found
from graphmem.cli.rendering import renders
from graphmem.runtime.texts.lines import lines_of
from graphmem.runtime.texts.safe_text import inert_lines


def symbol(output: Output, detail: SymbolDetail, top: int) -> None:
    """Print a symbol with its edges; at most `top` of each kind, 0 for all."""
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
    common.known(output, detail.known)
    _listed(output, "Overloads", detail.overloads, f"{len(detail.overloads):,}", top)
    _listed(output, "Members", detail.members, detail.count("members"), top)
    for title, relation in (
        ("Called by", "callers"),
        ("Calls", "callees"),
        ("Used by", "references"),
        ("Bases", "bases"),
        ("Subclasses", "subclasses"),
        ("Overrides", "overrides"),
        ("Overridden by", "overridden_by"),
        ("Tests", "tests"),
    ):
        here = one.path if relation in {"callees", "bases", "overrides"} else ""
        _sites(output, title, getattr(detail, relation), detail.count(relation), top, here)
    if detail.source:
        output.line()
        _source(output, one, detail.source)


def symbols(output: Output, found: list[SymbolInfo], total: int, query: str) -> None:
    """Print a page of symbols, each with the reference that selects it."""
    output.line((f"{plural(total, 'symbol')} for ", common.HEADING), (query, common.NAME))
    output.rows([(one.ref, (f"line {one.start_line}", common.DIM), (common.kind(one), common.DIM)) for one in found])
    if more := common.cut(len(found), total, "--top shows more"):
        output.line(("  " + more, common.DIM))


@renders(
    PathAnswer,
    bare=lambda answer: [one.ref for one in ([answer.source, *(step.dst for step in answer.steps)] if answer.steps else ())],
    refused=lambda answer: not answer.steps,
)
def path(output: Output, answer: PathAnswer) -> None:
    """Print how one symbol depends on another, edge by edge."""
    ends = (common.name(answer.source), " → ", common.name(answer.target))
    if not answer.steps:
        output.line("No dependency path ", *ends, f" found within {answer.max_depth} steps; source text does not show every dependency.")
        if answer.nearest:
            output.line(("  nearest: " + answer.nearest, common.DIM))
    else:
        output.line(*ends, f"   {plural(len(answer.steps), 'step')}, confidence ", common.confidence(answer.confidence))
        output.line()
        common.steps(output, answer.steps)
    common.calls_line(output, answer.known_calls)
    common.known(output, answer.known)
    output.line()
    output.line(common.state_line(answer.state))


def _listed(output: Output, title: str, symbols: list[SymbolInfo], count: str, top: int) -> None:
    """Print a title with `count`, and below it symbols, one on each line.

    Each line has the name, the place and the signature. At most `top` symbols are printed, 0 for all.
    """
    if symbols:
        shown = symbols[: top or None]
        output.line()
        output.line((title, common.HEADING), (f"  {count}", common.DIM))
        output.rows([(common.name(one), common.place(one.path, one.start_line), (one.signature or one.kind, common.DIM)) for one in shown])
        _say_cut(output, len(shown), len(symbols))


def _sites(output: Output, title: str, sites: list[Site], count: str, top: int, here: str) -> None:
    """Print a list of a symbol's edges, such as its callers.

    Args:
        output: the output of the command.
        title: heading of the list.
        sites: the edges.
        count: number of edges, as a string.
        top: maximum number of printed edges; 0 for all.
        here: path of the file to which the edges' line numbers refer. If "", they refer to the file of each edge's symbol.
    """
    if not sites:
        return
    shown = sites[: top or None]
    output.line()
    output.line((title, common.HEADING), (f"  {count}", common.DIM))
    output.rows(
        [
            (
                common.confidence(site.confidence),
                common.name(site.symbol),
                common.place(here or site.symbol.path, site.lines[0] if site.lines else 0)
                if site.lines
                else common.place(site.symbol.path, site.symbol.start_line),
                (f"{common.evidence(site.source, site.rule)} in {site.cell}".removesuffix(" in "), common.DIM),
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
    for number, line in enumerate(lines_of(text), one.start_line):
        output.line((f"{number:>{width}}  ", common.DIM), line)


def _say_cut(output: Output, shown: int, total: int) -> None:
    if more := common.cut(shown, total, "--top 0 shows all"):
        output.line(("  " + more, common.DIM))


def places(answer: SearchAnswer) -> list[str]:
    """Return `path:line` of each hit of a search; `#id` for a memory.

    If the answer contains all hits packed into one text (`packed`), the result is the lines of that text.
    """
    if answer.packed is not None:
        return answer.packed.text.splitlines()
    return [f"#{hit.memory.short_id}" if hit.memory is not None else f"{hit.path}:{hit.start_line}" for hit in answer.hits]


@renders(SearchAnswer, bare=places)
def search(output: Output, answer: SearchAnswer) -> None:
    """Print the hits of a search, grouped by file.

    If the answer has all hits packed in one text, the text is printed instead. Scores, and ranks in each search method (such as by words),
    are printed if the answer has them.
    """
    if answer.packed is not None:
        packed(output, answer, answer.packed)
        return
    found.hits(output, answer)


def packed(output: Output, answer: SearchAnswer, whole: PackedText) -> None:
    """Print the packed text with the hits of a search.

    The number of omitted hits is printed, too.
    """
    for line in whole.text.splitlines():
        output.line(line)
    output.line()
    left_out = "".join(f", {count} left out ({why})" for why, count in sorted(whole.left_out.items()))
    output.line((f"{whole.tokens:,} of {whole.budget:,} tokens, {plural(len(answer.hits), 'hit')}{left_out}", common.DIM))
    for sentence in unanswered(answer.missing):
        output.line((sentence, common.UNSURE))


@renders(SymbolAt, refused=lambda answer: answer.symbol is None)
def symbol_at(output: Output, answer: SymbolAt) -> None:
    """Print the symbol at a position in a file, or why no symbol is there."""
    if answer.is_stale:
        output.line((_STALE, common.UNSURE))
    if answer.symbol is None:
        output.line((answer.reason, common.UNSURE))
        return
    output.line((answer.symbol.ref, common.NAME), (f"   {answer.symbol.kind}", common.DIM))
    if answer.occurrence is not None:
        output.line((_place(answer.occurrence), common.DIM))
        for other in answer.occurrence.others:
            output.line(("or ", common.DIM), (other.ref, common.NAME))


@renders(Occurrences, bare=lambda answer: [_place(one) for one in answer.occurrences])
def occurrences(output: Output, answer: Occurrences) -> None:
    """Print the places in a file that name symbols, one line each, in order."""
    if answer.is_stale:
        output.line((_STALE, common.UNSURE))
    if answer.reason:
        output.line((answer.reason, common.UNSURE))
    output.rows([[_place(one), (one.role, common.DIM), (one.symbol.ref, common.NAME)] for one in answer.occurrences])


@renders(Usages, bare=lambda answer: [f"{one.path}:{_place(one)}" for one in answer.usages])
def usages(output: Output, answer: Usages) -> None:
    """Print the places that use a symbol, one line each, by file and position."""
    for path in answer.stale_files:
        output.line((f"{path}: {_STALE}", common.UNSURE))
    output.rows([[f"{one.path}:{_place(one)}", (one.role, common.DIM), f"{one.confidence:.2f}"] for one in answer.usages])
    if answer.total > len(answer.usages):
        output.line((f"and {answer.total - len(answer.usages):,} more; --limit shows more", common.DIM))
    if answer.possible:
        calls = "1 call" if answer.possible == 1 else f"{answer.possible:,} calls"
        output.line((f"{calls} of this name could not be resolved and may mean the symbol; `impact` lists them", common.UNSURE))


@renders(Implementations, bare=lambda answer: [one.ref for one in answer.implementations])
def implementations(output: Output, answer: Implementations) -> None:
    """Print the implementations of a class or method, one line each."""
    if not answer.implementations:
        output.line(f"No implementation of {answer.symbol.ref} found.")
    output.rows([[(one.qualname, common.NAME), f"{one.path}:{one.start_line}", (one.kind, common.DIM)] for one in answer.implementations])
    if answer.total > len(answer.implementations):
        output.line((f"and {answer.total - len(answer.implementations):,} more; --limit shows more", common.DIM))


@renders(Edges, bare=lambda answer: [place for one in answer.edges for place in _places(one)])
def edges(output: Output, answer: Edges) -> None:
    """Print edges with their places and rules, one line each."""
    for path in answer.stale_files:
        output.line((f"{path}: {_STALE}", common.UNSURE))
    if not answer.edges:
        output.line("No edge found; source text does not show every dependency.")
    output.rows(
        [
            [
                " ".join(_places(one)),
                (one.src.ref, common.NAME),
                (one.kind.lower().replace("_", " "), common.DIM),
                (one.dst.ref, common.NAME),
                f"{one.confidence:.2f}",
                (one.rule, common.DIM),
            ]
            for one in answer.edges
        ]
    )
    for rule, why in sorted({one.rule: one.why for one in answer.edges if one.why}.items()):
        output.line((f"{rule}: {why}", common.DIM))
    if answer.total > len(answer.edges):
        output.line((f"and {answer.total - len(answer.edges):,} more; --limit shows more", common.DIM))


def _places(edge: EdgePlaces) -> list[str]:
    """Return the places of an edge in the source, as strings.

    A place is `path:line:column-end`, or `path:line` where the position of the name in the line is unknown.
    """
    named = {one.line for one in edge.ranges}
    lines = [f"{edge.src.path}:{line}" for line in edge.lines if line not in named]
    return [*(f"{edge.src.path}:{one.line}:{one.column}-{one.end_column}" for one in edge.ranges), *lines]


_STALE = "the file changed since it was indexed, so positions may be wrong"


def _place(one: Occurrence | Usage) -> str:
    return f"{one.range.line}:{one.range.column}-{one.range.end_column} {one.text}"
