"""Second step of the wiring: index runs, and questions about the code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.project.care.runs import IndexRuns
from graphmem.project.care.seeding import Seeding
from graphmem.project.code.cells import NotebookCells
from graphmem.project.code.contracts import ContractQuestions
from graphmem.project.code.named_in_text import NamedInText
from graphmem.project.code.questions import ImpactQuestions
from graphmem.project.explaining.language import Described
from graphmem.project.explaining.paragraphs import PARAGRAPHS, Paragraphs
from graphmem.project.explaining.semantic import SystemQuestions
from graphmem.project.graph.indexer_source import IndexerSource
from graphmem.project.history.co_changes import CoAccess
from graphmem.project.history.earlier import EarlierGraphs
from graphmem.project.hosted.branches import Branches
from graphmem.project.hosted.overlays import Overlays
from graphmem.project.memories.known import KnownCode
from graphmem.project.reviews.changes import ChangeQuestions
from graphmem.project.structure.kept import FILE as KEPT
from graphmem.project.structure.semantic_source import SemanticSource
from graphmem.project.wiring.inputs import Inputs, Later
from graphmem.project.wiring.stored import StoredParts

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class CodeParts:
    """Index runs, and answers to questions about the code."""

    indexers: IndexerSource
    semantics: SemanticSource
    runs: IndexRuns
    overlays: Overlays
    known: KnownCode
    co_access: CoAccess
    contracts: ContractQuestions
    impact: ImpactQuestions
    paragraphs: Paragraphs
    described: Described
    system: SystemQuestions
    changes: ChangeQuestions


def create_code(inputs: Inputs, stored: StoredParts, later: Later) -> CodeParts:
    """Create index runs, and the parts that answer questions about the code."""
    store, data_dir, settings = inputs.store, inputs.data_dir, inputs.settings
    graph, projections, book, history = stored.graph, stored.projections, stored.book, stored.history
    indexers = IndexerSource(store, projections, data_dir, settings, inputs.keep_warm)
    semantics = SemanticSource(graph, store, history.known, history.commits, data_dir / KEPT, history.gaps)
    seeding = Seeding(book, projections, settings)
    runs = IndexRuns(
        store,
        graph,
        projections,
        indexers,
        stored.vectors,
        book,
        history,
        seeding,
        semantics,
        stored.stale,
        stored.following,
        stored.progress,
    )
    later.overlays = overlays = Overlays(runs, data_dir, Branches(data_dir))
    known = KnownCode(graph, projections.memories, book.clock.now, book.branches_of)
    co_access = CoAccess(graph, projections, history, known)
    contracts = ContractQuestions(graph, data_dir)
    earlier = EarlierGraphs(graph, settings.max_file_kb << 10)
    paragraphs = Paragraphs(data_dir / PARAGRAPHS, stored.model)
    described = Described(paragraphs, settings.paragraphs)
    return CodeParts(
        indexers=indexers,
        semantics=semantics,
        runs=runs,
        overlays=overlays,
        known=known,
        co_access=co_access,
        contracts=contracts,
        impact=ImpactQuestions(
            graph, stored.evidence, co_access, known, contracts, earlier, NotebookCells(graph), NamedInText(projections)
        ),
        paragraphs=paragraphs,
        described=described,
        system=SystemQuestions(graph, semantics, described),
        changes=ChangeQuestions(graph, semantics, history, data_dir, inputs.view_of),
    )
