"""Print the answer of `graphmem check`: broken architecture rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.cli.output import Output, plural
from graphmem.cli.render import common

if TYPE_CHECKING:
    from graphmem.answers.boundaries import ArchitectureCheck


def check(output: Output, found: ArchitectureCheck, top: int) -> None:
    """Print the rules, then the dependencies that break them.

    Args:
        output: the output of the command.
        found: the answer.
        top: maximum number of dependencies; 0 for all.
    """
    output.rows(
        [
            (
                ("broken", common.BAD) if one.broken > one.accepted else ("kept", common.GOOD),
                (one.name, common.NAME),
                f"{plural(one.files, 'file')}, {plural(one.checked, 'dependency', 'dependencies')}",
                f"{one.broken - one.accepted:,} new, {one.accepted:,} accepted" if one.broken else "",
                (one.because, common.DIM),
            )
            for one in found.rules
        ]
    )
    new = [one for one in found.broken if not one.accepted]
    shown = new[: top or None]
    for one in shown:
        output.line()
        output.line((f"{one.src} → {one.dst}", common.PATH), (f"  {one.rule}" + (f": {one.because}" if one.because else ""), common.DIM))
        for site in one.sites:
            output.line(
                "    ",
                common.place(site.src.path, site.line),
                (f"  {common.verb(site.kind)} ", common.DIM),
                site.dst.qualname or site.dst.path,
                (f"  {site.confidence:.2f} {site.rule}", common.DIM),
            )
    if more := common.cut(len(shown), found.new, "--top 0 shows all"):
        output.line(("  " + more, common.DIM))
    output.line()
    for note in found.notes:
        output.line((note, common.UNSURE))
    if found.resolved:
        lines = plural(len(found.resolved), "line")
        output.line((f"{lines} of the baseline break no rule any more; remove them with --update-baseline", common.UNSURE))
    output.line(common.state_line(found.state))
