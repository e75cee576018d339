"""`graphmem export` and `graphmem report`: the graph, a view of it, or all that was found, as a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.door import Door
from graphmem.errors import BadInputError
from graphmem.runtime.inside import inside

if TYPE_CHECKING:
    from graphmem.client.connecting import Service


class Format(StrEnum):
    """What can be written."""

    JSONL = "jsonl"
    JSON = "json"
    GRAPHML = "graphml"
    DOT = "dot"
    MERMAID = "mermaid"
    SVG = "svg"


class View(StrEnum):
    """Of what."""

    GRAPH = "graph"
    MODULES = "modules"
    IMPACT = "impact"


class MemoryFormat(StrEnum):
    """How memories are written."""

    JSON = "json"
    MARKDOWN = "markdown"
    CLAUDE = "claude"


To = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to standard output.")]


@command()
def export(
    here: Door,
    targets: Annotated[list[str] | None, typer.Argument(metavar="[TARGET]...", help="Of which the impact is drawn.")] = None,
    *,
    format_: Annotated[
        Format | None,
        typer.Option("--format", help="Default: jsonl (one object a line) for the graph, svg for a view. mermaid and svg are for views."),
    ] = None,
    view: Annotated[
        View | None, typer.Option("--view", help="graph: every node and edge; modules: the map; impact: of the targets, in three zones.")
    ] = None,
    memories: Annotated[
        MemoryFormat | None,
        typer.Option("--memories", help="The memories instead of the graph: json (lossless), markdown, or claude (as CLAUDE.md)."),
    ] = None,
    personal: Annotated[
        bool, typer.Option("--personal", help="With personal memories, though the file lies in the project, where others read it.")
    ] = False,
    to: To = None,
) -> None:
    """Write the graph, a view of it, or the memories to a file.

    A view is the map of modules or the impact of something. Other tools read these files.
    """
    what = view or (View.IMPACT if targets else View.MODULES if format_ in (Format.MERMAID, Format.SVG) else View.GRAPH)
    form = format_ or (Format.JSONL if what is View.GRAPH else Format.SVG)
    if memories is not None:
        if targets or view is not None or format_ is not None:
            raise BadInputError("--memories goes with no target, --view or --format; it has formats of its own", argument="--memories")
        root = here.location.root
        shared = to is not None and root is not None and inside(root, to.absolute()) is not None
        _write(to, [here.service().export_memories(memories.value, personal or not shared).encode()])
        if shared and not personal:
            here.output.note(f"{to} lies in the project, so personal memories are not in it; --personal writes them too")
    elif what is View.GRAPH:
        if form in (Format.MERMAID, Format.SVG):
            raise BadInputError(
                f"a whole graph as {form} cannot be read; give --view modules or --view impact TARGET", argument="--format", value=form
            )
        if targets:
            raise BadInputError("the graph is of everything; name targets with --view impact", argument="TARGET")
        lines = _graph(here.service(), form, to)
        here.output.note(f"{lines:,} nodes and edges written")
    else:
        if form is Format.JSONL:
            raise BadInputError("jsonl is for the graph; a view can be svg, mermaid, dot, graphml or json", argument="--format")
        _write(to, [here.service().export_view(options.word(what.value), options.word(form.value), targets or None).text.encode()])
        if to is not None:
            here.output.note(f"written to {to}")


@command()
def report(
    here: Door,
    to: To = None,
) -> None:
    """Write one HTML file about the whole project.

    It says what the project is made of and where it hurts, and needs nothing else to be read.
    """
    document = here.service().report()
    if to is None and sys.stdout.isatty():
        to = Path(document.name)
    _write(to, [document.text.encode()])
    if to is not None:
        here.output.note(f"written to {to}")


def _graph(service: Service, form: Format, to: Path | None) -> int:
    from graphmem.reports import exporting

    counted = exporting.Counted(service.export())
    _write(to, (piece.encode("utf-8", "surrogatepass") for piece in exporting.WRITERS[form.value](counted)))
    return counted.count


def _write(to: Path | None, pieces: Iterable[bytes]) -> None:
    """To a file that is there in full or not at all, or to standard output."""
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
            f"cannot write {to}: {error.strerror or error}; name another file", argument="--output", path=str(to)
        ) from error
    finally:
        part.unlink(missing_ok=True)
