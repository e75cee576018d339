"""`graphmem remember`, `recall`, `forget`, `pin`, and part of `memory`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from graphmem.answers import to_json
from graphmem.answers.vocabulary import LearningChoice, MemorySort
from graphmem.cli import options
from graphmem.cli.command import Variant, command
from graphmem.cli.context import CommandContext
from graphmem.cli.failures import REFUSED
from graphmem.cli.output import plural
from graphmem.cli.positions import paths_of
from graphmem.cli.rendering import rendering_of, show
from graphmem.errors import BadInputError, ForbiddenError
from graphmem.operations.memory import MemoryFilter

if TYPE_CHECKING:
    from graphmem.client.connecting import Service

ACTOR = "cli"
STATUSES = ("pinned", "confirmed", "candidate", "superseded", "deprecated")
ONBOARDING: Final = MemoryFilter(statuses=["pinned", "confirmed"], contaminated=False, disputed=False)
AGENT_VARIABLES = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE")
"""Set by agents for the commands they run."""
MOST_SESSIONS = 200  # the maximum that a server returns at once

Id = Annotated[str, typer.Argument(metavar="MEMORY", help="Id or short id of a memory, with or without #.")]
Ids = Annotated[list[str], typer.Argument(metavar="MEMORY...", help="Ids or short ids of memories, with or without #.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="The maximum number of results.")]
Offset = Annotated[int, typer.Option("--offset", min=0, help="Number of results to skip.")]
Types = Annotated[
    list[str] | None, typer.Option("--type", "-t", metavar="TYPE", help="Type of memory: gotcha, decision, pattern, … (repeatable).")
]
Files = Annotated[list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="File that the memory is about (repeatable).")]


@command()
def remember(
    here: CommandContext,
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="Text of the memory: one fact in one to three sentences; - reads standard input.")
    ],
    *,
    kind: Annotated[
        str | None,
        typer.Option("--type", "-t", metavar="TYPE", help="Type of memory: gotcha, decision, …; default: inferred from the text."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the memory; default: the first sentence.")] = None,
    files: Files = None,
    symbols: Annotated[
        list[str] | None,
        typer.Option(
            "--symbol",
            "-s",
            metavar="SYMBOL",
            help="Symbol that the memory is about (repeatable); names in the text are found automatically.",
        ),
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag by which to find the memory (repeatable).")] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", min=0.0, max=1.0, help="Probability that the memory is true, 0 to 1.")
    ] = None,
    importance: Annotated[float | None, typer.Option("--importance", min=0.0, max=1.0, help="Importance of the memory, 0 to 1.")] = None,
    scope: Annotated[
        str, typer.Option("--scope", help="Scope: user (all your projects), global (this project), module, work_unit or session.")
    ] = "global",
    user: Annotated[bool, typer.Option("--user", help="Store the memory for all your projects; the same as --scope user.")] = False,
    visibility: Annotated[
        str, typer.Option("--visibility", help="Who may see the memory: personal, project, team or organization.")
    ] = "project",
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
    return not any(one.contaminated for one in service.sessions("running", limit=MOST_SESSIONS).sessions)


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
    hard: Annotated[bool, typer.Option("--hard", help="Delete permanently, from the graph and the journal too.")] = False,
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
    off: Annotated[bool, typer.Option("--off", help="Unpin the memory instead of pinning it.")] = False,
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
        str | None, typer.Option("--as-of", metavar="TIME", help="Only memories that were current at this time (ISO 8601).")
    ] = None,
    sort: Annotated[str, typer.Option("--sort", **options.one_of(MemorySort), help="Order of the memories.")] = "newest",
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
        here.output.line(f"learning from sessions is {learning.state}; trust level {trust.level}, {trust.sessions:,} sessions")
        if cost.injected_per_session is not None:
            here.output.line(
                f"{cost.injected_per_session:,.0f} tokens injected in an average session, {cost.injected_tokens:,} in all; {saved}"
            )

    here.output.show(found, print_text, *(f"{one} {count}" for one, count in counts.items()))


@command()
def onboard(
    here: CommandContext,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="The maximum number of memories.")] = 10,
) -> None:
    """List memories that a newcomer should read, most trusted first."""
    from graphmem.cli.render import memory as render

    page = here.service().memories(ONBOARDING, sort="worth", limit=limit)
    here.output.show(page, lambda: render.memories(here.output, page), *(f"#{one.short_id}" for one in page.memories))


@command()
def edit(
    here: CommandContext,
    id: Id,  # noqa: A002
    text: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="New text of the memory; - reads standard input.")] = None,
    *,
    kind: Annotated[str | None, typer.Option("--type", "-t", metavar="TYPE", help="New type of the memory.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="New title of the memory.")] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="New tag of the memory; replaces all tags (repeatable).")
    ] = None,
) -> None:
    """Change a memory; the old text stays as an older version."""
    service = _vouched(here, id)
    changes: dict[str, Any] = {name: value for name, value in (("type", kind), ("title", title), ("tags", tags)) if value}
    if text:
        changes["content"] = sys.stdin.buffer.read().decode("utf-8", errors="surrogateescape") if text == ["-"] else " ".join(text)
    elif not changes:
        raise BadInputError(
            "the command `memory update` has nothing to change; give the new content, - to read the content from stdin, or an option",
            argument="TEXT",
        )
    show(here.output, service.update_memory(_id(id), actor=ACTOR, **changes), rendering_of("memory"))


@command()
def auto(
    here: CommandContext,
    state: Annotated[
        str | None, typer.Argument(**options.one_of(LearningChoice), help="New state of learning; default: show the current state.")
    ] = None,
    *,
    minutes: Annotated[int | None, typer.Option("--for", metavar="MINUTES", min=1, help="End the pause after this many minutes.")] = None,
) -> None:
    """Show or switch learning from agents' sessions.

    While learning is off or paused, sessions are not recorded. Memories can still be stored and are still shown.
    """
    service = here.service()
    found = service.set_learning(options.word(state), minutes) if state else service.learning()
    until = f" until {found.until}" if found.until else ""
    why = ", by the setting `learning`" if found.by_setting else ""
    here.output.show(found, lambda: here.output.line(f"learning from sessions is {found.state}{until}{why}"), found.state)


@command()
def config(
    here: CommandContext,
    preset: Annotated[
        str,
        typer.Argument(
            metavar="[PRESET]",
            help="Preset for how much evidence a pattern needs: conservative, balanced or aggressive; default: show all presets.",
        ),
    ] = "",
) -> None:
    """Show or set how easily session patterns become memories.

    The choice is the setting `promotion` in the project's graphmem.toml. A running server uses it after a restart.
    """
    from graphmem.location import find_project
    from graphmem.observe.gates import PRESETS
    from graphmem.settings import PROJECT_FILE, with_setting

    now = here.settings.promotion
    if preset:
        if preset not in PRESETS:
            raise BadInputError(
                f"unknown weighting preset {preset[:40]!r}; use one of {', '.join(PRESETS)}", argument="PRESET", value=preset
            )
        file = (here.location.root or find_project(Path.cwd())) / PROJECT_FILE
        with_setting(file, "promotion", preset)
        now = preset
    rows = [
        {"preset": name, "points": one.points, "importance": one.importance, "characters": one.length, "chosen": name == now}
        for name, one in PRESETS.items()
    ]

    def print_text() -> None:
        for row in rows:
            needs = f"{row['points']} points, importance {row['importance']}, {row['characters']} characters"
            here.output.line(("* " if row["chosen"] else "  ", "green"), (f"{row['preset']:<13}", "bold"), needs)
        if preset:
            here.output.line((f"written to {file}; a running server uses it after `graphmem serve` starts again", "dim"))

    here.output.show(rows, print_text, now)


@command()
def prune(
    here: CommandContext,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Retire the memories; without this option the memories are only listed.")] = False,
) -> None:
    """Retire memories that have decayed, expired or exceed a limit."""
    from graphmem.cli.render import memory as render

    answer = here.service().prune(dry_run=not apply, actor=ACTOR)
    here.output.show(answer, lambda: render.pruned(here.output, answer), *(f"#{one.short_id}" for one in answer.pruned))


@command()
def encrypt(
    here: CommandContext,
    *,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help="File with the encryption key, outside of the project; created if missing. Keep a copy of the file.",
        ),
    ] = None,
    remove_copies: Annotated[
        bool, typer.Option("--remove-copies", help="Delete older backups and quarantined files, which hold plain text.")
    ] = False,
) -> None:
    """Encrypt the memories on disk: journal, database, caches, backups.

    Without --key-file, the setting `memory_key_file` or `memory_key_command` names the key. No server may run meanwhile.
    Code, names, numbers, times and
    embedding vectors are not encrypted. Without the key, the memories are lost.
    """
    from graphmem.project.encrypting import encrypt as run

    found = run(here.existing(), here.settings, key_file, remove_copies=remove_copies)

    def print_text() -> None:
        here.output.line(f"{plural(found.memories, 'memory', 'memories')} encrypted with key {found.key}")
        here.output.line((f"  keep a copy of {found.key_file or 'the key'}: without it the memories are lost", "yellow"))
        if found.removed:
            here.output.line(f"  {plural(found.removed, 'file')} with plain text deleted")

    here.output.show(found._asdict(), print_text, found.key)


@command()
def decrypt(here: CommandContext) -> None:
    """Decrypt the memories on disk. No server may run meanwhile."""
    from graphmem.project.encrypting import decrypt as run

    found = run(here.existing(), here.settings)
    said = f"{plural(found.memories, 'memory', 'memories')} decrypted" if found.key else "the memories are not encrypted"
    here.output.show(found._asdict(), lambda: here.output.line(said), str(found.memories))


@command()
def scan(
    here: CommandContext,
    *,
    apply: Annotated[bool, typer.Option("--apply", help="Remove the secrets; without this option only their places are listed.")] = False,
) -> None:
    """Scan all stored data for secrets; exit code 1 if some are found."""
    from graphmem.cli.render import memory as render

    answer = here.service().scan_secrets(dry_run=not apply, actor=ACTOR)
    here.output.show(answer, lambda: render.scanned(here.output, answer), *(f"#{one.short_id}" for one in answer.found))
    if (answer.found and not apply) or any(not one.cleaned for one in answer.files):
        raise SystemExit(REFUSED)


@command()
def phases(
    here: CommandContext,
    *,
    accept: Annotated[bool, typer.Option("--accept", help="Apply the proposed weights to the ranking.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Restore the built-in weights of the ranking.")] = False,
) -> None:
    """Show the ranking weights of memory types in phases of work.

    The command also shows weights proposed from the project's sessions. Proposed weights apply only after --accept.
    """
    if accept and reset:
        raise BadInputError("--accept and --reset cannot be combined; use one of them", argument="accept")
    from graphmem.cli.render.sessions import phase_weights

    service = here.service()
    found = service.choose_phase_weights("proposed" if accept else "built-in") if accept or reset else service.phase_weights()

    here.output.show(found, lambda: phase_weights(here.output, found), *(f"{one.phase} {one.type} {one.weight:g}" for one in found.weights))


@command()
def delete_all(
    here: CommandContext,
    *,
    confirm: Annotated[str, typer.Option("--confirm", metavar="NAME", help="Name of the project, to confirm the deletion.")] = "",
) -> None:
    """Delete all memories and sessions of a project permanently.

    The journal of the memories is deleted, too. The code graph stays.
    """
    service = here.service()
    if not confirm:
        name = service.project().name
        raise BadInputError(
            f"this command permanently deletes every memory of {name}; repeat the command with --confirm {name} to delete them",
            argument="confirm",
        )
    answer = service.delete_all(confirm, actor=ACTOR)
    here.output.show(
        answer,
        lambda: here.output.line(f"{answer.memories:,} memories and {answer.sessions:,} sessions were deleted"),
        str(answer.memories),
    )


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
