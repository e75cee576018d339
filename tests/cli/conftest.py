"""Fixtures of this folder: `graphmem` commands over small repositories."""

from commands import environ, graphmem, indexed, process, serve, shop

__all__ = ["environ", "graphmem", "indexed", "process", "serve", "shop"]
