"""What a type of memory counts in a phase of work: the built-in table, what a project's sessions say of it, and what a person accepted.

The built-in weights (`search.request.PHASES`) are judgement. Sessions tell which of the memories that a phase showed were used; the
estimate moves each weight by how much more, or less, often its type is used there than the average memory. It changes nothing by itself:
what is accepted is kept in a small file beside the index, and this book is the one place search and packing read the weights from.
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
SESSIONS: Final = 30  # in which a memory was shown in a phase of work, before anything is proposed
ENOUGH_SHOWN: Final = 20  # of a type in a phase, before its weight is proposed
STRENGTH: Final = 20.0  # memories' worth of belief that a type is used as often as the average of its phase
MOST: Final = 2.0  # times the built-in weight, and one over it is the least

Table = Mapping[str, Mapping[str, float]]  # phase -> type -> weight; types that are not named count 1

_log = logging.getLogger(__name__)


class Use(NamedTuple):
    """Memories of one type in one phase, each once a session."""

    shown: int
    used: int  # of those, in the session that was shown them


def weight(table: Table, phase: str, type: str) -> float:  # noqa: A002 - the word of the domain
    """What a type counts in a phase; 1 for what the table does not name."""
    return table.get(phase, {}).get(type, 1.0)


def proposed(counts: Mapping[tuple[str, str], Use]) -> dict[tuple[str, str], float]:
    """Weights that the use of memories speaks for, by (phase, type), of the pairs that were shown often enough.

    weight = built-in × clamp(r / R, 1/2, 2), with R = U / N, the share of all memories shown in the phase that were used, and
    r = (u + S R) / (n + S), the same of the type, drawn towards R: the mean of the posterior Beta(u + S R, n − u + S (1 − R)), that is of a
    Beta prior with mean R that weighs as much as S = STRENGTH memories (Gelman et al., Bayesian Data Analysis, 3rd ed., sections 2.4, 5.3).
    Always from the built-in weight and from all that is counted, so that accepting twice moves nothing further.

    Args:
        counts: by phase and type.

    Returns:
        Rounded to 2 places. A phase in which nothing was used says nothing.
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
    """Weights in place of built-in ones."""

    weights: Table
    at: str  # ISO 8601, UTC
    sessions: int  # that they were estimated from


class PhaseBook:
    """The weights in force in one project, and the file that keeps those a person accepted. Thread-safe.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._accepted = _read(self._file)
        self._table = _joined(self._accepted)

    def accepted(self) -> Accepted | None:
        """What a person accepted; None while the built-in weights are in force."""
        return self._accepted

    def table(self) -> Table:
        """The weights in force."""
        return self._table

    def leaning(self, phase: str) -> dict[str, float]:
        """What the weights of a phase are of the built-in ones, by type; only those that differ."""
        return {
            type_: value / weight(PHASES, phase, type_)
            for type_, value in sorted(self._table.get(phase, {}).items())
            if value != weight(PHASES, phase, type_)
        }

    def accept(self, weights: Mapping[tuple[str, str], float], at: datetime, sessions: int) -> None:
        """Put weights in force, in place of all that were accepted before.

        Raises:
            DiskFullError: the disk refuses; what was in force stays.
        """
        by_phase: dict[str, dict[str, float]] = {}
        for (phase, type_), value in sorted(weights.items()):
            by_phase.setdefault(phase, {})[type_] = value
        self._change(Accepted(by_phase, at.isoformat(timespec="seconds"), sessions))

    def reset(self) -> None:
        """Go back to the built-in weights.

        Raises:
            DiskFullError: the disk refuses; what was in force stays.
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
                said = f"{self._file.name} cannot be written: {error.strerror or error}; the weights stay as they were, mend it and repeat"
                raise DiskFullError(said, path=str(self._file)) from error
            self._accepted, self._table = accepted, _joined(accepted)


def _joined(accepted: Accepted | None) -> Table:
    """The built-in table with what was accepted in it."""
    if accepted is None:
        return PHASES
    return MappingProxyType({phase: MappingProxyType({**own, **accepted.weights.get(phase, {})}) for phase, own in PHASES.items()})


def _read(file: Path) -> Accepted | None:
    """What the file says. A missing one means the built-in weights; so does a broken one, which the log says."""
    try:
        found = read_sealed_json(file.read_bytes())
        weights = {phase: {str(name): float(value) for name, value in own.items()} for phase, own in found["weights"].items()}
        for phase, own in weights.items():
            for name, value in own.items():
                prior = weight(PHASES, phase, name)
                if phase not in PHASES or not (math.isfinite(value) and prior / MOST - 0.01 <= value <= prior * MOST + 0.01):
                    raise ValueError(f"{name} in {phase} cannot count {value}")
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
