"""Convert ranked memories and code to search hits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from graphmem.answers import PathScore, SearchHit
from graphmem.answers.vocabulary import SearchFacet, SearchKind
from graphmem.projection.graph.view import GraphView
from graphmem.projection.snapshot import Snapshot
from graphmem.projection.words.index import WordIndex
from graphmem.search.hits.matched import Wanted, summary_of
from graphmem.search.hits.snippet import snippet
from graphmem.search.memories import finding as memories
from graphmem.search.request import Request
from graphmem.search.units.units import Units, Voted


def memory_hit(one: memories.ScoredMemory, request: Request) -> SearchHit:
    """Convert a ranked memory to a hit of the answer.

    `request` has the query, and says whether the hit explains its score.
    """
    row = one.row
    parts = [PathScore(*part) for part in one.fused.parts] if request.explain else []
    return SearchHit(
        id=row.id,
        kind="memory",
        path="",
        qualname="",
        symbol_kind=row.type,
        start_line=0,
        end_line=0,
        title=row.title,
        snippet=snippet(row.content, request.query),
        score=one.score,
        parts=parts,
        boost=one.boost,
        boosted_by=one.boosted_by,
        node=row.id,
        factors=one.factors if request.explain else [],
        facet="memories",
    )


def code_hits(shot: Snapshot, voted: Sequence[Voted], units: Units, request: Request) -> list[SearchHit]:
    """Convert ranked code and documents to hits, with the lines that match.

    `voted` are the ranked candidates, and `units` has their texts.
    """
    view = shot.graph
    wanted = Wanted.by(request.query)
    shown = {one.hit.id for one in voted}
    numbered = _numbered(units, shown)
    found = _stems_by_line(units, shown, shot.words, wanted) if shot.words is not None else {}
    nodes = [node for one in voted if (node := units.nodes.get(one.hit.id)) is not None]
    infos = {info.id: info for info in view.infos(nodes)}
    hits = []
    where: tuple[SearchKind, str, str, str, int, int, str]
    for one in voted:
        unit = one.hit.id
        info = infos.get(unit)
        own = "\n".join(units.lines(units.best[unit])) if unit in units.best else ""
        doc = view.doc(units.nodes[unit]) if info is not None else ""
        if info is not None:
            where = ("symbol", info.path, info.qualname, info.kind, info.start_line, info.end_line, info.qualname)
            # A part of a class in which every line belongs to a method contains only the repeated signature of the class.
            text = "" if own.rstrip() == f"{info.signature}\n…" else own
            text = text or "\n".join(part for part in (info.signature, doc) if part)
        else:
            entry = units.entries[unit]
            where = (cast("SearchKind", entry.kind), entry.path, "", "", entry.start_line, entry.end_line, entry.title)
            text = own
        parts = [PathScore(*part) for part in one.hit.parts] if request.explain else []
        ref = f"{where[1]}::{where[2]}" if where[2] else where[1]
        summary = summary_of(doc) if doc else ""
        twin = view.twin(units.nodes[unit]) if info is not None else 1
        ref += f"#{twin}" if twin > 1 else ""
        hits.append(
            SearchHit(
                ref,
                *where,
                snippet(text, request.query),
                one.score,
                parts,
                one.boost,
                one.boosted_by,
                unit,
                facet=_facet(view, where[0], where[1]),
                summary=summary,
                lines=wanted.lines(numbered.get(unit, {}).items(), found.get(unit, {}), info.name if info is not None else "", summary),
            )
        )
    return hits


def _numbered(units: Units, shown: Collection[str]) -> dict[str, dict[int, str]]:
    """Return the text of each line of given units, by line number in the file.

    The result maps each unit in `shown` to a dict from line numbers to texts. A unit is a symbol, or a chunk without a symbol. The lines of
    a unit come from all found chunks that contain a part of the unit.
    """
    lines: dict[str, dict[int, str]] = {}
    for segments in units.segments.values():
        for segment in segments:
            if segment.unit in shown:
                lines.setdefault(segment.unit, {}).update(units.numbered(segment))
    return {unit: dict(sorted(of_unit.items())) for unit, of_unit in lines.items()}


def _stems_by_line(units: Units, shown: Collection[str], index: WordIndex, wanted: Wanted) -> dict[str, dict[int, frozenset[str]]]:
    """Find the query's word stems in each line of given units.

    The result maps each unit in `shown` to a dict. The dict maps line numbers in the file to stems. A unit is a symbol, or a chunk without
    a symbol. Lines without a stem of the query are left out.
    """
    stem_of = {number: stem for stem, number in index.numbers_of(wanted.stems).items()}
    found = units.rows_with(shown, stem_of)
    return {unit: {row: frozenset(map(stem_of.__getitem__, of_row)) for row, of_row in rows.items()} for unit, rows in found.items()}


def _facet(view: GraphView, kind: SearchKind, path: str) -> SearchFacet:
    if kind == "prose":
        return "docs"
    if view.in_tests(path):
        return "tests"
    return "configuration" if kind == "data" else "code"
