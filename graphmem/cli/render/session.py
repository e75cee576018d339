"""Sessions for people: one line each, and the receipt of one with the reason for every finding."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.answers import FindingVerdict, Receipt, SessionSummary
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
                (one.session[:36], common.NAME),
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
