"""Weights of memory types by phase of work.

Three sources: the built-in table, estimates from a project's sessions, and weights accepted by a person. The built-in weights
(`search.request.PHASES`) are judgement. Sessions show which memories of a phase were used. The estimate moves each weight by the use
of its type relative to the average memory. Estimates change nothing until a person accepts them. Accepted weights are in a
small file of the index. Search and packing read all weights from `PhaseBook`.
"""

from __future__ import annotations

import logging
import math
import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.errors import DiskFullError
from graphmem.runtime.checksums import read_sealed_json, sealed_json
from graphmem.runtime.limits import unless_refused
from graphmem.search.request import PHASES

FILE: Final = "phases.json"
SESSIONS: Final = 30  # minimum sessions that were shown a memory in a phase, before anything is proposed
ENOUGH_SHOWN: Final = 20  # minimum shown memories of a type in a phase, before its weight is proposed
STRENGTH: Final = 20.0  # strength of the prior, in memories, that a type is used as often as its phase's average
MOST: Final = 2.0  # maximum factor on the built-in weight; its inverse is the minimum

Table = Mapping[str, Mapping[str, float]]  # phase -> type -> weight; unnamed types count 1

_log = logging.getLogger(__name__)


class Use(NamedTuple):
    """Counts of how memories of a type were used in a phase, once a session."""

    shown: int
    used: int  # of those, used in the session that was shown them


def weight(table: Table, phase: str, type: str) -> float:  # noqa: A002 - the word of the domain
    """Return the weight of a memory type in a phase; 1 if not in the table."""
    return table.get(phase, {}).get(type, 1.0)


def proposed(counts: Mapping[tuple[str, str], Use]) -> dict[tuple[str, str], float]:
    """Propose weights from the use of memories, by (phase, type).

    Pairs that were shown too rarely are left out.
    The formula is weight = built-in × clamp(r / R, 1/2, 2), with
    R = U / N, the share of all memories shown in the phase that were used, and
    r = (u + S R) / (n + S), the same share for the type, shrunk towards R. The value r is the mean of the posterior
    Beta(u + S R, n − u + S (1 − R)), from a Beta prior with mean R and the weight of S = STRENGTH memories
    (Gelman et al., Bayesian Data Analysis, 3rd ed., sections 2.4, 5.3).
    The estimate starts from the built-in weight and all counts, so that accepting it twice changes nothing more.

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
    """Weights that a person accepted; they replace the built-in ones."""

    weights: Table
    at: str  # ISO 8601, UTC
    sessions: int  # number of sessions behind the estimate


class PhaseBook:
    """The weights in force in one project, and the file of accepted weights.

    Thread-safe.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._accepted = _read(self._file)
        self._table = _joined(self._accepted)

    def accepted(self) -> Accepted | None:
        """Return the accepted weights; None while the built-in ones are in force."""
        return self._accepted

    def table(self) -> Table:
        """Return the weights in force."""
        return self._table

    def leaning(self, phase: str) -> dict[str, float]:
        """Return, for each changed type, its weight divided by the built-in one."""
        return {
            type_: value / weight(PHASES, phase, type_)
            for type_, value in sorted(self._table.get(phase, {}).items())
            if value != weight(PHASES, phase, type_)
        }

    def accept(self, weights: Mapping[tuple[str, str], float], at: datetime, sessions: int) -> None:
        """Put weights in force; they replace all weights accepted before.

        Raises:
            DiskFullError: the disk refuses the write; the weights in force do not change.
        """
        by_phase: dict[str, dict[str, float]] = {}
        for (phase, type_), value in sorted(weights.items()):
            by_phase.setdefault(phase, {})[type_] = value
        self._change(Accepted(by_phase, at.isoformat(timespec="seconds"), sessions))

    def reset(self) -> None:
        """Restore the built-in weights.

        Raises:
            DiskFullError: the disk refuses the write; the weights in force do not change.
        """
        self._change(None)

    def _change(self, accepted: Accepted | None) -> None:
        with self._lock:
            try:
                if accepted is None:
                    self._file.unlink(missing_ok=True)
                else:
                    _write(self._file, accepted)
            except OSError as error:
                said = (
                    f"{self._file.name} cannot be written: {error.strerror or error}; the weights are unchanged; free the disk and repeat"
                )
                raise DiskFullError(said, path=str(self._file)) from error
            self._accepted, self._table = accepted, _joined(accepted)


def _joined(accepted: Accepted | None) -> Table:
    """Return the built-in table with the accepted weights applied."""
    if accepted is None:
        return PHASES
    return MappingProxyType({phase: MappingProxyType({**own, **accepted.weights.get(phase, {})}) for phase, own in PHASES.items()})


def _read(file: Path) -> Accepted | None:
    """Read the file; a missing or broken one means the built-in weights.

    A broken file is logged.
    """
    try:
        found = read_sealed_json(file.read_bytes())
        weights = {phase: {str(name): float(value) for name, value in own.items()} for phase, own in found["weights"].items()}
        for phase, own in weights.items():
            for name, value in own.items():
                prior = weight(PHASES, phase, name)
                if phase not in PHASES or not (math.isfinite(value) and prior / MOST - 0.01 <= value <= prior * MOST + 0.01):
                    raise ValueError(f"{name} in {phase} has the invalid weight {value}")
        return Accepted(weights, str(found["at"]), int(found["sessions"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        unless_refused(error, f"reading {file.name}", file)
        _log.warning("%s cannot be read, the built-in weights of phases are in force: %s", file.name, error)
        return None


def _write(file: Path, accepted: Accepted) -> None:
    content: dict[str, Any] = {"at": accepted.at, "sessions": accepted.sessions, "weights": accepted.weights}
    descriptor, name = tempfile.mkstemp(prefix=".phases-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as written:
            written.write(sealed_json(content, indent=1, sort_keys=True))
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
