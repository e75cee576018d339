"""The question of an impact analysis: direction, depth, edges, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.analysis.weights import IMPACT_KINDS
from graphmem.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_DEPTH: Final = 50
MAX_LIMIT: Final = 100_000


@dataclass(frozen=True, slots=True)
class Question:
    """A validated impact question: direction, kinds of edges and limits.

    The direction is towards dependents or towards dependencies.

    Raises:
        BadInputError: a value is out of range, or a kind or direction is unknown.
    """

    direction: str = "dependents"  # dependents | dependencies
    max_depth: int = 5  # 1..50
    min_confidence: float = 0.3  # (0, 1], of the whole path
    kinds: tuple[str, ...] = IMPACT_KINDS
    limit: int = 1000  # 1..100,000 listed hits; the rest are only counted
    estimates: bool = True  # whether the report says how likely it misses tests and calls, and how the target ranks

    def __post_init__(self) -> None:
        if self.direction not in ("dependents", "dependencies"):
            raise _bad("direction", self.direction, "dependents or dependencies")
        if not 1 <= self.max_depth <= MAX_DEPTH:
            raise _bad("max_depth", self.max_depth, f"1 to {MAX_DEPTH}")
        if not 0 < self.min_confidence <= 1:
            raise BadInputError(
                f"min_confidence is {self.min_confidence}; use a number above 0 and up to 1",
                argument="min_confidence",
                value=self.min_confidence,
                allowed="(0, 1]",
            )
        if not 1 <= self.limit <= MAX_LIMIT:
            raise _bad("limit", self.limit, f"1 to {MAX_LIMIT}")
        unknown = sorted(set(self.kinds) - set(IMPACT_KINDS))
        if unknown or not self.kinds:
            given, allowed = ", ".join(unknown) or "none", ", ".join(IMPACT_KINDS)
            fault = f"{given} is unknown" if unknown else "the list is empty"
            raise BadInputError(
                f"invalid kinds of edges ({fault}); use one or more of {allowed}",
                argument="kinds",
                value=given,
                allowed=allowed,
            )


def _bad(argument: str, value: object, allowed: str) -> BadInputError:
    return BadInputError(f"{argument} is {value}; use {allowed}", argument=argument, value=value, allowed=allowed)


class Start(NamedTuple):
    """Nodes where a walk through the graph begins, and the edges it follows.

    The kinds of edges depend on the change. For example, a change of a function's body affects fewer dependents than a change of the
    function's name. A walk for a changed body therefore follows fewer kinds of edges.
    """

    seeds: Sequence[int]
    kinds: tuple[str, ...]
