"""BM25 scores of words, cached until the word index changes.

The score of a chunk for a query is the sum of its scores for the words of the query. So the scores of each word are read once and reused in
the next query.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from threading import Lock
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.projection.words.lengths import WEIGHTS, Rows
from graphmem.projection.words.postings import Stemmer
from graphmem.projection.words.rows import batches, marks
from graphmem.projection.words.stem_numbers import I64

F64 = npt.NDArray[np.float64]
_Scores = tuple[I64, F64]  # rows with a word, ascending, and the score of each
_POSTINGS: Final = 12_000  # rows that one query may score: about 8 ms
_MOST_KEPT: Final = 1_000_000  # postings of words whose scores are kept: 16 MB
_MOST_IDS: Final = 100_000  # rows whose ids are kept: 15 MB
_ONE_TOKEN: Final = re.compile("[a-z0-9_]+")  # words that FTS5 does not divide further
_FIRST: Final = 100  # least number of the best rows whose entries are read at once


class WordHit(NamedTuple):
    """A chunk that matches a word search, with its score."""

    id: str
    score: float  # BM25, positive, larger is better; only comparable within one answer


_SCORED: Final = f"SELECT rowid, -bm25(words, {', '.join(map(str, WEIGHTS))}) FROM words WHERE words MATCH ?"  # noqa: S608


class WordScores:
    """Scores and counts of words, cached for one state of the word index.

    Threads may share an instance, each with its own connection.

    Args:
        rows: lengths and files of the rows of this state; None to read them when they are needed.
    """

    def __init__(self, rows: Rows | None = None) -> None:
        self._rows = rows
        self._stem = Stemmer()
        self._stemming = Lock()
        self._rows_with: dict[str, int] = {}
        self._scores_of: dict[str, _Scores] = {}
        self._kept = 0  # postings in it
        self._ids: dict[int, str] = {}  # row -> id, of rows that were among the best
        self._factors: tuple[Callable[[str, str], float] | None, F64] = None, np.zeros(0)  # of the files, for the last `worth`
        self._total: int | None = None  # rows, once counted

    def count(self, db: sqlite3.Connection, word: str) -> int:
        """Return how many chunks (pieces of files) contain a word."""
        if word not in self._rows_with:
            self._rows_with[word] = db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (f'"{word}"',)).fetchone()[0]
        return self._rows_with[word]

    def total(self, db: sqlite3.Connection) -> int:
        """Return the number of all chunks."""
        if self._total is None:
            self._total = int(db.execute("SELECT count(*) FROM entries").fetchone()[0])
        return self._total

    def best(
        self,
        db: sqlite3.Connection,
        words: Sequence[str],
        k: int,
        conditions: tuple[str, Sequence[str]],
        worth: Callable[[str, str], float] | None,
    ) -> list[WordHit]:
        """Return the k best chunks that have any of the words, best first.

        Args:
            db: a connection that sees the state of the index to which this cache belongs.
            words: normalised words that some chunk has; at least one.
            k: maximum number of chunks.
            conditions: SQL conditions that the chunks must meet, or "", with the values of their parameters.
            worth: returns a factor from (kind of chunk, path). Chunks are ranked by score times factor, and returned with their plain
                scores.
        """
        rows, scores = _summed([self._scores(db, word) for word in words])
        ranks = scores if worth is None else scores * self._worth(db, rows, worth)
        return _best(db, _Ranked(rows, scores, ranks), k, conditions, self._ids)

    def _scores(self, db: sqlite3.Connection, word: str) -> _Scores:
        scores = self._scores_of.get(word)
        if scores is None:
            scores = self._computed(db, word)
            if self._kept + len(scores[0]) > _MOST_KEPT:
                self._scores_of, self._kept = {}, 0
            self._scores_of[word] = scores
            self._kept += len(scores[0])
        return scores

    def _computed(self, db: sqlite3.Connection, word: str) -> _Scores:
        """Return the rows that have a word, and their scores."""
        count = self.count(db, word)
        if _ONE_TOKEN.fullmatch(word):
            with self._stemming:
                stem = self._stem((word,))[word]
            scores = self.rows(db).scores(db, stem)
            if scores is not None and len(scores[0]) == count:
                return scores
        found = np.fromiter(chain.from_iterable(db.execute(_SCORED, (f'"{word}"',))), np.float64, 2 * count).reshape(-1, 2)
        return found[:, 0].astype(np.int64), found[:, 1].copy()

    def rows(self, db: sqlite3.Connection) -> Rows:
        """Return the lengths and files of all rows; they are read once."""
        if self._rows is None:
            self._rows = Rows.read(db)
        return self._rows

    def after(self, db: sqlite3.Connection, removed: Collection[int], first: int) -> WordScores:
        """Return the scores for the state after a change of the word index.

        Args:
            db: a connection that sees the changed state.
            removed: numbers of the rows that the change removed.
            first: number of the first added row.
        """
        return WordScores(self._rows.after(db, removed, first) if self._rows is not None else None)

    def _worth(self, db: sqlite3.Connection, rows: I64, worth: Callable[[str, str], float]) -> F64:
        """Return the factor by which the score of each of `rows` is multiplied.

        `worth` computes the factor from (kind of chunk, path). It is called once for each file, and the factors are cached.
        """
        _, file_of, files, *_ = self.rows(db)
        if self._factors[0] is not worth:
            self._factors = worth, np.full(max(files, default=0) + 1, np.nan)
        factors = self._factors[1]
        of_row = file_of[rows]
        for number in np.flatnonzero(np.bincount(of_row, minlength=len(factors)) * np.isnan(factors)).tolist():
            factors[number] = worth(*files[number])
        found: F64 = factors[of_row]
        return found


def _summed(of_words: Sequence[_Scores]) -> _Scores:
    """Add up the scores that rows have for several words.

    Returns the row numbers, ascending, and the sum for each row.
    """
    total = np.zeros(max(int(rows.max(initial=0)) for rows, _ in of_words) + 1)
    for rows, scores in of_words:
        total[rows] += scores
    found = np.flatnonzero(total)
    return found, total[found]


class _Ranked(NamedTuple):
    """Rows of chunks with their scores, and with the ranks by which they sort."""

    rows: I64
    scores: F64
    ranks: F64


def _best(db: sqlite3.Connection, ranked: _Ranked, k: int, conditions: tuple[str, Sequence[str]], ids: dict[int, str]) -> list[WordHit]:
    """Return the k rows with the highest ranks that meet SQL conditions.

    Ties are ordered by chunk id. `conditions` are SQL, or "", and the values of its parameters. Rows are checked in batches, best first,
    because to check every match would take half of a search. `ids` caches chunk ids by row number. Without conditions, the ids that are
    read are added to `ids`.
    """
    rows, scores, ranks = ranked
    sql_conditions, values = conditions
    found: list[tuple[float, WordHit]] = []
    size, above = max(k, _FIRST), math.inf
    while above > 0 and len(found) < k:
        # All rows with the last rank of a batch are in it, so that the order of ids decides among them.
        least = np.partition(ranks, len(ranks) - size)[len(ranks) - size] if size < len(ranks) else 0.0
        at = np.flatnonzero((ranks >= least) & (ranks < above))
        score_of = dict(zip(rows[at].tolist(), zip(ranks[at].tolist(), scores[at].tolist(), strict=True), strict=True))
        known = {} if sql_conditions else {row: ids[row] for row in score_of if row in ids}
        for batch in batches((row for row in score_of if row not in known), 500):
            sql = f"SELECT e.rowid, e.id FROM entries e WHERE e.rowid IN ({marks(batch)}){sql_conditions}"  # noqa: S608
            known.update(db.execute(sql, (*batch, *values)))
        if not sql_conditions and len(ids) < _MOST_IDS:
            ids.update(known)
        found += [(score_of[row][0], WordHit(key, score_of[row][1])) for row, key in known.items()]
        size, above = 4 * size, float(least)
    return [hit for _, hit in sorted(found, key=lambda one: (-one[0], one[1].id))[:k]]


def affordable(counts: dict[str, int]) -> tuple[list[str], list[str]]:
    """Divide query words into (words to score, words to leave out).

    `counts` maps each word to the number of rows that contain it. The rarest word is always scored. Each next rarer word is also scored,
    while the rows of all scored words together are at most `_POSTINGS`.
    """
    used: list[str] = []
    left_out: list[str] = []
    spent = 0
    for word, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        if used and spent + count > _POSTINGS:
            left_out.append(word)
        else:
            used.append(word)
            spent += count
    return used, left_out
