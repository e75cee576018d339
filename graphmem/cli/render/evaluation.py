"""Print how well search finds code, as measured on the project's commits."""

from __future__ import annotations

from graphmem.answers.evaluation import SearchEvaluation
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common


def evaluation(output: Output, found: SearchEvaluation) -> None:
    """Print the quality of each search method, the weights, and advice.

    A weight of the ranking is printed if it differs from the built-in one, or if a new value is proposed for it.
    """
    if found.ways:
        output.line((f"{plural(found.commits, 'commit')} searched for by their messages; the newer {found.checked:,} show:", common.DIM))
        rows = [[(one, common.DIM) for one in ("way", "first right file", "files in the first five")]]
        rows += [[(one.name, common.NAME), (f"{one.first:.3f}", ""), (f"{one.recall:.1%}", "")] for one in found.ways]
        output.rows(rows, right=(1, 2))
        output.line()
    changed = [one for one in found.weights if one.factor != one.built_in or one.proposed is not None]
    if changed:
        rows = [[(one, common.DIM) for one in ("weight", "built-in", "in force", "proposed")]]
        for one in changed:
            proposed = "-" if one.proposed is None else f"{one.proposed:g}"
            rows.append([(one.name, common.NAME), (f"{one.built_in:g}", common.DIM), (f"{one.factor:g}", ""), (proposed, common.UNSURE)])
        output.rows(rows, right=(1, 2, 3))
        output.line()
    output.line((f"weights in force: {f'accepted {found.accepted_at[:10]}' if found.accepted_at else 'built-in'}", common.DIM))
    for note in found.notes:
        output.line((note, common.UNSURE))
    if any(one.proposed is not None and one.proposed != one.factor for one in found.weights):
        output.line(
            ("`graphmem eval --accept` applies the proposed weights, `graphmem eval --reset` restores the built-in ones", common.UNSURE)
        )
