"""Copy a person's own memories to each project, from that person's file."""

from __future__ import annotations

import logging
import re
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.errors import GraphMemError
from graphmem.memory.files.user_book import USER, Own, UserBook
from graphmem.memory.repository.changes import forget_many
from graphmem.memory.texts.types import LIVE_STATUSES

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo
    from graphmem.memory.repository.repository import MemoryRepository

ACTOR: Final = "user"
# A request whose words say that it holds beyond this project.
EVERYWHERE: Final = re.compile(
    r"\b(?:in (?:all|every|any|each)(?: of)?(?: my| our)? ?(?:projects?|repos?\b|repositor(?:y|ies))|everywhere|wherever i work"
    r"|i (?:always |never |really |generally )?(?:prefer|like|dislike|hate)|my (?:preference|preferred|style))\b",
    re.IGNORECASE,
)
_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class UserMemories:
    """Keeps a project's copies of a person's own memories up to date."""

    book: MemoryRepository
    own: UserBook
    _seen: tuple[int, int] | None = field(default=None, init=False)  # state of the file at the last comparison
    _refused: tuple[int, int] | None = field(default=None, init=False)  # state of the file that could not be taken over
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def refresh(self, *, retry: bool = True) -> None:
        """Update the project's copies from the person's file of memories.

        If the file is missing, the project keeps its copies, because the home directory may be another one or not be mounted. The call is
        cheap if the file has not changed. Without `retry`, a file whose memories could not be copied is not read again until it changes.
        """
        now = self.own.state()
        if now is None or now == self._seen or (now == self._refused and not retry):
            return
        with self._lock:
            try:
                self._take(self.own.all())
            except GraphMemError as error:  # the next session tries again
                _log.warning("the memories of the user were not taken over: %s", error)
                self._refused = now
                return
            self._seen = now

    def keep(self, info: MemoryInfo) -> None:
        """Store a memory in the person's file, if it belongs to the person.

        A memory with the scope `user` belongs to the person. Memories that are excluded from search, and memories with untrusted text from
        outside, stay in the project only.
        """
        if info.scope == USER and not info.contaminated and info.status in LIVE_STATUSES:
            self.own.put(Own(info.id, info.content, info.type, tuple(info.tags)))

    def drop(self, ids: list[str]) -> None:
        """Remove the memories `ids` from the person's file.

        They disappear from all projects.
        """
        for one in ids:
            self.own.remove(one)

    def _take(self, entries: dict[str, Own]) -> None:
        with self.book.writing():
            index = self.book.index()
            copies = {row.id: row for row in index.all_rows() if row.scope == USER and row.status in LIVE_STATUSES}
            gone = sorted(set(copies) - set(entries))
            if gone:
                forget_many(self.book, gone, hard=True, actor=ACTOR, op="remove", note="no longer in the user's file")
            fresh = [one for one in entries.values() if one.id not in copies]
        items = [
            {"id": one.id, "content": one.content, "type": one.type, "tags": list(one.tags), "scope": USER, "visibility": "personal"}
            for one in fresh
        ]
        if items:
            answer = self.book.remember_many(items, source="user_taught", skip_invalid=True, actor=ACTOR)
            for refused in answer.refused:
                _log.warning("a memory of the user was not taken over: %s", refused.message)
