"""Filter memories that are relevant to a message, by a fixed threshold.

A ranking always returns some memory, even if none is relevant. A memory is relevant if its vector is near the vector of the message. A
memory is also relevant if it contains enough words of a single sentence in the message. A word weighs more if it is rare in memories and
code together. A word that occurs nowhere counts as the rarest. So "deploy to kubernetes" matches nothing in a project that mentions
neither.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from graphmem.projection.words.text import STOP_WORDS, query_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from graphmem.projection.memories.index import MemoryIndex
    from graphmem.projection.words.postings import Elsewhere

SHARE: Final = 0.25  # minimum share of a sentence's weight
WORDS: Final = 2  # minimum words in common, if the sentence has as many: a single one is chance
RARE: Final = math.log(10)  # their minimum total weight: that of a word in a tenth of all texts
MAX_SENTENCES: Final = 64
_SENTENCE: Final = re.compile(r"(?<=[.!?;:])\s+|\n+")


def sentences_of(text: str) -> list[frozenset[str]]:
    """Return the set of words of each sentence or line of a message.

    Words without content, such as "the", are left out. If no sentence has a word with content, all words are returned. At most 64 sets are
    returned.
    """
    parts = [frozenset(query_words(part)) for part in _SENTENCE.split(text)]
    meant = [part - STOP_WORDS for part in parts]
    return list(dict.fromkeys(part for part in (meant if any(meant) else parts) if part))[:MAX_SENTENCES]


def spoken_of(index: MemoryIndex, sentences: Collection[frozenset[str]], code: Elsewhere, ids: Collection[str]) -> set[str]:
    """Return the memories that share enough words with a message.

    Only memories with one of `ids` are considered. A memory must have enough of the words of a single sentence. Rare words weigh more.

    Args:
        index: index of all memories.
        sentences: the words of each sentence, from `sentences_of`.
        code: for each word, the number of pieces of code that contain it.
        ids: ids of the memories to filter.
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
