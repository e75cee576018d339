"""What a project brings to injection: its memories, its searches, its experience; and what is gathered at each point.

Everything slow happens behind an answer. What a point may take is bounded by its deadline, and past it the answer is empty.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers_injection import ContextReady, InjectedItem, Injection, PackedText, Prefetch, PrefetchedFile, StepLimit
from graphmem.errors import BadInputError, EmbedderError, GraphMemError
from graphmem.injection import planning
from graphmem.injection.agent import MAX_CANDIDATES, MIN_SIMILARITY, Candidate, Context, ContextAgent
from graphmem.injection.budgets import Budget, budget_for
from graphmem.injection.deadlines import Deadlines, deadline_of
from graphmem.injection.experiment import CONTROL, FULL, PASSIVE, group_of
from graphmem.injection.formats import format_named
from graphmem.injection.items import Item, clean, distinct, note, of_memory, of_rules, plain_path
from graphmem.injection.packing import Packed, pack
from graphmem.injection.steps import TRAPS, StepTriggers, Trigger
from graphmem.injection.tokens import count_tokens
from graphmem.injection.trust import TrustBook
from graphmem.memory.life import confidence_in_use, importance_now
from graphmem.memory.types import LIVE_STATUSES
from graphmem.model import file_id
from graphmem.projection.text import query_words
from graphmem.search.candidates import query_vector
from graphmem.search.request import MAX_FILES, MAX_QUERY, PHASES, Request

if TYPE_CHECKING:
    from graphmem.answers import IndexState, MemoryInfo, Rule, SearchAnswer, SearchHit, SessionSummary
    from graphmem.knowledge import KnowledgeDelta, MemoryRow
    from graphmem.memory.book import MemoryBook
    from graphmem.projection.memories import MemoryIndex
    from graphmem.projection.projections import Projections
    from graphmem.service.searching import Searcher
    from graphmem.service.vectors import VectorFiller

ACTIVE: Final = frozenset({"tool", "step", "take"})  # points that only full sessions get
STANDING_TYPES: Final = frozenset({"workflow_recipe"})  # shown at the start whatever their scope
STANDING_SCOPES: Final = frozenset({"global", "module"})
PLANNED_TYPES: Final = ("prefetch_pattern", "task_calibration")
MAX_STANDING: Final = 12  # memories of every session, before packing chooses
MAX_LINES: Final = 80  # of one piece of code
ANSWERS_SEARCH: Final = 0.5  # score from which a memory answers a search
MAX_SESSION_NAME: Final = 200

_log = logging.getLogger(__name__)


class Ask(NamedTuple):
    """One question for something to inject."""

    point: str
    session: str = ""
    text: str = ""  # the person's words, or the task
    files: tuple[str, ...] = ()
    phase: str = ""
    form: str = "xml"
    remaining: int | None = None


class _Kept(NamedTuple):
    """What was read from all memories."""

    standing: list[str]  # ids of memories for every session: pinned, global, of modules, recipes; most important first
    typed: dict[str, list[MemoryRow]]  # live ones of PLANNED_TYPES, by id


class _Gathered(NamedTuple):
    """What was found for a point, packed."""

    packed: Packed
    why: str
    notes: list[str]


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
    """

    def __init__(
        self,
        book: MemoryBook,
        searcher: Searcher,
        projections: Projections,
        vectors: VectorFiller,
        data_dir: Path,
        *,
        state: Callable[[], IndexState],
        rules: Callable[[Sequence[str] | None], tuple[list[Rule], list[str]]],
        root: Callable[[], Path | None],
        on_ready: Callable[[ContextReady], None] = lambda news: None,
        summaries: Callable[[], Sequence[SessionSummary]] = lambda: (),
    ) -> None:
        self._book = book
        self._searcher = searcher
        self._projections = projections
        self._vectors = vectors
        self._state = state
        self._rules = rules
        self._root = root
        self._summaries = summaries
        self._deadlines = Deadlines()
        self._behind = ThreadPoolExecutor(1, thread_name_prefix="graphmem-behind")
        self._standing: _Kept | None = None
        self._changes = 0  # of memories, which let go of it
        self._counting = 0  # the thread that writes down what was shown, while it does
        self._first: OrderedDict[str, None] = OrderedDict()  # sessions whose first message has come
        self._first_lock = Lock()
        self._disputed: set[str] = set()  # since this index was opened
        self.trust = TrustBook(data_dir)
        self.agent = ContextAgent(self, lambda session, count: on_ready(ContextReady(session, count)))
        self.steps = StepTriggers(self._traps)

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
        is_count = self._counting == get_ident() and not delta.removed_memories and not delta.about
        if not is_count:
            self._changes += 1
            self._standing = None
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
        self.soon(lambda: self.steps.searched(session, query, self._answers(query)))

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
        gathered: _Gathered | None,
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
        self.soon(lambda: self._count_shown(ids, session))

    def _count_shown(self, ids: Sequence[str], session: str) -> None:
        from graphmem.memory.changes import note_use

        self._counting = get_ident()
        try:
            note_use(self._book, ids, "injected", session=session or None)
        finally:
            self._counting = 0

    def _pack(self, ask: Ask, budget: Budget, items: Sequence[Item], until: float, why: str = "") -> _Gathered:
        form = format_named(ask.form)
        notes = ["no vocabulary is installed: tokens are counted by a coarser bound"] if not _exact() else []
        if time.monotonic() >= until:
            items = ()
        return _Gathered(pack(distinct(items), budget, form, count_tokens, ask.phase), why, notes)

    def _start(self, ask: Ask, budget: Budget, until: float) -> _Gathered:
        """System prompt: rules, pinned, global and module memories, workflow recipes."""
        rules, rule_notes = self._rules(ask.files or None)
        items = [*self._state_notes(), *of_rules(rules)]
        shown = self.agent.shown(ask.session) if ask.session else frozenset()
        for info, score in self._infos(self._kept().standing, shown):
            items.append(of_memory(info, "always" if info.status == "pinned" else "retrieval", score))
        gathered = self._pack(ask, budget, items, until)
        return gathered._replace(notes=[*gathered.notes, *rule_notes])

    def _prompt(self, ask: Ask, budget: Budget, until: float) -> _Gathered:
        """First message: what is known of the open files and of the question, files to prefetch, work state, last sessions."""
        shown = self.agent.shown(ask.session) if ask.session else frozenset()
        items: list[Item] = []
        items += [of_memory(info, "editor", score) for info, score in self._about_files(ask.files, shown)]
        if ask.text.strip():
            found = self._search(ask.text, ask, MAX_CANDIDATES, until)
            items += [of_memory(info, "retrieval", score) for info, score in found if info.id not in shown and self._is_sure(info)]
        modules = sorted({str(PurePosixPath(path).parent) for path in ask.files if "/" in path})
        for module in modules[:3]:
            if time.monotonic() < until:
                files = self.prefetch(module).files
                if files:
                    items.append(_prefetch_item(module, files))
        items += [_of_summary(one, budget.summaries) for one in self._summaries()]
        return self._pack(ask, budget, items, until)

    def _tool(self, ask: Ask, budget: Budget, until: float) -> _Gathered:
        """A tool's result: traps of the files it was about."""
        shown = self.agent.shown(ask.session) if ask.session else frozenset()
        ids = [one for path in ask.files for one, confidence in self._traps(path) if confidence >= self.trust.threshold()]
        found = self._infos(list(dict.fromkeys(ids))[: 2 * MAX_CANDIDATES], shown)
        items = [of_memory(info, "editor", score) for info, score in found]
        return self._pack(ask, budget, items, until, f"known about {', '.join(ask.files)}" if items else "")

    def _step(self, ask: Ask, budget: Budget, until: float) -> _Gathered:
        """Between steps: one thing, when one of the triggers fires."""
        trigger: Trigger | None = self.steps.step(ask.session, self.agent.shown(ask.session), self.trust.threshold())
        if trigger is None:
            return self._pack(ask, budget, (), until)
        items = [of_memory(info, "editor", score) for info, score in self._infos(trigger.ids, ())]
        return self._pack(ask, budget, items, until, trigger.why)

    def _take(self, ask: Ask, budget: Budget, until: float) -> _Gathered:
        """What the background agent has ready."""
        ready = {one.id: one.similarity for one in self.agent.take(ask.session)}
        phase = ask.phase or self.agent.phase(ask.session)
        items = [of_memory(info, "retrieval", ready[info.id]) for info, _ in self._infos(list(ready), ())]
        return self._pack(ask._replace(phase=phase), budget, items, until, "fits what the conversation is about" if items else "")

    # ---- what the background agent needs

    def vector(self, text: str) -> Sequence[float] | None:
        """See `injection.agent.Looking`."""
        embedder = self._vectors.query_embedder()
        if embedder is None:
            return None
        try:
            return [float(one) for one in query_vector(embedder, text[-MAX_QUERY:])]
        except EmbedderError as error:
            _log.warning("contexts are compared by words: %s", error)
            return None

    def words(self, text: str) -> Sequence[str]:
        """See `injection.agent.Looking`."""
        return query_words(text)

    def candidates(self, context: Context, vector: Sequence[float] | None) -> list[Candidate]:
        """See `injection.agent.Looking`: by vectors where there are any, else what a search finds."""
        index = self._projections.memories()
        embedder = self._vectors.query_embedder()
        found: list[tuple[str, float]]
        if vector is not None and embedder is not None and index.model_id == embedder.model_id and index.covered()[0]:
            import numpy as np

            found = index.near(np.asarray(vector, np.float32), 3 * MAX_CANDIDATES, MIN_SIMILARITY)
        elif context.text.strip():
            ask = Ask("take", text=context.text, files=context.files, phase=context.phase)
            found = [(info.id, score) for info, score in self._search(context.text, ask, MAX_CANDIDATES, time.monotonic() + 2)]
        else:
            found = []
        sure = {info.id for info, _ in self._infos([one for one, _ in found], ())}
        return [Candidate(one, score) for one, score in found if one in sure][:MAX_CANDIDATES]

    # ---- planning

    def plan(self, task: str, modules: Sequence[str], ask: Ask) -> Injection:
        """What past work says about a task, each kind of it together; asked for, so that trust levels do not count."""
        if not task.strip():
            raise BadInputError("the task is empty; say what is to be done", argument="task")
        check(ask)
        started = time.monotonic()
        budget = budget_for(ask.remaining)
        items: list[Item] = []
        for name, types in planning.PLAN_TYPES.items():
            found = self._found(task, ask._replace(files=tuple(modules)), planning.PLAN_EACH, types)
            items += [of_memory(info, "editor", score)._replace(title=f"{name}: {info.title}") for info, score in found]
        gathered = _Gathered(pack(distinct(items), _whole(budget.total), format_named(ask.form), count_tokens), "", [])
        return self._answer(ask._replace(point="plan"), budget, gathered, FULL, started)

    def relay(self, before: str, to: str, ask: Ask, work_unit: str = "") -> Injection:
        """What one phase hands the next: the session's own memories first, then what is known, of the types the next one needs."""
        types = planning.relay_types(to)
        planning.relay_types(before)
        check(ask)
        started = time.monotonic()
        index = self._projections.memories()
        own = index.rows(index.of_session(ask.session)) if ask.session and index.session(ask.session) is not None else {}
        chosen = [row.id for row in own.values() if row.type in types and row.status in LIVE_STATUSES]
        infos = sorted(self._infos(chosen, (), every=True), key=lambda one: (types.index(one[0].type), -one[1], one[0].id))
        items = [of_memory(info, "editor", score) for info, score in infos]
        about = ask.text or work_unit
        if about.strip():
            items += [of_memory(info, "retrieval", score) for info, score in self._found(about, ask, MAX_CANDIDATES, types)]
        budget = budget_for(ask.remaining)
        gathered = _Gathered(pack(distinct(items), budget, format_named(ask.form), count_tokens, to), f"{before} to {to}", [])
        return self._answer(ask._replace(point="relay"), budget, gathered, FULL, started)

    def prefetch(self, module: str, more: Sequence[planning.Wanted] = ()) -> Prefetch:
        """Files to read before work on a module.

        Args:
            module: a directory or file, from the root.
            more: files that other sources name.
        """
        name = module.strip("/")
        if not name or len(name) > 1_000:
            raise BadInputError("say which module: a directory or file of the project", argument="module", value=module)
        describer = self._book.describer()
        wanted = [*planning.wanted_of([describer.info(row) for row in self._kept().typed["prefetch_pattern"]], name), *more]
        root = self._root()
        files, left_out = planning.prefetched(wanted, lambda path: _tokens_of(root, path))
        notes = [] if wanted else [f"no past session says which files work on {name} begins with"]
        return Prefetch(name, files, sum(one.tokens for one in files), left_out, notes)

    def step_limit(self, module: str, base: int) -> StepLimit:
        """See `injection.planning.step_limit`."""
        describer = self._book.describer()
        return planning.step_limit(module, base, [describer.info(row) for row in self._kept().typed["task_calibration"]])

    def packed(self, answer: SearchAnswer, budget_tokens: int, form: str = "text") -> PackedText:
        """The hits of a search as one text within a budget."""
        if isinstance(budget_tokens, bool) or not 1 <= budget_tokens <= 1_000_000:
            raise BadInputError(f"budget_tokens is {budget_tokens!r}; give 1 to 1,000,000", argument="budget_tokens", value=budget_tokens)
        root = self._root()
        stale = set(answer.state.stale)
        items = [_of_hit(hit, root, stale) for hit in answer.hits]
        done = pack(items, _whole(budget_tokens), format_named(form), count_tokens, asked=True)
        return PackedText(done.text, form, done.tokens, budget_tokens, done.left_out)

    # ---- finding

    def _search(self, text: str, ask: Ask, k: int, until: float) -> list[tuple[MemoryInfo, float]]:
        """Memories for a text, by the one search there is."""
        left = until - time.monotonic()
        if left <= 0:
            return []
        request = Request(
            query=text[:MAX_QUERY],
            k=k,
            files=ask.files[:MAX_FILES],
            kinds=frozenset({"memory"}),
            phase=ask.phase,
            explain=False,
            deadline_s=left,
        )
        return [(hit.memory, hit.score) for hit in self._searcher.search(request, self._state).hits if hit.memory is not None]

    def _found(self, text: str, ask: Ask, k: int, types: Sequence[str]) -> list[tuple[MemoryInfo, float]]:
        request = Request(
            query=text[:MAX_QUERY], k=k, files=ask.files[:MAX_FILES], types=frozenset(types), kinds=frozenset({"memory"}), explain=False
        )
        return [(hit.memory, hit.score) for hit in self._searcher.search(request, self._state).hits if hit.memory is not None]

    def _answers(self, query: str) -> list[str]:
        """Memories that answer a search, best first."""
        if not query.strip():
            return []
        found = self._search(query, Ask("step"), 3, time.monotonic() + 2)
        return [info.id for info, score in found if score >= ANSWERS_SEARCH and self._is_sure(info)]

    def _traps(self, path: str) -> list[tuple[str, float]]:
        """Live traps about a file or code in it, surest first, ties by id: (id, confidence in use)."""
        index = self._projections.memories()
        view = self._projections.graph_if_ready()
        nodes = {file_id(self._book.project(), path)}
        if view is not None and path in view.path_number:
            nodes |= {view.ids[int(node)] for node in view.by_path(path)}
            if (file := view.file_node(path)) is not None:
                nodes.add(view.ids[file])
        now = self._book.clock.now()
        rows = [row for row in index.rows(index.about_any(nodes)).values() if row.type in TRAPS and self._may_show(row)]
        found = [(row.id, 1.0 if row.status == "pinned" else confidence_in_use(row, now, index.about(row.id))) for row in rows]
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def _about_files(self, files: Sequence[str], shown: frozenset[str]) -> list[tuple[MemoryInfo, float]]:
        """What is known about files, the surest of each first."""
        index = self._projections.memories()
        view = self._projections.graph_if_ready()
        nodes: set[str] = set()
        for path in files[:MAX_FILES]:
            nodes.add(file_id(self._book.project(), path))
            if view is not None and path in view.path_number:
                nodes |= {view.ids[int(node)] for node in view.by_path(path)}
        ids = sorted(index.about_any(nodes))
        found = self._infos(ids, shown)
        return sorted(found, key=lambda one: (-one[1], one[0].id))[:MAX_STANDING]

    def _kept(self) -> _Kept:
        """What is asked of all memories at once, kept until one of them changes; being shown is no change."""
        kept = self._standing
        if kept is None:
            turn = self._changes
            now = self._book.clock.now()
            live = [row for row in self._projections.memories().all_rows() if row.status in LIVE_STATUSES]
            rows = [row for row in live if row.status == "pinned" or row.scope in STANDING_SCOPES or row.type in STANDING_TYPES]
            rows.sort(key=lambda row: (row.status != "pinned", -importance_now(row, now) * confidence_in_use(row, now), row.id))
            typed = {name: [row for row in live if row.type == name] for name in PLANNED_TYPES}
            kept = _Kept([row.id for row in rows[: 4 * MAX_STANDING]], typed)
            if turn == self._changes:
                self._standing = kept
        return kept

    def _infos(self, ids: Sequence[str], shown: frozenset[str] | Sequence[str], *, every: bool = False) -> list[tuple[MemoryInfo, float]]:
        """Memories in the order of their ids, those that may be shown unasked (or `every` one), with importance × confidence."""
        index: MemoryIndex = self._projections.memories()
        rows = index.rows(one for one in ids if one not in shown)
        describer = self._book.describer()
        now = self._book.clock.now()
        found = []
        for one in ids:
            row = rows.get(one)
            if row is None or (not every and not self._may_show(row)):
                continue
            info = describer.info(row)
            if every or self._is_sure(info):
                found.append((info, importance_now(row, now) * info.confidence_in_use))
        return found

    def _may_show(self, row: MemoryRow) -> bool:
        """In use; and in a project without experience confirmed, for there everything new needs that."""
        if row.status not in LIVE_STATUSES:
            return False
        return row.status != "candidate" or self.trust.now().level() != "cautious"

    def _is_sure(self, info: MemoryInfo) -> bool:
        cautious = info.status == "candidate" and self.trust.now().level() == "cautious"
        return info.status == "pinned" or (info.confidence_in_use >= self.trust.threshold() and not cautious)

    def _state_notes(self) -> list[Item]:
        state = self._state()
        if state.state in ("indexing", "empty"):
            return [note("The first index is being made or is missing: impact analysis may be incomplete.")]
        return []

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


def check(ask: Ask) -> None:
    """Refuse what cannot be answered.

    Raises:
        BadInputError: a format, phase, name or number that cannot be.
    """
    format_named(ask.form)
    if ask.phase and ask.phase not in PHASES:
        raise BadInputError(f"{ask.phase!r} is no phase; phases are {', '.join(PHASES)}", argument="phase", value=ask.phase)
    if len(ask.session) > MAX_SESSION_NAME:
        raise BadInputError(
            f"the session's name has {len(ask.session):,} characters; give at most {MAX_SESSION_NAME}",
            argument="session",
            allowed=MAX_SESSION_NAME,
            found=len(ask.session),
        )
    if ask.point in ("step", "take") and not ask.session:
        raise BadInputError("say which session; what it was shown is known by its name", argument="session")
    if len(ask.files) > MAX_FILES:
        raise BadInputError(f"{len(ask.files):,} files are too many; name at most {MAX_FILES}", argument="files", allowed=MAX_FILES)


def _whole(tokens: int) -> Budget:
    """A budget any section may use up."""
    return Budget(tokens, tokens, tokens, tokens, tokens)


def _of_summary(one: SessionSummary, room: int) -> Item:
    """A session's summary, whole where two of its kind fit, else its one line."""
    whole = clean(one.markdown)
    text = whole if count_tokens(whole) <= room // 2 else clean(one.short)
    return Item("summaries", "summary", f"session:{one.session}", text, title=clean(one.title), untrusted=one.contaminated)


def _exact() -> bool:
    from graphmem.injection.tokens import is_exact

    return is_exact()


def _prefetch_item(module: str, files: Sequence[PrefetchedFile]) -> Item:
    listed = ", ".join(f"{plain_path(one.path)} ({one.why})" for one in files)
    return Item("editor", "file", f"prefetch:{module}", f"Work on {module} usually begins with: {listed}")


def _tokens_of(root: Path | None, path: str) -> int | None:
    """Tokens of a file of the project; None when it is not there, or outside."""
    if root is None:
        return None
    try:
        file = (root / path).resolve()
        if not file.is_relative_to(root.resolve()) or not file.is_file():
            return None
        return count_tokens(file.read_bytes()[: 1 << 20].decode("utf-8", "replace"))
    except OSError:
        return None


def _of_hit(hit: SearchHit, root: Path | None, stale: set[str]) -> Item:
    """A hit of a search as an item: a memory whole, code with its lines as they are in the tree, or its snippet where they moved."""
    if hit.memory is not None:
        return of_memory(hit.memory, "retrieval", hit.score)
    lines = _lines(root, hit) if hit.path and hit.path not in stale else None
    item = Item("retrieval", "code", hit.node or hit.id, clean(hit.snippet), title=hit.title, path=hit.path, score=hit.score)
    if lines is None:
        return item._replace(start_line=hit.start_line, end_line=hit.end_line)
    return item._replace(text="\n".join(lines), start_line=hit.start_line, end_line=hit.start_line + len(lines) - 1)


def _lines(root: Path | None, hit: SearchHit) -> list[str] | None:
    if root is None or not hit.start_line:
        return None
    try:
        file = (root / hit.path).resolve()
        if not file.is_relative_to(root.resolve()) or not file.is_file():  # a pipe in its place would be waited for
            return None
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = clean(text).split("\n")[hit.start_line - 1 : min(hit.end_line, hit.start_line + MAX_LINES - 1)]
    return [line.rstrip() for line in found] or None
