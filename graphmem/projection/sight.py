"""Which memories whoever asks may see, said once for everything that reads the `memories` projection.

A door that answers somebody who may not see every visibility asks inside `seeing`; `MemoryIndex` then behaves as if the other
memories were not there. It holds for the calling thread alone: threads that work behind an answer, and everything outside of
`seeing`, see all there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_levels: ContextVar[frozenset[str] | None] = ContextVar("graphmem_seen_visibilities", default=None)


@contextmanager
def seeing(visibilities: frozenset[str] | None) -> Iterator[None]:
    """Within the block memories of other visibilities are not there; None for all of them."""
    before = _levels.set(visibilities)
    try:
        yield
    finally:
        _levels.reset(before)


def seen() -> frozenset[str] | None:
    """The visibilities that are seen here; None for all."""
    return _levels.get()
