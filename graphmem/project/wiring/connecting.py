"""Create the parts of a project in five steps, and connect them.

Each step creates parts that need only those of earlier steps. `Later` has the few exceptions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from graphmem.maintenance.place import close_to_others
from graphmem.observe.ledger.ledger import Ledger
from graphmem.observe.running.observer import Observer
from graphmem.project.care.health import Doctor
from graphmem.project.code.edge_places import EdgeQuestions
from graphmem.project.code.hovering import Hovers
from graphmem.project.code.lookups import Lookups
from graphmem.project.code.outlines import Outlines
from graphmem.project.code.positions import Positions
from graphmem.project.code.sources import Sources
from graphmem.project.code.usages import UsageQuestions
from graphmem.project.explaining.documents import Documents
from graphmem.project.explaining.language import LanguageQuestions
from graphmem.project.graph.cypher import CypherQueries
from graphmem.project.hosted.pushing import Pushing
from graphmem.project.hosted.receiving import Receiving
from graphmem.project.hosted.served import OwnProject
from graphmem.project.parts import Parts, close_at_exit
from graphmem.project.reviews.reviewing import Reviews
from graphmem.project.searches.evaluating import SearchWeighing
from graphmem.project.searches.phases import PhaseWeighing
from graphmem.project.sessions.context import AgentContext
from graphmem.project.structure.boundaries import Boundaries
from graphmem.project.structure.exploring import Pictures
from graphmem.project.structure.map_entries import MapNotes
from graphmem.project.team.organisation import Organisations
from graphmem.project.wiring.agents import AgentParts, create_agents
from graphmem.project.wiring.care import CareParts, create_care
from graphmem.project.wiring.code import CodeParts, create_code
from graphmem.project.wiring.context import ContextParts, create_context
from graphmem.project.wiring.inputs import Inputs, Later
from graphmem.project.wiring.stored import StoredParts, open_stored

if TYPE_CHECKING:
    pass


def connected(inputs: Inputs, opened: contextlib.ExitStack) -> Parts:
    """Create and connect the parts of a project.

    `opened` receives the functions that close the parts if the creation of a later one fails.
    """
    later = Later()
    stored = open_stored(inputs, later, opened)
    code = create_code(inputs, stored, later)
    context = create_context(inputs, stored, code, later)
    agents = create_agents(inputs, stored, code, context, later)
    care = create_care(inputs, stored, code, context)
    parts = Parts(
        data_dir=inputs.data_dir,
        store=inputs.store,
        projections=stored.projections,
        graph=stored.graph,
        book=stored.book,
        vectors=stored.vectors,
        history=stored.history,
        injector=context.injector,
        semantics=code.semantics,
        observer=stored.observer,
        ledger=stored.ledger,
        progress=stored.progress,
        following=stored.following,
        runs=code.runs,
        memories=agents.memories,
        sessions=agents.sessions,
        sharing=agents.sharing,
        learner=agents.learner,
        upkeep=care.upkeep,
        backups=care.backups,
        receiving=Receiving(code.runs, inputs.data_dir, code.overlays),
        overlays=code.overlays,
        operations=(
            *_about_code(inputs, stored, code, agents),
            *_about_sessions(inputs, stored, code, context, agents),
            *_about_index(inputs, stored, context, agents, care),
        ),
        endings=_endings(inputs, stored, code, context, agents),
    )
    agents.learner.finish_left_soon()
    close_at_exit(parts)
    return parts


def _about_code(inputs: Inputs, stored: StoredParts, code: CodeParts, agents: AgentParts) -> tuple[object, ...]:
    """Return the parts that answer questions about the code."""
    graph, semantics, search = stored.graph, code.semantics, agents.search
    positions = Positions(graph)
    return (
        stored.status,
        Lookups(graph, code.known, code.impact.cells),
        positions,
        Sources(graph, positions),
        Hovers(graph, positions, code.known, code.co_access),
        UsageQuestions(graph, positions),
        EdgeQuestions(graph, positions),
        code.impact,
        Reviews(graph, code.impact, code.co_access, stored.book, code.contracts),
        code.contracts,
        Outlines(graph, stored.book),
        search,
        code.runs,
        Pictures(graph, semantics),
        code.system,
        code.changes,
        Boundaries(graph),
        MapNotes(graph, semantics),
        LanguageQuestions(search.search, semantics, code.paragraphs, code.described, stored.model, inputs.settings),
        Documents(inputs.store, graph, stored.status.project, code.system, code.impact.impact),
        code.co_access,
    )


def _about_sessions(inputs: Inputs, stored: StoredParts, code: CodeParts, context: ContextParts, agents: AgentParts) -> tuple[object, ...]:
    """Return the parts for memories, people, agents' sessions and teams."""
    graph, memories, sharing = stored.graph, agents.memories, agents.sharing
    return (
        memories,
        context.people,
        AgentContext(graph.from_root, context.injector, agents.hooks, context.context_news, agents.session_memories.tell_shown),
        agents.sessions,
        context.learning,
        sharing,
        Organisations(stored.book, sharing, memories, inputs.settings),
        Pushing(graph, inputs.store, stored.history.log, inputs.data_dir),
        OwnProject(stored.status, graph, agents.search.search, code.impact.impact, inputs.data_dir),
    )


def _about_index(inputs: Inputs, stored: StoredParts, context: ContextParts, agents: AgentParts, care: CareParts) -> tuple[object, ...]:
    """Return the parts that set search weights and maintain the index."""
    store, book, graph, projections, vectors = inputs.store, stored.book, stored.graph, stored.projections, stored.vectors
    return (
        PhaseWeighing(book, stored.phases, stored.ledger),
        SearchWeighing(graph, projections, vectors, stored.history, context.weights, book.clock.now),
        care.health,
        Doctor(
            stored.status,
            care.health,
            store,
            book,
            projections,
            vectors,
            stored.evidence,
            stored.history,
            context.learning,
            inputs.data_dir,
            agents.sharing.facts,
        ),
        CypherQueries(store, book, inputs.settings),
        care.upkeep,
        care.backups,
    )


def _endings(
    inputs: Inputs, stored: StoredParts, code: CodeParts, context: ContextParts, agents: AgentParts
) -> tuple[Callable[[], object], ...]:
    """Return the functions that close the parts, in the order of closing.

    Parts are the objects that implement the operations of an open index.
    """
    return (
        code.runs.begin_closing,
        stored.following.stop,
        stored.unfollow,
        stored.vectors.close,
        stored.progress.close,
        stored.memory_news.close,
        context.context_news.close,
        context.injector.close,
        code.paragraphs.close,
        agents.learner.close,
        partial(stored.observer.end, Observer.close),
        code.runs.close,
        agents.sharing.close,
        stored.book.close,
        code.overlays.close,
        stored.history.close,
        partial(stored.ledger.end, Ledger.close),
        stored.vectors.record,
        stored.projections.close,
        code.indexers.close,
        inputs.store.close,
        partial(close_to_others, inputs.data_dir),
    )
