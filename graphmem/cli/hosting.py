"""Implementation of `graphmem serve --projects`, for many projects."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import graphmem
from graphmem.cli.listening import SWITCH_S, address_of, expect_protection, is_loopback, listening, options_of
from graphmem.cli.output import plural
from graphmem.errors import BadInputError
from graphmem.runtime.process.ending import threads_ended
from graphmem.runtime.process.heap import few_arenas
from graphmem.server import owner

if TYPE_CHECKING:
    from graphmem.cli.context import CommandContext
    from graphmem.server.hosting import Hosting
    from graphmem.settings import Settings


@threads_ended()
def serve_projects(here: CommandContext) -> None:
    """Serve all projects of a directory until Ctrl-C or SIGTERM.

    Raises:
        SettingsError: the address needs a token and TLS, or listening on it failed.
        BadInputError: the directory is an index, or another option cannot be combined with `--projects`.
        StoreUnreachableError: the database of the graphs does not answer.
    """
    from graphmem.api.app import Mounted, keys_of
    from graphmem.api.projects.entrance import entrance
    from graphmem.api.projects.hub import HubApp
    from graphmem.api.projects.rights import PeopleRights
    from graphmem.api.requests.context import OnBranch
    from graphmem.api.serve import Tls
    from graphmem.client.remote import RemoteGraphMem
    from graphmem.mcp_server.mount import McpApp
    from graphmem.security.openid import OpenId
    from graphmem.security.people import People
    from graphmem.security.people_file import FILE
    from graphmem.server.hosting import Hosting

    settings = here.settings
    folder = Path(settings.projects).expanduser().absolute()
    loopback = is_loopback(settings.host)
    _expect_usable(settings, loopback=loopback, has_people=(folder / FILE).exists())
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    few_arenas()
    tls = Tls.load(settings.tls_cert, settings.tls_key) if settings.tls_cert or settings.tls_key else None
    hosting = Hosting(folder, settings)
    options = options_of(settings, secrets.token_urlsafe(32), None, loopback=loopback)
    sys.setswitchinterval(SWITCH_S)

    def mcp(service: Any, on_branch: OnBranch) -> Mounted:
        return McpApp(service, on_branch)

    people = People(folder)
    openid = OpenId(settings.oidc_issuer, settings.oidc_client, settings.oidc_secret) if settings.oidc_issuer else None
    app = HubApp(
        hosting, options, PeopleRights(people, keys_of(options)), mcp, RemoteGraphMem, entrance(people, openid, options, settings.site)
    )
    try:
        server = listening(app, settings, tls)
        address = address_of(server)

        def on_ready(host: str, port: int) -> None:
            hosting.peers.join(owner.local_address(host, port), options.own_token)
            _announce(here, hosting, address)

        server.run(on_ready, hosting.peers.leave)
    finally:
        hosting.close()
        people.close()
    here.output.note("stopped")


def _expect_usable(settings: Settings, *, loopback: bool, has_people: bool) -> None:
    """Check that the settings suit a server of several projects.

    `loopback` tells whether only this machine can reach the server, and `has_people` whether people were invited to it.

    Raises:
        BadInputError: an option cannot be combined with `--projects`.
        SettingsError: the address needs protection that the settings lack.
    """
    if settings.follow:
        raise BadInputError("--follow cannot be combined with --projects; remove one of the two", argument="follow")
    expect_protection(settings, loopback=loopback, has_tokens=has_people)
    if settings.store:
        from graphmem.project.team.shared_graph import expect_reachable

        expect_reachable(settings.store)


def _announce(here: CommandContext, hosting: Hosting, address: str) -> None:
    output = here.output
    names = hosting.names()
    if output.as_json:
        output.json({"address": address, "projects": names, "pid": os.getpid()})
        sys.stdout.flush()
        return
    if output.quiet:
        output.line(address)
        sys.stdout.flush()
        return
    output.line()
    output.line((f"graphmem {graphmem.__version__}", "bold"), f" serves {plural(len(names), 'project')} of {hosting.folder}")
    output.line("  Explorer ", (f"{address}/", "bold cyan"))
    output.line("  Push     ", (f"graphmem push {address}/p/NAME", "bold cyan"), ("  in an indexed project", "dim"))
    sys.stdout.flush()
