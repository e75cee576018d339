"""What this door needs of history: part of `graphmem.api.verbs.Service`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from graphmem.answers import CoAccessAnswer, FileHistory


class HistoryService(Protocol):
    """The verbs of `graphmem.service.history.HistoryVerbs`."""

    def co_access(self, files: Sequence[str], k: int = 10, *, depth: int = 1, min_sessions: int = 0) -> CoAccessAnswer:
        """Files that move with these."""

    def file_history(self, paths: Sequence[str] | None = None) -> list[FileHistory]:
        """What history knows of files."""

    def record_co_access(
        self, files: Sequence[str], at: datetime | str | None = None, *, session: str = "", offsets: Sequence[float] = ()
    ) -> None:
        """Keep that files were touched together."""

    def record_rename(self, old: str, new: str, at: datetime | str | None = None) -> None:
        """Keep that a file goes on under another name."""
