"""Read the results of parsing files from a cache, when needed.

The results for a large project do not fit in memory. The results for a file are stored in the cache when the file is parsed. If the cache
has lost them, the file is parsed again, provided that its content is unchanged.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import IndexCancelledError, IndexingError
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.pool import parse_files

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts
    from graphmem.parsing.facts_cache import FactsCache
    from graphmem.parsing.packing import ParsedFile

_MANY: Final = 256  # files; for this many and more, loaded facts are hidden from the cyclic collector


class FactsLostError(IndexingError):
    """The parsed file is no longer in the cache, and its content has changed.

    So the results for the indexed content cannot be computed again.
    """


class FactsSource:
    """Reads the results of parsing a file, given path, hash and language.

    Args:
        cache: the cache of parsed files.
        root: the root folder of the project's files.
        project: the name of the project.
        marker: receives the path of each file before the file is parsed. After a crash of the parser, this path shows which file caused it.
    """

    def __init__(self, cache: FactsCache, root: Path, project: str, marker: Path) -> None:
        self._cache = cache
        self._root = root
        self._project = project
        self._marker = marker

    def __call__(self, path: str, content_hash: str, language: str) -> FileFacts:
        """Return the results of parsing a file, from the cache if possible.

        Otherwise the file is parsed again. Both ways give equal results.

        Raises:
            FactsLostError: the cache lacks the results, and the file has changed.
        """
        file = FoundFile(path, str(self._root / path), 0, content_hash, language)
        facts = self._cache.get(file)
        if facts is None:
            (parsed,) = parse_files([file], project=self._project, marker=self._marker)
            facts = parsed.facts
            if facts.content_hash != content_hash:
                raise FactsLostError(f"{path} changed while it was being indexed; index again", stage="resolve", path=path)
            self._cache.put_many([parsed])
        return facts


class FactsByPath(Mapping[str, "FileFacts"]):
    """Maps a path to the results of parsing the file, read at every look-up.

    Args:
        source: reads the results for files whose results `parsed` does not hold in memory.
        files: the files by path, with content hash and language.
        parsed: files that this run has parsed; for some of them, the results are in memory.
        cancelled: called every few look-ups; if it returns True, the look-up raises IndexCancelledError.
    """

    def __init__(
        self, source: FactsSource, files: Mapping[str, FoundFile], parsed: Mapping[str, ParsedFile], cancelled: Callable[[], bool]
    ) -> None:
        self._source = source
        self._files = files
        self._parsed = parsed
        self._cancelled = cancelled
        self._count = 0

    def __getitem__(self, path: str) -> FileFacts:
        """Return the results of parsing a file: definitions, uses of names, etc.

        Raises:
            IndexCancelledError: the function `cancelled`, an argument of the constructor, returned True.
            FactsLostError: as `FactsSource` raises it.
        """
        self._count += 1
        if self._count % _MANY == 0 and self._cancelled():
            raise IndexCancelledError("the index run was interrupted, and the index is unchanged; index again to continue", stage="parse")
        one = self._parsed.get(path)
        if one is None:
            file = self._files[path]
            return self._source(path, file.content_hash, file.language)
        return one.facts if one.has_facts else self._source(path, one.head.content_hash, one.head.language)

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        yield from self._files

    def __len__(self) -> int:
        return len(self._files)

    def hide_from_collector(self) -> None:
        """Exclude all objects loaded so far from cyclic garbage collection.

        The results of parsing live as long as the process, and the collector would scan their millions of tuples again and again. For few
        files, the method does nothing.
        """
        if len(self) >= _MANY:
            gc.freeze()
