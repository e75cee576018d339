"""Print exchanges of memories with a team."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.answers.sharing import Disagreement, SharingAnswer, SharingStatus
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.cli.rendering import renders

if TYPE_CHECKING:
    from collections.abc import Sequence


@renders(SharingAnswer)
def exchanged(output: Output, answer: SharingAnswer) -> None:
    """Print the outcome of exchanging memories with the team."""
    output.line(
        (f"{answer.added:,} new, {answer.changed:,} changed, {answer.forgotten:,} forgotten by others", common.HEADING),
        f"; {plural(answer.pushed, 'operation')} sent, {answer.pulled:,} received",
    )
    output.line((f"  project {answer.project}, as {answer.person}", common.DIM))
    if answer.waiting:
        output.line(f"  {plural(answer.waiting, 'operation')} wait for the next exchange")
    for note in answer.notes:
        output.line(f"  {note}")
    disagreements(output, answer.disagreements)


@renders(SharingStatus)
def status(output: Output, found: SharingStatus) -> None:
    """Print the state of the exchange of memories with the team."""
    if not found.last:
        output.line("memories are not shared yet; run `graphmem sync postgresql://…`")
    else:
        output.line((f"last exchange {_moment(found.last)} UTC", common.HEADING), f"; {plural(found.waiting, 'operation')} not sent yet")
        output.line((f"  project {found.project}, as {found.person}", common.DIM))
    automatic = f"automatic, with {found.address}" if found.address else "by hand; set GRAPHMEM_SYNC_URL for an automatic exchange"
    output.line(f"  {automatic}")
    if found.error:
        output.line(f"  the last exchange failed: {found.error}")
    disagreements(output, found.disagreements)


def disagreements(output: Output, found: Sequence[Disagreement]) -> None:
    """Print disagreements about memories: the value that each person chose."""
    if found:
        output.line((f"{plural(len(found), 'disagreement')}:", common.HEADING))
    for one in found:
        output.line(f"  #{one.short_id} {one.field}: {one.title}" if one.field != "text" else f"  #{one.short_id} has two texts:")
        for number, side in enumerate(one.sides, 1):
            output.line(f"    {number}. {side.value}", (f"  {side.person}, {_moment(side.at)}", common.DIM))
        if one.field == "text":
            ways = ", ".join(f"`graphmem memory resolve {side.short_id}` ({number})" for number, side in enumerate(one.sides, 1))
            output.line((f"    keep one: {ways}", common.DIM))
        else:
            output.line((f"    `graphmem organisation decide {one.short_id} {one.field} NUMBER` settles it", common.DIM))


def _moment(at: str) -> str:
    """Return an ISO time without its seconds, for display."""
    return at[:16].replace("T", " ")
