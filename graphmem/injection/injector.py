"""Show context to an agent's sessions at fixed moments.

A moment is called a point: the start, a prompt, a tool's result, a step. Each point has a deadline. If the context is not ready by then, an
empty answer is sent. Slow work runs after the answer was sent.
"""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from graphmem.answers.injection import ContextReady, InjectedItem, Injection, PackedText, Prefetch, StepLimit
from graphmem.injection.agent import MAX_CANDIDATES, Context, ContextAgent
from graphmem.injection.ask import Ask, Gathered, check, whole_budget
from graphmem.injection.background import Background
from graphmem.injection.budgets import Budget, budget_for
from graphmem.injection.deadlines import Deadlines, deadline_of
from graphmem.injection.edits import MAX_TOKENS, EditBook, notes, reminder
from graphmem.injection.edits import MAX_TRAPS as EDIT_TRAPS
from graphmem.injection.experiment import CONTROL, FULL, PASSIVE, group_of
from graphmem.injection.finder import Finder
from graphmem.injection.formats import format_named
from graphmem.injection.items import Item, distinct, note, of_memory, of_rules
from graphmem.injection.packing import Packed, pack
from graphmem.injection.planner import Moving, Planner
from graphmem.injection.project_items import of_places, of_summary
from graphmem.injection.recent_sessions import MOST_SESSIONS
from graphmem.injection.steps import FILE, StepTriggers, Trigger
from graphmem.injection.tokens import count_tokens, is_exact
from graphmem.injection.trust import TrustBook
from graphmem.memory.rules import endings
from graphmem.memory.types import COMMIT, TRAPS

if TYPE_CHECKING:
    from graphmem.answers import IndexState, MemoryInfo, RuleSet, SearchAnswer, SessionSummary
    from graphmem.injection.agent import Check
    from graphmem.injection.edits import Advise, Consequences, Edit, TestCommand
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.memory.repository import MemoryRepository
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.vectors.filler import VectorFiller

ACTIVE: Final = frozenset({"tool", "step", "take"})  # points for sessions of the full group only
OWN_WORDS: Final = frozenset({"user_taught", "agent_explicit"})  # sources of memories that are words of their session
HEARD_S: Final = 2.0  # seconds that a memory waits for earlier events
MAX_PLACES: Final = 8  # files that a first message concerns
MAX_LESSONS: Final = 1  # unconfirmed lessons of commits that are shown about a file that a tool used
EXPECTED_SHARE: Final = 0.6  # least score, as a share of the best one's, of a place that an agent is reminded of when it stops
MAX_TRAPS: Final = 20  # traps for one call of a tool, before packing

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
        state: returns the state of the index.
        rules: returns the rules that apply to given files, or all rules if called with None.
        root: returns the root directory of the project, if known.
        on_ready: called after memories were prepared for a session's next turn.
        summaries: returns summaries of the last sessions, newest first.
        moving: returns the files that usually change together with given files or folders. If its second argument is True, it waits until
            the Git history is read.
        relevance: checks prepared memories in the background; None without a language model.
        advise: returns the consequences of edits; None if they are unknown.
        command: returns the command line that runs given tests; "" if their runner is unknown.
        unit_of: returns the unit of work (task) of a session; "" if there is none.
        refresh: copies changes of the user's own memories to the project.
    """

    def __init__(
        self,
        book: MemoryRepository,
        searcher: Searcher,
        projections: Projections,
        vectors: VectorFiller,
        data_dir: Path,
        background: Background,
        *,
        state: Callable[[], IndexState],
        rules: Callable[[Sequence[str] | None], RuleSet],
        root: Callable[[], Path | None],
        on_ready: Callable[[ContextReady], None],
        summaries: Callable[[], Sequence[SessionSummary]],
        moving: Callable[[Sequence[str], bool], Moving],
        relevance: Check | None,
        advise: Advise,
        command: TestCommand,
        unit_of: Callable[[str], str],
        refresh: Callable[[], None],
    ) -> None:
        self._refresh = refresh
        self._book = book
        self._state = state
        self._rules = rules
        self._summaries = summaries
        self._deadlines = Deadlines()
        self._background = background
        self._first: OrderedDict[str, None] = OrderedDict()  # sessions that have sent their first message
        self._late_starts: OrderedDict[str, None] = OrderedDict()  # sessions whose context of the start missed its deadline
        self._first_lock = Lock()
        self._disputed: set[str] = set()  # memories flagged wrong since this index was opened
        self.trust = TrustBook(data_dir)
        self._finder = Finder(book, searcher, projections, vectors, self.trust, state, unit_of)
        self._planner = Planner(self._finder, book, projections, root, moving)
        self.agent = ContextAgent(self._finder, lambda session, count: on_ready(ContextReady(session, count)), relevance)
        self.steps = StepTriggers(self._finder.traps)
        self._advise = advise
        self.edits = EditBook(command)

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
        with self._first_lock:
            self._first.pop(session, None)

    def end(self, session: str) -> None:
        """Forget the state of a session that ended."""
        self.steps.forget(session)
        self.edits.forget(session)
        with self._first_lock:
            self._first.pop(session, None)
            self._late_starts.pop(session, None)
        self.agent.end(session)

    def is_first_message(self, session: str) -> bool:
        """Record a message of a session; return whether it is the first one."""
        with self._first_lock:
            first = session not in self._first
            self._first[session] = None
            self._first.move_to_end(session)
            while len(self._first) > 1_000:
                self._first.popitem(last=False)
            return first

    def memories_changed(self, delta: KnowledgeDelta) -> None:
        """Note new memories and newly disputed memories after a write.

        Call this after each write. A new memory may be shown to the session that made it, unless it only repeats words of this session. A
        memory that is now disputed counts as flagged wrong in each open session to which it was shown.
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

        A background thread prepares memories for the context. `messages` are the last messages, the newest last, and `files` are the open
        files.
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
            "start": self._start,
            "prompt": self._prompt,
            "tool": self._tool,
            "step": self._step,
            "take": self._take,
        }[ask.point]
        timed = self._deadlines.run(lambda until: gather(ask, budget, until), allowed, started)
        answer = self._answer(ask, budget, timed.value, group, started, late=timed.value is None)
        self._note_start(ask, is_late=timed.value is None)
        self._note_shown(ask.session, answer)
        return answer

    def _note_start(self, ask: Ask, *, is_late: bool) -> None:
        """Record whether a session still has to get the context of its start."""
        with self._first_lock:
            if ask.point == "start" and is_late and ask.session:
                self._late_starts[ask.session] = None
                while len(self._late_starts) > MOST_SESSIONS:
                    self._late_starts.popitem(last=False)
            elif ask.point in ("start", "prompt") and not is_late:
                self._late_starts.pop(ask.session, None)

    def owes_start(self, session: str) -> bool:
        """Whether the context of a session's start was late and was not shown."""
        with self._first_lock:
            return session in self._late_starts

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
                self.edits.postpone(ask.session, late[1])

        timed = self._deadlines.run(lambda until: self._about_edit(ask, edits, budget, until), deadline_of("tool"), started, keep)
        gathered, found = timed.value if timed.value is not None else (None, None)
        answer = self._answer(ask, budget, gathered, group, started, late=timed.value is None)
        if found is not None:
            self.edits.tell(ask.session, found)
        self._note_shown(ask.session, answer)
        return answer

    def late_advice(self, ask: Ask, begun: float | None = None) -> Injection | None:
        """Return advice about an earlier edit that missed its deadline, or None."""
        found = self.edits.postponed(ask.session) if self._group(ask.session) == FULL else None
        items = self._advice(ask, found) if found is not None else []
        if found is None or not items:
            return None
        budget = whole_budget(MAX_TOKENS)
        answer = self._answer(ask, budget, self._pack(ask, budget, items, math.inf), FULL, time.monotonic() if begun is None else begun)
        self.edits.tell(ask.session, found)
        self._note_shown(ask.session, answer)
        return answer

    def after_edit(self, ask: Ask, begun: float | None = None) -> Injection | None:
        """Return advice to open code that depends on the session's edits.

        The advice lists code that the session has not opened and that uses an edited symbol. Only edits that changed a signature count. The
        result is None if there is nothing new to report.
        """
        left = self.edits.unopened(ask.session) if self._group(ask.session) == FULL else []
        if not left:
            return None
        budget = whole_budget(MAX_TOKENS)
        gathered = self._pack(ask, budget, [reminder(left)], math.inf)
        return self._answer(ask, budget, gathered, FULL, time.monotonic() if begun is None else begun)

    def at_stop(self, session: str) -> str:
        """Return a reminder for an agent that stops: forgotten files and tests.

        The result is "" if nothing was forgotten. The result is also "" if the session is not in the group `full` of the experiment (see
        `experiment`).
        """
        return self.edits.at_stop(session) if self._group(session) == FULL else ""

    def _about_edit(self, ask: Ask, edits: Sequence[Edit], budget: Budget, until: float) -> tuple[Gathered, Consequences | None]:
        found = self._advise(edits)
        fresh = self.edits.unseen(ask.session, found) if found is not None else None
        rules = self._rules_of([*dict.fromkeys(one.path for one in edits)], self._shown(ask))
        if fresh is None:
            return self._pack(ask, budget, rules, until, f"rules of {edits[0].path}" if rules else ""), None
        items = [*rules, *self._advice(ask, fresh)]
        why = f"before an edit of {', '.join(one.path for one in edits[:1])}" if items else ""
        return self._pack(ask, budget, items, until, why), fresh

    def _advice(self, ask: Ask, found: Consequences) -> list[Item]:
        """Return the warnings and notes about an edit, most important first."""
        traps = [
            (info, score)
            for info, score in self._finder.infos(found.memories, self._shown(ask), ask.session, fades=False)
            if info.type in TRAPS and (not _is_lesson(info) or any(one.name in found.targets for one in info.about))
        ]
        return [*(of_memory(info, "editor", score) for info, score in traps[:EDIT_TRAPS]), *notes(found, self.edits.command)]

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

    def _note_shown(self, session: str, answer: Injection) -> None:
        if session:
            self.agent.show(session, [one.id for one in answer.items if one.kind in ("memory", "rule")])
        ids = [one.id for one in answer.items if one.kind == "memory"]
        if not ids:
            return
        self.soon(lambda: self._finder.count_shown(ids, session))

    def _pack(self, ask: Ask, budget: Budget, items: Sequence[Item], until: float, why: str = "", notes: Sequence[str] = ()) -> Gathered:
        if time.monotonic() >= until:
            items = ()
        said = [] if is_exact() else ["no tokenizer vocabulary is installed, so token counts are rough upper bounds"]
        leaning = self._finder.leaning(ask.phase)
        packed = pack(distinct(items), budget, format_named(ask.form), count_tokens, ask.phase, leaning=leaning)
        return Gathered(packed, why, [*said, *notes])

    def _start(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return the context at the start of a session, for the system prompt."""
        items, notes = self._standing(ask)
        return self._pack(ask, budget, items, until, notes=notes)

    def _standing(self, ask: Ask) -> tuple[list[Item], list[str]]:
        """Return the items that apply to a whole session, and notes.

        The notes say what was left out or could not be read. The items are rules and standing memories. Standing memories are pinned
        memories, memories about the user or a module, global memories and workflow recipes.
        """
        self._refresh()
        rules, notes = self._rules(None)
        mine = {one.name for one in self._rules(ask.files).rules} if ask.files else set[str]()
        there = self._finder.endings() if any(one.scope for one in rules) else frozenset[str]()
        apply = [one for one in rules if not one.scope or one.name in mine or endings(one.scope) & there]
        items = [*self._state_notes(), *of_rules(apply)]
        kept = self._finder.kept()
        for info, score in self._finder.infos(kept.standing, self._shown(ask), ask.session):
            items.append(of_memory(info, "always" if info.status == "pinned" else "retrieval", score))
        if kept.more:
            notes = [*notes, f"{kept.more:,} more memories apply to every session and were not considered"]
        return items, notes

    def _prompt(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return the context for the first message of a session.

        The context has rules for the open files, and memories about these files and about the message. The context also has summaries of
        the last sessions, and names files to read first. If the context of the session's start was late, it is included.
        """
        shown = self._shown(ask)
        standing, standing_notes = self._standing(ask) if self.owes_start(ask.session) else ([], [])
        about, more = self._finder.about_files(ask.files, shown, ask.session)
        notes = [f"{more:,} more memories are about these files; `search` finds them"] if more else []
        items = [of_memory(info, "editor", score) for info, score in about]
        if ask.text.strip():
            found = self._finder.search(ask.text, ask, MAX_CANDIDATES, until)
            items += [
                of_memory(info, "retrieval", score)
                for info, score in found
                if info.id not in shown and self._finder.is_sure(info, ask.session)
            ]
            if places := self._finder.places(ask.text, ask.files, until)[:MAX_PLACES]:
                items.append(of_places(places))
                if ask.session:
                    self.edits.expect(ask.session, [one.path for one in places if one.score >= EXPECTED_SHARE * places[0].score])
        to_read, missed = self._planner.to_read_first(ask.files, until)
        items += [*to_read, *(of_summary(one, budget.summaries) for one in self._summaries())]
        return self._pack(
            ask, budget, [*standing, *self._rules_of(ask.files, shown), *items], until, notes=[*standing_notes, *notes, *missed]
        )

    def _rules_of(self, files: Sequence[str], shown: frozenset[str]) -> list[Item]:
        """Return people's rules that cover the given files and were not shown yet."""
        scoped = [one for one in self._rules(files).rules if one.scope] if files else []
        return [one for one in of_rules(scoped) if one.id not in shown]

    def _tool(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return rules and warnings about the files that an agent's tool used."""
        shown = self._shown(ask)
        rules = self._rules_of(ask.files, shown)
        traps = {one: None for path in ask.files for one, sure in self._finder.traps(path) if sure >= self.trust.threshold()}
        ids = [one for one in traps if one not in shown]
        infos = self._finder.infos(ids[:MAX_TRAPS], (), ask.session, fades=False)
        few = [one.id for one, _ in infos if _is_lesson(one)][:MAX_LESSONS]
        items = [of_memory(info, "editor", score) for info, score in infos if not _is_lesson(info) or info.id in few]
        notes = [f"{len(ids) - MAX_TRAPS:,} more traps of these files; `search` finds them"] if len(ids) > MAX_TRAPS else []
        why = f"known about {', '.join(ask.files)}" if items or rules else ""
        return self._pack(ask, budget, [*rules, *items], until, why, notes)

    def _step(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return the items to show between two steps (tool calls) of an agent.

        A trigger is a reason to show something, such as a warning about a file that was just read. The trigger determines the items.
        Without a trigger, there are none.
        """
        trigger: Trigger | None = self.steps.step(ask.session, self.agent.shown(ask.session), self.trust.threshold())
        if trigger is None:
            return self._pack(ask, budget, (), until)
        items = [
            of_memory(info, "editor", score) for info, score in self._finder.infos(trigger.ids, (), ask.session, fades=trigger.name != FILE)
        ]
        return self._pack(ask, budget, items, until, trigger.why)

    def _take(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return memories that were prepared in the background, as one text."""
        found, said = self.agent.take(ask.session)
        ready = {one.id: one.similarity for one in found}
        phase = ask.phase or self.agent.phase(ask.session)
        items = [of_memory(info, "retrieval", ready[info.id]) for info, _ in self._finder.infos(list(ready), (), ask.session)]
        why = "fits what the conversation is about" if items else ""
        return self._pack(ask._replace(phase=phase), budget, items, until, why, [said] if said and items else [])

    def _shown(self, ask: Ask) -> frozenset[str]:
        return self.agent.shown(ask.session) if ask.session else frozenset()

    # ---- planning

    def plan(self, task: str, modules: Sequence[str], ask: Ask) -> Injection:
        """Return memories about earlier work on a task; see `Planner.plan`."""
        return self._planned("plan", ask, lambda: self._planner.plan(task, modules, ask))

    def relay(self, before: str, to: str, ask: Ask, work_unit: str = "") -> Injection:
        """Return memories for the next phase of work; see `Planner.relay`."""
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
        """Pack search hits into one text; see `Planner.packed`."""
        return self._planner.packed(answer, budget_tokens, form)

    def _planned(self, point: str, ask: Ask, gather: Callable[[], Gathered]) -> Injection:
        started = time.monotonic()
        gathered = gather()
        return self._answer(ask._replace(point=point), budget_for(ask.remaining), gathered, FULL, started)

    # ---- internals

    def _state_notes(self) -> list[Item]:
        state = self._state()
        if state.state in ("indexing", "empty"):
            return [note("The first index is being made or is missing: impact analysis may be incomplete.")]
        return []

    def wait_for_events(self, timeout_s: float = HEARD_S) -> None:
        """Wait until the background work of all earlier events is done.

        The wait ends after `timeout_s` at the latest. A timeout is logged and raises no error.
        """
        try:
            self._background.wait(timeout_s)
        except TimeoutError:
            _log.warning("hook events are delayed by more than %.0f s", timeout_s)

    def soon(self, work: Callable[[], object]) -> None:
        """Run a function in the background; see `Background.soon`."""
        self._background.soon(work)


def _is_lesson(info: MemoryInfo) -> bool:
    """Whether a memory is a commit's lesson (its message), not yet confirmed.

    Most such lessons are about a fault that was fixed long ago, so few of them are shown.
    """
    return info.source == COMMIT and info.status == "candidate"
