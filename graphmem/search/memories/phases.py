"""Weights of memory types by phase of work.

The weights have three sources:

* The built-in weights (`search.request.PHASES`) were chosen by judgement.
* Estimates are computed from a project's sessions, which show the memories that were used in each phase.
* Accepted weights were accepted by a person. They are in a small file of the index.

The estimate multiplies the built-in weight of a type by a ratio of two shares. The first is the share of the type's shown memories that
were used. The second is the same share for memories of all types. Estimates change nothing until a person accepts them. Search and the
selection of context for agents read all weights from `PhaseBook`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.search.accepted_file import AcceptedFile
from graphmem.search.request import PHASES

FILE: Final = "phases.json"
SESSIONS: Final = 30  # minimum sessions that were shown a memory in a phase, before anything is proposed
ENOUGH_SHOWN: Final = 20  # minimum shown memories of a type in a phase, before its weight is proposed
STRENGTH: Final = 20.0  # strength of the prior, in memories, that a type is used as often as its phase's average
MOST: Final = 2.0  # maximum factor on the built-in weight; its inverse is the minimum

Table = Mapping[str, Mapping[str, float]]  # phase -> type -> weight; unnamed types count 1


class Use(NamedTuple):
    """Numbers of memories of one type that were shown and used in a phase.

    A memory that a session saw or used several times counts once for this session.
    """

    shown: int
    used: int  # of those, used in the session that was shown them


def weight(table: Table, phase: str, type: str) -> float:  # noqa: A002 - the word of the domain
    """Return the weight of a memory type in a phase of work.

    The weight is 1 if the table has none.
    """
    return table.get(phase, {}).get(type, 1.0)


def proposed(counts: Mapping[tuple[str, str], Use]) -> dict[tuple[str, str], float]:
    """Propose a weight for each (phase, type) from the use of memories.

    Of the N memories that were shown in the phase, U were used. Of these N, n had the type, and u of the n were used. The formulas are:

        weight = built-in × clamp(r / R, 1/2, 2)
        R = U / N
        r = (u + S R) / (n + S)

    The value r is the share u / n, shrunk towards R. It is also the mean of the posterior Beta(u + S R, n − u + S (1 − R)). The prior is a
    Beta distribution with mean R and the weight of S = STRENGTH memories (Gelman et al., Bayesian Data Analysis, 3rd ed., sections 2.4,
    5.3).

    Each estimate starts from the built-in weight and all counts, so that accepting it twice changes nothing more. Pairs of phase and type
    whose memories were shown too rarely are left out.

    Args:
        counts: counts of use, by (phase, type).

    Returns:
        Weights rounded to 2 places. A phase without used memories proposes none.
    """
    found: dict[tuple[str, str], float] = {}
    for phase in PHASES:
        own = {type_: use for (of, type_), use in counts.items() if of == phase}
        shown, used = sum(use.shown for use in own.values()), sum(use.used for use in own.values())
        if not used:
            continue
        average = used / shown
        for type_ in sorted(own):
            use = own[type_]
            if use.shown >= ENOUGH_SHOWN:
                ratio = (use.used + STRENGTH * average) / (use.shown + STRENGTH) / average
                found[phase, type_] = round(weight(PHASES, phase, type_) * min(MOST, max(1 / MOST, ratio)), 2)
    return found


@dataclass(frozen=True, slots=True)
class Accepted:
    """Weights that a person accepted in place of the built-in ones."""

    weights: Table
    at: str  # ISO 8601, UTC
    sessions: int  # number of sessions behind the estimate


class PhaseBook:
    """Weights of memory types in each phase of work, for one project.

    These are the built-in weights, or the weights that a person accepted. The accepted weights are kept in a file. Thread-safe.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._kept = AcceptedFile(folder / FILE, _decoded, _content)

    def accepted(self) -> Accepted | None:
        """Return the accepted weights; None while the built-in ones are used."""
        kept = self._kept.weights()
        return kept.accepted if kept is not None else None

    def table(self) -> Table:
        """Return the weights of memory types that are used in each phase of work."""
        kept = self._kept.weights()
        return kept.table if kept is not None else PHASES

    def leaning(self, phase: str) -> dict[str, float]:
        """Return the ratio of accepted to built-in weights in a phase of work.

        The result maps a memory type to the accepted weight divided by the built-in one. Types whose two weights are equal are left out.
        """
        return {
            type_: value / weight(PHASES, phase, type_)
            for type_, value in sorted(self.table().get(phase, {}).items())
            if value != weight(PHASES, phase, type_)
        }

    def accept(self, weights: Mapping[tuple[str, str], float], at: datetime, sessions: int) -> None:
        """Use `weights` from now on, instead of all weights accepted before.

        Args:
            weights: maps (phase, type of memory) to a weight.
            at: time of acceptance.
            sessions: number of sessions from which the weights were estimated.

        Raises:
            DiskFullError: the disk refuses the write; the weights in use do not change.
        """
        by_phase: dict[str, dict[str, float]] = {}
        for (phase, type_), value in sorted(weights.items()):
            by_phase.setdefault(phase, {})[type_] = value
        self._kept.change(_joined(Accepted(by_phase, at.isoformat(timespec="seconds"), sessions)))

    def reset(self) -> None:
        """Restore the built-in weights of memory types.

        Raises:
            DiskFullError: the disk refuses the write; the weights in use do not change.
        """
        self._kept.change(None)


class _Joined(NamedTuple):
    """Accepted weights, and the complete table of weights in use.

    The table has the accepted weights, and the built-in ones for all other types of memories.
    """

    accepted: Accepted
    table: Table


def _joined(accepted: Accepted) -> _Joined:
    table = {phase: MappingProxyType({**own, **accepted.weights.get(phase, {})}) for phase, own in PHASES.items()}
    return _Joined(accepted, MappingProxyType(table))


def _decoded(found: dict[str, Any]) -> _Joined:
    weights = {phase: {str(name): float(value) for name, value in own.items()} for phase, own in found["weights"].items()}
    for phase, own in weights.items():
        for name, value in own.items():
            prior = weight(PHASES, phase, name)
            if phase not in PHASES or not (math.isfinite(value) and prior / MOST - 0.01 <= value <= prior * MOST + 0.01):
                raise ValueError(
                    f"the weight {value} of the memory type {name} in the phase of work {phase} is out of range, so graphmem uses the "
                    "built-in weights; run `graphmem memory phases --accept` to compute and store new weights"
                )
    return _joined(Accepted(weights, str(found["at"]), int(found["sessions"])))


def _content(kept: _Joined) -> dict[str, object]:
    return {"at": kept.accepted.at, "sessions": kept.accepted.sessions, "weights": kept.accepted.weights}
