"""Sessions for people: one line each, and the receipt of one with the reason for every finding."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.answers import Experiment, FindingVerdict, Receipt, SessionSummary
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common

_NEARLY = ("weak", "over_cap", "refused", "taken_back")  # shown beside what was learnt; the others are counted


def sessions(output: Output, found: Sequence[SessionSummary]) -> None:
    """One line a session."""
    if not found:
        output.line(("no session was learnt from yet", common.UNSURE))
    output.rows(
        [
            [
                (common.session_name(one.session), common.NAME),
                one.ended_at[:16].replace("T", " "),
                one.kind,
                one.agent,
                (one.status or "ended", common.DIM),
                (one.title, common.DIM),
            ]
            for one in found
        ]
    )


def receipts(output: Output, found: Sequence[Receipt], *, every: bool) -> None:
    """The findings by outcome, what was learnt first."""
    for receipt in found:
        part = f", {receipt.part}" if receipt.part else ""
        undone = "   taken back" if receipt.undone else ""
        output.line((receipt.session + part, common.NAME), (f"   {receipt.gate}", common.DIM), (undone, common.UNSURE))
        shown = [one for one in receipt.verdicts if every or one.outcome == "learnt" or one.outcome in _NEARLY]
        for one in shown:
            _verdict(output, one)
        left = {name: count for name, count in receipt.counts.items() if name not in {one.outcome for one in shown}}
        if left:
            output.line()
            counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left.items())
            output.line((f"besides: {counted}; --all shows them", common.DIM))
        if not receipt.verdicts:
            output.line(("nothing was found in it", common.DIM))
        for note in receipt.notes:
            output.line((note, common.UNSURE))
        output.line()


def _verdict(output: Output, one: FindingVerdict) -> None:
    output.line()
    mark = f"#{one.short_id} " if one.short_id else ""
    style = common.HEADING if one.outcome == "learnt" else common.DIM
    tainted = "   words of strangers had a part in it" if one.contaminated else ""
    output.line((one.outcome.replace("_", " "), style), (f"  {mark}{one.memory_type}", common.DIM), (tainted, common.UNSURE))
    if one.text:
        output.line(f"  {one.text}")
    seen = f", {plural(one.sessions, 'session')}" if one.sessions else ""
    score = f", score {one.score:.2f}" if one.score else ""
    points = f", for {', '.join(one.points)}" if one.points else ""
    output.line((f"  {one.signal}{seen}{score}{points}: {one.why}", common.DIM))


def experiment(output: Output, found: Experiment) -> None:
    """The groups side by side, a line a measure."""

    def told(value: float | None, *, percent: bool = True) -> str:
        return "-" if value is None else f"{value:.0%}" if percent else f"{value:.1f}"

    groups = found.groups
    output.rows(
        [
            ["", *((f"{one.group} ({one.percent}%)", common.NAME) for one in groups)],
            ["sessions", *(str(one.sessions) for one in groups)],
            ["calls of tools a task", *(told(one.calls_per_task, percent=False) for one in groups)],
            ["reads that were re-reads", *(told(one.rereads) for one in groups)],
            ["checks that never failed", *(told(one.first_pass) for one in groups)],
            ["dead ends that were known", *(told(one.dead_end_reentry) for one in groups)],
            ["memories shown", *(str(one.shown) for one in groups)],
            ["of them disputed", *(told(one.corrections) for one in groups)],
            ["of them used or agreed with", *(told(one.boosts) for one in groups)],
        ]
    )
    for note in found.notes:
        output.line((note, common.UNSURE))
