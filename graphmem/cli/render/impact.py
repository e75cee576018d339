"""Print the code that a change could break: verdict, dependents, tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.answers import DiffImpact, ImpactHit, ImpactReport
from graphmem.answers.impact import odds
from graphmem.cli.output import Output, joined, plural
from graphmem.cli.render import common

if TYPE_CHECKING:
    from graphmem.answers import SymbolInfo
    from graphmem.cli.output import Cell

RISK_STYLES: Final = {
    "critical": "bold white on red",
    "high": "bold red",
    "medium": "bold yellow",
    "low": "bold green",
    "unknown": "bold magenta",
}
CHANGE_STYLES: Final = {"added": common.GOOD, "removed": common.BAD, "signature": common.UNSURE}
_POSSIBLE_SHOWN: Final = 5
_GROUPS_SHOWN: Final = 8


def impact(output: Output, report: ImpactReport, top: int) -> None:
    """Print the code that a change could break.

    Each group has at most `top` lines; 0 for all.
    """
    _heading(output, report)
    _body(output, report, top)


def diff_impact(output: Output, answer: DiffImpact, top: int) -> None:
    """Print the symbols that a diff changes, then the code it could break."""
    what = "the given diff" if answer.base == "diff" else f"{answer.head} since {answer.base}"
    output.line(
        ("Impact of ", common.HEADING),
        (what, common.NAME),
        f"  {plural(len(answer.files), 'file')}, ",
        plural(len(answer.changed), "changed symbol"),
    )
    shown = answer.changed[: top or None]
    if shown:
        output.line()
        output.line(("Changed", common.HEADING))
        output.rows(
            [
                (
                    (one.change, CHANGE_STYLES.get(one.change, "")),
                    common.name(one.symbol),
                    common.place(one.symbol.path, min(one.lines, default=one.symbol.start_line)),
                    (common.kind(one.symbol), common.DIM),
                )
                for one in shown
            ]
        )
        _say_cut(output, len(shown), len(answer.changed))
    if answer.unmapped:
        output.line()
        output.line(("Changed files without a known symbol: ", common.UNSURE), ", ".join(answer.unmapped))
    output.line()
    if answer.impact.targets:
        _verdict(output, answer.impact)
        _body(output, answer.impact, top)
    else:
        output.line("The change touches no symbol that existed before, so no dependent can break.")
        output.line(common.state_line(answer.impact.state))


def _heading(output: Output, report: ImpactReport) -> None:
    word = "Impact of" if report.direction == "dependents" else "What it depends on:"
    if len(report.targets) == 1:
        target = report.targets[0]
        output.line(
            (f"{word} ", common.HEADING),
            common.name(target),
            "  ",
            common.place(target.path, target.start_line),
            (f"  {common.kind(target)}", common.DIM),
        )
    else:
        output.line((f"{word} {plural(len(report.targets), 'symbol')}", common.HEADING))
        output.rows(
            [
                (common.name(target), common.place(target.path, target.start_line), (common.kind(target), common.DIM))
                for target in report.targets
            ]
        )
    if report.earlier is not None:
        one = report.earlier
        until = f", replaced {one.until}" if one.until else ", the current one"
        output.line(("As of ", common.HEADING), f"{one.as_of}: the graph indexed {one.indexed_at}{until} (generation {one.generation:,})")
    _verdict(output, report)


def _verdict(output: Output, report: ImpactReport) -> None:
    noun = "dependent" if report.direction == "dependents" else "dependency"
    many = "dependents" if report.direction == "dependents" else "dependencies"
    risk = report.risk
    breaks = report.direction == "dependents"  # a dependency does not break when its dependent changes
    level: list[Cell] = [
        "risk not below " if risk.at_least else "risk ",
        (f" {risk.level.upper()} ", RISK_STYLES.get(risk.level, "bold")),
        f" {risk.score:.0f} of 100   ",
    ]
    output.line(
        "  ",
        *(level if breaks else []),
        f"{plural(report.total, noun, many)} in {plural(len(report.by_file), 'file')}",
        (f"   depth ≤ {report.max_depth}{', tests at any depth' if breaks else ''}, confidence ≥ {report.min_confidence:.2f}", common.DIM),
    )
    if risk.reasons and breaks:
        output.line(("  because " + "; ".join(risk.reasons), common.DIM))


def _body(output: Output, report: ImpactReport, top: int) -> None:
    """Print the sections of an impact report, the most important first.

    For dependents, the order is: memories about the code, direct dependents, code of other projects, tests, and indirect dependents. Files
    that change together with the target and the completeness of the list follow.
    """
    common.known(output, report.known)
    groups: dict[str, list[ImpactHit]] = {}
    for hit in report.hits:
        groups.setdefault(hit.verdict, []).append(hit)
    direct = [verdict for verdict, hits in groups.items() if hits[0].depth == 1]
    for verdict in direct:
        _of_verdict(output, report, verdict, groups.pop(verdict), top)
    if report.direction == "dependents":
        _outside(output, report, top)
        _tests(output, report.tests, top)
    for verdict, hits in groups.items():
        _of_verdict(output, report, verdict, hits, top)
    if report.direction == "dependencies":
        if report.tests:
            _group(output, "Tests among them", "of tests", report.tests, top)
        _outside(output, report, top)
    _also_moves(output, report)
    _where(output, report)
    _certainty(output, report)
    output.line(common.state_line(report.state))


def _of_verdict(output: Output, report: ImpactReport, verdict: str, hits: list[ImpactHit], top: int) -> None:
    """Print the symbols that have one verdict, such as "will break".

    `hits` are the symbols. The heading gives the verdict, or for a report on dependencies the range of depths. At most `top` lines are
    printed, 0 for all.
    """
    depths = sorted({hit.depth for hit in hits})
    span = f"depth {depths[0]}" if len(depths) == 1 else f"depth {depths[0]} to {depths[-1]}"
    _group(output, verdict.capitalize() if report.direction == "dependents" else span.capitalize(), span, hits, top)


def _tests(output: Output, tests: list[ImpactHit], top: int) -> None:
    """Print the tests to run, then helper code of tests.

    Tests that ran the target in a recorded run come first. Tests whose source leads to the target follow.
    """
    ran = [hit for hit in tests if len(hit.path) == 1 and hit.path[0].source == "runtime"]
    others = tests[len(ran) :]  # tests with a recorded run come first
    if ran:
        _group(output, "Tests to run", "they ran it", ran, top)
    cases = [hit for hit in others if hit.symbol.is_runnable]
    shared = [hit for hit in others if not hit.symbol.is_runnable]
    if cases:
        _group(output, "Tests to run", "their text leads here" if ran else "affected", cases, top)
    if shared:
        _group(output, *(("Code of tests", "no test by itself") if cases or ran else ("Tests to run", "affected")), shared, top)


def _outside(output: Output, report: ImpactReport, top: int) -> None:
    """Print code of other projects that is connected with the target.

    The connection is by HTTP, gRPC or message topics. For a report on dependents, the printed code uses the target. For a report on
    dependencies, the target uses the printed code. At most `top` lines are printed, 0 for all.
    """
    if report.outside:
        output.line()
        what = "use" if report.direction == "dependents" else "are used"
        output.line(("Other projects", common.HEADING), (f"  {what} over HTTP, gRPC or topics · {len(report.outside):,}", common.DIM))
        shown = report.outside[: top or None]
        output.rows(
            [
                (
                    common.confidence(use.place.confidence),
                    (f"{use.place.project}: {use.place.name or '(module)'}", common.NAME),
                    common.place(use.place.path, use.place.line),
                    (f"{use.kind} {use.name}", common.DIM),
                )
                for use in shown
            ]
        )
        _say_cut(output, len(shown), len(report.outside))


def _also_moves(output: Output, report: ImpactReport) -> None:
    """Print files that change together with the target but have no edge to it."""
    if report.also_moves:
        output.line()
        output.line(("Also moves", common.HEADING), ("  changed together in history, without an edge in the code", common.DIM))
        output.rows(
            [
                (
                    (hit.path, common.PATH),
                    f"{hit.support}×",
                    f"{hit.confidence:.0%} of their changes",
                    (f"last {hit.last_seen[:10]}", common.DIM),
                )
                for hit in report.also_moves
            ],
            indent=4,
        )


def _where(output: Output, report: ImpactReport) -> None:
    """Print the directories and files with most dependents, including tests."""
    groups = [(title, table) for title, table in (("Directories", report.by_module), ("Files", report.by_file)) if len(table) > 1]
    if groups:
        output.line()
    for title, table in groups:
        shown = table[:_GROUPS_SHOWN]
        more = len(table) - len(shown)
        counts = "  ".join(f"{group.name} {group.hits:,}" for group in shown)
        output.line((f"{title:<13}", common.HEADING), counts, (f"  and {more:,} more" if more else "", common.DIM))


def _group(output: Output, title: str, span: str, hits: list[ImpactHit], top: int) -> None:
    output.line()
    output.line((title, common.HEADING), (f"  {span} · {len(hits):,}", common.DIM))
    shown = hits[: top or None]
    output.rows([_hit(hit) for hit in shown])
    _say_cut(output, len(shown), len(hits))


def _hit(hit: ImpactHit) -> tuple[Cell, ...]:
    """Return the row of one hit: confidence, name, place and evidence.

    The evidence is the hit's edge on the path to the target, such as `calls b`.
    """
    edge = hit.path[-1]  # the hit's own step; those before it lead to the target
    outward = edge.src.id == hit.symbol.id
    near = edge.dst if outward else edge.src
    said = (
        f"{common.verb(edge.kind)} {near.qualname or near.name}" if outward else f"{near.qualname or near.name} {common.verb(edge.kind)} it"
    )
    if edge.cell:
        said = f"{said} in {edge.cell}"
    return (
        common.confidence(hit.confidence),
        common.name(hit.symbol),
        common.place(edge.src.path, edge.line or edge.src.start_line) if outward else common.place(hit.symbol.path, hit.symbol.start_line),
        joined([said, (f"  {common.evidence(edge.source, edge.rule)}", common.DIM)]),
    )


def _certainty(output: Output, report: ImpactReport) -> None:
    """Print how complete the list of dependents is, and possible callers.

    Possible callers are unresolved calls that might lead to the target. The chance of a missed test is printed, too.
    """
    output.line()
    if report.epistemic == "exact":
        output.line(
            ("Tests are exact", common.GOOD),
            ": a recorded run covers every test that could matter, in its own process. The list of other dependents is a lower bound.",
        )
    elif report.epistemic == "lower_bound":
        output.line(("At least this", common.UNSURE), "; source text does not show every dependency.")
    else:
        output.line(("Not known", common.BAD), ": nothing was found, but source text does not show every dependency.")
    if report.miss_chance is not None:
        output.line(f"  {odds(report.miss_chance)} such answers miss a test that runs the target")
    called = [one for one in report.targets if report.direction == "dependents" and _called_from_outside(one)]
    if called:
        names = ", ".join(common.name(one)[0] for one in called)
        output.line("  the language, a framework or other code outside the project may call ", (names, common.NAME))
    for cause in report.causes:
        count = f"{cause.count:,} " if cause.count else ""
        where = f"  {', '.join(cause.examples)}" if cause.examples and cause.kind != "unresolved_calls" else ""
        output.line("  ", f"{count}{cause.message}", (where, common.DIM))
    common.calls_line(output, report.known_calls)
    shown = report.possible[:_POSSIBLE_SHOWN]
    output.rows(
        [
            (
                common.place(one.caller.path, one.line),
                f"{one.name}(…) in {one.caller.qualname or one.caller.name}",
                (one.reason.replace("_", " "), common.DIM),
            )
            for one in shown
        ],
        indent=4,
    )
    unresolved = max((cause.count for cause in report.causes if cause.kind == "unresolved_calls"), default=len(report.possible))
    if more := common.cut(len(shown), unresolved, "--json lists up to 50"):
        output.line(("    " + more, common.DIM))


def _called_from_outside(one: SymbolInfo) -> bool:
    """Whether code outside the project may call a symbol.

    The result is True for an entry point other than a test. It is also True for a special name in Python, such as `__enter__`. For any
    other symbol it is False.
    """
    special = one.name.startswith("__") and one.name.endswith("__") and one.path.endswith(".py")
    return special or one.entry_point not in {"", "test"}


def _say_cut(output: Output, shown: int, total: int) -> None:
    if more := common.cut(shown, total, "--top 0 shows all"):
        output.line(("  " + more, common.DIM))
