"""Choose the lines of a hit that show why it matches the query.

These lines contain words of the query, and are shown with their line numbers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from graphmem.answers import MatchedLine
from graphmem.projection.text import STOP_WORDS, query_words
from graphmem.search.unit_words import stems_of

MOST: Final = 3  # lines of a hit
_WIDTH: Final = 160  # characters of a line
_SCANNED: Final = 600  # lines of a hit that are read
_SUMMARY: Final = 160  # characters
_SHORT: Final = 40
_HEAD: Final = 2  # initial letters that the stemmer never changes
_ROLE: Final = re.compile(r":[\w:]+:`~?([^`<]+?)(?: <[^`>]*>)?`|``([^`]+)``")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


class Wanted(NamedTuple):
    """The stems of a query's words, to find lines that contain them."""

    stems: frozenset[str]

    @classmethod
    def by(cls, query: str) -> Wanted:
        """Return the stems of a query's words.

        Words such as "the" count only if the query has no others.
        """
        words = query_words(query)
        return cls(frozenset(stems_of([word for word in words if word not in STOP_WORDS] or words).values()))

    def lines(self, numbered: Iterable[tuple[int, str]], name: str = "") -> list[MatchedLine]:
        """Choose at most MOST lines that together have most of the words.

        A word that fewer lines contain counts more. Each further line is chosen for words that the earlier lines lack.

        Args:
            numbered: the lines of one hit with their numbers in the file.
            name: name of the hit, which is shown with the lines. A line that only repeats it is left out.
        """
        texts = {number: line.strip() for number, line in list(numbered)[:_SCANNED]}
        found = self._stems_in(texts)
        if name and found:
            of_name = set(stems_of(query_words(name)).values())
            found = {number: stems for number, stems in found.items() if not (stems <= of_name and _has_name(texts[number], name))}
        rows = Counter(stem for stems in found.values() for stem in stems)
        weight = {stem: 1 / math.log2(1 + count) for stem, count in rows.items()}
        chosen: list[int] = []
        seen: set[str] = set()
        while len(chosen) < MOST and (left := [number for number in found if found[number] - seen]):
            best = max(left, key=lambda number: (math.fsum(weight[stem] for stem in sorted(found[number] - seen)), -number))
            chosen.append(best)
            seen |= found[best]
        return [MatchedLine(number, _cut(texts[number], _WIDTH)) for number in sorted(chosen)]

    def _stems_in(self, texts: Mapping[int, str]) -> dict[int, frozenset[str]]:
        # Stems keep the beginning of a word but for its last two letters. Words with accents lose them.
        heads = [stem[: max(_HEAD, len(stem) - 2)] for stem in self.stems]
        likely = {number: text for number, text in texts.items() if not text.isascii() or any(map(text.lower().__contains__, heads))}
        words = {number: query_words(text) for number, text in likely.items()}
        stems = stems_of({word for of_line in words.values() for word in of_line})
        found = {number: self.stems.intersection(map(stems.__getitem__, of_line)) for number, of_line in words.items()}
        return {number: of_line for number, of_line in found.items() if of_line}


def _has_name(text: str, name: str) -> bool:
    """Whether a line contains a name as a whole word."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def summary_of(doc: str) -> str:
    """Return the first sentence of a documentation text, on one line.

    A short first sentence is followed by the second. Markup of reStructuredText is removed.
    """
    paragraph = _ROLE.sub(lambda match: match[1] or match[2], " ".join(doc.strip().partition("\n\n")[0].split()))
    said = ""
    for sentence in _SENTENCE.split(paragraph):
        said = f"{said} {sentence}".strip()
        if len(said) >= _SHORT:
            break
    return _cut(said, _SUMMARY)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
