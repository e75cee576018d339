"""`graphmem session`: what sessions of agents did and taught, and taking it back."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli import options
from graphmem.cli.commands import session_running
from graphmem.cli.door import door
from graphmem.cli.output import plural

app = typer.Typer(
    name="session", help="Sessions of agents: what they did, what was learnt from them, taking it back.", no_args_is_help=True
)
_Session = Annotated[str, typer.Argument(metavar="SESSION", help="Its id, or the beginning of it.")]


@app.command("list")
def list_(
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=100, help="How many, newest first.")] = 20,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the sessions that were learnt from, newest first."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        found = here.service(whole=False).session_summaries(k)
        if as_json:
            here.output.json(found)
        elif quiet:
            for one in found:
                here.output.line(one.session)
        else:
            from graphmem.cli.render.session import sessions

            sessions(here.output, found)


@app.command()
def show(
    session: _Session,
    *,
    every: Annotated[bool, typer.Option("--all", help="Every finding, not only what was learnt and what nearly was.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what became of each finding of a session, and why."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        receipts = here.service(whole=False).session_receipts(session)
        if as_json:
            here.output.json(receipts)
        elif quiet:
            for receipt in receipts:
                for one in receipt.learnt:
                    here.output.line(one)
        else:
            from graphmem.cli.render.session import receipts as shown

            shown(here.output, receipts, every=every)


@app.command()
def summary(
    session: _Session,
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Print what a session did, as Markdown."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        found = here.service(whole=False).session_summary(session)
        if as_json:
            here.output.json(found)
        else:
            here.output.text(found.short if quiet else found.markdown.rstrip())


@app.command()
def undo(
    session: _Session,
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Take back what a session taught. Its findings are not learnt again by themselves; what somebody vouched for stays."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        done = here.service(whole=False).undo_session(session, actor="command line")
        if as_json:
            here.output.json(done)
        elif quiet:
            for one in done.ids:
                here.output.line(one)
        else:
            kept = f"; {plural(len(done.kept), 'memory', 'memories')} stay, as somebody else agreed" if done.kept else ""
            here.output.line(f"{plural(len(done.ids), 'memory', 'memories')} taken back{kept}")


@app.command()
def groups(
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare sessions that are shown memories with those that are not: calls, re-reads, checks, dead ends, corrections."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        found = here.service(whole=False).experiment()
        if as_json:
            here.output.json(found)
        else:
            from graphmem.cli.render.session import experiment

            experiment(here.output, found)


# The commands about sessions as they run.
for _command in (session_running.start, session_running.end, session_running.running, session_running.look):
    app.command()(_command)
