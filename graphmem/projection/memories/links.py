"""In-memory links from memories to code, other memories and sessions."""

from __future__ import annotations

import marshal
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Container, Iterable
from datetime import datetime
from typing import Any, Final

from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, RelatesRow, SessionRow
from graphmem.projection.memories.rows import micros, moment

_SESSION_TIMES: Final = tuple(SessionRow._fields.index(name) for name in ("started_at", "ended_at", "stale_at"))


class MemoryLinks(ABC):
    """The links of all memories, in both directions.

    Any thread may read. A thread that changes links must hold the lock.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._about: dict[str, bytes] = {}
        self._about_target: dict[str, list[str]] = {}
        self._relates: dict[str, dict[tuple[str, str, str], RelatesRow]] = {}
        self._sessions: dict[str, SessionRow] = {}
        self._learnt: dict[str, dict[str, LearntRow]] = {}  # memory -> session -> row
        self._learnt_in: dict[str, set[str]] = {}  # session -> memories
        self._files: dict[str, str] = {}  # id of a named file -> its path

    @abstractmethod
    def __contains__(self, memory_id: object) -> bool:
        """Whether the index contains a memory."""

    @abstractmethod
    def _visible(self, ids: Collection[str]) -> Collection[str]:
        """Return those of the memories `ids` that the caller may see.

        The lock must be held.
        """

    def about(self, memory_id: str) -> list[AboutRow]:
        """Return the links of a memory to code, sorted by target and role."""
        with self._lock:
            packed = self._about.get(memory_id)
        return [] if packed is None else [AboutRow(memory_id, *fields) for fields in marshal.loads(packed)]  # noqa: S302 - our own bytes

    def targets(self, memory_id: str) -> dict[str, str]:
        """Return the nodes that a memory is about, with the state of each link.

        The result maps node ids, ascending, to states such as "valid" or "suspect". The state tells whether the node's code still exists
        unchanged.
        """
        packed = self._about.get(memory_id)
        return {} if packed is None else {fields[0]: fields[-1] for fields in marshal.loads(packed)}  # noqa: S302 - our own bytes

    def about_any(self, node_ids: Iterable[str]) -> set[str]:
        """Return ids of memories that link to any of the given nodes.

        Superseded and deprecated memories are included.
        """
        with self._lock:
            return set(self._visible(set().union(*(self._about_target.get(node, ()) for node in node_ids))))

    @property
    def anchored(self) -> Container[str]:
        """Return the ids of all nodes that any memory links to."""
        return self._about_target

    def about_target(self, node_id: str) -> list[str]:
        """Return ids of memories that link to a node, ascending.

        Superseded and deprecated memories are included.
        """
        with self._lock:
            return sorted(self._visible(self._about_target.get(node_id, ())))

    def path_of(self, file_id: str) -> str | None:
        """Return the path of the file with a given id, if a memory names the file.

        The code graph may lack such a file. This object knows only the memories that were written since it was built. If none of them names
        the file, the result is None.
        """
        return self._files.get(file_id)

    def relates(self, memory_id: str) -> list[RelatesRow]:
        """Return the links between a memory and other memories, sorted.

        Links of both directions are returned. A link is left out if the caller may not see one of its two memories.
        """
        with self._lock:
            rows = self._relates.get(memory_id, {})
            return [rows[key] for key in sorted(rows) if len(self._visible(key[:2])) == 2]

    def learnt(self, memory_id: str) -> list[LearntRow]:
        """Return the sessions in which a memory was learnt, or later confirmed."""
        with self._lock:
            rows = self._learnt.get(memory_id, {})
            return [rows[key] for key in sorted(rows)]

    def session(self, session_id: str) -> SessionRow | None:
        """Return a session, or None if it is unknown."""
        return self._sessions.get(session_id)

    # ---- keeping

    def _links_state(self) -> tuple[object, ...]:
        """Return all links as a tuple of values that `marshal` supports.

        `_restore_links` accepts the result.
        """
        return (
            self._about,
            self._about_target,
            [tuple(link) for one, links in self._relates.items() for link in links.values() if link.src == one],
            [_plain(row) for row in self._sessions.values()],
            [tuple(row) for rows in self._learnt.values() for row in rows.values()],
            self._files,
        )

    def _restore_links(self, state: tuple[Any, ...]) -> None:
        self._about, self._about_target, relates, sessions, learnt, self._files = state
        rows = [RelatesRow(*link) for link in relates]
        self._sessions = {row.id: row for row in map(_session, sessions)}
        self._patch_links(KnowledgeDelta(relates=rows, learnt=[LearntRow(*row) for row in learnt]))

    # ---- changing

    def _patch_links(self, delta: KnowledgeDelta) -> None:
        """Apply the changes of links that one write of memories made.

        `delta` has all changes of the write. Add its memories before this call.
        """
        self._files.update((file.id, file.path) for file in delta.files)
        self._anchor(delta)
        self._relate(delta)
        for one in delta.removed_sessions:
            self._sessions.pop(one, None)
        self._sessions.update((row.id, row) for row in delta.sessions)
        for learnt in delta.learnt:
            if learnt.memory_id in self:
                self._learnt.setdefault(learnt.memory_id, {})[learnt.session_id] = learnt
                self._learnt_in.setdefault(learnt.session_id, set()).add(learnt.memory_id)

    def _unlink(self, memory_id: str) -> None:
        self._anchor_one(memory_id, [])
        for link in list(self._relates.get(memory_id, {}).values()):
            self._unrelate((link.src, link.dst, link.kind))
        for session in self._learnt.pop(memory_id, {}):
            self._learnt_in[session].discard(memory_id)

    def _anchor(self, delta: KnowledgeDelta) -> None:
        """Update links from memories to code after a write.

        `delta` has all changes of the write. If the write changed the links of a memory, the new links replace all earlier links of this
        memory. Other memories keep their links.
        """
        links: dict[str, list[AboutRow]] = {one: [] for one in delta.anchored}
        for link in delta.about:
            links.setdefault(link.memory_id, []).append(link)
        for one, rows in links.items():
            if one in self:
                self._anchor_one(one, rows)

    def _anchor_one(self, memory_id: str, rows: list[AboutRow]) -> None:
        for target in {link.target_id for link in self.about(memory_id)}:
            drop(self._about_target, target, memory_id)
        self._about.pop(memory_id, None)
        if rows:
            rows = sorted(rows, key=lambda link: (link.target_id, link.role))
            self._about[memory_id] = marshal.dumps([(*link[1:7], str(link.anchor)) for link in rows])
            for target in sorted({link.target_id for link in rows}):
                self._about_target.setdefault(target, []).append(memory_id)

    def _relate(self, delta: KnowledgeDelta) -> None:
        for key in delta.removed_relates:
            self._unrelate(key)
        for link in delta.relates:
            if link.src in self and link.dst in self:
                for end in (link.src, link.dst):
                    self._relates.setdefault(end, {})[link.src, link.dst, link.kind] = link

    def _unrelate(self, key: tuple[str, str, str]) -> None:
        for end in key[:2]:
            links = self._relates.get(end)
            if links is not None and links.pop(key, None) is not None and not links:
                del self._relates[end]


def _plain(row: SessionRow) -> list[Any]:
    """Return a session as a list of plain values; its times become numbers."""
    return [micros(value) if isinstance(value, datetime) else value for value in row]


def _session(plain: list[Any]) -> SessionRow:
    """Return the session that `_plain` converted to a list of plain values."""
    return SessionRow._make(moment(value) if at in _SESSION_TIMES and value is not None else value for at, value in enumerate(plain))


def drop(lists: dict[str, list[Any]], key: str, value: object) -> None:
    """Remove `value` from the list of `key`.

    If the list is then empty, `key` is removed, too.
    """
    values = lists.get(key)
    if values is not None and value in values:
        values.remove(value)
        if not values:
            del lists[key]
