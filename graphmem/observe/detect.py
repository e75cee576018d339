"""The base of all detectors: each collects acts and returns its findings.

A signal is a kind of pattern in a session, such as an error that was fixed. A detector finds one signal; each case that it detects is a
finding. A detector names the kinds and actions of acts that it needs. So an act reaches only two or three detectors. A detector keeps
evidence in the scratchpad's tables, which are bounded. Its state is in plain attributes, so that a fork can copy it.
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
    """Detects one signal. Subclasses define the wanted acts and the findings.

    Args:
        pad: the session's scratchpad; its tables keep the evidence.
    """

    signal: ClassVar[str]
    wants: ClassVar[frozenset[str]]  # kinds of acts other than tools ("say", "step", …), and actions of tools ("read", "edit", …)

    def __init__(self, pad: Scratchpad) -> None:
        """Create the detector's tables in the scratchpad."""

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Process one act. The scratchpad has already counted it."""

    def findings(self, pad: Scratchpad) -> Iterable[Finding]:
        """Return the findings so far, without changing any state."""
        raise NotImplementedError


class Detectors:
    """All detectors of one session, indexed by the acts they want."""

    def __init__(self, kinds: Sequence[type[Detector]], pad: Scratchpad) -> None:
        self.all = [kind(pad) for kind in kinds]
        self._by_want: dict[str, list[Detector]] = {}
        for one in self.all:
            for want in sorted(one.wants):
                self._by_want.setdefault(want, []).append(one)

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Pass an act to the detectors that want it."""
        for one in self._by_want.get(act.action if act.kind in (TOOL, "diff") else act.kind, ()):
            one.see(act, pad)

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield the findings of all signals whose value is high enough.

        They are in the order of the detectors. A signal's value is computed in `observe.signals`; see DROPPED_BELOW.
        """
        for one in self.all:
            if row_of(one.signal).value >= DROPPED_BELOW:
                yield from one.findings(pad)
