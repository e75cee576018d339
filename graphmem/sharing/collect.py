"""Find changes of this machine's memories, and prepare them for sharing.

A prepared change is an operation: one author's change of one memory (`wire.Op`). The journal (this machine's log of writes of memories)
shows which memories were written since the last exchange, and why. The base of a memory (`sidecar.Base`) has the memory's values at the
last comparison with the shared log. The difference between a memory and its base is the change. Changes of memories that must stay on this
machine never become operations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphmem.memory.texts.text import uuid7
from graphmem.memory.texts.types import FORGOTTEN
from graphmem.sharing.rows import FIELD_OF, Record, is_shared, record_of
from graphmem.sharing.sidecar import DIRTY, Base, Sidecar
from graphmem.sharing.state import STATUS, TEXT, WORDS, Shared, digest, ids_of
from graphmem.sharing.wire import FIELDS, Op, Write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphmem.memory.journal.journal_lines import Entry
    from graphmem.memory.reading.describe import Describer
    from graphmem.memory.repository.repository import MemoryRepository

# Operations of the journal with which a person or a caller decides. In `update` the note names the chosen fields.
_DECISIONS: Final = frozenset({"pin", "unpin", "verify", "dispute", "resolve", "supersede", "remove", "retract", "import", "undo"})
_ERASING: Final = frozenset({"remove", "retract"})
_BY_US: Final = "sync"
_INDEXED: Final = "anchor"
# Without a base nobody knows whether a value was chosen. These count as chosen, so that no such value is dropped.
_CHOSEN: Final = frozenset({TEXT, "title", "type", "visibility", "half_life_days", "details", "work_unit"})
_ABOUT: Final = '["about"'


class Anchor(NamedTuple):
    """The last journal entry whose change was prepared for sending.

    The journal is this machine's log of writes of memories. `number` is the entry's number, and `at` is its time.
    """

    number: int
    at: str


@dataclass
class _Touched:
    """Facts about one memory, from journal entries since the last exchange."""

    at: str = ""
    decided: set[str] = field(default_factory=set)
    has_links: bool = False
    ended_by: str = ""


class Collector:
    """Finds this machine's changes of memories, to send them to the team.

    The caller must hold the write lock, `MemoryRepository.writing`.

    Args:
        repository: the memories of this machine.
        sidecar: holds each memory's values at the last comparison, and the operations that wait to be sent.
        person: name of the author of the operations.
        organised: whether the shared database has accounts for people. If so, memories that other people wrote are not sent in the name of
            `person`.
    """

    def __init__(self, repository: MemoryRepository, sidecar: Sidecar, person: str, *, organised: bool = False) -> None:
        self._book = repository
        self._side = sidecar
        self._person = person
        self._organised = organised

    def anchor(self) -> Anchor | None:
        """Return the last journal entry whose change was prepared for sending.

        The journal is this machine's log of writes of memories. The result is None if no entry was prepared yet. It is also None if the
        journal lacks that entry, because the journal is new or was restored.
        """
        number, _, at = self._side.get("anchor").partition(" ")
        if not number:
            return None
        found = Anchor(int(number), at)
        if not found.number:
            return found
        entry = self._entry(found.number)
        return found if entry is not None and entry.body.get("at") == at else None

    def move_anchor(self) -> None:
        """Record that the journal was compared with the shared log up to its end.

        The journal is this machine's log of writes of memories. The next comparison begins after its current last entry.
        """
        number = self._book.journal.head.number
        entry = self._entry(number) if number else None
        self._side.put({"anchor": f"{number} {entry.body.get('at', '') if entry is not None else ''}"})

    def collect(self) -> None:
        """Prepare all memory changes since the last call, to be sent to the team."""
        anchor = self.anchor()
        touched = self._touched(self._book.journal.entries(after=anchor.number if anchor is not None else 0))
        ids = set(touched)
        if anchor is None:
            ids |= {*self._book.index().ids(), *self._side.ids()}
        describer = self._book.describer() if ids else None
        with self._side.writing():
            for one in sorted(ids):
                assert describer is not None  # noqa: S101 - there are ids
                self._compare(one, touched.get(one, _Touched()), describer, from_start=anchor is None)
            if ids or anchor is None or self._book.journal.head.number != anchor.number:
                self.move_anchor()

    def op(self, memory: str, at: str, writes: Mapping[str, Write], **parts: Any) -> Op:
        """Return a new operation on a memory, with this machine's user as author.

        `at` is the time of the change in ISO 8601; "" for now. `writes` maps fields to their new values, and `parts` are further fields of
        `Op`.
        """
        now = self._book.clock.now()
        return Op(uuid7(now), self._side.device, self.tick(), self._person, at or now.isoformat(), memory, dict(writes), **parts)

    def tick(self) -> int:
        """Return the next time of the hybrid clock, in microseconds.

        The result is the current time, but always later than the previous result.
        """
        now = int(self._book.clock.now().timestamp() * 1_000_000)
        tick = max(now, int(self._side.get("hlc", "0")) + 1)
        self._side.put({"hlc": tick})
        return tick

    # ---- inside

    def _entry(self, number: int) -> Entry | None:
        found = next(self._book.journal.entries(after=number - 1), None)
        return found if found is not None and found.number == number else None

    def _touched(self, entries: Iterable[Entry]) -> dict[str, _Touched]:
        found: dict[str, _Touched] = {}
        for entry in entries:
            body = entry.body
            one, op = body.get("memory", ""), body.get("op", "")
            if not one or op == _BY_US:
                continue
            touched = found.setdefault(one, _Touched())
            touched.at = body.get("at", "")
            names = {FIELD_OF.get(name, name) for name in (*body.get("row", ()), *body.get("set", ()))}
            if op == "update":
                said = {FIELD_OF.get(name, name) for name in body.get("note", "").split(", ")}
                touched.decided |= names & said
            elif op in _DECISIONS:
                touched.decided |= names
            touched.has_links |= op != _INDEXED and ("about" in body or "unlinked" in body or "row" in body)
            if body.get("removed"):
                touched.ended_by = op
        return found

    def _compare(self, one: str, touched: _Touched, describer: Describer, *, from_start: bool) -> None:
        row, base, view = self._book.index().row(one), self._side.base(one), self._side.view(one)
        if row is None or not is_shared(row):
            if base is not None:
                if (row is not None or touched.ended_by in _ERASING) and view is not None and not view.is_erased:
                    upto = base.upto if one in self._side.ids(dirty=DIRTY) else int(self._side.get("cursor", "0"))
                    self._side.queue([self.op(one, touched.at, {}, forget=self._erased(one, base), upto=upto)])
                self._side.put_base(one, None)
            return
        now = record_of(self._book, row, describer.name, self._is_shared_id)
        if base is not None:
            if not touched.has_links:
                links = [name for name in base.record.elements if name.startswith(_ABOUT)]
                now = now._replace(elements=sorted({*links, *(name for name in now.elements if not name.startswith(_ABOUT))}))
            self._changed(one, touched, base, now)
        elif view is None:
            if not (from_start and self._organised and not touched.at):  # only exchanges wrote it: its author sends it
                self._new(one, touched, now, Shared(one))
        elif not view.is_erased:
            self._collect_new(one, touched, view, now)
        elif not from_start:
            self._new(one, touched, now, view)
        else:
            self._side.mark(one, DIRTY)

    def _erased(self, one: str, base: Base) -> tuple[str, ...]:
        """Return the ids of the operations to erase with a forgotten memory.

        This machine's user forgets the memory `one` for good. The result has the operations that wrote the memory's texts, tags and links,
        as far as this machine has seen them. `base` lists the operations that were sent. The unsent ones are in the outbox.
        """
        found = {*base.past, *(each for name in WORDS for each in base.heads.get(name, ()))}
        found.update(each for ids in base.elements.values() for each in ids)
        known = {each for ids in (*base.heads.values(), *base.elements.values()) for each in ids}
        for op in reversed(self._side.outbox(one)):
            if op.id in known or (op.drop and not op.set):
                found.add(op.id)
                known.update(*(write.seen for write in op.set.values()), *op.drop.values())
        return tuple(sorted(found))

    def _new(self, one: str, touched: _Touched, now: Record, view: Shared) -> None:
        op = self.op(
            one,
            touched.at,
            {name: Write(value, tuple(ids_of(view.heads.get(name, [])))) for name, value in now.fields.items()},
            counts={name: count for name, count in now.counts.items() if count},
            add=tuple(now.elements),
            is_new=True,
            revive=tuple(view.killed),
        )
        op = op._replace(set={**op.set, STATUS: op.set[STATUS]._replace(over=(op.id,))})
        self._side.queue([op])
        self._side.put_base(one, Base(now, {name: [op.id] for name in now.fields}, {name: [op.id] for name in now.elements}))

    def _changed(self, one: str, touched: _Touched, base: Base, now: Record) -> None:
        was = base.record
        writes = {
            name: Write(now.fields[name], tuple(base.heads.get(name, ())), name not in touched.decided)
            for name in FIELDS
            if now.fields[name] != was.fields.get(name)
        }
        if TEXT in writes and STATUS not in writes and now.fields[STATUS][0] == FORGOTTEN:
            writes[STATUS] = Write(now.fields[STATUS], tuple(base.heads.get(STATUS, ())), STATUS not in touched.decided)
        count = {name: more for name, value in now.counts.items() if (more := value - was.counts.get(name, 0)) > 0}
        add = tuple(name for name in now.elements if name not in was.elements)
        drop = {name: tuple(base.elements.get(name, ())) for name in was.elements if name not in now.elements}
        if not (writes or count or add or drop):
            return
        op = self.op(one, touched.at, writes, counts=count, add=add, drop=drop)
        if STATUS in writes:
            over = (*base.heads.get(TEXT, ()), *([op.id] if TEXT in writes else []))
            op = op._replace(set={**op.set, STATUS: writes[STATUS]._replace(over=over)})
        self._side.queue([op])
        elements = {name: ids for name, ids in base.elements.items() if name not in drop} | {name: [op.id] for name in add}
        past = {*base.past, *(each for name in writes if name in WORDS for each in base.heads.get(name, ()))}
        past.update(each for ids in drop.values() for each in ids)
        self._side.put_base(one, Base(now, base.heads | {name: [op.id] for name in writes}, elements, sorted(past), base.upto))

    def _collect_new(self, one: str, touched: _Touched, view: Shared, now: Record) -> None:
        """Prepare changes of a memory that was never compared with the shared log.

        `one` is the id of the memory. `touched` has facts from the journal, such as the time of the change. `now` is the memory on this
        machine, and `view` is the shared memory. A value that neither is nor ever was a shared value is sent as a concurrent change, so
        that both values stay. A value that equals an earlier shared value is not sent, because it is an old copy.
        """
        writes: dict[str, Write] = {}
        heads: dict[str, list[str]] = {}
        for name, value in now.fields.items():
            known = view.heads.get(name, [])
            heads[name] = ids_of(known)
            key = digest(name, value)
            if key not in {digest(name, head.value) for head in known} and key not in view.old.get(name, ()):
                writes[name] = Write(value, auto=name not in _CHOSEN)
        count = {name: more for name, value in now.counts.items() if (more := value - view.counts.get(name, 0)) > 0}
        add = tuple(name for name in now.elements if name not in view.elements)
        if writes or count or add:
            op = self.op(one, touched.at, writes, counts=count, add=add)
            if STATUS in writes:
                op = op._replace(set={**op.set, STATUS: writes[STATUS]._replace(over=tuple(ids_of(view.heads.get(TEXT, []))))})
            self._side.queue([op])
            heads |= {name: [op.id] for name in writes}
        elements = {name: view.elements.get(name, []) for name in now.elements}
        self._side.put_base(one, Base(now, heads, elements))
        self._side.mark(one, DIRTY)

    def _is_shared_id(self, memory: str) -> bool:
        row = self._book.index().row(memory)
        return row is None or is_shared(row)
