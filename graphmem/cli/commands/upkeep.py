"""`graphmem backup`, `restore` and `rebuild`: maintenance of an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.output import plural
from graphmem.cli.render.upkeep import megabytes

if TYPE_CHECKING:
    from graphmem.answers.upkeep import BackupInfo


@command()
def backup(
    here: CommandContext,
    dest: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DEST]",
            help="Where to write the backup: a directory, or the path of a new .zip file; default: `backups` in the index directory.",
        ),
    ] = None,
    *,
    portable: Annotated[
        bool, typer.Option("--portable", help="Make a backup that every database engine and later versions can read; this takes longer.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the backups in the index directory instead of making a backup.")] = False,
) -> None:
    """Write a backup and verify it.

    The backup contains the code graph, the memories and their journal. The command reads the backup back and opens it.

    A running server makes a backup every `backup_hours` hours and keeps the newest `backup_keep` backups.
    """
    service = here.service()
    if list_:
        found = service.backups()
        if here.output.as_json:
            here.output.json(found)
        elif here.output.quiet:
            for one in found:
                here.output.line(one.path)
        elif found:
            here.output.rows([_row(one) for one in found], indent=0)
        else:
            here.output.line("there are none yet; `graphmem backup` makes one")
        return
    here.output.note(("writing a backup and opening it …", "dim"))
    made = service.backup(dest, portable)
    if here.output.as_json:
        here.output.json(made)
    elif here.output.quiet:
        here.output.line(made.path)
    else:
        here.output.line((made.path, "bold"))
        kind = "any engine" if made.engine == "any" else made.engine
        memories, entries = plural(made.memories, "memory", "memories"), plural(made.entries, "entry", "entries")
        here.output.line(
            f"  {megabytes(made.bytes)} for {kind}: generation {made.generation} of the code, {memories}, "
            f"{entries} of their journal; read back and opened, {made.seconds:.1f} s"
        )


@command()
def restore(
    here: CommandContext,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The backup to restore: a path, or a name from `graphmem backup --list`.")],
    *,
    rules: Annotated[
        bool, typer.Option("--rules", help="Also restore the rules in the backup, which are instructions that agents get in every session.")
    ] = False,
) -> None:
    """Restore a backup.

    The backup is checked first, and the current state is backed up before anything changes.
    """
    service = here.service(create=True)
    here.output.note(("checking the backup …", "dim"))
    answer = service.restore(file, rules)
    if here.output.as_json:
        here.output.json(answer)
    elif here.output.quiet:
        here.output.line(answer.path)
    else:
        here.output.line(f"restored to {answer.made_at}: {plural(answer.files, 'file')}, {plural(answer.memories, 'memory', 'memories')}")
        if answer.before:
            here.output.line(("  backup of the previous state: ", "dim"), answer.before)
        if answer.rules:
            did = "restored" if answer.rules_taken else "not restored; read them in the backup, then `graphmem restore --rules`"
            here.output.line((f"  it contains {plural(len(answer.rules), 'rule')}, {did}:", "yellow"))
            for one in answer.rules:
                here.output.line("    ", one)
        for note in answer.notes:
            here.output.line(("  " + note, "yellow"))
        here.output.line(("  to index files that changed since then, run `graphmem index` or a server", "dim"))


@command()
def rebuild(
    here: CommandContext,
) -> None:
    """Rebuild everything from the files and the journal.

    Memories are read from their journal, everything else from the project's files.
    """
    from graphmem.cli.progress import shown_progress

    service = here.service(create=True)
    root = here.root_to_index(service)
    with shown_progress(here.output) as on_progress:
        answer = service.rebuild(root, on_progress)
    if here.output.as_json:
        here.output.json(answer)
    elif not here.output.quiet:
        here.output.line(
            f"{plural(answer.files, 'file')}, {plural(answer.symbols, 'symbol')} and {plural(answer.edges, 'edge')} from the tree; "
            f"{plural(answer.memories, 'memory', 'memories')} from the journal"
        )
        if answer.restored or answer.removed:
            here.output.line(
                (f"  {answer.restored:,} memories were missing or different, {answer.removed:,} were not in the journal", "yellow")
            )
        for note in answer.notes:
            here.output.line(("  " + note, "yellow"))


def _row(one: BackupInfo) -> tuple[str | tuple[str, str], ...]:
    return (
        (one.path, "bold"),
        one.made_at,
        megabytes(one.bytes),
        "any engine" if one.engine == "any" else one.engine,
        plural(one.memories, "memory", "memories"),
    )
