"""What was found, and what each path of searching said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from graphmem.answers.code import IndexState
from graphmem.answers.injection import PackedText
from graphmem.answers.memory import MemoryInfo
from graphmem.answers.plain import answer


@answer
class PathScore:
    """What one candidate path said of a hit."""

    path: str  # words | sentence | names | dense | exact | literal | places | frames | graph | time | files | alike | joined
    rank: int  # 1-based in that path
    raw: float  # BM25, cosine, …
    normalised: float  # 0..1 within the path's candidates
    weight: float


@answer
class Factor:
    """One more thing that made the score of a memory."""

    name: str  # relevance | recency | frequency | phase | trust | confidence | …
    value: float
    weight: float  # of what is added; 0 for what is multiplied with


@answer
class SearchHit:
    """A search result, as what one can ask on about it."""

    id: str  # of a symbol `path::qualname`, of the second of that name there `path::qualname#2`; of other text its path, of a memory its id
    kind: str  # code | prose | data | symbol | memory
    path: str
    qualname: str  # of the symbol; "" for prose
    symbol_kind: str
    start_line: int
    end_line: int
    title: str
    snippet: str
    score: float
    parts: list[PathScore]
    boost: float = 0.0
    boosted_by: str = ""
    node: str = ""  # id in the graph: of the symbol, the chunk or the memory
    factors: list[Factor] = field(default_factory=list)  # of a memory: what its score is made of beside the paths
    memory: MemoryInfo | None = None  # the memory that was found, with the code it is about and what contradicts it
    memories: list[MemoryInfo] = field(default_factory=list)  # what is known about the code that was found


@answer
class SearchAnswer:
    """Hits, best first, ties by id; and which paths answered. Iterates over the hits."""

    query: str
    query_type: str  # identifier | semantic | structural
    hits: list[SearchHit]
    answered: list[str]  # paths that answered
    missing: dict[str, str]  # path -> why it did not: "no model", "vectors 12%", "deadline"
    state: IndexState
    notes: list[str] = field(default_factory=list)  # what was made of the query: words left out or replaced
    packed: PackedText | None = None  # the hits as one text, when a budget was given

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
