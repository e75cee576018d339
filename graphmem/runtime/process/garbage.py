"""Pause Python's cyclic garbage collector while modules are loaded."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the cyclic garbage collector; exempt all objects at the end.

    Loaded modules and open stores are never garbage, and each collection would scan them. The exemption covers every object that exists at
    the end, older ones too. A cycle that is garbage by then is never freed. A collector that is already paused stays paused.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_running:
            gc.enable()
