"""Decide what happens to a new memory that resembles existing ones.

* *near duplicate*: the same words in the same order, or the same words and one more clause. One of the two memories stays in use. The other
  becomes a superseded version (`derived_from`). There is one exception: if the caller of a write chose the memory's id, the memory is the
  caller's own note. Then both stay in use, linked by `validates`.
* *other words*: probably the same, by the cosine. This is not certain enough to exclude one from search. Both stay, linked by `validates`.
* *contradiction*: a person's statement wins, then the more trusted source. If both sources are equally trusted, the new memory wins if the
  code of the old one has changed. Otherwise both stay, linked by `conflicts_with`.
* *outside text*: a memory that text from outside influenced (contaminated) confirms nothing and replaces nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from graphmem.knowledge import AboutRow, Anchor, MemoryRow, RelatesRow
from graphmem.memory.journal.records import Event
from graphmem.memory.texts.similar import Similarity, Thresholds, opposed, says_it_in_other_words, says_the_same
from graphmem.memory.texts.types import SOURCES, more_tainted
from graphmem.memory.texts.wording import says_all_of

KEPT_LINKS: Final = 3  # equivalent memories to which one is linked
ON_TOPIC: Final = 0.5  # overlap of words above which two texts have the same topic


class Met(NamedTuple):
    """An existing memory that resembles the new memory, with its similarity."""

    row: MemoryRow
    near: Similarity


class Verdict(NamedTuple):
    """The decision about a new memory and the memories that resemble it."""

    row: MemoryRow  # the future row of the memory
    stands: str  # id of the memory that contains its statement from now on
    outcome: str  # added | consolidated | replaced | superseded | conflicting
    others: list[str]  # ids of the memories it resembles
    relations: list[RelatesRow]
    changed: list[MemoryRow]  # future rows of others
    events: list[Event]
    absorbed: tuple[str, str] | None = None  # (id of the memory that replaces both, id of the one that gets its links and sessions)
    note: str = ""


class Judge:
    """Decides whether a new memory is kept, merged, or replaces another one.

    It also finds memories that the new one contradicts. The rules are in this module's docstring.

    Args:
        now: the time of the decision.
        limits: similarity thresholds of the model that computed the vectors.
        links_of: returns the links to code of the memory with a given id.
    """

    def __init__(self, now: datetime, limits: Thresholds, links_of: Callable[[str], Sequence[AboutRow]]) -> None:
        self._now = now
        self._limits = limits
        self._links_of = links_of

    def verdict(self, row: MemoryRow, met: Sequence[Met], targets: Collection[str], *, is_own: bool) -> Verdict:
        """Decide what happens to a new memory that resembles existing ones.

        Args:
            row: row of the new memory.
            met: existing memories that resemble `row`, nearest first.
            targets: ids of the code that the new memory is about.
            is_own: whether a caller chose the id of the new memory. Such a memory is a note of that caller, and is never merged.
        """
        verdict = Verdict(row, row.id, "added", [], [], [], [])
        linked = 0
        for other, near in met:
            if other.visibility != row.visibility:
                continue
            on_topic = near.overlap >= ON_TOPIC or (near.cosine or 0.0) >= self._limits.topic
            if on_topic and opposed(row.content, other.content):
                shared = any(link.target_id in targets for link in self._links_of(other.id))
                if shared or row.type == other.type or "correction" in (row.type, other.type):
                    verdict = self._contradict(verdict, other, near, is_own=is_own)
                continue
            if row.contaminated != other.contaminated:
                continue
            is_same = says_the_same(row.content, other.content, near, self._limits)
            if not is_same and not says_it_in_other_words(row.content, other.content, near, self._limits):
                continue
            kept = is_own or is_of_somebody(other)
            if is_same and not kept and self._joins(row, other):
                if verdict.outcome == "added":
                    verdict = self._consolidate(verdict, other, _likeness(near))
            elif linked < KEPT_LINKS:
                linked += 1
                relation = RelatesRow(row.id, other.id, "validates", _likeness(near), auto=True)
                note = f"probably the same as #{other.short_id} ({other.title}) in other words; both stay, linked"
                verdict = verdict._replace(
                    relations=[*verdict.relations, relation],
                    note=verdict.note or ("" if kept else note),
                )
        return verdict

    def _new_wins(self, row: MemoryRow, other: MemoryRow) -> bool:
        """Whether the new memory `row` replaces the equivalent memory `other`.

        The memory with the more trusted source wins. If both are equally trusted, the longer text wins; if the lengths are equal, `row`
        wins. A pinned or verified memory is never replaced. A person's memory is replaced only by another memory of a person.
        """
        trust = SOURCES[row.source].trust - SOURCES[other.source].trust
        fixed = other.status == "pinned" or other.user_verified or (other.source == "user_taught" and row.source != "user_taught")
        return not fixed and (trust > 0 or (trust == 0 and len(row.content) >= len(other.content)))

    def _joins(self, row: MemoryRow, other: MemoryRow) -> bool:
        """Whether one of two similar memories may replace the other.

        There are two cases. Either the replaced memory's source makes only candidates (unconfirmed memories), or the remaining memory has
        all words of the replaced one. So text that was stored on purpose does not lose content.
        """
        winner, loser = (row, other) if self._new_wins(row, other) else (other, row)
        return SOURCES[loser.source].status == "candidate" or says_all_of(winner.content, loser.content)

    def _consolidate(self, verdict: Verdict, other: MemoryRow, likeness: float) -> Verdict:
        """Merge the new memory with `other`, which says nearly the same.

        One of the two stays in use, and the other becomes superseded. `likeness` is the similarity of the two, 0 to 1. Returns `verdict`
        with this change added.
        """
        now, row = self._now, verdict.row
        new_wins = self._new_wins(row, other)
        winner, loser = (row, other) if new_wins else (other, row)
        united = winner._replace(
            strength=other.strength + row.strength,
            importance=max(row.importance, other.importance),
            confidence=max(row.confidence, other.confidence),
            updated_at=now,
            tags=tuple(dict.fromkeys([*winner.tags, *loser.tags])),
            origin=more_tainted(row.origin, other.origin),
            contaminated=row.contaminated or other.contaminated,
            injected_count=row.injected_count + other.injected_count,
            used_count=row.used_count + other.used_count,
            confirmed_count=row.confirmed_count + other.confirmed_count,
            last_accessed_at=now,  # the one confirms the other
            status="confirmed" if "confirmed" in (winner.status, loser.status) and winner.status == "candidate" else winner.status,
        )
        version = loser._replace(status="superseded", valid_to=now, updated_at=now)
        relation = RelatesRow(winner.id, loser.id, "derived_from", likeness, auto=True)
        ends = "the new memory replaces it" if new_wins else "the existing memory replaces both"
        note = f"nearly the same as #{other.short_id} ({likeness:.2f}); {ends}"
        return verdict._replace(
            row=united if new_wins else version,
            stands=winner.id,
            outcome="consolidated",
            others=[*verdict.others, other.id],
            relations=[*verdict.relations, relation],
            changed=[*verdict.changed, version if new_wins else united],
            events=[*verdict.events, Event("compact", winner.id, other.fingerprint, winner.fingerprint, note)],
            absorbed=(winner.id, loser.id),
            note=note,
        )

    def _contradict(self, verdict: Verdict, other: MemoryRow, near: Similarity, *, is_own: bool) -> Verdict:
        """Decide between the new memory and `other`, which contradict each other.

        `near` is the similarity of the two. If `is_own` is true, a caller chose the id of the new memory, and neither wins. The loser
        becomes superseded; without a winner, both stay and are linked. Returns `verdict` with this decision added.
        """
        now, row = self._now, verdict.row
        likeness = _likeness(near)
        wins = None if is_own else self._winner(row, other)
        if wins is None or verdict.outcome in ("superseded", "consolidated"):
            relation = RelatesRow(row.id, other.id, "conflicts_with", likeness, auto=True)
            note = verdict.note or f"it contradicts #{other.short_id} ({other.title}); both stay until somebody decides"
            outcome = "conflicting" if verdict.outcome == "added" else verdict.outcome
            return verdict._replace(
                outcome=outcome, others=[*verdict.others, other.id], relations=[*verdict.relations, relation], note=note
            )
        if wins:
            loser = other._replace(status="superseded", valid_to=now, updated_at=now)
            note = f"it contradicts #{other.short_id} and takes its place: {self._why(row, other)}"
            return verdict._replace(
                outcome="replaced",
                others=[*verdict.others, other.id],
                relations=[*verdict.relations, RelatesRow(row.id, other.id, "supersedes", likeness, auto=True)],
                changed=[*verdict.changed, loser],
                events=[*verdict.events, Event("supersede", other.id, other.fingerprint, row.fingerprint, f"by {row.id}")],
                note=note,
            )
        note = f"it contradicts #{other.short_id}, which stays: {self._why(other, row)}"
        return verdict._replace(
            row=row._replace(status="superseded", valid_to=now),
            stands=other.id,
            outcome="superseded",
            others=[*verdict.others, other.id],
            relations=[*verdict.relations, RelatesRow(other.id, row.id, "supersedes", likeness, auto=True)],
            events=[*verdict.events, Event("supersede", row.id, row.fingerprint, other.fingerprint, f"by {other.id}")],
            note=note,
        )

    def _winner(self, row: MemoryRow, other: MemoryRow) -> bool | None:
        """Whether the new memory `row` wins over the memory that it contradicts.

        The result is None if neither wins. Then both memories stay.
        """
        said, known = row.source == "user_taught", other.source == "user_taught" or other.user_verified
        if said and (row.type == "correction" or not known):
            return True
        if known and not said:
            return False
        if row.contaminated != other.contaminated:
            return None if row.contaminated else True
        if other.status == "pinned":
            return None
        mine, theirs = SOURCES[row.source].trust, SOURCES[other.source].trust
        if mine != theirs:
            return mine > theirs
        return True if self._changed_since(other) or row.source == "qa_auto" else None

    def _why(self, winner: MemoryRow, loser: MemoryRow) -> str:
        if winner.source == "user_taught" and loser.source != "user_taught":
            return "a person's word"
        if SOURCES[winner.source].trust != SOURCES[loser.source].trust:
            return "its source is trusted more"
        return "the code has changed since" if self._changed_since(loser) else "it is the newer one, with evidence"

    def _changed_since(self, row: MemoryRow) -> bool:
        return any(link.anchor in (Anchor.SUSPECT, Anchor.ORPHANED) and link.body_hash for link in self._links_of(row.id))


def is_of_somebody(row: MemoryRow) -> bool:
    """Return whether the caller who stored a memory chose its id.

    Such ids differ from generated ids, which are UUIDs of version 7.
    """
    return not (len(row.id) == 36 and row.id[14] == "7" and row.id.count("-") == 4)


def _likeness(near: Similarity) -> float:
    return round(max(near.overlap, near.cosine or 0.0), 4)
