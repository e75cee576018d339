"""Reconcile the journal of memories with the graph.

Changes that the graph lacks are replayed from the journal. Changes that the journal lost are appended to the journal again. The module also
erases text of memories from journal and graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from graphmem.knowledge import AboutRow, KnowledgeDelta, MemoryRow
from graphmem.memory.journal.journal import LOST
from graphmem.memory.journal.journal_lines import Head, Line
from graphmem.memory.journal.records import Replay, plain, restated
from graphmem.memory.texts.redact import redact_all
from graphmem.projection.kept_memories import JOURNAL_MARK

if TYPE_CHECKING:
    from graphmem.memory.journal.journal import Journal
    from graphmem.memory.reading.clock import Clock
    from graphmem.memory.repository.committer import Committer
    from graphmem.store.base import GraphStore, Knowledge

META: Final = JOURNAL_MARK  # store meta: number and hash of the last entry in the graph
ALIASES: Final = "memory_aliases"  # store meta: aliases of search terms, JSON


def mark_of(head: Head) -> str:
    """Return the string `number:hash` of the journal entry `head`.

    The graph stores the string of the last entry whose changes it contains, under the key `META`.
    """
    return f"{head.number}:{head.sum}"


class Recovery:
    """Makes one journal and one graph agree after a crash or damage.

    Each method needs the write lock (`MemoryRepository.writing`), or runs while the repository is opened.

    Args:
        journal: the source of truth.
        store: holds the graph.
        committer: writes accepted changes to the graph.
        clock: gives the time.
        replaced: called with the new generation (change count) of the graph after many memories were rewritten.
    """

    def __init__(self, journal: Journal, store: GraphStore, committer: Committer, clock: Clock, replaced: Callable[[int], None]) -> None:
        self._journal = journal
        self._store = store
        self._committer = committer
        self._clock = clock
        self._replaced = replaced

    def level(self) -> list[str]:
        """Reconcile graph and journal; return one sentence for each repair.

        Entries that the graph lacks are replayed. Memories that the journal lost are appended to the journal. If the journal was rewritten,
        or if journal and graph have different numbers of memories, all memories are rebuilt from the journal.
        """
        self._committer.flush()
        journal, notes = self._journal, list[str]()
        number = self._graph_at()
        head, damaged = journal.head, journal.damaged
        if number <= head.number and not self._agrees(number):
            self.rebuild()  # another process rewrote the past: words were erased there
            notes.append("the memories' journal was rewritten; all memories were rebuilt from it")
            number = head.number
        if number < head.number:
            truth = self._replayed(number)
            self._replace(truth, truth.delta())
            notes.append(f"{head.number - number} entries of the memories' journal were not in the database yet and were replayed")
        if number > head.number:
            journal.notes.append(f"{journal.loss(number)}; what the database knows of them was written again")
        if number > head.number or damaged:
            notes += self.restate(number)
        elif number == head.number and head.number and (stored := self._store.memory_count()) != (counted := self._counted()):
            notes.append(f"the database has {stored} memories and the journal {counted}; all were rebuilt from the journal")
            self.rebuild()
        journal.damaged = False
        return notes

    def missing(self) -> KnowledgeDelta | None:
        """Return the changes that the graph lacks and the journal has.

        The result is None if the graph has all changes of the journal.
        """
        number = self._graph_at()
        return self._replayed(number).delta() if number < self._journal.head.number else None

    def rebuild(self) -> tuple[int, int, int]:
        """Rebuild all memories from the journal alone.

        Memories that the journal does not contain are removed.

        Returns:
            Three numbers of memories: all rebuilt ones, those that were missing or different in the graph before, and those that were
                removed.
        """
        self._committer.flush()
        truth = Replay().take(self._journal.entries())
        known = self._store.knowledge()
        stored = {row.id: row for row in known.memories}
        gone = sorted(stored.keys() - truth.memories.keys())
        relations = {(row.src, row.dst, row.kind) for row in known.relates}
        delta = truth.delta()._replace(
            memories=[_with_vector(row, stored.get(row.id)) for row in truth.memories.values()],
            removed_memories=gone,
            removed_relates=sorted(relations - truth.relates.keys()),
        )
        self._replace(truth, delta)
        return len(truth.memories), sum(_differs(row, stored.get(row.id)) for row in truth.memories.values()), len(gone)

    def compare(self) -> tuple[int, int, int]:
        """Compare the memories in the graph with those in the journal.

        Returns three numbers of memories: those missing in the graph, those that differ, and those that the journal does not contain.
        """
        self._committer.flush()
        truth = Replay().take(self._journal.entries())
        stored = {row.id: row for row in self._store.knowledge().memories}
        missing = sum(one not in stored for one in truth.memories)
        different = sum(one in stored and _differs(row, stored[one]) for one, row in truth.memories.items())
        return missing, different, len(stored.keys() - truth.memories.keys())

    def erase(self, ids: set[str], actor: str) -> None:
        """Erase all text of some memories from the journal for good.

        Their entries remain without content.
        """

        def change(line: Line) -> Line | None:
            if line.get("memory") not in ids:
                return _without_ends(line, ids)
            return {name: line[name] for name in ("at", "op", "memory", "removed", "count") if name in line} | {"note": "erased"}

        self._rewrite(change, f"{len(ids)} memories were removed for good", actor)

    def redact(self, actor: str) -> None:
        """Remove secrets from all entries of the journal, by the current rules."""

        def change(line: Line) -> Line | None:
            clean: Line = redact_all({name: line[name] for name in ("row", "set", "note", "alias") if name in line}, [])
            return {**line, **clean}

        self._rewrite(change, "secrets were taken out of earlier entries", actor)

    def rewrite_as_is(self, note: str) -> None:
        """Rewrite all entries of the journal without changing their content.

        The entries are encrypted if encryption is on now, else plain. `note` is the reason, for the audit log.
        """
        self._rewrite(lambda line: line, note, "graphmem")

    def begin_again(self, deleted: int, actor: str) -> list[str]:
        """Start a new journal after all memories were deleted.

        `deleted` is their number, which the new journal records. Call this only when the old journal has recorded the deletion, so that no
        memory returns after a crash. The old journal's files are deleted, and their names returned.
        """
        self._committer.flush()
        files = self._journal.delete()
        self._store.set_meta({META: ""})
        note = f"{deleted} memories were deleted"
        self._append([{"at": self._now(), "actor": actor, "op": "delete_all", "note": note, "count": 0}])
        return files

    def restate(self, number: int = 0) -> list[str]:
        """Append memories of the graph that the journal has lost.

        The memories are read from the graph, so afterwards the journal has every memory that the graph has. Returns a list with one
        sentence about the repair; the list is empty if nothing was lost.

        Args:
            number: number of the last journal entry that the graph contains.
        """
        self._committer.flush()
        gaps = self._journal.examine().gaps
        known = self._store.knowledge()
        about: dict[str, list[AboutRow]] = {}
        for link in known.about:
            about.setdefault(link.memory_id, []).append(link)
        truth = Replay().take(self._journal.entries())
        lost = [row for row in known.memories if _differs(row, truth.memories.get(row.id))]
        if not lost and not gaps and number <= self._journal.head.number:
            return []
        at = self._now()
        why = "entries of the journal were lost"
        lines: list[Line] = [
            {"at": at, "op": "restate", "memory": row.id, "after": row.fingerprint, "note": why, **restated(row, about)} for row in lost
        ] or [{"at": at, "op": "restate", "note": why}]
        _add_relations(lines, known, {row.id for row in lost})
        if gaps:
            lines[0][LOST] = [list(gap) for gap in gaps]
        self._append(lines)
        return [f"{len(lost)} memories were written to the journal again from the database"]

    def _now(self) -> str:
        return self._clock.now().isoformat()

    def _append(self, lines: list[Line]) -> None:
        self._store.set_meta({META: mark_of(self._journal.append(lines))})

    def _rewrite(self, change: Callable[[Line], Line | None], note: str, actor: str) -> None:
        self._committer.flush()
        count = self._store.memory_count()
        self._journal.rewrite(change, {"at": self._now(), "actor": actor, "op": "rewrite", "note": note, "count": count})
        self._store.set_meta({META: mark_of(self._journal.head)})

    def _replace(self, truth: Replay, delta: KnowledgeDelta) -> None:
        meta = {ALIASES: json.dumps(truth.aliases, ensure_ascii=False, sort_keys=True), META: mark_of(self._journal.head)}
        self._replaced(self._store.apply_knowledge(delta, None, meta))

    def _graph_at(self) -> int:
        """Return the number of the last journal entry that the graph contains."""
        return int(self._store.meta().get(META, "").partition(":")[0] or 0)

    def _agrees(self, number: int) -> bool:
        """Return whether graph and journal have the same entry `number`.

        `number` is the last journal entry that the graph contains. The entries are the same if their hashes are equal. The result is also
        True if `number` is 0 or the journal lacks the entry.
        """
        mark = self._store.meta().get(META, "").partition(":")[2]
        if number in (0, self._journal.head.number):
            return number == 0 or mark == self._journal.head.sum
        found = next(self._journal.entries(after=number - 1), None)
        return found is None or found.number != number or found.sum == mark

    def _replayed(self, number: int) -> Replay:
        """Return the graph's memories with later changes of the journal applied.

        Later changes are the entries with a number above `number`. If `number` is 0, all memories come from the journal.
        """
        replay = Replay(self._store.knowledge() if number else None)
        replay.aliases = json.loads(self._store.meta().get(ALIASES) or "{}")
        return replay.take(self._journal.entries(after=number))

    def _counted(self) -> int:
        """Return the number of memories according to the journal.

        The number is taken from the newest journal entry that states one. If no entry states a number, the memories in the graph are
        counted.
        """
        counted = self._journal.latest(lambda body: "count" in body)
        return int(counted.body["count"]) if counted is not None else self._store.memory_count()


def _without_ends(line: Line, ids: set[str]) -> Line:
    """Remove relations to removed memories from a journal entry.

    `line` is the entry of a memory that is kept, and `ids` has the ids of the removed memories.
    """
    return {**line, **{name: [link for link in line[name] if link[0] not in ids] for name in ("relates", "parted") if name in line}}


def _add_relations(lines: list[Line], known: Knowledge, lost: set[str]) -> None:
    """Add relations and sessions of the memories `lost` to their entries.

    `lines` are journal entries that will restore the memories which the journal has lost. `known` has the relations and sessions in the
    graph. Each memory's entry gets the memory's relations and the ids of its sessions. The first entry also gets the rows of all sessions.
    """
    first = {line["memory"]: line for line in lines if "memory" in line}
    for link in known.relates:
        if link.src in lost:
            first[link.src].setdefault("relates", []).append(list(link[1:]))
    for learnt in known.learnt:
        if learnt.memory_id in lost:
            first[learnt.memory_id].setdefault("learnt", []).append(list(learnt[1:]))
    lines[0]["sessions"] = [[plain(value) for value in one] for one in known.sessions]


def _with_vector(row: MemoryRow, stored: MemoryRow | None) -> MemoryRow:
    """Set the name of the model of a memory's stored vector.

    `row` is the memory from the journal, `stored` the same memory from the graph. If `stored` is None or has another text, no vector is
    stored, and the name is "".
    """
    same = stored is not None and stored.text_hash == row.text_hash
    return row._replace(embedding_model=stored.embedding_model if same and stored is not None else "")


def _differs(row: MemoryRow, other: MemoryRow | None) -> bool:
    return other is None or row._replace(embedding_model="", text_hash="") != other._replace(embedding_model="", text_hash="")
