"""`graphmem` and `python -m graphmem`. Hooks go their own short way: an agent waits for them at every step."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Final

YOUNG: Final = 100_000
"""New objects between two runs of the cyclic collector. At its 700, a fifth of what a command costs to start goes into
looking at modules and classes again and again, none of which is garbage."""


def run() -> None:
    """Entry point of the command. Ctrl-C is answered by one sentence from the first import to the last thread."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    # A process of ours multiplies one vector with a matrix at most; the threads numpy would start for that are a third of its loading.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _run()
    except KeyboardInterrupt:
        sys.stderr.write("graphmem: interrupted\n")
        raise SystemExit(130) from None
    finally:
        gc.freeze()  # what is left goes with the process: looking through it once more for cycles takes a seventh of a short command
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
