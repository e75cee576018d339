"""The sessions that have not ended, and their checkpoint logs.

The most recently active sessions are in memory. The others are on disk only, and are restored from their logs when needed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from graphmem.observe.counts.acts import Act
from graphmem.observe.model import SessionInfo
from graphmem.observe.running.checkpoint import Trail
from graphmem.observe.running.restoring import restored
from graphmem.observe.running.rivals import Rivals
from graphmem.observe.running.running import Running
from graphmem.observe.running.session_files import SessionFiles

MAX_RUNNING: Final = 64  # sessions in memory; the others are on disk only


class OpenSessions:
    """The sessions of one project that have not ended. Not thread-safe.

    Args:
        files: the checkpoint logs and records of the project's sessions.
    """

    def __init__(self, files: SessionFiles) -> None:
        self.running: OrderedDict[str, Running] = OrderedDict()  # in memory, least recently active first
        self.heard: dict[str, datetime] = {}  # time of the last event of each
        self._files = files
        self._trails: dict[str, Trail] = {}
        self._resting: dict[str, SessionInfo] = {}  # sessions that are on disk only
        self._outside: dict[str, tuple[str, ...]] = {}  # sources of external text in sessions that are on disk only
        self._rivals = Rivals()

    def __len__(self) -> int:
        return len(self.running) + len(self._resting)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self.running, *self._resting}))

    def __contains__(self, named: object) -> bool:
        return named in self.running or named in self._resting

    def infos(self) -> list[tuple[SessionInfo, int, datetime | None]]:
        """Return all sessions, sorted by id.

        Returns:
            (information, number of events, time of the last event) of each session. The number is 0 for a session that is not in memory.
                The time is None if unknown.
        """
        rows = [(one.info, one.events, self.heard.get(named)) for named, one in self.running.items()]
        rows += [(info, 0, self.heard.get(named)) for named, info in self._resting.items()]
        return sorted(rows, key=lambda row: row[0].id)

    def companions(self, info: SessionInfo) -> list[str]:
        """Return ids of the other open sessions of a session's group.

        A group is a set of sessions whose agents work side by side on one task.
        """
        found = [one.info for one in self.running.values()] + list(self._resting.values())
        return [one.id for one in found if info.group and one.group == info.group and one.id != info.id]

    def find_logs(self) -> list[str]:
        """Find the logs that an earlier process left; return their sessions' ids.

        The session of such a log continues when an event for the session arrives.
        """
        found = []
        for path, info in self._files.left():
            self._resting[info.id] = info
            self.heard[info.id] = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            found.append(info.id)
        return found

    def get(self, named: str) -> Running | None:
        """Return the session `named`, restored from its log if necessary.

        The result is None if no such session is open.
        """
        running = self.running.get(named)
        if running is not None:
            self.running.move_to_end(named)
            return running
        if named not in self._resting:
            return None
        path = self._files.trail(named)
        running, size = restored(path)
        if running is None:
            self._resting.pop(named, None)
            return None
        self._trails[named] = Trail(path, size)
        self._add(named, running)
        return running

    def begin(self, running: Running, roots: Sequence[str], now: datetime, parent: str = "") -> None:
        """Add a new session, and begin its log.

        Args:
            running: the session.
            roots: the folders of its project.
            now: the current time.
            parent: id of the session from which the new one is forked, or "". The new log begins with a copy of the parent's log.
        """
        named = running.info.id
        if parent:
            self.write(parent)
        self._add(named, running)
        trail = Trail(self._files.trail(named))
        trail.start(running.info, roots)
        self._trails[named] = trail
        if parent:
            try:
                trail.fork(self._files.trail(parent))
            except OSError as error:
                self._files.refused(error)
        self.heard[named] = now
        self.write(named)

    def forget(self, named: str) -> None:
        """Remove an ended session from the open sessions; keep its log file."""
        self.running.pop(named, None)
        self._resting.pop(named, None)
        self._outside.pop(named, None)
        self._trails.pop(named, None)
        self.heard.pop(named, None)

    def outside_sources(self, named: str) -> tuple[str, ...]:
        """Return the sources of external text that a session has read.

        A source is a page, tool, command or file. If the session is only on disk, its log is read without making the session active.
        """
        running = self.running.get(named)
        if running is not None:
            return running.strangers()
        if named not in self._outside:
            found = restored(self._files.trail(named))[0]
            self._outside[named] = found.strangers() if found is not None else ()
        return self._outside[named]

    def log(self, running: Running, acts: Sequence[Act]) -> None:
        """Add the acts of an event to a session's log.

        For an edit, conflicts are recorded too. A conflict is an edit of the same file by another session at about the same time.
        """
        trail = self._trails[running.info.id]
        for place, act in enumerate(acts):
            trail.act(act, running.fresh_marks if place == 0 else ())
            if place == 0:
                running.fresh_marks = []
            if act.action == "edit" and act.ok is not False:
                for path in act.paths:
                    for met in self._rivals.edited(running, path, act, self.running):
                        self._trails[met.session].rival(met.path, met.other, met.apart, met.mark)

    def write(self, named: str) -> None:
        """Write a session's new log lines to the file."""
        trail = self._trails.get(named)
        if trail is not None:
            self._files.write(trail)

    def checkpoint(self, named: str) -> None:
        """Write a running session's log to its file, and force the file to disk."""
        running, trail = self.running.get(named), self._trails.get(named)
        if running is not None and trail is not None:
            running.messages_since = 0
            self._files.write(trail)
            self._files.force(trail)

    def _add(self, named: str, running: Running) -> None:
        self.running[named] = running
        self._resting.pop(named, None)
        self._outside.pop(named, None)
        while len(self.running) > MAX_RUNNING:
            oldest, resting = next(iter(self.running.items()))
            self.write(oldest)
            self.checkpoint(oldest)
            self._resting[oldest] = resting.info
            del self.running[oldest]
            del self._trails[oldest]
