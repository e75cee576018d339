"""`graphmem remember`, `recall`, `forget`, `pin`, and part of `memory`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmem.answers import to_json
from graphmem.answers.vocabulary import MemorySort
from graphmem.cli import options
from graphmem.cli.command import Variant, command
from graphmem.cli.context import CommandContext
from graphmem.cli.derived import ACTOR
from graphmem.cli.output import plural
from graphmem.cli.positions import paths_of
from graphmem.cli.rendering import rendering_of, show
from graphmem.errors import BadInputError, ForbiddenError
from graphmem.operations.memory import TO_KNOW, MemoryFilter

if TYPE_CHECKING:
    from graphmem.client.connecting import Service

STATUSES = ("pinned", "confirmed", "candidate", "superseded", "deprecated")
AGENT_VARIABLES = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE")
"""Set by agents for the commands they run."""
MOST_SESSIONS = 200  # the maximum that a server returns at once

Id = Annotated[str, typer.Argument(metavar="MEMORY", help="Id or short id of a memory, such as #a1b2 (# may be omitted).")]
Ids = Annotated[list[str], typer.Argument(metavar="MEMORY...", help="Ids or short ids of memories, such as #a1b2 (# may be omitted).")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="The maximum number of results.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Number of results to skip.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", metavar="TYPE", help="Only memories of this type: gotcha, decision, pattern, … (repeatable)."),
]
Files = Annotated[
    list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="Path of a file that the memory is about (repeatable).")
]

Kind = Annotated[
    str | None, typer.Option("--type", "-t", metavar="TYPE", help="Type of memory: gotcha, decision, …; default: inferred from the text.")
]
Symbols = Annotated[
    list[str] | None,
    typer.Option(
        "--symbol", "-s", metavar="SYMBOL", help="Symbol that the memory is about (repeatable); names in the text are found automatically."
    ),
]
Title = Annotated[str | None, typer.Option("--title", help="Title of the memory; default: the first sentence.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag by which to find the memory (repeatable).")]
Confidence = Annotated[float | None, typer.Option("--confidence", min=0.0, max=1.0, help="Probability that the memory is true, 0 to 1.")]
Importance = Annotated[
    float | None,
    typer.Option(
        "--importance",
        min=0.0,
        max=1.0,
        help="Importance of the memory, 0 to 1; it raises the rank of the memory in the context of agents.",
    ),
]
Scope = Annotated[
    str,
    typer.Option(
        "--scope",
        help="Where the memory applies: user (all your projects), global (this project), module, work_unit (one task) or session.",
    ),
]
Visibility = Annotated[str, typer.Option("--visibility", help="Who may see the memory: personal, project, team or organization.")]


@command()
def remember(
    here: CommandContext,
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="Text of the memory: one fact in one to three sentences; - reads standard input.")
    ],
    *,
    kind: Kind = None,
    title: Title = None,
    files: Files = None,
    symbols: Symbols = None,
    tags: Tags = None,
    confidence: Confidence = None,
    importance: Importance = None,
    scope: Scope = "global",
    user: Annotated[bool, typer.Option("--user", help="Store the memory for all your projects; the same as --scope user.")] = False,
    visibility: Visibility = "project",
) -> None:
    """Store a memory and link it to the code it is about."""
    from graphmem.cli.render import memory as render

    content = sys.stdin.buffer.read().decode("utf-8", errors="surrogateescape") if text == ["-"] else " ".join(text)
    service = here.service(create=True)
    answer = service.remember(
        content,
        kind,
        title=title,
        source="user_taught" if _is_persons(service) else "agent_explicit",
        scope="user" if user else scope,
        visibility=visibility,
        tags=tags or (),
        files=paths_of(files),
        symbols=symbols or (),
        confidence=confidence,
        importance=importance,
        actor=ACTOR,
    )
    here.output.show(answer, lambda: render.remembered(here.output, answer), f"#{answer.memory.short_id}")


def _is_persons(service: Service) -> bool:
    """Whether a person, and not an agent, has most likely run the command.

    The answer is True for a command from a terminal without the environment variables of agents. For any other command, it is True if no
    running session of an agent has read untrusted text. Such text could make an agent run the command.
    """
    if sys.stdin.isatty() and not any(os.environ.get(name) for name in AGENT_VARIABLES):
        return True
    seen = 0
    while page := service.sessions("running", limit=MOST_SESSIONS, offset=seen).sessions:
        if any(one.contaminated for one in page):
            return False
        seen += len(page)
    return True


recall = Variant(
    "search",
    "Search memories.",
    fixed={"kinds": ["memory"], "within": None},
)


@command()
def forget(
    here: CommandContext,
    ids: Ids,
    *,
    hard: Annotated[
        bool, typer.Option("--hard", help="Delete the memory permanently, from the graph and from the log of all changes, too.")
    ] = False,
) -> None:
    """Remove memories from search; with --hard delete them permanently."""
    from graphmem.answers import Forgotten
    from graphmem.cli.render import memory as render

    service = here.service()
    taken = [service.forget(_id(one), hard=hard, actor=ACTOR) for one in ids]
    answer = Forgotten([one for each in taken for one in each.ids], hard, dry_run=False, kept=[one for each in taken for one in each.kept])
    here.output.show(answer, lambda: render.forgotten(here.output, answer), *answer.ids)


@command()
def pin(
    here: CommandContext,
    id: Id,  # noqa: A002 - the word of the domain
    *,
    off: Annotated[
        bool, typer.Option("--off", help="Remove the pin: the memory's confidence decays, and the memory can be pruned again.")
    ] = False,
) -> None:
    """Pin a memory: its confidence never decays and it is never pruned."""
    service = _vouched(here, id) if not off else here.service()
    info = service.unpin(_id(id), actor=ACTOR) if off else service.pin(_id(id), actor=ACTOR)
    show(here.output, info, rendering_of("memory"))


@command()
def list_(
    here: CommandContext,
    *,
    types: Types = None,
    files: Files = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Only memories with this tag (repeatable).")] = None,
    statuses: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            metavar="STATUS",
            help="Only memories with this status: candidate, confirmed, pinned, superseded or deprecated (repeatable).",
        ),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Only memories that contain these words.")] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="Only memories that were valid at this time (ISO 8601, such as 2026-05-04T12:00Z)."),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            "--sort",
            **options.one_of(MemorySort),
            help="Order of the list; worth: pinned memories first, then warnings and decisions. "
            "worth and newest put memories from the project's own files last.",
        ),
    ] = "newest",
    limit: Limit = 50,
    offset: Offset = 0,
) -> None:
    """List memories; by default all that are not forgotten or replaced."""
    from graphmem.cli.render import memory as render

    query = {"types": types, "files": paths_of(files) or None, "tags": tags, "statuses": statuses, "text": text, "as_of": as_of}
    page = here.service().memories(
        options.word({name: value for name, value in query.items() if value}), sort=options.word(sort), limit=limit, offset=offset
    )
    here.output.show(page, lambda: render.memories(here.output, page, offset), *(f"#{one.short_id}" for one in page.memories))


@command()
def verify(here: CommandContext, id: Id) -> None:  # noqa: A002
    """Mark a memory as true now; a forgotten memory is restored."""
    show(here.output, _vouched(here, id).verify(_id(id), actor=ACTOR), rendering_of("memory"))


@command()
def alias(
    here: CommandContext,
    term: Annotated[
        str | None, typer.Argument(metavar="[TERM]", help="The search term that gets the synonyms; default: show all terms.")
    ] = None,
    means: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            help="Synonyms: a search for the term also looks for these words; without words, the synonyms of the term are removed.",
        ),
    ] = None,
) -> None:
    """Show or set synonyms that searches for a term also find."""
    from graphmem.cli.render import memory as render

    service = here.service()
    found = service.aliases() if term is None else [service.set_alias(term, means or [], actor=ACTOR)]
    here.output.show(found, lambda: render.aliases(here.output, found), *(one.term for one in found))


@command()
def status(here: CommandContext) -> None:
    """Count memories; show learning, trust level and token costs."""
    service = here.service()
    counts = {one: service.memories(MemoryFilter(statuses=[one]), limit=1).total for one in STATUSES}
    learning, trust = service.learning(), service.trust()
    review = service.review_queue(limit=1).total
    cost = service.health().cost
    found = {"counts": counts, "review": review, "learning": to_json(learning), "trust": to_json(trust), "cost": to_json(cost)}

    saved = (
        f"{cost.saved_per_session:,.0f} tokens saved in an average session"
        if cost.saved_per_session is not None
        else "tokens saved are unknown without sessions in the control group"
    )

    def print_text() -> None:
        here.output.line(", ".join(f"{count:,} {one}" for one, count in counts.items() if count) or "no memories")
        here.output.line(f"{review:,} to review; see `graphmem memory review`" if review else "nothing to review")
        here.output.line(f"learning from sessions is {learning.state}; trust level {trust.level}, {plural(trust.sessions, 'session')}")
        if cost.injected_per_session is not None:
            here.output.line(
                f"{cost.injected_per_session:,.0f} tokens injected in an average session, {cost.injected_tokens:,} in all; {saved}"
            )

    here.output.show(found, print_text, *(f"{one} {count}" for one, count in counts.items()))


@command()
def onboard(
    here: CommandContext,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="The maximum number of listed memories.")] = 10,
) -> None:
    """List memories that a newcomer should read, most trusted first."""
    from graphmem.cli.render import memory as render

    page = here.service().memories(TO_KNOW, sort="worth", limit=limit)
    here.output.show(page, lambda: render.memories(here.output, page), *(f"#{one.short_id}" for one in page.memories))


@command()
def edit(
    here: CommandContext,
    id: Id,  # noqa: A002
    text: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="New text of the memory; - reads standard input.")] = None,
    *,
    kind: Annotated[
        str | None, typer.Option("--type", "-t", metavar="TYPE", help="New type of the memory, such as gotcha or decision.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="New title of the memory.")] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Tag of the memory; may be repeated. The given tags replace all others."),
    ] = None,
) -> None:
    """Change a memory; the old text stays as an older version."""
    service = _vouched(here, id)
    changes: dict[str, Any] = {name: value for name, value in (("type", kind), ("title", title), ("tags", tags)) if value}
    if text:
        changes["content"] = sys.stdin.buffer.read().decode("utf-8", errors="surrogateescape") if text == ["-"] else " ".join(text)
    elif not changes:
        raise BadInputError(
            "the command `memory edit` has nothing to change; give the new content, - to read the content from stdin, or an option",
            argument="TEXT",
        )
    show(here.output, service.update_memory(_id(id), actor=ACTOR, **changes), rendering_of("memory"))


def _vouched(here: CommandContext, id: str) -> Service:  # noqa: A002
    """Return the service if a person has most likely run the command.

    Only people may verify memories; see `_is_persons` for the check.

    Raises:
        ForbiddenError: the command may come from an agent that has read untrusted text.
    """
    service = here.service()
    if not _is_persons(service):
        raise ForbiddenError(
            "an agent may not run this command while its session contains untrusted text; type the command in a terminal yourself",
            id=id,
        )
    return service


def _id(text: str) -> str:
    """Return the id of a memory without its #.

    Ids are displayed with #, which starts a comment in shells.
    """
    return text.removeprefix("#")
