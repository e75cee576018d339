"""What was found, and what each path of searching said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Annotated

from graphmem.answers.code import IndexState
from graphmem.answers.injection import PackedText
from graphmem.answers.marks import CHUNK, MEMORY, SYMBOL, Doc, GlobalId, Size
from graphmem.answers.memory import MemoryInfo
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import SearchKind


@answer
class PathScore:
    """What one candidate path said of a hit."""

    path: Annotated[str, Doc("words, names, dense, graph or exact")]
    rank: Annotated[int, Doc("from 1, in that way's list")]
    raw: Annotated[float, Doc("BM25, cosine, …")]
    normalised: Annotated[float, Doc("0 to 1 among that way's candidates")]
    weight: float


@answer
class Factor:
    """One more thing that made the score of a memory."""

    name: Annotated[str, Doc("relevance | recency | frequency | phase | trust | confidence | …")]
    value: float
    weight: Annotated[float, Doc("of what is added; 0 for what is multiplied with")]


@answer
class SearchHit:
    """A search result, as what one can ask on about it."""

    id: Annotated[
        str,
        Doc(
            "how one asks on about it: of a symbol `path::qualname`, of the second of that name there `path::qualname#2`; "
            "of other text its path; of a memory its id"
        ),
    ]
    kind: SearchKind
    path: str
    qualname: Annotated[str, Doc("of the symbol; empty for prose")]
    symbol_kind: str
    start_line: int
    end_line: int
    title: str
    snippet: str
    score: float
    parts: Annotated[list[PathScore], Doc("how the score came about; empty without `explain`"), Size(3)]
    boost: float = 0.0
    boosted_by: Annotated[str, Doc("id in the graph of the neighbour that raised it most; empty for none")] = ""
    node: Annotated[
        str,
        Doc("id in the graph: of the symbol, the chunk or the memory"),
        GlobalId("kind", sibling=True, types=(("symbol", SYMBOL), ("memory", MEMORY), ("code", CHUNK), ("prose", CHUNK), ("data", CHUNK))),
    ] = ""
    factors: Annotated[list[Factor], Doc("of a memory: what its score is made of beside the paths"), Size(6)] = field(default_factory=list)
    memory: Annotated[MemoryInfo | None, Doc("the memory that was found")] = None
    memories: Annotated[list[MemoryInfo], Doc("what is known about the code that was found, most important first"), Size(2)] = field(
        default_factory=list
    )


@answer
class SearchAnswer:
    """Hits, best first, ties by id; and which paths answered. Iterates over the hits."""

    query: str
    query_type: Annotated[str, Doc("identifier, semantic or structural")]
    hits: list[SearchHit]
    answered: Annotated[list[str], Doc("paths that answered")]
    missing: Annotated[dict[str, str], Doc("Which did not, and why"), Size(3)]
    state: IndexState
    notes: Annotated[list[str], Doc("what was made of the query: words left out or replaced")] = field(default_factory=list)
    packed: Annotated[PackedText | None, Doc("the hits as one text, when a budget was given")] = None

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> SearchHit:
        return self.hits[place]


def unanswered(missing: Mapping[str, str]) -> list[str]:
    """A sentence for each path of a search that did not answer, or only in part."""
    return [_unanswered(path, reason) for path, reason in sorted(missing.items())]


def _unanswered(path: str, reason: str) -> str:
    if (name := {"dense": "semantic search", "memory vectors": "semantic search of memories"}.get(path)) is None:
        return f"{path} did not answer: {reason}"
    if reason.startswith("vectors "):
        return f"{name} is still warming up ({reason.removeprefix('vectors ')})"
    return f"{name} is off: {reason}"
