"""Move the score of a comment to the definition right below it.

In most languages, the comment that documents a definition is above it, outside its lines. A chunk's lines outside definitions form a
separate candidate. Without this module, an answer could have both the comment and its definition, with the same title.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final

from graphmem.model import FUNCTION_KINDS
from graphmem.projection.graph.arrays import NODE_KINDS
from graphmem.projection.graph.view import GraphView
from graphmem.projection.words.entries import Entry
from graphmem.projection.words.text import STOP_WORDS, query_words
from graphmem.search.fusion import Fused
from graphmem.search.units.stems import stems_of
from graphmem.search.units.units import Units

_MARKS: Final = ("//", "/*", "*", "#", "--", ";")  # of a comment's line, in any language; also of an attribute in Rust


def credited(view: GraphView, fused: Sequence[Fused], units: Units, query: str, most: int) -> list[Fused]:
    """Replace comments among the best candidates with the code they describe.

    The lines of a chunk outside definitions are one candidate. This candidate is removed on two conditions: a comment in these lines has
    more words of the query than the rest of the lines, and the definition below the comment is a candidate. The definition then gets the
    score of the removed candidate, unless its own score is higher. If several comments fulfil the conditions, the comment with the most
    words of the query decides.

    Args:
        view: the graph of the units.
        fused: candidates, best first.
        units: units (symbols, or chunks without symbols) of the candidates, with their chunks.
        query: the search text.
        most: number of candidates that are examined.

    Returns:
        The candidates, best first.
    """
    hits = {hit.id: hit for hit in fused}
    replaced = False
    for hit in fused[:most]:
        if hit.id in units.nodes or units.entries[hit.id].kind != "code":
            continue
        definition = hits.get(_documented(view, units, hit.id, query))
        if definition is None or definition.score <= 0:
            continue
        replaced = True
        del hits[hit.id]
        if definition.score < hit.score:
            hits[definition.id] = definition.times(hit.score / definition.score)
    return sorted(sorted(hits.values(), key=itemgetter(0)), key=itemgetter(1), reverse=True) if replaced else list(fused)


def _documented(view: GraphView, units: Units, chunk: str, query: str) -> str:
    """Return the definition below the comment that best matches a query.

    The result is the id of the definition. Only comments in `chunk` count. The comment must have more words of the query than the chunk's
    other lines outside definitions. Without such a comment, the result is "".
    """
    segments = units.segments.get(chunk, ())
    rest = next((segment for segment in segments if segment.unit == chunk), None)
    if rest is None:
        return ""
    left = dict(zip(rest.rows, units.lines(rest), strict=True))
    defined = {segment.unit: segment.rows[0] for segment in segments if segment.unit in units.nodes}
    start = {unit: view.start_line[units.nodes[unit]] - units.entries[chunk].start_line for unit in defined}
    for unit, row in _cut_off(view, units.entries[chunk]).items():
        if unit not in defined:
            defined[unit] = start[unit] = row
            left = {at: line for at, line in left.items() if at < row}
    comments: dict[str, list[str]] = {}
    for unit, row in defined.items():
        if row != start[unit]:
            continue  # it began before the chunk
        above = row - 1
        while above in left and left[above].lstrip().startswith(_MARKS):
            comments.setdefault(unit, []).append(left.pop(above))
            above -= 1
    wanted = set(stems_of(query_words(query)).values()) - STOP_WORDS

    def words(lines: Iterable[str]) -> int:
        return len(wanted & set(stems_of(query_words(" ".join(lines))).values()))

    having = {unit: words(lines) for unit, lines in comments.items()}
    best = max(having, key=lambda unit: (having[unit], -defined[unit]), default="")
    return best if best and having[best] > words(left.values()) else ""


def _cut_off(view: GraphView, entry: Entry) -> dict[str, int]:
    """Return the function that begins in a chunk and continues after it.

    The function may also begin on the line after the chunk. The result maps the function's id to the position of the function's first line,
    counted from the chunk's first line. Without such a function, the result is empty.
    """
    symbols = view.symbols_in(entry.path)
    for row in range(bisect_left(symbols.starts, entry.start_line), bisect_right(symbols.starts, entry.end_line + 1)):
        if symbols.ends[row] > entry.end_line and NODE_KINDS[symbols.kinds[row]] in FUNCTION_KINDS:
            return {view.ids[symbols.nodes[row]]: symbols.starts[row] - entry.start_line}
    return {}
