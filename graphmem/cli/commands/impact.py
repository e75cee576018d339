"""`graphmem impact`: code that a change could break."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED
from graphmem.errors import BadInputError
from graphmem.runtime.texts.lines import decoded_by_line

if TYPE_CHECKING:
    from graphmem.answers import DiffImpact, ImpactReport, Risk
    from graphmem.cli.output import Output


_HITS: Final = 1000  # default maximum of hits
_ALL: Final = 100_000  # the maximum that the operation allows


class Level(StrEnum):
    """Risk levels of a change, lowest first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


FailOn = Annotated[Level | None, typer.Option("--fail-on", help="Exit with code 1 when the risk is at least this level, or unknown.")]


class Direction(StrEnum):
    """Whether to list dependents or dependencies of a target."""

    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"


Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TARGET]...", help="Symbol or file that changes: path:name, Class.method, module.name, path:line, a path, or a bare name."
    ),
]
Diff = Annotated[
    bool,
    typer.Option(
        "--diff",
        help="Analyse a change: the working tree against HEAD or against the revision TARGET, or a diff on standard input (-).",
    ),
]
Towards = Annotated[
    Direction, typer.Option("--direction", help="Show code that depends on the target, or code that the target depends on.")
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, max=_ALL, help="The maximum number of listed hits; totals stay exact. Default: 1,000, or all if --top is 0."
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME|REVISION",
        help="Answer for the code of an earlier time (ISO 8601, such as 2026-05-04T12:00Z) or commit, if the index still has it.",
    ),
]


@command()
def impact(
    here: CommandContext,
    targets: Targets = None,
    *,
    diff: Diff = False,
    direction: Towards = Direction.DEPENDENTS,
    max_depth: options.MaxDepth = 5,
    min_confidence: options.MinConfidence = 0.3,
    kinds: options.EdgeKinds = None,
    limit: Limit = None,
    as_of: AsOf = None,
    top: options.Top = 20,
    fail_on: FailOn = None,
) -> None:
    """Show the code that a change could break, and the tests to run.

    A target is a symbol or a file.

    Of several targets, those that are not found are reported and skipped, and the exit code is 1.

    With --diff the target is a change: `--diff` alone is the working tree, `--diff main` the changes since main,
    `--diff main..topic` a range. `git diff | graphmem impact --diff -` reads a diff.
    """
    limit = limit or (_HITS if top else _ALL)
    if diff:
        text, base, head = change_of(targets or [], "--diff")
        _only_for_symbols(direction is Direction.DEPENDENTS, "--direction")
        _only_for_symbols(not kinds, "--kind")
        _only_for_symbols(as_of is None, "--as-of")
        whole = here.service().impact_of_diff(text, base=base, head=head, max_depth=max_depth, min_confidence=min_confidence, limit=limit)
        _show(here.output, whole, whole.impact, top)
        report = whole.impact
    else:
        if not targets:
            raise BadInputError(
                "the target of the impact analysis is missing; give a symbol or a file, or use --diff for your uncommitted changes",
                argument="TARGET",
            )
        report = here.service().impact(
            targets,
            direction=direction.value,
            max_depth=max_depth,
            min_confidence=min_confidence,
            kinds=options.word(kinds),
            limit=limit,
            as_of=as_of,
        )
        _show(here.output, report, report, top)
        for one in report.missed:
            here.output.note((f"left out: {one.message}", "yellow"))
    if fail_on is not None and report.targets and reaches(report.risk, fail_on):  # a change that touches no symbol never fails
        here.output.note((f"risk {report.risk.level} fails --fail-on {fail_on}", "bold red"))
        raise SystemExit(REFUSED)
    if report.missed:
        raise SystemExit(REFUSED)


def change_of(targets: list[str], argument: str) -> tuple[str | None, str | None, str | None]:
    """Convert the change that a person typed to (diff, base, head).

    `targets` has at most one string. The result is:

    * for `main..topic`: (None, "main", "topic");
    * for `main...topic`: (None, "main...topic", "topic"), where the base is the last commit that both contain;
    * for `main`: (None, "main", None), in which the head None is the working tree;
    * without a string: (None, "HEAD", None);
    * for `-`: (the diff from standard input, None, None).

    `argument` is the name of the argument in errors.
    """
    if len(targets) > 1:
        raise BadInputError(f"{argument} got {len(targets)} revisions; give one, or a range such as BASE..HEAD", argument=argument)
    if not targets:
        return None, "HEAD", None
    if targets[0] == "-":
        return decoded_by_line(sys.stdin.buffer.read()), None, None
    if Path(targets[0]).is_file():
        raise BadInputError(
            f"{targets[0]} is a file, not a git revision; if the file is a diff, use `--diff - < {targets[0]}`", argument=argument
        )
    return None, *range_of(targets[0])


def range_of(typed: str) -> tuple[str, str | None]:
    """Convert a range that a person typed to (base, head).

    An omitted base is HEAD. Without dots, or with nothing behind two dots, the head is None. As in `git diff`, the base of `main...topic`
    is the last commit that both contain. This base is written `main...topic`.
    """
    base, dots, head = typed.partition("...")
    if dots:
        return f"{base or 'HEAD'}...{head or 'HEAD'}", head or "HEAD"
    base, _, head = typed.partition("..")
    return base or "HEAD", head or None


def _only_for_symbols(fits: bool, option: str) -> None:
    if not fits:
        raise BadInputError(
            f"{option} cannot be combined with --diff, which always shows dependents over all kinds of edges; remove {option}",
            argument=option,
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


def reaches(risk: Risk, bar: Level) -> bool:
    """Whether the risk of a change is unknown, or is at least the level `bar`."""
    order = [each.value for each in Level]
    return risk.level not in order or order.index(risk.level) >= order.index(bar)
