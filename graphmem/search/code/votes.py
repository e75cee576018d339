"""Raise scores of files with several hits; lower those of repeated pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from graphmem.search.fusion import Fused
from graphmem.search.units.units import Units, Voted

_COPY: Final = 0.35  # factor for a section of a document that repeats a better one


def without_copies(voted: list[Voted], units: Units) -> list[Voted]:
    """Lower the scores of document sections that repeat another page.

    Documentation often has one copy of a page for each version. A section of a document repeats another if both have the same heading, in
    files of the same name. Of all sections that repeat each other, the one in the outermost folder gets the best of their scores. The
    scores of the others are lowered.

    Args:
        voted: candidates, best first.
        units: units (symbols, or chunks without symbols) of the candidates.
    """
    copies: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(voted):
        entry = units.entries.get(one.hit.id)
        if entry is not None and entry.kind == "prose" and one.score > 0:
            copies.setdefault((PurePosixPath(entry.path).stem, entry.title), []).append(place)
    repeated = [places for places in copies.values() if len(places) > 1]
    if not repeated:
        return voted
    kept = list(voted)
    for places in repeated:
        first = min(places, key=lambda place: (units.entries[voted[place].hit.id].path.count("/"), place))
        best = voted[places[0]].score
        for place in places[1:] if first == places[0] else places:
            one = voted[place]
            score = best if place == first else one.score * _COPY
            kept[place] = one._replace(score=score, boost=one.boost + score - one.score)
    return sorted(kept, key=best_first)


def with_votes(fused: Sequence[Fused], units: Units, weight: float, voters: int) -> list[Voted]:
    """Raise the scores of candidates whose file has other good hits.

    Such hits vote for their file. The votes of a file are the sum of the scores of its best `voters` hits. Each candidate gains `weight` ×
    (votes of its file / most votes of any file). The result keeps the order of `fused`, although scores change.
    """
    if not fused:
        return []
    facts = units.facts([hit.id for hit in fused])
    paths = [facts[hit.id].path for hit in fused]
    best: dict[str, list[Fused]] = {}
    for hit, path in zip(fused, paths, strict=True):
        of_file = best.setdefault(path, [])
        if len(of_file) < voters:
            of_file.append(hit)
    low = min(0.0, fused[-1].score)
    total = {path: sum(hit.score - low for hit in hits) for path, hits in best.items()}
    high = max(total.values()) or 1.0
    boosts = {path: weight * value / high for path, value in total.items()}
    first = {path: (hits[0].id, hits[1].id if len(hits) > 1 else "") for path, hits in best.items()}
    voted = []
    for hit, path in zip(fused, paths, strict=True):
        boost = boosts[path]
        other = first[path][hit.id == first[path][0]] if boost else ""
        voted.append(Voted(hit, hit.score + boost, boost, other))
    return voted


def best_first(one: Voted) -> tuple[float, str]:
    """Return the key that sorts candidates by score; ties by id."""
    return -one.score, one.hit.id
