"""Subject of an index run: a project, and the stored data of its index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.indexing.inputs import Inputs
from graphmem.indexing.past import Past
from graphmem.parsing.facts_cache import FactsCache
from graphmem.parsing.marker import FILE as MARKER

if TYPE_CHECKING:
    from graphmem.projection.projections import Projections
    from graphmem.store.base import GraphStore


@dataclass(frozen=True, slots=True)
class IndexedProject:
    """The project that an index run reads."""

    name: str
    root: Path
    data_dir: Path  # the index directory

    @property
    def marker(self) -> Path:
        """File that records which file is being parsed, in case of a crash."""
        return self.data_dir / MARKER


@dataclass(frozen=True, slots=True)
class IndexData:
    """The stored data that an index run reads and updates."""

    store: GraphStore
    projections: Projections
    cache: FactsCache  # results of parsing
    inputs: Inputs  # dependencies of edges
    past: Past  # earlier states of the graph
