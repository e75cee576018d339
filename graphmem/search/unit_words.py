"""Words of candidates: BM25F over what belongs to each unit.

The word index finds chunks and knows how rare a word is. Here the candidates' own texts are read again: a function is scored by its
own lines, together with all its parts that are candidates, and by its name, what it is in and its path as fields of their own.

Source: Robertson, Zaragoza, Taylor 2004 (BM25F, simple version: counts of the fields are weighted and joined before they
are saturated). Parameters are measured in docs/decisions/0006-fusion.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from threading import Lock
from typing import Final, NamedTuple

from graphmem.projection.graph import GraphView
from graphmem.projection.postings import Stemmer
from graphmem.projection.text import normalise, query_words
from graphmem.projection.words import WordAnswer
from graphmem.search.request import Fields
from graphmem.search.units import Units

_HEAD: Final = 2  # letters that the stemmer never changes
_lock: Final = Lock()


class _Near(NamedTuple):
    """A text's words that may be forms of the query's, and how many words it has."""

    words: list[str]
    length: int


def unit_words(view: GraphView, units: Units, words: WordAnswer, query: str, fields: Fields) -> dict[str, float]:
    """BM25F of the units that have any of the words that were looked for.

    Args:
        view: the graph the units are of.
        units: candidates with their texts.
        words: answer of the word index: its words and how many rows have each.
        query: what was asked.
        fields: parameters.
    """
    if not words.rows:
        return {}
    weight = _weights(words, query, fields.rest)
    formed = _formed(words.rows)
    texts: dict[str, list[str]] = {}
    for segments in units.segments.values():
        for segment in segments:
            texts.setdefault(segment.unit, []).append(segment.text)
    worth = (1.0, fields.name, fields.outer, fields.path)
    known: dict[str, _Near] = {}  # many units share a path and what they are in
    near: dict[str, list[_Near]] = {}
    for unit, parts in texts.items():
        near[unit] = [_near("\n".join(parts), formed)]
        for text in _fields(view, units, unit):
            if text not in known:
                known[text] = _near(text, formed)
            near[unit].append(known[text])
    stem_of = _stems(word for of_unit in near.values() for one in of_unit for word in one.words)
    average = sum(of_unit[0].length for of_unit in near.values()) / max(1, len(near)) or 1.0
    whole = math.fsum(weight.values())
    scores: dict[str, float] = {}
    for unit, of_unit in near.items():
        shorter = 1 - fields.b + fields.b * of_unit[0].length / average
        joined: dict[str, float] = {}
        for one, factor in zip(of_unit, (worth[0] / shorter, *worth[1:]), strict=True):
            for stem in map(stem_of.__getitem__, one.words):
                if factor and stem in weight:
                    joined[stem] = joined.get(stem, 0.0) + factor
        if joined:
            covered = math.fsum(weight[stem] for stem in joined) / whole
            scores[unit] = math.fsum(weight[stem] * tf / (tf + fields.k1) for stem, tf in joined.items()) * covered**fields.coverage
    return scores


def _weights(words: WordAnswer, query: str, rest: float) -> dict[str, float]:
    """Inverse document frequency of each stem that is looked for, less beyond the first line."""
    first = set(query_words(query.strip().split("\n", 1)[0]))
    stem_of = _stems(words.rows)
    weights: dict[str, float] = {}
    for word, rows in words.rows.items():
        rarity = math.log(1 + (words.total - rows + 0.5) / (rows + 0.5)) * (1.0 if word in first else rest)
        weights[stem_of[word]] = max(rarity, weights.get(stem_of[word], 0.0))
    return weights


def _formed(words: Iterable[str]) -> re.Pattern[str]:
    """Words that begin like one of these, in normalised text."""
    heads = sorted({word[:_HEAD] for word in words})
    return re.compile(rf" ((?:{'|'.join(map(re.escape, heads))})[^ ]*)")


def _near(text: str, formed: re.Pattern[str]) -> _Near:
    words = normalise(text)
    return _Near(formed.findall(f" {words}"), words.count(" ") + 1 if words else 0)


def _stems(words: Iterable[str]) -> dict[str, str]:
    """Stem of each word, all at once: a call costs more than a word."""
    with _lock:
        return _stemmer()(words)


def _fields(view: GraphView, units: Units, unit: str) -> tuple[str, str, str]:
    """Name, what it is in, path."""
    node = view.index_of.get(unit)
    if node is not None:
        outer, _, name = view.qualname(node).rpartition(".")
        return name, outer, view.path(node)
    entry = units.entries[unit]
    return ("" if entry.kind == "code" else entry.title), "", entry.path


@cache
def _stemmer() -> Stemmer:
    return Stemmer()
