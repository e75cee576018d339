"""Confirm or weaken new memories after a day; undo a session's learning.

A memory that graphmem learns from a session is on trial for one day. If the memory was used by then, it is confirmed. If it was not used,
its importance is reduced.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from graphmem.answers import Forgotten
from graphmem.knowledge import KnowledgeDelta
from graphmem.memory.journal.records import Event
from graphmem.memory.repository.changes import forget_many
from graphmem.memory.texts.types import LIVE_STATUSES
from graphmem.observe.learning import gates
from graphmem.observe.learning.learner import ACTOR
from graphmem.observe.learning.verdicts import receipt_of

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.observe.ledger.ledger import Ledger


def settle(book: MemoryRepository, ledger: Ledger) -> int:
    """End the trial of memories that were learnt at least a day ago.

    A memory that was used, or that other sessions confirmed, gets the status "confirmed". A memory whose evidence contains external text
    keeps its status. The importance of a memory without use or confirmation is reduced.

    Returns:
        Number of memories whose trial ended.
    """
    now = book.clock.now()
    due = ledger.unsettled(now - timedelta(hours=gates.SETTLING_H))
    if not due:
        return 0
    with book.writing():
        rows = {row.id: row for row in book.index().rows(due).values() if row.status == "candidate"}
        changed = []
        for row in rows.values():
            if row.used_count or row.confirmed_count:
                changed += [row._replace(status="confirmed", updated_at=now)] if not row.contaminated else []
            else:
                changed.append(row._replace(importance=round(row.importance * gates.UNUSED, 6), updated_at=now))
        events = [
            Event(
                "update",
                row.id,
                row.fingerprint,
                row.fingerprint,
                "used within its day of trial" if row.status == "confirmed" else "not used",
            )
            for row in changed
        ]
        book.commit(KnowledgeDelta(memories=changed), events, rows, ACTOR)
    ledger.settle(due)
    return len(due)


def undo(book: MemoryRepository, ledger: Ledger, session: str, actor: str = "") -> Forgotten:
    """Retract the memories learnt from a session, and never learn them again.

    A memory is kept if a person confirmed it, or if another session supports it too. The result names retracted and kept memories.
    """
    parts = [receipt_of(body) for _, _, body, undone in ledger.receipts(session) if not undone]
    ids = sorted({one for part in parts for one in part.learnt})
    with book.writing():
        index = book.index()
        gone: list[str] = []
        kept: list[str] = []
        for row in index.rows(ids).values():
            if row.status not in LIVE_STATUSES:
                continue
            others = any(
                one.session_id != session and (node := index.session(one.session_id)) is not None and node.kind != "page"
                for one in index.learnt(row.id)
            )
            (kept if row.user_verified or row.status == "pinned" or others else gone).append(row.id)
        done = (
            forget_many(book, gone, hard=False, actor=actor, op="undo", note=f"promotion of {session}")
            if gone
            else Forgotten([], hard=False, dry_run=False)
        )
    ledger.bar(sorted(ledger.keys_of(gone).values()), book.clock.now())
    ledger.undo(session)
    return Forgotten(done.ids, hard=False, dry_run=False, kept=sorted(kept))
