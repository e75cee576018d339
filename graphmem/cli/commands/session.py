"""`graphmem session show` and `observe`: results and events of sessions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Final, TextIO

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext

BATCH: Final = 1_000  # lines in one request


@command()
def show(
    here: CommandContext,
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Id of the session, or the beginning of the id; `graphmem session list` shows ids.")
    ],
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Show every pattern found in the session, not only those that became or nearly became memories.")
    ] = False,
) -> None:
    """Show what was learnt from a session.

    Each finding (a candidate memory) is listed with its outcome, such as stored or rejected, and the reason.
    """
    from graphmem.cli.render.sessions import receipts

    found = here.service().session_receipts(session)
    here.output.show(found, lambda: receipts(here.output, found, every=every), *(one for receipt in found for one in receipt.learnt))


@command()
def observe(
    here: CommandContext,
    session: Annotated[str, typer.Option("--session", help="Id of the session for events in the input that have no session id.")] = "",
) -> None:
    """Record events of agents' sessions from standard input.

    Each line is one JSON object. The answer counts recorded events, and rejected ones by reason.

    An event has session_id, step, at, kind, tool, args, ok, text, tokens; docs/observing.md has examples.
    """
    from graphmem.answers.sessions import ObserveAnswer
    from graphmem.cli.render.sessions import observed

    if sys.stdin.isatty():
        here.output.note("reading events from the keyboard, one JSON object a line; Ctrl-D ends")
    service = here.service()
    taken, ignored = 0, Counter[str]()
    touched: dict[str, None] = {}
    ended: dict[str, None] = {}
    early: dict[str, None] = {}
    for batch in _batches(sys.stdin):
        answer = service.observe(batch, session)
        taken += answer.taken
        ignored.update(answer.ignored)
        touched.update(dict.fromkeys(answer.sessions))
        ended.update(dict.fromkeys(answer.ended))
        early.update(dict.fromkeys(answer.early))
    whole = ObserveAnswer(taken, dict(sorted(ignored.items())), list(touched), list(ended), list(early))
    here.output.show(whole, lambda: observed(here.output, whole), str(taken))


def _batches(lines: TextIO) -> Iterator[list[Any]]:
    """Parse lines of JSON; yield the events in lists of at most `BATCH`.

    A line that is not JSON is yielded as a string, and the service counts it as invalid.
    """
    import json

    batch: list[Any] = []
    for line in lines:
        if not line.strip():
            continue
        try:
            batch.append(json.loads(line))
        except (ValueError, RecursionError):
            batch.append(line[:80])
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
