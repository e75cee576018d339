"""Print files that change together."""

from __future__ import annotations

from graphmem.answers import CoAccessAnswer, CoAccessHit
from graphmem.answers.history import Reviewers, without_support
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.cli.rendering import renders


@renders(
    CoAccessAnswer, bare=lambda answer: [hit.path for hit in answer.hits], refused=lambda answer: len(answer.unknown) == len(answer.files)
)
def coaccess(output: Output, answer: CoAccessAnswer) -> None:
    """Print files that change together with the requested files, best first.

    Notes are printed before the files.
    """
    for note in answer.notes:
        output.line((note, common.UNSURE))
    if answer.notes:
        output.line()
    seen = f"{plural(answer.commits, 'commit')}, {plural(answer.sessions, 'session')}"
    output.line(("changes with ", common.HEADING), (", ".join(answer.files), common.NAME), (f"   by {seen}", common.DIM))
    output.line()
    output.rows([_row(hit) for hit in answer.hits])
    if not answer.hits:
        output.line(("no file is known to change with it", common.UNSURE))
    common.known(output, answer.known)


def _row(hit: CoAccessHit) -> list[str | tuple[str, str]]:
    if why := without_support(hit):
        return [(hit.path, common.PATH), "", (_explained(hit) or why, common.DIM), "", ""]
    often = f"{hit.support}×"
    share = f"{hit.confidence:.0%} of their changes"
    chance = f"{hit.lift:.1f}× chance"
    how = {"follows": "after them", "leads": "before them", "mixed": "before or after"}.get(hit.direction, "")
    rest = ", ".join(filter(None, (f"last {hit.last_seen[:10]}", how, _explained(hit) or "no edge in the code")))
    return [(hit.path, common.PATH), often, share, chance, (rest, common.DIM)]


def _explained(hit: CoAccessHit) -> str:
    return f"{', '.join(kind.lower() for kind in hit.explained)} in the code" if hit.explained else ""


@renders(Reviewers, bare=lambda answer: [one.name for one in answer.people])
def reviewers(output: Output, answer: Reviewers) -> None:
    """Print the people who know a file, best first."""
    if answer.people:
        output.line(("share of the commits (older ones weigh less), commits, newest commit", common.DIM))
    output.rows(
        [
            (f"{one.share:.0%}", (one.name, common.NAME), plural(one.commits, "commit"), ((one.last_at or "")[:10], common.DIM))
            for one in answer.people
        ],
        right=(0, 2),
    )
    for note in answer.notes:
        output.line((note, common.UNSURE))
