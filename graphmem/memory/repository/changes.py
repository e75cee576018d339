"""Change existing memories: pin, verify, dispute, resolve, forget.

The module also records uses of memories, and sets aliases: extra words for a search term.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.answers import Forgotten, MemoryInfo, TermAlias
from graphmem.knowledge import Anchor, KnowledgeDelta, LearntRow, MemoryRow, RelatesRow, SessionRow
from graphmem.memory.journal.records import Event
from graphmem.memory.reading import lifecycle
from graphmem.memory.repository.fields import choice, refuse, text, texts
from graphmem.memory.repository.recovery import ALIASES
from graphmem.memory.texts.redact import redact
from graphmem.memory.texts.types import FORGOTTEN, LIVE_STATUSES, USES, way_back
from graphmem.projection.memories.sight import may_meet

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository

MAX_ALIASES: Final = 1_000
MAX_MEANINGS: Final = 16


def _change_one(
    repository: MemoryRepository, memory_id: str, op: str, actor: str, change: Callable[[MemoryRow], MemoryRow], note: str = ""
) -> MemoryInfo:
    """Change one memory with the function `change`; return the memory.

    `change` maps the memory's old row to its new row. `op` and `note` are recorded in the audit log, even if the row does not change.
    """
    with repository.writing():
        row = repository.row(memory_id)
        new = change(row)
        if new != row:
            new = new._replace(updated_at=repository.clock.now())
        delta = KnowledgeDelta(memories=[new] if new != row else [])
        repository.commit(delta, [Event(op, row.id, row.fingerprint, new.fingerprint, note)], {row.id: row}, actor)
        return repository.describer().info(new)


def pin(repository: MemoryRepository, memory_id: str, actor: str = "") -> MemoryInfo:
    """Make a memory permanent: its confidence no longer decays."""

    def change(row: MemoryRow) -> MemoryRow:
        _must_live(row, "pinned")
        return row._replace(status="pinned", needs_review=row.needs_review and row.contaminated)

    return _change_one(repository, memory_id, "pin", actor, change)


def unpin(repository: MemoryRepository, memory_id: str, actor: str = "") -> MemoryInfo:
    """Remove the pin of a memory, so that its confidence decays again."""
    return _change_one(
        repository, memory_id, "unpin", actor, lambda row: row._replace(status="confirmed") if row.status == "pinned" else row
    )


def verify(repository: MemoryRepository, memory_id: str, actor: str = "") -> MemoryInfo:
    """Record that a person confirms a memory.

    The memory becomes confirmed and reviewed. From now on, its links refer to the current version of the linked code, so the links count as
    valid. A forgotten memory is restored.
    """
    with repository.writing():
        row = repository.row(memory_id)
        if row.status == FORGOTTEN:
            _expect_alone(repository, row)
            row = row._replace(status="confirmed", deprecated_at=None, valid_to=None)
        _must_live(row, "verified")
        now = repository.clock.now()
        new = lifecycle.confirmed(row, now)._replace(
            user_verified=True,
            needs_review=False,
            disputed=False,
            status="pinned" if row.status == "pinned" else "confirmed",
            stale_at=None,
            updated_at=now,
        )
        view = repository.view()
        links = repository.index().about(row.id)
        fresh = links
        if view is not None:
            known = view.index_of
            fresh = [
                link._replace(body_hash=view.body_hash(known[link.target_id]) if link.body_hash else "", anchor=Anchor.VALID.value)
                if link.target_id in known
                else link
                for link in links
            ]
        before = repository.row(row.id)
        moved = fresh != links
        delta = KnowledgeDelta(memories=[new], anchored=[row.id] if moved else [], about=fresh if moved else [])
        note = "it was forgotten and is restored" if before.status == FORGOTTEN else ""
        repository.commit(delta, [Event("verify", row.id, row.fingerprint, new.fingerprint, note)], {row.id: before}, actor)
        if note:
            repository.embed_soon()
        return repository.describer().info(new)


def dispute(repository: MemoryRepository, memory_id: str, reason: str = "", actor: str = "") -> MemoryInfo:
    """Mark a memory as disputed: somebody says that it is wrong.

    The memory stays in use with less confidence, and waits for a review. `reason` says what is wrong, for the audit log.
    """
    why = redact(text("reason", reason, 1_000, least=0))[0]
    return _change_one(repository, memory_id, "dispute", actor, lambda row: row._replace(disputed=True, needs_review=True), why)


def resolve(repository: MemoryRepository, winner: str, loser: str | None = None, note: str = "", actor: str = "") -> MemoryInfo:
    """Resolve a contradiction between memories in favour of `winner`.

    `loser` becomes superseded. Without `loser`, all memories that conflict with `winner` become superseded. `note` is the reason, for the
    audit log.
    """
    why = redact(text("note", note, 1_000, least=0))[0]
    with repository.writing():
        index, now = repository.index(), repository.clock.now()
        stays = repository.row(winner)
        _must_live(stays, "chosen as the winner")
        conflicts = [link for link in index.relates(stays.id) if link.kind == "conflicts_with"]
        others = {link.dst if link.src == stays.id else link.src for link in conflicts}
        losers = [repository.row(loser)] if loser is not None else sorted(index.rows(others).values(), key=lambda row: row.id)
        if any(row.id == stays.id for row in losers):
            raise refuse(
                "loser",
                f"winner and loser are the same memory, {loser!r}; give two different memories, and the wrong one of them as loser",
                value=loser,
            )
        gone = [row for row in losers if row.status in LIVE_STATUSES]
        new = stays._replace(disputed=False, needs_review=stays.needs_review and stays.contaminated, last_accessed_at=now, updated_at=now)
        ended = {(link.src, link.dst, link.kind) for link in conflicts if {link.src, link.dst} & {row.id for row in losers}}
        delta = KnowledgeDelta(
            memories=[new, *(row._replace(status="superseded", valid_to=now, updated_at=now, disputed=False) for row in gone)],
            relates=[RelatesRow(stays.id, row.id, "supersedes", 1.0, auto=False) for row in losers],
            removed_relates=sorted(ended),
        )
        events = [Event("resolve", stays.id, stays.fingerprint, new.fingerprint, why)]
        events += [Event("supersede", row.id, row.fingerprint, stays.fingerprint, f"by {stays.id}") for row in gone]
        repository.commit(delta, events, {row.id: row for row in [stays, *gone]}, actor)
        return repository.describer().info(new)


def note_use(repository: MemoryRepository, ids: Sequence[str], use: str = "used", session: str | None = None, actor: str = "") -> None:
    """Increase the count of showings, uses or confirmations of memories.

    `ids` are the memories. `use` is "injected" (only shown), "used" or "confirmed". Being shown does not make a memory more likely to be
    true.
    """
    choice("use", use, tuple(USES))
    name = text("session", session or "", 1_000, least=0, lines=False)
    with repository.writing():
        now, index = repository.clock.now(), repository.index()
        step: Callable[[MemoryRow], MemoryRow] = {
            "injected": lifecycle.shown,
            "used": lambda row: lifecycle.used(row, now),
            "confirmed": lambda row: lifecycle.confirmed(row, now),
        }[use]
        rows = {row.id: row for row in map(repository.row, ids)}
        learnt = [LearntRow(one, name, 0, 0) for one in rows] if name and use == "confirmed" else []
        sessions = [SessionRow(name, "", "session", "", now, None, "", "", None)] if learnt and index.session(name) is None else []
        delta = KnowledgeDelta(memories=[step(row) for row in rows.values()], learnt=learnt, sessions=sessions)
        if rows:
            repository.commit(delta, [Event(use, one) for one in rows], rows, actor)
            repository.uses += len(rows) if use != "injected" else 0


def forget(repository: MemoryRepository, memory_id: str, hard: bool = False, actor: str = "") -> Forgotten:
    """Exclude a memory from search, or with `hard` erase it permanently."""
    row = repository.row(memory_id)
    return forget_many(repository, [row.id], hard=hard, actor=actor, op="remove")


def forget_many(repository: MemoryRepository, ids: Sequence[str], *, hard: bool, actor: str, op: str, note: str = "") -> Forgotten:
    """Exclude several memories from search, or with `hard` erase them.

    All are changed in one write. `op` and `note` are recorded in the audit log, once for each memory.
    """
    with repository.writing():
        now = repository.clock.now()
        rows = {row.id: row for row in repository.index().rows(ids).values()}
        if hard:
            delta = KnowledgeDelta(removed_memories=sorted(rows))
        else:
            gone = [row for row in rows.values() if row.status != "deprecated"]
            delta = KnowledgeDelta(
                memories=[
                    row._replace(status="deprecated", deprecated_at=now, valid_to=row.valid_to or now, updated_at=now) for row in gone
                ]
            )
        events = [Event(op, one, row.fingerprint, "", note) for one, row in sorted(rows.items())]
        if rows:
            repository.commit(delta, events, rows, actor, count=len(repository.index()) - len(delta.removed_memories))
        if hard and rows:
            repository.recovery.erase(set(rows), actor)
        return Forgotten(sorted(rows), hard, dry_run=False)


def checked_aliases(table: Mapping[str, object], known: Collection[str] = ()) -> dict[str, list[str]]:
    """Validate aliases: extra words that a search for a term also uses.

    Args:
        table: maps each term to its extra words.
        known: terms that have aliases already; they count towards the maximum.

    Returns:
        `table` with terms and extra words in lower case, and without secrets.

    Raises:
        BadInputError: a term or one of its extra words is invalid, or there are too many aliases in total.
    """
    found: dict[str, list[str]] = {}
    for term, means in table.items():
        word = redact(text("term", term, 100, lines=False))[0].strip().casefold()
        others = [redact(one)[0].strip().casefold() for one in texts("means", means, MAX_MEANINGS, 100)]
        found[word] = [one for one in dict.fromkeys(others) if one not in ("", word)]
    total = len({*known, *(word for word, means in found.items() if means)})
    if total > MAX_ALIASES:
        raise refuse(
            "aliases",
            f"{total:,} aliases are more than the maximum of {MAX_ALIASES:,}; remove some aliases",
            value=total,
        )
    return found


def set_alias(repository: MemoryRepository, term: str, means: Sequence[str], actor: str = "") -> TermAlias:
    """Set the words `means`, which a search for `term` also uses.

    For example, if `term` is "db" and `means` is ["database"], a search for "db" also finds "database".
    """
    [(word, others)] = checked_aliases({term: means}, [alias.term for alias in aliases(repository)]).items()
    with repository.writing():
        known = {alias.term: alias.means for alias in aliases(repository)}
        known.pop(word, None)
        if others:
            known[word] = others
        table = json.dumps(known, ensure_ascii=False, sort_keys=True)
        repository.commit(
            KnowledgeDelta(),
            [Event("alias", note=f"{word}: {', '.join(others) or 'removed'}")],
            {},
            actor,
            meta={ALIASES: table},
            alias=[word, others],
        )
    return TermAlias(word, others)


def aliases(repository: MemoryRepository) -> list[TermAlias]:
    """Return the extra words of search terms, sorted by term."""
    repository.flush()  # aliases exist only in the graph, which is written after the journal
    table: Mapping[str, list[str]] = json.loads(repository.store.meta().get(ALIASES) or "{}")
    return [TermAlias(term, list(table[term])) for term in sorted(table)]


def _expect_alone(repository: MemoryRepository, row: MemoryRow) -> None:
    """Refuse to restore a memory if a memory in use has the same text.

    `row` is the memory to restore. A memory in use is neither superseded nor deprecated.

    Raises:
        BadInputError: a memory in use has the same text, scope and visibility.
    """
    index = repository.index()
    same = [
        one
        for one in index.rows(index.by_fingerprint(row.fingerprint)).values()
        if one.status in LIVE_STATUSES and may_meet(one.id, one.visibility)
    ]
    twin = next((one for one in same if (one.scope, one.visibility) == (row.scope, row.visibility)), None)
    if twin is not None:
        raise refuse(
            "id", f"memory #{twin.short_id} has the same text as this forgotten memory; use #{twin.short_id} instead", value=row.short_id
        )


def _must_live(row: MemoryRow, what: str) -> None:
    if row.status not in LIVE_STATUSES:
        raise refuse(
            "id", f"memory #{row.short_id} is {row.status} and cannot be {what}; {way_back(row.status, row.short_id)}", value=row.status
        )
