"""Give each stem of a word a number, to count words in texts quickly.

The word index stores each text as the numbers of its stems. So a search can count the words in each line of a chunk that it found, without
splitting and stemming the chunk again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from graphmem.projection.words.postings import Stemmer

I64 = npt.NDArray[np.int64]

LINE: Final = 0  # between the words of two lines; stems are numbered from 1
_SMALL: Final = 1 << 16
_BYTES: Final = b"\2\4"  # first byte of packed numbers: how many bytes each number has
_BATCH: Final = 500


class StemNumbers:
    """Converts words of texts to numbers of their stems.

    Args:
        db: the word index; its table `stems` receives new stems.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._stem = Stemmer()
        self._of_stem: dict[str, int] = {}
        self._of_word: dict[str, int] = {"\n": LINE}
        self._last = int(db.execute("SELECT coalesce(max(number), 0) FROM stems").fetchone()[0])

    def packed(self, texts: Sequence[str]) -> list[bytes]:
        """Return each text as packed numbers: the stem number of each word.

        Args:
            texts: results of `normalised_lines`.
        """
        split = [text.split(" ") if text else [] for text in texts]
        fresh = sorted({word for words in split for word in words if word not in self._of_word})
        stems = self._stem(fresh)
        unknown = sorted({stem for stem in stems.values() if stem not in self._of_stem})
        self._of_stem |= known_numbers(self._db, unknown)
        added = [stem for stem in unknown if stem not in self._of_stem]
        self._of_stem |= {stem: number for number, stem in enumerate(added, self._last + 1)}
        self._last += len(added)
        self._db.executemany("INSERT INTO stems VALUES (?, ?)", [(self._of_stem[stem], stem) for stem in added])
        self._of_word |= {word: self._of_stem[stem] for word, stem in stems.items()}
        number = self._of_word.__getitem__
        return [_packed(np.fromiter(map(number, words), np.uint32, len(words))) for words in split]


def known_numbers(db: sqlite3.Connection, stems: Iterable[str]) -> dict[str, int]:
    """Map stems to their numbers in the word index `db`.

    Stems that are not in the index are left out of the result.
    """
    wanted = list(stems)
    found: dict[str, int] = {}
    for at in range(0, len(wanted), _BATCH):
        part = wanted[at : at + _BATCH]
        found.update(db.execute(f"SELECT stem, number FROM stems WHERE stem IN ({','.join('?' * len(part))})", part))  # noqa: S608
    return found


def unpacked(packed: bytes) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return the stem numbers of one text, which `StemNumbers.packed` packed.

    The number LINE separates lines.
    """
    kind: type[np.unsignedinteger[Any]] = np.uint32 if packed[:1] == _BYTES[1:] else np.uint16
    return np.frombuffer(packed, kind, offset=min(1, len(packed)))


def having(numbers: npt.NDArray[np.integer[Any]], wanted: Collection[int]) -> npt.NDArray[np.bool_]:
    """Return, for each element of `numbers`, whether it is in `wanted`.

    The cost is one look-up in a table for each number, half that of `numpy.isin`.
    """
    table = np.zeros(int(numbers.max(initial=0)) + 1, np.bool_)
    table[[number for number in wanted if number < len(table)]] = True
    found: npt.NDArray[np.bool_] = table[numbers]
    return found


def _packed(numbers: npt.NDArray[np.uint32]) -> bytes:
    """Pack numbers in two bytes each if they are small, else in four."""
    small = not len(numbers) or int(numbers.max()) < _SMALL
    return _BYTES[:1] + numbers.astype(np.uint16).tobytes() if small else _BYTES[1:] + numbers.tobytes()
