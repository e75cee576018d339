"""Restrict which memories the current caller can see.

All readers of the `memories` projection use this mechanism.

An interface that answers a restricted caller runs its queries inside `with seeing(...)`. `MemoryIndex` then behaves as if the other
memories did not exist. The restriction applies only to the calling thread. Worker threads started for the answer, and all code outside
`seeing`, see all memories.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_levels: ContextVar[frozenset[str] | None] = ContextVar("graphmem_seen_visibilities", default=None)


@contextmanager
def seeing(visibilities: frozenset[str] | None) -> Iterator[None]:
    """Show only memories of given visibilities inside the `with` block.

    With None, all memories are shown.
    """
    before = _levels.set(visibilities)
    try:
        yield
    finally:
        _levels.reset(before)


def seen() -> frozenset[str] | None:
    """Return the visibilities of memories that the calling code may see.

    None stands for all.
    """
    return _levels.get()
