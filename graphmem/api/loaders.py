"""Batches what nested fields ask for: one verb call for each relation and level, however many symbols.

Loaders live for one operation, so nothing they cache outlives an answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from strawberry.dataloader import DataLoader

from graphmem.answers import FileInfo, Site, SymbolInfo
from graphmem.api.verbs import Relation, Service

P = ParamSpec("P")
T = TypeVar("T")

Call = Callable[..., Awaitable[Any]]
"""Runs a verb within the operation's deadline; `graphmem.api.context.Operation.call`."""


class Loaders:
    """The loaders of one operation."""

    def __init__(self, service: Service, call: Call) -> None:
        self._service = service
        self._call = call
        self._sites: dict[tuple[Relation, int], DataLoader[str, list[Site]]] = {}
        self.symbols: DataLoader[str, SymbolInfo | None] = DataLoader(self._load_symbols)
        self.details: DataLoader[str, Mapping[str, Any]] = DataLoader(self._load_details)
        self.sources: DataLoader[str, str] = DataLoader(self._load_sources)
        self.files: DataLoader[str, FileInfo | None] = DataLoader(self._load_files)

    def sites(self, relation: Relation, limit: int) -> DataLoader[str, list[Site]]:
        """The loader of the first `limit` edges of a relation, by symbol id."""
        key = (relation, limit)
        loader = self._sites.get(key)
        if loader is None:

            async def load(ids: list[str]) -> list[list[Site]]:
                found: dict[str, list[Site]] = await self._call(self._service.sites, ids, relation, limit)
                return [found.get(one, []) for one in ids]

            loader = self._sites[key] = DataLoader(load)
        return loader

    async def _load_symbols(self, ids: list[str]) -> list[SymbolInfo | None]:
        found: list[SymbolInfo | None] = await self._call(self._service.symbol_info, ids)
        return found

    async def _load_details(self, ids: list[str]) -> list[Mapping[str, Any]]:
        found: Mapping[str, Mapping[str, Any]] = await self._call(self._service.details, ids)
        return [found.get(one, {}) for one in ids]

    async def _load_sources(self, ids: list[str]) -> list[str]:
        def read() -> list[str]:  # many small reads, one trip to a thread
            return [self._service.source(one) for one in ids]

        found: list[str] = await self._call(read)
        return found

    async def _load_files(self, paths: list[str]) -> list[FileInfo | None]:
        def look_up() -> list[FileInfo | None]:
            return [self._file(path) for path in paths]

        found: list[FileInfo | None] = await self._call(look_up)
        return found

    def _file(self, path: str) -> FileInfo | None:
        # A path sorts before everything it is a prefix of, so the first row is the file itself if there is one.
        rows, _ = self._service.files(path, limit=1)
        return rows[0] if rows and rows[0].path == path else None
