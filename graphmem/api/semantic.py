"""Root fields of the semantic layer: each parses its arguments, calls one verb and hands the answer on."""

from __future__ import annotations

import strawberry

from graphmem.answers import semantic as answers
from graphmem.api import types_documents, types_findings
from graphmem.api import types_semantic as types
from graphmem.api.complexity import sized_by
from graphmem.api.context import Info
from graphmem.api.describe import resolved
from graphmem.api.ids import as_ref
from graphmem.api.limits import at_most, no_more_than
from graphmem.api.types_documents import ViewFormat, ViewKind
from graphmem.api.types_findings import HotspotLevel
from graphmem.api.types_semantic import CycleLevel, EntryKind


def _kinds(kinds: list[EntryKind] | None) -> list[str] | None:
    return None if kinds is None else [kind.value for kind in kinds]


@strawberry.type
class SemanticQueries:
    """Questions about the whole. Worked out when first asked after a change of the index, which may take seconds on a large one."""

    @resolved(types.ModuleMap | None)
    @staticmethod
    async def modules(info: Info) -> answers.ModuleMap:
        """What the system is made of: groups of files that belong together, their layers, and what depends on what."""
        return await info.context.wait_for(info.context.service.modules)

    @resolved(types.ModuleDetail | None)
    @staticmethod
    async def module(info: Info, ref: str) -> answers.ModuleDetail:
        """One module with its files and their links, by name, by id, or by the path of a file in it."""
        return await info.context.wait_for(info.context.service.module, as_ref(ref))

    @resolved(types.CyclesAnswer | None, [sized_by("limit", "cycles")])
    @staticmethod
    async def cycles(info: Info, level: CycleLevel = CycleLevel.FILES, limit: int = 50) -> answers.CyclesAnswer:
        """Import cycles between files, or cycles between modules, largest first, each with where to cut it."""
        return await info.context.wait_for(
            info.context.service.cycles, level.value, limit=at_most(info.context.limits.page, "limit", limit)
        )

    @resolved(types.EntryPointPage | None, [sized_by("limit", "entryPoints")])
    @staticmethod
    async def entry_points(info: Info, kinds: list[EntryKind] | None = None, limit: int = 100, offset: int = 0) -> answers.EntryPointPage:
        """Entry points: mains, commands, routes, events, tasks and what a library exports; tests and fixtures only by `kinds`."""
        return await info.context.wait_for(
            info.context.service.entry_points, _kinds(kinds), limit=at_most(info.context.limits.page, "limit", limit), offset=offset
        )

    @resolved(types.FlowPage | None, [sized_by("limit", "flows")])
    @staticmethod
    async def flows(
        info: Info, kinds: list[EntryKind] | None = None, module: str | None = None, limit: int = 50, offset: int = 0
    ) -> answers.FlowPage:
        """Ways through the code from entry points, those through the most modules first; by default not from tests."""
        return await info.context.wait_for(
            info.context.service.flows, _kinds(kinds), module=module, limit=at_most(info.context.limits.page, "limit", limit), offset=offset
        )

    @resolved(types_findings.HotspotPage | None, [sized_by("limit", "hotspots")])
    @staticmethod
    async def hotspots(info: Info, level: HotspotLevel = HotspotLevel.FILES, limit: int = 50, offset: int = 0) -> answers.HotspotPage:
        """Where change hurts: often changed, complex, and depended upon; hottest first."""
        return await info.context.wait_for(
            info.context.service.hotspots, level.value, limit=at_most(info.context.limits.page, "limit", limit), offset=offset
        )

    @resolved(types_findings.CentralPage | None, [sized_by("limit", "symbols")])
    @staticmethod
    async def central_symbols(info: Info, limit: int = 50) -> answers.CentralPage:
        """The definitions much of the rest leans on, directly or not."""
        return await info.context.wait_for(info.context.service.central_symbols, limit=at_most(info.context.limits.page, "limit", limit))

    @resolved(types_findings.DeadCodePage | None, [sized_by("limit", "symbols")])
    @staticmethod
    async def dead_code(info: Info, min_confidence: float = 0.6, limit: int = 100, offset: int = 0) -> answers.DeadCodePage:
        """Definitions nothing seems to need, most certain first, with the reason."""
        return await info.context.wait_for(
            info.context.service.dead_code, min_confidence, limit=at_most(info.context.limits.page, "limit", limit), offset=offset
        )

    @resolved(types_findings.DuplicatePage | None, [sized_by("limit", "groups")])
    @staticmethod
    async def duplicates(
        info: Info, min_tokens: int = 50, similarity: float = 0.85, tests: bool = False, limit: int = 50, offset: int = 0
    ) -> answers.DuplicatePage:
        """Pieces of code that say the same, those with the most lines to save first."""
        return await info.context.wait_for(
            info.context.service.duplicates,
            min_tokens,
            similarity,
            tests,
            limit=at_most(info.context.limits.page, "limit", limit),
            offset=offset,
        )

    @resolved(types_findings.Drift | None)
    @staticmethod
    async def drift(info: Info, base: str, head: str | None = None) -> answers.Drift:
        """How the architecture changed from one revision to another, or to the index as it is. Reads both trees, so it takes a while."""
        return await info.context.wait_for(info.context.service.drift, base, head)

    @resolved(types_documents.Document | None)
    @staticmethod
    async def report(info: Info) -> answers.Document:
        """One HTML document that says what the system is made of and where it hurts; needs nothing else to be read."""
        return await info.context.wait_for(info.context.service.report)

    @resolved(types_documents.Document | None)
    @staticmethod
    async def export_view(
        info: Info,
        view: ViewKind = ViewKind.MODULES,
        format: ViewFormat = ViewFormat.SVG,  # noqa: A002 - the word of the domain
        targets: list[str] | None = None,
    ) -> answers.Document:
        """The map of modules, or the impact of `targets` in three zones, as a picture or for another tool."""
        refs = None if targets is None else [as_ref(one) for one in no_more_than(info.context.limits.targets, "targets", targets)]
        return await info.context.wait_for(info.context.service.export_view, view.value, format.value, refs)

    @resolved(types_findings.CommitPage | None, [sized_by("limit", "commits")])
    @staticmethod
    async def commits(info: Info, limit: int = 20) -> answers.CommitPage:
        """The newest commits, merges left out, with the modules their files are in now."""
        return await info.context.wait_for(info.context.service.commits, limit=at_most(info.context.limits.page, "limit", limit))

    @resolved(types_documents.ParagraphState | None)
    @staticmethod
    async def paragraphs(info: Info, wait_s: float = 0.0) -> answers.ParagraphState:
        """How far the language model is with its paragraphs about modules and flows; has missing ones written, waits at most so long."""
        return await info.context.wait_for(info.context.service.paragraphs, wait_s)

    @resolved(types_documents.Reply | None, [sized_by("k", "evidence.hits")])
    @staticmethod
    async def ask(info: Info, question: str, k: int = 12, files: list[str] | None = None) -> answers.Reply:
        """An answer whose sentences cite the evidence they stand on, or, without a language model, the evidence."""
        return await info.context.wait_for(info.context.service.ask, question, at_most(info.context.limits.results, "k", k), files=files)
