"""The error that ends an index run which its caller interrupted."""

from __future__ import annotations

from graphmem.errors import IndexCancelledError


def interrupted() -> IndexCancelledError:
    """Return the error to raise when `cancelled` of an index run returned True."""
    return IndexCancelledError("indexing was interrupted, and the index is unchanged; repeat the command to continue", stage="interrupted")
