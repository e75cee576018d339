"""Rules of the lifecycle of memories: decay, use, expiry, removal.

A memory "fades" when its confidence decays with time. A memory is "retired" when it is excluded from search or removed. All functions are
pure functions of a row and a time. Source of the constants: docs/memories.md, section "Life".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from graphmem.knowledge import AboutRow, MemoryRow
from graphmem.memory.texts.types import ANCHOR_FACTORS, LIVE_STATUSES, TYPES

DISPUTED: Final = 0.8  # factor of confidence
WEEKLY: Final = 0.95  # factor of importance for each week without access
CANDIDATE: Final = 0.9  # factor of a candidate's importance
USES_FOR_CONFIDENCE: Final = 5
CONFIDENCE_STEP: Final = 0.05
MOST_BY_USE: Final = 0.95  # the highest confidence that uses alone can give
USES_FOR_REVIEW: Final = 10
USES_TO_CONFIRM: Final = 2  # uses that confirm a candidate
PROVEN: Final = 0.75  # the least confidence of a candidate that uses confirmed
USES_FOR_TTL: Final = 3  # uses that make a memory survive its time to live
HALF_LIVES: Final = 3  # half-lives without use until a memory is retired
GRACE_DAYS: Final = 30  # days between retirement and removal, if a policy asks for removal
STALE_DAYS: Final = 30  # days without reference until a stale mark is shown
PRUNED_TO: Final = 0.9  # share of the limit of memories that pruning leaves
PRUNED_TO_BYTES: Final = 0.85


def days(since: datetime, now: datetime) -> float:
    """Return the days from `since` to `now`, at least 0, with fractions."""
    return max(0.0, (now - since).total_seconds() / 86_400)


def half_life_of(row: MemoryRow) -> float | None:
    """Return the half-life of a memory's confidence in days.

    Returns None if the confidence never decays. If the memory has no half-life of its own, the half-life of its type is returned.
    """
    return row.half_life_days if row.half_life_days is not None else TYPES[row.type].half_life_days


def last_use(row: MemoryRow) -> datetime:
    """Return when a memory was last opened, cited, acted on or confirmed.

    Being shown is not a use. Without a use, the result is the later of two times: when the memory was stored, and when it was learnt.
    """
    return max(row.last_accessed_at or row.created_at, row.created_at)


def faded(row: MemoryRow, now: datetime) -> float:
    """Return a memory's confidence after its decay with time.

    The result is confidence × 0.5^(days since last use / half-life). Pinned memories and memories without a half-life keep their
    confidence.
    """
    half_life = half_life_of(row)
    if half_life is None or row.status == "pinned":
        return row.confidence
    return float(row.confidence * 0.5 ** (days(last_use(row), now) / half_life))


def confidence_in_use(row: MemoryRow, now: datetime, about: Iterable[AboutRow] = ()) -> float:
    """Return the confidence with which a memory is ranked.

    The confidence decays with time. It is lower if the memory is disputed, and lower if the code that the memory is about has changed or is
    gone.
    """
    anchors = [ANCHOR_FACTORS[str(link.anchor)] for link in about if link.body_hash]
    return faded(row, now) * (DISPUTED if row.disputed else 1.0) * min(anchors, default=1.0)


def importance_now(row: MemoryRow, now: datetime) -> float:
    """Return a memory's current importance.

    It is importance × 0.95^(days since last use / 7) × min(1, 0.5 + 0.05 × used_count). For a candidate (unconfirmed memory), this is
    multiplied by 0.9. A pinned memory keeps its importance.
    """
    if row.status == "pinned":
        return row.importance
    factor = WEEKLY ** (days(last_use(row), now) / 7) * (CANDIDATE if row.status == "candidate" else 1.0)
    return float(row.importance * factor * min(1.0, 0.5 + 0.05 * row.used_count))


def ttl_days(row: MemoryRow) -> float | None:
    """Return the days without use after which a memory expires.

    The time depends on the memory's type; None means that the memory never expires. If the memory has its own half-life, the time is at
    least `HALF_LIVES` times this half-life.
    """
    kind = TYPES[row.type]
    if row.status == "pinned" or row.user_verified:
        return None
    ttl = kind.ttl_days if row.status == "candidate" else kind.ttl_confirmed_days
    return ttl if ttl is None or row.half_life_days is None else max(ttl, HALF_LIVES * row.half_life_days)


def used(row: MemoryRow, now: datetime) -> MemoryRow:
    """Return the row of a memory after one more use.

    The use is counted. The count has three effects:

    * Every fifth use raises the confidence, unless the memory is disputed.
    * The second use confirms a candidate, unless the memory is disputed or contaminated (influenced by outside text). The time between the
      uses does not matter.
    * After ten uses the memory needs no review, unless it is contaminated.
    """
    count = row.used_count + 1
    surer = count % USES_FOR_CONFIDENCE == 0 and not row.disputed and row.confidence < MOST_BY_USE
    confidence = min(MOST_BY_USE, round(row.confidence + CONFIDENCE_STEP, 6)) if surer else row.confidence
    proven = row.status == "candidate" and count >= USES_TO_CONFIRM and not (row.contaminated or row.disputed)
    return row._replace(
        used_count=count,
        last_accessed_at=now,
        confidence=max(confidence, PROVEN) if proven else confidence,
        status="confirmed" if proven else row.status,
        needs_review=row.needs_review and not (count >= USES_FOR_REVIEW and not row.contaminated),
    )


def confirmed(row: MemoryRow, now: datetime) -> MemoryRow:
    """Return the row of a memory that a person or another session confirmed.

    A candidate (unconfirmed memory) becomes confirmed, unless it is contaminated (influenced by outside text).
    """
    status = "confirmed" if row.status == "candidate" and not row.contaminated else row.status
    return row._replace(confirmed_count=row.confirmed_count + 1, strength=row.strength + 1, last_accessed_at=now, status=status)


def confirmed_by_repetition(row: MemoryRow, now: datetime, *, independent: bool) -> MemoryRow:
    """Return the row of a memory after its text was stored again.

    `strength` counts how often the text was stored or confirmed; it rises by one. The decay of the confidence starts again at `now`. If
    `independent` is true, a person or another session wrote the text, and `confirmed_count` rises by one, too.
    """
    return row._replace(strength=row.strength + 1, confirmed_count=row.confirmed_count + independent, last_accessed_at=now, updated_at=now)


def shown(row: MemoryRow) -> MemoryRow:
    """Return the row of a memory after it was shown to an agent.

    Only the count of showings changes. So a wrong memory does not get stronger by being shown often.
    """
    return row._replace(injected_count=row.injected_count + 1)


def is_unreferenced(row: MemoryRow, now: datetime) -> bool:
    """Return whether a memory is stale: not used for more than 30 days.

    Pinned memories and memories without a half-life are never stale.
    """
    return half_life_of(row) is not None and row.status != "pinned" and days(last_use(row), now) > STALE_DAYS


class Retired(NamedTuple):
    """A memory to remove or to exclude from search, and the reason."""

    row: MemoryRow
    rule: str  # half_lives | ttl | limit | size | policy
    action: str  # deprecate | remove


class Policy(NamedTuple):
    """A project's settings for removing and excluding old memories."""

    limit: int = 3_000  # memories in search; above it the least important are retired
    max_bytes: int = 0  # of their contents; 0: unlimited
    remove: bool = False  # remove for good 30 days after retirement, instead of only from search


def to_prune(rows: Sequence[MemoryRow], now: datetime, policy: Policy, active: Collection[str] = ()) -> list[Retired]:
    """Return the memories to remove or to exclude from search now.

    Memories to exclude are those whose confidence has decayed, those that have expired, and the least important ones beyond the limits. If
    the policy permits it, memories that were excluded at least 30 days ago are removed. Memories beyond a limit come last in the result,
    the least important first. All others come first, ordered by id.

    Args:
        rows: all memories.
        now: the time.
        policy: limits, and whether memories may be removed.
        active: ids of memories of active sessions; they are never retired to meet a limit.
    """
    found: list[Retired] = []
    live: list[MemoryRow] = []
    for row in sorted(rows, key=lambda one: one.id):
        if row.status not in LIVE_STATUSES:
            gone = row.deprecated_at
            if policy.remove and gone is not None and days(gone, now) >= GRACE_DAYS and not row.user_verified:
                found.append(Retired(row, "policy", "remove"))
            continue
        idle = days(last_use(row), now)
        half_life, ttl = half_life_of(row), ttl_days(row)
        if row.status != "pinned" and not row.user_verified and half_life is not None and idle > HALF_LIVES * half_life:
            found.append(Retired(row, "half_lives", "deprecate"))
        elif ttl is not None and idle > ttl and row.used_count < USES_FOR_TTL:
            found.append(Retired(row, "ttl", "deprecate"))
        else:
            live.append(row)
    sizes = {row.id: len(row.content.encode()) for row in live}
    total = sum(sizes.values())
    over_bytes = policy.max_bytes and total > policy.max_bytes
    if len(live) > policy.limit or over_bytes:
        least = [row for row in sorted(live, key=lambda one: (importance_now(one, now), one.id)) if not _is_protected(row, now, active)]
        count = len(live)
        for row in least:
            too_many = len(live) > policy.limit and count > PRUNED_TO * policy.limit
            too_large = bool(over_bytes) and total > PRUNED_TO_BYTES * policy.max_bytes
            if not too_many and not too_large:
                break
            found.append(Retired(row, "limit" if too_many else "size", "deprecate"))
            count -= 1
            total -= sizes[row.id]
    return found


def _is_protected(row: MemoryRow, now: datetime, active: Collection[str]) -> bool:
    """Whether a memory is kept even if there are too many memories.

    The memory is protected if it is pinned, verified, a decision, used within a day, or part of an active session.
    """
    was_used = bool(row.used_count or row.confirmed_count or row.strength > 1)  # and not only written
    recent = was_used and row.last_accessed_at is not None and now - row.last_accessed_at < timedelta(days=1)
    return row.status == "pinned" or row.user_verified or row.type == "decision" or recent or row.id in active
