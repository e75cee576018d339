"""Which memories a text speaks of at all: what a search ranks is only better or worse than the rest, and something is always best.

A memory is spoken of when the two are near by an absolute measure: their vectors, or enough of the words of one sentence, weighted by
how rare they are in memories and code together. A word that nothing here has counts as the rarest, so that "deploy to kubernetes" has
nothing in common with a project that never heard of either.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from graphmem.projection.text import STOP_WORDS, query_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from graphmem.projection.memories import MemoryIndex
    from graphmem.projection.postings import Elsewhere

SHARE: Final = 0.25  # of a sentence's weight that a memory has
WORDS: Final = 2  # at least, of a sentence that has as many: one word in common is chance
RARE: Final = math.log(10)  # weight they have together: that of a word in a tenth of all texts
MAX_SENTENCES: Final = 64
_SENTENCE: Final = re.compile(r"(?<=[.!?;:])\s+|\n+")


def sentences_of(text: str) -> list[frozenset[str]]:
    """The words that carry meaning of each sentence or line, the first 64; of a text without such words all of them."""
    parts = [frozenset(query_words(part)) for part in _SENTENCE.split(text)]
    meant = [part - STOP_WORDS for part in parts]
    return list(dict.fromkeys(part for part in (meant if any(meant) else parts) if part))[:MAX_SENTENCES]


def spoken_of(index: MemoryIndex, sentences: Collection[frozenset[str]], code: Elsewhere, ids: Collection[str]) -> set[str]:
    """Those of some memories that have enough of the words of one sentence.

    Args:
        index: of all memories.
        sentences: of `sentences_of`.
        code: in how many texts of code their words are.
        ids: of the memories.
    """
    terms = index.terms(frozenset().union(*sentences), ids)
    total = terms.texts + code.total
    rows: dict[str, int] = {}
    for word, term in terms.of_word.items():
        rows[term] = max(rows.get(term, 0), code.rows.get(word, 0))
    weights = {term: _weight(count + terms.rows.get(term, 0), total) for term, count in rows.items()}
    asked = [{terms.of_word[word] for word in sentence} for sentence in sentences]
    return {one for one in ids if any(_has_enough(sentence, terms.had_by.get(one, set()), weights) for sentence in asked)}


def _weight(rows: int, total: int) -> float:
    return math.log(1 + (max(total - rows, 0) + 0.5) / (rows + 0.5))


def _has_enough(sentence: set[str], had: set[str], weights: Mapping[str, float]) -> bool:
    common = sentence & had
    weight = math.fsum(weights[term] for term in common)
    enough = SHARE * math.fsum(weights[term] for term in sentence)
    return len(common) >= min(WORDS, len(sentence)) and weight >= max(enough, RARE)
