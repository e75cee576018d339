"""Memories, as they are shown, and what writing one came to."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Final

from graphmem.answers.plain import answer

ANCHORS: Final = {"valid": "", "moved": "moved since", "suspect": "written before this changed", "orphaned": "gone, or not indexed"}
"""What an anchor says of a link from a memory to code, for readers."""
_TELLING: Final = ("suspect", "orphaned", "moved", "valid")  # anchors, the one that says most first
_NAMED: Final = 2  # pieces of code in one mark


@answer
class MemoryAnchor:
    """What a memory is about, and how that has fared since."""

    id: str  # of the node
    label: str  # File | Symbol | External | Module
    name: str  # `path:qualname`, path or module; the id of what the index does not know
    role: str  # about | target | impacts
    confidence: float
    anchor: str  # valid | moved | suspect | orphaned
    commit_sha: str


@answer
class MemoryRelation:
    """A link to another memory, seen from one end."""

    id: str  # of the other memory
    short_id: str
    title: str
    status: str
    kind: str  # required_with | conflicts_with | validates | supersedes | derived_from
    outgoing: bool  # False: the other memory points here
    confidence: float
    auto: bool  # found by graphmem, not said by anybody


@answer
class MemoryInfo:
    """A memory with everything a reader needs to trust it. Times are ISO 8601 in UTC, "" for never."""

    id: str
    short_id: str
    type: str
    title: str
    citation: str
    content: str
    confidence: float
    confidence_in_use: float  # faded by time, lowered where disputed or where its code changed
    importance: float
    strength: int
    source: str
    trust: float  # of the source, in ranking
    scope: str
    visibility: str
    status: str  # candidate | confirmed | pinned | superseded | deprecated
    needs_review: bool
    user_verified: bool
    disputed: bool
    contaminated: bool
    tags: list[str]
    created_at: str
    updated_at: str
    last_accessed_at: str
    valid_from: str
    valid_to: str
    stale_at: str
    deprecated_at: str
    injected_count: int
    used_count: int
    confirmed_count: int
    origin: str  # user | repository | agent | tool | web
    half_life_days: float | None  # None: never fades
    commit_sha: str
    work_unit: dict[str, Any] | None
    details: dict[str, Any] | None
    files: list[str]  # paths it names, sorted
    about: list[MemoryAnchor]
    relations: list[MemoryRelation]
    sessions: list[str]  # in which it was learnt or confirmed
    aliases: list[str]  # other ids the same text was given under
    embedded: bool  # has a vector of the model in use


def about_once(info: MemoryInfo) -> list[MemoryAnchor]:
    """What a memory is about, each name once: overloads share one. Of their anchors the one that says most counts."""
    found: dict[str, MemoryAnchor] = {}
    for one in info.about:
        known = found.get(one.name)
        if known is None or _TELLING.index(one.anchor) < _TELLING.index(known.anchor):
            found[one.name] = one
    return list(found.values())


def code_since(info: MemoryInfo) -> str:
    """What has become of the code a memory is about, as every hit says it in one line; "" while it is as it was.

    A file that is not there may never have been indexed, which is told where the memory is shown in full.
    """
    changed = [one.name for one in about_once(info) if one.anchor == "suspect"]
    gone = list(
        dict.fromkeys(
            one.name if one.name != one.id else "code" for one in info.about if one.anchor == "orphaned" and one.label == "Symbol"
        )
    )
    said = [f"written before {_several(changed)} changed"] if changed else []
    said += [f"about {_several(gone)}, which is gone"] if gone else []
    return "; ".join(said)


def _several(names: list[str]) -> str:
    more = len(names) - _NAMED
    return " and ".join(" ".join(name.split()) for name in names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


@answer
class Remembered:
    """What became of one text that was to be remembered."""

    id: str  # of the memory that now says it
    short_id: str
    outcome: str  # added | duplicate | consolidated | replaced | superseded | conflicting
    given_id: str  # the caller's own id, "" when none was given
    others: list[str]  # ids of the memories it met: the duplicate, the one it replaced, the ones it contradicts
    redacted: list[str]  # kinds of secrets that were taken out, sorted
    unresolved: list[str]  # names in it that fit several symbols, and so were not linked
    note: str = ""  # one sentence when the outcome is not `added`


@answer
class RememberAnswer:
    """A memory as it now is, and what became of the text."""

    memory: MemoryInfo
    result: Remembered


@answer
class Refusal:
    """An item of a bulk write that was not taken."""

    index: int  # 0-based
    given_id: str
    message: str
    facts: dict[str, Any]


@answer
class RememberManyAnswer:
    """What one bulk write did, in the order of its items."""

    results: list[Remembered]  # of the items that were taken
    refused: list[Refusal]
    counts: dict[str, int]  # outcome -> items
    seconds: float


@answer
class MemoryPage:
    """A page of memories and how many there are."""

    memories: list[MemoryInfo]
    total: int


@answer
class Timeline:
    """A memory between its neighbours in time, oldest first."""

    before: list[MemoryInfo]
    memory: MemoryInfo
    after: list[MemoryInfo]


@answer
class ReviewItem:
    """A memory that needs review, and why."""

    memory: MemoryInfo
    reasons: list[str]  # needs_review | disputed | conflict | suspect | orphaned | contaminated | stale


@answer
class ReviewQueue:
    """A page of the review queue, most pressing first."""

    items: list[ReviewItem]
    total: int


@answer
class Forgotten:
    """What a removal took."""

    ids: list[str]
    hard: bool  # True: gone from graph and journal; False: kept, out of search
    dry_run: bool
    kept: list[str] = field(default_factory=list)  # ids that were in question and stay: they have another origin as well


@answer
class TermAlias:
    """Words a search for a term also looks for."""

    term: str
    means: list[str]


@answer
class Rule:
    """A text that is always put in front of an agent, verbatim."""

    name: str
    scope: str  # a glob of paths; "" for everywhere
    origin: str  # user | project
    text: str


@answer
class MemoryChange:
    """One accepted write of memories."""

    changed: list[str]  # ids of memories that are new, changed or linked otherwise
    removed: list[str]  # ids of memories that are gone for good
