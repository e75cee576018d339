"""The processors that this process may use."""

from __future__ import annotations

import os


def processors() -> int:
    """Return the number of processors this process may use; at least 1.

    On Linux, these are the processors that the system allows this process. On other systems, they are all processors of the machine.
    """
    usable = getattr(os, "sched_getaffinity", None)
    return max(1, (len(usable(0)) if usable is not None else os.cpu_count()) or 1)
