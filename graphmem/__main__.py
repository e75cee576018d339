"""`graphmem` and `python -m graphmem`. Hooks go their own short way: an agent waits for them at every step."""

from __future__ import annotations

import sys


def run() -> None:
    """Entry point of the command."""
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in (["--help"], ["-h"]):
        from graphmem.hooks.entry import run as hook

        hook(sys.argv[2:])
        return
    from graphmem.cli.main import run as command

    command()


if __name__ == "__main__":
    run()
