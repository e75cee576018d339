"""Error for an index run that its caller interrupted."""

from __future__ import annotations

from graphmem.errors import IndexCancelledError


def interrupted() -> IndexCancelledError:
    """Return the error for an index run that its caller interrupted."""
    return IndexCancelledError("indexing was interrupted, and the index is unchanged; repeat the command to continue", stage="interrupted")
