"""Find names and quoted phrases of a query exactly as they are written.

BM25 splits `session_id` into words and also finds texts with the separate words. Code that contains the exact name or message is probably
related to the query. Exact matches matter most for names that the project does not define: parameters, keys, names from libraries.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from graphmem.projection.words.text import STOP_WORDS
from graphmem.search.query.query_type import is_asked, mentions, phrases

MOST: Final = 24  # names and phrases of a query that are used, from its start: a pasted log has hundreds
_LEAST: Final = 3  # minimum letters of a name
_LEAST_RUN: Final = 3  # words
_LONGEST_MESSAGE: Final = 40  # words
_QUOTES: Final = "\"'`"
_OF_VALUES: Final = "/\\"  # signs of paths
_SIGNS: Final = ".,:;!?'\"()`"


def literal(query: str, found: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Map each unit to the share of the query's names that it contains.

    A unit is a symbol, or a chunk without a symbol. The share is 0 to 1. Quoted phrases count as names. A name or phrase that fewer units
    contain has more weight. Only the last part of a dotted name is matched, because code that uses a name rarely writes the other parts.

    Args:
        query: the search text.
        found: units with their texts; a unit may have several.
    """
    wanted = _wanted(query)
    texts: dict[str, str] = {}
    for unit, text in found if wanted else ():
        texts[unit] = f"{texts[unit]}\n{text}" if unit in texts else text
    score: dict[str, float] = {}
    total = 0.0
    for text in wanted:
        whole = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
        having = [unit for unit, lines in texts.items() if text in lines and whole.search(lines)]
        if having:
            rarity = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
            total += rarity
            for unit in having:
                score[unit] = score.get(unit, 0.0) + rarity
    return {unit: value / total for unit, value in score.items()}


def is_message(query: str) -> bool:
    """Whether a query may be a message of a program: one line, no question."""
    return "\n" not in query.strip() and _LEAST_RUN <= len(query.split()) <= _LONGEST_MESSAGE and not is_asked(query)


def messages(query: str, found: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Map each unit to the share of a program's message that the unit has.

    A unit is a symbol, or a chunk without a symbol. The message is the query. A program fills values into a message, so the code often has
    only the parts between the values. The share is that of all runs of consecutive words that the unit has. Words such as "the" are not
    counted, nor words that look like values: paths, numbers and quoted words. A run must have at least three words, and at least two words
    that are counted. If a unit has the whole message, units that have only a part of it, such as the beginning of a similar message, are
    left out.

    Args:
        query: the search text.
        found: units with their texts; a unit may have several.
    """
    words = query.split()
    counts = [not _is_value(word) and word.strip(_SIGNS).casefold() not in STOP_WORDS and any(map(str.isalpha, word)) for word in words]
    best: dict[str, float] = {}
    for unit, text in found:
        if worth := sum(_runs(words, counts, text)):
            best[unit] = max(worth / sum(counts), best.get(unit, 0.0))
    whole = {unit: share for unit, share in best.items() if share == 1.0}
    return whole or best


def _runs(words: Sequence[str], counts: Sequence[bool], text: str) -> Iterator[int]:
    """Yield the number of counted words in each run that `text` contains.

    `words` are the words of the query, a message of a program. A run is a sequence of them that is also in `text`, the text of one piece of
    code. Runs do not overlap, and each is as long as possible. `counts` tells for each word whether it is counted.
    """
    at = 0
    while at + _LEAST_RUN <= len(words):
        end = at + _LEAST_RUN
        if " ".join(words[at:end]) not in text:
            at += 1
            continue
        while end < len(words) and " ".join(words[at : end + 1]) in text:
            end += 1
        if (worth := sum(counts[at:end])) > 1:
            yield worth
        at = end


def _is_value(word: str) -> bool:
    """Whether a word of a message looks like a value that was filled in.

    Such words are paths, words with digits, and words that begin with a quotation mark.
    """
    return word[0] in _QUOTES or any(sign in _OF_VALUES or sign.isdigit() for sign in word)


def _wanted(query: str) -> list[str]:
    names = (mention.text.rpartition(".")[2] for mention in mentions(query) if mention.is_explicit)
    return list(dict.fromkeys([*(name for name in names if len(name) >= _LEAST), *phrases(query)]))[:MOST]
