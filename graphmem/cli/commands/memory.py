"""`graphmem remember`, `recall`, `forget`, `pin`, and the `memory` family: what is known beside the code."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmem.cli import options
from graphmem.cli.door import Door, door
from graphmem.cli.failures import REFUSED
from graphmem.cli.output import plural
from graphmem.errors import BadInputError, ForbiddenError

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.client.connecting import Service

ACTOR = "cli"
AGENT_VARIABLES = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE")
"""Set by agents for the commands they run."""
MOST_SESSIONS = 200  # as many as a server gives at once

Id = Annotated[str, typer.Argument(metavar="ID", help="A memory's id or short id, with or without #.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids or short ids, with or without #.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="At most this many.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Leave out the first ones.")]
Types = Annotated[list[str] | None, typer.Option("--type", "-t", metavar="TYPE", help="gotcha, decision, pattern, … (repeatable).")]
Files = Annotated[list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="About this file (repeatable).")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")]

app = typer.Typer(name="memory", help="What is known beside the code: list, read, review, keep in order.", no_args_is_help=True)


def remember(
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What to keep: one fact in one to three sentences; - reads stdin.")],
    *,
    kind: Annotated[
        str | None, typer.Option("--type", "-t", metavar="TYPE", help="gotcha, decision, …; by its words when left out.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Its first sentence when left out.")] = None,
    files: Files = None,
    symbols: Annotated[
        list[str] | None,
        typer.Option("--symbol", "-s", metavar="SYMBOL", help="About this symbol (repeatable); names in the text are found."),
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A word to find it by (repeatable).")] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", min=0.0, max=1.0, help="How likely it is true.")] = None,
    importance: Annotated[float | None, typer.Option("--importance", min=0.0, max=1.0, help="How much it matters.")] = None,
    scope: Annotated[str, typer.Option("--scope", help="global, module, work_unit or session.")] = "global",
    visibility: Annotated[str, typer.Option("--visibility", help="personal, project, team or organization.")] = "project",
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Keep a piece of knowledge with the code it is about."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        content = sys.stdin.buffer.read().decode("utf-8", errors="surrogateescape") if text == ["-"] else " ".join(text)
        service = here.service(create=True)
        answer = service.remember(
            content,
            kind,
            title=title,
            source="user_taught" if _is_persons(service) else "agent_explicit",
            scope=scope,
            visibility=visibility,
            tags=tags or (),
            related_files=files or (),
            symbols=symbols or (),
            confidence=confidence,
            importance=importance,
            actor=ACTOR,
        )
        show_answer(here, answer, lambda: render.remembered(here.output, answer), f"#{answer.memory.short_id}")


def _is_persons(service: Service) -> bool:
    """Whether a person typed the command: agents run commands too, and one that has read words of strangers may repeat them."""
    if sys.stdin.isatty() and not any(os.environ.get(name) for name in AGENT_VARIABLES):
        return True
    return not any(one.contaminated for one in service.sessions("running", limit=MOST_SESSIONS).sessions)


def recall(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="Words, names, or a question.")],
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=200, help="How many.")] = 10,
    files: Annotated[list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="A file you work on (repeatable).")] = None,
    types: options.Types = None,
    phase: options.Phase = "",
    retired: options.Retired = False,
    as_of: options.AsOf = None,
    budget: options.Budget = None,
    explain: Annotated[bool, typer.Option("--explain/--no-explain", help="Show what each path said of a hit.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find what is known about something."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import search as render

        answer = here.service(whole=True).search(
            " ".join(query),
            limit=k,
            files=files,
            kinds=["memory"],
            types=types,
            phase=phase,
            retired=retired,
            as_of=as_of,
            explain=explain,
            budget_tokens=budget,
        )
        if budget is not None and not as_json:
            render.packed(here.output, answer, quiet=quiet)
        else:
            ids = (f"#{hit.memory.short_id if hit.memory is not None else hit.id}" for hit in answer.hits)
            show_answer(here, answer, lambda: render.search(here.output, answer, explain), *ids)


def forget(
    ids: Ids,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="For good: out of the graph and the journal too.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Take memories out of search; with --hard for good."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.answers import Forgotten
        from graphmem.cli.render import memory as render

        service = here.service()
        taken = [service.forget(_id(one), hard=hard, actor=ACTOR) for one in ids]
        answer = Forgotten(
            [one for each in taken for one in each.ids], hard, dry_run=False, kept=[one for each in taken for one in each.kept]
        )
        show_answer(here, answer, lambda: render.forgotten(here.output, answer), *answer.ids)


def pin(
    id: Id,  # noqa: A002 - the word of the domain
    *,
    off: Annotated[bool, typer.Option("--off", help="An ordinary memory again.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Always show a memory; it never fades and is never pruned."""
    _one(id, "unpin" if off else "pin", project, db, home, as_json, quiet, is_vouched=not off)


@app.command("list")
def list_(
    *,
    types: Types = None,
    files: Files = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="With this tag (repeatable).")] = None,
    statuses: Annotated[
        list[str] | None,
        typer.Option("--status", metavar="STATUS", help="candidate, confirmed, pinned, superseded, deprecated (repeatable)."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="These words occur.")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What was believed then, ISO 8601.")] = None,
    sort: Annotated[str, typer.Option("--sort", help="newest, oldest, updated, importance, confidence, strength or used.")] = "newest",
    limit: Limit = 50,
    offset: Offset = 0,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List memories, the live ones when nothing else is asked for."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        query = {"types": types, "files": files, "tags": tags, "statuses": statuses, "text": text, "as_of": as_of}
        page = here.service().memories(
            options.word({name: value for name, value in query.items() if value}), sort=options.word(sort), limit=limit, offset=offset
        )
        show_answer(here, page, lambda: render.memories(here.output, page, offset), *(f"#{one.short_id}" for one in page.memories))


@app.command()
def show(
    id: Id,  # noqa: A002
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show everything about a memory: where it comes from, how sure it is, what it is about."""
    _one(id, "memory", project, db, home, as_json, quiet)


@app.command()
def timeline(
    id: Id,  # noqa: A002
    *,
    n: Annotated[int, typer.Option("-n", min=0, max=100, help="How many before and after.")] = 5,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what was learnt before and after a memory."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        answer = here.service().timeline(_id(id), n)
        show_answer(
            here, answer, lambda: render.timeline(here.output, answer), *(f"#{one.short_id}" for one in [*answer.before, *answer.after])
        )


@app.command()
def verify(
    id: Id,  # noqa: A002
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say that a memory is true today; one that was forgotten comes back."""
    _one(id, "verify", project, db, home, as_json, quiet, is_vouched=True)


@app.command()
def dispute(
    id: Id,  # noqa: A002
    reason: Annotated[list[str] | None, typer.Argument(metavar="[REASON]...", help="Why it is not true.")] = None,
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say that a memory is not true; it counts less until somebody resolves it."""
    _one(id, "dispute", project, db, home, as_json, quiet, reason=" ".join(reason or ()))


@app.command()
def resolve(
    winner: Id,
    loser: Annotated[
        str | None, typer.Option("--over", metavar="ID", help="The one that gives way; all it conflicts with when left out.")
    ] = None,
    *,
    note: Annotated[str, typer.Option("--note", help="Why.")] = "",
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Decide between memories that contradict each other, or end a dispute."""
    over: dict[str, Any] = {"loser": _id(loser)} if loser is not None else {}
    _one(winner, "resolve_conflict", project, db, home, as_json, quiet, note=note, **over)


@app.command()
def review(
    *,
    limit: Limit = 20,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List memories that need review: disputed, contradicting, or older than a change of their code."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        queue = here.service().review_queue(limit)
        show_answer(here, queue, lambda: render.review(here.output, queue), *(f"#{item.memory.short_id}" for item in queue.items))


@app.command()
def alias(
    term: Annotated[str | None, typer.Argument(metavar="[TERM]", help="What people search for; all aliases when left out.")] = None,
    means: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="What to look for as well; none removes the alias.")
    ] = None,
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show or set words that a search for a term also looks for."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        service = here.service()
        found = service.aliases() if term is None else [service.set_alias(term, means or [], actor=ACTOR)]
        show_answer(here, found, lambda: render.aliases(here.output, found), *(one.term for one in found))


@app.command()
def prune(
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Do it; otherwise it only says what it would do.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Retire what has faded, expired, or is too much."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        answer = here.service().prune(dry_run=not apply, actor=ACTOR)
        show_answer(here, answer, lambda: render.pruned(here.output, answer), *(f"#{one.short_id}" for one in answer.pruned))


@app.command()
def retract(
    origin: Annotated[
        str, typer.Argument(metavar="ORIGIN", help="A session, a page, or a kind of origin: user, repository, web, tool, agent.")
    ],
    *,
    hard: Annotated[bool, typer.Option("--hard", help="For good: out of the graph and the journal too.")] = False,
    dry_run: DryRun = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Take back everything that came from somewhere, and what was derived from it."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        answer = here.service().retract(origin, hard=hard, dry_run=dry_run, actor=ACTOR)
        show_answer(here, answer, lambda: render.forgotten(here.output, answer), *answer.ids)


@app.command()
def scan(
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Take them out; otherwise it only says where they are.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Look for secrets in everything that is stored; exit code 1 when there are some."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        answer = here.service().scan_secrets(dry_run=not apply, actor=ACTOR)
        show_answer(here, answer, lambda: render.scanned(here.output, answer), *(f"#{one.short_id}" for one in answer.found))
        if (answer.found and not apply) or any(not one.cleaned for one in answer.files):
            raise SystemExit(REFUSED)


@app.command()
def audit(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Of this memory; of all when left out.")] = None,  # noqa: A002
    *,
    limit: Limit = 50,
    offset: Offset = 0,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show who did what, and whether the record is whole; exit code 1 when it is not."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        page = here.service().audit(_id(id) if id is not None else None, limit, offset)
        show_answer(here, page, lambda: render.audit(here.output, page), page.head)
        if not page.sound:
            raise SystemExit(REFUSED)


@app.command()
def rebuild(
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Make every memory in the graph anew from the journal alone."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        answer = here.service().rebuild_memories()

        def say() -> None:
            here.output.line(
                f"{plural(answer.memories, 'memory', 'memories')} from the journal: "
                f"{answer.restored:,} restored, {answer.removed:,} removed"
            )
            for note in answer.notes:
                here.output.line(("  " + note, "yellow"))

        show_answer(here, answer, say, str(answer.memories))


@app.command()
def phases(
    *,
    accept: Annotated[bool, typer.Option("--accept", help="Put what is proposed in force.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the built-in weights.")] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """What types of memories count in phases of work, and what the project's sessions speak for; applied only with --accept."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        if accept and reset:
            raise BadInputError("--accept and --reset exclude each other; give one of them", argument="accept")
        service = here.service(whole=False)
        found = service.choose_phase_weights("proposed" if accept else "built-in") if accept or reset else service.phase_weights()

        def table() -> None:
            from graphmem.cli.render.phases import phase_weights

            phase_weights(here.output, found)

        show_answer(here, found, table, *(f"{one.phase} {one.type} {one.weight:g}" for one in found.weights))


def delete_all(
    *,
    confirm: Annotated[str, typer.Option("--confirm", metavar="NAME", help="The project's name, to show that you mean it.")] = "",
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Delete every memory, session and journal of a project, for good. The code graph stays."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        service = here.service()
        if not confirm:
            name = service.project().name
            raise BadInputError(f"this deletes every memory of {name} for good; repeat it with --confirm {name}", argument="confirm")
        answer = service.delete_all(confirm, actor=ACTOR)
        show_answer(
            here,
            answer,
            lambda: here.output.line(f"{answer.memories:,} memories and {answer.sessions:,} sessions are gone"),
            str(answer.memories),
        )


def _one(
    id: str,  # noqa: A002
    verb: str,
    project: Path | None,
    db: Path | None,
    home: bool,
    as_json: bool,
    quiet: bool,
    *,
    is_vouched: bool = False,
    **more: Any,
) -> None:
    """A verb of one memory that answers with the memory as it now is; only a person vouches for one."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        given = more if verb == "memory" else {**more, "actor": ACTOR}
        service = here.service()
        if is_vouched and not _is_persons(service):
            raise ForbiddenError("words of strangers are in a running session, and no person typed this; say it in a terminal", id=id)
        info = getattr(service, verb)(_id(id), **given)
        show_answer(here, info, lambda: render.memory(here.output, info), f"#{info.short_id}")


def _id(text: str) -> str:
    """Ids are shown with a #, which shells take for a comment, so that both are understood."""
    return text.removeprefix("#")


def show_answer(here: Door, answer: object, say: Callable[[], None], *bare: str) -> None:
    """An answer as it was asked for: JSON, its bare ids, or words."""
    if here.output.as_json:
        here.output.json(answer)
    elif here.output.quiet:
        for one in bare:
            here.output.line(one)
    else:
        say()
