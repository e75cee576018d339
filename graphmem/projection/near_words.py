"""Which indexed words a misspelt one may have meant.

The words that begin like the missing one are read once and kept, sorted, as long as the generation of the index they are of. One
letter more, less, other or exchanged is then looked for along the branches that there are, as in a trie: what it costs is the length of
the word, not the number of words, of which "test" alone begins ten thousand in a large repository.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

_HEAD: Final = 3  # letters that are right
_LEAST: Final = 5  # letters of a word that may be misspelt
_ENDINGS: Final = 4  # forms that are looked for: indexed words have lost their endings, of up to three letters
_SHORTEST: Final = 4  # letters of such a form
_LONGER: Final = 5  # words that begin with the missing one
_ALIKE: Final = 3  # words like it
_MOST: Final = 50_000  # words kept, about 4 MB; above, those that were read before are read again
_LAST: Final = "\U0010ffff"  # comes after every letter
_BEGIN: Final = "FROM temp.vocabulary WHERE term >= ? AND term < ?"


class NearWords:
    """The words of one generation, as far as they were asked for. Safe to share between threads, each with its own connection."""

    def __init__(self) -> None:
        self._of_head: dict[str, list[str]] = {}  # sorted

    def nearest(self, db: sqlite3.Connection, word: str) -> list[str]:
        """Indexed words a missing one may have meant, commonest first, ties by the words.

        Those that begin with it; if there are none, those one edit away beyond the third letter from it or from what is left of it
        without an ending; if there are none, the longest that it begins with and that is more than half of it.

        Args:
            db: sees the generation; has the table `temp.vocabulary` of its words (fts5vocab, row).
            word: normalised; no row has it.
        """
        if len(word) < _HEAD:
            return []
        longer: list[tuple[str, int]] = db.execute(f"SELECT term, doc {_BEGIN}", (word, word + _LAST)).fetchall()
        if longer:
            return _commonest(longer, _LONGER)
        if len(word) < _LEAST:
            return []
        words = self._beginning_with(db, word[:_HEAD])
        near = {one for one in _one_edit_away(words, word) if _has(words, one)}
        if not near:
            begun = (word[:size] for size in range(len(word) - 1, max(_HEAD, len(word) // 2 + 1) - 1, -1))
            near = {one for one in (next((one for one in begun if _has(words, one)), None),) if one is not None}
        rows = "SELECT term, doc FROM temp.vocabulary WHERE term = ?"
        return _commonest([found for one in near for found in db.execute(rows, (one,))], _ALIKE)

    def _beginning_with(self, db: sqlite3.Connection, head: str) -> list[str]:
        """Indexed words with these first letters, sorted."""
        kept = self._of_head
        if head not in kept:
            # Joined by SQLite: a row for each of ten thousand words takes twice as long.
            (joined,) = db.execute(f"SELECT group_concat(term, ' ') {_BEGIN}", (head, head + _LAST)).fetchone()
            words = sorted(joined.split(" ")) if joined else []
            if sum(map(len, list(kept.values()))) + len(words) > _MOST:
                kept = self._of_head = {}
            kept[head] = words
            return words
        return kept[head]


def _commonest(rows: Sequence[tuple[str, int]], most: int) -> list[str]:
    return [term for term, _ in sorted(rows, key=lambda row: (-row[1], row[0]))[:most]]


def _has(words: Sequence[str], word: str) -> bool:
    at = bisect_left(words, word)
    return at < len(words) and words[at] == word


def _one_edit_away(words: Sequence[str], word: str) -> Iterator[str]:
    """Every spelling that one letter more, less, other or exchanged with its neighbour makes of a word or of its beginning.

    Letters that come in are only those with which some word goes on.

    Args:
        words: that begin with the word's head, sorted.
        word: at least `_LEAST` letters.
    """
    forms = [word[: len(word) - cut] for cut in range(_ENDINGS) if len(word) - cut >= _SHORTEST]
    yield from forms
    low, high = 0, len(words)
    for at in range(_HEAD, len(word) + 1):
        begun = word[:at]
        low, high = bisect_left(words, begun, low, high), bisect_right(words, begun + _LAST, low, high)
        letters = list(_next_letters(words, begun, low, high))
        for form in forms:
            if at > len(form):
                continue
            rest = form[at:]
            for letter in letters:
                yield begun + letter + rest
                if rest:
                    yield begun + letter + rest[1:]
            if rest:
                yield begun + rest[1:]
            if len(rest) > 1:
                yield begun + rest[1] + rest[0] + rest[2:]


def _next_letters(words: Sequence[str], begun: str, low: int, high: int) -> Iterator[str]:
    """Letters that come after a beginning, in the words from `low` to `high`, which all have it."""
    at = low
    while at < high:
        if len(words[at]) == len(begun):
            at += 1
            continue
        letter = words[at][len(begun)]
        yield letter
        at = bisect_right(words, begun + letter + _LAST, at, high)
