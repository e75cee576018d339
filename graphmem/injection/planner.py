"""Find memories and files for planned work, before a task or a phase.

A relay passes memories from one phase of work to the next. A prefetch names files to read before the work begins. A step limit is a planned
number of steps, multiplied by the ratio of actual to planned steps in past work.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers.injection import PackedText, Prefetch, StepLimit
from graphmem.errors import BadInputError
from graphmem.injection import planning
from graphmem.injection.agent import MAX_CANDIDATES
from graphmem.injection.ask import Ask, Gathered, check, whole_budget
from graphmem.injection.budgets import budget_for
from graphmem.injection.formats import format_named
from graphmem.injection.items import Item, distinct, of_memory
from graphmem.injection.packing import pack
from graphmem.injection.project_items import of_hit, of_prefetch, tokens_of
from graphmem.injection.tokens import count_tokens
from graphmem.knowledge import is_held
from graphmem.memory.texts.types import LIVE_STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from graphmem.answers import SearchAnswer
    from graphmem.injection.finder import Finder
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.projection.projections import Projections

MAX_MODULE: Final = 1_000  # characters


class Moving(NamedTuple):
    """Files that often change together with a given set of files."""

    files: list[planning.Wanted]
    note: str  # why the history suggests none, or ""


class Planner:
    """Finds memories and files for planned work in one project. Thread-safe.

    Args:
        finder: finds memories.
        book: repository of the memories.
        projections: copies of the memories in memory.
        root: returns the root directory of the project, if known.
        moving: returns the files that often change together with given files or folders. If its second argument is True, it waits until
            the Git history is read.
    """

    def __init__(
        self,
        finder: Finder,
        book: MemoryRepository,
        projections: Projections,
        root: Callable[[], Path | None],
        moving: Callable[[Sequence[str], bool], Moving],
    ) -> None:
        self._finder = finder
        self._book = book
        self._projections = projections
        self._root = root
        self._moving = moving

    def plan(self, task: str, modules: Sequence[str], ask: Ask) -> Gathered:
        """Return memories about earlier work on a task, packed by type.

        `modules` are files or folders of the work. Memories of any confidence are returned.
        """
        if not task.strip():
            raise BadInputError("the description of the task is empty; describe the work", argument="task")
        check(ask)
        budget = budget_for(ask.remaining)
        items: list[Item] = []
        for name, types in planning.PLAN_TYPES.items():
            found = self._finder.of_types(task, ask._replace(files=tuple(modules)), planning.PLAN_EACH, types)
            items += [of_memory(info, "editor", score)._replace(title=f"{name}: {info.title}") for info, score in found]
        return Gathered(pack(distinct(items), whole_budget(budget.total), format_named(ask.form), count_tokens))

    def relay(self, before: str, to: str, ask: Ask, work_unit: str = "") -> Gathered:
        """Return memories that one phase of work passes to the next, as one text.

        `before` and `to` are the two phases. Only memories of the types that the phase `to` needs are returned. Memories that the session
        made come first, then memories about the task (`ask.text` or `work_unit`).
        """
        types = planning.relay_types(to)
        planning.relay_types(before)
        check(ask)
        index = self._projections.memories()
        own = index.rows(index.of_session(ask.session)) if ask.session and index.session(ask.session) is not None else {}
        chosen = [row.id for row in own.values() if row.type in types and row.status in LIVE_STATUSES]
        infos = sorted(self._finder.infos(chosen, (), every=True), key=lambda one: (types.index(one[0].type), -one[1], one[0].id))
        items = [of_memory(info, "editor", score) for info, score in infos]
        about = ask.text or work_unit
        if about.strip():
            items += [of_memory(info, "retrieval", score) for info, score in self._finder.of_types(about, ask, MAX_CANDIDATES, types)]
        leaning = self._finder.leaning(to)
        packed = pack(distinct(items), budget_for(ask.remaining), format_named(ask.form), count_tokens, to, leaning=leaning)
        return Gathered(packed, f"{before} to {to}")

    def prefetch(self, module: str, *, wait: bool = True) -> Prefetch:
        """Return files to read before work on a module.

        Past sessions often read these files, or the files often changed together with the module.

        Args:
            module: a directory or file, relative to the root.
            wait: True reads the Git history first if necessary; False omits an unread history and says so in a note.
        """
        name = module.strip("/")
        if not name or len(name) > MAX_MODULE:
            raise BadInputError(
                "the module to be worked on is missing; name a directory or file of the project", argument="module", value=module
            )
        describer = self._book.describer()
        read = planning.wanted_of([describer.info(row) for row in self._finder.kept().typed["prefetch_pattern"]], name)
        moving = self._moving([name], wait)
        root = self._root()
        files, left_out = planning.prefetched([*read, *moving.files], lambda path: tokens_of(root, path))
        notes = [] if files or left_out else [f"neither past sessions nor the history say which files work on {name} begins with"]
        return Prefetch(name, files, sum(one.tokens for one in files), left_out, [*notes, *filter(None, [moving.note])])

    def to_read_first(self, files: Sequence[str], until: float) -> tuple[list[Item], list[str]]:
        """Return items that name files to read first, and notes.

        `files` are the open files. For each folder of an open file, an item names files to read first; see `prefetch`. A last item names
        files that often change together with the open files. `until` is a deadline on the clock of `time.monotonic`. A note tells how many
        folders could not be looked up in time.
        """
        folders = sorted({path.rpartition("/")[0] for path in files if "/" in path})
        items: list[Item] = []
        for place, folder in enumerate(folders):
            if time.monotonic() >= until:
                return items, [f"no time to look up which files work on {len(folders) - place} of {len(folders)} folders begins with"]
            if found := self.prefetch(folder, wait=False).files:
                items.append(of_prefetch(folder, found))
        if files:
            root, others = self._root(), [one for one in self._moving(files, False).files if one.path not in files]
            if found := planning.prefetched(others, lambda path: tokens_of(root, path))[0]:
                items.append(of_prefetch("the open files", found))
        return items, []

    def step_limit(self, module: str, base: int) -> StepLimit:
        """Return a limit of an agent's steps, from the planned number `base`.

        The planned number is adjusted to past work in the module; see `planning.step_limit`.
        """
        describer = self._book.describer()
        return planning.step_limit(module, base, [describer.info(row) for row in self._finder.kept().typed["task_calibration"]])

    def packed(self, answer: SearchAnswer, budget_tokens: int, form: str = "text") -> PackedText:
        """Pack search hits into one text for an agent, within a budget.

        Memories that await review are left out. Such memories are counted in the result's `left_out`.
        """
        if isinstance(budget_tokens, bool) or not 1 <= budget_tokens <= 1_000_000:
            raise BadInputError(
                f"budget_tokens is {budget_tokens!r}; give a budget of 1 to 1,000,000 tokens", argument="budget_tokens", value=budget_tokens
            )
        root = self._root()
        stale = set(answer.state.stale)
        shown = [hit for hit in answer.hits if hit.memory is None or not is_held(hit.memory)]
        items = [of_hit(hit, root, stale) for hit in shown]
        done = pack(items, whole_budget(budget_tokens), format_named(form), count_tokens, explicit=True)
        held = len(answer.hits) - len(shown)
        left_out = {**done.left_out, "review": held} if held else done.left_out
        return PackedText(done.text, form, done.tokens, budget_tokens, left_out)
