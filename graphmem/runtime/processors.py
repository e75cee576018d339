"""The processors that this process may use."""

from __future__ import annotations

import os


def processors() -> int:
    """Return the number of processors this process may use; at least 1.

    Linux knows those a process was restricted to. On other systems it is the number of all processors.
    """
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
