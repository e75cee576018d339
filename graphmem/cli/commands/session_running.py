"""`graphmem observe` and the commands of `graphmem session` about sessions as they run: start, end, running, look."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from graphmem.cli import options
from graphmem.cli.door import door
from graphmem.cli.output import plural

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

BATCH: Final = 1_000  # lines that are sent at once
_Session = Annotated[str, typer.Argument(metavar="SESSION", help="Its id.")]


def observe(
    session: Annotated[str, typer.Option("--session", help="Session of events that name none.")] = "",
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Take events from standard input, one JSON object a line, and say what became of them.

    An event has session_id, step, at, kind, tool, args, ok, text, tokens; docs/observing.md shows some. What cannot be meant is counted.
    """
    from collections import Counter

    from graphmem.answers.sessions import ObserveAnswer

    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        if sys.stdin.isatty():
            here.output.note("reading events from the keyboard, one JSON object a line; Ctrl-D ends")
        service = here.service(whole=False)
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
        if as_json:
            here.output.json(whole)
        elif quiet:
            here.output.line(str(taken))
        else:
            from graphmem.cli.render.session_running import observed

            observed(here.output, whole)


def start(
    session: Annotated[str | None, typer.Argument(metavar="[SESSION]", help="Its id; default a new one.")] = None,
    *,
    kind: Annotated[str, typer.Option("--kind", help="build, insights, roadmap, terminal, changelog, spec or pr_review.")] = "terminal",
    agent: Annotated[str, typer.Option("--agent", help="Name of the agent.")] = "",
    parent: Annotated[str, typer.Option("--parent", help="Session it is forked from.")] = "",
    group: Annotated[str, typer.Option("--group", help="Shared by agents side by side.")] = "",
    work_unit: Annotated[str, typer.Option("--work-unit", help="What is worked on.")] = "",
    phase: Annotated[str, typer.Option("--phase", help="In the words of the methodology.")] = "",
    methodology: Annotated[str, typer.Option("--methodology", help="native, tdd, bmad, or an installed one.")] = "",
    title: Annotated[str, typer.Option("--title", help="What it is about.")] = "",
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="Steps that are planned.")] = None,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Begin a session, or go on with the one of that id; print its id."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        told: dict[str, Any] = {
            "kind": kind,
            "agent": agent,
            "parent": parent,
            "group": group,
            "work_unit": work_unit,
            "phase": phase,
            "methodology": methodology,
            "title": title,
            "planned_steps": steps,
        }
        started = here.service(whole=False).start_session(session, **told)
        if as_json:
            here.output.json(started)
        else:
            here.output.line(started.id)
            if started.note:
                here.output.note(started.note)


def end(
    session: _Session,
    *,
    outcome: Annotated[str, typer.Option("--outcome", help="validated, failed, accepted or abandoned.")] = "",
    learn: Annotated[bool, typer.Option("--learn/--no-learn", help="Learn from it.")] = True,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """End a session, learn from it, and show what became of its findings."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        ended = here.service(whole=False).end_session(session, options.word(outcome), learn)
        if as_json:
            here.output.json(ended)
        elif quiet:
            for one in ended.receipt.learnt if ended.receipt is not None else ():
                here.output.line(one)
        else:
            from graphmem.cli.render.session import receipts

            if ended.receipt is not None:
                receipts(here.output, [ended.receipt], every=False)
            if ended.note:
                here.output.line(f"{ended.session.id} has ended; {ended.note}")


def running(
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=500, help="How many.")] = 50,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the sessions that have not ended."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        page = here.service(whole=False).sessions("running", k)
        if as_json:
            here.output.json(page)
        elif quiet:
            for one in page.sessions:
                here.output.line(one.id)
        else:
            from graphmem.cli.render.session_running import sessions

            sessions(here.output, page.sessions)
            if page.total > len(page.sessions):
                here.output.note(f"{plural(page.total - len(page.sessions), 'more session', 'more sessions')}; --k shows more")


def look(
    session: _Session,
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what was seen of a session so far: findings, files, commands, errors, dead ends."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        found = here.service(whole=False).session_detail(session)
        if as_json:
            here.output.json(found)
        elif quiet:
            for one in found.findings:
                here.output.line(one.key)
        else:
            from graphmem.cli.render.session_running import detail

            detail(here.output, found)


def _batches(lines: TextIO) -> Iterator[list[Any]]:
    """Events by line; a line that is no JSON goes on as the text it is, and is counted there."""
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
