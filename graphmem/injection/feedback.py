"""Detect which shown memories agents used, and which they said are wrong.

The sources are events of sessions, such as edits and messages. A doubt is a sentence in which an agent says that a memory is wrong. Events
have one format for all agents, so feedback works with every agent. A session that has read external text gives no feedback, because the
agent's words may come from that text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from graphmem.injection.consequences import Edit
from graphmem.injection.uses import CITED, Doubt, Known, UseBook
from graphmem.knowledge import is_held
from graphmem.memory.texts.types import LIVE_STATUSES
from graphmem.observe.commands.tools import FOREIGN, OWN_SERVER, call_of
from graphmem.observe.running.interpreter import AGENT_ROLES
from graphmem.observe.texts.words import outcome

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository

MAX_TEXT: Final = 65_536  # characters of one event that are read
_CHANGES: Final = 32  # replacements of one event


class Feedback:
    """Finds uses of memories in what agents do and say. Thread-safe.

    Args:
        book: the memory repository.
        relative: converts paths to paths from the project's root.
        is_contaminated: returns whether a session has read external text.
        used: called with a session and the ids of memories that it used.
        doubted: called with a session and a doubt: a memory that the agent called wrong, and why.
    """

    def __init__(
        self,
        book: MemoryRepository,
        relative: Callable[[Iterable[str]], Sequence[str]],
        is_contaminated: Callable[[str], bool],
        used: Callable[[str, Sequence[str]], object],
        doubted: Callable[[str, Doubt], object],
    ) -> None:
        self._book = book
        self._relative = relative
        self._is_contaminated = is_contaminated
        self._used = used
        self._doubted = doubted
        self._uses = UseBook(self._known)

    def find_uses(self, events: Sequence[object], session: str = "") -> None:
        """Find uses of memories in events, such as edits and messages.

        Call this before the observer accepts the events.

        Args:
            events: as for `Sessions.observe`; invalid ones are ignored.
            session: the session of events that do not name one.
        """
        for event in events:
            if not isinstance(event, Mapping):
                continue
            named = event.get("session_id") or event.get("session") or session
            args = event.get("args")
            if isinstance(named, str) and named:
                self._event(named, event, args if isinstance(args, Mapping) else {})

    def _event(self, session: str, event: Mapping[str, object], args: Mapping[str, Any]) -> None:
        kind, text = event.get("kind"), event.get("text")
        text = text[:MAX_TEXT] if isinstance(text, str) else ""
        used: list[str] = []
        if kind == "step_complete" and isinstance(args.get("injected"), (list, tuple)):
            self._uses.shown(session, [one for one in args["injected"] if isinstance(one, str)])
        elif kind == "message" and args.get("role") in AGENT_ROLES:
            said = self._uses.cited_in(session, text)
            used = said.used
            self._doubt(session, said.doubts)
        elif kind in ("tool_call", "tool_result"):
            used = self._tool(session, event, args, text)
        elif kind == "session_end":
            used = self._uses.end(session)
        if used and not self._is_contaminated(session):
            self._used(session, used)

    def _tool(self, session: str, event: Mapping[str, Any], args: Mapping[str, Any], text: str) -> list[str]:
        tool = event.get("tool")
        if not isinstance(tool, str):
            return []
        if (foreign := FOREIGN.match(tool)) and foreign["server"].lower() == OWN_SERVER:
            index = self._book.index()
            found = (index.by_short_id(one) for one in dict.fromkeys(CITED.findall(text)))
            self._uses.shown(session, [one for one in found if one])
            return []
        call = call_of(tool, args)
        ok = event.get("ok") if isinstance(event.get("ok"), bool) else None
        if call.action == "edit" and ok is not False:
            changes = call.changes[:_CHANGES]
            paths = self._relative(one.path for one in changes)
            said = self._uses.edited(session, [Edit(path, one.old, one.new) for path, one in zip(paths, changes, strict=True)])
            self._doubt(session, said.doubts)
            return said.used
        if call.action == "test" and event.get("kind") == "tool_result":
            return self._uses.tested(session, _passed(ok, args, text))
        return self._uses.cited_in(session, call.command).used if call.command else []

    def _doubt(self, session: str, doubts: Sequence[Doubt]) -> None:
        if doubts and not self._is_contaminated(session):
            for doubt in doubts:
                self._doubted(session, doubt)

    def _known(self, ids: Sequence[str]) -> list[Known]:
        describer = self._book.describer()
        rows = self._book.index().rows(ids).values()
        return [
            Known(row.id, row.short_id, row.content, tuple(describer.info(row).files))
            for row in rows
            if row.status in LIVE_STATUSES and not is_held(row)
        ]


def _passed(ok: bool | None, args: Mapping[str, object], text: str) -> bool | None:
    """Whether a test run of an agent passed; None if unknown.

    The result follows from the exit code in `args`, or else from `ok`. If both are missing, the output `text` is read.
    """
    code = args.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool):
        return code == 0
    return outcome(text, test=True)[0] if ok is None else ok
