"""Return freed memory to the system after large, short-lived steps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from graphmem.runtime.system import c_library, page_bytes

_M_ARENA_MAX: Final = -8  # of malloc.h
ARENAS: Final = 2
SMALL: Final = 512 << 20  # resident bytes
GROWN: Final = 256 << 20  # bytes; open databases take 80 MB each

_resident = 0  # bytes, after memory was last released


def few_arenas() -> None:
    """Limit the C library to two heaps; for servers, before threads start.

    By default the library makes eight heaps for each core, and memory freed in a heap can be reused only by that heap's threads. Each
    reopening of the database starts new threads, so without this limit a server's memory grew by a third of a megabyte with each edit.
    """
    mallopt = getattr(c_library(), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def give_back(*, between: bool = False) -> None:
    """Return freed memory from this process's allocators to the system.

    The call takes milliseconds. Memory of an allocator without a function for this stays in the process.

    Args:
        between: whether the call is between two steps of the same work, which take the same memory again. If so, nothing is returned by a
            process that is small or has hardly grown since the last call. A return doubled the time for a small index.
    """
    global _resident
    if between and 0 < resident_bytes() < max(SMALL, _resident + GROWN):
        return
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)
    _resident = resident_bytes()


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes; 0 if not reported."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * page_bytes()
    except (OSError, ValueError, IndexError):
        return 0
