"""Search weights that a person accepted for a project, in a small file."""

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
from typing import Any, Final

from graphmem.errors import DiskFullError
from graphmem.runtime.checksums import read_sealed_json, sealed_json
from graphmem.runtime.limits import unless_refused
from graphmem.search.evaluate import KNOBS, LARGEST

FILE: Final = "weights.json"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Accepted:
    """Factors by which a person's choice multiplies the built-in weights."""

    factors: Mapping[str, float]  # by knob, a key of `search.evaluate.KNOBS`
    at: str  # ISO 8601, UTC
    cases: int  # number of commits behind them


class WeightBook:
    """The search weights in force in one project, and the file with them.

    Thread-safe.

    Args:
        folder: the index directory.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._accepted = _read(self._file)

    def accepted(self) -> Accepted | None:
        """Return the accepted weights; None while the built-in ones are in force."""
        return self._accepted

    def factors(self) -> Mapping[str, float]:
        """Return the factors in force; empty for the built-in weights."""
        accepted = self._accepted
        return accepted.factors if accepted is not None else MappingProxyType({})

    def accept(self, factors: Mapping[str, float], at: datetime, cases: int) -> None:
        """Put factors in force; they replace those accepted before.

        Raises:
            DiskFullError: the disk refuses the write; the weights in force do not change.
        """
        self._change(Accepted(MappingProxyType(dict(factors)), at.isoformat(timespec="seconds"), cases))

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
                said = f"{FILE} cannot be written: {error.strerror or error}; the weights are unchanged; free the disk and repeat"
                raise DiskFullError(said, path=str(self._file)) from error
            self._accepted = accepted


def _read(file: Path) -> Accepted | None:
    """Read the file; a missing or broken one means the built-in weights.

    A broken file is logged.
    """
    try:
        found = read_sealed_json(file.read_bytes())
        factors = {str(knob): float(value) for knob, value in found["factors"].items()}
        for knob, value in factors.items():
            if knob not in KNOBS or not (math.isfinite(value) and 0 <= value <= LARGEST):
                raise ValueError(f"{knob} has the factor {value}, which is out of range")
        return Accepted(MappingProxyType(factors), str(found["at"]), int(found["cases"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        unless_refused(error, f"reading {file.name}", file)
        _log.warning("%s cannot be read, the built-in weights of search are in force: %s", file.name, error)
        return None


def _write(file: Path, accepted: Accepted) -> None:
    content: dict[str, Any] = {"at": accepted.at, "cases": accepted.cases, "factors": dict(accepted.factors)}
    descriptor, name = tempfile.mkstemp(prefix=".weights-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as written:
            written.write(sealed_json(content, indent=1, sort_keys=True))
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
