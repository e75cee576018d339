"""Operations on the whole system: modules, flows, findings, documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from graphmem.answers import Picture
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
from graphmem.operations.declare import Ref, Sight, Within, operation

Limit = Annotated[int, Within("page")]


class SemanticOperations:
    """Questions about the whole. Answers are derived when first asked after a change of the index, which may take seconds."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def modules(self) -> ModuleMap:
        """What the system is made of: groups of files that belong together, their layers, and what depends on what."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def module(self, ref: Annotated[str, Ref()]) -> ModuleDetail:
        """One module with its files and their links, by name, by id, or by the path of a file in it."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("cycles",)})
    def cycles(self, level: CycleLevel = "files", limit: Limit = 50) -> CyclesAnswer:
        """Import cycles between files, or cycles between modules, largest first, each with where to cut it."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("entryPoints",)})
    def entry_points(self, kinds: Sequence[EntryKind] | None = None, limit: Limit = 100, offset: int = 0) -> EntryPointPage:
        """Entry points: mains, commands, routes, events, tasks and what a library exports; tests and fixtures only by `kinds`."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("flows",)})
    def flows(self, kinds: Sequence[EntryKind] | None = None, module: str | None = None, limit: Limit = 50, offset: int = 0) -> FlowPage:
        """Ways through the code from entry points, those through the most modules first; by default not from tests."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("hotspots",)})
    def hotspots(self, level: HotspotLevel = "files", limit: Limit = 50, offset: int = 0) -> HotspotPage:
        """Where change hurts: often changed, complex, and depended upon; hottest first."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("symbols",)})
    def central_symbols(self, limit: Limit = 50) -> CentralPage:
        """The definitions much of the rest depends on, directly or not."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("symbols",)})
    def dead_code(self, min_confidence: float = 0.6, limit: Limit = 100, offset: int = 0) -> DeadCodePage:
        """Definitions nothing seems to need, most certain first, with the reason."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("groups",)})
    def duplicates(
        self, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: Limit = 50, offset: int = 0
    ) -> DuplicatePage:
        """Pieces of code that say the same, those with the most lines to save first."""

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

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True, sizes={"limit": ("commits",)})
    def commits(self, limit: Limit = 20) -> CommitPage:
        """The newest commits, merges left out, with the modules their files are in now."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def heat_history(self, steps: int = 24) -> Picture:
        """Hot spots at moments of the past: `at`, `commits` until then, `paths`, and `scores`, a list for each moment."""

    @operation("query", needs="read", shows=Sight.PLAIN, slow=True)
    def paragraphs(self, wait_s: float = 0.0) -> ParagraphState:
        """How far the language model is with its paragraphs about modules and flows; starts missing ones, waits at most so long."""

    @operation("query", needs="read", shows=Sight.SEEN, slow=True, sizes={"limit": ("evidence.hits",)}, renamed={"k": "limit"})
    def ask(self, question: str, limit: Annotated[int, Within("results")] = 12, *, files: Sequence[str] | None = None) -> Reply:
        """An answer whose sentences cite the evidence they stand on, or, without a language model, the evidence."""
