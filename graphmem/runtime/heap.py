"""Return memory to the system after large, short-lived steps."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_M_ARENA_MAX: Final = -8  # of malloc.h
ARENAS: Final = 2


def few_arenas() -> None:
    """Limit the C library to two heaps; for servers, before threads start.

    By default it makes eight heaps for each core, and memory freed in one serves only that heap's threads. Each reopening of the database
    starts new threads, so a server's memory grew by a third of a megabyte with each edit.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Release memory that allocators hold. Takes milliseconds.

    No effect where the C library lacks the function.
    """
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
