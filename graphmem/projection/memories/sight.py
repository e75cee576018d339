"""Hide memories from callers who may not see them.

An interface that answers a restricted caller runs its queries inside `with seeing(...)`. The index of memories then behaves as if the other
memories did not exist. The restriction applies only to the calling thread. Worker threads started for the answer, and all code outside
`seeing`, see all memories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final, NamedTuple

NONE: Final[Mapping[str, frozenset[str]]] = MappingProxyType({})


class Seen(NamedTuple):
    """The memories that a caller may see.

    Attributes:
        levels: visibilities (such as "team") of which the caller sees every memory.
        ids: for each visibility, ids of further memories that the caller sees. An id has no effect while the memory has another
            visibility.
    """

    levels: frozenset[str]
    ids: Mapping[str, frozenset[str]] = NONE

    def has(self, memory: str, visibility: str) -> bool:
        """Whether the caller may see the memory with this id and visibility."""
        return visibility in self.levels or memory in self.ids.get(visibility, ())


_seen: ContextVar[Seen | None] = ContextVar("graphmem_seen_memories", default=None)
_met: ContextVar[Seen | None] = ContextVar("graphmem_met_memories", default=None)


@contextmanager
def seeing(visibilities: frozenset[str] | None, ids: Mapping[str, frozenset[str]] = NONE) -> Iterator[None]:
    """Show only some memories inside the `with` block.

    Args:
        visibilities: show every memory that has one of these; None shows all memories.
        ids: further memories to show; see `Seen`.
    """
    before = _seen.set(Seen(visibilities, ids) if visibilities is not None else None)
    try:
        yield
    finally:
        _seen.reset(before)


def seen() -> Seen | None:
    """Return which memories the calling code may see; None stands for all."""
    return _seen.get()


@contextmanager
def meeting(which: Seen) -> Iterator[None]:
    """Limit the memories with which new memories are compared.

    Inside the `with` block, a new memory is compared only with memories that `which` allows. The block is needed because a writer sees all
    memories, to keep ids unique. But a new memory must not duplicate, confirm or contradict a memory that its author may not see.
    """
    before = _met.set(which)
    try:
        yield
    finally:
        _met.reset(before)


def may_meet(memory: str, visibility: str) -> bool:
    """Whether a new memory may be compared with an existing one.

    The author of the new memory must be allowed to see the existing memory, which has the id `memory` and the given visibility.
    """
    which = _met.get()
    return which is None or which.has(memory, visibility)
