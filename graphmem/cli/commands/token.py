"""`graphmem token`: who else may ask the server of this index, for what, and which memories they see.

Tokens are a file beside the index. Whoever has the file makes and revokes them, with or without a server; none is made over the network.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.door import Door
from graphmem.cli.output import plural

if TYPE_CHECKING:
    from graphmem.security.tokens import StoredToken, TokenFile

app = typer.Typer(name="token", help="Tokens with which others ask the server of this index.", no_args_is_help=True)


@command()
def create(
    here: Door,
    name: Annotated[str, typer.Argument(help="What the audit shows: letters, digits, dots, underlines and hyphens.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope", "-s", help="What it may do: read, remember, curate, index, admin; or write for the first four (repeatable)."
        ),
    ] = None,
    visibility: Annotated[
        list[str] | None,
        typer.Option("--visibility", "-v", help="Memories it sees: personal, project, team, organization; by default the last three."),
    ] = None,
    days: Annotated[int | None, typer.Option("--days", help="Good for so many days; by default until it is revoked.")] = None,
) -> None:
    """Make a token and print it, once: only its hash is kept.

    From the first token on the server asks everybody for one; this machine's own commands, hooks and editors go on as before.
    """
    from graphmem.security.access import SHARED

    tokens = _tokens(here)
    first = not tokens.exists
    made = tokens.create(name, scope or ("read",), visibility or sorted(SHARED), days)
    if here.output.as_json:
        here.output.json({"token": made.token, **_shown(made.stored)})
        return
    here.output.line(made.token)
    here.output.note((f"{', '.join(made.stored.scopes)}; sees {', '.join(made.stored.visibilities)} memories", "dim"))
    here.output.note(("it is not shown again; send it as `Authorization: Bearer …`", "dim"))
    if first:
        here.output.note(("from now on the server asks everybody for a token, browsers on this machine too", "dim"))


@command()
def list_(
    here: Door,
) -> None:
    """List the tokens of this index."""
    found = _tokens(here).all()
    if here.output.as_json:
        here.output.json([_shown(one) for one in found])
        return
    if not found:
        here.output.note(("there are no tokens", "dim"))
    here.output.rows(
        [(one.id, (one.name, "bold"), ",".join(one.scopes), (f"sees {','.join(one.visibilities)}", "dim"), _age(one)) for one in found]
    )


@command()
def revoke(
    here: Door,
    which: Annotated[str, typer.Argument(metavar="NAME|ID", help="Of the token.")],
) -> None:
    """Take a token back: it is refused from the next request on."""
    tokens = _tokens(here)
    gone = tokens.revoke(which)
    if here.output.as_json:
        here.output.json(_shown(gone))
        return
    here.output.line(f"revoked {gone.name} ({gone.id})")
    if not tokens.all():
        here.output.note((f"the server goes on asking for a token; delete {tokens.path} if it should not", "dim"))


def _tokens(here: Door) -> TokenFile:
    """Those of the index, which has to be there: a token of nothing opens nothing."""
    from graphmem.client.connecting import expect_index
    from graphmem.security.tokens import FILE, TokenFile

    expect_index(here.location, create=False)
    return TokenFile(here.location.data_dir / FILE)


def _shown(one: StoredToken) -> dict[str, object]:
    """Without its hash."""
    return {
        "id": one.id,
        "name": one.name,
        "scopes": list(one.scopes),
        "visibilities": list(one.visibilities),
        "created_at": one.created_at,
        "expires_at": one.expires_at,
        "expired": one.is_over(datetime.now(UTC)),
    }


def _age(one: StoredToken) -> tuple[str, str]:
    if not one.expires_at:
        return (f"since {one.created_at[:10]}", "dim")
    left = -((datetime.now(UTC) - datetime.fromisoformat(one.expires_at)) // timedelta(days=1))  # a day that has begun counts
    return ("expired", "red") if one.is_over(datetime.now(UTC)) else (f"{plural(left, 'day')} left", "dim")
