"""Collect the items that an agent is shown at each point of a session."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.injection.agent import MAX_CANDIDATES, ContextAgent
from graphmem.injection.ask import Ask, Gathered
from graphmem.injection.beginnings import Beginnings
from graphmem.injection.budgets import Budget
from graphmem.injection.edit_notes import notes
from graphmem.injection.edits import MAX_TRAPS as EDIT_TRAPS
from graphmem.injection.edits import EditBook
from graphmem.injection.finder import Finder
from graphmem.injection.formats import format_named
from graphmem.injection.items import Item, distinct, note, of_memory, of_rules
from graphmem.injection.packing import pack
from graphmem.injection.planner import Planner
from graphmem.injection.project_items import of_places, of_summary
from graphmem.injection.steps import FILE, StepTriggers, Trigger
from graphmem.injection.tokens import count_tokens, is_exact
from graphmem.memory.files.rules import endings
from graphmem.memory.texts.types import COMMIT, SEEDED, TRAPS

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo, SearchHit
    from graphmem.injection.consequences import Consequences, Edit
    from graphmem.injection.project_calls import ProjectCalls

_ORIENTATION: Final = frozenset({"fact", "module_insight", "workflow_recipe"})  # types of memories that describe a project
MAX_PLACES: Final = 5  # files that a first message concerns
MAX_LESSONS: Final = 1  # unconfirmed lessons of commits that are shown about a file that a tool used
MAX_TRAPS: Final = 20  # traps for one call of a tool, before packing


class Points:
    """Collects and packs the items for each point (moment) of a session.

    Args:
        finder: finds memories.
        planner: finds files to read first.
        agent: knows what each session was shown, and prepares memories.
        steps: decides what is shown between two steps.
        edits: knows the edits of each session.
        beginnings: knows whose start is still to be shown.
        project: functions of the project.
    """

    def __init__(
        self,
        finder: Finder,
        planner: Planner,
        agent: ContextAgent,
        steps: StepTriggers,
        edits: EditBook,
        beginnings: Beginnings,
        project: ProjectCalls,
    ) -> None:
        self._finder = finder
        self._planner = planner
        self._agent = agent
        self._steps = steps
        self._edits = edits
        self._beginnings = beginnings
        self._project = project
        self._trust = finder.trust

    def start(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return the context at the start of a session, for the system prompt."""
        items, notes = self._standing(ask)
        return self.pack(ask, budget, items, until, notes=notes)

    def _standing(self, ask: Ask) -> tuple[list[Item], list[str]]:
        """Return the items that apply to a whole session, and notes.

        The notes say what was left out or could not be read. The items are rules and standing memories. Standing memories are pinned
        memories, memories about the user or a module, global memories and workflow recipes.
        """
        self._project.refresh()
        rules, notes = self._project.rules(None)
        mine = {one.name for one in self._project.rules(ask.files).rules} if ask.files else set[str]()
        there = self._finder.endings() if any(one.scope for one in rules) else frozenset[str]()
        apply = [one for one in rules if not one.scope or one.name in mine or endings(one.scope) & there]
        items = [*self._state_notes(), *of_rules(apply)]
        kept = self._finder.kept()
        for info, score in self._finder.infos(kept.standing, self._shown(ask), ask.session):
            items.append(of_memory(info, "always" if info.status == "pinned" else "retrieval", score))
        if kept.more:
            notes = [*notes, f"{kept.more:,} more memories apply to every session and were not considered"]
        return items, notes

    def prompt(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return the context for the first message of a session.

        The context has rules for the open files, and memories about these files and about the message. The context also names files to read
        first. It has summaries of last sessions that changed these files or the file that fits the message best. If no file fits the
        message, the person may go on with earlier work, so the summaries of all last sessions are included. If the context of the session's
        start was late, it is included. For a subagent, the message is its task. It gets the context of the start, and no summaries.
        """
        shown = self._shown(ask)
        is_whole = bool(ask.window) or self._beginnings.owes_start(ask.session)
        standing, standing_notes = self._standing(ask) if is_whole else ([], [])
        about, more = self._finder.about_files(ask.files, shown, ask.session)
        notes = [f"{more:,} more memories are about these files; `search` finds them"] if more else []
        near = {*ask.files}
        places: list[SearchHit] = []
        items = [of_memory(info, "editor", score) for info, score in about]
        if ask.text.strip():
            found = self._finder.search(ask.text, ask, MAX_CANDIDATES, until)
            places = self._finder.places(ask.text, ask.files, until)[:MAX_PLACES]
            near |= {one.path for one in places}
            items += [
                of_memory(info, "retrieval", score)
                for info, score in found
                if info.id not in shown
                and self._finder.is_sure(info, ask.session)
                and (not places or not (_is_lesson(info) or _is_orientation(info)) or _is_about(info, near))
            ]
            if places:
                items.append(of_places(places))
        to_read, missed = self._planner.to_read_first(ask.files, until)
        items += to_read
        if not ask.window:
            likely = {*ask.files, *(one.path for one in places[:1])}
            last = [one for one in self._project.summaries() if not near or any(f"`{path}`" in one.markdown for path in likely)]
            items += [of_summary(one, budget.summaries) for one in last]
        return self.pack(
            ask, budget, [*standing, *self._rules_of(ask.files, shown), *items], until, notes=[*standing_notes, *notes, *missed]
        )

    def _rules_of(self, files: Sequence[str], shown: frozenset[str]) -> list[Item]:
        """Return people's rules that cover the given files and were not shown yet."""
        scoped = [one for one in self._project.rules(files).rules if one.scope] if files else []
        return [one for one in of_rules(scoped) if one.id not in shown]

    def tool(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return rules and warnings about the files that an agent's tool used."""
        shown = self._shown(ask)
        rules = self._rules_of(ask.files, shown)
        traps = {one: None for path in ask.files for one, sure in self._finder.traps(path) if sure >= self._trust.threshold()}
        ids = [one for one in traps if one not in shown]
        infos = self._finder.infos(ids[:MAX_TRAPS], (), ask.session, fades=False)
        few = [one.id for one, _ in infos if _is_lesson(one)][:MAX_LESSONS]
        items = [of_memory(info, "editor", score) for info, score in infos if not _is_lesson(info) or info.id in few]
        notes = [f"{len(ids) - MAX_TRAPS:,} more traps of these files; `search` finds them"] if len(ids) > MAX_TRAPS else []
        why = f"known about {', '.join(ask.files)}" if items or rules else ""
        return self.pack(ask, budget, [*rules, *items], until, why, notes)

    def step(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return the items to show between two steps (tool calls) of an agent.

        A trigger is a reason to show something, such as a warning about a file that was just read. The trigger determines the items.
        Without a trigger, there are none.
        """
        trigger: Trigger | None = self._steps.step(ask.session, self._shown(ask), self._trust.threshold())
        if trigger is None:
            return self.pack(ask, budget, (), until)
        items = [
            of_memory(info, "editor", score) for info, score in self._finder.infos(trigger.ids, (), ask.session, fades=trigger.name != FILE)
        ]
        return self.pack(ask, budget, items, until, trigger.why)

    def take(self, ask: Ask, budget: Budget, until: float) -> Gathered:
        """Return memories that were prepared in the background, as one text."""
        found, said = self._agent.take(ask.session)
        ready = {one.id: one.similarity for one in found}
        phase = ask.phase or self._agent.phase(ask.session)
        items = [of_memory(info, "retrieval", ready[info.id]) for info, _ in self._finder.infos(list(ready), (), ask.session)]
        why = "fits what the conversation is about" if items else ""
        return self.pack(ask._replace(phase=phase), budget, items, until, why, [said] if said and items else [])

    def about_edit(self, ask: Ask, edits: Sequence[Edit], budget: Budget, until: float) -> tuple[Gathered, Consequences | None]:
        """Return what to show before edits, and the consequences not shown yet."""
        found = self._project.advise(edits)
        fresh = self._edits.unseen(ask.session, found, ask.window) if found is not None else None
        rules = self._rules_of([*dict.fromkeys(one.path for one in edits)], self._shown(ask))
        if fresh is None:
            return self.pack(ask, budget, rules, until, f"rules of {edits[0].path}" if rules else ""), None
        items = [*rules, *self.advice(ask, fresh)]
        why = f"before an edit of {', '.join(one.path for one in edits[:1])}" if items else ""
        return self.pack(ask, budget, items, until, why), fresh

    def advice(self, ask: Ask, found: Consequences) -> list[Item]:
        """Return the warnings and notes about an edit, most important first."""
        traps = [
            (info, score)
            for info, score in self._finder.infos(found.memories, self._shown(ask), ask.session, fades=False)
            if info.type in TRAPS and (not _is_lesson(info) or any(one.name in found.targets for one in info.about))
        ]
        return [*(of_memory(info, "editor", score) for info, score in traps[:EDIT_TRAPS]), *notes(found, self._edits.command)]

    def pack(self, ask: Ask, budget: Budget, items: Sequence[Item], until: float, why: str = "", notes: Sequence[str] = ()) -> Gathered:
        """Pack items into one text; none at all after the time `until`.

        `why` is the reason for showing them, and `notes` are further sentences; both become fields of the result.
        """
        if time.monotonic() >= until:
            items = ()
        said = [] if is_exact() else ["no tokenizer vocabulary is installed, so token counts are rough upper bounds"]
        leaning = self._finder.leaning(ask.phase)
        packed = pack(distinct(items), budget, format_named(ask.form), count_tokens, ask.phase, leaning=leaning)
        return Gathered(packed, why, [*said, *notes])

    def _shown(self, ask: Ask) -> frozenset[str]:
        return self._agent.shown(ask.session, ask.window) if ask.session else frozenset()

    def _state_notes(self) -> list[Item]:
        if not self._project.state().generation:  # a later run answers from the index before it
            return [note("The first index is being made or is missing: impact analysis may be incomplete.")]
        return []


def _is_about(info: MemoryInfo, paths: Collection[str]) -> bool:
    """Whether a memory is about one of some files, or about code in them."""
    return any(one.name.partition(":")[0] in paths for one in info.about)


def _is_orientation(info: MemoryInfo) -> bool:
    """Whether a memory repeats the README, a manifest or the CI file.

    Their words are common, so a message about code meets them by chance.
    """
    return info.source == SEEDED and info.type in _ORIENTATION


def _is_lesson(info: MemoryInfo) -> bool:
    """Whether a memory is a commit's lesson (its message), not yet confirmed.

    Most such lessons are about a fault that was fixed long ago, so few of them are shown.
    """
    return info.source == COMMIT and info.status == "candidate"
