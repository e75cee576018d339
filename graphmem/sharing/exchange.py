"""Exchange memories between this machine and the shared log.

An exchange collects this machine's changes as operations, pushes them to the shared log and pulls the operations of others. If two people
changed one text at the same time, each text becomes a memory. The result is written to this machine's memories through the journal (the log
of writes). If a step is interrupted, the next exchange repeats it without duplicates.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.sharing import Disagreement, Said, SharingAnswer
from graphmem.errors import SharingError
from graphmem.knowledge import MemoryRow
from graphmem.memory.repository.changes import forget_many
from graphmem.memory.texts.types import FORGOTTEN, LIVE_STATUSES
from graphmem.sharing.collect import Collector
from graphmem.sharing.incoming import OP, Incoming, Tally
from graphmem.sharing.rows import is_shared
from graphmem.sharing.sidecar import DIRTY, UNLINKED, Sidecar
from graphmem.sharing.state import STATUS, TEXT, Shared, ids_of
from graphmem.sharing.wire import Write

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.sharing.postgres import SharedLog

MARK: Final = "exchange"  # key of the journal's entry that names the exchange
CLOCK_AHEAD: Final = timedelta(minutes=5)
ROUNDS: Final = 8  # of push and pull in one exchange; more than two only while others write
UNSURE: Final = "unsure"  # in place of `SharedLog.sight`: some states may lack operations
MOST: Final = 500  # memories written in one batch of the journal


class Exchange:
    """Exchanges the memories of one open project. Use it from one thread.

    Args:
        repository: the memories of this machine.
        sidecar: this machine's copy of the content of the shared log.
        person: name of the user, shown to others.
    """

    def __init__(self, repository: MemoryRepository, sidecar: Sidecar, person: str) -> None:
        self._book = repository
        self._side = sidecar
        self.person = person
        self._organised = False

    def run(self, log: SharedLog, project: str = "", *, unasked: bool = False) -> SharingAnswer:
        """Exchange all changes with the shared log, in both directions.

        `unasked` marks a run in the background. If all memories on this machine were deleted, such a run fails instead of fetching them
        again.

        Raises:
            SharingError: the database refused a call, or this machine's clock is wrong. Completed steps are kept.
        """
        tally = Tally()
        self.person = log.person or self.person
        self._organised = bool(log.person)
        self._expect_clock(log.now())
        self._expect_same_log(log)
        self._settle_pending()
        if self._collector().anchor() is None:  # the first exchange of this journal: what others said is compared with all of it
            if unasked and self._was_emptied():
                raise SharingError(
                    "all memories were deleted on this machine; run `graphmem sync` to fetch the team's memories again", reason="emptied"
                )
            self._side.begin_again()
            self._expect_same_log(log)
            self._pull(log, tally)
        self._collect()
        sight = self._look_again(log, tally)
        for _ in range(ROUNDS):
            self._push(log, tally)
            self._pull(log, tally)
            self._keep_apart()
            if self._side.waiting() <= len(log.refused):
                break
        if log.sight() != sight:  # meanwhile somebody may have seen parts of a memory that was hidden before
            self._side.put({"sight": UNSURE})
        self._materialise(tally)
        self._push(log, tally)  # what was changed here meanwhile
        tally.notes += _notes(log)
        log.note(self._side.device, tally.pulled)
        self._side.put({"last": self._now().isoformat(), "error": "", "person": log.person})
        return SharingAnswer(
            project=project,
            person=self.person,
            pushed=tally.pushed,
            pulled=tally.pulled,
            added=tally.added,
            changed=tally.changed,
            forgotten=tally.forgotten,
            waiting=self._side.waiting(),
            disagreements=self.disagreements(),
            notes=tally.notes,
        )

    def collect(self) -> None:
        """Prepare this machine's changes of memories for a later exchange.

        Before the first exchange nothing is prepared, because the first exchange compares all memories.
        """
        with self._book.writing():
            if self._collector().anchor() is not None:
                self._collector().collect()

    def disagreements(self) -> list[Disagreement]:
        """Return the fields of memories for which people chose different values.

        The result is grouped by memory. If people changed the text of a memory at the same time, each of the new texts is stored as a
        memory of its own. Such memories are returned as one disagreement about the field text.
        """
        found: list[Disagreement] = []
        index, apart = self._book.index(), self._side.apart()
        for one in self._side.ids():
            row = index.row(one)
            if row is None:
                continue
            if one in apart and (state := self._side.view(one)) is not None:
                for name, heads in state.disagreements().items():
                    sides = [Said(_display_text(name, head.value), head.person, head.at, "", "") for head in heads]
                    found.append(Disagreement(one, row.short_id, row.title, name, sides))
            if row.status not in LIVE_STATUSES:
                continue
            for other in (index.row(link.dst) for link in index.relates(one) if link.src == one and link.kind == "conflicts_with"):
                if other is not None and other.status in LIVE_STATUSES and is_shared(other):
                    texts = [side for side in (self._text_side(other), self._text_side(row)) if side is not None]
                    if len(texts) > 1:
                        found.append(Disagreement(other.id, other.short_id, other.title, TEXT, texts))
        return found

    def decide(self, row: MemoryRow, name: str, side: int) -> None:
        """Settle a disagreement about a memory's field by choosing one value.

        `side` is the number of the chosen value, counted from 1. The values are in the order in which `disagreements` lists them.

        Raises:
            SharingError: the disagreement is unknown, or has fewer sides.
        """
        with self._book.writing():
            if self._collector().anchor() is None:
                raise SharingError(
                    "this project has not exchanged memories with a team's database yet; run `graphmem sync` first", reason="unknown"
                )
            self._collect()
            state = self._side.view(row.id)
            heads = state.disagreements().get(name, []) if state is not None else []
            if not 1 <= side <= len(heads):
                raise SharingError(
                    f"the disagreement about the field {name} of memory #{row.short_id} has no value with the number {side}; "
                    "use a number that `graphmem sync --status` lists",
                    reason="unknown",
                )
            assert state is not None  # noqa: S101 - it has heads
            over = tuple(ids_of(state.heads.get(TEXT, []))) if name == STATUS else ()
            write = Write(heads[side - 1].value, tuple(ids_of(state.heads[name])), over=over)
            op = self._collector().op(row.id, self._now().isoformat(), {name: write})
            self._side.queue([op])
            self._side.mark(row.id, DIRTY)
            self._materialise(Tally())

    # ---- steps

    def _expect_clock(self, theirs: datetime) -> None:
        ahead = self._now() - theirs
        if ahead > CLOCK_AHEAD:
            raise SharingError(
                f"the clock of this machine is {ahead.total_seconds() / 60:.0f} minutes ahead of the database's clock; correct the "
                "clock of this machine, then sync again",
                reason="clock",
            )

    def _expect_same_log(self, log: SharedLog) -> None:
        """Delete the sidecar's content if the shared log lost what it had.

        Unsent operations are kept. The exchange that follows then compares all memories again.
        """
        epoch, cursor, known = log.epoch(), int(self._side.get("cursor", "0")), self._side.get("cursor_id")
        is_shorter = log.head() < cursor
        found = known and log.id_at(cursor)
        has = log.has(cursor, known) if known and not found and not is_shorter else None
        is_hidden = not found and not is_shorter and (has if has is not None else log.sight() != self._side.get("sight"))
        if self._side.get("epoch") not in ("", epoch) or is_shorter or (found != known and not is_hidden):
            self._side.begin_again()
        elif not known:  # an earlier version read the log
            self._side.put({"cursor_id": log.id_at(cursor)})
        self._side.put({"epoch": epoch})

    def _settle_pending(self) -> None:
        """Complete the bookkeeping of an earlier exchange that was interrupted.

        A base is a copy of a memory's values for the next comparison with the shared log. The interrupted exchange left new bases pending
        in the sidecar (this machine's file about the shared log). If the journal has the exchange's write, the pending bases are stored.
        Otherwise they are dropped.
        """
        token, bases = self._side.pending()
        if token:
            anchor = self._collector().anchor()
            entries = self._book.journal.entries(after=anchor.number if anchor is not None else 0)
            with self._side.writing():
                if any(entry.body.get(MARK) == token for entry in entries):
                    for one, base in bases.items():
                        self._side.put_base(one, base)
                self._side.put({"pending": ""})

    def _collect(self) -> None:
        with self._book.writing():
            self._collector().collect()

    def _push(self, log: SharedLog, tally: Tally) -> None:
        if waiting := self._side.outbox():
            numbers = log.push(waiting)
            tally.pushed += len(waiting) - len(log.refused)
            cursor = int(self._side.get("cursor", "0"))
            self._side.drop([one for one, number in numbers.items() if number <= cursor])  # somebody else said the same before

    def _pull(self, log: SharedLog, tally: Tally) -> None:
        own = self._side.device
        while True:
            cursor = int(self._side.get("cursor", "0"))
            page = log.pull(cursor)
            if page.last == cursor:
                return
            states: dict[str, Shared] = {}
            others = {op.memory for op in page.ops if op.device != own}
            hlc = int(self._side.get("hlc", "0"))
            limit = _microseconds(log.now() + CLOCK_AHEAD)
            for op in page.ops:
                state = states.get(op.memory) or self._side.state(op.memory) or Shared(op.memory)
                states[op.memory] = state.take(op)
                tally.pulled += op.device != own
                hlc = max(hlc, op.hlc if op.hlc <= limit else 0)
            with self._side.writing():
                for state in states.values():
                    self._side.put_state(state, by_others=state.id in others)
                self._side.drop([op.id for op in page.ops])
                self._side.put({"cursor": page.last, "cursor_id": page.last_id, "hlc": hlc})
            tally.notes += page.unreadable
            if page.last >= page.head:
                return

    def _look_again(self, log: SharedLog, tally: Tally) -> str:
        """Update this machine's memories if the person's access rights changed.

        `tally` counts the changes. Memories that became visible are fetched, and hidden ones are removed. A hidden memory is kept while
        this person's changes of it are unsent. Returns `SharedLog.sight`, a value that changes with the access rights.
        """
        sight = log.sight()
        if sight == self._side.get("sight"):
            return sight
        cursor = int(self._side.get("cursor", "0"))
        visible, known = log.visible(), {one for one in self._side.ids() if self._side.state(one) is not None}
        if self._side.get("sight") == UNSURE:
            known -= visible
        states: dict[str, Shared] = {}
        for op in log.of(sorted(visible - known), cursor).ops:
            states[op.memory] = states.get(op.memory, Shared(op.memory)).take(op)
        with self._side.writing():
            for state in states.values():
                self._side.put_state(state)
        tally.pulled += len(states)
        with self._book.writing():
            self._collect()
            index, lost = self._book.index(), sorted(known - visible)
            unsent = {one for one in lost if self._side.outbox(one)}
            gone = [one for one in lost if one not in unsent and (row := index.row(one)) is not None and is_shared(row)]
            if gone:
                forget_many(self._book, gone, hard=True, actor=OP, op="remove", note="no longer shared with this person")
            tally.forgotten += len(gone)
            with self._side.writing() as db:
                db.executemany("DELETE FROM memory WHERE id = ?", [(one,) for one in lost if one not in unsent])
                db.executemany("UPDATE memory SET state = NULL WHERE id = ?", [(one,) for one in unsent])
                if gone:
                    self._collector().move_anchor()
        self._side.put({"sight": sight})
        return sight

    def _keep_apart(self) -> None:
        """Prepare changes that turn concurrent texts into separate memories.

        Texts are concurrent if people wrote them for one memory without having seen the other text.
        """
        collector = self._collector()
        with self._side.writing():
            for one in self._side.ids(dirty=DIRTY):
                state = self._side.view(one)
                if state is None:
                    continue
                ops = state.settled(self._side.device, collector.tick(), int(self._side.get("cursor", "0")))
                fresh = [op for op in ops if not (op.is_new and self._side.view(op.memory) is not None)]
                self._side.queue(fresh)
                for op in fresh:
                    self._side.mark(op.memory, DIRTY)

    def _materialise(self, tally: Tally) -> None:
        """Update this machine's memories with other people's changes.

        The changes are in the sidecar, this machine's file about the shared log. `tally` counts them.
        """
        generation = str(self._book.store.generation())
        if self._side.get("generation") != generation:
            for one in self._side.ids(dirty=UNLINKED):
                self._side.mark(one, DIRTY)
            self._side.put({"generation": generation})
        dirty = self._side.ids(dirty=DIRTY)
        for start in range(0, len(dirty), MOST):
            with self._book.writing():
                self._collect()
                Incoming(self._book, self._side, self._collector()).write(dirty[start : start + MOST], tally)

    # ---- inside

    def _was_emptied(self) -> bool:
        first = next(self._book.journal.entries(), None)
        return first is not None and first.body.get("op") == "delete_all"

    def _collector(self) -> Collector:
        return Collector(self._book, self._side, self.person, organised=self._organised)

    def _text_side(self, row: MemoryRow) -> Said | None:
        state = self._side.view(row.id)
        head = state.head(TEXT) if state is not None else None
        return None if head is None else Said(row.content, head.person, head.at, row.id, row.short_id)

    def _now(self) -> datetime:
        return self._book.clock.now()


def _microseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)


def _display_text(name: str, value: Any) -> str:
    """Return the value of a memory's field as a string to show to people."""
    if name == STATUS:
        return "forgotten" if value[0] == FORGOTTEN else str(value[0])
    return "none" if value is None else str(value)


def _notes(log: SharedLog) -> list[str]:
    """Return notes for the answer about the rules of the team's database.

    They name the rules that forbade a change, and say whether the rules are those of an earlier version.
    """
    found = [f"the organisation refused an operation, which waits here: {rule}" for rule in sorted({*log.refused.values()})]
    if log.is_outdated:
        found.append("an earlier graphmem wrote the rules in the team's database; its owner should run `graphmem organisation found`")
    return found
