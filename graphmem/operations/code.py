"""Operations on code: symbols, impact, paths, maps, search, indexing."""

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
    NearbyMemories,
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
from graphmem.answers.code import Implementations
from graphmem.answers.evaluation import SearchEvaluation
from graphmem.answers.hover import Hover
from graphmem.answers.outline import FileOutline
from graphmem.answers.places import Edges, Occurrences, SymbolAt, Usages
from graphmem.answers.review import Review, TestSelection
from graphmem.answers.source import FileSource, Folder
from graphmem.answers.vocabulary import ColumnUnit, Direction, EdgeKind, FileRole, Relation, SearchKind, SymbolKind, WeightChoice
from graphmem.model import IndexProgress
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Argument, Bounds, Local, Place, Ref, Spelled, Within, Words

Share = Annotated[float, Bounds(0, 1)]


class CodeOperations:
    """Queries about the code, and index runs."""

    @operation("query", needs="", shows=Sight.PLAIN)
    def project(self) -> Project:
        """The project that this database belongs to."""

    @operation("query", needs="", shows=Sight.PLAIN)
    def state(self) -> IndexState:
        """State of the index: whether it matches the current files, and its size."""

    @operation(needs="read", shows=Sight.SEEN, client="own")
    def symbol(self, ref: Annotated[str, Ref()], source: bool = False) -> SymbolDetail:
        """A symbol with its edges, at most 1,000 of each relation.

        `ref` is an id, `path:name`, `path:line[:column]`, a qualified name or a bare name.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, command="symbol-at")
    def symbol_at(
        self,
        file: Annotated[str, Place()],
        line: Annotated[int, Bounds(1, 1_000_000_000)],
        column: Annotated[int | None, Bounds(0, 1_000_000_000), Argument()] = None,
        unit: ColumnUnit = "characters",
    ) -> SymbolAt:
        """Show the symbol at a position: defined, used or imported.

        On a blank line, in a comment, beyond the end of the file or on a name without a symbol, the answer is empty and says why.

        Args:
            file: path of an indexed file.
            line: line number; the first line of a file is 1.
            column: column, 0-based; the position after the last character of a name belongs to the name. Without a column, the first
                definition on the line is meant, or else the first name.
            unit: unit in which `column` counts.
        """

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"limit": ("callers", "tests", "movesAlong")})
    def hover(
        self,
        file: str,
        line: Annotated[int, Bounds(1, 1_000_000_000)],
        column: Annotated[int, Bounds(0, 1_000_000_000)] = 0,
        unit: ColumnUnit = "characters",
        limit: Annotated[int, Within("hits"), Bounds(1, 200)] = 3,
    ) -> Hover:
        """Everything that an editor shows for the name at a position.

        The answer has the definition, its callers, tests and memories, and files that often change together with its file.

        Args:
            file: path of an indexed file; may also be absolute or a file URI.
            line: line number; the first line of a file is 1.
            column: column, 0-based.
            unit: unit in which `column` counts.
            limit: the maximum number of callers, of tests and of related files.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, command="occurrences")
    def occurrences(self, file: Annotated[str, Place()]) -> Occurrences:
        """List the names in a file that refer to symbols, with ranges.

        Local variables and unresolved names are not included.

        Args:
            file: path of an indexed file.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("usages",)}, command="usages")
    def usages(self, ref: Annotated[str, Ref(), Argument()], limit: Annotated[int, Within("hits"), Bounds(1, 100_000)] = 1000) -> Usages:
        """List all places where a symbol is defined, imported or used.

        Uses under another name, such as an import alias, are included with the name as written.

        Args:
            ref: reference to the symbol, in the form that `symbol` accepts.
            limit: the maximum number of listed places in the code.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("implementations",)}, command="implementations")
    def implementations(
        self, ref: Annotated[str, Ref(), Argument()], limit: Annotated[int, Within("hits"), Bounds(1, 100_000)] = 1000
    ) -> Implementations:
        """List the subclasses of a class, or the overrides of a method.

        Every level of inheritance counts. Methods that implement the method of an interface are included, also inherited ones.

        Args:
            ref: reference to the class or method, in the form that `symbol` accepts.
            limit: the maximum number of listed implementations.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("edges",)}, command="edges")
    def edges(
        self,
        source: Annotated[str, Ref(), Argument()],
        target: Annotated[str, Ref(), Argument()],
        limit: Annotated[int, Within("hits"), Bounds(1, 100_000)] = 100,
    ) -> Edges:
        """List edges from one symbol or file to another, with columns.

        Members count: a class has the edges of its methods, a file those of its symbols.

        Args:
            source: reference to the symbol or file that depends on the other, in the form that `symbol` accepts.
            target: reference to the symbol or file that `source` depends on.
            limit: the maximum number of edges.
        """

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def resolve(self, ref: str) -> SymbolInfo:
        """Find the symbol that a reference names, such as `Cart.total`.

        Of several definitions with the same path and name, it is the first by line; overload signatures come last.
        """

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def file_info(self, paths: Sequence[str]) -> list[FileInfo | None]:
        """Files by path, in the order of the request; None for an unknown path."""

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def symbol_info(self, ids: Sequence[str]) -> list[SymbolInfo | None]:
        """Symbols by id, in the order of the request; None for an unknown id."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def symbols(self, query: str = "", kinds: Sequence[SymbolKind] | None = None, limit: int = 50, offset: int = 0) -> SymbolPage:
        """Symbols whose name contains the query, best match first.

        If the query has several words, each must occur in the qualified name or the path, and at least one in the name.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def files(self, prefix: str = "", limit: int = 100, offset: int = 0, query: str = "") -> FilePage:
        """Indexed files whose path starts with `prefix`.

        With `query` the path must also contain each of its words.
        """

    @operation("query", needs="read", shows=Sight.SEEN)
    def outline(self, path: str, text: str | None = None) -> FileOutline:
        """The symbols of a file, with numbers of callers, tests and memories.

        One request serves the outline and the code lenses of an editor. `path` may also be absolute or a file URI.

        Args:
            path: path of the file.
            text: content of a file that the index lacks, such as a new file in an editor; its symbols have no numbers.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def file_source(self, file: str) -> FileSource:
        """The text of a file with syntax colours and what each name means.

        Args:
            file: path of an indexed file; may also be absolute or a file URI.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def folder(self, path: str = "") -> Folder:
        """The folders and indexed files of a folder; "" is the root."""

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def sites(self, ids: Sequence[str], relation: Relation, limit: int = 1000) -> dict[str, list[Site]]:
        """Edges of each symbol in one relation, such as its callers.

        The answer maps ids of symbols to edges, at most `limit` for each symbol.
        """

    @operation(needs="read", shows=Sight.SEEN, client="none")
    def known_about(self, ids: Sequence[str], limit: int = 5) -> dict[str, NearbyMemories]:
        """Memories about each symbol or file, and about the code around it.

        The answer maps ids of symbols and files to memories, at most `limit` for each.
        """

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def details(self, ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        """Details of symbols by id: docstring, modifiers, complexity and parent.

        `parent` is the id of the enclosing symbol; "" without one.
        """

    @operation(needs="read", shows=Sight.PLAIN, client="none")
    def source(self, id: str) -> str:  # noqa: A002 - the word of the domain
        """The source text of a symbol, as indexed."""

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"limit": ("hits", "tests")})
    def impact(
        self,
        targets: Annotated[str | Sequence[str], Ref(), Within("targets")],
        direction: Direction = "dependents",
        max_depth: Annotated[int, Bounds(1, 50)] = 5,
        min_confidence: Share = 0.3,
        kinds: Sequence[EdgeKind] | None = None,
        limit: Annotated[int, Within("hits")] = 1000,
        as_of: str | None = None,
    ) -> ImpactReport:
        """Code that could behave differently when the targets change.

        Args:
            targets: references or ids, as in `symbol`.
            direction: whether to find code that depends on the targets, or code that the targets depend on.
            max_depth: the maximum number of steps to a dependent; tests are found at any depth.
            min_confidence: the minimum confidence of a path.
            kinds: follow only edges of these kinds.
            limit: the maximum number of hits and tests together.
            as_of: ask the graph of an earlier time (ISO 8601) or commit, if the index keeps it; memories are then left out.
        """

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"limit": ("impact.hits", "impact.tests")})
    def impact_of_diff(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: Annotated[int, Bounds(1, 50)] = 5,
        min_confidence: Share = 0.3,
        limit: Annotated[int, Within("hits")] = 1000,
    ) -> DiffImpact:
        """Code that a change could break.

        The change is a unified diff, or the difference between two revisions. Without `head` the base is compared with the working tree.
        """

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"limit": ("breaks",), "tests": ("tests",)})
    def review(
        self,
        diff: str | None = None,
        base: str | None = None,
        head: str | None = None,
        max_depth: Annotated[int, Bounds(1, 50)] = 5,
        min_confidence: Share = 0.3,
        limit: Annotated[int, Within("hits"), Bounds(1, 100_000)] = 200,
        tests: Annotated[int, Within("hits"), Bounds(1, 100_000)] = 1000,
    ) -> Review:
        """Everything that a reviewer must know about a change.

        The answer has the changed symbols, code that could break, tests to run with the commands for them, changed code without tests,
        memories about the changed code, files that often change together with it, and the risk. The change is given as in `impactOfDiff`;
        by default it is the working tree against HEAD.
        """

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"limit": ("tests",)})
    def tests_to_run(
        self,
        targets: Annotated[str | Sequence[str], Ref(), Within("targets")],
        max_depth: Annotated[int, Bounds(1, 50)] = 5,
        min_confidence: Share = 0.3,
        limit: Annotated[int, Within("hits")] = 1000,
    ) -> TestSelection:
        """Tests to run when the targets change, and the commands that run them.

        Helpers and fixtures of tests are left out. Targets are references or ids, as in `symbol`.
        """

    @operation("query", needs="read", shows=Sight.SEEN, command="path")
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
            source: the symbol where the path starts; it depends on the target.
            target: the symbol where the path ends.
            max_depth: the maximum number of edges of the path.
            min_confidence: the minimum confidence of the whole path.
            kinds: follow only edges of these kinds.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, sizes={"limit": ("nodes", "edges")}, client="own")
    def subgraph(
        self,
        seeds: Annotated[Sequence[str], Ref(), Within("targets")],
        depth: int = 1,
        kinds: Sequence[EdgeKind] | None = None,
        limit: Annotated[int, Within("hits")] = 500,
    ) -> Subgraph:
        """The part of the graph around some symbols, in both directions.

        The answer has all symbols that are at most `depth` edges away from the symbols in `seeds`, and the edges among them.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def atlas(self, edges: int = 6000, roles: Sequence[FileRole] | None = None) -> Picture:
        """The map of the project, with positions.

        The columns are `modules`, their `files`, `moduleEdges` and the heaviest `fileEdges`. `bands` are the layers from the top, and
        `blocks` are rectangles around cycles. `roles` counts the files of each role, such as tests or generated code.

        Args:
            edges: the maximum number of edges between files, heaviest first.
            roles: only files of these roles; default: all files.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def atlas_symbols(
        self,
        paths: Annotated[Sequence[str], Within("targets")],
        limit: Annotated[int, Within("hits")] = 5000,
        roles: Sequence[FileRole] | None = None,
    ) -> Picture:
        """Symbols of some files with map positions; edges between the symbols.

        The columns are `symbols` and `edges`. `roles` must be the roles of the map that is shown.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def neighbourhood(
        self,
        refs: Annotated[Sequence[str], Ref(), Within("targets")],
        depth: int = 1,
        kinds: Sequence[EdgeKind] | None = None,
        min_confidence: float = 0.0,
        limit: Annotated[int, Within("hits")] = 200,
        fold_tests: bool = False,
    ) -> Picture:
        """Symbols with their dependencies and dependents.

        The columns are `nodes`, `edges` and `rules`, which explain how edges were found. The `side` of a node is its number of steps from
        the given symbols: positive for dependents, negative for dependencies. With `fold_tests` the tests of a step are one node of kind
        `tests`; its `count` is their number.
        """

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
        explain: Annotated[bool, Spelled(default=False)] = True,
        budget_tokens: Annotated[int | None, Spelled(("--budget", "-b"), metavar="TOKENS")] = None,
    ) -> SearchAnswer:
        """Find code, prose and memories by words, meaning and name.

        The search also finds modules and call flows, once the index has derived them.

        Args:
            query: what to search for: names, words or a question.
            limit: the maximum number of hits.
            files: files you are working on; hits near them rank higher.
            within: search only in this file or directory.
            kinds: only results of these kinds: code, prose, data (configuration), symbols, memories, modules or flows.
            types: only memories of this type.
            phase: phase of work (define, implement, validate, refine, explore or reflect), which decides how types of memories rank.
            retired: include superseded and deprecated memories.
            as_of: only memories that were current at this time, ISO 8601.
            explain: show how each score was computed.
            budget_tokens: pack the hits into one text of at most this many tokens: code by file, and memories with citations.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def search_evaluation(self, commits: Annotated[int, Bounds(60, 1_000)] = 200) -> SearchEvaluation:
        """Measure search on recent commits of the project, and propose weights.

        Commit messages are the queries, and changed files the right answers. The evaluation takes up to two minutes and changes nothing.

        Args:
            commits: the maximum number of commits.
        """

    @operation("mutation", needs="admin", shows=Sight.PLAIN, slow=True)
    def choose_search_weights(self, choice: WeightChoice, commits: Annotated[int, Bounds(60, 1_000)] = 200) -> SearchEvaluation:
        """Choose the weights of search.

        PROPOSED evaluates search and applies the weights that the evaluation proposes; BUILT_IN restores the defaults.

        Args:
            choice: which weights to use: the proposed or the built-in ones.
            commits: the maximum number of commits to evaluate.
        """

    @operation(needs="index", shows=Sight.PLAIN, slow=True, client="own")
    def index(
        self,
        repo: str | None = None,
        full: bool = False,
        on_progress: Annotated[Callable[[IndexProgress], None] | None, Local()] = None,
        cancelled: Annotated[Callable[[], bool] | None, Local()] = None,
    ) -> IndexSummary:
        """Update the index, or rebuild it with `full`; wait until this is done."""

    @operation(needs="index", shows=Sight.PLAIN, client="none")
    def start_index(self, repo: str | None = None, full: bool = False) -> str:
        """Index in the background and return the id of the run."""

    @operation(needs="read", shows=Sight.WHOLE, client="own")
    def export(self) -> Iterator[dict[str, Any]]:
        """Every node and edge, as one JSON object each."""

    @operation(needs="", shows=Sight.PLAIN, client="none")
    def subscribe_progress(self) -> AbstractContextManager[Iterator[IndexProgress]]:
        """Subscribe to the progress of index runs.

        The result is used in a `with` statement, which gives an iterator of the steps of running and later index runs. The iterator ends
        when the `with` block ends, also if another thread reads it.
        """
