"""What this door needs of the semantic layer: part of `graphmem.api.verbs.Service`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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


class SemanticService(Protocol):
    """The verbs of `graphmem.service.language.LanguageVerbs` and `graphmem.service.changes.ChangeVerbs`."""

    def modules(self) -> ModuleMap:
        """What the system is made of."""

    def module(self, ref: str) -> ModuleDetail:
        """One module with its files."""

    def cycles(self, level: str = "files", limit: int = 50) -> CyclesAnswer:
        """Cycles between files or modules."""

    def entry_points(self, kinds: Sequence[str] | None = None, limit: int = 100, offset: int = 0) -> EntryPointPage:
        """Entry points."""

    def flows(self, kinds: Sequence[str] | None = None, module: str | None = None, limit: int = 50, offset: int = 0) -> FlowPage:
        """Ways through the code from entry points."""

    def hotspots(self, level: str = "files", limit: int = 50, offset: int = 0) -> HotspotPage:
        """Where change hurts."""

    def central_symbols(self, limit: int = 50) -> CentralPage:
        """What much of the rest leans on."""

    def dead_code(self, min_confidence: float = 0.6, limit: int = 100, offset: int = 0) -> DeadCodePage:
        """Definitions nothing seems to need."""

    def duplicates(
        self, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: int = 50, offset: int = 0
    ) -> DuplicatePage:
        """Pieces of code that say the same."""

    def drift(self, base: str, head: str | None = None) -> Drift:
        """How the architecture changed."""

    def report(self) -> Document:
        """The HTML report."""

    def export_view(self, view: str = "modules", format: str = "svg", targets: Sequence[str] | None = None) -> Document:  # noqa: A002
        """A view as a picture or for another tool."""

    def commits(self, limit: int = 20) -> CommitPage:
        """The newest commits."""

    def heat_history(self, steps: int = 24) -> Picture:
        """Hot spots at moments of the past."""

    def paragraphs(self, wait_s: float = 0.0) -> ParagraphState:
        """How far the language model is with its paragraphs."""

    def ask(self, question: str, k: int = 12, *, files: Sequence[str] | None = None) -> Reply:
        """An answer that cites its evidence."""
