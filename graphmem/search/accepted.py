"""The weights of search that a person accepted, and their file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from graphmem.search.accepted_file import AcceptedFile
from graphmem.search.evaluate import KNOBS, LARGEST

FILE: Final = "weights.json"


@dataclass(frozen=True, slots=True)
class Accepted:
    """Factors that a person accepted, to multiply the built-in search weights.

    The object also has the time of acceptance, and the number of commits from which the factors were computed.
    """

    factors: Mapping[str, float]  # by knob, a key of `search.evaluate.KNOBS`
    at: str  # ISO 8601, UTC
    cases: int  # number of commits behind them


class WeightBook:
    """Factors by which one project changes the built-in search weights.

    Until a person accepts factors, there are none, and the built-in weights are used. Accepted factors are kept in a file. Thread-safe.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._kept = AcceptedFile(folder / FILE, _decoded, _content)

    def accepted(self) -> Accepted | None:
        """Return the factors of search weights that a person accepted.

        The result is None until a person accepts factors. Until then, the built-in weights are used.
        """
        return self._kept.weights()

    def factors(self) -> Mapping[str, float]:
        """Map names of built-in search weights to their accepted factors.

        The result is empty if no factors were accepted.
        """
        accepted = self._kept.weights()
        return accepted.factors if accepted is not None else MappingProxyType({})

    def accept(self, factors: Mapping[str, float], at: datetime, cases: int) -> None:
        """Store the factors of search weights that a person accepted; use them.

        Args:
            factors: maps a group of weights to the factor of its built-in weights.
            at: time of acceptance.
            cases: number of commits from which the factors were computed.

        Raises:
            DiskFullError: the disk refuses the write; the weights in use do not change.
        """
        self._kept.change(Accepted(MappingProxyType(dict(factors)), at.isoformat(timespec="seconds"), cases))

    def reset(self) -> None:
        """Restore the built-in search weights.

        Raises:
            DiskFullError: the disk refuses the write; the weights in use do not change.
        """
        self._kept.change(None)


def _decoded(found: dict[str, Any]) -> Accepted:
    factors = {str(knob): float(value) for knob, value in found["factors"].items()}
    for knob, value in factors.items():
        if knob not in KNOBS or not (math.isfinite(value) and 0 <= value <= LARGEST):
            raise ValueError(
                f"the stored search weight {knob} = {value} is out of range, so graphmem uses the built-in weights; "
                "run `graphmem evaluate --accept` to compute and store new weights"
            )
    return Accepted(MappingProxyType(factors), str(found["at"]), int(found["cases"]))


def _content(accepted: Accepted) -> dict[str, object]:
    return {"at": accepted.at, "cases": accepted.cases, "factors": dict(accepted.factors)}
