"""What passes between memories and sessions: which were shown and used, and whose words are in a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from graphmem.injection.injector import Injector
    from graphmem.observe.observer import Observer
    from graphmem.project.lazy import Lazy

TOLD: Final = 50  # memories that one event names


@dataclass(eq=False, repr=False)
class SessionMemories:
    """Tells sessions of memories, and memories of sessions."""

    folder: Path  # of the sessions' trails
    observer: Lazy[Observer]
    observe: Callable[[Sequence[Mapping[str, Any]]], object]  # takes events
    injector: Injector

    def strangers(self, session: str, others: bool = True) -> tuple[str, ...]:
        """What brought words of strangers into a session; of one that is not known, and when asked, into any that runs here."""
        if not self.observer.is_made and not self.folder.is_dir():
            return ()
        self.injector.heard()
        return self.observer().strangers(session, others=others)

    def tell_shown(self, session: str, ids: Sequence[str], phase: str) -> None:
        """A session was shown memories, in a phase of work or in the one it is in; nothing begins with it."""
        self._tell_memories(session, "injected", ids, {"during": phase} if phase else {})

    def tell(self, session: str, ids: Sequence[str], used: bool) -> None:
        """What an agent says of memories: it was shown them, or used them, in a session or in those that were shown them."""
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
