"""Parse the files of an index run, and keep the results for later runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from graphmem.indexing.contracts import is_schema
from graphmem.indexing.listener import Listener
from graphmem.indexing.meter import Meter
from graphmem.indexing.options import IndexOptions
from graphmem.indexing.spill import Spill
from graphmem.indexing.unfinished import LEAST_FILES, Unfinished
from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.language import languages
from graphmem.parsing.marker import FILE as MARKER
from graphmem.parsing.packing import ParsedFile
from graphmem.parsing.pool import parse_files

CACHE_BATCH: Final = 256
"""Parsed files that go to the cache at once, so that a killed run keeps most of its work."""


class ParseStage:
    """Parses files in worker processes, and stores the results in the cache."""

    def __init__(self, project: str, data_dir: Path, cache: FactsCache, options: IndexOptions) -> None:
        self._project = project
        self._data_dir = data_dir
        self._cache = cache
        self._options = options
        self._loaded: set[str] = set()  # languages whose grammars `load_grammar` loaded

    def parse(
        self,
        meter: Meter,
        files: list[FoundFile],
        listener: Listener,
        spill: Spill | None = None,
        unfinished: Unfinished | None = None,
    ) -> dict[str, ParsedFile]:
        """Parse files; return the results by path.

        A result has facts (definitions, uses of names) and chunks (pieces of the file for search). The facts are moved to the cache. The
        chunks are moved to `spill` (a temporary store) if it is not None. In a first index of many files, the results are also kept in
        `unfinished`, so that an interrupted run can continue.
        """
        with meter.stage("parse"):
            parsed: dict[str, ParsedFile] = {}
            listener.step("parse", 0, len(files))
            fresh: list[ParsedFile] = []
            workers, niceness, marker = self._options.workers, self._options.niceness, self._data_dir / MARKER
            if spill is None or len(files) < LEAST_FILES:
                unfinished = None
            elif unfinished is not None:
                for one in unfinished.take(files, self._cache):
                    one.spill_chunks(spill.write)
                    parsed[one.head.path] = one
            left = [file for file in files if file.path not in parsed]
            for one in parse_files(
                left, project=self._project, workers=workers, cancelled=listener.cancelled, niceness=niceness, marker=marker
            ):
                parsed[one.head.path] = one
                fresh.append(one)
                if unfinished is not None:
                    unfinished.keep(one)
                if spill is not None:
                    one.spill_chunks(spill.write)
                if len(parsed) % 16 == 0:
                    listener.step("parse", len(parsed), len(files), one.head.path)
                if len(fresh) >= CACHE_BATCH:
                    self._keep(fresh, unfinished)
            self._keep(fresh, unfinished)
            listener.step("parse", len(files), len(files))
        return parsed

    def _keep(self, fresh: list[ParsedFile], unfinished: Unfinished | None) -> None:
        """Move the results of parsing files to the cache; clear `fresh`.

        `fresh` are the parsed files. If the cache cannot be written, the results stay in memory.
        """
        if self._cache.put_many(one for one in fresh if one.head.language in languages()):
            for one in fresh:
                if one.head.language in languages() or not is_schema(one.head.path):
                    one.forget_facts()
            if unfinished is not None:
                unfinished.flush()
        fresh.clear()

    def load_grammar(self, file: FoundFile) -> None:
        """Load the grammar of a file's language by parsing the file.

        Nothing is done if an earlier call has parsed a file of the same language.
        """
        if file.language not in self._loaded:
            self._loaded.add(file.language)
            for _ in parse_files([file], project=self._project, cancelled=lambda: False, marker=self._data_dir / MARKER):
                pass
