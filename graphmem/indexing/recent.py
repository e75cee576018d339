"""Cache of the graph rows that belong to the last written files.

The cache helps because a person edits the same few files repeatedly.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.store.base import StoredRows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from graphmem.indexing.delta import Rows
    from graphmem.model import ChunkRow, FileRow, OccurrencesRow, SymbolRow, UnresolvedRow

MAX_FILES: Final = 64


class _File(NamedTuple):
    files: list[FileRow]
    symbols: list[SymbolRow]
    chunks: list[ChunkRow] | None  # None: not known
    unresolved: list[UnresolvedRow]
    occurrences: list[OccurrencesRow]


class Recent:
    """Cache of the graph's rows of the `MAX_FILES` files written last.

    After every write to the graph, call `wrote`, or use a new instance.
    """

    def __init__(self) -> None:
        self._known: dict[str, _File] = {}  # the last written one comes last

    def rows_of(self, ask: Callable[[list[str], list[str]], StoredRows], paths: Sequence[str], chunks_of: Collection[str]) -> StoredRows:
        """Return the graph's rows of given files, from the cache if possible.

        Args:
            ask: reads rows from the store. It is called with two lists: the paths that are not cached, and the paths whose chunks are not
                cached.
            paths: paths of the files.
            chunks_of: the paths whose chunks are needed, too.
        """
        wanted = set(chunks_of)
        here = {path: one for path in paths if (one := self._known.get(path)) and (one.chunks is not None or path not in wanted)}
        missing = [path for path in paths if path not in here]
        found = ask(missing, sorted(wanted.difference(here))) if missing else StoredRows([], [], [], [], [])
        for path, one in here.items():
            found.files.extend(one.files)
            found.symbols.extend(one.symbols)
            found.unresolved.extend(one.unresolved)
            found.occurrences.extend(one.occurrences)
            if path in wanted:
                found.chunks.extend(one.chunks or ())
        return StoredRows(
            sorted(found.files), sorted(found.symbols), sorted(found.chunks), sorted(found.unresolved), sorted(found.occurrences)
        )

    def wrote(self, rows: Rows, parsed: Collection[str], removed: Collection[str]) -> None:
        """Update the cache after an index run has written files to the graph.

        Args:
            rows: the rows of all files that the run wrote; chunks only of the files in `parsed`.
            parsed: paths of the parsed files.
            removed: paths of the deleted files.
        """
        before = self._known
        paths = [row.path for row in rows.files]
        self._known = {path: one for path, one in before.items() if path not in {*paths, *removed}}
        if len(paths) > MAX_FILES:
            return
        new = {path: _File([], [], [], [], []) for path in paths}
        for file in rows.files:
            new[file.path].files.append(file)
        for symbol in rows.symbols:
            new[symbol.path].symbols.append(symbol)
        for site in rows.unresolved:
            new[site.path].unresolved.append(site)
        for row in rows.occurrences:
            new[row.path].occurrences.append(row)
        chunks: dict[str, list[ChunkRow]] = defaultdict(list)
        for chunk in rows.loose_chunks:
            chunks[chunk.path].append(chunk)
        for path, one in new.items():
            kept = chunks[path] if path in parsed else before[path].chunks if path in before else None
            self._known[path] = one._replace(chunks=kept)
        for path in list(self._known)[:-MAX_FILES]:
            del self._known[path]
