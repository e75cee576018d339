"""`graphmem index`: index a repository, or its changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.options import Setting

if TYPE_CHECKING:
    from graphmem.answers import IndexState, IndexSummary
    from graphmem.client.connecting import Service

EVIDENCE_PANEL: Final = "Outside evidence"

IncludeVendored = Annotated[bool, typer.Option("--include-vendored", help="Also index vendored, generated and minified files."), Setting()]
Scip = Annotated[
    list[str] | None,
    typer.Option(
        "--scip",
        metavar="FILE|auto",
        help="Import a SCIP index (links found by a compiler) from FILE; auto: run the installed SCIP "
        "indexers and list missing ones (repeatable).",
        rich_help_panel=EVIDENCE_PANEL,
    ),
]
Runtime = Annotated[
    list[Path] | None,
    typer.Option(
        "--runtime",
        metavar="FILE",
        help="Import FILE, in which `pytest --graphmem-trace FILE` recorded which tests run which functions (repeatable).",
        rich_help_panel=EVIDENCE_PANEL,
    ),
]
Coverage = Annotated[
    list[Path] | None,
    typer.Option(
        "--coverage",
        metavar="PATH",
        help="Import coverage.py data that was recorded with one context per test, or reports of single tests: LCOV, Go, JaCoCo, V8 "
        "(repeatable).",
        rich_help_panel=EVIDENCE_PANEL,
    ),
]
Vectors = Annotated[
    bool, typer.Option("--vectors", help="Also compute missing vectors for semantic search, and wait until all are computed.")
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Print more: the rules that linked names to definitions, the seconds of each stage, and every problem with a file.",
    ),
]


@command(takes_root=True)
def index(
    here: CommandContext,
    *,
    full: options.Full = False,
    workers: options.Workers = None,
    include_vendored: IncludeVendored = False,
    embedder: options.Embedder = None,
    store: options.Store = None,
    scip: Scip = None,
    runtime: Runtime = None,
    coverage: Coverage = None,
    vectors: Vectors = False,
    verbose: Verbose = False,
) -> None:
    """Index a repository, or its changes.

    The first run reads all files; later runs read only changed ones. After Ctrl-C the previous index is unchanged.
    Traces that `pytest --graphmem` recorded beside the index are imported automatically.
    """
    from graphmem.cli.interrupt import cancelled_by_interrupt
    from graphmem.cli.progress import followed, shown_progress
    from graphmem.client.remote import RemoteGraphMem

    here.expect_files()
    service = here.service(create=True)
    root = here.root_to_index(service)
    if scip or runtime or coverage:
        from graphmem.project.graph.outside_evidence import leave

        for note in leave(here.location.data_dir, here.location.root, scip or (), runtime or (), coverage or ()):
            here.output.note((note, "dim"))
    here.interrupted = "; the previous index is unchanged"
    with cancelled_by_interrupt() as cancelled, shown_progress(here.output) as on_progress:
        run = service.index(root, full=full, on_progress=on_progress, cancelled=cancelled)
    if vectors and not isinstance(service, RemoteGraphMem):  # a server computes them in the background
        here.interrupted = "; the index is complete, and finished vectors are kept"
        with shown_progress(here.output) as on_progress, followed(service.subscribe_progress(), on_progress):
            service.fill_vectors(background=False)
    if here.output.as_json:
        here.output.json(run)
    elif not here.output.quiet:
        _show(here, service, run, verbose)


def _show(here: CommandContext, service: Service, run: IndexSummary, verbose: bool) -> None:
    """Print the summary of a run, and after the first one the next steps."""
    from graphmem.cli.render.index import next_steps, summary

    project = service.project()
    summary(here.output, run, project.name, every=verbose)
    if project.state.vectors < project.state.chunks:
        here.output.note((_missing(project.state), "dim"))
    elif project.state.note:
        here.output.note((project.state.note, "dim"))
    if run.mode == "full" and run.generation == 1 and run.files:
        central = service.central_symbols(limit=1).symbols
        next_steps(here.output, central[0].symbol.ref if central else "", here.option_to_find())


def _missing(state: IndexState) -> str:
    """Return a sentence on missing search vectors and how to compute them."""
    advice = state.note or "`graphmem serve` computes them in the background, `graphmem index --vectors` at once"
    return f"vectors: {state.vectors:,} of {state.chunks:,} chunks; {advice}"
