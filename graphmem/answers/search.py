"""Answers of search: hits, and the score of a hit in each search method."""

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
    """The rank and score of a hit in one search method, such as by words."""

    path: Annotated[
        str,
        Doc(
            "search method that found the result, such as words, dense (similar vectors), exact (a name in the query) or graph "
            "(an edge to a symbol named in the query)"
        ),
    ]
    rank: Annotated[int, Doc("rank of the result in the list of this search method, from 1")]
    raw: Annotated[float, Doc("score that this search method gave the result, such as BM25 or cosine similarity")]
    normalised: Annotated[float, Doc("the raw score of the result, scaled to 0 to 1 among all candidates of the same search method")]
    weight: float


@answer
class Factor:
    """A factor in the score of a memory, besides its similarity to the query."""

    name: Annotated[
        str, Doc("name of the factor in a memory's score: relevance, recency, frequency, phase, trust, confidence or another one")
    ]
    value: float
    weight: Annotated[float, Doc("weight with which the factor is added to a memory's score; 0 when the score is multiplied by the factor")]


@answer
class MatchedLine:
    """A line with words of the query, in a search result."""

    line: Annotated[int, Doc("number of the line in the file, from 1")]
    text: Annotated[str, Doc("text of the line without indentation")]


@answer
class SearchHit:
    """A search result, with a reference for further queries."""

    id: Annotated[
        str,
        Doc(
            "reference for further queries: `path::qualname` for a symbol, `path::qualname#2` for the second "
            "symbol with that name; the path for other text; the id for a memory; the name of a module; the "
            "first function of a call flow"
        ),
    ]
    kind: SearchKind
    path: str
    qualname: Annotated[str, Doc("qualified name of the found symbol; empty for text outside symbols")]
    symbol_kind: str
    start_line: int
    end_line: int
    title: str
    snippet: str
    score: float
    parts: Annotated[list[PathScore], Doc("score of the result by each search method; empty unless `explain` was requested"), Size(3)]
    boost: float = 0.0
    boosted_by: Annotated[str, Doc("id of the neighbour in the code graph that raised the score most; empty if none did")] = ""
    node: Annotated[
        str,
        Doc("id in the code graph of the found symbol, chunk of text, memory or module; for a call flow the id of its entry point"),
        GlobalId("kind", sibling=True, types=_NODES),
    ] = ""
    factors: Annotated[list[Factor], Doc("factors of a memory's score besides the search methods; empty for other results"), Size(6)] = (
        field(default_factory=list)
    )
    memory: Annotated[MemoryInfo | None, Doc("the found memory; null for a result of another kind")] = None
    memories: Annotated[list[MemoryInfo], Doc("memories about the found code, most important first"), Size(2)] = field(default_factory=list)
    facet: Annotated[SearchFacet, Doc("kind of content that the result belongs to, such as code, tests or docs")] = "code"
    summary: Annotated[str, Doc("first sentence of the documentation of the found code; empty if there is none")] = ""
    lines: Annotated[list[MatchedLine], Doc("lines of the result that contain words of the query, at most 3, by line number"), Size(2)] = (
        field(default_factory=list)
    )


@answer
class HitGroup:
    """The hits in one file, or one hit that is not in a file."""

    path: Annotated[str, Doc("path of the file; empty for memories, modules and flows")]
    facet: SearchFacet
    hits: Annotated[list[int], Doc("numbers of the search results in the file, best first; 1 is the best result of the answer")]


@answer
class FacetCount:
    """The number of hits of one kind of content, such as code, tests or docs."""

    facet: SearchFacet
    hits: int


@answer
class NearMiss:
    """A name in the project that is similar to a word of the query."""

    word: Annotated[str, Doc("the word of the query that was not found")]
    ref: Annotated[str, Doc("the similar name: a reference to a symbol, or a path")]


@answer
class SearchAnswer:
    """Hits of a search, best first, then by id.

    Iterating over the answer gives its hits.
    """

    query: str
    query_type: Annotated[
        str,
        Doc(
            "kind of the query: identifier, question, error (a message of a program), semantic (a description) or structural (about related"
            " code, such as callers)"
        ),
    ]
    hits: list[SearchHit]
    answered: Annotated[list[str], Doc("search methods that returned a result")]
    missing: Annotated[dict[str, str], Doc("Search methods that returned no result, each with the reason"), Size(3)]
    state: IndexState
    notes: Annotated[list[str], Doc("sentences about changes that search made to the query, such as omitted or replaced words")] = field(
        default_factory=list
    )
    packed: Annotated[
        PackedText | None, Doc("the search results packed into one text that fits the token budget; null if no budget was given")
    ] = None
    groups: Annotated[list[HitGroup], Doc("the search results grouped by file; files in the order of their best results"), Size(6)] = field(
        default_factory=list
    )
    facets: Annotated[
        list[FacetCount], Doc("number of search results of each kind of content (code, tests, docs, …), most first"), Size(3)
    ] = field(default_factory=list)
    near: Annotated[list[NearMiss], Doc("names similar to a word of the query, when nothing or no exact match was found"), Size(1)] = field(
        default_factory=list
    )

    def __iter__(self) -> Iterator[SearchHit]:
        return iter(self.hits)

    def __getitem__(self, place: int) -> SearchHit:
        return self.hits[place]


STRUCTURE = ("modules", "flows")  # derived after an index run


def unanswered(missing: Mapping[str, str]) -> list[str]:
    """Return a sentence for each search method that failed in full or in part.

    `missing` maps the name of such a method to the reason.
    """
    sentences = [_unanswered(path, reason) for path, reason in sorted(missing.items()) if path not in STRUCTURE]
    left_out = [name for name in STRUCTURE if name in missing]
    if left_out:
        sentences.append(f"{' and '.join(left_out)} are left out: {missing[left_out[0]]}; ask for these kinds to derive them")
    return sentences


def _unanswered(path: str, reason: str) -> str:
    if (name := {"dense": "semantic search", "memory vectors": "semantic search of memories"}.get(path)) is None:
        return f"{path} did not answer: {reason}"
    if reason.startswith("vectors "):
        return f"{name} is still warming up ({reason.removeprefix('vectors ')})"
    return f"{name} is off: {reason}"
