"""`graphmem token`: tokens for other clients of the server.

A token has scopes and visibilities. Tokens are in a file beside the index. Commands change the file with or without a running
server. Tokens cannot be created over the network.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.output import plural

if TYPE_CHECKING:
    from graphmem.security.tokens import StoredToken, TokenFile

app = typer.Typer(name="token", help="Create, list and revoke access tokens of the index's server.", no_args_is_help=True)


@command()
def create(
    here: CommandContext,
    name: Annotated[str, typer.Argument(help="Name of the token in the audit log: letters, digits, dots, underscores and hyphens.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            "-s",
            help="What the token allows: read, remember (store memories), curate (change all memories), index, admin; "
            "write stands for the first four (repeatable).",
        ),
    ] = None,
    visibility: Annotated[
        list[str] | None,
        typer.Option(
            "--visibility",
            "-v",
            help="Visibilities of the memories that the token gives access to: personal, project, team, "
            "organization (repeatable); default: the last three.",
        ),
    ] = None,
    days: Annotated[int | None, typer.Option("--days", help="Number of days until the token expires; default: never.")] = None,
) -> None:
    """Create a token and print it once; only its hash is stored.

    After the first token the server requires a token from all clients. Commands, hooks and editors on this machine need none.
    """
    from graphmem.security.access import SHARED

    tokens = _tokens(here)
    first = not tokens.exists
    made = tokens.create(name, scope or ("read",), visibility or sorted(SHARED), days)
    if here.output.as_json:
        here.output.json({"token": made.token, **_fields_of(made.stored)})
        return
    here.output.line(made.token)
    here.output.note((f"{', '.join(made.stored.scopes)}; sees {', '.join(made.stored.visibilities)} memories", "dim"))
    here.output.note(("it is not shown again; send it as `Authorization: Bearer …`", "dim"))
    if first:
        here.output.note(("the server now requires a token from all clients, including browsers on this machine", "dim"))


@command()
def list_(
    here: CommandContext,
) -> None:
    """List the tokens of this index."""
    found = _tokens(here).all()
    if here.output.as_json:
        here.output.json([_fields_of(one) for one in found])
        return
    if not found:
        here.output.note(("this index has no tokens", "dim"))
    here.output.rows(
        [(one.id, (one.name, "bold"), ",".join(one.scopes), (f"sees {','.join(one.visibilities)}", "dim"), _age(one)) for one in found]
    )


@command()
def revoke(
    here: CommandContext,
    which: Annotated[str, typer.Argument(metavar="NAME|ID", help="Name or id of the token, from `graphmem token list`.")],
) -> None:
    """Revoke a token; the server rejects it from the next request on."""
    tokens = _tokens(here)
    gone = tokens.revoke(which)
    if here.output.as_json:
        here.output.json(_fields_of(gone))
        return
    here.output.line(f"revoked {gone.name} ({gone.id})")
    if not tokens.all():
        here.output.note((f"the server still requires a token; delete {tokens.path} to stop that", "dim"))


def _tokens(here: CommandContext) -> TokenFile:
    """Return the token file of an existing index."""
    from graphmem.client.connecting import expect_index
    from graphmem.security.tokens import FILE, TokenFile

    expect_index(here.location, create=False)
    return TokenFile(here.location.data_dir / FILE)


def _fields_of(one: StoredToken) -> dict[str, object]:
    """Return a token's fields as a mapping, without the token's hash."""
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
    left = -((datetime.now(UTC) - datetime.fromisoformat(one.expires_at)) // timedelta(days=1))  # rounded up
    return ("expired", "red") if one.is_over(datetime.now(UTC)) else (f"{plural(left, 'day')} left", "dim")
