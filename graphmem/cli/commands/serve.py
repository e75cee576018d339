"""`graphmem serve`: own an index, answer queries and follow changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphmem.cli import options
from graphmem.cli.command import command
from graphmem.cli.context import CommandContext
from graphmem.cli.options import Setting

Host = Annotated[
    str | None,
    typer.Option("--host", help="Address to listen on; addresses other than loopback (127.0.0.1) need a token and TLS."),
    Setting(),
]
Port = Annotated[
    int | None, typer.Option("--port", "-p", min=0, max=65_535, help="TCP port to listen on; 0: choose any free port."), Setting()
]
TlsCert = Annotated[
    Path | None,
    typer.Option("--tls-cert", metavar="FILE", help="File with the TLS certificate and its chain (PEM), for HTTPS."),
    Setting(),
]
TlsKey = Annotated[
    Path | None, typer.Option("--tls-key", metavar="FILE", help="File with the private key of the certificate (PEM)."), Setting()
]
BehindProxy = Annotated[
    bool,
    typer.Option(
        "--insecure-behind-proxy",
        help="Allow other addresses than localhost without TLS; a proxy in front of the server must provide TLS.",
    ),
    Setting(),
]
NoIndex = Annotated[bool, typer.Option("--no-index", help="Serve the index as it is, without updating it first.")]
NoWatch = Annotated[bool, typer.Option("--no-watch", help="Do not update the index when files change.")]
Follow = Annotated[
    bool, typer.Option("--follow", help="Only answer queries about the graph in --store, which another server writes."), Setting()
]
Projects = Annotated[
    Path | None,
    typer.Option(
        "--projects", metavar="DIR", help="Serve several projects, whose indexes are in this directory; `graphmem push` sends them."
    ),
    Setting(),
]
EndWhenIdle = Annotated[
    float, typer.Option("--end-when-idle", min=0, help="End the server after this many seconds without a request; 0: never.")
]


@command(takes_root=True)
def serve(
    here: CommandContext,
    *,
    host: Host = None,
    port: Port = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure_behind_proxy: BehindProxy = False,
    full: options.Full = False,
    no_index: NoIndex = False,
    no_watch: NoWatch = False,
    workers: options.Workers = None,
    embedder: options.Embedder = None,
    store: options.Store = None,
    follow: Follow = False,
    projects: Projects = None,
    end_when_idle: EndWhenIdle = 0,
) -> None:
    """Index a repository, serve the index, and follow changes.

    The command prints the address of the server's GraphQL API.

    With `--projects` the server answers for many projects. It does not index them, because `graphmem push` sends their indexes.

    While the server runs, all other `graphmem` commands for this project use it. Ctrl-C ends the server.
    """
    if here.settings.projects:
        from graphmem.cli.hosting import serve_projects

        serve_projects(here)
        return
    from graphmem.cli.serving import ServedIndex, serve_until_interrupted

    no_index = no_index or here.settings.follow
    serve_until_interrupted(here, ServedIndex(full, no_index, watch=not no_watch and not no_index, idle_s=end_when_idle))
