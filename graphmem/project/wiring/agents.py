"""Fourth step of the wiring: sessions of agents, and memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.injection.feedback import Feedback
from graphmem.injection.hook_events import Hooks
from graphmem.project.memories.session_memories import SessionMemories
from graphmem.project.memories.writing import Memories
from graphmem.project.searches.searching import SearchQuestions
from graphmem.project.sessions.operations import Sessions
from graphmem.project.sessions.session_learner import BookClock, SessionLearner
from graphmem.project.team.sharing import Sharing
from graphmem.project.wiring.code import CodeParts
from graphmem.project.wiring.context import ContextParts
from graphmem.project.wiring.inputs import Inputs, Later
from graphmem.project.wiring.stored import StoredParts

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class AgentParts:
    """Sessions of agents, and the memories that they read and write."""

    learner: SessionLearner
    sessions: Sessions
    session_memories: SessionMemories
    sharing: Sharing
    memories: Memories
    hooks: Hooks
    search: SearchQuestions


def create_agents(inputs: Inputs, stored: StoredParts, code: CodeParts, context: ContextParts, later: Later) -> AgentParts:
    """Create the parts that follow sessions and keep memories."""
    book, graph, observer, data_dir = stored.book, stored.graph, stored.observer, inputs.data_dir
    injector, learning = context.injector, context.learning
    learner = SessionLearner(stored.trails, observer, learning.learn_from, BookClock(book))
    feedback = Feedback(
        book,
        graph.from_root,
        lambda session: bool(observer().strangers(session, others=False)),
        used=lambda session, ids: later.memories.use_of_session(session, ids),
        doubted=lambda session, doubt: later.memories.doubt_of_session(session, doubt),
    )
    sessions = Sessions(book, observer, learner, learning.learn_from, feedback.find_uses, context.switch, context.user)
    session_memories = SessionMemories(stored.trails, observer, sessions.observe, injector)
    sharing = Sharing(book, graph.root_or_none, data_dir, inputs.settings)
    forget_sessions = stored.history.forget_sessions
    later.memories = memories = Memories(
        book, data_dir, stored.memory_news, session_memories, forget_sessions, sharing.forget_all, context.user
    )
    return AgentParts(
        learner=learner,
        sessions=sessions,
        session_memories=session_memories,
        sharing=sharing,
        memories=memories,
        hooks=Hooks(
            injector,
            sessions.observe,
            graph.root_or_none,
            learning.pause,
            context.advice.rehearse,
            lambda session: observer().runs(session),
        ),
        search=SearchQuestions(
            graph,
            stored.projections,
            context.searcher,
            code.semantics,
            injector.packed,
            lambda: context.user.refresh(retry=False),
        ),
    )
