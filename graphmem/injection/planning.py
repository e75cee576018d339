"""Rules for planned work: files to read first, limits of steps, relays.

A limit of steps is a planned number of steps, multiplied by the ratio of actual to planned steps in past work. A relay passes memories from
one phase of work to the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.answers.injection import PrefetchedFile, StepLimit
from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo

PLAN_TYPES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "calibration": ("task_calibration", "context_cost"),
        "dead ends": ("dead_end",),
        "causal dependencies": ("causal_dependency",),
        "outcomes": ("work_unit_outcome",),
        "recipes": ("workflow_recipe",),
        "requirements and decisions": ("requirement", "decision"),
    }
)
"""Sections of a plan and the types of memories in each, most important first."""
PLAN_EACH: Final = 4

# Types of memories that are useful to the next phase (phases of work; docs/injection.md).
RELAY_TYPES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "define": ("requirement", "decision", "workflow_recipe", "dead_end", "preference"),
        "implement": ("gotcha", "decision", "requirement", "pattern", "causal_dependency", "dead_end", "error_pattern"),
        "validate": ("requirement", "work_unit_outcome", "error_pattern", "e2e_observation", "gotcha"),
        "refine": ("error_pattern", "gotcha", "dead_end", "work_unit_outcome"),
        "explore": ("module_insight", "decision", "pattern"),
        "reflect": ("work_unit_outcome", "task_calibration", "dead_end", "decision"),
    }
)

ALWAYS: Final = 0.8  # share of past sessions
OFTEN: Final = 0.5
MAX_FILES: Final = 12
MAX_TOKENS: Final = 32_000
MOST_STEPS: Final = 2.0  # times the base
MAX_BASE: Final = 10_000


class Wanted(NamedTuple):
    """A file suggested for reading before the work begins, with the reason."""

    path: str
    share: float
    why: str


def wanted_of(patterns: Sequence[MemoryInfo], module: str) -> list[Wanted]:
    """Return the files to read before work on a module, as memories suggest.

    `patterns` are memories of type prefetch_pattern, which list files that past sessions read. Memories about a module unrelated to
    `module` are ignored. Each memory gives first the files read in over 80 % of the sessions, then those read in over 50 %.
    """
    found: list[Wanted] = []
    for info in patterns:
        details = info.details or {}
        if details.get("module") and not within_module(str(details["module"]), module):
            continue
        found += [Wanted(str(path), ALWAYS, "always read") for path in details.get("always_read") or ()]
        found += [Wanted(str(path), OFTEN, "often read") for path in details.get("often_read") or ()]
    return found


def within_module(one: str, module: str) -> bool:
    """Return whether one of two paths contains the other, or both are equal."""
    left, right = one.strip("/"), module.strip("/")
    return left == right or left.startswith(f"{right}/") or right.startswith(f"{left}/")


def prefetched(wanted: Sequence[Wanted], tokens_of: Callable[[str], int | None]) -> tuple[list[PrefetchedFile], int]:
    """Select the suggested files that fit, and count those that do not.

    The limits are 12 files and 32,000 tokens. Files with the greatest share, such as those read in most sessions, are selected first.

    Args:
        wanted: suggestions from any source. Of several suggestions of the same file, the one with the greatest share is used.
        tokens_of: returns the number of tokens of a file; None if the file no longer exists.
    """
    best: dict[str, Wanted] = {}
    for one in wanted:
        if one.path not in best or one.share > best[one.path].share:
            best[one.path] = one
    files: list[PrefetchedFile] = []
    tokens = left_out = 0
    for one in sorted(best.values(), key=lambda each: (-each.share, each.path)):
        cost = tokens_of(one.path)
        if cost is None:
            continue
        if len(files) >= MAX_FILES or tokens + cost > MAX_TOKENS:
            left_out += 1
            continue
        tokens += cost
        files.append(PrefetchedFile(one.path, one.share, cost, one.why))
    return files, left_out


def step_limit(module: str, base: int, calibrations: Sequence[MemoryInfo]) -> StepLimit:
    """Multiply a planned number of steps by a ratio from past work.

    `base` is the planned number; the result is at most twice as high. `calibrations` are memories about past work in a module, with the
    ratio of actual to planned steps. Only memories about `module`, or about a folder around or inside `module`, are considered. Of these,
    the memory with the most samples is used. If several have the same number of samples, the newest is used.

    Raises:
        BadInputError: base is not a number of steps.
    """
    if isinstance(base, bool) or not isinstance(base, int) or not 1 <= base <= MAX_BASE:
        raise BadInputError(f"base, the planned number of steps, is {base!r}; use 1 to {MAX_BASE:,}", argument="base", value=base)
    known: list[tuple[int, str, float]] = []
    for info in calibrations:
        details = info.details or {}
        if not details.get("module") or not within_module(str(details["module"]), module):
            continue
        ratio = details.get("ratio")
        if ratio is None and details.get("planned"):
            ratio = float(details.get("actual") or 0) / float(details["planned"])
        if ratio is not None and math.isfinite(float(ratio)) and float(ratio) > 0:
            known.append((int(details.get("samples") or 1), info.updated_at, float(ratio)))
    if not known:
        return StepLimit(module, base, 1.0, base, 0)
    samples, _, ratio = max(known)
    limit = max(1, math.ceil(base * min(MOST_STEPS, ratio) - 1e-9))
    return StepLimit(module, base, round(ratio, 4), limit, samples)


def relay_types(to: str) -> tuple[str, ...]:
    """Return the types of memories that are passed on to the phase `to`.

    When a phase of work ends, its memories of these types are passed on to the next phase.

    Raises:
        BadInputError: unknown phase.
    """
    if to not in RELAY_TYPES:
        raise BadInputError(
            f"work cannot be handed over to the unknown phase {to!r}; use one of {', '.join(RELAY_TYPES)}", argument="to", value=to
        )
    return RELAY_TYPES[to]
