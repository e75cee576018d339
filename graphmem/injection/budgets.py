"""Limits of the tokens shown to an agent, in total and by section.

Each row of the first table has the limits for one number of tokens that remain to the agent. For a number between two rows, the limits are
interpolated. The second table has the limits by phase of work. Both tables come from the product's specification.
"""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARE: Final = 0.08  # share of the remaining context
MOST: Final = 5_000  # tokens, an upper limit
USUAL_REMAINING: Final = 100_000  # tokens assumed when the agent does not report them
MAX_REMAINING: Final = 100_000_000
SECTIONS: Final = ("always", "editor", "retrieval", "summaries")  # filled in this order when the budget is tight
OTHER: Final = "other"


class Budget(NamedTuple):
    """Token limits of a context, in total and for each section.

    A section cannot use tokens that another section leaves unused.
    """

    total: int
    always: int  # rules, pinned memories, notes
    editor: int  # knowledge about the open files
    retrieval: int  # search results
    summaries: int  # summaries of the last sessions

    def section(self, name: str) -> int:
        """Return the token limit of one section of a context, such as `editor`.

        `name` is one of SECTIONS.
        """
        return int(getattr(self, name))


_ROWS: Final = (  # remaining context, then always, editor, retrieval, summaries
    (8_000, (200, 500, 300, 200)),
    (20_000, (200, 700, 500, 200)),
    (50_000, (320, 1_840, 1_196, 600)),
    (100_000, (400, 2_300, 1_500, 600)),
)


def budget_for(remaining: int | None = None) -> Budget:
    """Return the token limits for a given number of remaining tokens.

    Args:
        remaining: tokens that the agent has left; None if not reported, which means 100,000.

    Raises:
        BadInputError: the number is negative or not a number of tokens.
    """
    left = USUAL_REMAINING if remaining is None else remaining
    if isinstance(left, bool) or not isinstance(left, int) or not 0 <= left <= MAX_REMAINING:
        raise BadInputError(
            f"remaining, the number of tokens that the agent has left, is {remaining!r}; use 0 to {MAX_REMAINING:,}",
            argument="remaining",
            value=remaining,
        )
    return Budget(min(MOST, int(left * SHARE)), *_shares(left))


def _shares(left: int) -> tuple[int, int, int, int]:
    if left <= _ROWS[0][0]:
        return _ROWS[0][1]
    for (low, at_low), (high, at_high) in pairwise(_ROWS):
        if left <= high:
            part = (left - low) / (high - low)
            first, second, third, fourth = (round(a + (b - a) * part) for a, b in zip(at_low, at_high, strict=True))
            return first, second, third, fourth
    return _ROWS[-1][1]


class PhaseShares(NamedTuple):
    """Maximum number of tokens of search results in one phase of work.

    `shares` divides the tokens among the types of memory. Types without their own share use the share of OTHER.
    """

    budget: int  # maximum tokens
    shares: Mapping[str, float]  # by type; OTHER covers all unnamed types


def _phase(budget: int, **shares: float) -> PhaseShares:
    return PhaseShares(budget, MappingProxyType(shares))


PHASE_SHARES: Final[Mapping[str, PhaseShares]] = MappingProxyType(
    {
        "define": _phase(2_500, workflow_recipe=0.30, requirement=0.20, decision=0.20, dead_end=0.15, task_calibration=0.10, other=0.05),
        "implement": _phase(3_000, gotcha=0.30, error_pattern=0.25, causal_dependency=0.15, pattern=0.15, dead_end=0.10, other=0.05),
        "validate": _phase(2_500, error_pattern=0.30, requirement=0.25, e2e_observation=0.25, work_unit_outcome=0.15, other=0.05),
        "refine": _phase(2_000, error_pattern=0.35, gotcha=0.25, dead_end=0.20, pattern=0.15, other=0.05),
        "explore": _phase(2_000, module_insight=0.40, decision=0.25, pattern=0.20, causal_dependency=0.15),
        "reflect": _phase(1_500, work_unit_outcome=0.40, task_calibration=0.35, dead_end=0.15, other=0.10),
    }
)


def shares_of(phase: str, leaning: Mapping[str, float]) -> Mapping[str, float] | None:
    """Return each memory type's share of the tokens for search results.

    The result maps types to shares. The result is None if the table has no row for the phase. Types without their own share use the share
    of OTHER.

    Args:
        phase: name of the phase of work.
        leaning: factors for the shares of some types, from the weights that a person accepted for this phase (`search/memories`). After the
            shares are multiplied by the factors, all shares are scaled so that their sum is as before.
    """
    if (own := PHASE_SHARES.get(phase)) is None:
        return None
    if not any(name in leaning for name in own.shares):
        return own.shares
    moved = {name: share * leaning.get(name, 1.0) for name, share in own.shares.items()}
    whole = sum(own.shares.values()) / sum(moved.values())
    return {name: share * whole for name, share in moved.items()}


def retrieval_budget(budget: Budget, phase: str) -> int:
    """Return the number of tokens for search results in a phase of work.

    The result is the smaller of two limits: that of the phase, and that of the section `retrieval` in `budget`.
    """
    shares = PHASE_SHARES.get(phase)
    return budget.retrieval if shares is None else min(budget.retrieval, shares.budget)
