"""`graphmem import`: read memories from exports and files of other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.derived import ACTOR
from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from graphmem.answers import ImportAnswer
    from graphmem.client.connecting import Service


@command()
def import_(
    here: CommandContext,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="File to import: CLAUDE.md, AGENTS.md, .cursorrules, an export, …; - reads standard input."),
    ],
    *,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="Format of the file: json, claude, agents, gemini, cursor, facts or markdown; default: detected "
            "from its name and content.",
        ),
    ] = "",
) -> None:
    """Import memories from exports and from files of other tools."""
    from graphmem.cli.render import memory as render

    texts = [(path, _text(path)) for path in files]  # all files are read before any memory is stored
    service = here.service(create=True)
    answers = [(str(path), _imported(service, path, text, form)) for path, text in texts]
    ids = [one for _, answer in answers for one in answer.ids]
    here.output.show([{"file": name, "answer": answer} for name, answer in answers], lambda: render.imported(here.output, answers), *ids)


def _imported(service: Service, path: Path, text: str, form: str) -> ImportAnswer:
    """Import memories from one file; an error names the file."""
    try:
        return service.import_memories(text, "" if str(path) == "-" else str(path.resolve()), form, actor=ACTOR)
    except BadInputError as error:
        raise type(error)(f"{path}: {error.message}", **error.facts) from error


def _text(path: Path) -> str:
    from graphmem.project.memories.people import MAX_IMPORT_BYTES

    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(MAX_IMPORT_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_IMPORT_BYTES + 1)  # one byte more than the limit, so that a huge file is not read in full
        if len(data) > MAX_IMPORT_BYTES:
            raise BadInputError(
                f"{path} has more than {MAX_IMPORT_BYTES:,} bytes; split the file and import the parts", argument="FILE", path=str(path)
            )
        return data.decode("utf-8-sig")
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be read: {error.strerror}; check the path and permissions of the file", argument="FILE", path=str(path)
        ) from error
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path} is not UTF-8 ({error.reason} at byte {error.start:,}); save the file as UTF-8", argument="FILE", path=str(path)
        ) from error
