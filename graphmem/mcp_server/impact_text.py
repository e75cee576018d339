"""Write an impact report as plain text for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.answers.impact import odds
from graphmem.mcp_server.budget import fitted, shared, tokens
from graphmem.mcp_server.lines import calls_of, memory_lines, place
from graphmem.runtime.texts.safe_text import inert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import Cause, DiffImpact, ImpactHit, ImpactReport, IndexState
    from graphmem.answers.projects import ProjectsImpact, ReachedProject

_ROOMY: Final = 200  # tokens; a smaller answer lists only the first cause and the first reason of the risk
_CAUSES: Final = 1

_REASONS: Final = 3  # maximum number of reasons of a risk
_PLACED: Final = ("named_in_text", "other_processes")  # kinds of causes whose places an agent can look at


def impact(report: ImpactReport, budget: int, across: Sequence[ProjectsImpact] = ()) -> str:
    """Return the dependents of code, or its dependencies, by depth, as text.

    `budget` is the maximum number of tokens. `across` lists code of other projects on the same server that could break. The text states how
    complete the list of dependents or dependencies is. If the report is on dependents, the text also has the risk of a change and the tests
    to run.
    """
    breaks = report.direction == "dependents"  # a dependency does not break when its dependent changes
    below = "not below " if report.risk.at_least else ""
    reasons = report.risk.reasons[: _REASONS if budget >= _ROOMY else 1]
    head = [
        f"{report.direction} of {', '.join(dict.fromkeys(one.ref for one in report.targets)) or 'no known symbol'}",
        *([f"risk {below}{report.risk.level} {report.risk.score:.0f}/100: {'; '.join(reasons)}"] if breaks else []),
        *(f"left out: {one.message}" for one in report.missed),
        _completeness(report, budget),
        *(f"other projects: {note}" for note in dict.fromkeys(note for answer in across for note in answer.notes)),
        *_freshness(report.state),
    ]
    head = [inert(line) for line in head]
    direct: list[str] = []
    farther: list[str] = []
    before = ""
    for hit in report.hits:
        rows = direct if hit.depth == 1 else farther
        if hit.verdict != before:
            before = hit.verdict
            depth = f"depth {hit.depth}{'+' if hit.depth > 2 else ''}"
            rows.append(f"{before} ({depth}):" if breaks else f"{depth}:")
        rows.append(_hit(hit))
    tests = _tests(report.tests) if breaks else _titled("tests among them", report.tests)
    possible = (
        [
            f"could also call it, unresolved ({len(report.possible)}):",
            *(f"- {place(one.caller)} line {one.line}" for one in report.possible),
        ]
        if report.possible
        else []
    )
    moves = [f"- {hit.path} {hit.support}x, {hit.confidence:.0%} of its changes, last {hit.last_seen[:10]}" for hit in report.also_moves]
    if moves:
        moves.insert(0, "also moves (changed together, no edge):")
    outside = [
        f"- {use.place.project}: {use.place.path}:{use.place.line} {use.place.name} ({use.kind} {use.name}) {use.place.confidence:.2f}"
        for use in report.outside
    ]
    reached = {(one.project, one.place.path, one.place.line, one.through): one for answer in across for one in answer.reached}
    outside += map(_of_project, reached.values())
    if outside:
        outside.insert(0, f"other projects {'use it' if breaks else 'it uses'} ({len(outside)}):")
    room = max(0, budget - tokens("\n".join(head)))
    about = memory_lines(report.known, room // 4)
    # Direct dependents come first, but leave room for tests, and these for the rest.
    rest = [(tests, 1 / 2), (farther, 2 / 3)] if breaks else [(farther, 2 / 3), (tests, 1 / 2)]
    sections = [(direct, 2 / 3), (outside, 2 / 3), *rest, ([*moves, *possible], 1)]
    body = shared(sections, room - tokens(about), "raise `budget`, or lower `max_depth`")
    return "\n".join([*head, *filter(None, [about, body])])


def diff_impact(answer: DiffImpact, budget: int) -> str:
    """Return, as text, changed symbols of a diff, then code it could break.

    `budget` is the maximum number of tokens.
    """
    if not answer.files:
        return "\n".join(["nothing changed, so nothing is affected", *(f"- {_cause(one)}" for one in answer.impact.causes)])
    changed = [f"- {one.change}: {place(one.symbol)}" for one in answer.changed]
    unmapped = [f"- no known symbol in {path}" for path in answer.unmapped]
    first = fitted([f"changed symbols ({len(changed)}):"], [*changed, *unmapped], budget // 3, "raise `budget`")
    return "\n".join([first, impact(answer.impact, budget - tokens(first))])


def _of_project(one: ReachedProject) -> str:
    place = f"{one.place.path}:{one.place.line} {one.place.name}".rstrip()
    names = ", ".join(symbol.qualname for symbol in one.affected[:3])
    more = f"; {one.total} {'depends' if one.total == 1 else 'depend'} on it: {names}{', …' * (one.total > 3)}" if names else ""
    return f"- {one.project}: {place} ({one.through}) {one.place.confidence:.2f}{more}"


def _hit(hit: ImpactHit) -> str:
    step = hit.path[-1] if hit.path else None
    how = f" {step.kind.lower()} {step.dst.qualname} by {step.rule}" if step is not None else ""
    where = f" in {step.cell}" if step is not None and step.cell else ""
    return f"- {place(hit.symbol)} {hit.confidence:.2f}{how}{where}"


def _tests(hits: list[ImpactHit]) -> list[str]:
    """Return lines about the tests to run, then about helper code of tests.

    If `hits` has only helper code, this code is listed under the title of the tests to run.
    """
    cases = [hit for hit in hits if hit.symbol.is_runnable]
    shared = [hit for hit in hits if not hit.symbol.is_runnable]
    return [*_titled("tests to run", cases or shared), *_titled("code of tests, no test by itself", shared if cases else [])]


def _titled(title: str, hits: list[ImpactHit]) -> list[str]:
    return [f"{title} ({len(hits)}):", *map(_hit, hits)] if hits else []


def _cause(cause: Cause) -> str:
    """Return one cause why an answer may be incomplete, as a line of text.

    The line has the number of cases, the message and the places. Only causes of the kinds in `_PLACED` have places: text that names a
    target, or tests that start other processes.
    """
    count = f"{cause.count:,} " if cause.count else ""
    places = f": {', '.join(cause.examples)}" if cause.kind in _PLACED and cause.examples else ""
    return f"{count}{cause.message}{places}"


def _completeness(report: ImpactReport, budget: int) -> str:
    """Return a sentence on how complete the list of dependents is.

    `budget` is the maximum number of tokens. Without this sentence, an empty list could look as if no code depended on the symbol.
    """
    tests = ", tests at any" if report.direction == "dependents" else ""
    counted = f"{report.total} {report.direction} within depth {report.max_depth}{tests}, confidence {report.min_confidence:.2f}+"
    listed = report.causes if budget >= _ROOMY else report.causes[:_CAUSES]
    causes = "; ".join(map(_cause, listed))
    if left := len(report.causes) - len(listed):
        causes += f"; {left} more"
    said = {"exact": "tests exact by a run, other dependents ", "unknown": "not known: "}.get(report.epistemic, "")
    word = "note" if report.epistemic == "exact" else "may be missing"
    odd = f"; {odds(report.miss_chance)} such answers miss a test that runs the target" if report.miss_chance is not None else ""
    return f"{said}at least {counted}{odd}{f'; {word}: {causes}' if causes else ''}{calls_of(report.known_calls)}"


def _freshness(state: IndexState) -> list[str]:
    if state.state == "fresh" and not state.note:
        return []
    return [
        f"index: {state.state}{f', {state.stale_files} files stale' if state.stale_files else ''}{f'; {state.note}' if state.note else ''}"
    ]
