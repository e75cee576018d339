"""Find the stems of words; cache the stems of short texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from threading import Lock
from typing import Final

from graphmem.projection.words.postings import Stemmer
from graphmem.projection.words.text import normalise

_MOST_TEXTS: Final = 20_000  # short texts whose stems are kept
_stemming: Final = Lock()
_of_text: Final[dict[str, list[str]]] = {}  # the stems of short texts, such as names, paths and summaries


def stems_of_texts(texts: Iterable[str]) -> dict[str, list[str]]:
    """Map each text to the stems of its words, in the order of the words.

    The results are cached, because searches meet the same names and paths again.
    """
    wanted = list(texts)
    known = {text: stems for text in wanted if (stems := _of_text.get(text)) is not None}
    fresh = {text: normalise(text).split() for text in wanted if text not in known}
    if fresh:
        stem = stems_of(dict.fromkeys(word for words in fresh.values() for word in words))
        found = {text: [stem[word] for word in words] for text, words in fresh.items()}
        if len(_of_text) + len(found) > _MOST_TEXTS:
            _of_text.clear()
        _of_text.update(found)
        known |= found
    return known


def stems_of(words: Iterable[str]) -> Mapping[str, str]:
    """Map each of `words` to its stem; all are computed in one call."""
    with _stemming:
        return _stemmer()(words)


@cache
def _stemmer() -> Stemmer:
    return Stemmer()
