"""Store earlier states of the graph as inverse changes.

An index run that changes the graph stores its inverse: the rows that it removed or replaced, and the ids of rows that it added. Applying
the inverses of several runs to the current graph gives an earlier graph. A run that writes the whole graph deletes the earlier states. The
oldest states are dropped when they take too much space. The data is in one SQLite file. If the file is lost, only the earlier states are
lost.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from graphmem.errors import GraphMemError
from graphmem.model import EdgeRow, ExternalRow, FileRow, GraphDelta, SymbolRow, UnresolvedRow
from graphmem.runtime.files.checksums import seal, unseal
from graphmem.runtime.files.sqlite_file import Sidefile
from graphmem.runtime.texts.compression import deflate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from graphmem.indexing.delta import Rows
    from graphmem.projection.graph.view import GraphView

FILE: Final = "past.sqlite"
MOST_STATES: Final = 1_000
_SCHEMA: Final = (
    "CREATE TABLE state (run TEXT PRIMARY KEY, next TEXT NOT NULL, generation INTEGER NOT NULL, indexed_at TEXT NOT NULL, "
    "until TEXT NOT NULL, undo BLOB NOT NULL)",
)
_SIDEFILE: Final = Sidefile("1", _SCHEMA, "dropped", GraphMemError, "delete it; the next index run starts it again")

_Id = TypeVar("_Id", str, tuple[str, str, str])
_Node = TypeVar("_Node", FileRow, SymbolRow, UnresolvedRow)
_Row = TypeVar("_Row", FileRow, SymbolRow, ExternalRow, UnresolvedRow, EdgeRow)


class Kept(NamedTuple):
    """An earlier state of the graph, which an index run replaced."""

    run: str  # id of the index run that made it
    next: str  # id of the run that replaced it
    generation: int
    indexed_at: str  # ISO 8601, of that run
    until: str  # of the run that replaced it


class Undo(NamedTuple):
    """The inverse of an index run: the rows that the graph had before the run.

    Each attribute maps ids to rows. None stands for a row that the run added.
    """

    files: Mapping[str, FileRow | None]
    symbols: Mapping[str, SymbolRow | None]
    externals: Mapping[str, ExternalRow | None]
    unresolved: Mapping[str, UnresolvedRow | None]
    edges: Mapping[tuple[str, str, str], EdgeRow | None]


def undo_of(delta: GraphDelta, old: Rows, before: GraphView) -> Undo:
    """Return the inverse of a change, which restores the graph as it was.

    Args:
        delta: the change to reverse.
        old: rows of the affected files before the change.
        before: the whole graph before the change.
    """
    externals: dict[str, ExternalRow | None] = {row.id: None for row in delta.externals if row.id not in before.index_of}
    for one in delta.removed_externals:
        node = before.index_of[one]
        name, full = before.name(node), before.qualname(node)
        package = full[: -len(name) - 1]  # where the package ends within a dotted name is not kept, and does not matter here
        externals[one] = ExternalRow(one, package, name) if package else ExternalRow(one, full, "")
    return Undo(
        _before(old.files, delta.removed_files, delta.files),
        _before(old.symbols, delta.removed_symbols, delta.symbols),
        externals,
        _before(old.unresolved, delta.removed_unresolved, delta.unresolved),
        _edges_before(old.edges, delta),
    )


def _before(old: Iterable[_Node], removed: Sequence[str], upserted: Iterable[Any]) -> dict[str, _Node | None]:
    found: dict[str, _Node | None] = dict.fromkeys([*removed, *(row.id for row in upserted)])
    found.update((row.id, row) for row in old if row.id in found)
    return found


def _edges_before(old: Iterable[EdgeRow], delta: GraphDelta) -> dict[tuple[str, str, str], EdgeRow | None]:
    found: dict[tuple[str, str, str], EdgeRow | None] = dict.fromkeys([*delta.removed_edges, *(row[:3] for row in delta.edges)])
    found.update((row[:3], row) for row in old if row[:3] in found)
    return found


def joined(undos: Iterable[Undo]) -> GraphDelta:
    """Combine the inverses of several runs into one change of the graph.

    The change leads from the current graph back to an earlier one. `undos` are the inverses of all runs since that graph, newest first. If
    several have a row of the same id, the oldest row is used.
    """
    whole = Undo({}, {}, {}, {}, {})
    for one in undos:
        whole = Undo(
            {**whole.files, **one.files},
            {**whole.symbols, **one.symbols},
            {**whole.externals, **one.externals},
            {**whole.unresolved, **one.unresolved},
            {**whole.edges, **one.edges},
        )
    return GraphDelta.empty()._replace(
        removed_files=_gone(whole.files),
        files=_there(whole.files),
        removed_symbols=_gone(whole.symbols),
        symbols=_there(whole.symbols),
        removed_externals=_gone(whole.externals),
        externals=_there(whole.externals),
        removed_unresolved=_gone(whole.unresolved),
        unresolved=_there(whole.unresolved),
        removed_edges=_gone(whole.edges),
        edges=_there(whole.edges),
    )


def _gone(rows: Mapping[_Id, object | None]) -> list[_Id]:
    return sorted(key for key, row in rows.items() if row is None)


def _there(rows: Mapping[Any, _Row | None]) -> list[_Row]:
    return [row for _, row in sorted(rows.items()) if row is not None]


class Past:
    """The file with the earlier states of one index.

    Args:
        path: the SQLite file.
        most_bytes: maximum size of all inverses; the oldest states beyond it are dropped. With 0, no states are kept.
    """

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path = path
        self._most_bytes = most_bytes

    def keep(self, state: Kept, undo: Undo) -> None:
        """Store the state that an index run has replaced.

        `undo` has the changes that lead from the result of the run back to this state. Older states stay only if their changes form an
        unbroken chain to the current graph; the others are deleted. The chain is broken, for example, after a backup was restored. States
        beyond the maximum number and size are deleted, too.

        Raises:
            GraphMemError: the file cannot be read or written.
        """
        if not self._most_bytes:
            self.forget()
            return
        data = deflate(json.dumps([list(part.items()) for part in undo]).encode())
        with self._open(create=True) as db, _writing(db):
            db.execute("DELETE FROM state WHERE run = ?", (state.run,))  # of a run that did not reach the graph
            found = db.execute("SELECT run, next, length(undo) FROM state ORDER BY generation DESC").fetchall()
            after, size, kept = state.run, len(data), {state.run} if len(data) <= self._most_bytes else set()
            for run, following, length in found:
                size += length
                if following != after or size > self._most_bytes or len(kept) >= MOST_STATES or not kept:
                    break
                kept.add(run)
                after = run
            db.executemany("DELETE FROM state WHERE run = ?", [(run,) for run, *_ in found if run not in kept])
            if kept:
                db.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?, ?)", (*state, data))

    def states(self, run: str) -> list[Kept]:
        """Return the stored states that led to the result of a run, newest first.

        `run` is the id of that run, usually the newest.

        Raises:
            GraphMemError: the file cannot be read.
        """
        if not self._path.exists():
            return []
        with self._open(create=False) as db:
            rows = db.execute("SELECT run, next, generation, indexed_at, until FROM state ORDER BY generation DESC").fetchall()
        found = []
        for state in map(Kept._make, rows):
            if state.next == run:
                found.append(state)
                run = state.run
        return found

    def undo(self, state: Kept) -> Undo:
        """Return the change that restores the graph as it was at `state`.

        An index run replaced `state` by the state after it. The result undoes the changes of that run alone.

        Raises:
            GraphMemError: the file cannot be read, or no longer has the state.
        """
        with self._open(create=False) as db:
            row = db.execute("SELECT undo FROM state WHERE run = ?", (state.run,)).fetchone()
        if row is None:
            raise GraphMemError("the requested earlier state of the graph was deleted in the meantime; give a more recent time")
        try:
            files, symbols, externals, unresolved, edges = json.loads(zlib.decompress(row[0]))
        except (zlib.error, ValueError) as error:
            raise _SIDEFILE.unreadable(self._path, str(error)) from error
        return Undo(
            _rows(FileRow, files),
            _rows(SymbolRow, symbols),
            _rows(ExternalRow, externals),
            _rows(UnresolvedRow, unresolved),
            {(kind, src, dst): EdgeRow._make(row) if row is not None else None for (kind, src, dst), row in edges},
        )

    def forget(self) -> None:
        """Delete all stored earlier states of the graph."""
        if self._path.exists():
            with self._open(create=False) as db, _writing(db):
                db.execute("DELETE FROM state")

    @contextmanager
    def _open(self, *, create: bool) -> Iterator[sqlite3.Connection]:
        try:
            with closing(_SIDEFILE.connect(self._path, create=create)) as db:
                yield db
        except sqlite3.Error as error:
            raise _SIDEFILE.unreadable(self._path, error) from error
        seal(self._path)


@contextmanager
def _writing(db: sqlite3.Connection) -> Iterator[None]:
    with db:
        unseal(db)
        yield


def _rows(kind: type[_Row], pairs: Iterable[tuple[str, Sequence[Any] | None]]) -> dict[str, _Row | None]:
    return {key: kind._make(row) if row is not None else None for key, row in pairs}
