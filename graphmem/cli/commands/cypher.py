"""`graphmem cypher`: run a Cypher query."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.errors import BadInputError


@command()
def cypher(
    here: CommandContext,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A query, MATCH … RETURN …, or `-` to read standard input.")],
    *,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="Value of the query parameter NAME, as JSON; a value that is not JSON is taken as a string (repeatable).",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help="The maximum number of printed rows.")] = None,
) -> None:
    """Run a read-only Cypher query on the graph.

    The number of rows and the time are limited. The command works only with GRAPHMEM_CYPHER=true.

    docs/cypher.md lists the supported clauses, functions and tables. Try: MATCH (s:Symbol) RETURN s.kind, count(*)
    """
    text = sys.stdin.read() if query == "-" else query
    answer = here.service().cypher(text, dict(map(_pair, param or ())), limit)
    if here.output.as_json:
        here.output.json(answer)
        return
    shown = [[_cell(value) for value in row] for row in answer.rows]
    if here.output.quiet:
        for row in shown:
            here.output.line("\t".join(row))
        return
    here.output.rows([[(name, "bold") for name in answer.columns], *shown], indent=0)
    more = "; there are more, raise --limit" if answer.cut else ""
    here.output.note((f"{len(answer.rows):,} rows in {answer.seconds:.3f} s{more}", "dim"))


def _pair(given: str) -> tuple[str, object]:
    name, sign, value = given.partition("=")
    if not sign or not name:
        raise BadInputError(f"invalid query parameter {given[:60]!r}; write NAME=VALUE", argument="param", value=given[:60])
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _cell(value: object) -> str:
    """Return a value of a query's result as one line of text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") if isinstance(value, str) else text
