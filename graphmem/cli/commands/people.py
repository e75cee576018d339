"""`graphmem rules`, `sync-file` and `import`: memories in files that people and other tools keep."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli import options
from graphmem.cli.commands.memory import ACTOR, show_answer
from graphmem.cli.door import door
from graphmem.cli.failures import REFUSED
from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from graphmem.answers import ImportAnswer
    from graphmem.client.connecting import Service


def rules(
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="Only those that apply while these are worked on.")] = None,
    *,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the rules that are always put in front of an agent, the most specific last."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        found, notes = here.service().rules(files or None)
        show_answer(here, {"rules": found, "notes": notes}, lambda: render.rules(here.output, found, notes), *(one.name for one in found))


def sync_file(
    path: Annotated[str | None, typer.Argument(metavar="[FILE]", help="Default: MEMORY.md in the project's root.")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    personal: Annotated[
        bool, typer.Option("--personal", help="Write personal memories into the file too; all who have the repository read them.")
    ] = False,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Carry changes between MEMORY.md and the memories, both ways; exit code 1 when both sides changed one."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        answer = here.service().sync_file(path, dry_run, actor=ACTOR, personal=personal)
        show_answer(here, answer, lambda: render.synced(here.output, answer), answer.path)
        if answer.conflicts:
            raise SystemExit(REFUSED)


def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="CLAUDE.md, AGENTS.md, .cursorrules, an export, …; - reads stdin.")
    ],
    *,
    form: Annotated[
        str, typer.Option("--format", help="json, claude, agents, gemini, cursor, facts or markdown, when the name does not say.")
    ] = "",
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Read memories from an export, or from rules and memory files of other tools."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import memory as render

        texts = [(path, _text(path)) for path in files]  # all are read before anything is kept
        service = here.service(create=True)
        answers = [(str(path), _imported(service, path, text, form)) for path, text in texts]
        ids = [one for _, answer in answers for one in answer.ids]
        show_answer(
            here, [{"file": name, "answer": answer} for name, answer in answers], lambda: render.imported(here.output, answers), *ids
        )


def _imported(service: Service, path: Path, text: str, form: str) -> ImportAnswer:
    """What came of one file; a refusal names it."""
    try:
        return service.import_memories(text, "" if str(path) == "-" else str(path.resolve()), form, actor=ACTOR)
    except BadInputError as error:
        raise type(error)(f"{path}: {error.message}", **error.facts) from error


def _text(path: Path) -> str:
    from graphmem.project.people import MAX_IMPORT_BYTES

    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(MAX_IMPORT_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_IMPORT_BYTES + 1)  # one more than is allowed: a bomb is noticed without being read
        if len(data) > MAX_IMPORT_BYTES:
            raise BadInputError(f"{path} has more than {MAX_IMPORT_BYTES:,} bytes; import in parts", argument="FILE", path=str(path))
        return data.decode("utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror}; check the path", argument="FILE", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path} is no UTF-8 ({error.reason} at {error.start:,}); save it as UTF-8", argument="FILE", path=str(path)
        ) from error
