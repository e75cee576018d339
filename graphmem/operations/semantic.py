"""Operations on the architecture: modules, call flows, problems, reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from graphmem.answers import Picture
from graphmem.answers.boundaries import ArchitectureCheck
from graphmem.answers.contracts import ContractsAnswer
from graphmem.answers.findings import CentralPage, DeadCodePage, DuplicatePage, EntryPointPage, FlowPage, HotspotPage
from graphmem.answers.history import Knowledge
from graphmem.answers.maps import MapEntries
from graphmem.answers.marks import Doc
from graphmem.answers.modules import CyclesAnswer, DependencyFiles, ModuleBoundary, ModuleDetail, ModuleMap
from graphmem.answers.semantic import CommitPage, Document, Drift, ParagraphState, Reply
from graphmem.answers.vocabulary import CycleLevel, EntryKind, HotspotLevel, ViewFormat, ViewKind
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Argument, Ref, Spelled, Within, Words

Limit = Annotated[int, Within("page"), Spelled(default=20), Doc("the maximum number of results; totals are not affected")]
Offset = Annotated[int, Doc("number of results to skip")]


Kinds = Annotated[Sequence[EntryKind] | None, Doc("only entry points of this kind")]


class SemanticOperations:
    """Queries about the architecture.

    The first query after a change of the index derives the answer, which may take seconds.
    """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def modules(self) -> ModuleMap:
        """The modules of the system, their layers and their dependencies.

        A module is a group of files that belong together.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def module(self, ref: Annotated[str, Ref()]) -> ModuleDetail:
        """A module with its files and dependencies.

        `ref` is the name or id of the module, or the path of a file in the module.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("surface",)}, command="boundary")
    def boundary(self, module: Annotated[str, Ref()], limit: Limit = 50) -> ModuleBoundary:
        """Find where a module can be separated or split in two.

        The answer has the module's interface, dependencies and cycles, and the two parts between which the fewest uses cross.
        If the parts use each other too much, `splits_well` is false.

        Args:
            module: the module, given by its name, its id, or the path of a file in it.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("files",)})
    def module_dependency(self, src: Annotated[str, Ref()], dst: Annotated[str, Ref()], limit: Limit = 50) -> DependencyFiles:
        """List the files of one module that use files of another.

        Together, the listed edges are the dependency of the first module on the second.

        Args:
            src: the module that uses the other, given by its name, its id, or the path of a file in it.
            dst: the module that is used.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("parts",)}, command="people")
    def people(self, module: Annotated[str | None, Argument()] = None, limit: Limit = 100) -> Knowledge:
        """Find the people who know each module, and the bus factor.

        The bus factor is the smallest number of people who together made half of the commits. The weight of a commit halves with each year
        of its age.

        Args:
            module: module or directory whose files are listed; default: list modules.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def map_entries(self) -> MapEntries:
        """The names, colours, groups and notes that people gave modules.

        The entries are in `.graphmem/map.json`, which can be committed.
        """

    @operation("mutation", needs="curate", shows=Sight.PLAIN, slow=True)
    def change_map(
        self,
        module: Annotated[str, Ref()],
        *,
        name: str | None = None,
        colour: str | None = None,
        group: str | None = None,
        note: str | None = None,
        hidden: bool | None = None,
        pinned: Annotated[Sequence[float] | None, Within("targets")] = None,
    ) -> MapEntries:
        """Change how a module looks on the map, for everybody.

        Fields that are not given keep their values. An empty value restores the default.

        Args:
            module: the module: its name or its id.
            name: a name for people; references still use the name in the index.
            colour: the module's colour on the map as #rrggbb.
            group: the name of the group of modules to which the module belongs.
            note: a note for readers of the map.
            hidden: true to leave the module out of the map.
            pinned: x and y of the module in shares of the map's width and height, -1 to 2; empty to release it.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("cycles",)}, command="cycles")
    def cycles(self, level: CycleLevel = "files", limit: Limit = 50) -> CyclesAnswer:
        """Find dependency cycles and the edges to cut.

        The largest cycles come first.

        Args:
            level: search for cycles between files (by their imports) or between modules.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("broken",)})
    def check_architecture(self, rules: str | None = None, limit: Limit = 1000) -> ArchitectureCheck:
        """Find the dependencies that break the project's architecture rules.

        The rules are in `.graphmem/architecture.toml`. Dependencies in `.graphmem/architecture-baseline.txt` are accepted.

        Args:
            rules: architecture rules to try, in the format of `architecture.toml`; default: the project's rules.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("entryPoints",)}, command="entry-points")
    def entry_points(self, kinds: Kinds = None, limit: Annotated[Limit, Spelled(default=50)] = 100, offset: Offset = 0) -> EntryPointPage:
        """Find the entry points of the code.

        Entry points are main functions, commands, routes, event handlers, tasks and the exports of a library. The commands of the
        project come first; examples and scripts come last.

        Tests and fixtures are listed only when their kinds are requested.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("contracts",)}, command="contracts")
    def contracts(self, name: Annotated[str, Argument()] = "", *, base: str = "", limit: Limit = 50) -> ContractsAnswer:
        """Find users of a route, remote procedure, topic or field.

        The projects that `graphmem organisation add` registered are searched as well. The most used contracts come first.

        Args:
            name: part of the contract's name, such as `/users/{}`, `Cart/AddItem` or `Item.sku`; default: all contracts.
            base: a Git revision; only contracts that changed incompatibly after this revision are listed.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("flows",)}, command="flows")
    def flows(
        self,
        kinds: Kinds = None,
        module: Annotated[str | None, Argument()] = None,
        limit: Annotated[Limit, Spelled(default=10)] = 50,
        offset: Offset = 0,
    ) -> FlowPage:
        """Find call flows that start at entry points.

        Flows through the most modules come first, and those of examples and scripts last. By default no flow starts in a test.

        Args:
            module: only flows that pass through this module.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("hotspots",)}, command="hotspots")
    def hotspots(self, level: HotspotLevel = "files", limit: Limit = 50, offset: Offset = 0) -> HotspotPage:
        """Find hot spots, where changes are risky.

        Hot spots change often, are complex and have many dependents. The riskiest come first.

        Args:
            level: level of the ranking: files or symbols.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("symbols",)}, command="central")
    def central_symbols(self, limit: Limit = 50) -> CentralPage:
        """Find the definitions on which the most code depends.

        Functions, methods and classes come before interfaces, types and enums.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("symbols",)}, command="dead-code")
    def dead_code(
        self, min_confidence: float = 0.6, limit: Annotated[Limit, Spelled(default=50)] = 100, offset: Offset = 0
    ) -> DeadCodePage:
        """Find definitions that appear to be unused.

        Each definition is listed with the reason, the most certain first. Definitions of the public API are only counted.

        Args:
            min_confidence: the minimum confidence that a definition is dead.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("groups",)}, command="duplicates")
    def duplicates(
        self, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: Limit = 50, offset: Offset = 0
    ) -> DuplicatePage:
        """Find duplicate code.

        The duplicates whose removal saves the most lines come first.

        Args:
            min_tokens: the minimum length of a duplicate, in tokens.
            similarity: the minimum similarity of two pieces of code that count as duplicates, 0 to 1.
            tests: also search for duplicates in tests.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def drift(self, base: str, head: str | None = None) -> Drift:
        """Show how the architecture changed between two revisions.

        Without `head` the second revision is the current index. The call reads both versions of all files, which takes a while.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def report(self) -> Document:
        """A self-contained HTML report on the architecture and its problems."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def export_view(
        self,
        view: ViewKind = "modules",
        format: ViewFormat = "svg",  # noqa: A002 - the word of the domain
        targets: Annotated[Sequence[str] | None, Ref(), Within("targets")] = None,
    ) -> Document:
        """The map of modules, or the dependencies and dependents of `targets`.

        The document is a picture, or a file for another tool.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("commits",)}, command="commits")
    def commits(
        self,
        limit: Annotated[int, Within("hits"), Spelled(default=20), Doc("the maximum number of commits")] = 20,
        revision: str = "HEAD",
        *,
        path: str = "",
        programs: bool = False,
    ) -> CommitPage:
        """List recent commits with authors and changed modules.

        Merge commits are omitted, and so are commits of programs that update versions, such as renovate[bot]. A note counts the latter.

        Args:
            revision: the commit, branch or tag to begin with.
            path: only commits that changed this file, under all its names, or a file of this directory; empty for all.
            programs: also list commits of such programs.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def heat_history(self, steps: int = 24) -> Picture:
        """Hot spots over time.

        The columns are `at` (the times), `commits` (the number of commits up to each time), `paths`, and `scores`. `scores` has a list for
        each time, with a number from 0 to 100 for each path; the highest number is the riskiest to change.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def paragraphs(self, wait_s: float = 0.0) -> ParagraphState:
        """Progress of the paragraphs that a language model writes about the code.

        There is one paragraph for each module and main call flow. The call starts the missing ones and waits at most `waitS` seconds for
        them.
        """

    @operation(
        "query",
        needs="read",
        shows=Sight.SEEN,
        slow=True,
        sizes={"limit": ("evidence.hits",)},
        renamed={"k": "limit"},
        command="ask",
        searches=True,
    )
    def ask(
        self,
        question: Annotated[str, Words()],
        limit: Annotated[int, Within("results"), Spelled(default=8, was=("--k", "-k"))] = 12,
        *,
        files: Sequence[str] | None = None,
    ) -> Reply:
        """Answer a question in sentences that cite their evidence.

        Without a language model the answer lists only the evidence.

        Args:
            question: the question, in plain words.
            limit: the maximum number of pieces of evidence.
            files: files you are working on; evidence near them ranks higher.
        """
