"""Decide whether two texts say the same, or the opposite.

* The same: one text contains all that the other says, word for word (`wording`), so it may replace both.
* Probably the same: the cosine is above the model's measured threshold, and at most one text has facts that the other lacks. Such texts are
  only linked, and none is replaced. Texts that share most words are never linked by this rule. They usually differ in one word or in the
  order of words, and so make two different statements.
* The opposite: a sentence in one text affirms something that a sentence with the same subject in the other text denies.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from math import ceil
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from graphmem.embedding.base import F32
from graphmem.memory.texts.wording import says_all_of
from graphmem.projection.words.text import STOP_WORDS, normalise

OVERLAP: Final = 0.70  # of distinct words: |both| / |either|
_ONE_WORD: Final = 2  # words that only one of two texts has, if one word replaces another
_FEWEST_WORDS: Final = 4  # with fewer words, a common phrase would be a duplicate of another
_TOPIC: Final = 0.5  # share of the words without the polar ones above which two texts have the same topic
_BLOCK: Final = 512  # rows per matrix product
_SIGNATURE_BITS: Final = 256
_MOST_APART: Final = (1 - OVERLAP) / (1 + OVERLAP)  # share of |a| + |b| that |a xor b| can be at the overlap


class Thresholds(NamedTuple):
    """Minimum cosines of texts that say the same, or have the same topic.

    The values are valid for one embedding model. `benchmarks/near_duplicates.py` measured them on labelled pairs.
    """

    duplicate: float  # from this cosine on, two texts probably say the same
    topic: float  # from this cosine on, two texts have the same topic
    pairs: int  # labelled pairs used for the measurement


class Similarity(NamedTuple):
    """The similarity of two memories: the cosine, and the shared words."""

    overlap: float
    cosine: float | None  # None if one of them has no vector of the model


@lru_cache(maxsize=1)
def thresholds() -> dict[str, Thresholds]:
    """Return the cosine thresholds of embedding models, by name.

    The keys are names as returned by `name_of`. The key `default` has the thresholds of any other model.
    """
    table = json.loads((files("graphmem.memory.texts") / "thresholds.json").read_text(encoding="utf-8"))
    return {model: Thresholds(row["duplicate"], row["topic"], row["pairs"]) for model, row in table["models"].items()}


def thresholds_of(model_id: str) -> Thresholds:
    """Return the cosine thresholds of an embedding model.

    A model that was not measured has the thresholds under `default` in `thresholds.json`.
    """
    table = thresholds()
    return table.get(name_of(model_id), table["default"])


def name_of(model_id: str) -> str:
    """Return the name under which a model's thresholds are stored.

    The name is the part of `model_id` before the `@`. After the `@`, the id may have a token limit.
    """
    return model_id.partition("@")[0]


# ---- words


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words of a memory that carry meaning.

    Words are normalised as in the word index. Stop words, such as "the", are left out, unless the memory has no other words.
    """
    words = normalise(text).split()
    return frozenset(word for word in words if word not in STOP_WORDS) or frozenset(words)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of words, 0 to 1.

    It is the number of words in both sets, divided by the number of words in either set.
    """
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


_FACT: Final = re.compile(
    r"`[^`\n]{1,80}`|\"[^\"\n]{1,60}\"|[\w.-]*[/\\][\w./\\-]+|\b\d+(?:[.,:]\d+)*%?|\b\w*\d\w*\b|\b[A-Za-z]+\w*(?:[._]\w+)+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b"
    r"|\b[A-Z]{2,}\b"
)


def facts_of(text: str) -> frozenset[str]:
    """Return the facts of a memory, such as numbers, paths and code names.

    Quotations and abbreviations are facts too.
    """
    return frozenset(found.strip("`\"'.,").casefold() for found in _FACT.findall(text))


def says_the_same(one: str, other: str, near: Similarity, model: Thresholds) -> bool:
    """Return whether one of two texts may replace both.

    `near` is their similarity. Two conditions must hold. The texts are similar: `near.overlap` or `near.cosine` is above the threshold. And
    one text has all that the other says, in the same words and order.
    """
    by_words = near.overlap > OVERLAP and min(len(words_of(one)), len(words_of(other))) >= _FEWEST_WORDS
    if not by_words and (near.cosine is None or near.cosine <= model.duplicate):
        return False
    return says_all_of(one, other) or says_all_of(other, one)


def says_it_in_other_words(one: str, other: str, near: Similarity, model: Thresholds) -> bool:
    """Return whether two texts probably say the same in different words.

    `near` is their similarity. Its cosine must be above the threshold of the embedding model `model`. The result is still False in three
    cases: each text has a fact that the other lacks, the texts share most words, or only one word was replaced.
    """
    if near.cosine is None or near.cosine <= model.duplicate or near.overlap > OVERLAP:
        return False
    words, others = words_of(one), words_of(other)
    if len(words ^ others) <= _ONE_WORD and _in_order(one, words & others) == _in_order(other, words & others):
        return False
    mine, theirs = facts_of(one), facts_of(other)
    return not (mine - theirs and theirs - mine)


def _in_order(text: str, words: frozenset[str]) -> list[str]:
    return [word for word in dict.fromkeys(normalise(text).split()) if word in words]


# ---- polarity

_NEGATORS: Final = frozenset(
    """
    not never no don't doesn't didn't shouldn't mustn't can't cannot won't isn't aren't wasn't without avoid avoids avoided nor neither stop
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
)
_OPPOSITES: Final = tuple(
    (frozenset(yes.split()), frozenset(no.split()))
    for yes, no in (
        ("always", "never"),
        ("enable enables enabled enabling", "disable disables disabled disabling"),
        ("add adds added adding", "remove removes removed removing drop drops dropped delete deletes deleted"),
        (
            "allow allows allowed permit permits permitted",
            "forbid forbids forbidden deny denies denied disallow disallowed prohibit prohibited ban banned",
        ),
        ("include includes included", "exclude excludes excluded"),
        ("safe", "unsafe dangerous"),
        ("required mandatory", "optional unnecessary unneeded"),
        ("prefer prefers preferred", "avoid avoids discourage discouraged"),
        ("supported supports works", "unsupported broken fails"),
        ("keep keeps", "remove removes drop drops discard discards"),
        ("sync synchronous", "async asynchronous"),
        ("true", "false"),
        ("accept accepts accepted", "reject rejects rejected refuse refuses refused"),
        ("mutable", "immutable"),
        ("public", "private"),
    )
)
_DENYING: Final = frozenset().union(_NEGATORS, *(no for _, no in _OPPOSITES))
_AFFIRMING: Final = frozenset(
    """
    always must should shall do does use uses used using can may is are was be has have will ever only just please want
    """.split()  # noqa: SIM905 - a list of quoted words reads worse
).union(*(yes for yes, _ in _OPPOSITES))
_POLAR: Final = _DENYING | _AFFIRMING
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+|,?\s+\bbut\b\s+")
_INSTEAD: Final = re.compile(r"\b(?:instead of|rather than|in place of|and not|, not)\b", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[\w./-]*\w(?:[’']t)?")


class _Claim(NamedTuple):
    topic: frozenset[str]
    affirms: bool
    polar: frozenset[str]


def opposed(one: str, other: str) -> bool:
    """Return whether a sentence of one text denies a sentence of the other.

    For example, one says "is thread-safe" and the other "is not thread-safe".
    """
    theirs = _claims(other)
    return any(_deny(mine, their) for mine in _claims(one) for their in theirs)


def _deny(one: _Claim, other: _Claim) -> bool:
    if one.affirms == other.affirms or not one.topic or not other.topic:
        return False
    return overlap(one.topic, other.topic) >= _TOPIC


@lru_cache(maxsize=4096)
def _claims(text: str) -> tuple[_Claim, ...]:
    claims: list[_Claim] = []
    for sentence in _SENTENCE.split(text[:2_000]):
        for place, part in enumerate(_INSTEAD.split(sentence)):
            tokens = [token.replace("’", "'").casefold().strip(".") for token in _TOKEN.findall(part)]
            polar = frozenset(token for token in tokens if token in _POLAR)
            # A double negation affirms; `never` and the verb that it denies count as one.
            denials = sum(token in _DENYING for token in tokens) + place
            topic = frozenset(
                word
                for token in tokens
                if token not in _POLAR
                for word in [token.removesuffix("s")]
                if word not in STOP_WORDS and len(word) > 1
            )
            claims.append(_Claim(topic, denials % 2 == 0, polar))
    return tuple(claims)


# ---- many at once


def near_words(sets: Sequence[frozenset[str]], known: int) -> list[list[int]]:
    """Return, for each new memory, the earlier memories that share many words.

    `sets` has the words of each memory; the memories from position `known` on are new. The result has one list for each new memory. It
    contains the ascending positions of the preceding memories whose overlap with the new one is above `OVERLAP`. Memories that share no
    rare word are not compared, because their overlap cannot be that high.

    Source: Bayardo, Ma, Srikant 2007 (prefix filtering, size filtering).
    """
    uses = Counter(word for one in sets for word in one)
    bit = {word: 1 << (crc32(word.encode()) & (_SIGNATURE_BITS - 1)) for word in uses}
    signatures = [_signature(bit[word] for word in one) for one in sets]
    holders: dict[str, list[int]] = defaultdict(list)
    sizes = [len(one) for one in sets]
    found: list[list[int]] = []
    for number, words in enumerate(sets):
        n, mine = sizes[number], signatures[number]
        # As many of the rarest words as a set with enough overlap can lack, plus one.
        rarest = sorted(words, key=lambda word: (uses[word], word))[: n - ceil(OVERLAP * n) + 1] if n >= _FEWEST_WORDS else []
        rarest = [word for word in rarest if uses[word] > 1]
        if number >= known:
            candidates = {other for word in rarest for other in holders[word]}
            # |a xor b| is at least the number of bits in which the signatures differ, so one check drops most candidates.
            near = [other for other in candidates if (mine ^ signatures[other]).bit_count() <= _MOST_APART * (n + sizes[other])]
            found.append(sorted(other for other in near if overlap(words, sets[other]) > OVERLAP))
        for word in rarest:
            holders[word].append(number)
    return found


def _signature(bits: Iterable[int]) -> int:
    signature = 0
    for one in bits:
        signature |= one
    return signature


def near_rows(new: F32, known: F32, least: float, keep: int) -> list[list[tuple[int, float]]]:
    """Return, for each row of `new`, the nearest earlier vectors with cosines.

    Earlier vectors are all rows of `known`, and the preceding rows of `new`. The result has one list for each row of `new`, with items (row
    number, cosine). The numbers count the rows of `known` first, then the rows of `new`. The search is exact.

    Args:
        new: float32 (n, dim), unit length.
        known: float32 (m, dim), unit length.
        least: minimum cosine of a returned vector.
        keep: maximum length of each list. The nearest vectors come first; equal cosines are ordered by row number.
    """
    everything = np.concatenate([known, new]) if len(known) else new
    found: list[list[tuple[int, float]]] = []
    for start in range(0, len(new), _BLOCK):
        block = new[start : start + _BLOCK]
        cosines = block @ everything[: len(known) + start + len(block)].T
        rows, columns = np.nonzero(cosines >= least)
        hits: list[list[tuple[int, float]]] = [[] for _ in range(len(block))]
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if column < len(known) + start + row:
                hits[row].append((column, float(cosines[row, column])))
        found += [sorted(one, key=lambda hit: (-hit[1], hit[0]))[:keep] for one in hits]
    return found
