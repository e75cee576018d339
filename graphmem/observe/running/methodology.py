"""Methodology plug-ins: a team's phases, units of work and hand-overs.

A plug-in maps the team's phases to the six phases of graphmem, and names the team's unit of work (task). A package registers one in the
entry point group `graphmem.methodologies`. The value is a `Methodology` or a function that returns one:

    [project.entry-points."graphmem.methodologies"]
    kanban = "our_kanban.memory:kanban"

A plug-in that fails to load is named in the log and in `problems`. Sessions continue without it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from graphmem.memory.texts.types import TYPES, MemoryType
from graphmem.observe.model import PHASES

GROUP: Final = "graphmem.methodologies"
NATIVE: Final = "native"
LABEL_CHARACTERS: Final = 200
# Fields with which a session describes its unit of work. A methodology reads those it knows.
UNIT_KEYS: Final = frozenset(
    {"work_unit", "spec", "spec_number", "subtask", "subtask_id", "task", "feature", "test", "behaviour", "behavior", "epic", "story"}
)
log = logging.getLogger("graphmem.observe")


class WorkUnit(NamedTuple):
    """The current task (unit of work), with the names that a team gives it."""

    methodology: str
    hierarchy: tuple[str, ...]  # from the outermost: ("Epic 3", "Story 2")
    label: str  # one line; "" for none


class Relay(NamedTuple):
    """A hand-over from one stage of work to the next.

    `types` are the types of memories that the next stage receives.
    """

    source: str  # a stage
    target: str
    types: tuple[str, ...] = ()  # types of memory that are passed on; () for all


class Methodology(NamedTuple):
    """A team's way of working: its phases, units of work and hand-overs.

    The function `unit` makes the unit of work (task) from the fields that a session reported. Examples of fields are `work_unit`, `title`
    and `branch`.
    """

    name: str
    title: str
    phases: Mapping[str, str]  # the methodology's own words, lower case, to one of PHASES
    unit: Callable[[Mapping[str, Any]], WorkUnit]
    relays: tuple[Relay, ...] = ()
    memory_types: tuple[MemoryType, ...] = ()  # its own, in addition to those of graphmem

    def phase_of(self, word: str) -> str:
        """Map a team's word to one of the six phases of work, such as "implement".

        An unknown word gives "explore", and "" gives "".
        """
        plain = re.sub(r"[\s_-]+", "_", word.strip().lower())
        if not plain:
            return ""
        return plain if plain in PHASES else self.phases.get(plain, "explore")

    def handed_over(self, source: str, target: str) -> Relay | None:
        """Return what stage `source` of the work passes on to stage `target`.

        The result is None if the methodology defines nothing for these two stages.
        """
        return next((relay for relay in self.relays if (relay.source, relay.target) == (source, target)), None)


def _reported(context: Mapping[str, object], *names: str) -> str:
    return next((" ".join(str(context[name]).split()) for name in names if context.get(name)), "")[:LABEL_CHARACTERS]


def _native_unit(context: Mapping[str, object]) -> WorkUnit:
    spec, task = _reported(context, "spec", "spec_number"), _reported(context, "subtask", "subtask_id", "task")
    label = " / ".join(filter(None, (f"Spec {spec}" if spec else "", f"Subtask {task}" if task else ""))) or _reported(context, "work_unit")
    return WorkUnit(NATIVE, tuple(filter(None, (spec, task))) or ((label,) if label else ()), label)


def _tdd_unit(context: Mapping[str, object]) -> WorkUnit:
    feature, test = _reported(context, "feature", "work_unit"), _reported(context, "test", "behaviour", "behavior")
    return WorkUnit("tdd", tuple(filter(None, (feature, test))), " · ".join(filter(None, (feature, test))))


_STORY: Final = re.compile(r"(?:story|epic)?[\s_-]*(?P<epic>\d+)[._-](?P<story>\d+)", re.IGNORECASE)


def _bmad_unit(context: Mapping[str, object]) -> WorkUnit:
    epic, story = _reported(context, "epic"), _reported(context, "story")
    if not (epic and story) and (found := _STORY.search(_reported(context, "story", "work_unit", "branch"))):
        epic, story = found["epic"], found["story"]
    hierarchy = tuple(filter(None, (f"Epic {epic}" if epic else "", f"Story {story}" if story else "")))
    return WorkUnit("bmad", hierarchy, " / ".join(hierarchy) or _reported(context, "work_unit"))


BUILT_IN: Final = (
    Methodology(
        NATIVE,
        "Specifications and subtasks",
        {
            "planning": "define", "plan": "define", "spec": "define", "requirements": "define", "coding": "implement", "build": "implement",
            "implementation": "implement", "qa_review": "validate", "review": "validate", "testing": "validate", "qa_fix": "refine",
            "debugging": "refine", "fix": "refine", "refactor": "refine", "insights": "explore", "research": "explore",
            "retrospective": "reflect",
        },
        _native_unit,
        (
            Relay("planner", "coder"),
            Relay("coder", "qa_reviewer"),
            Relay("qa_reviewer", "qa_fixer", ("error_pattern", "requirement")),
        ),
    ),
    Methodology(
        "tdd",
        "Test-driven development",
        {"red": "define", "test": "define", "green": "implement", "make_it_pass": "implement", "refactor": "refine", "blue": "refine",
         "verify": "validate", "spike": "explore"},
        _tdd_unit,
        (
            Relay("red", "green", ("requirement", "error_pattern", "gotcha")),
            Relay("green", "refactor", ("pattern", "gotcha", "module_insight")),
            Relay("refactor", "red"),
        ),
    ),
    Methodology(
        "bmad",
        "BMAD: agents of one team",
        {"analysis": "explore", "brainstorm": "explore", "brief": "define", "prd": "define", "planning": "define", "architecture": "define",
         "solutioning": "define", "story": "define", "create_story": "define", "dev": "implement", "dev_story": "implement",
         "implementation": "implement", "qa": "validate", "review": "validate", "code_review": "validate", "correct_course": "refine",
         "fix": "refine", "retrospective": "reflect"},
        _bmad_unit,
        (
            Relay("analyst", "pm", ("fact", "requirement", "decision")),
            Relay("pm", "architect", ("requirement", "decision")),
            Relay("architect", "sm", ("decision", "pattern")),
            Relay("sm", "dev"),
            Relay("dev", "qa"),
            Relay("qa", "dev", ("error_pattern", "requirement", "gotcha")),
        ),
    ),
)  # fmt: skip


class Methodologies(NamedTuple):
    """The methodologies that were loaded, and a sentence for each failure."""

    known: Mapping[str, Methodology]
    problems: tuple[str, ...]

    def of(self, name: str) -> Methodology:
        """Return the methodology named `name`, or graphmem's own if none has it."""
        return self.known.get(name.strip().lower() or NATIVE, self.known[NATIVE])


@lru_cache(maxsize=1)
def methodologies() -> Methodologies:
    """Return built-in methodologies and those of installed packages.

    The result is cached. `methodologies.cache_clear()` makes the next call search the packages again.
    """
    known = {one.name: one for one in BUILT_IN}
    problems: list[str] = []
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            made = point.load()
            made = made() if callable(made) and not isinstance(made, Methodology) else made
            _check(made, known)
        except Exception as error:  # noqa: BLE001 - another's code: whatever it does is said, and nothing else depends on it
            problems.append(f"the methodology {point.name!r} ({point.value}) is ignored: {error}")
            log.warning("%s", problems[-1])
            continue
        known[made.name] = made
        for kind in made.memory_types:
            TYPES.setdefault(kind.name, kind)
    return Methodologies(known, tuple(problems))


def _check(made: object, known: Mapping[str, Methodology]) -> None:
    if not isinstance(made, Methodology):
        raise TypeError(
            f"the methodology plug-in returned an object of type {type(made).__name__}; it must return a "
            "graphmem.observe.running.methodology.Methodology"
        )
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", made.name):
        raise ValueError(
            f"the methodology plug-in has the invalid name {made.name!r}; use up to 40 lower case letters, "
            "digits, hyphens and underscores, beginning with a letter"
        )
    if made.name in known:
        raise ValueError(f"another methodology plug-in already has the name {made.name!r}; rename one of the two")
    if wrong := sorted(set(made.phases.values()) - set(PHASES)):
        raise ValueError(
            f"`phases` of the methodology plug-in {made.name!r} maps to the unknown phases {', '.join(wrong)}; use {', '.join(PHASES)}"
        )
    if clash := sorted(kind.name for kind in made.memory_types if kind.name in TYPES and TYPES[kind.name] != kind):
        raise ValueError(
            f"the plug-in {made.name!r}, which defines a team's phases of work, defines the memory type {clash[0]!r}, but graphmem or "
            "another plug-in already defines it differently; rename the type in the plug-in"
        )
    unknown = sorted({name for relay in made.relays for name in relay.types} - set(TYPES) - {kind.name for kind in made.memory_types})
    if unknown:
        raise ValueError(
            f"`relays` of the methodology plug-in {made.name!r} names the unknown memory type {unknown[0]!r}; "
            "declare the type in `memory_types` of the plug-in"
        )
