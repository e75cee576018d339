"""Operations on the code: the project, its symbols and files, impact, paths, pictures, search, index runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Annotated, Any

from graphmem.answers import (
    DiffImpact,
    FileInfo,
    FilePage,
    ImpactReport,
    IndexState,
    IndexSummary,
    PathAnswer,
    Picture,
    Project,
    SearchAnswer,
    Site,
    Subgraph,
    SymbolDetail,
    SymbolInfo,
    SymbolPage,
)
from graphmem.answers.vocabulary import Direction, EdgeKind, Relation, SearchKind, SymbolKind
from graphmem.model import IndexProgress
from graphmem.operations.declare import Bounds, Local, Ref, Sight, Spelled, Within, Words, operation

Share = Annotated[float, Bounds(0, 1)]


class CodeOperations:
    """Questions about the code, and the run that indexes it."""

    @operation("query", needs="", shows=Sight.PLAIN)
    def project(self) -> Project:
        """The project this database belongs to."""

    @operation("query", needs="", shows=Sight.PLAIN)
    def state(self) -> IndexState:
        """How far the answers equal the files as they are now."""

    @operation(needs="read", shows=Sight.PLAIN, client="own")
    def symbol(self, ref: Annotated[str, Ref()], source: bool = False) -> SymbolDetail:
        """A symbol and what is around it; at most 1,000 edges of each relation.

        `ref` is an id, `path:name`, `path:line[:column]`, a qualified or a bare name.
        """

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def resolve(self, ref: str) -> SymbolInfo:
        """The symbol a reference means; of twins with one path and name the first."""

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def file_info(self, paths: Sequence[str]) -> list[FileInfo | None]:
        """Files by path, in the order asked; None where there is none."""

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def symbol_info(self, ids: Sequence[str]) -> list[SymbolInfo | None]:
        """Symbols by id, in the order asked; None where there is none."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def symbols(self, query: str = "", kinds: Sequence[SymbolKind] | None = None, limit: int = 50, offset: int = 0) -> SymbolPage:
        """Symbols whose name matches, best match first; several words are looked for in name, class and path."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def files(self, prefix: str = "", limit: int = 100, offset: int = 0, query: str = "") -> FilePage:
        """Files of the index whose path begins with `prefix` and holds every word of `query`."""

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def sites(self, ids: Sequence[str], relation: Relation, limit: int = 1000) -> dict[str, list[Site]]:
        """For each id the first `limit` edges of a relation."""

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def details(self, ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """For each id `doc`, `modifiers`, `complexity` and `parent` (an id or "")."""

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def source(self, id: str) -> str:  # noqa: A002 - the word of the domain
        """The text of a symbol as it was indexed."""

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("hits", "tests")})
    def impact(
        self,
        targets: Annotated[str | Sequence[str], Ref(), Within("targets")],
        direction: Direction = "dependents",
        max_depth: Annotated[int, Bounds(1, 50)] = 5,
        min_confidence: Share = 0.3,
        kinds: Sequence[EdgeKind] | None = None,
        limit: Annotated[int, Within("hits")] = 1000,
    ) -> ImpactReport:
        """Who could behave differently if the targets change; targets are references or ids, as in `symbol`."""

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("impact.hits", "impact.tests")})
    def impact_of_diff(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: Annotated[int, Bounds(1, 50)] = 5,
        min_confidence: Share = 0.3,
        limit: Annotated[int, Within("hits")] = 1000,
    ) -> DiffImpact:
        """What a change breaks: a unified diff, or what lies between two revisions (the working tree without `head`)."""

    @operation("query", needs="read", shows=Sight.PLAIN, command="path")
    def path(
        self,
        source: Annotated[str, Ref()],
        target: Annotated[str, Ref()],
        max_depth: Annotated[int, Bounds(1, 30)] = 10,
        min_confidence: Share = 0.05,
        kinds: Sequence[EdgeKind] | None = None,
    ) -> PathAnswer:
        """Find the most confident path from one symbol to another.

        Args:
            source: the one that depends.
            target: the one depended upon.
            max_depth: follow at most this many steps.
            min_confidence: of the whole path.
            kinds: follow only these edges.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("nodes", "edges")}, client="own")
    def subgraph(
        self,
        seeds: Annotated[Sequence[str], Ref(), Within("targets")],
        depth: int = 1,
        kinds: Sequence[EdgeKind] | None = None,
        limit: Annotated[int, Within("hits")] = 500,
    ) -> Subgraph:
        """The piece of the graph around some symbols, in both directions."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def atlas(self, edges: int = 6000) -> Picture:
        """The map of the project: `modules`, `files` in them, `moduleEdges` and the heaviest `fileEdges`."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def atlas_symbols(self, paths: Annotated[Sequence[str], Within("targets")], limit: Annotated[int, Within("hits")] = 5000) -> Picture:
        """The `symbols` of some files where they lie on the map, and the `edges` among them."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def neighbourhood(
        self,
        refs: Annotated[Sequence[str], Ref(), Within("targets")],
        depth: int = 1,
        kinds: Sequence[EdgeKind] | None = None,
        min_confidence: float = 0.0,
        limit: Annotated[int, Within("hits")] = 200,
    ) -> Picture:
        """Symbols, what they depend on and who depends on them: `nodes` by side (steps to the right, negative to the left), `edges`."""

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"limit": ("hits",)}, renamed={"k": "limit"}, command="search", searches=True)
    def search(
        self,
        query: Annotated[str, Words()],
        limit: Annotated[int, Within("results"), Bounds(1, 200), Spelled(was=("--k", "-k"))] = 10,
        files: Iterable[str] | None = None,
        within: Annotated[Iterable[str] | None, Spelled(("--within",), metavar="PATH")] = None,
        kinds: Iterable[SearchKind] | None = None,
        types: Iterable[str] | None = None,
        phase: str = "",
        retired: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = True,
        budget_tokens: Annotated[int | None, Spelled(("--budget", "-b"), metavar="TOKENS")] = None,
    ) -> SearchAnswer:
        """Find code, prose and memories by words, meaning and name.

        Args:
            query: names, words, or a question.
            limit: at most this many hits.
            files: files you work on; they lift what is near them.
            within: only in this file or below this directory.
            kinds: only code, prose, data, symbols or memories.
            types: only memories of this type.
            phase: of work: define, implement, validate, refine, explore or reflect; decides which types of memories rise.
            retired: also memories that were superseded or deprecated.
            as_of: only memories that were believed then, ISO 8601.
            explain: say how each score came about.
            budget_tokens: answer with one text of at most so many tokens, in `packed`: code by file, memories with citations.
        """

    @operation(needs="index", shows=Sight.PLAIN, slow=True, client="own")
    def index(
        self,
        repo: str | None = None,
        full: bool = False,
        on_progress: Annotated[Callable[[IndexProgress], None] | None, Local()] = None,
        cancelled: Annotated[Callable[[], bool] | None, Local()] = None,
    ) -> IndexSummary:
        """Bring the index up to date, or rebuild it with `full`; returns when it is done."""

    @operation(needs="index", shows=Sight.PLAIN, client="none")
    def start_index(self, repo: str | None = None, full: bool = False) -> str:
        """Index in the background; the id of the run."""

    @operation(needs="read", shows=Sight.WHOLE, client="own")
    def export(self) -> Iterator[dict[str, Any]]:
        """Every node and edge, one JSON object each."""

    @operation(needs="", shows=Sight.PLAIN, client="none")
    def subscribe_progress(self) -> AbstractContextManager[Iterator[IndexProgress]]:
        """Listen to index runs; leaving the context ends the iteration in any thread."""
