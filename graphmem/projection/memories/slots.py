"""Store memories in numbered slots, and find them by id and other keys.

A *slot* is the number of a memory's row: in the columns for filters, in the matrix of vectors and in the word index. All other data of a
memory are packed into bytes. They are unpacked when needed, because a search reads about a hundred memories of fifty thousand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from typing import Final

import numpy as np

from graphmem.knowledge import MemoryRow
from graphmem.projection.memories.columns import MemoryColumns, MemoryFilter, SlotVectors
from graphmem.projection.memories.links import MemoryLinks, drop
from graphmem.projection.memories.rows import micros, pack, searched, unpack
from graphmem.projection.memories.sight import seen
from graphmem.projection.memories.times import Timeline
from graphmem.projection.vectors import F32, Bool, Rows, best_rows
from graphmem.projection.words.postings import Postings

_FIRST_SLOTS: Final = 256
_NONE: Final[frozenset[int]] = frozenset()


class MemorySlots(MemoryLinks):
    """All memories, found by id, short id, text or filter.

    Args:
        generation: the database's counter of changes, as it was when the memories were read.
    """

    def __init__(self, generation: int = 0) -> None:
        super().__init__()
        self.generation = generation
        self.model_id = ""  # of the vectors
        self._slot_of: dict[str, int] = {}
        self._id_at: list[str] = []  # "" for a free slot
        self._packed: list[bytes] = []
        self._free: list[int] = []
        self._by_fingerprint: dict[str, list[str]] = {}
        self._by_short_id: dict[str, str] = {}
        self._slots_of_text: dict[str, list[int]] = {}
        self._slots_seen_by: dict[str, set[int]] = {}  # visibility -> slots
        self._timeline = Timeline()
        self._columns = MemoryColumns()
        self._vectors = SlotVectors()
        self._words = Postings()

    def reading(self) -> AbstractContextManager[bool]:
        """Return a lock; while a caller holds it, no memory changes.

        A caller holds the lock during several reads that must see the same state.
        """
        return self._lock

    # ---- rows

    def __len__(self) -> int:
        return len(self._slot_of)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._slot_of

    def row(self, memory_id: str) -> MemoryRow | None:
        """Return a memory; None if it is unknown or hidden from the caller."""
        with self._lock:
            slot = self._slot_of.get(memory_id)
            return None if slot is None or slot in self._hidden() else unpack(self._packed[slot])

    def rows(self, ids: Iterable[str]) -> dict[str, MemoryRow]:
        """Return memories by id, except unknown and hidden ones.

        A memory is hidden if the caller may not see it.
        """
        with self._lock:
            hidden = self._hidden()
            slots = {one: self._slot_of[one] for one in ids if one in self._slot_of}
            return {one: unpack(self._packed[slot]) for one, slot in slots.items() if slot not in hidden}

    def all_rows(self) -> Iterator[MemoryRow]:
        """Yield every memory by id, also superseded and deprecated ones.

        Memories written during the iteration may or may not be included.
        """
        with self._lock:
            ids = sorted(self._slot_of)
        for one in ids:
            row = self.row(one)
            if row is not None:
                yield row

    def ids(self, only: MemoryFilter | None = None) -> list[str]:
        """Return the ids of memories that match a filter, ascending."""
        with self._lock:
            mask = self._mask(only or MemoryFilter())
            return sorted(self._id_at[slot] for slot in np.flatnonzero(mask))

    def by_fingerprint(self, fingerprint: str) -> list[str]:
        """Return ids of memories whose content has this fingerprint (a hash).

        Superseded and deprecated memories are included. The ids are ascending.
        """
        with self._lock:
            return sorted(self._visible(self._by_fingerprint.get(fingerprint, ())))

    def by_short_id(self, short_id: str) -> str | None:
        """Return the id of the memory with this short id; None if unknown."""
        with self._lock:
            known = self._by_short_id.get(short_id)
            return known if known is not None and self._visible((known,)) else None

    def short_ids(self, prefix: str) -> list[str]:
        """Return short ids with a prefix, ascending.

        The cost is a scan of all short ids.
        """
        with self._lock:
            return sorted(short for short, one in self._by_short_id.items() if short.startswith(prefix) and self._visible((one,)))

    # ---- links that need the columns

    def live_about(self, node_id: str) -> list[str]:
        """Return ids of memories about a node of the code graph, unordered.

        Superseded and deprecated memories are left out.
        """
        with self._lock:
            return [one for one in self._visible(self._about_target.get(node_id, ())) if self._columns.live[self._slot_of[one]]]

    def of_session(self, session_id: str) -> list[str]:
        """Return ids of a session's memories, oldest first."""
        with self._lock:
            created = self._columns.created
            return sorted(self._visible(self._learnt_in.get(session_id, ())), key=lambda one: (int(created[self._slot_of[one]]), one))

    # ---- which memories the caller sees

    def _mask(self, only: MemoryFilter) -> Bool:
        """Return a mask of the slots (rows) whose memories match a filter."""
        mask = self._columns.mask(only, len(self._id_at))
        if hidden := self._hidden():
            mask[list(hidden)] = False
        return mask

    def _hidden(self) -> AbstractSet[int]:
        """Return the slots (rows) of the memories that the caller may not see.

        The lock must be held.
        """
        which = seen()
        if which is None:
            return _NONE
        hidden = set().union(*(slots for level, slots in self._slots_seen_by.items() if level not in which.levels))
        for level, ids in which.ids.items():
            slots = self._slots_seen_by.get(level, ())
            hidden -= {slot for one in ids if (slot := self._slot_of.get(one)) in slots and slot is not None}
        return hidden

    def _hidden_texts(self) -> Bool | None:
        """Return a mask of the slots (rows) that do not count for the caller.

        A word in a hidden memory must not change how rare the word is, because the scores would reveal it. None stands for no slots. The
        lock must be held.
        """
        return self._words.mask(self._hidden())

    def _visible(self, ids: Collection[str]) -> Collection[str]:
        """Return those of the memories `ids` that the caller may see.

        The lock must be held.
        """
        hidden = self._hidden()
        return [one for one in ids if self._slot_of[one] not in hidden] if hidden else ids

    def _best(self, rows: Rows, scores: F32, limit: int) -> list[tuple[str, float]]:
        """Return the `limit` memories with the best scores: (id, score).

        `rows` are slots of memories, and `scores` their scores. The best come first; ties are ordered by id.
        """
        rows, scores = best_rows(rows, scores, limit)
        found = [(self._id_at[row], float(score)) for row, score in zip(rows, scores, strict=True)]
        return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]

    # ---- changing

    def _put(self, rows: dict[str, MemoryRow]) -> None:
        """Add or replace the memories `rows` (id -> memory) in all indexes."""
        old, new, times = [], [], []
        self._make_room(sum(one not in self._slot_of for one in rows))
        for one, row in rows.items():
            slot = self._slot_of.get(one)
            words = searched(row)
            if slot is None:
                slot = self._free.pop()
                self._slot_of[one], self._id_at[slot] = slot, one
                new.append((slot, words))
            else:
                before = unpack(self._packed[slot])
                self._drop_keys(before, slot, keep_vector=before.text_hash == row.text_hash)
                if (was := searched(before)) != words:
                    old.append((slot, was))
                    new.append((slot, words))
            self._packed[slot] = pack(row)
            self._by_fingerprint.setdefault(row.fingerprint, []).append(one)
            self._by_short_id[row.short_id] = one
            self._slots_of_text.setdefault(row.text_hash, []).append(slot)
            self._slots_seen_by.setdefault(row.visibility, set()).add(slot)
            times.append((self._columns.put(slot, row), one))
        self._timeline.add(times)
        self._words.remove(old)
        self._words.add(new)

    def _forget(self, ids: Sequence[str]) -> None:
        old = []
        for one in ids:
            slot = self._slot_of.get(one)
            if slot is None:
                continue
            row = unpack(self._packed[slot])
            old.append((slot, searched(row)))
            self._drop_keys(row, slot, keep_vector=False)
            self._unlink(one)
            del self._slot_of[one]
            self._id_at[slot], self._packed[slot] = "", b""
            self._columns.clear(slot)
            self._free.append(slot)
        self._words.remove(old)

    def _drop_keys(self, row: MemoryRow, slot: int, *, keep_vector: bool) -> None:
        """Remove a memory from all look-up tables except the word index.

        The tables are those by fingerprint, short id, text hash, visibility and time. `slot` is the memory's row number. If `keep_vector`
        is false, the memory's vector is dropped, too.
        """
        drop(self._by_fingerprint, row.fingerprint, row.id)
        if self._by_short_id.get(row.short_id) == row.id:
            del self._by_short_id[row.short_id]
        drop(self._slots_of_text, row.text_hash, slot)
        self._slots_seen_by[row.visibility].discard(slot)
        self._timeline.remove((micros(row.created_at), row.id))
        if not keep_vector:
            self._vectors.present[slot] = False

    def _make_room(self, count: int) -> None:
        """Enlarge the arrays, if necessary, for `count` further memories."""
        if count <= len(self._free):
            return
        n = len(self._id_at)
        more = max(count - len(self._free), n // 2, _FIRST_SLOTS)
        self._id_at += [""] * more
        self._packed += [b""] * more
        self._free += range(n + more - 1, n - 1, -1)
        self._columns.grow(n + more)
        self._vectors.grow(n + more)
