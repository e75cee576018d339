"""Group and count the hits of a search, and find similar names."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Final

from graphmem.analysis.refs import suggest
from graphmem.answers import FacetCount, HitGroup, NearMiss, SearchHit
from graphmem.projection.graph.view import GraphView
from graphmem.projection.words.text import STOP_WORDS
from graphmem.search.query.query_type import mentions

NEAR: Final = 8  # maximum near names of a query
WORDS: Final = 16  # maximum words of a query that are compared with names
_OF_WORD: Final = 3  # maximum near names of one word
_LEAST: Final = 3  # minimum letters of a word
_ALIKE: Final = 0.75  # similarity of file names


def grouped(hits: Sequence[SearchHit]) -> list[HitGroup]:
    """Group hits by file; groups are in the order of their best hits."""
    groups: dict[str, HitGroup] = {}
    for number, hit in enumerate(hits, 1):
        key = hit.path if hit.path and hit.facet != "flows" else f"\0{number}"
        if key not in groups:
            groups[key] = HitGroup("" if key.startswith("\0") else hit.path, hit.facet, [])
        groups[key].hits.append(number)
    return list(groups.values())


def counted(hits: Sequence[SearchHit]) -> list[FacetCount]:
    """Count hits by the part of the project they are in: code, tests, docs."""
    return [FacetCount(facet, count) for facet, count in Counter(hit.facet for hit in hits).most_common()]


def is_unknown(query: str, hits: Sequence[SearchHit]) -> bool:
    """Whether a search found nothing, or only similar words.

    Hits that do not contain the word were found by similar words. For a query of several words, the result is True only if nothing is
    found.
    """
    word = query.strip().casefold()
    if not hits or len(word.split()) > 1:
        return not hits
    said = (text for hit in hits for text in (hit.id, hit.title, hit.snippet, *(one.text for one in hit.lines)))
    return not any(word in text.casefold() for text in said)


def near_names(view: GraphView, query: str) -> tuple[list[NearMiss], str]:
    """Return names of symbols and files that are spelt like words of a query.

    Only the first `WORDS` words are compared, because each comparison takes all names of the project. The second result is a sentence that
    states this limit if the query has more words, else "".
    """
    found: dict[str, str] = {}
    files = {path.rpartition("/")[2].partition(".")[0].casefold(): path for path in sorted(view.paths, reverse=True)}
    words = [one.text for one in mentions(query) if len(one.text) >= _LEAST and one.text.casefold() not in STOP_WORDS]
    for word in words[:WORDS]:
        near = suggest(view, word, _OF_WORD)
        near += [files[name] for name in difflib.get_close_matches(word.casefold(), files, n=1, cutoff=_ALIKE)]
        for ref in near:
            found.setdefault(ref, word)
    note = f"similar names were looked up for the first {WORDS} of {len(words):,} words" if len(words) > WORDS else ""
    return [NearMiss(word, ref) for ref, word in list(found.items())[:NEAR]], note
