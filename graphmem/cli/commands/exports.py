"""`graphmem export` and `report`: write the graph, a view or a report."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.errors import BadInputError
from graphmem.runtime.files.inside import inside
from graphmem.runtime.files.vault import unlock

if TYPE_CHECKING:
    from graphmem.client.connecting import Service


class Format(StrEnum):
    """File formats of the graph and its views."""

    JSONL = "jsonl"
    JSON = "json"
    GRAPHML = "graphml"
    DOT = "dot"
    MERMAID = "mermaid"
    SVG = "svg"


class View(StrEnum):
    """Parts of the project that `graphmem export` can write."""

    GRAPH = "graph"
    MODULES = "modules"
    IMPACT = "impact"


class MemoryFormat(StrEnum):
    """File formats of exported memories."""

    JSON = "json"
    MARKDOWN = "markdown"
    CLAUDE = "claude"


FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="Format; default: jsonl (one object per line) for the graph, svg for a view. The graph cannot be written as mermaid or svg.",
    ),
]
ViewOption = Annotated[
    View | None,
    typer.Option(
        "--view",
        help="What to export. graph: all nodes and edges; modules: the module map; impact: what depends on the targets, by distance.",
    ),
]
Memories = Annotated[
    MemoryFormat | None,
    typer.Option("--memories", help="Write the memories instead of the graph: json (lossless), markdown, or claude (as CLAUDE.md)."),
]
To = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file instead of to standard output.")]


@command()
def export(
    here: CommandContext,
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[TARGET]...", help="Symbols or files whose dependents the view shows.")
    ] = None,
    *,
    format_: FormatOption = None,
    view: ViewOption = None,
    memories: Memories = None,
    personal: Annotated[
        bool, typer.Option("--personal", help="Include personal memories even in a file inside the project, where others can read them.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Write encrypted memories to a file as plain text.")] = False,
    to: To = None,
) -> None:
    """Write the graph, a view of it, or the memories to a file.

    A view is the map of modules or the impact of targets. The formats can be read by other tools.
    """
    what = view or (View.IMPACT if targets else View.MODULES if format_ in (Format.MERMAID, Format.SVG) else View.GRAPH)
    form = format_ or (Format.JSONL if what is View.GRAPH else Format.SVG)
    if memories is not None:
        if targets or view is not None or format_ is not None:
            raise BadInputError(
                "--memories cannot be combined with a target, --view or --format; use --memories alone", argument="--memories"
            )
        _memories(here, memories, to, personal=personal, plain=plain)
    elif what is View.GRAPH:
        if form in (Format.MERMAID, Format.SVG):
            raise BadInputError(
                f"the whole graph is too large for a readable {form} drawing; draw a part of it with --view "
                "modules or --view impact TARGET",
                argument="--format",
                value=form,
            )
        if targets:
            raise BadInputError("a target cannot be combined with --view graph; use --view impact", argument="TARGET")
        lines = _graph(here.service(), form, to)
        here.output.note(f"{lines:,} nodes and edges written")
    else:
        if form is Format.JSONL:
            raise BadInputError(
                "--view cannot be combined with the format jsonl; use svg, mermaid, dot, graphml or json", argument="--format"
            )
        write(to, [here.service().export_view(options.word(what.value), options.word(form.value), targets or None).text.encode()])
        if to is not None:
            here.output.note(f"written to {to}")


@command()
def report(
    here: CommandContext,
    to: To = None,
) -> None:
    """Write one HTML file about the whole project.

    The page shows the architecture of the project and its problems, and works without other files.
    """
    document = here.service().report()
    if to is None and sys.stdout.isatty():
        to = Path(document.name)
    write(to, [document.text.encode()])
    if to is not None:
        here.output.note(f"written to {to}")


def _memories(here: CommandContext, form: MemoryFormat, to: Path | None, *, personal: bool, plain: bool) -> None:
    """Write the memories; a file inside the project gets no personal ones.

    `to` is the file, None for the standard output. With `personal`, personal memories are written in any case. With `plain`, encrypted
    memories are written as plain text.
    """
    root = here.location.root
    shared = to is not None and root is not None and inside(root, to.absolute()) is not None
    text = here.service().export_memories(form.value, personal or not shared)
    vault = unlock(here.location.data_dir, here.settings) if to is not None and not plain else None
    write(to, [(text if vault is None else vault.seal_text(text)).encode()])
    if vault is not None:
        here.output.note(f"{to} is encrypted like the memories; `graphmem import` reads it, --plain writes plain text")
    if shared and not personal:
        here.output.note(f"{to} is inside the project, so personal memories are omitted; --personal includes them")


def _graph(service: Service, form: Format, to: Path | None) -> int:
    from graphmem.reports import exporting

    counted = exporting.Counted(service.export())
    write(to, (piece.encode("utf-8", "surrogatepass") for piece in exporting.WRITERS[form.value](counted)))
    return counted.count


def write(to: Path | None, pieces: Iterable[bytes]) -> None:
    """Write bytes to the file `to`, or to stdout if `to` is None.

    An existing file is replaced atomically.
    """
    if to is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    part = to.with_name(to.name + ".part")
    try:
        with part.open("wb") as file:
            for piece in pieces:
                file.write(piece)
        part.replace(to)
    except OSError as error:
        raise BadInputError(
            f"the export cannot be written to {to}: {error.strerror or error}; choose another file", argument="--output", path=str(to)
        ) from error
    finally:
        part.unlink(missing_ok=True)
