"""Word search over the chunks of files, in one SQLite file.

FTS5 indexes the normalised text of the chunks (pieces of files), and chunks are ranked by BM25. The module `words.rows` has the tables. A
generation (number of the last change of the graph) is stored beside the rows and is updated in the same transaction. A reader sees the
generation for which it was opened, regardless of later writes. Symbols have no separate rows. As measured, such rows did not improve the
results, and made the file a third larger (docs/decisions/0003-projections.md).
"""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.model import GraphDelta
from graphmem.projection.words.entries import DamagedWordsError, Entry
from graphmem.projection.words.near_words import NearWords
from graphmem.projection.words.pieces import Pieces
from graphmem.projection.words.readers import WordReaders, damage_named, immutable, writer
from graphmem.projection.words.rows import (
    FORMAT,
    SELECT,
    batches,
    complete_tables,
    create_tables,
    delete,
    filters,
    insert,
    marks,
    of_chunk,
    of_table,
    set_meta,
)
from graphmem.projection.words.scores import WordHit, WordScores, affordable
from graphmem.projection.words.stem_numbers import StemNumbers, known_numbers
from graphmem.projection.words.text import meaningful, query_words
from graphmem.runtime.files.checksums import MISMATCH, SIDES, Proof, proof, seal, unseal
from graphmem.runtime.files.sqlite_file import is_of_system, private_file
from graphmem.runtime.process.limits import is_disk_full, unless_refused

_GUESSES: Final = 3  # unknown words of one query for which similar ones are searched: up to 5 ms each


class WordAnswer(NamedTuple):
    """The hits of a word search, best first, and counts of the query's words.

    The answer also lists words of the query that were replaced or left out.
    """

    hits: list[WordHit]
    left_out: list[str]  # words in too many rows to be scored together with the rarer ones
    replaced: dict[str, list[str]]  # words without rows -> the nearest ones that replaced them
    rows: dict[str, int]  # searched words, including those left out -> number of their rows
    total: int  # number of rows


class WordIndex:
    """Reader of one state of the word index. Thread-safe.

    Create an index with `build` or `open`. `patched` writes a change and returns a reader of the new state, while the old reader continues
    to answer as before. Only one writer may run at a time.
    """

    def __init__(self, path: Path, generation: int) -> None:
        self.path = path
        self.generation = generation
        self.pieces = Pieces()  # chunks as search divided them
        self._near = NearWords()
        self._scores = WordScores()
        self._readers = WordReaders(path)
        self.close = weakref.finalize(self, self._readers.close)

    # ---- making, changing, keeping

    @classmethod
    def build(cls, folder: Path, generation: int, chunks: Iterable[object], progress: Callable[[int], None] | None = None) -> WordIndex:
        """Index all chunks in a new file in `folder`.

        Args:
            folder: directory of `words-*.sqlite`.
            generation: number of the database's last change in the state from which the chunks come.
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
                create_tables(db)
                count = 0
                numbers = StemNumbers(db)
                for batch in (batch for table in chunks for batch in of_table(table)):
                    insert(db, numbers, batch, count + 1)
                    count += len(batch)
                    if progress is not None:
                        progress(count)
                complete_tables(db, generation)
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
        """Open the saved word index of a generation, or return None.

        A generation is the number of the database's last change. The result is None if no intact file of this generation exists, so that
        the index must be built.

        Args:
            folder: directory of `words-*.sqlite`.
            generation: current generation of the database.
            notes: receives one sentence for each file that is damaged or cannot be read. A file that SQLite cannot open because the disk
                is full gets none.

        Raises:
            ResourceError: this process lacks memory or descriptors to read a file.
        """
        for path in sorted(folder.glob("words-*.sqlite"), reverse=True):
            try:
                proven = proof(path)
                if proven is Proof.DAMAGED:
                    raise sqlite3.DatabaseError(MISMATCH)
                db = immutable(path) if not os.access(folder, os.W_OK) else sqlite3.connect(path)
                try:
                    meta = dict(db.execute("SELECT key, value FROM meta"))
                    if meta != {"generation": str(generation), "format": str(FORMAT)}:
                        continue
                    if proven is Proof.OPEN and db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                        raise sqlite3.DatabaseError(
                            "SQLite reports damage in the word index; you need not do anything, because graphmem rebuilds it"
                        )
                finally:
                    db.close()
                return cls(path, generation)
            except (sqlite3.DatabaseError, OSError) as error:
                unless_refused(error, f"reading {path.name}", path)
                if notes is not None and not (is_of_system(error) and is_disk_full(folder)):
                    fault = "could not be read" if is_of_system(error) else "was damaged"
                    notes.append(f"{path.name} {fault} and was rebuilt from the database: {error}")
                continue
        return None

    def patched(self, delta: GraphDelta, generation: int) -> WordIndex:
        """Write a change of the code to the word index; return a new reader.

        The write is one transaction. `generation` is the number of the change. The scores equal those of an index rebuilt from the
        database.

        Raises:
            DamagedWordsError: the file is damaged, or has another generation than this reader.
            sqlite3.OperationalError: the write failed; the file is unchanged.
        """
        self._readers.empty_log()
        moved = [(row.start_line, row.end_line, row.id) for row in delta.chunks if delta.only_moved(row)]
        stays = {key for *_, key in moved}
        fresh = {row.id: row for row in delta.chunks if row.id not in stays}
        with damage_named():
            db = writer(self.path)
            try:
                db.execute("BEGIN IMMEDIATE")
                unseal(db)
                self._expect_generation(db)
                removed = [row for ids in batches(dict.fromkeys([*delta.removed_chunks, *fresh])) for row in delete(db, ids)]
                first = added = db.execute("SELECT coalesce(max(rowid), 0) + 1 FROM entries").fetchone()[0]
                numbers = StemNumbers(db)
                for batch in batches(map(of_chunk, fresh.values())):
                    insert(db, numbers, batch, first)
                    first += len(batch)
                db.executemany("UPDATE entries SET start_line = ?, end_line = ? WHERE id = ?", moved)
                set_meta(db, generation)
                scores = self._scores.after(db, removed, added)
                db.execute("COMMIT")
            finally:
                db.close()
        index = WordIndex(self.path, generation)
        index.pieces = self.pieces.without(_touched(delta))
        index._scores = scores
        return index

    def copied(self, folder: Path) -> WordIndex:
        """Copy this state of the word index to a new file; return its reader.

        Readers and writers need not wait for the copy. `folder` is the directory of the new file, which is deleted if the copy fails.

        Raises:
            DamagedWordsError: the file is damaged, or has another generation than this reader.
            OSError, sqlite3.Error: the copy failed.
        """
        path = folder / f"words-{self.generation}-{time.time_ns():x}.sqlite"
        try:
            with self._readers.separate() as db:
                self._expect_generation(db)
                with closing(sqlite3.connect(private_file(path), isolation_level=None)) as copy:
                    db.backup(copy)
            return WordIndex(path, self.generation)
        except BaseException:
            _delete(path)
            raise

    def moved(self, folder: Path) -> WordIndex:
        """Move the file of an index that was never read; return its reader.

        `folder` is the new directory, on the same file system.

        Raises:
            OSError: the file cannot be moved.
        """
        path = folder / self.path.name
        self.path.replace(path)
        return WordIndex(path, self.generation)

    def delete_files(self) -> None:
        """Delete the files of the word index; open readers can still read them."""
        _delete(self.path)

    def _expect_generation(self, db: sqlite3.Connection) -> None:
        """Raise DamagedWordsError if the file of `db` has another generation.

        A generation is the number of the database's last change.
        """
        if dict(db.execute("SELECT key, value FROM meta")).get("generation") != str(self.generation):
            raise DamagedWordsError(
                f"the word index {self.path} does not belong to the current state of the graph, number {self.generation}; "
                "you need not do anything, because graphmem rebuilds it"
            )

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
            query: any text, which is normalised as the rows were. Function words, such as "the", are ignored if the query has any other
                words.
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
        with self._readers.lend(deadline) as db:
            counts = {word: self._scores.count(db, word) for word in words}
            unknown = [word for word, count in counts.items() if not count][: _GUESSES if forgiving else 0]
            replaced = {word: self._near.nearest(db, word) for word in unknown}
            replaced = {word: near for word, near in replaced.items() if near}
            for near in replaced.values():
                counts |= {word: self._scores.count(db, word) for word in near}
            found = {word: count for word, count in counts.items() if count}
            used, left_out = affordable(found)
            if not used:
                return WordAnswer([], left_out, replaced, found, 0)
            hits = self._scores.best(db, used, k, filters(kinds, paths), worth)
            total = self._scores.total(db)
        return WordAnswer(hits, left_out, replaced, found, total)

    def rows_with(self, words: Iterable[str]) -> tuple[dict[str, int], int]:
        """Return the number of chunks with each of `words`, and of all chunks.

        The first result maps words to numbers. `words` must be normalised. Words that no chunk has are left out.
        """
        with self._readers.lend() as db:
            counts = {word: self._scores.count(db, word) for word in words}
            return {word: count for word, count in counts.items() if count}, self._scores.total(db)

    def chunks_with(self, word: str, most: int) -> list[Entry]:
        """Return all chunks that have a normalised word, with their texts.

        The list is empty if more than `most` chunks have it.

        Raises:
            DamagedWordsError: the file is damaged.
        """
        with self._readers.lend() as db:
            if not 0 < self._scores.count(db, word) <= most:
                return []
            rows = [row for (row,) in db.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'"{word}"',))]
            return [Entry._make(row[1:]) for row in db.execute(f"{SELECT} WHERE e.rowid IN ({marks(rows)})", rows)]

    def entries(self, ids: Iterable[str], *, texts: bool = True) -> dict[str, Entry]:
        """Map the given ids of chunks to the chunks, with or without their texts.

        Unknown ids are left out.
        """
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Entry] = {}
        sql = SELECT if texts else SELECT.replace("e.packed, e.stems", "x'', x''")
        with self._readers.lend() as db:
            for batch in batches(wanted, 500):
                for row in db.execute(f"{sql} WHERE e.id IN ({marks(batch)})", batch):
                    found[row[1]] = Entry._make(row[1:])
        return found

    def numbers_of(self, stems: Iterable[str]) -> dict[str, int]:
        """Map given stems to their numbers in the word index.

        A stem that no text has is left out.
        """
        with self._readers.lend() as db:
            return known_numbers(db, stems)

    def chunks_of_hashes(self, hashes: Collection[str], *, kinds: Collection[str] = (), paths: Sequence[str] = ()) -> dict[str, list[str]]:
        """Map text hashes to the ids of the chunks with this text, ascending.

        Only chunks of the given kinds and paths are returned.
        """
        conditions, values = filters(kinds, paths)
        found: dict[str, list[str]] = {}
        with self._readers.lend() as db:
            for batch in batches(sorted(hashes), 500):
                sql = f"SELECT e.text_hash, e.id FROM entries e WHERE e.text_hash IN ({marks(batch)}){conditions} ORDER BY e.id"  # noqa: S608
                for text_hash, key in db.execute(sql, (*batch, *values)):
                    found.setdefault(text_hash, []).append(key)
        return found

    def hashes(self, *, kinds: Collection[str] = (), paths: Sequence[str] = ()) -> list[str]:
        """Return the distinct text hashes of all chunks, ascending.

        Only chunks of the given kinds and paths are considered.
        """
        conditions, values = filters(kinds, paths)
        with self._readers.lend() as db:
            sql = f"SELECT DISTINCT e.text_hash FROM entries e WHERE TRUE{conditions} ORDER BY e.text_hash"  # noqa: S608
            return [row[0] for row in db.execute(sql, values)]

    def hash_of_each(self) -> Iterator[str]:
        """Yield the text hash of each chunk, in any order."""
        with self._readers.lend() as db:
            yield from (row[0] for row in db.execute("SELECT text_hash FROM entries"))

    def chunk_keys(self) -> list[tuple[str, str, str]]:
        """Return (id, text hash, symbol id) of every chunk, sorted by id.

        The background thread that computes vectors uses this list.
        """
        with self._readers.lend() as db:
            return db.execute("SELECT id, text_hash, symbol FROM entries ORDER BY id").fetchall()

    def __len__(self) -> int:
        """Return the number of chunks in the word index."""
        with self._readers.lend() as db:
            return int(db.execute("SELECT count(*) FROM entries").fetchone()[0])


def _delete(path: Path) -> None:
    for side in ("", *SIDES):
        path.with_name(path.name + side).unlink(missing_ok=True)


def _touched(delta: GraphDelta) -> set[str]:
    """Return the paths of all files with a changed file, symbol or chunk.

    A removed symbol or chunk has no path in `delta`. But then `delta` also changes or removes the row of its file.
    """
    return {row.path for rows in (delta.files, delta.symbols, delta.chunks) for row in rows}
