"""Choose the lines of a hit that show why it matches the query.

These lines contain words of the query, and are shown with their line numbers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple

from graphmem.answers import MatchedLine
from graphmem.projection.words.text import meaningful, normalise, query_words
from graphmem.search.units.stems import stems_of

MOST: Final = 3  # lines of a hit
_WIDTH: Final = 160  # characters of a line
_SCANNED: Final = 600  # lines of a hit that are read
_SUMMARY: Final = 160  # characters
_SHORT: Final = 40
_LEAST_REPEATED: Final = 3  # words of a line that may repeat the summary
_ROLE: Final = re.compile(r":[\w:]+:`~?([^`<]+?)(?: <[^`>]*>)?`|``([^`]+)``")
# A description of a parameter, a result or an error, in the notations of Sphinx and of JSDoc.
_FIELD: Final = re.compile(
    r"(^|\s)(:(arg|argument|param|parameter|type|rtype|returns?|raises?|keyword|ivar)\b[^:]*:(?!`)|[@\\](param|returns?|throws|template)\b)"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


class Wanted(NamedTuple):
    """The word stems of a query, to find lines that contain them."""

    stems: frozenset[str]

    @classmethod
    def by(cls, query: str) -> Wanted:
        """Return the stems of a query's words.

        Words such as "the" count only if the query has no others.
        """
        return cls(frozenset(stems_of(meaningful(query_words(query))).values()))

    def lines(
        self, numbered: Iterable[tuple[int, str]], stems: Mapping[int, frozenset[str]], name: str = "", summary: str = ""
    ) -> list[MatchedLine]:
        """Choose at most MOST lines that together have most of the query's words.

        A word that fewer lines contain counts more. Each line is chosen for the words that no line chosen before it has. The result is in
        the order of the file.

        Args:
            numbered: the lines of one hit with their numbers in the file.
            stems: the stems of the query that each line has; lines without any are left out.
            name: name of the hit, which is shown with the lines. A line that has this name and no other word of the query is left out.
            summary: summary of the hit, which is shown with the lines. A line of documentation that repeats it is left out.
        """
        texts = {number: line.strip() for number, line in islice(numbered, _SCANNED) if number in stems}
        found = {number: stems[number] for number in texts}
        if name and found:
            of_name = set(stems_of(query_words(name)).values())
            found = {number: stems for number, stems in found.items() if not (stems <= of_name and _has_name(texts[number], name))}
        if summary and found:
            shown = f" {normalise(summary)} "
            found = {number: stems for number, stems in found.items() if not _is_within(texts[number], shown)}
        rows = Counter(stem for stems in found.values() for stem in stems)
        weight = {stem: 1 / math.log2(1 + count) for stem, count in rows.items()}
        chosen: list[int] = []
        seen: set[str] = set()
        while len(chosen) < MOST and (left := [number for number in found if found[number] - seen]):
            best = max(left, key=lambda number: (math.fsum(weight[stem] for stem in sorted(found[number] - seen)), -number))
            chosen.append(best)
            seen |= found[best]
        return [MatchedLine(number, _cut(texts[number], _WIDTH)) for number in sorted(chosen)]


def _has_name(text: str, name: str) -> bool:
    """Whether a line contains a name as a whole word."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_is_of_word(text[at - 1 : at]) or _is_of_word(text[end : end + 1])):
            return True
        at = text.find(name, at + 1)
    return False


def _is_within(text: str, shown: str) -> bool:
    """Whether the words of a line occur, one after the other, in `shown`.

    `shown` has normalised words. Lines of fewer than three words give False, because they may be code.
    """
    words = normalise(text)
    return words.count(" ") >= _LEAST_REPEATED - 1 and f" {words} " in shown


def _is_of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def summary_of(doc: str) -> str:
    """Return the first sentence of a documentation text, on one line.

    A short first sentence is followed by the second. Markup of reStructuredText is removed. Descriptions of parameters are left out.
    """
    paragraph = _FIELD.split(" ".join(doc.strip().partition("\n\n")[0].split()), maxsplit=1)[0]
    paragraph = _ROLE.sub(lambda match: match[1] or match[2], paragraph)
    said = ""
    for sentence in _SENTENCE.split(paragraph):
        said = f"{said} {sentence}".strip()
        if len(said) >= _SHORT:
            break
    return _cut(said, _SUMMARY)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
