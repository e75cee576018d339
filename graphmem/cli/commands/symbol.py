"""`graphmem symbol`: show a symbol, or find symbols by name."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.door import Door


@command()
def symbol(
    here: Door,
    refs: Annotated[
        list[str],
        typer.Argument(metavar="SYMBOL...", help="path:name, Class.method, module.name, path:line, a bare name; or several words."),
    ],
    *,
    find: Annotated[
        bool,
        typer.Option(
            "--find",
            help="List all symbols whose name contains this. Each of several words may match the name, class or path.",
        ),
    ] = False,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="With --find: only functions, classes, … (repeatable).")
    ] = None,
    source: Annotated[bool, typer.Option("--source", "-s", help="Also show its source.")] = False,
    top: Annotated[int, typer.Option("--top", min=0, help="The maximum number of lines of each list; 0: all.")] = 20,
) -> None:
    """Show a symbol with its callers, callees, bases and tests.

    Several words list the symbols that match all of them.
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
