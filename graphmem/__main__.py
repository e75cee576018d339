"""`graphmem` and `python -m graphmem`. Hooks go their own short way: an agent waits for them at every step."""

from __future__ import annotations

import signal
import sys


def run() -> None:
    """Entry point of the command. Ctrl-C is answered by one sentence from the first import to the last thread."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.stderr.write("graphmem: interrupted\n")
        raise SystemExit(130) from None
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python waits for threads after this, and would print where it waited


def _run() -> None:
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in (["--help"], ["-h"]):
        from graphmem.hooks.entry import run as hook

        hook(sys.argv[2:])
        return
    from graphmem.cli.main import run as command

    command()


if __name__ == "__main__":
    run()
