"""Tables of the types of memories and of the sources of memories.

A type decides how fast a memory's confidence decays and how long the memory is kept. A source (the kind of author) decides how far a memory
is trusted and which status the memory starts with. Each type and each source is a row of a table here, so that a new one needs no new
module.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple, TypedDict, get_args

from graphmem.knowledge import LESSON_OF_COMMIT, RelationKind


class MemoryItem(TypedDict, total=False):
    """The input for one new memory: arguments of `remember`, by name."""

    id: str
    content: str
    type: str
    title: str | None
    source: str
    scope: str
    tags: list[str]
    files: list[str]
    details: dict[str, Any] | None
    confidence: float
    importance: float
    contaminated: bool
    session: str
    commit_sha: str | None
    created_at: str
    work_unit: dict[str, object] | None
    vector: Any


class Extra(NamedTuple):
    """An additional field that memories of one type have.

    An example is the field `fix` of an error.
    """

    name: str
    kind: str  # text | number | count | time | texts | steps: rows of fields.EXTRA_KINDS
    required: bool = False


class MemoryType(NamedTuple):
    """A type of memory: its half-life, its expiry, its fields."""

    name: str
    half_life_days: float | None  # None: confidence never fades
    ttl_days: float | None  # without use; None: for ever
    ttl_confirmed_days: float | None  # the same once it is confirmed
    holds: str
    extras: tuple[Extra, ...] = ()


def _type(
    name: str, half_life: float | None, ttl: float | None, holds: str, *extras: Extra, confirmed: float | str | None = "same"
) -> tuple[str, MemoryType]:
    return name, MemoryType(name, half_life, ttl, ttl if isinstance(confirmed, str) else confirmed, holds, extras)


TYPES: Final[dict[str, MemoryType]] = dict(
    [
        _type("gotcha", 60, 30, "a trap, a non-obvious constraint, a warning", confirmed=180),
        _type(
            "decision",
            None,
            90,
            "an architectural decision and why",
            Extra("rationale", "text"),
            Extra("alternatives", "texts"),
            confirmed=None,
        ),
        _type("preference", 90, 365, "a coding or tooling preference"),
        _type("pattern", 180, 180, "a reusable implementation pattern or convention"),
        _type("requirement", None, None, "a requirement, functional or not"),
        _type("error_pattern", 60, 90, "a recurring error and its fix", Extra("error_fingerprint", "text"), Extra("fix", "text")),
        _type("module_insight", 90, 21, "what a module is for, a discovery about it", confirmed=180),
        _type(
            "prefetch_pattern",
            60,
            90,
            "files read together always (over 80 % of sessions) or often (over 50 %)",
            Extra("always_read", "texts"),
            Extra("often_read", "texts"),
            Extra("module", "text"),
            Extra("sessions", "count"),
        ),
        _type("work_state", 7, 14, "partial work, for continuing later"),
        _type(
            "causal_dependency",
            120,
            180,
            "file A must change when B does",
            Extra("from", "text", required=True),
            Extra("to", "text", required=True),
            Extra("support", "count"),
            Extra("confidence", "number"),
        ),
        _type(
            "task_calibration",
            180,
            365,
            "actual over planned steps of a module",
            Extra("module", "text"),
            Extra("methodology", "text"),
            Extra("actual", "number"),
            Extra("planned", "number"),
            Extra("ratio", "number"),
            Extra("samples", "count"),
        ),
        _type(
            "e2e_observation",
            30,
            60,
            "a fact about the behaviour of a user interface",
            Extra("kind", "text"),  # precondition, timing, ui_behavior, test_sequence, mcp_gotcha
        ),
        _type(
            "dead_end",
            90,
            90,
            "an approach tried and abandoned",
            Extra("approach", "text"),
            Extra("why_failed", "text"),
            Extra("alternative", "text"),
            Extra("task", "text"),
        ),
        _type("work_unit_outcome", 90, 180, "the result of a unit of work"),
        _type(
            "workflow_recipe",
            120,
            180,
            "steps for a kind of task",
            Extra("task_pattern", "text"),
            Extra("steps", "steps"),
            Extra("success_count", "count"),
            Extra("last_validated_at", "time"),
        ),
        _type("context_cost", 60, 90, "token cost of working in a module", Extra("module", "text"), Extra("tokens", "count")),
        _type("fact", 30, 180, "a plain fact about the codebase, the stack, an entity"),
        _type("correction", 365, None, "a correction of the agent by the user"),
        _type("observation", 7, 21, "a low-confidence inference"),
    ]
)

# Names that other tools use, accepted on input.
TYPE_ALIASES: Final[dict[str, str]] = {
    "architecture": "decision",
    "warning": "gotcha",
    "discovery": "module_insight",
    "error": "error_pattern",
    "bugfix": "error_pattern",
    "stack": "fact",
    "entity": "fact",
    "general": "fact",
    "conventions": "pattern",
    "file_change": "work_unit_outcome",
    "change": "work_unit_outcome",
    "feature": "work_unit_outcome",
    "refactor": "work_unit_outcome",
    "task_progress": "work_state",
}

_CODE: Final = r"(?:`[^`\n]+`|\b\w+\(|\b[a-z]\w*_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Za-z_]\w*\.[A-Za-z_]\w*)"
_SAID: Final = r"^\W*(?:(?:we|i|have|has|just|i've|we've|we have|i have)\s+)*"  # the start of a sentence about completed work

# Tried in this order; the first match decides. The result of a unit of work and an error need wording of their own, because a fact may well
# say "new", "update" or "crash".
_CLASSIFIER: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(words, re.IGNORECASE if flags else 0), name)
    for words, name, flags in (
        (
            r"\b(?:careful|beware|watch out|caution|gotchas?|pitfalls?|footguns?|caveats?|traps?|must not|mustn't|achtung|vorsicht)\b"
            r"|\bbreaks? (?:if|when|unless)\b|^\W*warning\b",
            "gotcha",
            True,
        ),
        (
            _SAID + r"(?:fixed\b|fixes\b|fix:|bug ?fix\b|bug:|error:)|\b(?:is|was|were|been|got) fixed by\b|\bthe fix (?:is|was)\b",
            "error_pattern",
            True,
        ),
        (r"\bcrash(?:e[sd]|ing)?\b", "gotcha", True),
        # Case-sensitive: capitals make the name.
        (rf"\b(?:[Nn]ever|NEVER|[Dd]on['’]t|[Dd]o not|DO NOT)\b[^.!?\n]*?{_CODE}", "gotcha", False),
        (r"\b(?:decid(?:e[sd]?|ing)|chose|chosen|decisions?|entschieden|entscheidung(?:en)?)\b", "decision", True),
        (r"\b(?:(?<!not )found|discover(?:s|ed|y)?|learn(?:s|ed|t)?)\b", "module_insight", True),
        (_SAID + r"(?:added|created|refactored|restructured|changed|updated|modified)\b", "work_unit_outcome", True),
        (
            r"\b(?:always|never|prefer(?:s|red)?|immer|niemals|bevorzug(?:e|en|t)|ich mag)\b"
            r"|^\W*I(?:'d| would)? (?:want|like|love|hate|dislike)\b",
            "preference",
            True,
        ),
    )
)
UNTYPED: Final = "observation"  # the type when no word decides
# A low-confidence inference fades in days. A memory that somebody kept on purpose lives as long as a fact, whatever type its words suggest.
TAUGHT_HALF_LIFE_DAYS: Final = TYPES["fact"].half_life_days


def classify(content: str) -> str:
    """Guess the type of a memory from its words; default `observation`."""
    return next((name for pattern, name in _CLASSIFIER if pattern.search(content)), UNTYPED)


class Source(NamedTuple):
    """A kind of author of memories, and how far the author is trusted."""

    name: str
    trust: float  # factor in ranking
    status: str  # initial status of a memory
    needs_review: bool
    confidence: float  # default if the caller gives none
    origin: str  # default if the caller gives none


SOURCES: Final[dict[str, Source]] = {
    row.name: row
    for row in (
        Source("user_taught", 1.4, "confirmed", False, 0.95, "user"),
        Source("agent_explicit", 1.2, "confirmed", False, 0.85, "agent"),
        Source("qa_auto", 1.1, "candidate", False, 0.75, "tool"),
        Source("mcp_auto", 1.0, "candidate", True, 0.7, "tool"),
        Source("commit_auto", 1.0, "candidate", False, 0.75, "repository"),
        Source("imported", 1.0, "confirmed", False, 0.8, "repository"),
        Source("observer_inferred", 0.85, "candidate", False, 0.6, "agent"),
        Source("seeded", 0.5, "confirmed", False, 0.85, "repository"),
    )
}

COMMIT: Final = LESSON_OF_COMMIT  # source of lessons of commits, see `history.git_lessons`
SEEDED: Final = "seeded"  # source of memories from files of the project, see `memory.seeds.seeds`
FROM_INDEX: Final = frozenset({COMMIT, SEEDED})  # sources of the memories that an index run writes

# From trusted to tainted: a memory is as tainted as its most tainted ancestor.
ORIGINS: Final = ("user", "repository", "agent", "tool", "web")
CONTAMINATING: Final = frozenset({"web"})  # outside text: fenced when shown, never promoted without a person

SCOPES: Final = ("user", "global", "module", "work_unit", "session")
PERSONAL: Final = "personal"  # the visibility of memories that stay with their author
VISIBILITIES: Final = (PERSONAL, "project", "team", "organization")
STATUSES: Final = ("candidate", "confirmed", "pinned", "superseded", "deprecated")
LIVE_STATUSES: Final = frozenset({"candidate", "confirmed", "pinned"})  # those that search shows
FORGOTTEN: Final = "deprecated"  # out of search by a wish or by age, and kept
TRAPS: Final = frozenset({"gotcha", "error_pattern", "dead_end"})  # types that warn of a mistake
ROLES: Final = ("about", "target", "impacts")
LABELS: Final = ("File", "Symbol", "External", "Module")  # of nodes that a memory may be about
COUNTS: Final = ("strength", "injected_count", "used_count", "confirmed_count")
RELATIONS: Final[tuple[RelationKind, ...]] = get_args(RelationKind)
ANCHOR_FACTORS: Final[dict[str, float]] = {"valid": 1.0, "moved": 1.0, "suspect": 0.8, "orphaned": 0.8}  # of confidence in ranking

DEFAULT_IMPORTANCE: Final = 0.5

# Kinds of use: shown to an agent; opened, cited or acted on; agreed with by a person or an independent session.
USES: Final[dict[str, str]] = {"injected": "injected_count", "used": "used_count", "confirmed": "confirmed_count"}


def more_tainted(one: str, other: str) -> str:
    """Return the less trusted of two origins of a memory, such as `web`.

    `ORIGINS` lists all origins, the most trusted first.
    """
    return max(one, other, key=ORIGINS.index)


def way_back(status: str, short_id: str) -> str:
    """Return advice to add to a message about a memory that is not in use.

    `status` is the memory's status. For a forgotten memory, the advice is to restore it; for any other status, to use the memory that
    replaced it.
    """
    return f"restore it with `graphmem memory verify {short_id}`" if status == FORGOTTEN else "use the memory that replaced it"
