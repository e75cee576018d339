"""The error that ends an index run which its caller interrupted."""

from __future__ import annotations

from graphmem.errors import IndexCancelledError


def interrupted() -> IndexCancelledError:
    """Return the error of an index run whose caller interrupted it."""
    return IndexCancelledError("indexing was interrupted, and the index is unchanged; repeat the command to continue", stage="interrupted")
