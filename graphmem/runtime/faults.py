"""Errors that nobody foresaw, met in work on one file: the file is left out and named, the run goes on.

Only the code that goes from file to file may call this. The trace is logged at debug. Our own tests set `RAISE`, so that no
error hides behind a diagnostic there.
"""

from __future__ import annotations

import errno
import logging
import os
import traceback
from pathlib import Path
from typing import Final

from graphmem.errors import GraphMemError

CODE: Final = "internal"
"""Of the diagnostic about such a file."""

RAISE: Final = "_GRAPHMEM_RAISE"
"""Environment variable: when it says anything, such errors go on."""

_OF_THE_MACHINE: Final = frozenset({errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EROFS})
_log = logging.getLogger("graphmem.faults")


def fault(error: Exception, stage: str, path: str) -> str:
    """One sentence about an error that one file brought about.

    Raises:
        Exception: the same error, when it concerns more than this file: no memory, no room, a refusal of ours.
    """
    is_general = isinstance(error, (MemoryError, GraphMemError)) or getattr(error, "errno", None) in _OF_THE_MACHINE
    if is_general or os.environ.get(RAISE):
        raise error
    _log.debug("%s failed on %s", stage, path, exc_info=error)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f", {Path(frame.filename).name}:{frame.lineno}" for frame in last)
    text = str(error).partition("\n")[0][:200]
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{stage} failed on it ({said}{where}); this is a fault of graphmem, please report it"
