"""Read memories: one, a page, a timeline, or those to review.

The audit log of past operations is read here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from graphmem.answers import AuditEntry, AuditPage, MemoryInfo, MemoryPage, ReviewItem, ReviewQueue, Timeline
from graphmem.knowledge import MemoryRow
from graphmem.memory.journal.journal_lines import Entry, Line, text_of
from graphmem.memory.reading import lifecycle
from graphmem.memory.repository.fields import moment, path, refuse
from graphmem.memory.repository.filters import MemoryQuery, ordered
from graphmem.memory.texts.types import LIVE_STATUSES
from graphmem.model import file_id

if TYPE_CHECKING:
    from graphmem.memory.reading.reader import MemoryReader
    from graphmem.memory.repository.repository import MemoryRepository

MAX_PAGE: Final = 1_000
MAX_NEIGHBOURS: Final = 100
# Reasons for a review, most pressing first.
REASONS: Final = ("disputed", "conflict", "orphaned", "suspect", "contaminated", "needs_review", "stale")


def memory(repository: MemoryReader, memory_id: str) -> MemoryInfo:
    """Return one memory by its id.

    If the memory was merged into another one with the same text, the other one is returned.
    """
    row = repository.row(memory_id)
    if row.status == "superseded":
        index = repository.index()
        for link in index.relates(row.id):
            kept = index.row(link.src) if link.kind == "derived_from" and link.dst == row.id else None
            if kept is not None and kept.fingerprint == row.fingerprint:
                row = kept
                break
    return repository.describer().info(row)


def memories(repository: MemoryReader, query: MemoryQuery | Mapping[str, object] | None, sort: str, limit: int, offset: int) -> MemoryPage:
    """Return `limit` memories that match a filter, after `offset` others.

    `query` is the filter. `sort` is the name of an order, such as "newest". The answer also has the number of all memories that match.
    """
    _check_page(limit, offset)
    wanted = MemoryQuery.of(query)
    rows = ordered([row for row in _candidates(repository, wanted) if wanted.accepts(row)], sort)
    describe = repository.describer().info
    return MemoryPage([describe(row) for row in rows[offset : offset + limit]], len(rows))


def timeline(repository: MemoryReader, memory_id: str, n: int) -> Timeline:
    """Return a memory, and memories created shortly before and after it.

    At most `n` memories are returned on each side. Superseded and deprecated memories are left out.
    """
    if not 0 <= n <= MAX_NEIGHBOURS:
        raise refuse("n", f"n, the number of neighbours in time, is {n}; use 0 to {MAX_NEIGHBOURS}", value=n)
    row = repository.row(memory_id)
    index = repository.index()
    ids = index.timeline(row.id, n, n)
    rows = index.rows(ids)
    describe = repository.describer().info
    at = ids.index(row.id)
    infos = [describe(rows[one]) for one in ids if one in rows]
    return Timeline(infos[:at], infos[at], infos[at + 1 :])


def review_queue(repository: MemoryReader, limit: int, offset: int) -> ReviewQueue:
    """Return a page of memories that a person should review.

    The page has `limit` memories, after `offset` others. Memories are sorted by their most pressing reason, then by importance.
    """
    _check_page(limit, offset)
    now, index = repository.clock.now(), repository.index()
    found = [
        ((REASONS.index(reasons[0]), -lifecycle.importance_now(row, now), row.id), row, reasons)
        for row in index.all_rows()
        if row.status in LIVE_STATUSES and (reasons := reasons_of(repository, row))
    ]
    found.sort(key=lambda one: one[0])
    describe = repository.describer().info
    return ReviewQueue([ReviewItem(describe(row), reasons) for _, row, reasons in found[offset : offset + limit]], len(found))


def reasons_of(repository: MemoryReader, row: MemoryRow) -> list[str]:
    """Return why a memory should be reviewed, most pressing reason first.

    The list is empty if the memory needs no review.
    """
    index = repository.index()
    anchors = {str(link.anchor) for link in index.about(row.id) if link.body_hash}
    conflict = any(
        link.kind == "conflicts_with"
        and (other := index.row(link.dst if link.src == row.id else link.src)) is not None
        and other.status in LIVE_STATUSES
        for link in index.relates(row.id)
    )
    holds = {
        "disputed": row.disputed,
        "conflict": conflict,
        "orphaned": "orphaned" in anchors,
        "suspect": "suspect" in anchors,
        "contaminated": row.contaminated and not row.user_verified,
        "needs_review": row.needs_review,
        "stale": row.stale_at is not None,
    }
    return [reason for reason in REASONS if holds[reason]]


def audit(repository: MemoryRepository, memory_id: str | None, limit: int, offset: int) -> AuditPage:
    """Return past operations on memories, or on one memory, newest first.

    The page has `limit` operations, after `offset` newer ones.

    The call also checks the whole journal.
    """
    _check_page(limit, offset)
    wanted = None
    if memory_id is not None:
        row_id = memory_id if repository.index().row(memory_id) is not None or len(memory_id) > 12 else repository.row(memory_id).id

        def wanted(body: Line) -> bool:
            return body.get("memory") == row_id

    found, total = repository.journal.newest(offset, limit, wanted)
    examined = repository.journal.examine()
    notes = [*examined.open, *examined.settled]
    return AuditPage([_entry(one) for one in found], total, repository.journal.head.sum, not examined.open, notes)


def _entry(entry: Entry) -> AuditEntry:
    body = entry.body
    return AuditEntry(
        entry.number,
        text_of(body, "at"),
        text_of(body, "actor"),
        text_of(body, "op"),
        text_of(body, "memory"),
        text_of(body, "before"),
        text_of(body, "after"),
        text_of(body, "note"),
    )


def _candidates(repository: MemoryReader, query: MemoryQuery) -> list[MemoryRow]:
    """Return the memories that pass the query's filters on links and time.

    The other filters are checked later, by `MemoryQuery.accepts`.
    """
    index = repository.index()
    ids: set[str] | None = None
    if query.session:
        ids = set(index.of_session(query.session))
    if query.files or query.symbols:
        targets = set(query.symbols)
        root = repository.store.meta().get("root", "")
        paths = {path("filter.files", one, root) for one in query.files}
        targets |= {file_id(repository.project(), one) for one in paths}
        view = repository.view()
        if view is not None:
            folders = tuple(f"{one}/" for one in paths if one not in view.path_number)
            below = [one for one in view.paths if one.startswith(folders)] if folders else []
            targets |= {file_id(repository.project(), one) for one in below}
            targets |= {view.ids[int(node)] for one in (*paths, *below) for node in view.by_path(one)}
        about = {one for target in targets for one in index.about_target(target)}
        ids = about if ids is None else ids & about
    rows = list(index.all_rows()) if ids is None else list(index.rows(sorted(ids)).values())
    if query.as_of:
        then = moment("filter.as_of", query.as_of)
        rows = [row for row in rows if row.valid_from <= then and (row.valid_to is None or row.valid_to > then)]
    return rows


def _check_page(limit: int, offset: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise refuse("limit", f"limit is {limit}; ask for 1 to {MAX_PAGE:,} memories", value=limit)
    if offset < 0:
        raise refuse("offset", f"offset is {offset}; use 0 or more", value=offset)
