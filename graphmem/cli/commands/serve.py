"""`graphmem serve`: keep the index, answer questions about it, tell everybody where."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphmem.cli import options
from graphmem.cli.door import door


def serve(
    path: Annotated[Path | None, typer.Argument(metavar="[PATH]", help="Root of the repository; default: the project around here.")] = None,
    *,
    host: Annotated[str | None, typer.Option("--host", help="Address to serve on; any other than loopback needs a token, and TLS.")] = None,
    port: Annotated[int | None, typer.Option("--port", "-p", min=0, max=65_535, help="Port to serve on; 0: any free one.")] = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="Certificate (PEM) to serve HTTPS with, and those that vouch for it.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Private key (PEM) of the certificate.")] = None,
    insecure_behind_proxy: Annotated[
        bool, typer.Option("--insecure-behind-proxy", help="Serve on other addresses without TLS: a proxy in front has it.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Read every file again instead of what changed.")] = False,
    no_index: Annotated[bool, typer.Option("--no-index", help="Serve the index as it is.")] = False,
    no_watch: Annotated[bool, typer.Option("--no-watch", help="Leave changes of files to later index runs.")] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=0, max=256, help="Processes that parse; 0: one for each processor.")
    ] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="auto, sentence-transformers, hashed or none.")] = None,
    end_when_idle: Annotated[
        float, typer.Option("--end-when-idle", min=0, help="End after this many seconds without a question; 0: never.")
    ] = 0,
    db: options.Db = None,
    home: options.Home = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Index a repository, serve it over GraphQL, follow its changes and print the address.

    While it runs, every other `graphmem` command about this project is answered by it. Ctrl-C ends it.
    """
    flags = {
        "host": host,
        "port": port,
        "tls_cert": str(tls_cert) if tls_cert is not None else None,
        "tls_key": str(tls_key) if tls_key is not None else None,
        "insecure_behind_proxy": insecure_behind_proxy or None,
        "workers": workers,
        "embedder": embedder,
    }
    with door(as_json=as_json, quiet=quiet, db=db, home=home, project=path, flags=flags) as here:
        from graphmem.cli.serving import serve_until_interrupted

        serve_until_interrupted(here, full=full, no_index=no_index, watch=not no_watch and not no_index, idle_s=end_when_idle)
