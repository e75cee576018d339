"""Find indexed words that may be the correct form of a misspelt word.

The indexed words with the same first letters as the misspelt word are read once, sorted, and cached until the index changes. Words with one
letter inserted, removed, replaced or exchanged are then searched by common prefixes, as in a trie. So the time depends on the length of the
word, and not on the number of indexed words. This matters because in a large repository ten thousand words begin with "test".
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

_HEAD: Final = 3  # first letters that must be right
_LEAST: Final = 5  # minimum letters of a word that may be misspelt
_ENDINGS: Final = 4  # forms that are searched: indexed words have lost their endings, of up to three letters
_SHORTEST: Final = 4  # minimum letters of such a form, and of a word that is found by it
_LONGER: Final = 5  # results that begin with the missing word
_ALIKE: Final = 3  # results similar to it
_MOST: Final = 50_000  # words kept, about 4 MB; above, the earlier ones are read again
_LAST: Final = "\U0010ffff"  # sorts after every letter
_BEGIN: Final = "FROM temp.vocabulary WHERE term >= ? AND term < ?"


class NearWords:
    """Cache of indexed words, grouped by their first letters.

    An instance serves one state of the word index. Threads may share it, each with its own connection.
    """

    def __init__(self) -> None:
        self._of_head: dict[str, list[str]] = {}  # sorted

    def nearest(self, db: sqlite3.Connection, word: str) -> list[str]:
        """Return the indexed words that a misspelt word may stand for.

        The most frequent words come first; ties are ordered by the words. The following searches are tried in order, until one finds a
        word:

        - words that begin with the misspelt word;
        - words of at least four letters that differ by at most one edit from the misspelt word, or from the misspelt word without its last
          one to three letters. The first three letters must be the same;
        - the longest prefix of the misspelt word that is an indexed word, has at least four letters and is longer than half of it.

        Args:
            db: a connection to the current state of the word index, with the table `temp.vocabulary` of its words (fts5vocab, row).
            word: a normalised word that no row has.
        """
        if len(word) < _HEAD:
            return []
        longer: list[tuple[str, int]] = db.execute(f"SELECT term, doc {_BEGIN}", (word, word + _LAST)).fetchall()
        if longer:
            return _commonest(longer, _LONGER)
        if len(word) < _LEAST:
            return []
        words = self._beginning_with(db, word[:_HEAD])
        near = {one for one in _one_edit_away(words, word) if len(one) >= _SHORTEST and _has(words, one)}
        if not near:
            begun = (word[:size] for size in range(len(word) - 1, max(_SHORTEST, len(word) // 2 + 1) - 1, -1))
            near = {one for one in (next((one for one in begun if _has(words, one)), None),) if one is not None}
        rows = "SELECT term, doc FROM temp.vocabulary WHERE term = ?"
        return _commonest([found for one in near for found in db.execute(rows, (one,))], _ALIKE)

    def _beginning_with(self, db: sqlite3.Connection, head: str) -> list[str]:
        """Return the indexed words that begin with `head`, sorted."""
        kept = self._of_head
        if head not in kept:
            # Joined by SQLite: one row for each of ten thousand words takes twice as long.
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
    """Yield spellings that differ by at most one edit from a form of a word.

    The forms are the whole word, and the word without its last one to three letters. An edit inserts, removes or replaces a letter, or
    exchanges two neighbours. A new letter is tried only if some indexed word continues with it.

    Args:
        words: sorted words that begin with the word's first letters.
        word: a word of at least `_LEAST` letters.
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
    """Yield each letter that follows the prefix `begun` in some words.

    All words from position `low` to `high` begin with this prefix.
    """
    at = low
    while at < high:
        if len(words[at]) == len(begun):
            at += 1
            continue
        letter = words[at][len(begun)]
        yield letter
        at = bisect_right(words, begun + letter + _LAST, at, high)
