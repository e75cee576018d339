"""The base of all detectors: each looks for one pattern in a session.

A signal is a kind of pattern, such as an error that was fixed. A detector looks for one signal, and returns each case as a finding. A
detector declares the kinds of acts (the agent's actions, such as edits) that it needs, and gets only these. Evidence is kept in tables of
bounded size in the scratchpad (all counts of one session). The state of a detector is in plain attributes, so that a fork (a copy of the
session) can copy it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from graphmem.observe.counts.acts import Act
from graphmem.observe.counts.scratchpad import Scratchpad
from graphmem.observe.model import Finding
from graphmem.observe.signals import DROPPED_BELOW, row_of

TOOL: Final = "tool"


class Detector:
    """Base class: detects one kind of pattern, such as fixed errors.

    A subclass declares in `wants` the kinds of acts that it needs, and returns its findings.

    Args:
        pad: the session's scratchpad (all counts of the session); its tables keep the evidence.
    """

    signal: ClassVar[str]
    wants: ClassVar[frozenset[str]]  # kinds of acts other than tools ("say", "step", …), and actions of tools ("read", "edit", …)

    def __init__(self, pad: Scratchpad) -> None:
        """Create the tables of the scratchpad that keep this detector's evidence.

        The scratchpad has all counts of the session.
        """

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Look for the pattern in one action of the agent, such as an edit.

        The action is already included in the counts of the session, `pad`.
        """

    def findings(self, pad: Scratchpad) -> Iterable[Finding]:
        """Return the patterns found in the session so far. Changes nothing."""
        raise NotImplementedError


class Detectors:
    """All detectors of one session; each gets only the actions that it needs."""

    def __init__(self, kinds: Sequence[type[Detector]], pad: Scratchpad) -> None:
        self.all = [kind(pad) for kind in kinds]
        self._by_want: dict[str, list[Detector]] = {}
        for one in self.all:
            for want in sorted(one.wants):
                self._by_want.setdefault(want, []).append(one)

    def see(self, act: Act, pad: Scratchpad) -> None:
        """Pass an action, such as an edit, to the detectors that need it."""
        for one in self._by_want.get(act.action if act.kind in (TOOL, "diff") else act.kind, ()):
            one.see(act, pad)

    def findings(self, pad: Scratchpad) -> Iterator[Finding]:
        """Yield the findings of all detectors, one detector after the other.

        A detector finds one kind of pattern (signal), which has a value from 0 to 1; see `observe.signals`. Detectors of signals with a
        value below DROPPED_BELOW are skipped.
        """
        for one in self.all:
            if row_of(one.signal).value >= DROPPED_BELOW:
                yield from one.findings(pad)
