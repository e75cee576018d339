"""The verbs of the semantic layer over a running server: each names its operation and the answer it is rebuilt as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from graphmem._wire import Wire, rebuild
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

DERIVED_S: Final = 600.0  # what is worked out when first asked may take its time


class RemoteSemanticVerbs:
    """Part of `RemoteGraphMem`; the verbs and answers of `service.language.LanguageVerbs` and `service.changes.ChangeVerbs`."""

    _wire: Wire

    def modules(self) -> ModuleMap:
        """See `SemanticVerbs.modules`."""
        return rebuild(ModuleMap, self._wire.ask("Modules", timeout_s=DERIVED_S)["modules"])

    def module(self, ref: str) -> ModuleDetail:
        """See `SemanticVerbs.module`."""
        return rebuild(ModuleDetail, self._wire.ask("Module", timeout_s=DERIVED_S, ref=ref)["module"])

    def cycles(self, level: str = "files", limit: int = 50) -> CyclesAnswer:
        """See `SemanticVerbs.cycles`."""
        return rebuild(CyclesAnswer, self._wire.ask("Cycles", timeout_s=DERIVED_S, level=level.upper(), limit=limit)["cycles"])

    def entry_points(self, kinds: Sequence[str] | None = None, limit: int = 100, offset: int = 0) -> EntryPointPage:
        """See `SemanticVerbs.entry_points`."""
        found = self._wire.ask("EntryPoints", timeout_s=DERIVED_S, kinds=_names(kinds), limit=limit, offset=offset)
        return rebuild(EntryPointPage, found["entryPoints"])

    def flows(self, kinds: Sequence[str] | None = None, module: str | None = None, limit: int = 50, offset: int = 0) -> FlowPage:
        """See `SemanticVerbs.flows`."""
        found = self._wire.ask("Flows", timeout_s=DERIVED_S, kinds=_names(kinds), module=module, limit=limit, offset=offset)
        return rebuild(FlowPage, found["flows"])

    def hotspots(self, level: str = "files", limit: int = 50, offset: int = 0) -> HotspotPage:
        """See `SemanticVerbs.hotspots`."""
        found = self._wire.ask("Hotspots", timeout_s=DERIVED_S, level=level.upper(), limit=limit, offset=offset)
        return rebuild(HotspotPage, found["hotspots"])

    def central_symbols(self, limit: int = 50) -> CentralPage:
        """See `SemanticVerbs.central_symbols`."""
        return rebuild(CentralPage, self._wire.ask("CentralSymbols", timeout_s=DERIVED_S, limit=limit)["centralSymbols"])

    def dead_code(self, min_confidence: float = 0.6, limit: int = 100, offset: int = 0) -> DeadCodePage:
        """See `SemanticVerbs.dead_code`."""
        found = self._wire.ask("DeadCode", timeout_s=DERIVED_S, minConfidence=min_confidence, limit=limit, offset=offset)
        return rebuild(DeadCodePage, found["deadCode"])

    def duplicates(
        self, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: int = 50, offset: int = 0
    ) -> DuplicatePage:
        """See `SemanticVerbs.duplicates`."""
        found = self._wire.ask(
            "Duplicates", timeout_s=DERIVED_S, minTokens=min_tokens, similarity=similarity, tests=tests, limit=limit, offset=offset
        )
        return rebuild(DuplicatePage, found["duplicates"])

    def drift(self, base: str, head: str | None = None) -> Drift:
        """See `SemanticVerbs.drift`."""
        return rebuild(Drift, self._wire.ask("Drift", timeout_s=DERIVED_S, base=base, head=head)["drift"])

    def report(self) -> Document:
        """See `SemanticVerbs.report`."""
        return rebuild(Document, self._wire.ask("Report", timeout_s=DERIVED_S)["report"])

    def export_view(self, view: str = "modules", format: str = "svg", targets: Sequence[str] | None = None) -> Document:  # noqa: A002
        """See `SemanticVerbs.export_view`."""
        chosen = list(targets) if targets is not None else None
        found = self._wire.ask("ExportView", timeout_s=DERIVED_S, view=view.upper(), format=format.upper(), targets=chosen)
        return rebuild(Document, found["exportView"])

    def commits(self, limit: int = 20) -> CommitPage:
        """See `ChangeVerbs.commits`."""
        return rebuild(CommitPage, self._wire.ask("Commits", timeout_s=DERIVED_S, limit=limit)["commits"])

    def heat_history(self, steps: int = 24) -> Picture:
        """See `ChangeVerbs.heat_history`."""
        return rebuild(Picture, self._wire.ask("HeatHistory", timeout_s=DERIVED_S, steps=steps)["heatHistory"])

    def paragraphs(self, wait_s: float = 0.0) -> ParagraphState:
        """See `LanguageVerbs.paragraphs`."""
        return rebuild(ParagraphState, self._wire.ask("Paragraphs", timeout_s=DERIVED_S + wait_s, waitS=wait_s)["paragraphs"])

    def ask(self, question: str, k: int = 12, *, files: Sequence[str] | None = None) -> Reply:
        """See `LanguageVerbs.ask`."""
        chosen = list(files) if files is not None else None
        return rebuild(Reply, self._wire.ask("Ask", timeout_s=DERIVED_S, question=question, k=k, files=chosen)["ask"])


def _names(kinds: Sequence[str] | None) -> list[str] | None:
    return None if kinds is None else [kind.upper() for kind in kinds]
