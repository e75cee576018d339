"""The state of one shared memory, computed from all operations on it.

Operations are applied in the order of the shared log. In the log, an operation comes after all operations that its author had seen. A
change of a field replaces only the values that the change's author had seen. The values that remain are the heads of the field. If a field
has several heads, people disagree, and all heads are shown. Counters are added up. Tags, links and relations are sets. A tag, link or
relation is removed when all operations that added it are undone.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from graphmem.memory.texts.types import FORGOTTEN
from graphmem.sharing.wire import FIELDS, Op, Write, spelled

TEXT: Final = "text"
STATUS: Final = "status"
WORDS: Final = (TEXT, "title", "details", "work_unit")  # fields with words of people
ENDED: Final = (FORGOTTEN, "superseded")  # statuses of memories that somebody took out of use
CAUTIOUS: Final = ("contaminated", "disputed", "needs_review")  # true if anybody says so
SURE: Final = ("user_verified",)  # true only if all say so
LATEST: Final = ("updated_at", "last_accessed_at")
HIGHEST: Final = ("confidence", "importance")  # of values that nobody chose
MOST_COUNT: Final = (1 << 62) - 1  # of a counter; more is not added, because databases have 64 bits
_QUIET: Final = frozenset({TEXT, *CAUTIOUS, *SURE, *LATEST, "created_at", "source", "commit_sha"})  # fields without listed disagreements
_NAMES: Final = uuid.UUID("6f1c3a52-8f0e-5b54-9d0a-6c1d2f7b9e10")


class Head(NamedTuple):
    """A current value of a memory's field, and the change that wrote it.

    A value stays current until an author who has seen it writes another. For example, if two people change a title at the same time, the
    title has two current values (heads).
    """

    op: str
    hlc: int
    person: str
    at: str
    value: Any
    auto: bool
    over: tuple[str, ...]


class Killed(NamedTuple):
    """The change by which a person forgot (deleted) a memory for good.

    `over` has the ids of the changes that wrote the erased texts.
    """

    hlc: int
    person: str
    at: str
    over: tuple[str, ...]


@dataclass
class Shared:
    """A shared memory, as computed from all changes of it so far.

    `heads` maps each field to its current values. `counts` maps counters to numbers. `elements` maps each tag, link and relation to the ids
    of the changes that added it.
    """

    id: str
    heads: dict[str, list[Head]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    elements: dict[str, list[str]] = field(default_factory=dict)
    killed: dict[str, Killed] = field(default_factory=dict)
    old: dict[str, list[str]] = field(default_factory=dict)  # field -> digests of values that were replaced

    # ---- applying

    def take(self, op: Op) -> Shared:
        """Apply one change to this memory; return the memory."""
        for name, write in op.set.items():
            heads = self.heads.get(name, [])
            gone = [head for head in heads if head.op in write.seen]
            digests = self.old.setdefault(name, [])
            digests += [one for head in gone if (one := digest(name, head.value)) not in digests]
            said = next((head for head in gone if name == TEXT and head.value is not None and head.value == write.value), op)
            new = Head(
                op.id, op.hlc, said.person, said.at, write.value, write.auto, write.over
            )  # a person who repeats the same value is not its author
            self.heads[name] = [*(head for head in heads if head.op not in (*write.seen, op.id)), new]
        for name, count in op.counts.items():
            known = self.counts.get(name, 0)
            self.counts[name] = min(max(known, count) if op.is_new else known + count, MOST_COUNT)
        for one in op.add:
            self.elements.setdefault(one, []).append(op.id)
        for one, ids in op.drop.items():
            if left := [each for each in self.elements.get(one, ()) if each not in ids]:
                self.elements[one] = left
            else:
                self.elements.pop(one, None)
        for one in op.revive:
            self.killed.pop(one, None)
        if op.forget is not None:
            self.killed[op.id] = Killed(op.hlc, op.person, op.at, op.forget)
            self.elements.clear()
            for name in WORDS:
                self.heads[name] = [
                    head._replace(value=None) if name != TEXT or head.op in op.forget else head for head in self.heads.get(name, ())
                ]
        return self

    # ---- reading

    @property
    def is_erased(self) -> bool:
        """Whether the memory was forgotten for good, or has no text."""
        return bool(self.killed) or self.value(TEXT) is None

    def value(self, name: str) -> Any:
        """Return the value to show for the field `name`; None without a value.

        If the field has several current values, every machine shows the same one.
        """
        head = self.head(name)
        return None if head is None else head.value

    def head(self, name: str) -> Head | None:
        """Return the value to show for the field `name`; None if it has no value.

        If people changed the field at the same time, the field has several current values (heads). Every machine then chooses the same one.
        """
        heads = self.heads.get(name, [])
        if name == TEXT:
            heads = [head for head in heads if head.value is not None] or heads
        if not heads:
            return None
        if name in CAUTIOUS or name in SURE:
            return next((head for head in heads if head.value is (name in CAUTIOUS)), heads[0])
        if name in LATEST:
            return max(heads, key=lambda head: (head.value or "", head.op))
        decided = [head for head in heads if not head.auto]
        if not decided and name in HIGHEST:
            return max(heads, key=lambda head: (head.value, head.op))
        return min(decided or heads, key=lambda head: (head.hlc, head.op))

    def disagreements(self) -> dict[str, list[Head]]:
        """Return the fields for which people chose different values.

        The value that is shown comes first in each list. Disagreements about the text become separate memories; see `settled`.
        """
        found: dict[str, list[Head]] = {}
        if self.is_erased:
            return found
        for name, heads in self.heads.items():
            first = self.head(name)
            by_key = {digest(name, head.value): head for head in heads if not head.auto}
            if name not in _QUIET and len(by_key) > 1 and first is not None:
                shown = digest(name, first.value)
                found[name] = [first, *(head for key, head in sorted(by_key.items()) if key != shown)]
        return found

    # ---- texts that two people wrote at the same time

    def settled(self, device: str, hlc: int, upto: int) -> list[Op]:
        """Return changes that split a memory with several texts.

        A memory has several texts if people changed its text at the same time, or if one changed it while another forgot or replaced the
        memory. The changes make a new memory of each further text, and the last one leaves this memory with one text. Otherwise the list
        is empty. All machines make changes with the same
        ids, so the log keeps each only once.

        Args:
            device: the name of this machine's copy of the memories.
            hlc: time of the changes by the hybrid clock, in microseconds.
            upto: number of the last change of the log that this machine has.
        """
        heads = sorted((head for head in self.heads.get(TEXT, ()) if head.value is not None), key=lambda head: (head.hlc, head.op))
        kills = self._kills()
        unseen = [head for head in heads if any(head.op not in over for over in kills.values())] if kills else []
        keys = {digest(TEXT, head.value): head for head in reversed(heads)}
        stays = self.head(TEXT)
        if stays is None or (len(keys) < 2 and not unseen):
            return []
        apart = [head for head in (unseen or heads) if unseen or digest(TEXT, head.value) != digest(TEXT, stays.value)]
        found = [self._copy(device, head, is_free=bool(unseen)) for head in {digest(TEXT, one.value): one for one in apart}.values()]
        seen = tuple(sorted(head.op for head in self.heads[TEXT]))
        one = _named("settle", self.id, *seen, *sorted(kills))
        writes = {TEXT: Write(stays.value, seen)}
        if self.killed:
            writes = {}
        elif unseen:
            status = self.head(STATUS)
            assert status is not None  # noqa: S101 - it says that the memory is forgotten
            writes[STATUS] = Write(status.value, tuple(head.op for head in self.heads[STATUS]), status.auto, (*seen, one))
        else:
            writes["disputed"] = Write(True, tuple(head.op for head in self.heads.get("disputed", ())), auto=True)
        settle = Op(one, device, hlc, stays.person, stays.at, self.id, writes, upto=upto)
        if self.killed:
            settle = settle._replace(forget=seen, revive=tuple(sorted(self.killed)), person=self._killer(), upto=0)
        return [*(op._replace(hlc=hlc, upto=upto) for op in found), settle]

    def _kills(self) -> dict[str, tuple[str, ...]]:
        """Map each forgetting or replacing change to the texts that it removes.

        A person may forget the memory, or replace it by another one. Such a change removes only the versions of the text that this person
        had seen. A version is given by the id of the change that wrote it.
        """
        if self.killed:
            return {one: kill.over for one, kill in self.killed.items()}
        head = self.head(STATUS)
        return {head.op: head.over} if head is not None and head.value[0] in ENDED and not head.auto else {}

    def _killer(self) -> str:
        return min(self.killed.values()).person if self.killed else getattr(self.head(STATUS), "person", "")

    def _copy(self, device: str, head: Head, *, is_free: bool) -> Op:
        """Return the change that makes a separate memory of a concurrent text.

        `head` has the text. If `is_free` is true, the new memory gets the status "confirmed"; otherwise it gets the status of this memory.
        `device` is the name of this machine's copy of the memories.
        """
        memory = _named("copy", self.id, head.value[0])
        values = {name: self.value(name) for name in FIELDS if self.heads.get(name)}
        values |= {TEXT: head.value, STATUS: ["confirmed", None, None], "needs_review": True, "disputed": True}
        values |= {"updated_at": head.at, "user_verified": False}
        if not is_free:
            values[STATUS] = self.value(STATUS)
        elements = [one for one in self.elements if not one.startswith('["relates"')]
        if not self.killed:
            elements.append(spelled("relates", self.id, "conflicts_with", 1.0, True))
        return Op(
            _named("make", memory),
            device,
            head.hlc,
            head.person,
            head.at,
            memory,
            {name: Write(value, auto=True) for name, value in sorted(values.items())},
            {"strength": 1},
            tuple(sorted(elements)),
            is_new=True,
            of=head.op,
        )


def digest(name: str, value: Any) -> str:
    """Return a hash of a field's value, for comparisons.

    `name` is the field. A value of the fields text and status is a list: the text or status, then times. The times are not hashed.
    """
    if (name == TEXT and value is not None) or name == STATUS:
        value = value[0]
    return hashlib.blake2b(orjson.dumps(value), digest_size=8).hexdigest()


def _named(*parts: str) -> str:
    """Return a UUID computed from strings, the same on every machine."""
    return str(uuid.uuid5(_NAMES, "\x1f".join(parts)))


def packed(state: Shared) -> bytes:
    """Encode the state of a memory as JSON bytes; `unpacked` reverses it."""
    return orjson.dumps(
        [
            {name: [list(head) for head in heads] for name, heads in state.heads.items()},
            state.counts,
            state.elements,
            {one: list(kill) for one, kill in state.killed.items()},
            state.old,
        ]
    )


def unpacked(memory: str, data: bytes) -> Shared:
    """Decode the state of a memory that `packed` encoded."""
    heads, counts, elements, killed, old = orjson.loads(data)
    return Shared(
        memory,
        {name: [Head(one[0], one[1], one[2], one[3], one[4], one[5], tuple(one[6])) for one in many] for name, many in heads.items()},
        counts,
        elements,
        {one: Killed(kill[0], kill[1], kill[2], tuple(kill[3])) for one, kill in killed.items()},
        old,
    )


def ids_of(heads: Sequence[Head]) -> list[str]:
    """Return ids of the changes that wrote the values `heads`.

    `heads` are the current values of a field.
    """
    return [head.op for head in heads]
