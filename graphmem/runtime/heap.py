"""Giving memory back to the system after the large, short-lived steps: a first load, a whole-graph read."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_M_ARENA_MAX: Final = -8  # of malloc.h
ARENAS: Final = 2


def few_arenas() -> None:
    """Let all threads share two of the C library's heaps; for a process that lives for long, before it has threads.

    By default it makes eight a core. What a thread frees in one of them is used again by the threads of that one only, and every time the
    database is opened again its threads are others: a server's memory grew by a third of a megabyte an edit.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Return what allocators keep for later. Costs milliseconds; does nothing where the C library cannot."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
