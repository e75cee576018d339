"""Keeps journal and graph saying the same: replays what the graph missed, says again what the journal lost, and takes words out of both.

Each function wants the right to write (`MemoryBook.writing`), or the book while it is being opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from graphmem.knowledge import AboutRow, KnowledgeDelta, MemoryRow
from graphmem.memory.journal import LOST
from graphmem.memory.journal_lines import Head, Line
from graphmem.memory.records import Event, Replay, plain, restated
from graphmem.memory.redact import redact_all
from graphmem.projection.projections import JOURNAL_MARK

if TYPE_CHECKING:
    from graphmem.memory.book import MemoryBook
    from graphmem.store.base import Knowledge

META: Final = JOURNAL_MARK  # store meta: number and hash of the last entry the graph has
ALIASES: Final = "memory_aliases"  # store meta: aliases of search terms, JSON


def mark_of(head: Head) -> str:
    """Value of `META` when the graph has everything up to an entry."""
    return f"{head.number}:{head.sum}"


def level(book: MemoryBook) -> list[str]:
    """Bring graph and journal level; one sentence for each thing that had to be done.

    The last entry the graph has is compared with the last one there is, then the number of memories with what the journal says.
    """
    notes: list[str] = []
    meta = book.store.meta()
    number = int(meta.get(META, "").partition(":")[0] or 0)
    head, damaged = book.journal.head, book.journal.damaged
    if number < head.number:
        replay = _missing(book, number)
        book.replace_knowledge(replay.delta(), {ALIASES: _json(replay.aliases), META: mark_of(head)})
        notes.append(f"{head.number - number} entries of the memories' journal were not in the database yet and were replayed")
    if number > head.number:
        book.journal.notes.append(f"{book.journal.loss(number)}; what the database knows of them was written again")
    if number > head.number or damaged:
        notes += say_again(book, number)
    elif number == head.number and head.number and (stored := _count(book)) != (told := _told(book)):
        notes.append(f"the database has {stored} memories and the journal {told}; all were made again from the journal")
        make_again(book)
    book.journal.damaged = False
    return notes


def show_what_is_missing(book: MemoryBook) -> None:
    """Let readers see what the journal has and the graph does not, while the graph cannot be written to."""
    number = int(book.store.meta().get(META, "").partition(":")[0] or 0)
    if number < book.journal.head.number:
        index = book.index()
        index.patch(_missing(book, number).delta(), generation=index.generation)


def _missing(book: MemoryBook, number: int) -> Replay:
    """The graph's memories with all that the journal has after entry `number`."""
    replay = Replay(book.store.knowledge() if number else None)
    replay.aliases = json.loads(book.store.meta().get(ALIASES) or "{}")
    return replay.take(book.journal.entries(after=number))


def make_again(book: MemoryBook) -> tuple[int, int, int]:
    """Make every memory from the journal alone: (memories, those that were missing or different, those the journal does not know)."""
    book.flush()
    truth = Replay().take(book.journal.entries())
    known = book.store.knowledge()
    stored = {row.id: row for row in known.memories}
    gone = sorted(stored.keys() - truth.memories.keys())
    relations = {(row.src, row.dst, row.kind) for row in known.relates}
    delta = truth.delta()._replace(
        memories=[_with_vector(row, stored.get(row.id)) for row in truth.memories.values()],
        removed_memories=gone,
        removed_relates=sorted(relations - truth.relates.keys()),
    )
    restored = sum(_differs(row, stored.get(row.id)) for row in truth.memories.values())
    book.replace_knowledge(delta, {ALIASES: _json(truth.aliases), META: mark_of(book.journal.head)})
    return len(truth.memories), restored, len(gone)


def compare(book: MemoryBook) -> tuple[int, int, int]:
    """Hold the graph against the journal: memories that are missing, that differ, that the journal does not know.

    The caller holds `writing`.
    """
    book.flush()
    truth = Replay().take(book.journal.entries())
    stored = {row.id: row for row in book.store.knowledge().memories}
    missing = sum(one not in stored for one in truth.memories)
    different = sum(one in stored and _differs(row, stored[one]) for one, row in truth.memories.items())
    return missing, different, len(stored.keys() - truth.memories.keys())


def erase(book: MemoryBook, ids: set[str], actor: str) -> None:
    """Take every word of these memories out of the journal, for good. Their entries stay, empty."""

    def change(line: Line) -> Line | None:
        if line.get("memory") not in ids:
            return _without_ends(line, ids)
        return {name: line[name] for name in ("at", "op", "memory", "removed", "count") if name in line} | {"note": "erased"}

    _rewrite(book, change, f"{len(ids)} memories were removed for good", actor)


def clean_journal(book: MemoryBook, actor: str) -> None:
    """Take secrets that today's rules find out of every entry."""

    def change(line: Line) -> Line | None:
        clean: Line = redact_all({name: line[name] for name in ("row", "set", "note", "alias") if name in line}, [])
        return {**line, **clean}

    _rewrite(book, change, "secrets were taken out of earlier entries", actor)


def forget_everything(book: MemoryBook, ids: Sequence[str], sessions: Sequence[str], actor: str) -> list[str]:
    """Delete all memories and begin a new journal; returns names of files that are gone."""
    # The journal first says that all is gone: whatever happens after this, no memory comes back.
    gone = KnowledgeDelta(removed_memories=sorted(ids), removed_sessions=sorted(sessions))
    book.commit(gone, [Event("delete_all")], {}, actor, meta={ALIASES: "{}"}, count=0)
    book.flush()
    files = book.journal.delete()
    book.store.set_meta({META: ""})
    at = book.clock.now().isoformat()
    head = book.journal.append([{"at": at, "actor": actor, "op": "delete_all", "note": f"{len(ids)} memories were deleted", "count": 0}])
    book.store.set_meta({META: mark_of(head)})
    return files


def _rewrite(book: MemoryBook, change: Callable[[Line], Line | None], note: str, actor: str) -> None:
    book.flush()
    at = book.clock.now().isoformat()
    book.journal.rewrite(change, {"at": at, "actor": actor, "op": "rewrite", "note": note, "count": len(book.index())})
    book.store.set_meta({META: mark_of(book.journal.head)})


def say_again(book: MemoryBook, number: int = 0) -> list[str]:
    """Entries are lost, but the database has what they said: say it once more, so that the journal alone is enough again.

    Args:
        book: with the right to write, and nothing on its way into the graph.
        number: of the last entry the graph has.
    """
    gaps = book.journal.examine().gaps
    known = book.store.knowledge()
    about: dict[str, list[AboutRow]] = {}
    for link in known.about:
        about.setdefault(link.memory_id, []).append(link)
    truth = Replay().take(book.journal.entries())
    lost = [row for row in known.memories if _differs(row, truth.memories.get(row.id))]
    if not lost and not gaps and number <= book.journal.head.number:
        return []
    at = book.clock.now().isoformat()
    why = "entries of the journal were lost"
    lines: list[Line] = [
        {"at": at, "op": "restate", "memory": row.id, "after": row.fingerprint, "note": why, **restated(row, about)} for row in lost
    ] or [{"at": at, "op": "restate", "note": why}]
    _add_relations(lines, known, {row.id for row in lost})
    if gaps:
        lines[0][LOST] = [list(gap) for gap in gaps]
    head = book.journal.append(lines)
    book.store.set_meta({META: mark_of(head)})
    return [f"{len(lost)} memories were written to the journal again from the database"]


def _count(book: MemoryBook) -> int:
    return sum(int(row["memories"]) for row in book.store.read("memory_counts"))


def _told(book: MemoryBook) -> int:
    """Memories there are by the last entry that counted them."""
    counted = book.journal.latest(lambda body: "count" in body)
    return int(counted.body["count"]) if counted is not None else _count(book)


def _without_ends(line: Line, ids: set[str]) -> Line:
    """An entry of another memory without its links to these."""
    return {**line, **{name: [link for link in line[name] if link[0] not in ids] for name in ("relates", "parted") if name in line}}


def _add_relations(lines: list[Line], known: Knowledge, lost: set[str]) -> None:
    """Sessions and links between memories, in the entries that say the memories again."""
    first = {line["memory"]: line for line in lines if "memory" in line}
    for link in known.relates:
        if link.src in lost:
            first[link.src].setdefault("relates", []).append(list(link[1:]))
    for learnt in known.learnt:
        if learnt.memory_id in lost:
            first[learnt.memory_id].setdefault("learnt", []).append(list(learnt[1:]))
    lines[0]["sessions"] = [[plain(value) for value in one] for one in known.sessions]


def _with_vector(row: MemoryRow, stored: MemoryRow | None) -> MemoryRow:
    """A row from the journal keeps the vector the graph has of the same text."""
    same = stored is not None and stored.text_hash == row.text_hash
    return row._replace(embedding_model=stored.embedding_model if same and stored is not None else "")


def _differs(row: MemoryRow, other: MemoryRow | None) -> bool:
    return other is None or row._replace(embedding_model="", text_hash="") != other._replace(embedding_model="", text_hash="")


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
