"""Giving memory back to the system after the large, short-lived steps: a first load, a whole-graph read."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Return what allocators keep for later. Costs milliseconds; does nothing where the C library cannot."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
