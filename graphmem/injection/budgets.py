"""How much may be put in front of an agent, by what is left of its context and by the phase of its work.

Both tables are those of the product's specification; between two rows of the first the shares are interpolated.
"""

from __future__ import annotations

from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARE: Final = 0.08  # of the remaining context
MOST: Final = 5_000  # tokens, however much is left
USUAL_REMAINING: Final = 100_000  # tokens, where the agent does not say
MAX_REMAINING: Final = 100_000_000
SECTIONS: Final = ("always", "editor", "retrieval", "summaries")  # in this order when it is tight
OTHER: Final = "other"


class Budget(NamedTuple):
    """Tokens in all and at most by section; what one leaves over, another does not get."""

    total: int
    always: int  # rules, pinned memories, notes
    editor: int  # what is known about the files that are open
    retrieval: int  # what was searched for
    summaries: int  # of the last sessions

    def section(self, name: str) -> int:
        """At most so many tokens for one of SECTIONS."""
        return int(getattr(self, name))


_ROWS: Final = (  # remaining, then always, editor, retrieval, summaries
    (8_000, (200, 500, 300, 200)),
    (20_000, (200, 700, 500, 200)),
    (50_000, (320, 1_840, 1_196, 600)),
    (100_000, (400, 2_300, 1_500, 600)),
)


def budget_for(remaining: int | None = None) -> Budget:
    """The budget when so many tokens of context are left.

    Args:
        remaining: tokens; None: the agent does not say, 100,000 are assumed.

    Raises:
        BadInputError: it is negative or no number of tokens.
    """
    left = USUAL_REMAINING if remaining is None else remaining
    if isinstance(left, bool) or not isinstance(left, int) or not 0 <= left <= MAX_REMAINING:
        raise BadInputError(
            f"remaining is {remaining!r}; give the tokens that are left, 0 to {MAX_REMAINING:,}", argument="remaining", value=remaining
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
    """How retrieval divides its tokens among types of memories in one phase."""

    budget: int  # tokens at most
    shares: Mapping[str, float]  # by type; OTHER for all that are not named


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
    """How a phase divides the tokens of retrieval; None where it does not.

    Args:
        phase: of work.
        leaning: what types count there, of what they count by themselves (`search.phases`): their shares grow and shrink with it, and
            all shares together stay what they were. A type without a share of its own stays among OTHER.
    """
    if (own := PHASE_SHARES.get(phase)) is None:
        return None
    if not any(name in leaning for name in own.shares):
        return own.shares
    moved = {name: share * leaning.get(name, 1.0) for name, share in own.shares.items()}
    whole = sum(own.shares.values()) / sum(moved.values())
    return {name: share * whole for name, share in moved.items()}


def retrieval_budget(budget: Budget, phase: str) -> int:
    """Tokens for what was searched for: the section's share, and no more than the phase allows."""
    shares = PHASE_SHARES.get(phase)
    return budget.retrieval if shares is None else min(budget.retrieval, shares.budget)
