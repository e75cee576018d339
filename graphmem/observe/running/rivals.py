"""Detect conflicts: sessions that edit a file at about the same time."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from graphmem.observe.counts.acts import Act
    from graphmem.observe.counts.tables import Mark
    from graphmem.observe.running.running import Running

OVERLAP_S: Final = 1_800.0  # maximum time between two agents' edits that conflict
MAX_EDITED: Final = 20_000  # files whose last editors are remembered; the least recently edited is dropped first
_EDITORS: Final = 8  # last editors of one file
_MEETINGS: Final = 20  # of one session for one file


class _Edit(NamedTuple):
    """An edit of a file: its session and its time."""

    session: str
    at: float
    mark: Mark


class Meeting(NamedTuple):
    """A concurrent edit of one file by two sessions, seen from one of them."""

    session: str  # the session that is informed
    path: str
    other: str
    apart: float  # seconds between their edits
    mark: Mark  # its own edit


class Rivals:
    """Stores which sessions last edited each file, to find conflicts.

    Not thread-safe: the caller must hold the observer's lock.
    """

    def __init__(self) -> None:
        self._edited: OrderedDict[str, deque[_Edit]] = OrderedDict()

    def edited(self, running: Running, path: str, act: Act, others: Mapping[str, Running]) -> Iterator[Meeting]:
        """Record an edit of a file; yield conflicts with other running sessions.

        Each conflict is yielded twice, once for each of the two sessions, and stored in both scratchpads. A conflict that is already stored
        is not yielded again.

        Args:
            running: the session that made the edit.
            path: the edited file.
            act: the edit, as an act.
            others: running sessions by id; only conflicts with these are found.
        """
        own = running.info
        editors = self._edited.get(path)
        if editors is None:
            if len(self._edited) >= MAX_EDITED:
                self._edited.popitem(last=False)
            editors = self._edited.setdefault(path, deque(maxlen=_EDITORS))
        began = running.pad.first_at or act.at
        for one in editors:
            rival, apart = others.get(one.session), abs(act.at - one.at)
            if one.session == own.id or rival is None or apart > OVERLAP_S or one.at < min(began, act.at) - 1.0:
                continue
            for who, whom, mark in ((running, one.session, (act.n, act.step)), (rival, own.id, one.mark)):
                seen = who.pad.rivals.setdefault(path, [])
                if len(seen) < _MEETINGS and not any(entry[0] == whom and entry[2] == mark for entry in seen):
                    seen.append((whom, apart, mark))
                    yield Meeting(who.info.id, path, whom, apart, mark)
        editors.append(_Edit(own.id, act.at, (act.n, act.step)))
