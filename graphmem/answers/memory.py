"""Memories, as they are shown, and what writing one came to."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Any, Final

from graphmem.answers.marks import FILE, MEMORY, MODULE, SYMBOL, Doc, GlobalId, Size
from graphmem.answers.plain import Unpacks, answer
from graphmem.answers.vocabulary import Moment, MomentOrNone

ANCHORS: Final = {"valid": "", "moved": "moved since", "suspect": "written before this changed", "orphaned": "gone, or not indexed"}
"""What an anchor says of a link from a memory to code, for readers."""
_TELLING: Final = ("suspect", "orphaned", "moved", "valid")  # anchors, the one that says most first
_NAMED: Final = 2  # pieces of code in one mark


@answer
class MemoryAnchor:
    """What a memory is about, and how that has fared since."""

    id: Annotated[
        str,
        Doc("of the node"),
        GlobalId("label", sibling=True, types=(("Symbol", SYMBOL), ("External", SYMBOL), ("File", FILE), ("Module", MODULE))),
    ]
    label: Annotated[str, Doc("File, Symbol, External or Module")]
    name: Annotated[str, Doc("`path:qualname`, path or module; an id for what the index does not know")]
    role: Annotated[str, Doc("about, target or impacts")]
    confidence: float
    anchor: Annotated[str, Doc("valid, moved, suspect (the code changed) or orphaned (it is gone)")]
    commit_sha: str


@answer
class MemoryRelation:
    """A link to another memory, seen from one end."""

    id: Annotated[str, Doc("Global id of the other memory"), GlobalId(MEMORY)]
    short_id: str
    title: str
    status: str
    kind: Annotated[str, Doc("required_with, conflicts_with, validates, supersedes or derived_from")]
    outgoing: Annotated[bool, Doc("false when the other memory points here")]
    confidence: float
    auto: Annotated[bool, Doc("found by graphmem, not said by anybody")]


@answer(name="Memory", node=True)
class MemoryInfo:
    """A memory with everything a reader needs to trust it. Times are ISO 8601 in UTC, "" for never."""

    id: Annotated[str, Doc("Opaque and stable"), GlobalId(MEMORY)]
    short_id: Annotated[str, Doc("what people type and read")]
    type: Annotated[str, Doc("gotcha, decision, pattern, …; docs/memories.md lists them")]
    title: str
    citation: str
    content: str
    confidence: float
    confidence_in_use: Annotated[float, Doc("faded by time, lowered where disputed or where its code changed")]
    importance: float
    strength: Annotated[int, Doc("independent confirmations")]
    source: str
    trust: Annotated[float, Doc("of the source, in ranking")]
    scope: str
    visibility: str
    status: Annotated[str, Doc("candidate, confirmed, pinned, superseded or deprecated")]
    needs_review: bool
    user_verified: bool
    disputed: bool
    contaminated: bool
    tags: list[str]
    created_at: Moment
    updated_at: Moment
    last_accessed_at: MomentOrNone
    valid_from: Moment
    valid_to: MomentOrNone
    stale_at: MomentOrNone
    deprecated_at: MomentOrNone
    injected_count: int
    used_count: int
    confirmed_count: int
    origin: Annotated[str, Doc("user, repository, agent, tool or web")]
    half_life_days: Annotated[float | None, Doc("null: it never fades")]
    commit_sha: str
    work_unit: dict[str, Any] | None
    details: dict[str, Any] | None
    files: Annotated[list[str], Doc("paths it names")]
    about: Annotated[list[MemoryAnchor], Doc("the code it is about"), Size(4)]
    relations: Annotated[list[MemoryRelation], Doc("other memories it has to do with"), Size(3)]
    sessions: Annotated[list[str], Doc("in which it was learnt or confirmed")]
    aliases: Annotated[list[str], Doc("other ids the same text was given under")]
    embedded: Annotated[bool, Doc("it has a vector of the model in use")]


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

    id: Annotated[str, Doc("Global id of the memory that now says it"), GlobalId(MEMORY)]
    short_id: str
    outcome: Annotated[str, Doc("added, duplicate, consolidated, replaced, superseded or conflicting")]
    given_id: Annotated[str, Doc("the caller's own id, empty when none was given")]
    others: Annotated[list[str], Doc("raw ids of the memories it met")]
    redacted: Annotated[list[str], Doc("kinds of secrets that were taken out")]
    unresolved: Annotated[list[str], Doc("names in it that fit several symbols, and so were not linked")]
    note: Annotated[str, Doc("one sentence when the outcome is not `added`")] = ""


@answer
class RememberAnswer:
    """A memory as it now is, and what became of the text."""

    memory: MemoryInfo
    result: Remembered


@answer
class Refusal:
    """An item of a bulk write that was not taken."""

    index: Annotated[int, Doc("its place, from 0")]
    given_id: str
    message: str
    facts: dict[str, Any]


@answer
class RememberManyAnswer:
    """What one bulk write did, in the order of its items."""

    results: Annotated[list[Remembered], Doc("of the items that were taken"), Size(100)]
    refused: Annotated[list[Refusal], Doc("of the others"), Size(10)]
    counts: Annotated[dict[str, int], Doc("Items by outcome"), Size(6)]
    seconds: float


@answer(page="memories")
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
    reasons: Annotated[list[str], Doc("needs_review, disputed, conflict, suspect, orphaned, contaminated or stale")]


@answer(page="items")
class ReviewQueue:
    """A page of the review queue, most pressing first."""

    items: list[ReviewItem]
    total: int


@answer
class Forgotten:
    """What a removal took."""

    ids: Annotated[list[str], Doc("Global ids of what was taken"), GlobalId(MEMORY)]
    hard: Annotated[bool, Doc("gone from graph and journal, not only out of search")]
    dry_run: bool
    kept: Annotated[
        list[str], Doc("Global ids of what was in question and stays, because it has another origin as well"), GlobalId(MEMORY)
    ] = field(default_factory=list)


@answer
class TermAlias:
    """Words a search for a term also looks for."""

    term: str
    means: list[str]


@answer
class Noted:
    """Uses of memories that were counted."""

    ids: Annotated[list[str], Doc("as they were given")]


@answer
class Rule:
    """A text that is always put in front of an agent, verbatim."""

    name: str
    scope: Annotated[str, Doc("a glob of paths; empty for everywhere")]
    origin: Annotated[str, Doc("user or project")]
    text: str


@answer
class RuleSet(Unpacks):
    """The rules that apply, the most specific last. Unpacks into the rules and the notes."""

    rules: Annotated[list[Rule], Doc("the user's first"), Size(20)]
    notes: Annotated[list[str], Doc("what could not be read")]


@answer
class MemoryChange:
    """One accepted write of memories."""

    changed: Annotated[
        list[str], Doc("Global ids of memories that are new, changed or linked otherwise; `nodes` gives them"), GlobalId(MEMORY)
    ]
    removed: Annotated[list[str], Doc("Global ids of memories that are gone for good"), GlobalId(MEMORY)]
