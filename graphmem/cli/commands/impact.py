"""`graphmem impact`: what breaks if this changes."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.door import Door
from graphmem.cli.failures import REFUSED
from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from graphmem.answers import DiffImpact, ImpactReport
    from graphmem.cli.output import Output


class Level(StrEnum):
    """Risk levels, least first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Direction(StrEnum):
    """Which way to look."""

    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"


@command()
def impact(
    here: Door,
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET]...", help="path:name, Class.method, module.name, path:line, a path, or a bare name."),
    ] = None,
    *,
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="The target is a change: the working tree against HEAD or against the revision TARGET, or - for stdin.",
        ),
    ] = False,
    direction: Annotated[Direction, typer.Option("--direction", help="Who depends on it, or what it depends on.")] = Direction.DEPENDENTS,
    max_depth: options.MaxDepth = 5,
    min_confidence: options.MinConfidence = 0.3,
    kinds: options.EdgeKinds = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="List at most this many hits; totals stay exact.")] = 1000,
    top: Annotated[int, typer.Option("--top", min=0, help="Show this many lines of each group; 0: all.")] = 20,
    fail_on: Annotated[
        Level | None, typer.Option("--fail-on", help="Exit with 1 when the risk is this or higher, or cannot be told.")
    ] = None,
) -> None:
    """Show what could break if this changes, and the tests to run.

    A target is a symbol or a file.

    Of several targets, those that cannot be found are named and left out, and the exit code is 1.

    With --diff the target is a change: `--diff` alone is the working tree, `--diff main` what it changed since main,
    `--diff main..topic` a range, and `git diff | graphmem impact --diff -` a text.
    """
    if diff:
        text, base, head = _change(targets or [])
        _only_for_symbols(direction is Direction.DEPENDENTS, "--direction")
        _only_for_symbols(not kinds, "--kind")
        whole = here.service().impact_of_diff(text, base=base, head=head, max_depth=max_depth, min_confidence=min_confidence, limit=limit)
        _show(here.output, whole, whole.impact, top)
        report = whole.impact
    else:
        if not targets:
            raise BadInputError("name a symbol or a file, or ask about your changes with --diff", argument="TARGET")
        report = here.service().impact(
            targets,
            direction=direction.value,
            max_depth=max_depth,
            min_confidence=min_confidence,
            kinds=options.word(kinds),
            limit=limit,
        )
        _show(here.output, report, report, top)
        for one in report.missed:
            here.output.note((f"left out: {one.message}", "yellow"))
    if fail_on is not None and _reaches(report, fail_on):
        here.output.note((f"risk {report.risk.level} fails --fail-on {fail_on}", "bold red"))
        raise SystemExit(REFUSED)
    if report.missed:
        raise SystemExit(REFUSED)


def _change(targets: list[str]) -> tuple[str | None, str | None, str | None]:
    """Diff text, base and head that `--diff TARGET` means."""
    if len(targets) > 1:
        raise BadInputError(f"--diff takes one revision, not {len(targets)}; write BASE..HEAD for a range", argument="--diff")
    if not targets:
        return None, "HEAD", None
    if targets[0] == "-":
        return sys.stdin.buffer.read().decode("utf-8", errors="replace"), None, None
    if Path(targets[0]).is_file():
        raise BadInputError(f"{targets[0]} is a file, not a revision; for the diff in it write --diff - < {targets[0]}", argument="--diff")
    base, dots, head = targets[0].partition("..")
    if dots and head.startswith("."):
        raise BadInputError(f"{targets[0]} has three dots; write BASE..HEAD, with `git merge-base` for the base", argument="--diff")
    return None, base or "HEAD", head or None


def _only_for_symbols(fits: bool, option: str) -> None:
    if not fits:
        raise BadInputError(
            f"{option} does not go with --diff: a diff always asks for dependents, along the kinds each change travels", argument=option
        )


def _show(output: Output, answer: DiffImpact | ImpactReport, report: ImpactReport, top: int) -> None:
    from graphmem.answers import DiffImpact
    from graphmem.cli.render import impact as render

    if output.as_json:
        output.json(answer)
    elif output.quiet:
        for hit in [*report.hits, *report.tests]:
            output.line(hit.symbol.ref)
    elif isinstance(answer, DiffImpact):
        render.diff_impact(output, answer, top)
    else:
        render.impact(output, answer, top)


def _reaches(report: ImpactReport, bar: Level) -> bool:
    """True at or above the bar; an unknown risk has to stop a gate too, but a change that touches nothing does not."""
    order = [each.value for each in Level]
    level = report.risk.level
    return bool(report.targets) and (level not in order or order.index(level) >= order.index(bar))
