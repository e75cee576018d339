"""The indexer of a project's files, and the data it keeps between runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError, NotIndexedError, RepositoryError
from graphmem.parsing.ignore import DiscoveryOptions

if TYPE_CHECKING:
    from graphmem.indexing.inputs import Inputs
    from graphmem.indexing.pipeline import Indexer
    from graphmem.parsing.facts_cache import FactsCache
    from graphmem.projection.projections import Projections
    from graphmem.settings import Settings
    from graphmem.store.base import GraphStore

FACTS: Final = "facts.sqlite"
INPUTS: Final = "inputs.sqlite"


@dataclass(eq=False, repr=False)
class IndexerSource:
    """Creates the indexer of a project's files when it is first needed.

    Index runs are serialized, so only one thread at a time uses the indexer.
    """

    store: GraphStore
    projections: Projections
    data_dir: Path
    settings: Settings
    keep_warm: bool  # keep data for later runs in memory
    newest: Indexer | None = field(default=None, init=False)
    _cache: FactsCache | None = field(default=None, init=False)
    _inputs: Inputs | None = field(default=None, init=False)

    @property
    def options(self) -> DiscoveryOptions:
        """The rules that decide which files of a project are indexed."""
        return DiscoveryOptions(
            max_file_bytes=self.settings.max_file_kb << 10,
            include_vendored=self.settings.include_vendored,
            include_generated=self.settings.include_vendored,
        )

    def of(self, repo: str | Path | None) -> Indexer:
        """Return the indexer of a directory with the project's files.

        Args:
            repo: the directory; None for the one indexed before.

        Raises:
            NotIndexedError: no directory was indexed before.
            RepositoryError: the directory does not exist.
            BadInputError: this index belongs to another directory.
        """
        meta = self.store.meta()
        root = Path(repo).resolve() if repo is not None else Path(meta["root"]) if "root" in meta else None
        if root is None:
            raise NotIndexedError(
                "this index is empty and does not know its repository; name the repository to index", path=str(self.data_dir)
            )
        if not root.is_dir():
            kind = "is not a directory" if root.exists() else "does not exist"
            raise RepositoryError(f"the repository {root} {kind}; give the directory of the repository", path=str(root))
        before = meta.get("root")
        if before and Path(before) != root and Path(before).is_dir():
            raise BadInputError(
                f"this index belongs to the repository {before}, not to {root}; choose another directory with --db",
                argument="repo",
                root=before,
                path=str(root),
            )
        if self.newest is None or before != str(root):
            # Imported here: a process that only queries saves a tenth of a second without the parser and resolver.
            from graphmem.indexing.inputs import Inputs
            from graphmem.indexing.options import IndexOptions
            from graphmem.indexing.past import FILE, Past
            from graphmem.indexing.pipeline import Indexer
            from graphmem.indexing.subject import IndexData, IndexedProject
            from graphmem.parsing.facts_cache import FactsCache

            options = IndexOptions(self.options, workers=self.settings.workers or None, keep_warm=self.keep_warm)
            project = meta.get("project") or root.name
            self._cache = self._cache or FactsCache(self.data_dir / FACTS, project)
            self._inputs = self._inputs or Inputs(self.data_dir / INPUTS)
            past = Past(self.data_dir / FILE, self.settings.past_mb << 20)
            data = IndexData(self.store, self.projections, self._cache, self._inputs, past)
            self.newest = Indexer(IndexedProject(project, root, self.data_dir), data, options)
        return self.newest

    def close(self) -> None:
        """Close the files that were kept open for later index runs."""
        for kept in (self._cache, self._inputs, self.newest):
            if kept is not None:
                kept.close()
