"""Answers of search: hits, and the score of each candidate path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Annotated

from graphmem.answers.code import IndexState
from graphmem.answers.injection import PackedText
from graphmem.answers.marks import CHUNK, MEMORY, MODULE, SYMBOL, Doc, GlobalId, Size
from graphmem.answers.memory import MemoryInfo
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import SearchFacet, SearchKind

_NODES = (
    ("symbol", SYMBOL),
    ("memory", MEMORY),
    ("code", CHUNK),
    ("prose", CHUNK),
    ("data", CHUNK),
    ("module", MODULE),
    ("flow", SYMBOL),
)


@answer
class PathScore:
    """The score of a hit on one candidate path."""

    path: Annotated[str, Doc("words, names, dense, graph or exact")]
    rank: Annotated[int, Doc("rank of the hit on this search path, from 1")]
    raw: Annotated[float, Doc("score of the search path: BM25, cosine, …")]
    normalised: Annotated[float, Doc("the score scaled to 0 to 1, over all candidates that this search path found")]
    weight: float


@answer
class Factor:
    """A further factor in the score of a memory."""

    name: Annotated[str, Doc("relevance | recency | frequency | phase | trust | confidence | …")]
    value: float
    weight: Annotated[float, Doc("weight of an added factor; 0 for a multiplied one")]


@answer
class MatchedLine:
    """A line of a hit that has words of the query."""

    line: Annotated[int, Doc("number in the file, from 1")]
    text: Annotated[str, Doc("the line without indentation")]


@answer
class SearchHit:
    """A search result, with a reference for further queries."""

    id: Annotated[
        str,
        Doc(
            "reference for further queries: `path::qualname` for a symbol, `path::qualname#2` for the second one with that name; "
            "the path for other text; the id for a memory; the name of a module; the entry point of a flow"
        ),
    ]
    kind: SearchKind
    path: str
    qualname: Annotated[str, Doc("qualified name of the symbol; empty for prose")]
    symbol_kind: str
    start_line: int
    end_line: int
    title: str
    snippet: str
    score: float
    parts: Annotated[list[PathScore], Doc("parts of the score; empty without `explain`"), Size(3)]
    boost: float = 0.0
    boosted_by: Annotated[str, Doc("graph id of the neighbour that raised the score most; empty for none")] = ""
    node: Annotated[
        str,
        Doc("graph id of the symbol, chunk, memory or module, or of a flow's entry point"),
        GlobalId("kind", sibling=True, types=_NODES),
    ] = ""
    factors: Annotated[list[Factor], Doc("for a memory: factors of its score besides the paths"), Size(6)] = field(default_factory=list)
    memory: Annotated[MemoryInfo | None, Doc("the memory, when the hit is one")] = None
    memories: Annotated[list[MemoryInfo], Doc("memories about the found code, most important first"), Size(2)] = field(default_factory=list)
    facet: Annotated[SearchFacet, Doc("the part of the project that the hit belongs to")] = "code"
    summary: Annotated[str, Doc("first sentence of its documentation; empty for none")] = ""
    lines: Annotated[list[MatchedLine], Doc("lines with words of the query, by number; at most 3"), Size(2)] = field(default_factory=list)


@answer
class HitGroup:
    """Hits in one file, or one other hit."""

    path: Annotated[str, Doc("the file; empty for memories, modules and flows")]
    facet: SearchFacet
    hits: Annotated[list[int], Doc("numbers of the hits, best first; the first hit of the answer is 1")]


@answer
class FacetCount:
    """The number of hits in one part of the project."""

    facet: SearchFacet
    hits: int


@answer
class NearMiss:
    """A name that is spelt like a word that was not found."""

    word: Annotated[str, Doc("word of the query")]
    ref: Annotated[str, Doc("reference to a symbol, or a path")]


@answer
class SearchAnswer:
    """Hits, best first, then by id, with the paths that answered.

    Iterates over the hits.
    """

    query: str
    query_type: Annotated[str, Doc("identifier, question, error, semantic (a description) or structural")]
    hits: list[SearchHit]
    answered: Annotated[list[str], Doc("search paths that returned a result")]
    missing: Annotated[dict[str, str], Doc("Search paths without a result, and why"), Size(3)]
    state: IndexState
    notes: Annotated[list[str], Doc("sentences on changes of the query, such as omitted or replaced words")] = field(default_factory=list)
    packed: Annotated[PackedText | None, Doc("the hits as one text, when a budget was given")] = None
    groups: Annotated[list[HitGroup], Doc("the hits by file, in the order of each group's best hit"), Size(6)] = field(default_factory=list)
    facets: Annotated[list[FacetCount], Doc("number of hits by part of the project, most first"), Size(3)] = field(default_factory=list)
    near: Annotated[list[NearMiss], Doc("similar names, when nothing is found or no hit has the only word"), Size(1)] = field(
        default_factory=list
    )

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> SearchHit:
        return self.hits[place]


def unanswered(missing: Mapping[str, str]) -> list[str]:
    """A sentence for each search path that failed or answered in part."""
    return [_unanswered(path, reason) for path, reason in sorted(missing.items())]


def _unanswered(path: str, reason: str) -> str:
    if (name := {"dense": "semantic search", "memory vectors": "semantic search of memories"}.get(path)) is None:
        return f"{path} did not answer: {reason}"
    if reason.startswith("vectors "):
        return f"{name} is still warming up ({reason.removeprefix('vectors ')})"
    return f"{name} is off: {reason}"
