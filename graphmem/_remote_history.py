"""The verbs of history over a running server: each names its operation and the answer it is rebuilt as."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from graphmem._wire import Wire, rebuild
from graphmem.answers import CoAccessAnswer, FileHistory


class RemoteHistoryVerbs:
    """Part of `RemoteGraphMem`; the verbs and answers of `graphmem.service.history.HistoryVerbs`."""

    _wire: Wire

    def co_access(self, files: Sequence[str], k: int = 10, *, depth: int = 1, min_sessions: int = 0) -> CoAccessAnswer:
        """See `HistoryVerbs.co_access`."""
        found = self._wire.ask("CoAccess", files=list(files), depth=depth, minSessions=min_sessions, limit=k)
        return rebuild(CoAccessAnswer, found["coAccess"])

    def file_history(self, paths: Sequence[str]) -> list[FileHistory]:
        """See `HistoryVerbs.file_history`; from outside, of named files."""
        return [rebuild(FileHistory, one) for one in self._wire.ask("FileHistory", paths=list(paths))["fileHistory"]]

    def record_co_access(
        self, files: Sequence[str], at: datetime | str | None = None, *, session: str = "", offsets: Sequence[float] = ()
    ) -> None:
        """See `HistoryVerbs.record_co_access`."""
        self._wire.ask("RecordCoAccess", files=list(files), at=_iso(at), session=session, offsets=list(offsets) or None)

    def record_rename(self, old: str, new: str, at: datetime | str | None = None) -> None:
        """See `HistoryVerbs.record_rename`."""
        self._wire.ask("RecordRename", old=old, new=new, at=_iso(at))


def _iso(at: datetime | str | None) -> str | None:
    return at.isoformat() if isinstance(at, datetime) else at
