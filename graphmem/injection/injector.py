"""Show context to an agent's sessions at fixed moments.

A moment is called a point: the start, a prompt, a tool's result, a step. Each point has a deadline. If the context is not ready by then, an
empty answer is sent. Slow work runs after the answer was sent.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.answers.injection import ContextReady, InjectedItem, Injection, PackedText, Prefetch, StepLimit
from graphmem.injection.agent import Context, ContextAgent
from graphmem.injection.ask import Ask, Gathered, check, whole_budget
from graphmem.injection.background import Background
from graphmem.injection.beginnings import Beginnings
from graphmem.injection.budgets import Budget, budget_for
from graphmem.injection.deadlines import Deadlines, deadline_of
from graphmem.injection.edit_notes import reminder
from graphmem.injection.edits import MAX_TOKENS, EditBook
from graphmem.injection.experiment import CONTROL, FULL, PASSIVE, group_of
from graphmem.injection.finder import Finder
from graphmem.injection.packing import Packed
from graphmem.injection.planner import Planner
from graphmem.injection.points import Points
from graphmem.injection.steps import StepTriggers
from graphmem.injection.trust import TrustBook

if TYPE_CHECKING:
    from graphmem.answers import SearchAnswer
    from graphmem.injection.consequences import Consequences, Edit
    from graphmem.injection.project_calls import ProjectCalls
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.vectors.filler import VectorFiller

ACTIVE: Final = frozenset({"tool", "step", "take"})  # points for sessions of the full group only
OWN_WORDS: Final = frozenset({"user_taught", "agent_explicit"})  # sources of memories that are words of their session
HEARD_S: Final = 2.0  # seconds that a memory waits for earlier events

_log = logging.getLogger(__name__)


class Injector:
    """Chooses the context that agents are shown, for one project. Thread-safe.

    Args:
        book: repository of the memories.
        searcher: runs searches.
        projections: copies of the memories and the code in memory.
        vectors: has the model that embeds contexts.
        data_dir: directory of the file with the trust level.
        background: runs the work that follows an answer. Closed with the injector.
        project: functions of the project.
    """

    def __init__(
        self,
        book: MemoryRepository,
        searcher: Searcher,
        projections: Projections,
        vectors: VectorFiller,
        data_dir: Path,
        background: Background,
        project: ProjectCalls,
    ) -> None:
        self._book = book
        self._deadlines = Deadlines()
        self._background = background
        self.beginnings = Beginnings()
        self._disputed: set[str] = set()  # memories flagged wrong since this index was opened
        self.trust = TrustBook(data_dir)
        self._finder = Finder(book, searcher, projections, vectors, self.trust, project.state, project.unit_of)
        self._planner = Planner(self._finder, book, projections, project.root, project.moving)
        self.agent = ContextAgent(self._finder, lambda session, count: project.on_ready(ContextReady(session, count)), project.relevance)
        self.steps = StepTriggers(self._finder.traps)
        self.edits = EditBook(project.command)
        self._points = Points(self._finder, self._planner, self.agent, self.steps, self.edits, self.beginnings, project)

    def close(self) -> None:
        """Wait for the work of the threads, and drop work that has not begun."""
        self.agent.close()
        self._deadlines.close()
        self._background.close()

    # ---- sessions

    def begin(self, session: str) -> None:
        """Start or restart a session and forget which memories it was shown."""
        self.agent.begin(session)
        self.steps.forget(session)
        self.edits.forget(session)
        self.beginnings.begin(session)

    def end(self, session: str) -> None:
        """Forget the state of a session that ended."""
        self.steps.forget(session)
        self.edits.forget(session)
        self.beginnings.end(session)
        self.agent.end(session)

    def open_window(self, session: str, window: str, *, inherits: bool) -> None:
        """Begin the context window of a subagent of a session.

        `inherits` tells whether the subagent has the conversation of the main agent, and with it what the main agent was shown.
        """
        self.agent.open_window(session, window, inherits=inherits)
        self.edits.open_window(session, window, inherits=inherits)

    def memories_changed(self, delta: KnowledgeDelta) -> None:
        """Note new memories and newly disputed memories after a write.

        Call this after each write. A new memory may be shown to the session that made it, unless it only repeats words of this session. A
        memory that is now disputed is recorded as flagged wrong in each open session to which it was shown.
        """
        self._finder.memories_changed(delta)
        own_words = {row.id for row in delta.memories if row.type == "preference" or row.source in OWN_WORDS}
        for link in delta.learnt:
            if link.memory_id not in own_words:  # the session has these words already
                self.steps.learnt(link.session_id, [link.memory_id])
        for row in delta.memories:
            if not row.disputed:
                self._disputed.discard(row.id)
            elif row.id not in self._disputed:
                self._disputed.add(row.id)
                for session in self.agent.was_shown(row.id):
                    self.trust.flagged(session)

    def searched(self, session: str, query: str) -> None:
        """Record an agent's search.

        In the background, memories that answer `query` are looked up. These memories may be shown at a later step (tool call).
        """
        self.soon(lambda: self.steps.searched(session, query, self._finder.answers(query, session)))

    def update(self, session: str, messages: Sequence[str], files: Sequence[str], phase: str) -> int:
        """Queue a new context of a conversation; return the number of the turn.

        A background thread prepares memories for the context. `messages` are the last messages, the newest last, `files` are the open
        files, and `phase` is the phase of work.
        """
        return self.agent.update(session, Context("\n".join(messages), tuple(files), phase, session))

    def settle(self, timeout_s: float) -> bool:
        """Wait until all background work of all sessions is done.

        The result is False if the contexts are not processed within `timeout_s`.

        Raises:
            TimeoutError: the contexts are processed, but other background work is not.
        """
        deadline = time.monotonic() + timeout_s
        if not self.agent.settle(timeout_s):
            return False
        self._background.wait(max(0.01, deadline - time.monotonic()))
        return True

    # ---- points

    def inject(self, ask: Ask, deadline_s: float | None = None, begun: float | None = None) -> Injection:
        """Return the context to show at a moment of a session.

        If the context is not ready at the deadline, the result has an empty text.

        Args:
            ask: the request, with its point (moment) and session.
            deadline_s: overrides the deadline of the point.
            begun: arrival of the request on the clock of `time.monotonic`; default now.

        Raises:
            BadInputError: a point, format, phase or number is invalid.
        """
        allowed = deadline_of("step" if ask.point == "take" else ask.point) if deadline_s is None else deadline_s
        started = time.monotonic() if begun is None else begun
        check(ask)
        budget = budget_for(ask.remaining)
        for path in ask.files if ask.point == "tool" and ask.session else ():
            self.steps.touched(ask.session, path)  # traps that are late are shown at the next step
        group = group_of(ask.session, self._book.project()) if ask.session else FULL
        if group == CONTROL or (group == PASSIVE and ask.point in ACTIVE):
            said = [f"this session is in the {group} group, which is shown {'nothing' if group == CONTROL else 'nothing between steps'}"]
            return self._answer(ask, budget, None, group, started, notes=said)
        gather = {
            "start": self._points.start,
            "prompt": self._points.prompt,
            "tool": self._points.tool,
            "step": self._points.step,
            "take": self._points.take,
        }[ask.point]
        timed = self._deadlines.run(lambda until: gather(ask, budget, until), allowed, started)
        answer = self._answer(ask, budget, timed.value, group, started, late=timed.value is None)
        if not ask.window:
            self.beginnings.note_start(ask.session, ask.point, is_late=timed.value is None)
        self._note_shown(ask, answer)
        return answer

    def before_edit(self, ask: Ask, edits: Sequence[Edit], begun: float | None = None) -> Injection:
        """Return the likely effects of some edits, before an agent makes them.

        The answer must be ready within the deadline for tool calls. Advice that is not ready by then is kept, and `late_advice` returns it.
        In one session, advice about a symbol or file is given once. The advice has at most `edits.MAX_TOKENS` tokens.
        """
        started = time.monotonic() if begun is None else begun
        check(ask)
        budget = whole_budget(MAX_TOKENS)
        group = self._group(ask.session)
        if group != FULL:
            return self._answer(ask, budget, None, group, started)

        def keep(late: tuple[Gathered, Consequences | None]) -> None:
            if late[1] is not None:
                self.edits.postpone(ask.session, late[1], ask.window)

        timed = self._deadlines.run(lambda until: self._points.about_edit(ask, edits, budget, until), deadline_of("tool"), started, keep)
        gathered, found = timed.value if timed.value is not None else (None, None)
        answer = self._answer(ask, budget, gathered, group, started, late=timed.value is None)
        if found is not None:
            self.edits.tell(ask.session, found, ask.window)
        self._note_shown(ask, answer)
        return answer

    def late_advice(self, ask: Ask, begun: float | None = None) -> Injection | None:
        """Return advice that was ready too late for its edit; None without any."""
        found = self.edits.postponed(ask.session, ask.window) if self._group(ask.session) == FULL else None
        items = self._points.advice(ask, found) if found is not None else []
        if found is None or not items:
            return None
        budget = whole_budget(MAX_TOKENS)
        gathered = self._points.pack(ask, budget, items, math.inf)
        answer = self._answer(ask, budget, gathered, FULL, time.monotonic() if begun is None else begun)
        self.edits.tell(ask.session, found, ask.window)
        self._note_shown(ask, answer)
        return answer

    def after_edit(self, ask: Ask, begun: float | None = None) -> Injection | None:
        """Return advice to open code that depends on the session's edits.

        The advice lists code that the session has not opened and that uses an edited symbol. Only edits that changed a signature are
        considered. Code that was shown before the edit is not repeated. The result is None if there is nothing new to report.
        """
        left = self.edits.unopened(ask.session, ask.window) if self._group(ask.session) == FULL else []
        if not left:
            return None
        budget = whole_budget(MAX_TOKENS)
        gathered = self._points.pack(ask, budget, [reminder(left)], math.inf)
        return self._answer(ask, budget, gathered, FULL, time.monotonic() if begun is None else begun)

    def at_stop(self, session: str) -> str:
        """Return a reminder for an agent that stops: forgotten files and tests.

        The result is "" if nothing was forgotten. The result is also "" if the session is not in the group `full` of the experiment (see
        `experiment`).
        """
        return self.edits.at_stop(session) if self._group(session) == FULL else ""

    def _group(self, session: str) -> str:
        return group_of(session, self._book.project()) if session else FULL

    def _answer(
        self,
        ask: Ask,
        budget: Budget,
        gathered: Gathered | None,
        group: str,
        started: float,
        *,
        late: bool = False,
        notes: Sequence[str] = (),
    ) -> Injection:
        packed = gathered.packed if gathered is not None else Packed([], "", 0, {}, [])
        return Injection(
            point=ask.point,
            session=ask.session,
            format=ask.form,
            text=packed.text,
            tokens=packed.tokens,
            budget=budget.total,
            items=[
                InjectedItem(
                    one.id, one.short_id, one.kind, one.type, one.section, one.title, round(one.score, 6), round(one.confidence, 6)
                )
                for one in packed.items
            ],
            left_out=packed.left_out,
            late=late,
            group=group,
            level=self.trust.now().level(),
            why=gathered.why if gathered is not None else "",
            notes=[*notes, *(gathered.notes if gathered is not None else ())],
            seconds=round(time.monotonic() - started, 6),
        )

    def _note_shown(self, ask: Ask, answer: Injection) -> None:
        session = ask.session
        if session:
            self.agent.show(session, [one.id for one in answer.items if one.kind in ("memory", "rule")], ask.window)
        ids = [one.id for one in answer.items if one.kind == "memory"]
        if not ids:
            return
        self.soon(lambda: self._finder.count_shown(ids, session))

    # ---- planning

    def plan(self, task: str, modules: Sequence[str], ask: Ask) -> Injection:
        """Return memories about earlier work on a task, for an agent's plan.

        `modules` are files or folders of the work.
        """
        return self._planned("plan", ask, lambda: self._planner.plan(task, modules, ask))

    def relay(self, before: str, to: str, ask: Ask, work_unit: str = "") -> Injection:
        """Return memories that one phase of work passes on to the next.

        `before` and `to` are the two phases. `work_unit` is the task, by which memories are found if the request `ask` has no text.
        """
        return self._planned("relay", ask, lambda: self._planner.relay(before, to, ask, work_unit))

    def prefetch(self, module: str) -> Prefetch:
        """Return the files that an agent will probably read first in a module."""
        return self._planner.prefetch(module)

    def step_limit(self, module: str, base: int) -> StepLimit:
        """Return a limit of steps, from the planned number `base` and past work.

        See `planning.step_limit`.
        """
        return self._planner.step_limit(module, base)

    def packed(self, answer: SearchAnswer, budget_tokens: int, form: str = "text") -> PackedText:
        """Pack search hits into one text of at most `budget_tokens` tokens."""
        return self._planner.packed(answer, budget_tokens, form)

    def _planned(self, point: str, ask: Ask, gather: Callable[[], Gathered]) -> Injection:
        started = time.monotonic()
        gathered = gather()
        return self._answer(ask._replace(point=point), budget_for(ask.remaining), gathered, FULL, started)

    # ---- internals

    def wait_for_events(self, timeout_s: float = HEARD_S) -> None:
        """Wait until the background work of all earlier events is done.

        The wait ends after `timeout_s` at the latest. A timeout is logged and raises no error.
        """
        try:
            self._background.wait(timeout_s)
        except TimeoutError:
            _log.warning("hook events are delayed by more than %.0f s", timeout_s)

    def soon(self, work: Callable[[], object]) -> None:
        """Run a function in the background; return at once."""
        self._background.soon(work)
