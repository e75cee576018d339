"""In-memory inverted index of short texts with BM25 scores.

Chunks of code are in SQLite's FTS5 (`words`), whose BM25 has fixed parameters: k1 = 1.2, b = 0.75. Memories are sentences of a few dozen
words. For them, a weaker normalisation by length, and a factor for the share of the query that a memory covers, give better results
(docs/decisions/0006-fusion.md). So memories have a separate index. Words are normalised and stemmed in the same way in both indexes.

Source: Robertson and Zaragoza 2009 (BM25); the coverage factor is the coordination factor of Salton's vector space model as Lucene had it,
weighted by inverse document frequency.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.projection.words.text import STOP_WORDS, normalise

F32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]

_K1: Final = 0.9
_B: Final = 0.2
_COVERAGE: Final = 0.75  # power of the share of the query's weight that a memory has
_MAX_COUNT: Final = 65_535
_ECHOED: Final = 15  # words of the best hits that count
_BATCH: Final = 512  # texts tokenized at a time
_MAX_KNOWN: Final = 400_000  # cached stems; emptied above
_NOWHERE: Final = (np.zeros(0, np.int32), np.zeros(0, np.float32))
_known: Final[dict[str, str]] = {}  # the stems of words, for all stemmers of the process


class Elsewhere(NamedTuple):
    """Word counts of another index: how many of its texts contain each word.

    When the index of memories computes how rare a word is, it adds these counts, of the index of code, to its own.
    """

    rows: Mapping[str, int]  # normalised word -> number of texts with it; words without texts are left out
    total: int  # texts


class WordScores(NamedTuple):
    """BM25 scores of texts for a query, and the query's known words.

    Each array has one element for each slot. A slot is the number of an indexed text. Texts without any of the words have the score 0.
    """

    scores: F32
    shares: F32  # share of the query's weight that each text has
    words: list[str]  # words of the query that some text has
    unknown: list[str]  # words that no text has


class Stemmer:
    """Stems words with the Porter stemmer of SQLite.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        tokenizer = "porter unicode61 remove_diacritics 2 tokenchars ''_''"
        self._db.execute(f"CREATE VIRTUAL TABLE form USING fts5(word, content='', columnsize=0, tokenize='{tokenizer}')")
        self._db.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(form, instance)")

    def forget(self) -> None:
        """Release the cached stems, of all stemmers."""
        _known.clear()

    def __call__(self, words: Iterable[str]) -> dict[str, str]:
        """Map each of `words` to its stem.

        If the tokenizer splits a word, its stem is the stem of the first part. If the tokenizer finds nothing to index, the stem is the
        word itself.
        """
        wanted = list(dict.fromkeys(words))
        stems = {word: stem for word in wanted if (stem := _known.get(word)) is not None}
        fresh = [word for word in wanted if word not in stems]
        if fresh:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO form(rowid, word) VALUES (?, ?)", enumerate(fresh))
            found = {word: word for word in fresh}
            # Words are normalised, so each is one token. The last part of an odd one would represent the whole.
            found.update((fresh[row], term) for term, row, place in self._db.execute("SELECT term, doc, offset FROM stem") if place == 0)
            self._db.execute("INSERT INTO form(form) VALUES ('delete-all')")
            self._db.execute("COMMIT")
            if len(_known) + len(found) > _MAX_KNOWN:
                _known.clear()
            _known.update(found)
            stems |= found
        return stems


class Postings:
    """An inverted index: finds the texts that contain a given stem.

    Each text has a number, its slot, which the caller of `add` chose. Not thread-safe: the caller must hold a lock.
    """

    def __init__(self) -> None:
        self._stem = Stemmer()
        self._slots: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        self._length: F32 = np.zeros(0, np.float32)
        self._texts = 0
        self._words = 0.0

    def add(self, texts: Sequence[tuple[int, str]]) -> None:
        """Add texts, each as (slot, text).

        A slot is an unused number that identifies the text from now on.
        """
        # A batch at a time: the words of fifty thousand texts at once are a million strings, in memory that is not returned afterwards.
        for at in range(0, len(texts), _BATCH):
            self._add(texts[at : at + _BATCH])

    def _add(self, texts: Sequence[tuple[int, str]]) -> None:
        split = [(slot, normalise(text).split()) for slot, text in texts]
        stem = self._stem(word for _, words in split for word in words)
        highest = max(slot for slot, _ in split)
        if highest >= len(self._length):
            grown = np.zeros(max(highest + 1, len(self._length) * 3 // 2), np.float32)
            grown[: len(self._length)] = self._length
            self._length = grown
        for slot, words in split:
            for word, count in Counter(map(stem.__getitem__, words)).items():
                slots = self._slots.get(word)
                if slots is None:
                    slots = self._slots[word] = array("i")
                    self._counts[word] = array("H")
                slots.append(slot)
                self._counts[word].append(min(count, _MAX_COUNT))
            self._length[slot] = len(words)
            self._texts += 1
            self._words += len(words)

    def state(self) -> tuple[Any, ...]:
        """Return the whole index as a tuple of values that `marshal` supports.

        The method `restore` accepts these values. Cached stems are left out.
        """
        words = {word: (slots.tobytes(), self._counts[word].tobytes()) for word, slots in self._slots.items()}
        return words, self._length.tobytes(), self._texts, self._words

    def restore(self, state: tuple[Any, ...]) -> None:
        """Restore the index from the value that the method `state` returned."""
        words, length, self._texts, self._words = state
        self._slots = {word: array("i", slots) for word, (slots, _) in words.items()}
        self._counts = {word: array("H", counts) for word, (_, counts) in words.items()}
        self._length = np.frombuffer(length, np.float32).copy()

    def cool(self) -> None:
        """Release the cached stems, which are computed again when needed."""
        self._stem.forget()

    def remove(self, texts: Sequence[tuple[int, str]]) -> None:
        """Remove texts, each as (slot, text), that were added before.

        A slot identifies an indexed text by a number. Each text must be equal to the text that `add` received with this slot.
        """
        for slot, text in texts:
            words = normalise(text).split()
            stem = self._stem(words)
            for word in dict.fromkeys(map(stem.__getitem__, words)):
                place = self._slots[word].index(slot)
                # The last entry is moved to this place, because the order has no meaning.
                for column in (self._slots[word], self._counts[word]):
                    last = column.pop()
                    if place < len(column):
                        column[place] = last
                if not self._slots[word]:
                    del self._slots[word], self._counts[word]
            self._length[slot] = 0
            self._texts -= 1
            self._words -= len(words)

    def mask(self, slots: Collection[int]) -> Bool | None:
        """Return an array with True at given slots, for the argument `hidden`.

        A slot is the number of an indexed text. Other methods leave out the texts of the slots in `hidden`. The result is None for no
        slots.
        """
        if not slots:
            return None
        made = np.zeros(len(self._length), np.bool_)
        made[list(slots)] = True
        return made

    def _of_term(self, term: str, hidden: Bool | None) -> tuple[npt.NDArray[np.int32], F32]:
        """Return the slots of the texts with the stem `term`, and how often.

        A slot is the number of an indexed text. The second array has the number of occurrences in each text. Texts of the mask `hidden` are
        left out.
        """
        slots = np.frombuffer(self._slots.get(term, b""), np.int32)
        counts = np.frombuffer(self._counts.get(term, b""), np.uint16).astype(np.float32)
        if hidden is None:
            return slots, counts
        kept = ~hidden[slots]
        return slots[kept], counts[kept]

    def _norm(self, hidden: Bool | None) -> tuple[int, F32]:
        """Return the number of texts, and BM25's length normalisation of each.

        The second result has one number for each slot (number of an indexed text): k1 × (1 - b + b × length / mean length). Texts of the
        mask `hidden` count neither for the number nor for the mean.
        """
        texts, words = self._texts, self._words
        if hidden is not None:
            texts -= int(hidden.sum())
            words -= float(self._length[hidden].sum())
        return texts, _K1 * (1 - _B + _B * self._length / max(words / max(texts, 1), 1.0))

    def scores(self, words: Sequence[str], size: int, elsewhere: Elsewhere | None = None, hidden: Bool | None = None) -> WordScores:
        """Return the score of each text for a query, by slot (number of the text).

        The score is BM25 multiplied by a power of the covered share. The covered share is the part of the query's words that the text
        has; rare words count more. Stop words are considered only if there are no other words. Words that occur nowhere are ignored in
        the score and in the share. Each word takes one pass over the texts that have it.

        Args:
            words: normalised words of the query.
            size: number of slots in the result.
            elsewhere: number of texts with each word in another index, if the texts of both indexes are ranked together. The rarity of a
                word is then computed over both, because it is unreliable in an index of few texts.
            hidden: mask of the slots whose texts do not count, as if they were not in the index; None for none.
        """
        wanted = [word for word in words if word not in STOP_WORDS] or list(words)
        stem = self._stem(wanted)
        terms: dict[str, str] = {}
        others: dict[str, int] = {}
        for word in wanted:
            terms.setdefault(stem[word], word)
            if elsewhere is not None and elsewhere.rows.get(word):
                others[stem[word]] = max(elsewhere.rows[word], others.get(stem[word], 0))
        having = {term: found for term in terms if term in self._slots and len((found := self._of_term(term, hidden))[0])}
        texts, norm = self._norm(hidden)
        texts += elsewhere.total if elsewhere is not None else 0
        total = np.zeros(size, np.float32)
        covered = np.zeros(size, np.float32)
        asked = 0.0
        for term in sorted({*having, *others}):
            slots, counts = having.get(term, _NOWHERE)
            rows = len(slots) + others.get(term, 0)
            idf = math.log(1 + (texts - rows + 0.5) / (rows + 0.5))
            asked += idf
            total[slots] += idf * (_K1 + 1) * counts / (counts + norm[slots])
            covered[slots] += idf
        if asked:
            covered /= asked
            total *= covered**_COVERAGE
        unknown = [word for term, word in terms.items() if term not in having]
        return WordScores(total, covered, [terms[term] for term in having], unknown)

    def echoes(self, texts: Sequence[tuple[str, float]], without: Sequence[str], size: int, hidden: Bool | None = None) -> F32:
        """Score each text by the rare words that it shares with `texts`.

        The result has the scores by slot (number of the text). Only the words of `texts` with the highest weights are used.

        Source: Abdul-Jaleel et al. 2004 (RM3), who search a second time with words of the best hits.

        Args:
            texts: (text, weight) of each best hit. The weight is divided among the words of the hit.
            without: words of the query, which are ignored.
            size: number of slots in the result.
            hidden: mask of the slots whose texts do not count; None for none.
        """
        split = [([word for word in normalise(text).split() if word not in STOP_WORDS], worth) for text, worth in texts]
        stem = self._stem([*(word for words, _ in split for word in words), *without])
        left_out = {stem[word] for word in without}
        worth_of: dict[str, float] = {}
        for words, worth in split:
            for word in words:
                term = stem[word]
                if term in self._slots and term not in left_out:
                    worth_of[term] = worth_of.get(term, 0.0) + worth / len(words)
        many, norm = self._norm(hidden)
        having = {term: self._of_term(term, hidden) for term in worth_of}
        rarity = {term: math.log(1 + (many - len(slots) + 0.5) / (len(slots) + 0.5)) for term, (slots, _) in having.items()}
        best = sorted(worth_of, key=lambda term: (-worth_of[term] * rarity[term], term))[:_ECHOED]
        total = np.zeros(size, np.float32)
        for term in best:
            slots, counts = having[term]
            total[slots] += worth_of[term] * rarity[term] ** 2 * counts / (counts + norm[slots])
        return total

    def having(self, words: Iterable[str], slots: Sequence[int], hidden: Bool | None = None) -> dict[str, tuple[str, int, list[int]]]:
        """Map each word to its stem and to the texts that contain the stem.

        A value is (stem, number of texts with the stem, list of slots). A slot is the number of an indexed text. The list has those of the
        given `slots` whose texts contain the stem. Texts of the mask `hidden` do not count.
        """
        wanted = np.asarray(slots, np.int32)
        found = {}
        for word, term in self._stem(sorted(words)).items():
            rows, _ = self._of_term(term, hidden)
            # For few slots among many, comparing all is cheaper than the sort of `isin`.
            found[word] = (term, len(rows), wanted[(rows[:, None] == wanted).any(axis=0)].tolist())
        return found
