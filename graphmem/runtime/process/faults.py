"""Report unexpected errors in work on one file, or in a background thread.

A loop over files calls `fault` for an error in one file. The run then skips the file, reports it and continues. The traceback is logged at
the level debug. If the environment variable that `RAISE` names is set, the error is raised instead. The project's tests set this variable.
A background thread calls `unraised` for an error in its work. The thread then continues, and shows the sentence that `unraised` returns.
"""

from __future__ import annotations

import errno
import logging
import os
import traceback
from pathlib import Path
from typing import Final

from graphmem.errors import GraphMemError
from graphmem.runtime.process.limits import disk_refusal, refusal

CODE: Final = "internal"
"""Of the diagnostic about such a file."""

RAISE: Final = "_GRAPHMEM_RAISE"
"""Environment variable: when it says anything, such errors go on."""

_OF_THE_MACHINE: Final = frozenset({errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EROFS})
_log = logging.getLogger("graphmem.faults")


def fault(error: Exception, stage: str, path: str) -> str:
    """Return one sentence about an unexpected error in the work on one file.

    The sentence says where the error happened and asks the user to report it. `stage` names the work, such as "parsing".

    Raises:
        Exception: `error` itself, if it concerns more than this file. Examples are lack of memory or disk space, and an error of graphmem
            with its own message.
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


def unraised(error: Exception, doing: str) -> str:
    """Log an error of a background thread; return one sentence about it.

    Only the sentence of an expected error is logged. An unexpected error is logged with a traceback. The error is not raised.

    Args:
        error: the error that ended the work.
        doing: the work, as the subject of the sentence in the log.
    """
    place = getattr(error, "filename", None) or "the index"
    refused = error if isinstance(error, GraphMemError) else refusal(error, doing, place)
    if refused is None and isinstance(error, OSError):
        refused = disk_refusal(error, doing, place)
    if refused is not None:
        _log.warning("%s stopped: %s", doing, refused.message)
        return refused.message
    _log.error("%s stopped", doing, exc_info=error)
    text = str(error).partition("\n")[0][:200]
    return f"{type(error).__name__}{': ' * bool(text)}{text}; this is a fault of graphmem, please report it"
