"""Wait for a server's threads before its process ends.

While the interpreter shuts down, a daemon thread inside native code can abort the process. Native code is, for example, that of the
database, the model or Arrow.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

PREFIX: Final = "graphmem-"  # of the names of all threads of graphmem
WAIT_S: Final = 10.0
_log = logging.getLogger(__name__)


@contextmanager
def threads_ended(wait_s: float = WAIT_S) -> Iterator[None]:
    """Wait, after a `with` block, for the daemon threads started inside it.

    Only graphmem's threads count. If some are still running after `wait_s` seconds, the log names them, and the process ends at once with
    exit code 0. The interpreter then skips its shutdown. If the block raises an error, the function does not wait.
    """
    before = frozenset(threading.enumerate())
    yield
    if left := running(before, wait_s):
        _log.warning("%s did not end within %g s; the process ends without them", ", ".join(left), wait_s)
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def running(before: Collection[threading.Thread], wait_s: float) -> list[str]:
    """Wait for graphmem's daemon threads; return names of those still running.

    Args:
        before: threads for which the function does not wait.
        wait_s: maximum number of seconds to wait for all the threads together.
    """
    until = time.monotonic() + wait_s
    here = threading.current_thread()
    found = [one for one in threading.enumerate() if one.daemon and one.name.startswith(PREFIX) and one is not here and one not in before]
    for one in found:
        one.join(max(0.0, until - time.monotonic()))
    return sorted(one.name for one in found if one.is_alive())
