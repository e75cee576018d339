"""Entry point of `graphmem` and `python -m graphmem`.

`graphmem hook` loads only the few modules that it needs, because an agent waits for it at every step.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Final

YOUNG: Final = 100_000
"""New objects between two runs of the cyclic garbage collector. With the default of 700 a fifth of the start of a command is
spent on scanning modules and classes, which are never garbage."""


def run() -> None:
    """Run the command that the arguments of the process name.

    Ctrl-C at any moment prints one sentence instead of a traceback.
    """
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    # A command multiplies at most one vector with a matrix. Starting numpy's threads for that takes a third of its loading time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _run()
    except KeyboardInterrupt:
        sys.stderr.write("graphmem: interrupted\n")
        raise SystemExit(130) from None
    finally:
        gc.freeze()  # skip the last garbage collection, which takes a seventh of a short command
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python then waits for threads, and would print a traceback


def _run() -> None:
    if sys.argv[1:2] == ["hook"] and sys.argv[2:3] not in (["--help"], ["-h"]):
        from graphmem.hooks.entry import run as hook

        hook(sys.argv[2:])
        return
    from graphmem.cli.main import run as command

    command()


if __name__ == "__main__":
    run()
