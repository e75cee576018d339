"""`graphmem review`: what a reviewer must know about a change."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.commands.exports import To, write
from graphmem.cli.commands.impact import FailOn, change_of, reaches
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED
from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from graphmem.answers.review import Review
    from graphmem.cli.output import Output


class Format(StrEnum):
    """File formats of a review of a change."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    JUNIT = "junit"


Base = Annotated[
    str,
    typer.Argument(
        metavar="[BASE]",
        help="The change to review: a revision to compare the working tree with, a range BASE..HEAD, "
        "BASE...HEAD for the changes since HEAD left BASE, or - for a diff on standard input.",
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option("--format", help="Output format. markdown: a review comment; junit: the tests to run; sarif: for code-scanning services."),
]
WriteAll = Annotated[
    Path | None,
    typer.Option(
        "--write-all", metavar="DIR", help="Write review.json, comment.md, review.sarif, tests.xml and commands.sh into this directory."
    ),
]


@command()
def review(
    here: CommandContext,
    base: Base = "HEAD",
    *,
    format_: FormatOption = Format.TEXT,
    to: To = None,
    write_all: WriteAll = None,
    max_depth: options.MaxDepth = 5,
    min_confidence: options.MinConfidence = 0.3,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=100_000, help="The maximum number of listed dependents (code that could break).")
    ] = 200,
    tests: Annotated[int, typer.Option("--tests", min=1, max=100_000, help="The maximum number of tests to run.")] = 1000,
    top: options.Top = 20,
    fail_on: FailOn = None,
) -> None:
    """Show what a reviewer must know about a change.

    The command shows changed symbols, code that could break, tests to run, changed code without tests, and memories. It also shows
    unchanged files that often change together with the changed files.

    With --quiet only the command lines that run the tests are printed.
    """
    if Path(base).is_file():
        raise BadInputError(
            f"{base} is a file, not a git revision; to review it as a diff write graphmem review - < {base}", argument="BASE"
        )
    text, old, new = change_of([base], "BASE")
    found = here.service().review(text, base=old, head=new, max_depth=max_depth, min_confidence=min_confidence, limit=limit, tests=tests)
    output = here.output
    if write_all is not None:
        _write_all(write_all, found)
        output.note(f"written to {write_all}")
    else:
        _write(output, found, format_, to, top)
    if fail_on is not None and found.changed and reaches(found.risk, fail_on):
        output.note((f"risk {found.risk.level} fails --fail-on {fail_on}", "bold red"))
        sys.stdout.flush()
        raise SystemExit(REFUSED)


def _write(output: Output, found: Review, format_: Format, to: Path | None, top: int) -> None:
    """Write a review in one format, to the file `to` or the standard output."""
    if format_ in (Format.TEXT, Format.JSON) or output.as_json or output.quiet:
        if to is not None:
            raise BadInputError(
                "--output cannot be used with JSON; choose --format markdown, sarif or junit, or redirect the standard output to a file",
                argument="--output",
            )
        if format_ is Format.JSON:
            output.json(found)
        else:
            from graphmem.cli.render.review import review as render

            output.show(found, lambda: render(output, found, top), *(one.command for one in found.commands))
    else:
        from graphmem.reports.review_formats import WRITERS

        write(to, [WRITERS[format_.value](found).encode("utf-8", "surrogatepass")])
        if to is not None:
            output.note(f"written to {to}")


def _write_all(folder: Path, found: Review) -> None:
    """Write a review of a change to a directory, in every format."""
    from graphmem.answers import json_text
    from graphmem.reports.review_formats import WRITERS

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(
            f"the review cannot be written to {folder}: {error.strerror or error}; choose another directory", argument="--write-all"
        ) from error
    texts = {
        "review.json": json_text(found) + "\n",
        "comment.md": WRITERS["markdown"](found),
        "review.sarif": WRITERS["sarif"](found),
        "tests.xml": WRITERS["junit"](found),
        "commands.sh": "".join(f"{one.command}\n" for one in found.commands),
    }
    for name, text in texts.items():
        write(folder / name, [text.encode("utf-8", "surrogatepass")])
