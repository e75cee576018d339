"""What a detector of a signal is: fed the acts it asks for, it keeps little, and at the end says what it found.

A detector asks for acts by kind and action, so that an act meets the two or three it concerns. It keeps its evidence in the scratchpad's
tables, which are bounded, and its state in plain attributes, so that a fork can copy it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from graphmem.observe.acts import Act
from graphmem.observe.model import Finding
from graphmem.observe.scratchpad import Scratchpad
from graphmem.observe.signals import DROPPED_BELOW, row_of

TOOL: Final = "tool"


class Detector:
    """One of the signals. Subclasses say what they want to see, and find.

    Args:
        pad: of the session; its tables hold what is kept.
    """

    signal: ClassVar[str]
    wants: ClassVar[frozenset[str]]  # kinds of acts other than tools ("say", "step", …), and actions of tools ("read", "edit", …)

    def __init__(self, pad: Scratchpad) -> None:
        """Makes its tables."""

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Take one act in; the scratchpad has counted it already, which is enough for some."""

    def findings(self, pad: Scratchpad) -> Iterable[Finding]:
        """What was found, so far; may be asked at any time and changes nothing."""
        raise NotImplementedError


class Detectors:
    """All detectors of one session, and who wants what."""

    def __init__(self, kinds: Sequence[type[Detector]], pad: Scratchpad) -> None:
        self.all = [kind(pad) for kind in kinds]
        self._by_want: dict[str, list[Detector]] = {}
        for one in self.all:
            for want in sorted(one.wants):
                self._by_want.setdefault(want, []).append(one)

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Show an act to those who want it."""
        for one in self._by_want.get(act.action if act.kind in (TOOL, "diff") else act.kind, ()):
            one.see(act, pad)

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """All findings of signals that are worth something, in the order of the table."""
        for one in self.all:
            if row_of(one.signal).value >= DROPPED_BELOW:
                yield from one.findings(pad)
