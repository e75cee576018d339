"""Normalise texts for word search: indexed texts and queries alike.

Identifiers are kept whole and also split (`getUserName` -> getusername get user name; `HTTPServer2` -> httpserver2 http server2; `x86_64`
-> x86_64 x86 64). Case is folded, digits are kept, and underscores at the ends are removed. Text in a script without spaces, such as
Chinese, is split into overlapping pairs of characters. The result is words separated by spaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_WORD: Final = re.compile(r"\w+")
_WORD_OR_LINE: Final = re.compile(r"\w+|\n")
_SPACED: Final = bytes(code if chr(code).isalnum() or code == ord("_") else ord(" ") for code in range(128)) + b" " * 128
_SPACED_LINES: Final = _SPACED[:10] + b"\n" + _SPACED[11:]
# HTTPServer2 -> HTTP, Server2; a separate run of digits is a part.
_PART: Final = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+[a-z]*")
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MAX_WORD: Final = 64  # characters; longer ones are keys, hashes and encoded data, which nobody searches for

# English function words: they carry no meaning in a question, and are searched only if there are no other words.
STOP_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but by can cannot
    could did do does doing don down during each few for from further had has have having he her here hers herself him himself his
    how i if in into is it its itself just let me more most my myself no nor not now of off on once only or other our ours
    ourselves out over own same she should so some such than that the their theirs them themselves then there these they this
    those through to too under until up us use used uses using very was we were what when where which while who whom why will with
    would you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a list of 150 quoted words reads worse
)

# The same for German. Words that are English as well, such as "die", are dropped only from a query that is German.
_GERMAN: Final = frozenset(
    """
    wie wo wer wen wem wann warum wieso weshalb welche welcher welches welchen wodurch womit woher wohin
    ist sind wird werden wurde wurden hat haben kann können muss müssen soll sollen darf
    der das den dem des ein eine einen einem einer eines kein keine keinen und oder aber nicht nur auch noch schon
    auf aus bei beim für mit nach von vom vor zu zum zur über unter zwischen durch ohne wenn dass ob damit dabei
    ich du er sie es wir ihr man sich mein unser dieser diese dieses diesen hier dort etwas
    """.split()  # noqa: SIM905 - as above
)
_GERMAN_TOO: Final = frozenset("die was war man am an im in so bin hat wer des den also".split())  # noqa: SIM905 - as above
_LEAST_GERMAN: Final = 2  # words that make a query German


class _Expansions(dict[str, str]):
    """Cache of the words into which a name is split, as `getUserName` is.

    The cache is emptied when it becomes larger than the vocabulary of a large repository.
    """

    def __missing__(self, word: str) -> str:
        if len(self) > 400_000:
            self.clear()
        expansion = self[word] = " ".join(_expand(word))
        return expansion


_expansions = _Expansions()


def forget_expansions() -> None:
    """Release the cache of normalised words; it is filled again when needed."""
    _expansions.clear()


def normalise(text: str) -> str:
    """Return the words of a string, as they are indexed and searched.

    Order and repetitions are kept, so that words can be counted.
    """
    # A table normalises plain text in a quarter of the time; the words are the same.
    words = text.encode("ascii").translate(_SPACED).decode("ascii").split() if text.isascii() else _WORD.findall(text)
    return " ".join(filter(None, map(_expansions.__getitem__, words)))


def normalised_lines(text: str) -> str:
    """Return the words of a string as `normalise` does, plus line breaks.

    Each line break is a word of its own.
    """
    if text.isascii():
        words = text.encode("ascii").translate(_SPACED_LINES).replace(b"\n", b" \n ").decode("ascii").split(" ")
    else:
        words = _WORD_OR_LINE.findall(text)
    return " ".join(filter(None, map(_expansions.__getitem__, words)))


def query_words(text: str) -> list[str]:
    """Return the distinct words of a query, in order of first appearance."""
    return list(dict.fromkeys(normalise(text).split()))


def meaningful(words: Sequence[str]) -> list[str]:
    """Return the words of a query that carry meaning, or all if none does.

    Function words such as "the" are left out. German function words are left out, too, if the query has at least two that English lacks.
    """
    left = [word for word in words if word not in STOP_WORDS]
    if sum(word in _GERMAN and word not in _GERMAN_TOO for word in words) >= _LEAST_GERMAN:
        left = [word for word in left if word not in _GERMAN and word not in _GERMAN_TOO]
    return left or list(words)


def _expand(word: str) -> list[str]:
    word = word.strip("_")
    if not word or len(word) > _MAX_WORD:
        return []
    parts = _parts(word)
    whole = word.casefold()
    if len(parts) < 2:
        return parts or [whole]
    return parts if _UNSPACED.search(word) else [whole, *parts]


def _parts(word: str) -> list[str]:
    if word.isascii():
        return [part.lower() for part in _PART.findall(word)]
    parts: list[str] = []
    for piece in word.split("_"):
        at = 0
        for run in _UNSPACED.finditer(piece):
            parts += _cased(piece[at : run.start()])
            signs = run.group()
            parts += [signs[i : i + 2] for i in range(max(1, len(signs) - 1))]
            at = run.end()
        parts += _cased(piece[at:])
    return parts


def _cased(piece: str) -> list[str]:
    """Split a word before each upper-case letter after a lower-case one.

    This works for any script. `getUser` gives `get` and `user`.
    """
    parts, start = [], 0
    for i in range(1, len(piece)):
        if piece[i].isupper() and not piece[i - 1].isupper():
            parts.append(piece[start:i])
            start = i
    parts.append(piece[start:])
    return [part.casefold() for part in parts if part]
