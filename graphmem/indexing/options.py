"""Options of index runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graphmem.parsing.ignore import DiscoveryOptions

BEHIND: Final = 5
"""Niceness of the workers of an open index, because requests have priority."""


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of an index run, such as the number of processes."""

    discovery: DiscoveryOptions
    workers: int | None  # processes that parse and resolve; None: chosen by the amount of work
    keep_warm: bool  # keep the facts of all files, so that the next run is small

    @property
    def niceness(self) -> int:
        """Return the niceness of the processes that parse and resolve."""
        return BEHIND if self.keep_warm else 0
