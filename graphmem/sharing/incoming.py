"""Write the shared state of memories to this machine."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphmem.knowledge import KnowledgeDelta, MemoryRow, RelatesRow
from graphmem.memory.journal.records import Event
from graphmem.memory.repository.changes import forget_many
from graphmem.memory.repository.plan import Taken
from graphmem.memory.texts.types import FORGOTTEN
from graphmem.sharing.rows import Made, is_shared, made, record_of
from graphmem.sharing.sidecar import BY_OTHERS, UNLINKED, Base, Sidecar
from graphmem.sharing.state import STATUS, TEXT, Shared, ids_of

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.sharing.collect import Collector

OP: Final = "sync"  # operation of the journal's entries


@dataclass
class Tally:
    """Counts of one exchange: operations sent and received, memories changed."""

    pushed: int = 0
    pulled: int = 0
    added: int = 0
    changed: int = 0
    forgotten: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass
class _Update:
    """Changes that bring memories of this machine to their shared state.

    The keys of all tables are ids of memories.
    """

    states: dict[str, Shared]
    made: dict[str, Made] = field(default_factory=dict)  # the new rows and links
    before: dict[str, MemoryRow] = field(default_factory=dict)  # the old rows
    parted: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)  # relations to remove
    linked: dict[str, list[RelatesRow]] = field(default_factory=dict)  # relations to add
    anchored: list[str] = field(default_factory=list)  # memories whose links to code change
    gone: list[str] = field(default_factory=list)  # memories to delete

    def differs(self, key: str) -> bool:
        """Whether a memory changes."""
        is_new = self.made[key].row != self.before.get(key)
        return is_new or key in self.anchored or bool(self.linked[key] or self.parted[key])

    def delta(self) -> KnowledgeDelta:
        """Return the changes in the form that the store takes; no deletions."""
        files = {file.id: file for key in self.anchored for file in self.made[key].files}
        return KnowledgeDelta(
            memories=[one.row for key, one in self.made.items() if one.row != self.before.get(key)],
            anchored=self.anchored,
            about=[link for key in self.anchored for link in self.made[key].about],
            files=list(files.values()),
            relates=[link for links in self.linked.values() for link in links],
            removed_relates=[link for links in self.parted.values() for link in links],
        )


class Incoming:
    """Writes shared memories to this machine. The caller holds the write lock.

    Args:
        book: the memories of this machine.
        side: this machine's copy of the content of the shared log.
        collector: collects this machine's changes; its anchor moves with each write.
    """

    def __init__(self, book: MemoryRepository, side: Sidecar, collector: Collector) -> None:
        self._book = book
        self._side = side
        self._collector = collector

    def write(self, ids: Iterable[str], tally: Tally) -> None:
        """Write the shared state of the memories `ids` to this machine.

        The changes are counted in `tally`.
        """
        cursor = int(self._side.get("cursor", "0"))
        update = self._computed(ids, tally)
        events = self._events(update, tally)
        bases = {key: self._base(one.row, update.states[key], cursor) for key, one in update.made.items()}
        token = uuid.uuid4().hex
        self._side.put_pending(token, bases)
        if events:
            count = len(self._book.index()) + sum(one not in update.before for one in update.made)
            self._book.commit(update.delta(), events, update.before, OP, count=count, exchange=token)
            self._book.embed_soon()
        self._settle(update, bases)
        if update.gone:
            self._forget(update.gone)
            tally.forgotten += len(update.gone)

    def _computed(self, ids: Iterable[str], tally: Tally) -> _Update:
        """Compute rows and links of the memories `ids` from their shared state.

        A note is added to `tally` for each memory whose text has a secret.
        """
        index = self._book.index()
        used: set[str] = set()
        update = _Update({one: state for one in ids if (state := self._side.view(one)) is not None})
        for one, state in update.states.items():
            row = index.row(one)
            if row is not None and not is_shared(row):
                continue
            if state.is_erased:
                update.gone += [one] if row is not None else []
                continue
            if state.head(TEXT) is None or state.head(STATUS) is None:
                continue  # only parts of it were readable
            result = made(self._book, state, row, Taken(index, used))
            if result.redacted:
                tally.notes.append(f"a secret ({', '.join(sorted(set(result.redacted)))}) in #{result.row.short_id} was left out")
            used.add(result.row.short_id)
            update.made[one] = result
            if row is not None:
                update.before[one] = row
        known = update.made.keys() | set(index.ids())
        for key, result in update.made.items():
            update.parted[key] = self._parted(key, result)
            update.linked[key] = [link for link in result.relates if link.dst in known and link not in index.relates(key)]
            if set(result.about) != set(index.about(key)):
                update.anchored.append(key)
        return update

    def _events(self, update: _Update, tally: Tally) -> list[Event]:
        """Return an event for each memory that changes, for the audit log.

        The changes are counted in `tally`. Own operations, and links to code that was indexed meanwhile, are not counted.
        """
        by_others = set(self._side.ids(dirty=BY_OTHERS))
        events: list[Event] = []
        for key, result in update.made.items():
            was, head = update.before.get(key), update.states[key].head(TEXT)
            differs = update.differs(key)
            if differs:
                note = f"by {head.person}" if head is not None else ""
                events.append(Event(OP, key, was.fingerprint if was else "", result.row.fingerprint, note))
            if was is None:
                tally.added += 1
            elif differs and key in by_others:
                is_forgotten = result.row.status == FORGOTTEN != was.status
                tally.forgotten += is_forgotten
                tally.changed += not is_forgotten
        return events

    def _base(self, row: MemoryRow, state: Shared, cursor: int) -> Base:
        """Return the values of a memory with which its later values are compared.

        `row` is the memory on this machine, `state` the shared memory, and `cursor` the number of the last operation that was read.
        """
        record = record_of(self._book, row, lambda link: link.target_id, self._is_shared_id)
        return Base(record, {name: ids_of(heads) for name, heads in state.heads.items()}, state.elements, upto=cursor)

    def _settle(self, update: _Update, bases: Mapping[str, Base]) -> None:
        """Record that the memories of an update have their shared state.

        `bases` has the values of each memory, with which its later values are compared.
        """
        with self._side.writing():
            for one, base in bases.items():
                row = self._book.index().row(one)
                assert row is not None  # noqa: S101 - it was just written
                record = record_of(self._book, row, self._book.describer().name, self._is_shared_id)
                self._side.put_base(one, base._replace(record=record))
                self._side.mark(one, 0 if update.made[one].has_all_links else UNLINKED)
            for one in update.states.keys() - update.made.keys() - set(update.gone):
                self._side.mark(one, 0)
            self._side.put({"pending": ""})
            self._collector.move_anchor()

    def _forget(self, gone: Sequence[str]) -> None:
        """Delete the memories `gone`, which the team forgot, from this machine."""
        forget_many(self._book, gone, hard=True, actor=OP, op="remove", note="forgotten by the team")
        with self._side.writing():
            for one in gone:
                self._side.put_base(one, None)
                self._side.mark(one, 0)
            self._collector.move_anchor()

    def _parted(self, memory: str, one: Made) -> list[tuple[str, str, str]]:
        """Return the relations to remove from a memory of this machine.

        These are the relations that the shared memory `one` lacks. Relations to memories that are not shared are left out, because they
        stay. Each relation is (source id, target id, kind).
        """
        stay = {(link.dst, link.kind) for link in one.relates}
        links = [link for link in self._book.index().relates(memory) if link.src == memory and (link.dst, link.kind) not in stay]
        return [(link.src, link.dst, link.kind) for link in links if self._is_shared_id(link.dst)]

    def _is_shared_id(self, memory: str) -> bool:
        row = self._book.index().row(memory)
        return row is None or is_shared(row)
