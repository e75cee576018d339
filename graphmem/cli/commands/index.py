"""`graphmem index`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.door import Door
from graphmem.cli.options import Setting

if TYPE_CHECKING:
    from graphmem.answers import IndexState

EVIDENCE_PANEL: Final = "Outside evidence"


@command(takes_root=True)
def index(
    here: Door,
    *,
    full: Annotated[bool, typer.Option("--full", help="Read every file again instead of what changed.")] = False,
    workers: options.Workers = None,
    include_vendored: Annotated[
        bool, typer.Option("--include-vendored", help="Index vendored, generated and minified files too."), Setting()
    ] = False,
    embedder: options.Embedder = None,
    scip: Annotated[
        list[str] | None,
        typer.Option(
            "--scip",
            metavar="FILE|auto",
            help="Take in a SCIP index; auto: run the indexers on PATH and name the missing ones (repeatable).",
            rich_help_panel=EVIDENCE_PANEL,
        ),
    ] = None,
    runtime: Annotated[
        list[Path] | None,
        typer.Option(
            "--runtime",
            metavar="FILE",
            help="Take in a trace of `pytest --graphmem` from elsewhere (repeatable).",
            rich_help_panel=EVIDENCE_PANEL,
        ),
    ] = None,
    coverage: Annotated[
        list[Path] | None,
        typer.Option(
            "--coverage", metavar="FILE", help="Take in coverage.py data that has contexts (repeatable).", rich_help_panel=EVIDENCE_PANEL
        ),
    ] = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="Compute missing vectors too, and wait for them.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List every rule and diagnostic in the summary.")] = False,
) -> None:
    """Read a repository, or what changed in it, into the graph.

    The first run reads everything; later ones only what changed. Ctrl-C leaves the previous index as it was.
    What `pytest --graphmem` recorded beside the index is taken in by itself.
    """
    from graphmem.cli.interrupt import cancelled_by_interrupt
    from graphmem.cli.progress import followed, shown_progress
    from graphmem.client.remote import RemoteGraphMem

    root = here.root_to_index()
    here.expect_files()
    service = here.service(create=True)
    if scip or runtime or coverage:
        from graphmem.project.outside_evidence import leave

        for note in leave(here.location.data_dir, here.location.root, scip or (), runtime or (), coverage or ()):
            here.output.note((note, "dim"))
    here.interrupted = "; the previous index is as it was"
    with cancelled_by_interrupt() as cancelled, shown_progress(here.output) as on_progress:
        run = service.index(root, full=full, on_progress=on_progress, cancelled=cancelled)
    if vectors and not isinstance(service, RemoteGraphMem):  # a server fills them in by itself
        here.interrupted = "; the index is complete, and the vectors that were made are kept"
        with shown_progress(here.output) as on_progress, followed(service.subscribe_progress(), on_progress):
            service.fill_vectors(background=False)
    if here.output.as_json:
        here.output.json(run)
    elif not here.output.quiet:
        from graphmem.cli.render.index import summary

        project = service.project()
        summary(here.output, run, project.name, every=verbose)
        if project.state.vectors < project.state.chunks:
            here.output.note((_missing(project.state), "dim"))
        elif project.state.note:
            here.output.note((project.state.note, "dim"))


def _missing(state: IndexState) -> str:
    """What search has to do without, and how it gets it."""
    advice = state.note or "`graphmem serve` fills them in behind it, `graphmem index --vectors` at once"
    return f"vectors: {state.vectors:,} of {state.chunks:,} chunks; {advice}"
