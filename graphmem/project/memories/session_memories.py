"""Record the memories shown to each session, and the texts that it read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from graphmem.injection.injector import Injector
    from graphmem.observe.running.observer import Observer
    from graphmem.runtime.lazy import Lazy

TOLD: Final = 50  # maximum memories in one event


@dataclass(eq=False, repr=False)
class SessionMemories:
    """Records in a session which memories were shown to it or used by it.

    The class also reports which untrusted text from outside, such as web pages, a session has read.
    """

    folder: Path  # directory of the sessions' trails
    observer: Lazy[Observer]
    observe: Callable[[Sequence[Mapping[str, Any]]], object]  # accepts events
    injector: Injector

    def strangers(self, session: str, others: bool = True) -> tuple[str, ...]:
        """Return the sources of untrusted external text that a session has read.

        A source is a page, tool, command or file. If `session` is unknown or "" and `others` is true, the sources of all running sessions
        are returned.
        """
        if not self.observer.is_made and not self.folder.is_dir():
            return ()
        self.injector.wait_for_events()
        return self.observer().strangers(session, others=others)

    def tell_shown(self, session: str, ids: Sequence[str], phase: str) -> None:
        """Record that memories were shown to a running session.

        `ids` are the memories. `phase` is the phase of work in which they were shown; "" for the session's present phase. Nothing is
        recorded for a session that is not running.
        """
        self._tell_memories(session, "injected", ids, {"during": phase} if phase else {})

    def tell(self, session: str, ids: Sequence[str], used: bool) -> None:
        """Record that memories were shown to a session, or that it used them.

        If `used` is false, the memories `ids` were shown. If `used` is true, the session used them. If `used` is true and `session` is "",
        each memory counts as used in every session that it was shown to.
        """
        if not used:
            self.tell_shown(session, ids, "")
            return
        by_session: dict[str, list[str]] = {session: list(ids)} if session else {}
        for one in ids if not session else ():
            for named in self.injector.agent.was_shown(one):
                by_session.setdefault(named, []).append(one)
        for named, own in sorted(by_session.items()):
            self._tell_memories(named, "used", own, {})

    def _tell_memories(self, session: str, name: str, ids: Sequence[str], more: Mapping[str, str]) -> None:
        if ids and self.observer().runs(session):
            parts = [list(ids[at : at + TOLD]) for at in range(0, len(ids), TOLD)]
            self.observe([{"session_id": session, "kind": "step_complete", "args": {name: part, **more}} for part in parts])
