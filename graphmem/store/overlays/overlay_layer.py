"""The state of a branch, as far as it differs from its main branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphmem.knowledge import AboutRow
    from graphmem.model import ChunkRow, EdgeRow, ExternalRow, FileRow, GraphDelta, OccurrencesRow, SymbolRow, UnresolvedRow
    from graphmem.store.base import KeyRow
    from graphmem.store.writes.anchors import State


class OwnRows(NamedTuple):
    """Rows of one branch, for the files that differ from the main branch.

    An edge belongs to the file in which it begins. Such an edge may lead to a used package, or to a name in a package. `externals` maps the
    ids of these ends to their rows.
    """

    files: list[FileRow]
    symbols: list[SymbolRow]
    chunks: list[ChunkRow]
    edges: list[EdgeRow]
    unresolved: list[UnresolvedRow]
    occurrences: list[OccurrencesRow]
    externals: dict[str, ExternalRow]

    @classmethod
    def none(cls) -> OwnRows:
        """Return an object without any rows."""
        return cls([], [], [], [], [], [], {})


class Judging(NamedTuple):
    """Differences of a branch that change the links from memories to code.

    Attributes:
        moves: maps the id of a node on the main branch to its id on the branch, if the code was moved.
        states: maps the id of each node that differs on the branch to its state there.
        names: maps the id of each node that the branch lacks to its name.
        added: links of memories to code that only the branch has.
    """

    moves: Mapping[str, str]
    states: Mapping[str, State]
    names: Mapping[str, str]
    added: Sequence[AboutRow]


class Layer(NamedTuple):
    """The state of a branch, as far as it differs from the main branch (base).

    Attributes:
        own: maps the path of each file that differs to a digest (hash of the file's graph rows); "" for a file that the branch lacks.
        meta: metadata of the branch, which replaces the base's.
        keys: framework keys, such as routes, of the whole branch.
        generation: counter of changes of the branch's code.
    """

    own: Mapping[str, str]
    meta: Mapping[str, str]
    keys: Sequence[KeyRow]
    generation: int


class OverlayFeed:
    """Tells the caches of a branch when the main branch's memories change."""

    note: Final = ""  # the base is in this process, so nothing can keep the branch from following it

    def __init__(self) -> None:
        self.on_knowledge: Callable[[int], object] = lambda _: None

    def follow(self, on_code: Callable[[int, GraphDelta | None], object], on_knowledge: Callable[[int], object]) -> None:
        """Register `on_knowledge`, which is called when memories change.

        `on_code` is ignored. Only a push changes a branch's code, and the push itself updates the projections (copies of the graph).
        """
        self.on_knowledge = on_knowledge

    def close(self) -> None:
        """Stop the calls of the registered function. Idempotent."""
        self.on_knowledge = lambda _: None
