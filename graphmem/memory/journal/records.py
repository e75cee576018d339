"""Convert memories to entries of the journal, and entries to memories.

A journal entry is readable JSON. The first entry of a memory has its whole row; later entries have only the changed fields. Empty values
are left out. Applying all entries in order gives every memory. Applying only the newest entries brings an older database up to date.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from graphmem.knowledge import AboutRow, KnowledgeDelta, LearntRow, MemoryRow, NamedFile, RelatesRow, SessionRow
from graphmem.memory.journal.journal_lines import Entry, Line, body
from graphmem.store.base import Knowledge

_TIMES: Final = frozenset(name for name in MemoryRow._fields if name.endswith("_at") or name.startswith("valid_"))
_EMPTY: Final[dict[str, object]] = dict.fromkeys(MemoryRow._fields) | {
    "strength": 0,
    "needs_review": False,
    "user_verified": False,
    "disputed": False,
    "contaminated": False,
    "tags": (),
    "injected_count": 0,
    "used_count": 0,
    "confirmed_count": 0,
    "text_hash": "",
    "embedding_model": "",
}
# The state of a vector changes without any operation, and is derived again from the texts.
_DERIVED: Final = frozenset({"id", "text_hash", "embedding_model"})


class Event(NamedTuple):
    """One operation on a memory, as the audit log records it."""

    op: str
    memory_id: str = ""  # "" when it is not about one memory
    before: str = ""  # fingerprint before
    after: str = ""
    note: str = ""


def bodies_of(
    delta: KnowledgeDelta, events: Sequence[Event], before: Mapping[str, MemoryRow], at: datetime, actor: str, **extra: object
) -> list[Line]:
    """Return the journal entries that record one write of memories.

    One entry for each event comes first, in the order of the events. One entry for each memory that changed without an event follows.

    Args:
        delta: the changes of the write.
        events: the operations to record for the audit.
        before: previous rows of the changed memories, by id; new memories have none.
        at: the time.
        actor: name of the writing person or program.
        **extra: additional fields of the first entry.
    """
    rows = {row.id: row for row in delta.memories}
    removed = set(delta.removed_memories)
    about: dict[str, list[list[Any]]] = defaultdict(list)
    relates: dict[str, list[list[Any]]] = defaultdict(list)
    parted: dict[str, list[list[str]]] = defaultdict(list)
    learnt: dict[str, list[list[Any]]] = defaultdict(list)
    for link in delta.about:
        about[link.memory_id].append(list(link[1:]))
    for relation in delta.relates:
        relates[relation.src].append(list(relation[1:]))
    for src, dst, kind in delta.removed_relates:
        parted[src].append([dst, kind])
    for lesson in delta.learnt:
        learnt[lesson.memory_id].append(list(lesson[1:]))
    anchored = set(delta.anchored)
    told: set[str] = set()
    moment = at.isoformat()
    lines: list[Line] = []
    owners = {*rows, *removed, *anchored, *relates, *parted, *learnt}
    silent = sorted(owners - {event.memory_id for event in events})
    for event in [*events, *(Event("link", one) for one in silent)]:
        payload: dict[str, Any] = {}
        one = event.memory_id
        if one and one not in told:
            told.add(one)
            if one in rows:
                payload["row" if one not in before else "set"] = _encoded(rows[one], before.get(one))
            if one in removed:
                payload["removed"] = True
            if one in anchored:
                payload["about"] = about.get(one) or None
                payload["unlinked"] = None if one in about else True
            payload.update(relates=relates.get(one), parted=parted.get(one), learnt=learnt.get(one))
        if not lines:
            payload["files"] = [list(file) for file in delta.files]
            payload["sessions"] = [[plain(value) for value in session] for session in delta.sessions]
            payload.update(extra)
        lines.append(body(moment, actor, event.op, one, event.before, event.after, event.note, **payload))
    return lines


class Replay:
    """Computes memories by applying entries of the journal in order.

    Args:
        known: the memories to start from: those of a database, or nothing for a full replay.
    """

    def __init__(self, known: Knowledge | None = None) -> None:
        self.memories: dict[str, MemoryRow] = {row.id: row for row in known.memories} if known else {}
        self.about: dict[str, list[AboutRow]] = defaultdict(list)
        self.relates: dict[tuple[str, str, str], RelatesRow] = {(row.src, row.dst, row.kind): row for row in known.relates} if known else {}
        self.sessions: dict[str, SessionRow] = {row.id: row for row in known.sessions} if known else {}
        self.learnt: dict[tuple[str, str], LearntRow] = {(row.memory_id, row.session_id): row for row in known.learnt} if known else {}
        self.files: dict[str, NamedFile] = {}
        self.aliases: dict[str, list[str]] = {}
        for link in known.about if known else ():
            self.about[link.memory_id].append(link)
        self.touched: set[str] = set()
        self.removed: set[str] = set()
        self.anchored: set[str] = set()
        self.parted: set[tuple[str, str, str]] = set()
        self.new_sessions: set[str] = set()

    def take(self, entries: Iterable[Entry]) -> Replay:
        """Apply entries of the journal, oldest first; return this object."""
        for entry in entries:
            self._take(entry.body)
        return self

    def delta(self) -> KnowledgeDelta:
        """Return the changes of all applied entries, as one write of memories."""
        touched = sorted(one for one in self.touched if one in self.memories)
        return KnowledgeDelta(
            memories=[self.memories[one] for one in touched],
            removed_memories=sorted(self.removed),
            anchored=sorted(one for one in self.anchored if one in self.memories),
            about=[link for one in sorted(self.anchored) if one in self.memories for link in self.about[one]],
            files=[self.files[key] for key in sorted(self.files)],
            relates=[row for key, row in sorted(self.relates.items()) if key[0] in self.memories and key[1] in self.memories],
            removed_relates=sorted(self.parted - self.relates.keys()),
            sessions=[self.sessions[key] for key in sorted(self.new_sessions) if key in self.sessions],
            learnt=[row for key, row in sorted(self.learnt.items()) if key[0] in self.memories],
        )

    def _take(self, line: Mapping[str, Any]) -> None:
        if line.get("op") == "delete_all":
            self.removed |= self.memories.keys()
            self.memories.clear()
            self.relates.clear()
            self.learnt.clear()
            self.about.clear()
            self.touched.clear()
        for file_id, path in line.get("files", ()):
            self.files[file_id] = NamedFile(file_id, path)
        for values in line.get("sessions", ()):
            fields: dict[str, Any] = dict(zip(SessionRow._fields, values, strict=True))
            fields.update({name: _time(value) for name, value in fields.items() if name.endswith("_at")})
            session = SessionRow(**fields)
            self.sessions[session.id] = session
            self.new_sessions.add(session.id)
        if "alias" in line:
            term, means = line["alias"]
            self.aliases.pop(term, None)
            if means:
                self.aliases[term] = means
        one = line.get("memory", "")
        if not one:
            return
        if line.get("removed"):
            self._remove(one)
            return
        if "row" in line:
            self.memories[one] = _decoded(one, _EMPTY, line["row"])
            self.removed.discard(one)
            self.touched.add(one)
        elif "set" in line and one in self.memories:
            self.memories[one] = _decoded(one, self.memories[one]._asdict(), line["set"])
            self.touched.add(one)
        if "about" in line or line.get("unlinked"):
            self.about[one] = [AboutRow(one, *link) for link in line.get("about", ())]
            self.anchored.add(one)
        for dst, kind in line.get("parted", ()):
            self.relates.pop((one, dst, kind), None)
            self.parted.add((one, dst, kind))
        for dst, kind, confidence, auto in line.get("relates", ()):
            self.relates[one, dst, kind] = RelatesRow(one, dst, kind, confidence, auto)
        for session_id, first, last in line.get("learnt", ()):
            self.learnt[one, session_id] = LearntRow(one, session_id, first, last)

    def _remove(self, one: str) -> None:
        self.memories.pop(one, None)
        self.about.pop(one, None)
        self.touched.discard(one)
        self.removed.add(one)
        self.relates = {key: row for key, row in self.relates.items() if one not in key[:2]}
        self.learnt = {key: row for key, row in self.learnt.items() if key[0] != one}


def restated(row: MemoryRow, knowledge: Mapping[str, Sequence[AboutRow]]) -> dict[str, object]:
    """Return journal fields that record a whole memory and its links to code.

    `knowledge` maps the id of each memory to the memory's links.
    """
    return {"row": _encoded(row, None), "about": [list(link[1:]) for link in knowledge.get(row.id, ())]}


def _encoded(row: MemoryRow, before: MemoryRow | None) -> dict[str, object]:
    old = _EMPTY if before is None else before._asdict()
    return {
        name: plain(value)
        for name, value in zip(MemoryRow._fields, row, strict=True)
        if value != old[name] and (name not in _DERIVED or (before is None and name == "text_hash"))
    }


def _decoded(memory_id: str, base: Mapping[str, Any], fields: Mapping[str, Any]) -> MemoryRow:
    values = dict(base)
    for name, value in fields.items():
        values[name] = _time(value) if name in _TIMES else tuple(value) if name == "tags" else value
    return MemoryRow(**(values | {"id": memory_id}))


def plain(value: object) -> Any:
    """Return a value of a memory as `json.dumps` accepts it: a time as text."""
    return value.isoformat() if isinstance(value, datetime) else list(value) if isinstance(value, tuple) else value


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
