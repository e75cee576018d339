"""Commands that set up, protect, prune and delete memories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphmem.answers.vocabulary import LearningChoice
from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.context import CommandContext, project_here
from graphmem.cli.derived import ACTOR
from graphmem.cli.failures import REFUSED
from graphmem.cli.output import plural
from graphmem.errors import BadInputError


@command()
def auto(
    here: CommandContext,
    state: Annotated[
        str | None,
        typer.Argument(
            **options.one_of(LearningChoice), help="New state of learning from agents' sessions; default: show the current state."
        ),
    ] = None,
    *,
    minutes: Annotated[
        int | None, typer.Option("--for", metavar="MINUTES", min=1, help="With `paused`: end the pause after this many minutes.")
    ] = None,
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
            help="How many sessions must show a pattern before it becomes a memory: conservative (many), balanced "
            "or aggressive (few); default: show all three.",
        ),
    ] = "",
) -> None:
    """Show or set how easily session patterns become memories.

    The choice is the setting `promotion` in the project's graphmem.toml. A running server uses it after a restart.
    """
    from graphmem.observe.learning.gates import PRESETS
    from graphmem.settings import PROJECT_FILE, with_setting

    now = here.settings.promotion
    if preset:
        if preset not in PRESETS:
            raise BadInputError(
                f"unknown weighting preset {preset[:40]!r}; use one of {', '.join(PRESETS)}", argument="PRESET", value=preset
            )
        file = (here.location.root or project_here()) / PROJECT_FILE
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
    apply: Annotated[
        bool, typer.Option("--apply", help="Deprecate the listed memories, and remove those deprecated long ago; default: only list them.")
    ] = False,
) -> None:
    """Deprecate memories that are unused, expired or over a limit.

    A search does not return deprecated memories. If the settings allow it, memories deprecated long ago are removed for good.
    """
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
            help="File with the encryption key, outside of the project; created if missing. Keep a copy: without "
            "the key, the memories cannot be read.",
        ),
    ] = None,
    remove_copies: Annotated[
        bool,
        typer.Option("--remove-copies", help="Delete older backups and quarantined files, which contain unencrypted text of memories."),
    ] = False,
) -> None:
    """Encrypt the memories on disk: journal, database, caches, backups.

    Without --key-file, the setting `memory_key_file` or `memory_key_command` names the key. No server may run meanwhile. Code, names,
    numbers, times and embedding vectors are not encrypted. Without the key, the memories are lost.
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
    apply: Annotated[
        bool, typer.Option("--apply", help="Remove the secrets from the stored data; without this option only their places are listed.")
    ] = False,
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
    accept: Annotated[bool, typer.Option("--accept", help="Use the proposed weights of memory types from now on.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Restore the built-in weights of memory types.")] = False,
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
    confirm: Annotated[
        str, typer.Option("--confirm", metavar="NAME", help="Name of the project whose memories are deleted, to confirm the deletion.")
    ] = "",
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
        lambda: here.output.line(f"deleted {plural(answer.memories, 'memory', 'memories')} and {plural(answer.sessions, 'session')}"),
        str(answer.memories),
    )
