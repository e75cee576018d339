"""Return freed memory to the system after large, short-lived steps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from graphmem.runtime.process.system import c_library, page_bytes

_M_ARENA_MAX: Final = -8  # of malloc.h
ARENAS: Final = 2
SMALL: Final = 512 << 20  # resident bytes
GROWN: Final = 256 << 20  # bytes; open databases take 80 MB each

_resident = 0  # bytes, after memory was last released


def few_arenas() -> None:
    """Limit the C library to two heaps (arenas).

    Servers call this before they start threads. By default the library makes eight heaps for each core. Memory freed in a heap can be
    reused only by that heap's threads. Each reopening of the database starts new threads. Without this limit, a server's memory grew by a
    third of a megabyte with each edit.
    """
    mallopt = getattr(c_library(), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def give_back(*, between: bool = False) -> None:
    """Return memory that this process has freed to the operating system.

    The call takes milliseconds. The allocators are those of Arrow and of the C library, if it has a function for this.

    Args:
        between: whether the next step of the same work will soon need as much memory again. With True, memory is returned only if the
            process is large and has grown since the last call. For a small index, returning the memory each time doubled the time of a run.
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
