"""Addresses of a server: listening on them, and their protection."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from graphmem.errors import SettingsError
from graphmem.server import owner
from graphmem.settings import DEFAULT_ORIGIN, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.api.app import ServerOptions
    from graphmem.api.serve import ServedApp, Server, Tls


SWITCH_S = 0.0005  # between checks whether another thread waits to run


def listening(app: ServedApp, settings: Settings, tls: Tls | None) -> Server:
    """Return a server that listens, on another port if the default is in use.

    The default port is usually in use by the server of another project.
    """
    from graphmem.api.serve import Server

    try:
        return Server(app, settings.host, settings.port, tls)
    except SettingsError:
        if settings.origin("port") != DEFAULT_ORIGIN:
            raise
        return Server(app, settings.host, 0, tls)


def address_of(server: Server) -> str:
    """Return the URL at which this machine reaches a server."""
    address = owner.local_address(server.host, server.port)
    return address.replace("http:", "https:", 1) if server.is_tls else address


def options_of(settings: Settings, own_token: str, tokens: Path | None, *, loopback: bool) -> ServerOptions:
    """Return a server's options for access and limits, from the settings.

    Args:
        settings: settings of the project.
        own_token: secret for other processes of the same user.
        tokens: path of the file of named tokens; None without one.
        loopback: whether only this machine can reach the server. Otherwise every request needs a token.
    """
    from graphmem.api.app import ServerOptions
    from graphmem.api.requests.limits import ServerLimits

    limits = settings.limits
    return ServerOptions(
        token=settings.token,
        own_token=own_token,
        tokens=tokens,
        token_required=not loopback,
        allowed_hosts=tuple(filter(None, map(str.strip, settings.hosts.split(",")))),
        allowed_origins=tuple(filter(None, map(str.strip, settings.sites.split(",")))),
        limits=ServerLimits(
            depth=limits.depth,
            complexity=limits.complexity,
            aliases=limits.aliases,
            tokens=limits.tokens,
            body_bytes=limits.body_kb * 1024,
            seconds=float(limits.seconds),
            per_minute=limits.per_minute,
            connections=limits.connections,
            connections_per_address=limits.connections_per_address,
            header_bytes=limits.header_kb * 1024,
            header_seconds=float(limits.header_seconds),
            body_seconds=float(limits.body_seconds),
            write_seconds=float(limits.write_seconds),
            idle_seconds=limits.idle_seconds,
        ),
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def expect_protection(settings: Settings, *, loopback: bool, has_tokens: bool) -> None:
    """Check that a server has tokens and TLS if other machines can reach it.

    `loopback` tells whether only this machine can reach it, and `has_tokens` whether named tokens exist.

    Raises:
        SettingsError: the token or the certificate is missing.
    """
    if loopback:
        return
    if not settings.token and not has_tokens:
        raise SettingsError(
            f"{settings.host} is reachable from other machines, and the server has no token, so others could read the code; create "
            "a token for each client with `graphmem token create`, or set GRAPHMEM_TOKEN to one token for all clients",
            setting="token",
            value="",
            origin=settings.origin("host"),
        )
    if not settings.tls_cert and not settings.insecure_behind_proxy:
        raise SettingsError(
            f"{settings.host} is reachable from other machines, and tokens and code would be sent unencrypted; give a certificate "
            "with --tls-cert and --tls-key, or use --insecure-behind-proxy when a proxy in front of the server provides TLS",
            setting="tls_cert",
            value="",
            origin=settings.origin("host"),
        )
