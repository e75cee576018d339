"""Score candidate units by their words: BM25F, and shares of names.

The word index finds chunks and knows the rarity of words. This module reads the candidates' texts again. A function is scored by its own
lines, joined from all its parts that are candidates. Its name, enclosing names and path are separate fields. A description of several
sentences may cover several functions, each with the words of one sentence. So units are also scored by their best sentence.

Source: Robertson, Zaragoza, Taylor 2004 (BM25F, simple version: counts of the fields are weighted and joined before they
are saturated). Parameters are measured in docs/decisions/0006-fusion.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from threading import Lock
from typing import Final, NamedTuple

from graphmem.projection.graph import GraphView
from graphmem.projection.postings import Stemmer
from graphmem.projection.text import normalise, query_words
from graphmem.projection.words import WordAnswer
from graphmem.search.abbreviations import other_forms
from graphmem.search.request import Fields
from graphmem.search.units import Units

_HEAD: Final = 2  # initial letters that the stemmer never changes
_lock: Final = Lock()
_SENTENCE: Final = re.compile(r"\n+|(?<=[.;:!?])\s+")
_WORDS: Final = re.compile(r"\w{2,}")
_LEAST_WORDS: Final = 3  # minimum words of a sentence that is scored alone
_FOLDERS_OWN: Final = ("__init__", "index", "mod")  # files that represent their directory


class UnitWords(NamedTuple):
    """Scores of units by words; each list has only the units with a match."""

    whole: dict[str, float]  # BM25F of the query
    sentence: dict[str, float]  # BM25F of its best sentence, relative to the best unit's; 0 to 1
    names: dict[str, float]  # share of the names of the unit, its enclosing units and its file that the query has; 0 to 1


class _Near(NamedTuple):
    """Words of a text with the first letters of query words; text length."""

    words: list[str]
    length: int


def unit_words(view: GraphView, units: Units, words: WordAnswer, query: str, fields: Fields) -> UnitWords:
    """Score units by the words of the query.

    Args:
        view: the graph of the units.
        units: the candidates with their texts.
        words: answer of the word index: the words, and the number of rows that contain each.
        query: the search text.
        fields: weights of the fields.
    """
    if not words.rows:
        return UnitWords({}, {}, {})
    rarity, stem_of_row = _rarities(words)
    first = {stem_of_row[word] for word in query_words(query.strip().split("\n", 1)[0]) if word in stem_of_row}
    weight = {stem: value * (1.0 if stem in first else fields.rest) for stem, value in rarity.items()}
    others = other_forms(weight, stems_of)
    formed = _formed([*words.rows, *others])
    texts: dict[str, list[str]] = {}
    for segments in units.segments.values():
        for segment in segments:
            texts.setdefault(segment.unit, []).append(segment.words if segment.words is not None else normalise(segment.text))
    known: dict[str, _Near] = {}  # cache: many units share a path and enclosing names
    near: dict[str, list[_Near]] = {}
    for unit, parts in texts.items():
        near[unit] = [_near(" ".join(filter(None, parts)), formed)]
        for text in _fields(view, units, unit):
            if text not in known:
                known[text] = _near(normalise(text), formed)
            near[unit].append(known[text])
    stems = stems_of(word for of_unit in near.values() for one in of_unit for word in one.words)
    term_of = {word: term for word, stem in stems.items() if (term := others.get(stem, stem)) in weight}
    worth = (fields.name, fields.outer, fields.path)
    average = sum(of_unit[0].length for of_unit in near.values()) / max(1, len(near)) or 1.0
    saturated: dict[str, dict[str, float]] = {}
    for unit, of_unit in near.items():
        joined: dict[str, float] = {}
        shorter = 1 - fields.b + fields.b * of_unit[0].length / average
        for one, factor in zip(of_unit, (1 / shorter, *worth), strict=False):
            for term in filter(None, map(term_of.get, one.words)):
                if factor:
                    joined[term] = joined.get(term, 0.0) + factor
        if joined:
            saturated[unit] = {term: tf / (tf + fields.k1) for term, tf in joined.items()}
    whole = _bm25f(saturated, weight, fields.coverage)
    named = _shares(near, term_of, fields)
    return UnitWords(whole, _best_sentence(saturated, whole, rarity, sentences(query), stem_of_row, fields), named)


def sentences(query: str) -> list[str]:
    """Return sentences and lines of at least three words, without repeats.

    The result is empty if there is only one.
    """
    parts = dict.fromkeys(part.strip(" *-\t") for part in _SENTENCE.split(query))
    long = [part for part in parts if len(_WORDS.findall(part)) >= _LEAST_WORDS]
    return long if len(long) > 1 else []


def _bm25f(saturated: Mapping[str, Mapping[str, float]], weight: Mapping[str, float], coverage: float) -> dict[str, float]:
    """Return the score of each unit that has any of the weighted terms."""
    whole = math.fsum(weight.values())
    scores: dict[str, float] = {}
    for unit, terms in saturated.items():
        score = covered = 0.0
        for term, value in terms.items():
            if term in weight:
                score += weight[term] * value
                covered += weight[term]
        if score:
            scores[unit] = score * (covered / whole) ** coverage
    return scores


def _best_sentence(
    saturated: Mapping[str, Mapping[str, float]],
    whole: Mapping[str, float],
    rarity: Mapping[str, float],
    parts: Collection[str],
    stem_of: Mapping[str, str],
    fields: Fields,
) -> dict[str, float]:
    """Return each unit's best score over all sentences of the query."""
    best: dict[str, float] = {}
    # The longest carry most; a text with more sentences is a log or a discussion.
    chosen = sorted(parts, key=lambda part: (-len(part), part))[: fields.sentences]
    for scores in [_bm25f(saturated, _within(rarity, part, stem_of), fields.coverage) for part in chosen] or [dict(whole)]:
        high = max(scores.values(), default=1.0)
        for unit, score in scores.items():
            best[unit] = max(score / high, best.get(unit, 0.0))
    return best


def _within(rarity: Mapping[str, float], part: str, stem_of: Mapping[str, str]) -> dict[str, float]:
    """Return the stems in a part of the query, each with its rarity."""
    return {stem_of[word]: rarity[stem_of[word]] for word in query_words(part) if word in stem_of}


def _shares(near: Mapping[str, list[_Near]], term_of: Mapping[str, str], fields: Fields) -> dict[str, float]:
    """Return the weighted mean of three shares of words in the query.

    The shares are of the words of a unit's name, of its enclosing names and of its file's name.
    """
    worth = (fields.name_share, fields.outer_share, fields.file_share)
    total = math.fsum(worth)
    shares: dict[str, float] = {}
    for unit, (_, name, outer, _, file) in near.items():
        share = 0.0
        for one, counts in zip((name, outer, file), worth, strict=True):
            if one.words:
                share += counts * len({term_of[word] for word in one.words if word in term_of}) / one.length
        if share:
            shares[unit] = share / total
    return shares


def _rarities(words: WordAnswer) -> tuple[dict[str, float], Mapping[str, str]]:
    """Return the rarity of each query stem, and the stem of each query word.

    The rarity is the inverse document frequency.
    """
    stem_of = stems_of(words.rows)
    rarity: dict[str, float] = {}
    for word, rows in words.rows.items():
        value = math.log(1 + (words.total - rows + 0.5) / (rows + 0.5))
        rarity[stem_of[word]] = max(value, rarity.get(stem_of[word], 0.0))
    return rarity, {word: stem_of[word] for word in words.rows}


def _formed(words: Iterable[str]) -> re.Pattern[str]:
    """Return a regular expression for words that begin like the given words."""
    heads = sorted({word[:_HEAD] for word in words})
    return re.compile(rf" ((?:{'|'.join(map(re.escape, heads))})[^ ]*)")


def _near(words: str, formed: re.Pattern[str]) -> _Near:
    return _Near(formed.findall(f" {words}"), words.count(" ") + 1 if words else 0)


def stems_of(words: Iterable[str]) -> Mapping[str, str]:
    """Return the stem of each word, computed in one call."""
    with _lock:
        return _stemmer()(words)


def _fields(view: GraphView, units: Units, unit: str) -> tuple[str, str, str, str]:
    """Return a unit's name, enclosing names, path, and file name.

    The file name has no extension. For the main file of a package, it is the name of the directory.
    """
    node = view.index_of.get(unit)
    if node is not None:
        outer, _, name = view.qualname(node).rpartition(".")
        path = view.path(node)
    else:
        entry = units.entries[unit]
        outer, name, path = "", ("" if entry.kind == "code" else entry.title), entry.path
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return name, outer, path, folder.rpartition("/")[2] if stem in _FOLDERS_OWN and folder else stem


@cache
def _stemmer() -> Stemmer:
    return Stemmer()
