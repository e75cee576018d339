"""Score search candidates by the words in their texts and names.

A candidate is a unit: a symbol with its own lines, or a chunk without a symbol. The word index finds chunks and knows the rarity of words.
This module counts the words of each candidate. The text of a function is its own lines in all found chunks. The function's name, enclosing
names and path are separate fields. A query of several sentences may describe several functions, each in one sentence. So each candidate is
also scored by the sentence that matches it best.

Source: Robertson, Zaragoza, Taylor 2004 (BM25F, simple version: the counts of all fields are weighted and added before saturation).
Parameters are measured in docs/decisions/0006-fusion.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from graphmem.projection.words.index import WordAnswer, WordIndex
from graphmem.projection.words.stem_numbers import having
from graphmem.projection.words.text import query_words
from graphmem.search.query.abbreviations import other_forms
from graphmem.search.request import Fields
from graphmem.search.units.stems import stems_of
from graphmem.search.units.units import StemsOfUnits, Units

_SENTENCE: Final = re.compile(r"\n+|(?<=[.;:!?])\s+")
_WORDS: Final = re.compile(r"\w{2,}")
_LEAST_WORDS: Final = 3  # minimum words of a sentence that is scored alone


class UnitWords(NamedTuple):
    """Word scores of the units (symbols or chunks) that match the query."""

    whole: dict[str, float]  # BM25F of the query
    sentence: dict[str, float]  # BM25F of its best sentence, relative to the best unit's; 0 to 1
    names: dict[str, float]  # share of the names of the unit, its enclosing units and its file that the query has; 0 to 1
    told: dict[str, float]  # share of the query that the first paragraph of the unit's documentation has; 0 to 1


class _Terms(NamedTuple):
    """The words of the query that occur in one field of a candidate.

    A field is, for example, the candidate's name. The words are stems, in the order in which they stand in the field. The length is the
    number of all words in the field.
    """

    terms: list[str]
    length: int


def unit_words(units: Units, words: WordAnswer, index: WordIndex, query: str, fields: Fields, *, with_docs: bool = False) -> UnitWords:
    """Score units (symbols, or chunks without one) by words of the query.

    Args:
        units: the candidates with their words.
        words: answer of the word index, with the query's words and the number of rows that contain each.
        index: the word index.
        query: the search text.
        fields: weights of a unit's name, path and other fields.
        with_docs: whether documentation is scored.
    """
    if not words.rows:
        return UnitWords({}, {}, {}, {})
    rarity, stem_of_row = _rarities(words)
    first = {stem_of_row[word] for word in query_words(query.strip().split("\n", 1)[0]) if word in stem_of_row}
    weight = {stem: value * (1.0 if stem in first else fields.rest) for stem, value in rarity.items()}
    others = other_forms(weight, stems_of)
    term_of = {stem: stem for stem in weight} | {stem: term for stem, term in others.items() if term in weight}
    texts, lengths = _of_texts(units.stems, index, term_of)
    facts = units.facts(units.stems.units)
    wanted = frozenset(term_of)
    met: dict[int, _Terms] = {}
    named = {unit: _named(facts[unit].fields, term_of, met) for unit in units.stems.units if not facts[unit].stems.isdisjoint(wanted)}
    average = sum(lengths) / max(1, len(lengths)) or 1.0
    worth = (fields.name, fields.outer, fields.path)
    saturated: dict[str, dict[str, float]] = {}
    for unit, text, length in zip(units.stems.units, texts, lengths, strict=True):
        joined: dict[str, float] = {}
        shorter = 1 - fields.b + fields.b * length / average
        factor = 1 / shorter
        for term in text:
            joined[term] = joined.get(term, 0.0) + factor
        for one, factor in zip(named.get(unit, ()), worth, strict=False):
            for term in one.terms if factor else ():
                joined[term] = joined.get(term, 0.0) + factor
        if joined:
            saturated[unit] = {term: tf / (tf + fields.k1) for term, tf in joined.items()}
    whole = _bm25f(saturated, weight, fields.coverage)
    return UnitWords(
        whole,
        _best_sentence(saturated, whole, rarity, sentences(query), stem_of_row, fields),
        _shares(named, fields),
        _documentation_scores(units, wanted, term_of, weight, fields.focus) if with_docs else {},
    )


def _named(fields: Sequence[list[str]], term_of: Mapping[str, str], met: dict[int, _Terms]) -> list[_Terms]:
    """Return, for each name of a candidate, the query's words in that name.

    The result has one item for each of `fields`.

    Args:
        fields: for each name, such as the candidate's own name or path, the stems of the words in it.
        term_of: maps a stem to the word of the query that it stands for.
        met: cache of results by the `id` of a list of stems, because many candidates share a path; receives new results.
    """
    for field in fields:
        if id(field) not in met:
            met[id(field)] = _Terms([term_of[stem] for stem in field if stem in term_of], len(field))
    return [met[id(field)] for field in fields]


def _of_texts(stems: StemsOfUnits, index: WordIndex, term_of: Mapping[str, str]) -> tuple[list[list[str]], list[int]]:
    """Return the query's words in each candidate's text, and text lengths.

    `term_of` maps a stem to the word of the query that it stands for. The words are stems, and a length is a number of words. Both results
    are in the order of the candidates.
    """
    count = len(stems.units)
    found: list[list[str]] = [[] for _ in range(count)]
    term = {number: term_of[stem] for stem, number in index.numbers_of(term_of).items()}
    at = np.flatnonzero(having(stems.stems, term))
    for unit, number in zip(stems.owner[at].tolist(), stems.stems[at].tolist(), strict=True):
        found[unit].append(term[number])
    return found, np.bincount(stems.owner, minlength=count).tolist() if count else []


def sentences(query: str) -> list[str]:
    """Split a query into sentences and lines of at least three words.

    Repeats are left out. The result is empty if there is only one sentence.
    """
    parts = dict.fromkeys(part.strip(" *-\t") for part in _SENTENCE.split(query))
    long = [part for part in parts if len(_WORDS.findall(part)) >= _LEAST_WORDS]
    return long if len(long) > 1 else []


def _bm25f(saturated: Mapping[str, Mapping[str, float]], weight: Mapping[str, float], coverage: float) -> dict[str, float]:
    """Return the BM25F score of each unit that has a word of the query.

    The score is multiplied by the share of the query's words that the unit has, raised to a power.

    Args:
        saturated: maps a unit (a symbol, or a chunk without a symbol) to its words, as stems, with their saturated counts.
        weight: weight of each word of the query, as a stem. Words with more weight count more in the share.
        coverage: exponent of the share.
    """
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
    """Return each unit's best score over all sentences of the query, 0 to 1.

    The best unit for a sentence gets 1. Only the longest sentences are used.

    Args:
        saturated: maps a unit (a symbol, or a chunk without a symbol) to its words, as stems, with their saturated counts.
        whole: score of each unit for the whole query, used instead if `parts` is empty.
        rarity: rarity of each stem.
        parts: the sentences of the query.
        stem_of: stem of each word of the query.
        fields: parameters of the score.
    """
    best: dict[str, float] = {}
    # The longest carry most; a query with more sentences is a log or a discussion.
    chosen = sorted(parts, key=lambda part: (-len(part), part))[: fields.sentences]
    for scores in [_bm25f(saturated, _within(rarity, part, stem_of), fields.coverage) for part in chosen] or [dict(whole)]:
        high = max(scores.values(), default=1.0)
        for unit, score in scores.items():
            best[unit] = max(score / high, best.get(unit, 0.0))
    return best


def _within(rarity: Mapping[str, float], part: str, stem_of: Mapping[str, str]) -> dict[str, float]:
    """Return the stems of one sentence of a query, each with its rarity.

    `part` is the sentence. `rarity` maps a stem to its rarity, and `stem_of` maps a word to its stem.
    """
    return {stem_of[word]: rarity[stem_of[word]] for word in query_words(part) if word in stem_of}


def _shares(named: Mapping[str, list[_Terms]], fields: Fields) -> dict[str, float]:
    """Return how much of each unit's names the query contains, 0 to 1.

    A unit is a symbol, or a chunk without a symbol. Names are the unit's own name, its enclosing names and its file's name. For each of the
    three, the share of its words that the query has is computed. The result is the weighted mean of the shares, by unit. `named` has the
    query's words in each name, and `fields` the weights.
    """
    worth = (fields.name_share, fields.outer_share, fields.file_share)
    total = math.fsum(worth)
    shares: dict[str, float] = {}
    for unit, (name, outer, _, file) in named.items():
        share = 0.0
        for one, counts in zip((name, outer, file), worth, strict=True):
            if one.terms:
                share += counts * len(set(one.terms)) / one.length
        if share:
            shares[unit] = share / total
    return shares


def _documentation_scores(
    units: Units, wanted: frozenset[str], term_of: Mapping[str, str], weight: Mapping[str, float], focus: float
) -> dict[str, float]:
    """Return the share of the query's words in each unit's documentation.

    A unit is a symbol, or a chunk without a symbol. Documentation with many other words gets a lower score.

    Args:
        units: the candidates.
        wanted: stems of the query's words, and of their other forms.
        term_of: maps a stem in `wanted` to the word of the query for which it stands, as a stem.
        weight: weight of each word of the query, as a stem.
        focus: exponent of the factor that lowers the score of documentation with other words. The factor is the number of the query's words
            in the documentation, divided by the length of the documentation.
    """
    whole = math.fsum(weight.values()) or 1.0
    told: dict[str, float] = {}
    for unit, doc in units.documentation().items():
        terms = {term_of[stem] for stem in doc.stems & wanted}
        if terms:
            told[unit] = math.fsum(weight[term] for term in terms) / whole * (len(terms) / doc.length) ** focus
    return told


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
