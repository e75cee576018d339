"""`graphmem symbol`: show a symbol, or find symbols by name."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.context import CommandContext


@command()
def symbol(
    here: CommandContext,
    refs: Annotated[
        list[str],
        typer.Argument(
            metavar="SYMBOL...",
            help="Symbol to show: path:name, Class.method, module.name, path:line or a bare name; or several words to search for.",
        ),
    ],
    *,
    find: Annotated[
        bool,
        typer.Option(
            "--find",
            help="List all symbols whose name contains this text. Of several words, one must be in the name, and "
            "the others in the name, class or path.",
        ),
    ] = False,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="With --find: only symbols of this kind, such as function or class (repeatable)."),
    ] = None,
    source: Annotated[bool, typer.Option("--source", "-s", help="Also show the source text of the symbol.")] = False,
    top: Annotated[
        int, typer.Option("--top", min=0, help="The maximum number of lines to print of each list, such as callers; 0: all.")
    ] = 20,
) -> None:
    """Show a symbol with its callers, callees, bases and tests.

    If several words are given, the symbols that match all words are listed.
    """
    from graphmem.cli.render import code as render

    ref = " ".join(refs)
    if find or len(refs) > 1:
        found, total = here.service().symbols(ref, kinds=options.word(kinds), limit=top or 1_000, offset=0)
        page = {"total": total, "symbols": found}
        here.output.show(page, lambda: render.symbols(here.output, found, total, ref), *(one.ref for one in found))
        return
    detail = here.service().symbol(ref, source=source)
    here.output.show(detail, lambda: render.symbol(here.output, detail, top), detail.symbol.ref)
