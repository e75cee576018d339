"""Operations on the whole system: modules, flows, findings, documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from graphmem.answers import Picture
from graphmem.answers.marks import Doc
from graphmem.answers.semantic import (
    CentralPage,
    CommitPage,
    CyclesAnswer,
    DeadCodePage,
    Document,
    Drift,
    DuplicatePage,
    EntryPointPage,
    FlowPage,
    HotspotPage,
    ModuleDetail,
    ModuleMap,
    ParagraphState,
    Reply,
)
from graphmem.answers.vocabulary import CycleLevel, EntryKind, HotspotLevel, ViewFormat, ViewKind
from graphmem.operations.declare import Argument, Ref, Sight, Spelled, Within, Words, operation

Limit = Annotated[int, Within("page"), Spelled(default=20), Doc("list at most this many; totals stay exact")]
Offset = Annotated[int, Doc("leave out the first ones")]


Kinds = Annotated[Sequence[EntryKind] | None, Doc("only entry points of this kind")]


class SemanticOperations:
    """Questions about the whole. Answers are derived when first asked after a change of the index, which may take seconds."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def modules(self) -> ModuleMap:
        """What the system is made of: groups of files that belong together, their layers, and what depends on what."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def module(self, ref: Annotated[str, Ref()]) -> ModuleDetail:
        """One module with its files and their links, by name, by id, or by the path of a file in it."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("cycles",)}, command="cycles")
    def cycles(self, level: CycleLevel = "files", limit: Limit = 50) -> CyclesAnswer:
        """Find cycles of files or modules and where to cut them.

        The largest come first.

        Args:
            level: between files, by their imports, or between modules.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("entryPoints",)}, command="entry-points")
    def entry_points(self, kinds: Kinds = None, limit: Annotated[Limit, Spelled(default=50)] = 100, offset: Offset = 0) -> EntryPointPage:
        """Find where the code is entered from outside.

        Entry points are mains, commands, routes, events, tasks and what a library exports.

        Tests and fixtures are found only by `kinds`.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("flows",)}, command="flows")
    def flows(
        self,
        kinds: Kinds = None,
        module: Annotated[str | None, Argument()] = None,
        limit: Annotated[Limit, Spelled(default=10)] = 50,
        offset: Offset = 0,
    ) -> FlowPage:
        """Find ways through the code from its entry points.

        Those through the most modules come first. By default none begins in a test.

        Args:
            module: only flows that pass this module.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("hotspots",)}, command="hotspots")
    def hotspots(self, level: HotspotLevel = "files", limit: Limit = 50, offset: Offset = 0) -> HotspotPage:
        """Find where change hurts.

        Hot spots are often changed, complex and depended upon; the hottest come first.

        Args:
            level: files or symbols.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("symbols",)}, command="central")
    def central_symbols(self, limit: Limit = 50) -> CentralPage:
        """Find the definitions that much of the rest depends on."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("symbols",)}, command="dead-code")
    def dead_code(
        self, min_confidence: float = 0.6, limit: Annotated[Limit, Spelled(default=50)] = 100, offset: Offset = 0
    ) -> DeadCodePage:
        """Find definitions that nothing seems to need.

        Each comes with the reason, the most certain first. Public API is left out and counted.

        Args:
            min_confidence: leave out what is less certain to be dead.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("groups",)}, command="duplicates")
    def duplicates(
        self, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: Limit = 50, offset: Offset = 0
    ) -> DuplicatePage:
        """Find pieces of code that say the same.

        Those with the most lines to save come first.

        Args:
            min_tokens: leave out shorter pieces.
            similarity: how alike near duplicates have to be.
            tests: look in tests as well.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def drift(self, base: str, head: str | None = None) -> Drift:
        """How the architecture changed from one revision to another, or to the index as it is. Reads both trees, so it takes a while."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def report(self) -> Document:
        """One HTML document that says what the system is made of and where it hurts; needs nothing else to be read."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def export_view(
        self,
        view: ViewKind = "modules",
        format: ViewFormat = "svg",  # noqa: A002 - the word of the domain
        targets: Annotated[Sequence[str] | None, Ref(), Within("targets")] = None,
    ) -> Document:
        """The map of modules, or the impact of `targets` in three zones, as a picture or for another tool."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("commits",)}, command="commits")
    def commits(self, limit: Limit = 20) -> CommitPage:
        """List the newest commits and the modules they touched.

        Merges are left out.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def heat_history(self, steps: int = 24) -> Picture:
        """Hot spots at moments of the past: `at`, `commits` until then, `paths`, and `scores`, a list for each moment."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def paragraphs(self, wait_s: float = 0.0) -> ParagraphState:
        """How far the language model is with its paragraphs about modules and flows; starts missing ones, waits at most so long."""

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
        """Answer a question in sentences, each with its evidence.

        Without a language model the answer is the evidence alone.

        Args:
            question: in a person's words.
            limit: how many pieces of evidence.
            files: files you work on; they lift what is near them.
        """
