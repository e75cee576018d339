"""The tables of the word index, and functions to insert and delete rows.

An FTS5 table without contents has the normalised words of each chunk (piece of a file). The table `entries` has the data of the chunk, also
its text as stored, because FTS5 needs the old text to delete a row. Both tables use the same row numbers.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from graphmem.projection.words.entries import Entry
from graphmem.projection.words.stem_numbers import StemNumbers
from graphmem.projection.words.text import normalise, normalised_lines
from graphmem.runtime.texts.compression import deflated

FORMAT: Final = 3  # increase it when the tables or the normaliser change: the file is then rebuilt
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
SELECT: Final = (
    "SELECT e.rowid, e.id, e.kind, p.path, e.symbol, e.title, e.start_line, e.end_line, e.text_hash, e.packed, e.stems "
    "FROM entries e JOIN paths p ON p.number = e.path"
)


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables in a new file, inside a transaction that stays open.

    SQLite keeps no log for the file, because no process reads the file before it is complete.
    """
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; BEGIN")
    for statement in _SCHEMA.strip().split(";\n"):
        db.execute(statement.rstrip(";"))
    _set_hash_size(db, _BUILD_HASH_BYTES)


def complete_tables(db: sqlite3.Connection, generation: int) -> None:
    """Add SQL indexes and the graph's change number to a new file; commit.

    `generation` is the change number.
    """
    for statement in _INDEXES.strip().split(";\n"):
        db.execute(statement.rstrip(";"))
    set_meta(db, generation)
    db.execute("INSERT INTO words(words) VALUES ('optimize')")
    _set_hash_size(db, _HASH_BYTES)
    db.execute("COMMIT")
    if _pages(db, "freelist_count") * _WORTH_PACKING > _pages(db, "page_count"):
        db.execute("VACUUM")  # with several segments, merging them left an eighth of the file empty
    db.execute("PRAGMA journal_mode = WAL")  # now: it changes the header, and the file is sealed next


def set_meta(db: sqlite3.Connection, generation: int) -> None:
    """Store the graph's change number and the format number beside the words.

    `generation` is the change number.
    """
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [("generation", str(generation)), ("format", str(FORMAT))])


def batches(rows: Iterable[object], size: int = _BATCH) -> Iterator[list[Any]]:
    """Yield rows in lists of at most `size` rows."""
    batch: list[Any] = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def marks(values: Sequence[object]) -> str:
    """Return one SQL parameter mark for each value: "?,?,?"."""
    return ",".join("?" * len(values))


def filters(kinds: Collection[str], paths: Sequence[str]) -> tuple[str, list[str]]:
    """Return (SQL conditions for kinds and paths, their parameters).

    The conditions are on the table `e` and begin with AND. A path of a directory selects every file below the directory.
    """
    conditions, values = "", []
    if kinds:
        conditions += f" AND e.kind IN ({marks(list(kinds))})"
        values += sorted(kinds)
    if paths:
        either = []
        for path in paths:
            clean = path.rstrip("/")
            either.append("path = ? OR (path > ? AND path < ?)")
            values += [clean, f"{clean}/", f"{clean}0"]  # "0" sorts right after "/"
        conditions += f" AND e.path IN (SELECT number FROM paths WHERE {' OR '.join(either)})"  # noqa: S608
    return conditions, values


def of_chunk(row: Any) -> Entry:
    """Return the row of the word index for a new or changed chunk."""
    packed = deflated(row.prefix, row.text, row.start_line, row.end_line)
    return Entry(row.id, row.kind, row.path, row.symbol_id, row.title, row.start_line, row.end_line, row.text_hash, packed)


def of_table(table: Any) -> Iterator[list[Entry]]:
    """Yield lists of rows of the word index for the chunks in a table."""
    names = ["id", "kind", "path", "symbol_id", "title", "start_line", "end_line", "text_hash", "packed"]
    for batch in table.select(names).to_batches(max_chunksize=_BATCH):
        yield [Entry(*row) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]


def insert(db: sqlite3.Connection, numbers: StemNumbers, entries: list[Entry], first: int) -> None:
    """Insert the rows `entries`, with their words, into the word index.

    `first` is the row number of the first inserted row.
    """
    here = sorted({entry.path for entry in entries})
    db.executemany("INSERT OR IGNORE INTO paths (path) VALUES (?)", [(path,) for path in here])
    number: dict[str, int] = {}
    for part in batches(here, 500):
        number.update(db.execute(f"SELECT path, number FROM paths WHERE path IN ({marks(part)})", part))  # noqa: S608
    searched = [_searched(entry) for entry in entries]
    stems = numbers.packed([text for _, text, _ in searched])
    kept, words = [], []
    for rowid, (entry, texts, of_text) in enumerate(zip(entries, searched, stems, strict=True), first):
        kept.append((rowid, entry.id, entry.kind, number[entry.path], *entry[3:-1], of_text))
        words.append((rowid, *texts))
    db.executemany(f"INSERT INTO entries VALUES ({marks(kept[0])})" if kept else "", kept)  # noqa: S608
    db.executemany("INSERT INTO words(rowid, title, text, path) VALUES (?, ?, ?, ?)", words)


def delete(db: sqlite3.Connection, ids: list[str]) -> list[int]:
    """Delete the rows of chunks from the word index; return the rows' numbers.

    `ids` are the ids of the chunks.

    The texts are read first, because FTS5 needs exactly the text that was inserted.
    """
    removed: list[int] = []
    for part in batches(ids, 500):
        rows = db.execute(f"{SELECT} WHERE e.id IN ({marks(part)})", part).fetchall()
        old = [(row[0], *_searched(Entry._make(row[1:]))) for row in rows]
        db.executemany("INSERT INTO words(words, rowid, title, text, path) VALUES ('delete', ?, ?, ?, ?)", old)
        db.executemany("DELETE FROM entries WHERE rowid = ?", [(row[0],) for row in rows])
        removed += [row[0] for row in rows]
    return removed


def _searched(entry: Entry) -> tuple[str, str, str]:
    """Return three strings of normalised words: title, text and path.

    They belong to `entry`, a chunk (piece of a file).
    """
    return normalise(entry.title), normalised_lines(entry.text), _path_words(entry.path)


@lru_cache(maxsize=1024)
def _path_words(path: str) -> str:
    """Return the words of a path, cached for the chunks of one file."""
    return normalise(path)


def _set_hash_size(db: sqlite3.Connection, size: int) -> None:
    """Set how many bytes FTS5 collects in memory before writing a segment."""
    db.execute("INSERT INTO words(words, rank) VALUES ('hashsize', ?)", (size,))


def _pages(db: sqlite3.Connection, count: str) -> int:
    return int(db.execute(f"PRAGMA {count}").fetchone()[0])
