"""Fixtures of this folder: `graphmem` commands over small repositories."""

from commands import environ, forks, graphmem, indexed, process, serve, shop

__all__ = ["environ", "forks", "graphmem", "indexed", "process", "serve", "shop"]
