"""Third step of the wiring: search, learning and context for agents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from graphmem.embedding.served_reranker import reranker_of
from graphmem.injection.background import Background
from graphmem.injection.injector import Injector
from graphmem.injection.project_calls import ProjectCalls
from graphmem.memory.files.user_book import UserBook
from graphmem.memory.repository.repository import MemoryRepository
from graphmem.observe.learning.switch import LearningSwitch
from graphmem.project.graph.progress import Hub
from graphmem.project.memories.people import PeopleFiles
from graphmem.project.memories.user_memories import UserMemories
from graphmem.project.reviews.edit_advice import EditAdvice
from graphmem.project.searches.evaluating import ProjectChurn
from graphmem.project.sessions.learning import SessionLearning
from graphmem.project.wiring.code import CodeParts
from graphmem.project.wiring.inputs import Inputs, Later
from graphmem.project.wiring.stored import StoredParts
from graphmem.projection.projections import Projections
from graphmem.runtime.files.home import home
from graphmem.search.accepted import WeightBook
from graphmem.search.searcher import Searcher, SearchModels
from graphmem.settings import Settings

if TYPE_CHECKING:
    from graphmem.answers.injection import ContextReady
    from graphmem.injection.agent import Check
    from graphmem.language_model import LanguageModel


@dataclass(frozen=True, kw_only=True)
class ContextParts:
    """Search, learning, and the context that agents are shown."""

    user: UserMemories
    people: PeopleFiles
    switch: LearningSwitch
    learning: SessionLearning
    weights: WeightBook
    searcher: Searcher
    context_news: Hub[ContextReady]
    advice: EditAdvice
    injector: Injector


def create_context(inputs: Inputs, stored: StoredParts, code: CodeParts, later: Later) -> ContextParts:
    """Create the objects that search, learn, and add context to prompts.

    They learn from agents' sessions, and add memories and code to the prompts of agents.

    Args:
        inputs: the store, the settings and the index directory.
        stored: the objects made in the first step of the wiring.
        code: the objects made in the second step of the wiring.
        later: objects that are created after this step; they are used only after all objects exist.
    """
    store, data_dir, settings, model = inputs.store, inputs.data_dir, inputs.settings, stored.model
    graph, projections, vectors, book, observer = stored.graph, stored.projections, stored.vectors, stored.book, stored.observer
    user = UserMemories(book, UserBook(home() / ".graphmem" if not settings.projects else data_dir / "user"))
    people = PeopleFiles(book, graph.root_or_none, data_dir, settings)
    switch = LearningSwitch(data_dir, settings.learning, lambda: book.clock.now())
    learning = SessionLearning(
        book,
        stored.ledger,
        data_dir,
        settings,
        model,
        code.co_access.record_co_access,
        switch,
        lambda session, shown: later.injector.trust.session_over(session, shown),
    )
    weights = WeightBook(data_dir)
    churn = ProjectChurn(stored.history)
    models = SearchModels(vectors, inputs.patience_s, reranker_of(settings), model)
    searcher = Searcher(store, projections, book, models, stored.phases, weights, churn)
    context_news: Hub[ContextReady] = Hub()
    background = Background()
    advice = EditAdvice(graph, projections, stored.evidence, code.co_access, code.known, code.contracts, background.soon)
    project = ProjectCalls(
        state=stored.status.state,
        rules=people.rules,
        root=graph.root_or_none,
        on_ready=context_news.publish,
        summaries=learning.recent_summaries,
        moving=partial(code.co_access.moving, background.soon),
        relevance=_relevance(model, settings, book, projections),
        advise=advice.consequences,
        command=advice.command,
        refresh=user.refresh,
        unit_of=lambda session: observer().unit_of(session),
    )
    later.injector = injector = Injector(book, searcher, projections, vectors, data_dir, background, project)
    return ContextParts(
        user=user,
        people=people,
        switch=switch,
        learning=learning,
        weights=weights,
        searcher=searcher,
        context_news=context_news,
        advice=advice,
        injector=injector,
    )


def _relevance(model: LanguageModel | None, settings: Settings, book: MemoryRepository, projections: Projections) -> Check | None:
    """Create the check that drops irrelevant memories; None if it is off.

    The language model checks the memories that are chosen to be shown to an agent. The check is off without a model, or if the settings
    switch it off.
    """
    if model is None or not settings.relevance:
        return None
    from graphmem.injection.relevance import RelevanceCheck

    return RelevanceCheck(model, book, projections)
