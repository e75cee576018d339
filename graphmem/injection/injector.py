"""A project's injection: sessions, the points at which something is put in front of an agent, and what is answered there.

Everything slow happens behind an answer. What a point may take is bounded by its deadline, and past it the answer is empty.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from graphmem.answers.injection import ContextReady, InjectedItem, Injection, PackedText, Prefetch, StepLimit
from graphmem.errors import GraphMemError
from graphmem.injection.agent import MAX_CANDIDATES, Context, ContextAgent
from graphmem.injection.ask import Ask, Gathered, check
from graphmem.injection.budgets import Budget, budget_for
from graphmem.injection.deadlines import Deadlines, deadline_of
from graphmem.injection.experiment import CONTROL, FULL, PASSIVE, group_of
from graphmem.injection.finder import Finder
from graphmem.injection.formats import format_named
from graphmem.injection.items import Item, distinct, note, of_memory, of_rules
from graphmem.injection.packing import Packed, pack
from graphmem.injection.planner import Moving, Planner
from graphmem.injection.project_items import of_summary
from graphmem.injection.steps import StepTriggers, Trigger
from graphmem.injection.tokens import count_tokens, is_exact
from graphmem.injection.trust import TrustBook

if TYPE_CHECKING:
    from graphmem.answers import IndexState, RuleSet, SearchAnswer, SessionSummary
    from graphmem.injection.agent import Check
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.memory.repository import MemoryRepository
    from graphmem.projection.projections import Projections
    from graphmem.search.searcher import Searcher
    from graphmem.vectors.filler import VectorFiller

ACTIVE: Final = frozenset({"tool", "step", "take"})  # points that only full sessions get
HEARD_S: Final = 2.0  # that a memory waits for the events that were told before it
MAX_TRAPS: Final = 20  # of the files of one tool's call, before packing chooses

_log = logging.getLogger(__name__)


class Injector:
    """One project's injection. Any thread may ask.

    Args:
        book: of memories.
        searcher: finds.
        projections: of the memories and the code.
        vectors: the model for contexts.
        data_dir: where experience is kept.
        state: of the index.
        rules: those that apply to files.
        root: of the project, when it is known.
        on_ready: told when a context was worked through.
        summaries: of the last sessions, newest first.
        moving: files most changes of some files or folders touched too; the flag says whether the history may be waited for.
        relevance: a check of what is made ready behind the answers; None without a model.
    """

    def __init__(
        self,
        book: MemoryRepository,
        searcher: Searcher,
        projections: Projections,
        vectors: VectorFiller,
        data_dir: Path,
        *,
        state: Callable[[], IndexState],
        rules: Callable[[Sequence[str] | None], RuleSet],
        root: Callable[[], Path | None],
        on_ready: Callable[[ContextReady], None] = lambda news: None,
        summaries: Callable[[], Sequence[SessionSummary]] = lambda: (),
        moving: Callable[[Sequence[str], bool], Moving] = lambda names, wait: Moving([], ""),
        relevance: Check | None = None,
    ) -> None:
        self._book = book
        self._state = state
        self._rules = rules
        self._summaries = summaries
        self._deadlines = Deadlines()
        self._behind = ThreadPoolExecutor(1, thread_name_prefix="graphmem-behind")
        self._first: OrderedDict[str, None] = OrderedDict()  # sessions whose first message has come
        self._first_lock = Lock()
        self._disputed: set[str] = set()  # since this index was opened
        self.trust = TrustBook(data_dir)
        self._finder = Finder(book, searcher, projections, vectors, self.trust, state)
        self._planner = Planner(self._finder, book, projections, root, moving)
        self.agent = ContextAgent(self._finder, lambda session, count: on_ready(ContextReady(session, count)), relevance)
        self.steps = StepTriggers(self._finder.traps)

    def close(self) -> None:
        """End the threads; what they work on is thrown away."""
        self.agent.close()
        self._deadlines.close()
        self._behind.shutdown(wait=True, cancel_futures=True)

    # ---- sessions

    def begin(self, session: str) -> None:
        """A session starts, or starts over with an empty context: all may be shown again."""
        self.agent.begin(session)
        self.steps.forget(session)
        with self._first_lock:
            self._first.pop(session, None)

    def end(self, session: str) -> None:
        """A session is over, which the project's experience grows by."""
        self.steps.forget(session)
        with self._first_lock:
            self._first.pop(session, None)
        self.trust.session_over(session, self.agent.end(session))

    def is_first_message(self, session: str) -> bool:
        """Whether no message of the session has come before; asking says that one has."""
        with self._first_lock:
            first = session not in self._first
            self._first[session] = None
            self._first.move_to_end(session)
            while len(self._first) > 1_000:
                self._first.popitem(last=False)
            return first

    def memories_changed(self, delta: KnowledgeDelta) -> None:
        """A write was accepted: what a session has learnt is of use to it, and what it was shown may have been flagged wrong."""
        self._finder.memories_changed(delta)
        for link in delta.learnt:
            self.steps.learnt(link.session_id, [link.memory_id])
        for row in delta.memories:
            if not row.disputed:
                self._disputed.discard(row.id)
            elif row.id not in self._disputed:
                self._disputed.add(row.id)
                for session in self.agent.was_shown(row.id):
                    self.trust.flagged(session)

    def searched(self, session: str, query: str) -> None:
        """A session searched for something; whether a memory answers it is looked up behind this call."""
        self.soon(lambda: self.steps.searched(session, query, self._finder.answers(query)))

    def update(self, session: str, messages: Sequence[str], files: Sequence[str], phase: str) -> int:
        """What a conversation is about now; the number of the turn."""
        return self.agent.update(session, Context("\n".join(messages), tuple(files), phase))

    def settle(self, timeout_s: float) -> bool:
        """Wait until nothing is worked on behind the answers."""
        deadline = time.monotonic() + timeout_s
        if not self.agent.settle(timeout_s):
            return False
        self._behind.submit(lambda: None).result(timeout=max(0.01, deadline - time.monotonic()))
        return True

    # ---- points

    def inject(self, ask: Ask, deadline_s: float | None = None, begun: float | None = None) -> Injection:
        """What to show at a point, by its deadline.

        Args:
            ask: the point and what is known of the moment.
            deadline_s: instead of the point's own.
            begun: when the question came, on the clock of `time.monotonic`.

        Raises:
            BadInputError: a point, format, phase or number that cannot be.
        """
        allowed = deadline_of("step" if ask.point == "take" else ask.point) if deadline_s is None else deadline_s
        started = time.monotonic() if begun is None else begun
        check(ask)
        budget = budget_for(ask.remaining)
        for path in ask.files if ask.point == "tool" and ask.session else ():
            self.steps.touched(ask.session, path)  # what is not shown now in time is told between steps
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
        self._note_shown(ask.session, answer)
        return answer

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
        ids = [one.id for one in answer.items if one.kind == "memory"]
        if not ids:
            return
        if session:
            self.agent.show(session, ids)
        self.soon(lambda: self._finder.count_shown(ids, session))

    def _pack(self, ask: Ask, budget: Budget, items: Sequence[Item], until: float, why: str = "", notes: Sequence[str] = ()) -> Gathered:
        if time.monotonic() >= until:
            items = ()
        said = [] if is_exact() else ["no vocabulary is installed: tokens are counted by a coarser bound"]
        leaning = self._finder.leaning(ask.phase)
        packed = pack(distinct(items), budget, format_named(ask.form), count_tokens, ask.phase, leaning=leaning)
        return Gathered(packed, why, [*said, *notes])

    def _start(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """System prompt: rules, pinned, global and module memories, workflow recipes."""
        rules, notes = self._rules(ask.files or None)
        items = [*self._state_notes(), *of_rules(rules)]
        kept = self._finder.kept()
        for info, score in self._finder.infos(kept.standing, self._shown(ask)):
            items.append(of_memory(info, "always" if info.status == "pinned" else "retrieval", score))
        if kept.more:
            notes = [*notes, f"{kept.more:,} more memories stand for every session and were not weighed"]
        return self._pack(ask, budget, items, until, notes=notes)

    def _prompt(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """First message: what is known of the open files and of the question, files to prefetch, work state, last sessions."""
        shown = self._shown(ask)
        about, more = self._finder.about_files(ask.files, shown)
        notes = [f"{more:,} more memories are about these files; `search` finds them"] if more else []
        items = [of_memory(info, "editor", score) for info, score in about]
        if ask.text.strip():
            found = self._finder.search(ask.text, ask, MAX_CANDIDATES, until)
            items += [of_memory(info, "retrieval", score) for info, score in found if info.id not in shown and self._finder.is_sure(info)]
        to_read, missed = self._planner.to_read_first(ask.files, until)
        items += [*to_read, *(of_summary(one, budget.summaries) for one in self._summaries())]
        return self._pack(ask, budget, items, until, notes=[*notes, *missed])

    def _tool(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """A tool's result: traps of the files it was about."""
        shown = self._shown(ask)
        traps = {one: None for path in ask.files for one, sure in self._finder.traps(path) if sure >= self.trust.threshold()}
        ids = [one for one in traps if one not in shown]
        items = [of_memory(info, "editor", score) for info, score in self._finder.infos(ids[:MAX_TRAPS], ())]
        notes = [f"{len(ids) - MAX_TRAPS:,} more traps of these files; `search` finds them"] if len(ids) > MAX_TRAPS else []
        return self._pack(ask, budget, items, until, f"known about {', '.join(ask.files)}" if items else "", notes)

    def _step(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Between steps: one thing, when one of the triggers fires."""
        trigger: Trigger | None = self.steps.step(ask.session, self.agent.shown(ask.session), self.trust.threshold())
        if trigger is None:
            return self._pack(ask, budget, (), until)
        items = [of_memory(info, "editor", score) for info, score in self._finder.infos(trigger.ids, ())]
        return self._pack(ask, budget, items, until, trigger.why)

    def _take(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """What the background agent has ready."""
        found, said = self.agent.take(ask.session)
        ready = {one.id: one.similarity for one in found}
        phase = ask.phase or self.agent.phase(ask.session)
        items = [of_memory(info, "retrieval", ready[info.id]) for info, _ in self._finder.infos(list(ready), ())]
        why = "fits what the conversation is about" if items else ""
        return self._pack(ask._replace(phase=phase), budget, items, until, why, [said] if said and items else [])

    def _shown(self, ask: Ask) -> frozenset[str]:
        return self.agent.shown(ask.session) if ask.session else frozenset()

    # ---- planning

    def plan(self, task: str, modules: Sequence[str], ask: Ask) -> Injection:
        """See `Planner.plan`."""
        return self._planned("plan", ask, lambda: self._planner.plan(task, modules, ask))

    def relay(self, before: str, to: str, ask: Ask, work_unit: str = "") -> Injection:
        """See `Planner.relay`."""
        return self._planned("relay", ask, lambda: self._planner.relay(before, to, ask, work_unit))

    def prefetch(self, module: str) -> Prefetch:
        """See `Planner.prefetch`."""
        return self._planner.prefetch(module)

    def step_limit(self, module: str, base: int) -> StepLimit:
        """See `injection.planning.step_limit`."""
        return self._planner.step_limit(module, base)

    def packed(self, answer: SearchAnswer, budget_tokens: int, form: str = "text") -> PackedText:
        """See `Planner.packed`."""
        return self._planner.packed(answer, budget_tokens, form)

    def _planned(self, point: str, ask: Ask, gather: Callable[[], Gathered]) -> Injection:
        started = time.monotonic()
        gathered = gather()
        return self._answer(ask._replace(point=point), budget_for(ask.remaining), gathered, FULL, started)

    # ---- inside

    def _state_notes(self) -> list[Item]:
        state = self._state()
        if state.state in ("indexing", "empty"):
            return [note("The first index is being made or is missing: impact analysis may be incomplete.")]
        return []

    def heard(self, timeout_s: float = HEARD_S) -> None:
        """Wait until events that came before are taken in, as long as that takes no longer than told."""
        try:
            self._behind.submit(lambda: None).result(timeout=timeout_s)
        except TimeoutError:
            _log.warning("events of hooks are behind by more than %.0f s", timeout_s)
        except RuntimeError:  # closing
            _log.debug("closing: nothing is done behind answers any more")

    def soon(self, work: Callable[[], object]) -> None:
        """Do something behind the answer; what goes wrong there is logged and changes no answer."""

        def guarded() -> None:
            try:
                work()
            except GraphMemError as error:
                _log.warning("behind an answer: %s", error)
            except Exception:  # noqa: BLE001 -- a thread nobody waits for: the fault is said, answers go on
                _log.exception("behind an answer")

        try:
            self._behind.submit(guarded)
        except RuntimeError:  # closing
            _log.debug("closing: nothing is done behind answers any more")
