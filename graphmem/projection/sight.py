"""Visibility of memories for the current caller.

One mechanism for all readers of the `memories` projection.

An interface that answers a caller with limited visibility asks inside `seeing`. `MemoryIndex` then behaves as if the other memories did not
exist. It applies to the calling thread alone. Threads behind an answer, and everything outside `seeing`, see all memories.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_levels: ContextVar[frozenset[str] | None] = ContextVar("graphmem_seen_visibilities", default=None)


@contextmanager
def seeing(visibilities: frozenset[str] | None) -> Iterator[None]:
    """Hide memories of other visibilities in the block; None hides nothing."""
    before = _levels.set(visibilities)
    try:
        yield
    finally:
        _levels.reset(before)


def seen() -> frozenset[str] | None:
    """Return the visibilities that are seen here; None for all."""
    return _levels.get()
