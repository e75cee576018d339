"""`graphmem check`: the project's own architecture rules."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from graphmem.cli.command import command
from graphmem.cli.commands.exports import write
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED
from graphmem.errors import BadInputError

MOST: Final = 10_000  # dependencies that a baseline may accept
SERVED: Final = 1_000  # dependencies that a server lists in one answer


@command()
def check(
    here: CommandContext,
    *,
    update_baseline: Annotated[
        bool,
        typer.Option(
            "--update-baseline",
            help="Update the baseline (the list of accepted dependencies): add each one that breaks a rule now, "
            "remove those that no longer do.",
        ),
    ] = False,
    top: Annotated[int, typer.Option("--top", min=0, help="The maximum number of dependencies to print; 0: all.")] = 20,
) -> None:
    """Check the architecture rules of the project.

    The rules are in .graphmem/architecture.toml. A rule states which files may use which other files.

    The exit code is 1 when a dependency breaks a rule and is not in the baseline, the list of accepted dependencies.
    """
    from graphmem.cli.render import boundaries as render
    from graphmem.client.connecting import is_local

    service = here.service()
    most = MOST if is_local(service) else SERVED
    found = service.check_architecture(limit=most)
    if update_baseline:
        _write(here, [f"{one.rule}: {one.src} -> {one.dst}" for one in found.broken], found.total)
        found = service.check_architecture(limit=most)
    new = [one for one in found.broken if not one.accepted]
    here.output.show(found, lambda: render.check(here.output, found, top), *(f"{one.src} -> {one.dst}" for one in new))
    if found.new:
        raise SystemExit(REFUSED)


def _write(here: CommandContext, lines: list[str], total: int) -> None:
    """Write the baseline: dependencies that break a rule and are accepted.

    `lines` has one line for each dependency, and `total` is the number of all dependencies that break a rule. If the write fails, the old
    file stays unchanged.

    Raises:
        BadInputError: `total` is larger than the number of `lines`, so the baseline would be incomplete.
    """
    from graphmem.project.structure.boundaries import BASELINE

    if total > len(lines):
        raise BadInputError(
            f"the file of known violations would be incomplete, because the server lists only {len(lines):,} of {total:,} violations; "
            f"stop the server, because the command alone lists up to {MOST:,}, or make the rules less strict",
            argument="rules",
        )
    root = here.location.root
    if root is None:
        raise BadInputError(
            "the root directory of the project is not known, so the baseline cannot be written; run the command inside the project",
            argument="root",
        )
    text = "# Dependencies that break a rule and are accepted. Written by `graphmem check --update-baseline`.\n"
    write(root / BASELINE, [text.encode(), *(f"{line}\n".encode("utf-8", "surrogateescape") for line in sorted(lines))])
    here.output.note(f"{len(lines):,} accepted in {BASELINE}")
