"""The `words` projection: word search over chunks in one SQLite file.

An FTS5 table without contents indexes normalised text and ranks by BM25. A table `entries` has the data of each row. An entry also has the
chunk's text as stored, because FTS5 needs the old text to delete a row. A generation (number of the last change of the graph) is stored
beside the rows and is updated in the same transaction. A reader sees the generation for which it was opened, regardless of later writes.
Symbols have no separate rows. As measured, such rows did not improve the results, and made the file a third larger
(docs/decisions/0003-projections.md).
"""

from __future__ import annotations

import math
import os
import queue
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from graphmem.errors import DeadlineError
from graphmem.model import GraphDelta
from graphmem.projection.entries import DamagedWordsError, Entry
from graphmem.projection.near_words import NearWords
from graphmem.projection.pieces import Pieces
from graphmem.projection.stem_numbers import I64, StemNumbers, known_numbers
from graphmem.projection.text import meaningful, normalise, normalised_lines, query_words
from graphmem.runtime.checksums import MISMATCH, SIDES, Proof, proof, seal, unseal
from graphmem.runtime.compression import deflated
from graphmem.runtime.limits import unless_refused
from graphmem.runtime.sqlite_file import private_file

F64 = npt.NDArray[np.float64]
_Scores = tuple[I64, F64]  # rows with a word, ascending, and the score of each

FORMAT: Final = 3  # increase it when the tables or the normaliser change: the file is then rebuilt

_WEIGHTS: Final = "5.0, 1.0, 2.0"  # BM25 weights of title, text, path; measured in docs/decisions/0006-fusion.md
_POSTINGS: Final = 12_000  # rows that one query may score: about 12 ms
_MOST_KEPT: Final = 1_000_000  # postings of words whose scores are kept: 16 MB
_MOST_IDS: Final = 100_000  # rows whose ids are kept: 15 MB
_FIRST: Final = 100  # least number of the best rows whose entries are read at once
_GUESSES: Final = 3  # unknown words of one query for which similar ones are searched: up to 5 ms each
_READERS: Final = 2
_STEPS: Final = 2_000  # steps of SQLite's virtual machine between two checks of the clock
_BATCH: Final = 2_000
_HASH_BYTES: Final = 1 << 20  # the default of FTS5
_BUILD_HASH_BYTES: Final = 64 << 20  # one segment for most repositories: merging segments took a tenth of a build
_WORTH_PACKING: Final = 16  # a file with more than one empty page in so many is rewritten
_TOKENIZER: Final = "porter unicode61 remove_diacritics 2 tokenchars ''_''"

_SCHEMA: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE paths (number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE entries (
    rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, path INTEGER NOT NULL, symbol TEXT NOT NULL,
    title TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, text_hash TEXT NOT NULL, packed BLOB NOT NULL,
    stems BLOB NOT NULL
);
CREATE TABLE stems (number INTEGER PRIMARY KEY, stem TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE words USING fts5(title, text, path, content='', tokenize='{_TOKENIZER}');
"""
_INDEXES: Final = """
CREATE INDEX entries_path ON entries (path);
CREATE INDEX entries_text_hash ON entries (text_hash);
"""


class WordHit(NamedTuple):
    """A chunk that matches a word search, with its score."""

    id: str
    score: float  # BM25, positive, larger is better; only comparable within one answer


class WordAnswer(NamedTuple):
    """Hits of a word search, best first, with counts of the query's words.

    The answer also lists words of the query that were replaced or left out.
    """

    hits: list[WordHit]
    left_out: list[str]  # words in too many rows to be scored together with the rarer ones
    replaced: dict[str, list[str]]  # words without rows -> the nearest ones that replaced them
    rows: dict[str, int]  # searched words, including those left out -> number of their rows
    total: int  # number of rows


class WordIndex:
    """Reader of one generation of the word index. Thread-safe.

    Create an index with `build` or `open`. `patched` writes a delta and returns a reader of the new generation, while the old reader
    continues to answer as before. Only one writer may run at a time.
    """

    def __init__(self, path: Path, generation: int) -> None:
        self.path = path
        self.generation = generation
        self._rows_with: dict[str, int] = {}
        self._scores_of: dict[str, _Scores] = {}
        self._kept = 0  # postings in it
        self._ids: dict[int, str] = {}  # row -> id, of rows that were among the best
        self._files: tuple[npt.NDArray[np.int32], dict[int, tuple[str, str]]] | None = None  # row -> file, file -> (kind, path)
        self._factors: tuple[Callable[[str, str], float] | None, F64] = None, np.zeros(0)  # of the files, for the last `worth`
        self._near = NearWords()
        self.pieces = Pieces()  # chunks as search divided them
        self._total: int | None = None  # rows, once counted
        self._readers: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._entry = threading.Lock()  # every reader passes it; a writer holds it, or it would never get all connections
        connections = [_reader(path) for _ in range(_READERS)]
        for connection in connections:
            self._readers.put(connection)
        self.close = weakref.finalize(self, _close_all, connections, path)

    # ---- making, changing, keeping

    @classmethod
    def build(cls, folder: Path, generation: int, chunks: Iterable[Any], progress: Callable[[int], None] | None = None) -> WordIndex:
        """Index all chunks in a new file in `folder`.

        Args:
            folder: directory of `words-*.sqlite`.
            generation: generation of the store from which the rows come.
            chunks: Arrow tables of PackedChunkRow, one after the other.
            progress: called with the number of indexed rows, every few thousand.

        Raises:
            OSError, sqlite3.OperationalError: the write failed; the old file is unchanged.
        """
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"words-{generation}-{time.time_ns():x}.sqlite"
        part = path.with_suffix(".part")
        try:
            db = sqlite3.connect(private_file(part), isolation_level=None)
            try:
                # The file is invisible, and only gets its name when it is complete.
                db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; BEGIN")
                for statement in _SCHEMA.strip().split(";\n"):
                    db.execute(statement.rstrip(";"))
                _set_hash_size(db, _BUILD_HASH_BYTES)
                count = 0
                numbers = StemNumbers(db)
                for batch in (batch for table in chunks for batch in _of_table(table)):
                    _insert(db, numbers, batch, count + 1)
                    count += len(batch)
                    if progress is not None:
                        progress(count)
                for statement in _INDEXES.strip().split(";\n"):
                    db.execute(statement.rstrip(";"))
                _set_meta(db, generation)
                db.execute("INSERT INTO words(words) VALUES ('optimize')")
                _set_hash_size(db, _HASH_BYTES)
                db.execute("COMMIT")
                if _pages(db, "freelist_count") * _WORTH_PACKING > _pages(db, "page_count"):
                    db.execute("VACUUM")  # with several segments, merging them left an eighth of the file empty
                db.execute("PRAGMA journal_mode = WAL")  # now: it changes the header, and the file is sealed next
            finally:
                db.close()
            seal(part)
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return cls(path, generation)

    @classmethod
    def open(cls, folder: Path, generation: int, notes: list[str] | None = None) -> WordIndex | None:
        """Open the saved index of this generation, or return None.

        The result is None if no intact file exists. Then the index must be built.

        Args:
            folder: directory of `words-*.sqlite`.
            generation: current generation of the store.
            notes: receives one sentence for each damaged file.

        Raises:
            ResourceError: this process lacks memory or descriptors to read a file.
        """
        for path in sorted(folder.glob("words-*.sqlite"), reverse=True):
            try:
                proven = proof(path)
                if proven is Proof.DAMAGED:
                    raise sqlite3.DatabaseError(MISMATCH)
                db = _immutable(path) if not os.access(folder, os.W_OK) else sqlite3.connect(path)
                try:
                    meta = dict(db.execute("SELECT key, value FROM meta"))
                    if meta != {"generation": str(generation), "format": str(FORMAT)}:
                        continue
                    if proven is Proof.OPEN and db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                        raise sqlite3.DatabaseError("SQLite reports malformed content in the word index; graphmem rebuilds the word index")
                finally:
                    db.close()
                return cls(path, generation)
            except (sqlite3.DatabaseError, OSError) as error:
                unless_refused(error, f"reading {path.name}", path)
                if notes is not None:
                    notes.append(f"{path.name} was damaged and was rebuilt from the database: {error}")
                continue
        return None

    def patched(self, delta: GraphDelta, generation: int) -> WordIndex:
        """Write a delta in one transaction; return the new generation's reader.

        The scores equal those of an index rebuilt from the store.

        Raises:
            DamagedWordsError: the file is damaged, or has another generation than this reader.
            sqlite3.OperationalError: the write failed; the file is unchanged.
        """
        self._bring_up_to_date()
        moved = [(row.start_line, row.end_line, row.id) for row in delta.chunks if delta.only_moved(row)]
        stays = {key for *_, key in moved}
        fresh = {row.id: row for row in delta.chunks if row.id not in stays}
        with _damage_named():
            db = _writer(self.path)
            try:
                db.execute("BEGIN IMMEDIATE")
                unseal(db)
                if dict(db.execute("SELECT key, value FROM meta")).get("generation") != str(self.generation):
                    raise DamagedWordsError(
                        f"the word index {self.path} does not belong to generation {self.generation} of the graph; "
                        "graphmem rebuilds the word "
                        "index"
                    )
                for ids in _batches(dict.fromkeys([*delta.removed_chunks, *fresh])):
                    _delete(db, ids)
                first = db.execute("SELECT coalesce(max(rowid), 0) + 1 FROM entries").fetchone()[0]
                numbers = StemNumbers(db)
                for batch in _batches(map(_of_chunk, fresh.values())):
                    _insert(db, numbers, batch, first)
                    first += len(batch)
                db.executemany("UPDATE entries SET start_line = ?, end_line = ? WHERE id = ?", moved)
                _set_meta(db, generation)
                db.execute("COMMIT")
            finally:
                db.close()
        index = WordIndex(self.path, generation)
        index.pieces = self.pieces.without(_touched(delta))
        return index

    def copied(self, folder: Path) -> WordIndex:
        """Copy this generation to a new file in `folder`; return its reader.

        Raises:
            OSError, sqlite3.Error: the copy failed.
        """
        path = folder / f"words-{self.generation}-{time.time_ns():x}.sqlite"
        copy = sqlite3.connect(private_file(path), isolation_level=None)
        try:
            with self._reading(None) as db:
                db.backup(copy)
        finally:
            copy.close()
        return WordIndex(path, self.generation)

    def delete_files(self) -> None:
        """Delete the index from the disk; open readers can still read it."""
        for side in ("", *SIDES):
            self.path.with_name(self.path.name + side).unlink(missing_ok=True)

    # ---- asking

    def search(
        self,
        query: str,
        k: int,
        *,
        kinds: Collection[str] = (),
        paths: Sequence[str] = (),
        forgiving: bool = True,
        worth: Callable[[str, str], float] | None = None,
        deadline: float | None = None,
    ) -> WordAnswer:
        """Return the best rows for the words of a query.

        A row need not have all words. Very frequent words, whose scoring would take too long, are left out if the query has rarer words,
        and are reported.

        Args:
            query: any text, which is normalised as the rows were. Function words, such as "the", count only in a query without others.
            k: maximum number of hits.
            kinds: search only chunks of these kinds; empty for all.
            paths: search only rows of these files and below these directories; empty for all.
            forgiving: whether to search longer or corrected forms of the first few words that no row has.
            worth: returns a factor from (kind of chunk, path). Rows are ranked by score times factor. The best k are returned with their
                plain scores.
            deadline: time limit as a value of time.monotonic().

        Raises:
            DeadlineError: the deadline passed.
            DamagedWordsError: the file is damaged.
        """
        words = meaningful(query_words(query))
        with self._reading(deadline) as db:
            counts = {word: self._count(db, word) for word in words}
            unknown = [word for word, count in counts.items() if not count][: _GUESSES if forgiving else 0]
            replaced = {word: self._near.nearest(db, word) for word in unknown}
            replaced = {word: near for word, near in replaced.items() if near}
            for near in replaced.values():
                counts |= {word: self._count(db, word) for word in near}
            found = {word: count for word, count in counts.items() if count}
            used, left_out = affordable(found)
            if not used:
                return WordAnswer([], left_out, replaced, found, 0)
            rows, scores = _summed([self._scores(db, word) for word in used])
            ranks = scores if worth is None else scores * self._worth(db, rows, worth)
            hits = _best(db, rows, scores, ranks, k, *_filters(kinds, paths), self._ids)
            total = self._rows(db)
        return WordAnswer(hits, left_out, replaced, found, total)

    def rows_with(self, words: Iterable[str]) -> tuple[dict[str, int], int]:
        """Return the number of chunks with each of `words`, and of all chunks.

        The first result maps words to numbers. `words` must be normalised. Words that no chunk has are left out.
        """
        with self._reading(None) as db:
            counts = {word: self._count(db, word) for word in words}
            return {word: count for word, count in counts.items() if count}, self._rows(db)

    def chunks_with(self, word: str, most: int) -> list[Entry]:
        """Return all chunks that have a normalised word, with their texts.

        The list is empty if more than `most` chunks have it.

        Raises:
            DamagedWordsError: the file is damaged.
        """
        with self._reading(None) as db:
            if not 0 < self._count(db, word) <= most:
                return []
            rows = [row for (row,) in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'"{word}"',))]
            return [Entry._make(row[1:]) for row in db.execute(f"{_SELECT} WHERE e.rowid IN ({_marks(rows)})", rows)]

    def entries(self, ids: Iterable[str], *, texts: bool = True) -> dict[str, Entry]:
        """Return the chunks with given ids, with or without their texts.

        Unknown ids are left out.
        """
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Entry] = {}
        sql = _SELECT if texts else _SELECT.replace("e.packed, e.stems", "x'', x''")
        with self._reading(None) as db:
            for batch in _batches(wanted, 500):
                for row in db.execute(f"{sql} WHERE e.id IN ({_marks(batch)})", batch):
                    found[row[1]] = Entry._make(row[1:])
        return found

    def numbers_of(self, stems: Iterable[str]) -> dict[str, int]:
        """Return the numbers under which the word index stores given stems.

        A stem that no text has is left out.
        """
        with self._reading(None) as db:
            return known_numbers(db, stems)

    def chunks_of_hashes(self, hashes: Collection[str], *, kinds: Collection[str] = (), paths: Sequence[str] = ()) -> dict[str, list[str]]:
        """Map text hashes to the ids of the chunks with this text, ascending.

        Only chunks of the given kinds and paths are returned.
        """
        conditions, values = _filters(kinds, paths)
        found: dict[str, list[str]] = {}
        with self._reading(None) as db:
            for batch in _batches(sorted(hashes), 500):
                sql = f"SELECT e.text_hash, e.id FROM entries e WHERE e.text_hash IN ({_marks(batch)}){conditions} ORDER BY e.id"  # noqa: S608
                for text_hash, key in db.execute(sql, (*batch, *values)):
                    found.setdefault(text_hash, []).append(key)
        return found

    def hashes(self, *, kinds: Collection[str] = (), paths: Sequence[str] = ()) -> list[str]:
        """Return the distinct text hashes of all chunks, ascending.

        Only chunks of the given kinds and paths are considered.
        """
        conditions, values = _filters(kinds, paths)
        with self._reading(None) as db:
            sql = f"SELECT DISTINCT e.text_hash FROM entries e WHERE TRUE{conditions} ORDER BY e.text_hash"  # noqa: S608
            return [row[0] for row in db.execute(sql, values)]

    def hash_of_each(self) -> Iterator[str]:
        """Yield the text hash of each chunk, in any order."""
        with self._reading(None) as db:
            yield from (row[0] for row in db.execute("SELECT text_hash FROM entries"))

    def chunk_keys(self) -> list[tuple[str, str, str]]:
        """Return (id, text hash, symbol id) of every chunk, sorted by id.

        The background thread that computes vectors uses this list.
        """
        with self._reading(None) as db:
            return db.execute("SELECT id, text_hash, symbol FROM entries ORDER BY id").fetchall()

    def __len__(self) -> int:
        """Return the number of chunks in the word index."""
        with self._reading(None) as db:
            return int(db.execute("SELECT count(*) FROM entries").fetchone()[0])

    # ---- inside

    def _count(self, db: sqlite3.Connection, word: str) -> int:
        """Return how many chunks have a word; cached for this reader."""
        if word not in self._rows_with:
            self._rows_with[word] = db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (f'"{word}"',)).fetchone()[0]
        return self._rows_with[word]

    def _scores(self, db: sqlite3.Connection, word: str) -> _Scores:
        """Return the BM25 scores of the chunks with a word.

        The scores of a word are cached for the next query. This is possible because FTS5 adds up the scores of the words of a query.
        """
        scores = self._scores_of.get(word)
        if scores is None:
            count = self._count(db, word)
            found = np.fromiter(chain.from_iterable(db.execute(_SCORED, (f'"{word}"',))), np.float64, 2 * count).reshape(-1, 2)
            scores = found[:, 0].astype(np.int64), found[:, 1].copy()
            if self._kept + len(found) > _MOST_KEPT:
                self._scores_of, self._kept = {}, 0
            self._scores_of[word] = scores
            self._kept += len(found)
        return scores

    def _worth(self, db: sqlite3.Connection, rows: I64, worth: Callable[[str, str], float]) -> F64:
        """Return, for each of `rows`, the factor that multiplies its score.

        `worth` computes the factor from (kind of chunk, path). It is called once for each file, and the factors are cached.
        """
        if self._files is None:
            kind = "(SELECT kind FROM entries e WHERE e.path = p.number LIMIT 1)"
            files = {number: (found, path) for number, path, found in db.execute(f"SELECT number, path, {kind} FROM paths p")}  # noqa: S608
            at = np.fromiter(chain.from_iterable(db.execute("SELECT rowid, path FROM entries")), np.int64).reshape(-1, 2)
            file_of = np.zeros(int(at[:, 0].max(initial=0)) + 1, np.int32)
            file_of[at[:, 0]] = at[:, 1]
            self._files = file_of, files
        file_of, files = self._files
        if self._factors[0] is not worth:
            self._factors = worth, np.full(max(files, default=0) + 1, np.nan)
        factors = self._factors[1]
        of_row = file_of[rows]
        for number in np.flatnonzero(np.bincount(of_row, minlength=len(factors)) * np.isnan(factors)).tolist():
            factors[number] = worth(*files[number])
        found: F64 = factors[of_row]
        return found

    def _rows(self, db: sqlite3.Connection) -> int:
        if self._total is None:
            self._total = int(db.execute("SELECT count(*) FROM entries").fetchone()[0])
        return self._total

    def _take(self, deadline: float | None) -> sqlite3.Connection:
        def left() -> float:
            return -1 if deadline is None else max(0.0, deadline - time.monotonic())

        if self._entry.acquire(timeout=left()):
            try:
                return self._readers.get(timeout=None if deadline is None else left())
            except queue.Empty:
                pass
            finally:
                self._entry.release()
        raise DeadlineError("the word index was busy until the deadline; try again")

    @contextmanager
    def _reading(self, deadline: float | None) -> Iterator[sqlite3.Connection]:
        """Lend a connection that sees this generation to a `with` block.

        A query that still runs at the deadline is interrupted. `deadline` is a value of time.monotonic(), or None.
        """
        db = self._take(deadline)
        late = threading.Event()
        if deadline is not None:

            def check() -> int:
                if time.monotonic() > deadline:
                    late.set()
                return late.is_set()

            db.set_progress_handler(check, _STEPS)
        try:
            with _damage_named():
                yield db
        except sqlite3.OperationalError as error:
            if late.is_set():
                raise DeadlineError("the word index did not answer in time; try again") from error
            raise
        finally:
            db.set_progress_handler(None, 0)
            self._readers.put(db)

    def _bring_up_to_date(self) -> None:
        """Empty the write-ahead log before a write.

        For that, each reader of this generation gives up its position in the log. A held position would make the log grow without limit. No
        write has happened since the readers were opened, so they see the same rows afterwards.
        """
        with self._entry:
            connections = [self._readers.get() for _ in range(_READERS)]
        try:
            with _damage_named():
                for db in connections:
                    db.execute("ROLLBACK")
                connections[0].execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                for db in connections:
                    _pin(db)
        finally:
            for db in connections:
                self._readers.put(db)


_SELECT: Final = (
    "SELECT e.rowid, e.id, e.kind, p.path, e.symbol, e.title, e.start_line, e.end_line, e.text_hash, e.packed, e.stems "
    "FROM entries e JOIN paths p ON p.number = e.path"
)

_SCORED: Final = f"SELECT rowid, -bm25(words, {_WEIGHTS}) FROM words WHERE words MATCH ?"  # noqa: S608


def _summed(of_words: Sequence[_Scores]) -> _Scores:
    """Add up the scores that rows have for several words.

    Returns the row numbers, ascending, and the sum for each row.
    """
    total = np.zeros(max(int(rows.max(initial=0)) for rows, _ in of_words) + 1)
    for rows, scores in of_words:
        total[rows] += scores
    found = np.flatnonzero(total)
    return found, total[found]


def _best(
    db: sqlite3.Connection, rows: I64, scores: F64, ranks: F64, k: int, conditions: str, values: Sequence[str], ids: dict[int, str]
) -> list[WordHit]:
    """Return the k rows with the highest `ranks` that meet SQL conditions.

    Row number rows[i] has the score scores[i] and the rank ranks[i]. Ties are ordered by chunk id. `conditions` is SQL with the parameters
    `values`, or "". Rows are checked in batches, best first, because to check every match would take half of a search. `ids` caches chunk
    ids by row number, and receives those that are read without conditions.
    """
    found: list[tuple[float, WordHit]] = []
    size, above = max(k, _FIRST), math.inf
    while above > 0 and len(found) < k:
        # All rows with the last rank of a batch are in it, so that the order of ids decides among them.
        least = np.partition(ranks, len(ranks) - size)[len(ranks) - size] if size < len(ranks) else 0.0
        at = np.flatnonzero((ranks >= least) & (ranks < above))
        score_of = dict(zip(rows[at].tolist(), zip(ranks[at].tolist(), scores[at].tolist(), strict=True), strict=True))
        known = {} if conditions else {row: ids[row] for row in score_of if row in ids}
        for batch in _batches((row for row in score_of if row not in known), 500):
            sql = f"SELECT e.rowid, e.id FROM entries e WHERE e.rowid IN ({_marks(batch)}){conditions}"  # noqa: S608
            known.update(db.execute(sql, (*batch, *values)))
        if not conditions and len(ids) < _MOST_IDS:
            ids.update(known)
        found += [(score_of[row][0], WordHit(key, score_of[row][1])) for row, key in known.items()]
        size, above = 4 * size, float(least)
    return [hit for _, hit in sorted(found, key=lambda one: (-one[0], one[1].id))[:k]]


def _immutable(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True, isolation_level=None, check_same_thread=False)


def _writer(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000")
    return db


def _reader(path: Path) -> sqlite3.Connection:
    # SQLite makes files next to one with a log even for reading, unless it knows that nobody writes.
    alone = not os.access(path.parent, os.W_OK)
    db = _immutable(path) if alone else _writer(path)
    # A checkpoint by this connection must not wait for readers of older generations.
    db.execute("PRAGMA busy_timeout = 0")
    db.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)")
    db.execute("PRAGMA query_only = ON")
    _pin(db)
    return db


def _pin(db: sqlite3.Connection) -> None:
    """Begin a read transaction, to hide later changes from the connection."""
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM meta").fetchone()


def _close_all(connections: list[sqlite3.Connection], path: Path) -> None:
    for connection in connections:
        connection.close()
    seal(path)


@contextmanager
def _damage_named() -> Iterator[None]:
    """Convert SQLite's error for a damaged file to DamagedWordsError.

    Other errors are not converted.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        # These statements are correct: an error means that the tables have changed. Text that is not UTF-8 has no error code.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) == sqlite3.SQLITE_ERROR:
            raise DamagedWordsError(str(error)) from error
        raise
    except sqlite3.DatabaseError as error:
        raise DamagedWordsError(str(error)) from error


def _touched(delta: GraphDelta) -> set[str]:
    """Return the paths of all files with a changed file, symbol or chunk.

    A removed symbol or chunk has no path in `delta`. But then `delta` also changes or removes the row of its file.
    """
    return {row.path for rows in (delta.files, delta.symbols, delta.chunks) for row in rows}


def _batches(rows: Iterable[Any], size: int = _BATCH) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))


def _filters(kinds: Collection[str], paths: Sequence[str]) -> tuple[str, list[str]]:
    """Return the SQL conditions for kinds and paths, with their parameters.

    The conditions are on the table `e` and begin with AND. A directory matches everything below it.
    """
    conditions, values = "", []
    if kinds:
        conditions += f" AND e.kind IN ({_marks(list(kinds))})"
        values += sorted(kinds)
    if paths:
        either = []
        for path in paths:
            clean = path.rstrip("/")
            either.append("path = ? OR (path > ? AND path < ?)")
            values += [clean, f"{clean}/", f"{clean}0"]  # "0" sorts right after "/"
        conditions += f" AND e.path IN (SELECT number FROM paths WHERE {' OR '.join(either)})"  # noqa: S608
    return conditions, values


def affordable(counts: dict[str, int]) -> tuple[list[str], list[str]]:
    """Divide query words into (words to score, words to leave out).

    `counts` maps each word to its number of rows. Words are scored from the rarest on, until their rows together would exceed `_POSTINGS`.
    The rarest word is always scored.
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


def _of_chunk(row: Any) -> Entry:
    packed = deflated(row.prefix, row.text, row.start_line, row.end_line)
    return Entry(row.id, row.kind, row.path, row.symbol_id, row.title, row.start_line, row.end_line, row.text_hash, packed)


def _of_table(table: Any) -> Iterator[list[Entry]]:
    names = ["id", "kind", "path", "symbol_id", "title", "start_line", "end_line", "text_hash", "packed"]
    for batch in table.select(names).to_batches(max_chunksize=_BATCH):
        yield [Entry(*row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]


def _insert(db: sqlite3.Connection, numbers: StemNumbers, entries: list[Entry], first: int) -> None:
    here = sorted({entry.path for entry in entries})
    db.executemany("INSERT OR IGNORE INTO paths (path) VALUES (?)", [(path,) for path in here])
    number: dict[str, int] = {}
    for part in _batches(here, 500):
        number.update(db.execute(f"SELECT path, number FROM paths WHERE path IN ({_marks(part)})", part))  # noqa: S608
    searched = [_searched(entry) for entry in entries]
    stems = numbers.packed([text for _, text, _ in searched])
    kept, words = [], []
    for rowid, (entry, texts, of_text) in enumerate(zip(entries, searched, stems, strict=True), first):
        kept.append((rowid, entry.id, entry.kind, number[entry.path], *entry[3:-1], of_text))
        words.append((rowid, *texts))
    db.executemany(f"INSERT INTO entries VALUES ({_marks(kept[0])})" if kept else "", kept)  # noqa: S608
    db.executemany("INSERT INTO words(rowid, title, text, path) VALUES (?, ?, ?, ?)", words)


def _delete(db: sqlite3.Connection, ids: list[str]) -> None:
    """Delete rows of the index with their words.

    The texts are read first, because FTS5 needs exactly the text that was inserted.
    """
    for part in _batches(ids, 500):
        rows = db.execute(f"{_SELECT} WHERE e.id IN ({_marks(part)})", part).fetchall()
        old = [(row[0], *_searched(Entry._make(row[1:]))) for row in rows]
        db.executemany("INSERT INTO words(words, rowid, title, text, path) VALUES ('delete', ?, ?, ?, ?)", old)
        db.executemany("DELETE FROM entries WHERE rowid = ?", [(row[0],) for row in rows])


def _searched(entry: Entry) -> tuple[str, str, str]:
    """Return the normalised words of a chunk: of its title, text and path."""
    return normalise(entry.title), normalised_lines(entry.text), _path_words(entry.path)


@lru_cache(maxsize=1024)
def _path_words(path: str) -> str:
    """Return the words of a path, cached for the chunks of one file."""
    return normalise(path)


def _set_hash_size(db: sqlite3.Connection, size: int) -> None:
    """Set how much data FTS5 collects in memory before writing a segment."""
    db.execute("INSERT INTO words(words, rank) VALUES ('hashsize', ?)", (size,))


def _pages(db: sqlite3.Connection, count: str) -> int:
    return int(db.execute(f"PRAGMA {count}").fetchone()[0])


def _set_meta(db: sqlite3.Connection, generation: int) -> None:
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [("generation", str(generation)), ("format", str(FORMAT))])
