"""Weights of phases for people: a line for each type that counts in a phase, or was shown there."""

from __future__ import annotations

from graphmem.answers import PhaseWeights
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common


def phase_weights(output: Output, found: PhaseWeights) -> None:
    """The table, what is proposed beside what is in force, and what to do next."""
    head = ["phase", "type", "shown", "used", "built-in", "in force", "proposed"]
    rows = [[(one, common.DIM) for one in head]]
    before = ""
    for one in found.weights:
        phase, before = ("" if one.phase == before else one.phase), one.phase
        proposed = "-" if one.proposed is None else f"{one.proposed:.2f}"
        is_new = one.proposed is not None and one.proposed != one.weight
        rows.append(
            [
                (phase, common.HEADING),
                (one.type, common.NAME),
                (f"{one.shown:,}", common.DIM),
                (f"{one.used:,}", common.DIM),
                (f"{one.built_in:.2f}", common.DIM),
                (f"{one.weight:.2f}", common.NAME if one.weight != one.built_in else common.DIM),
                (proposed, common.UNSURE if is_new else common.DIM),
            ]
        )
    output.rows(rows, right=(2, 3, 4, 5, 6))
    output.line()
    counted = f"memories were shown in a phase of work in {plural(found.sessions, 'session')} that ended"
    in_force = f"accepted {found.accepted_at[:10]}, from {plural(found.accepted_sessions, 'session')}" if found.accepted_at else "built-in"
    output.line((f"{counted}; weights in force: {in_force}", common.DIM))
    for note in found.notes:
        output.line((note, common.UNSURE))
    if any(one.proposed is not None and one.proposed != one.weight for one in found.weights):
        output.line(("`graphmem memory phases --accept` puts what is proposed in force, `--reset` goes back", common.UNSURE))
