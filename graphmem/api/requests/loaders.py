"""Load data for nested GraphQL fields in batches, one call per level.

For example, the callers of all symbols in a list are loaded by one call for each relation. The number of calls does not depend on the
number of symbols. Loaders exist for one GraphQL operation, so their caches end with its answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from strawberry.dataloader import DataLoader

from graphmem.answers import FileInfo, NearbyMemories, Site, SymbolInfo
from graphmem.answers.vocabulary import Relation
from graphmem.errors import GraphMemError
from graphmem.operations.registry import Operations as Service

Call = Callable[..., Awaitable[Any]]
"""Runs a function within the operation's deadline; see `graphmem.api.requests.context.Operation.call`."""


class SitesOf(NamedTuple):
    """Key of a batched load: the edges of one symbol in one relation.

    `relation` is, for example, callers. `limit` is the maximum number of edges. `id` is the id of the symbol.
    """

    relation: Relation
    limit: int
    id: str


class KnownOf(NamedTuple):
    """Key of a batched load: the memories about one symbol or file.

    `limit` is the maximum number of memories. `id` is the id of the symbol or file.
    """

    limit: int
    id: str


class Loaders:
    """Loaders that load the nested fields of one GraphQL operation in batches."""

    def __init__(self, service: Service, call: Call) -> None:
        self._service = service
        self._call = call
        self.sites: DataLoader[SitesOf, list[Site]] = DataLoader(self._load_sites)
        self.symbols: DataLoader[str, SymbolInfo | None] = DataLoader(self._load_symbols)
        self.details: DataLoader[str, Mapping[str, Any]] = DataLoader(self._load_details)
        self.sources: DataLoader[str, str] = DataLoader(self._load_sources)
        self.known: DataLoader[KnownOf, NearbyMemories] = DataLoader(self._load_known)
        self.files: DataLoader[str, FileInfo | None] = DataLoader(self._load_files)

    async def _load_sites(self, keys: list[SitesOf]) -> list[list[Site]]:
        ids: dict[tuple[Relation, int], list[str]] = {}
        for one in keys:
            ids.setdefault((one.relation, one.limit), []).append(one.id)

        def look_up() -> dict[tuple[Relation, int], dict[str, list[Site]]]:  # several relations in one call to a thread
            return {key: self._service.sites(chosen, *key) for key, chosen in ids.items()}

        found: dict[tuple[Relation, int], dict[str, list[Site]]] = await self._call(look_up)
        return [found[one.relation, one.limit].get(one.id, []) for one in keys]

    async def _load_symbols(self, ids: list[str]) -> list[SymbolInfo | None]:
        found: list[SymbolInfo | None] = await self._call(self._service.symbol_info, ids)
        return found

    async def _load_known(self, keys: list[KnownOf]) -> list[NearbyMemories]:
        ids: dict[int, list[str]] = {}
        for one in keys:
            ids.setdefault(one.limit, []).append(one.id)

        def look_up() -> dict[int, dict[str, NearbyMemories]]:
            return {limit: self._service.known_about(chosen, limit) for limit, chosen in ids.items()}

        found: dict[int, dict[str, NearbyMemories]] = await self._call(look_up)
        return [found[one.limit].get(one.id) or NearbyMemories() for one in keys]

    async def _load_details(self, ids: list[str]) -> list[Mapping[str, Any]]:
        found: Mapping[str, Mapping[str, Any]] = await self._call(self._service.details, ids)
        return [found.get(one, {}) for one in ids]

    async def _load_sources(self, ids: list[str]) -> list[str | BaseException]:
        def read() -> list[str | BaseException]:  # many small reads in one call to a thread
            return [self._source(one) for one in ids]

        found: list[str | BaseException] = await self._call(read)
        return found

    def _source(self, symbol_id: str) -> str | GraphMemError:
        try:
            return self._service.source(symbol_id)
        except GraphMemError as error:  # a changed file fails only its own symbols
            return error

    async def _load_files(self, paths: list[str]) -> list[FileInfo | None]:
        found: list[FileInfo | None] = await self._call(self._service.file_info, paths)
        return found
