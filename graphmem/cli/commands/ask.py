"""`graphmem search`, `ask`, `symbol` and `path`: questions about what is there."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli import options
from graphmem.cli.door import door


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY...", help="Names, words, or a question.")],
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=200, help="How many hits.")] = 10,
    files: Annotated[
        list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="A file you work on: lifts what is near it (repeatable).")
    ] = None,
    within: Annotated[
        list[str] | None, typer.Option("--within", metavar="PATH", help="Only in this file or below this directory (repeatable).")
    ] = None,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="Only code, prose, data or memory (repeatable).")
    ] = None,
    types: options.Types = None,
    phase: options.Phase = "",
    retired: options.Retired = False,
    as_of: options.AsOf = None,
    budget: options.Budget = None,
    explain: Annotated[bool, typer.Option("--explain/--no-explain", help="Show what each path said of a hit.")] = True,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find code, prose and memories by words, by meaning and by name."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        answer = here.service(whole=True).search(
            " ".join(query),
            limit=k,
            files=files,
            within=within,
            kinds=options.word(kinds),
            types=types,
            phase=phase,
            retired=retired,
            as_of=as_of,
            explain=explain,
            budget_tokens=budget,
        )
        from graphmem.cli.render import search as render

        if as_json:
            here.output.json(answer)
        elif budget is not None:
            render.packed(here.output, answer, quiet=quiet)
        elif quiet:
            for hit in answer.hits:
                here.output.line(f"#{hit.memory.short_id}" if hit.memory is not None else f"{hit.path}:{hit.start_line}")
        else:
            render.search(here.output, answer, explain)


def ask(
    question: Annotated[list[str], typer.Argument(metavar="QUESTION...", help="In a person's words.")],
    *,
    k: Annotated[int, typer.Option("--k", "-k", min=1, max=50, help="How many pieces of evidence.")] = 8,
    files: Annotated[
        list[str] | None, typer.Option("--file", "-f", metavar="PATH", help="A file you work on: lifts what is near it (repeatable).")
    ] = None,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Answer a question from what is found, each sentence with the evidence it stands on. Without a language model: the evidence."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        answer = here.service(whole=True).ask(" ".join(question), limit=k, files=files)
        if as_json:
            here.output.json(answer)
        elif quiet:
            for sentence in answer.sentences:
                here.output.text(sentence.text)
        else:
            from graphmem.cli.render.search import reply as show

            show(here.output, answer)


def symbol(
    refs: Annotated[
        list[str],
        typer.Argument(metavar="SYMBOL...", help="path:name, Class.method, module.name, path:line, a bare name; or several words."),
    ],
    *,
    find: Annotated[
        bool,
        typer.Option(
            "--find",
            help="List every symbol whose name has this in it, instead of showing one; several words are found in name, class and path.",
        ),
    ] = False,
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", metavar="KIND", help="With --find: only functions, classes, … (repeatable).")
    ] = None,
    source: Annotated[bool, typer.Option("--source", "-s", help="Show its text too.")] = False,
    top: Annotated[int, typer.Option("--top", min=0, help="Show this many lines of each list; 0: all.")] = 20,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a symbol with its callers, callees, bases, subclasses and tests; several words list the symbols that have them all."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        from graphmem.cli.render import symbol as render

        ref = " ".join(refs)
        if find or len(refs) > 1:
            found, total = here.service().symbols(ref, kinds=options.word(kinds), limit=top or 1_000, offset=0)
            if as_json:
                here.output.json({"total": total, "symbols": found})
            elif quiet:
                for one in found:
                    here.output.line(one.ref)
            else:
                render.symbols(here.output, found, total, ref)
            return
        detail = here.service().symbol(ref, source=source)
        if as_json:
            here.output.json(detail)
        elif quiet:
            here.output.line(detail.symbol.ref)
        else:
            render.symbol(here.output, detail, top)


def path(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The one that depends.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The one depended on.")],
    *,
    max_depth: Annotated[int, typer.Option("--max-depth", "-d", min=1, max=30, help="Follow at most this many steps.")] = 10,
    min_confidence: Annotated[float, typer.Option("--min-confidence", "-c", min=0.0, max=1.0, help="Of the whole path.")] = 0.05,
    kinds: options.EdgeKinds = None,
    project: options.Project = None,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the most confident chain by which one symbol depends on another; exit code 1 when there is none."""
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=project) as here:
        answer = here.service().path(source, target, max_depth=max_depth, min_confidence=min_confidence, kinds=options.word(kinds))
        if as_json:
            here.output.json(answer)
        elif quiet:
            for one in [answer.source, *(step.dst for step in answer.steps)] if answer.steps else []:
                here.output.line(one.ref)
        else:
            from graphmem.cli.render.symbol import path as show

            show(here.output, answer)
        if not answer.steps:
            raise SystemExit(1)
