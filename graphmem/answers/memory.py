"""Answers about memories: their content, and the outcome of writes."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Annotated, Any, Final

from graphmem.answers.marks import FILE, MEMORY, MODULE, SYMBOL, Doc, GlobalId, Size
from graphmem.answers.plain import Unpacks, answer
from graphmem.answers.vocabulary import Moment, MomentOrNone

ANCHORS: Final = {"valid": "", "moved": "moved since", "suspect": "written before this changed", "orphaned": "gone, or not indexed"}
"""Anchor state of a link from a memory to code -> text for readers."""
_TELLING: Final = ("suspect", "orphaned", "moved", "valid")  # states of anchors, the most informative first
_NAMED: Final = 2  # maximum number of names in one mark


@answer
class MemoryAnchor:
    """A link from a memory to code, with the state of that code."""

    id: Annotated[
        str,
        Doc("id of the linked code in the graph"),
        GlobalId("label", sibling=True, types=(("Symbol", SYMBOL), ("External", SYMBOL), ("File", FILE), ("Module", MODULE))),
    ]
    label: Annotated[str, Doc("kind of the linked code: File, Symbol, External or Module")]
    name: Annotated[str, Doc("the linked code as `path:qualname`, path or module name; an id for code that is not in the index")]
    role: Annotated[
        str,
        Doc(
            "relation of the memory to the code: target (the writer named the symbol), about (the writer "
            "named the file, or the text names the code) or impacts (the code is affected)"
        ),
    ]
    confidence: float
    anchor: Annotated[str, Doc("state of the link: valid, moved, suspect (the code changed) or orphaned (the code was deleted)")]
    commit_sha: str


@answer
class MemoryRelation:
    """A link between two memories, seen from one of them."""

    id: Annotated[str, Doc("Global id of the linked memory, for the GraphQL query `node`"), GlobalId(MEMORY)]
    short_id: str
    title: str
    status: str
    kind: Annotated[
        str,
        Doc(
            "kind of the link: required_with (both are shown together), conflicts_with (they contradict each other), validates (both say "
            "nearly the same), supersedes (one replaces the other) or derived_from (one was made from the other)"
        ),
    ]
    outgoing: Annotated[bool, Doc("true when the link leads from this memory to the other memory")]
    confidence: float
    auto: Annotated[bool, Doc("true when graphmem found the link, false when a caller gave it")]


@answer(name="Memory", node=True)
class MemoryInfo:
    """A memory with its provenance. Times are ISO 8601 in UTC, "" for never."""

    id: Annotated[str, Doc("id of the memory, which never changes; the format of ids may change"), GlobalId(MEMORY)]
    short_id: Annotated[str, Doc("short form of the id, for people")]
    type: Annotated[str, Doc("type of the memory, such as gotcha, decision or pattern; docs/memories.md lists all types")]
    title: str
    citation: str
    content: str
    confidence: float
    confidence_in_use: Annotated[
        float, Doc("confidence of the memory after fading with time, 0 to 1; lower when the memory is disputed or its code changed")
    ]
    importance: float
    strength: Annotated[int, Doc("number of times that the memory was stored or confirmed")]
    source: str
    trust: Annotated[float, Doc("ranking weight of the kind of source that the memory came from")]
    scope: str
    visibility: str
    status: Annotated[
        str,
        Doc(
            "status of the memory: candidate (not confirmed yet), confirmed, pinned (never decays), superseded (replaced by another one) "
            "or deprecated (hidden from search)"
        ),
    ]
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
    origin: Annotated[str, Doc("where the text came from: user, repository, agent, tool or web")]
    half_life_days: Annotated[
        float | None, Doc("days without use after which the confidence of the memory is halved; null when it never decays")
    ]
    commit_sha: str
    work_unit: dict[str, Any] | None
    details: dict[str, Any] | None
    files: Annotated[list[str], Doc("paths of the files that the memory names")]
    about: Annotated[list[MemoryAnchor], Doc("links to the code that the memory is about"), Size(4)]
    relations: Annotated[list[MemoryRelation], Doc("links to other memories"), Size(3)]
    sessions: Annotated[list[str], Doc("ids of sessions in which the memory was learnt or confirmed")]
    aliases: Annotated[list[str], Doc("other ids under which callers stored the same text")]
    embedded: Annotated[bool, Doc("true when the memory has a vector of the current embedding model")]
    branches: Annotated[
        list[str],
        Doc(
            "other local Git branches that contain the commit at which the memory was learnt, when the "
            "checked-out branch lacks the memory's code; at most 5"
        ),
        Size(2),
    ] = field(default_factory=list)


@answer
class NearbyMemory:
    """A memory about code in the answer."""

    id: Annotated[str, Doc("Global id of the memory, for the GraphQL query `node`"), GlobalId(MEMORY)]
    short_id: Annotated[str, Doc("short form of the id, for people")]
    type: Annotated[str, Doc("type of the memory, such as gotcha, decision or pattern; docs/memories.md lists all types")]
    title: str
    content: str
    trap: Annotated[bool, Doc("true when the memory is a warning: a gotcha, an error pattern or a dead end")]
    about: Annotated[str, Doc("the code that the memory is about and that is nearest to the requested code, as `path:qualname` or a path")]
    place: Annotated[
        str,
        Doc(
            "relation of the code in `about` to the requested code (target): target (the same), around "
            "(encloses a target or belongs to it), way (on a dependency path), hit (a listed result), test "
            "(a listed test) or together (often changes with a target)"
        ),
    ]
    steps: Annotated[
        int,
        Doc(
            "number of dependency steps from the requested code to the code of the memory; 0 for the requested code and the code around it"
        ),
    ]
    confidence_in_use: Annotated[
        float, Doc("confidence of the memory after fading with time, 0 to 1; lower when the memory is disputed or its code changed")
    ]
    trust: Annotated[float, Doc("ranking weight of the kind of source that the memory came from")]
    score: Annotated[float, Doc("score of the memory: closeness to the code × trust in the source × current confidence")]
    created_at: Moment
    contaminated: Annotated[bool, Doc("true when text from untrusted sources was used for the memory")]
    doubt: Annotated[
        str,
        Doc(
            "why the memory should be checked: its code changed, the memory is disputed, or text from untrusted sources "
            "was used; empty when nothing has to be checked"
        ),
    ]


@answer
class NearbyMemories:
    """Memories about the code in this answer, warnings first.

    Warnings are gotchas, error patterns and dead ends.
    """

    memories: Annotated[list[NearbyMemory], Doc("the most important memories about the code in this answer"), Size(5)] = field(
        default_factory=list
    )
    more: Annotated[int, Doc("number of further memories about the code in this answer")] = 0
    held: Annotated[
        int, Doc("number of memories about the code that wait for review, because text from untrusted sources was used for them")
    ] = 0


def age(since: str, now: datetime) -> str:
    """The age of a memory in words: "today", "5 days old", "3 months old"."""
    days = max(0, (now - datetime.fromisoformat(since)).days)
    if not days:
        return "today"
    count, unit = (days, "day") if days < 60 else (days // 30, "month") if days < 730 else (days // 365, "year")
    return f"{count} {unit}{'s' * (count > 1)} old"


def about_once(info: MemoryInfo) -> list[MemoryAnchor]:
    """The links of a memory to code, at most one for each name.

    Overloads share a name. A link to an overload that was changed or deleted is preferred.
    """
    found: dict[str, MemoryAnchor] = {}
    for one in info.about:
        known = found.get(one.name)
        if known is None or _TELLING.index(one.anchor) < _TELLING.index(known.anchor):
            found[one.name] = one
    return list(found.values())


def code_since(info: MemoryInfo) -> str:
    """One line on changes to a memory's code since the memory was written.

    The line is "" when the code is unchanged. If the code exists only on other branches, the line names these branches. Missing files are
    not mentioned, because they may never have been indexed.
    """
    changed = [one.name for one in about_once(info) if one.anchor == "suspect"]
    gone = list(
        dict.fromkeys(
            one.name if one.name != one.id else "code" for one in info.about if one.anchor == "orphaned" and one.label == "Symbol"
        )
    )
    said = [f"written before {_several(changed)} changed"] if changed else []
    if info.branches:
        said.append(f"about code of branch {_several(info.branches)}, which is not checked out")
    elif gone:
        said.append(f"about {_several(gone)}, which is gone")
    return "; ".join(said)


def _several(names: list[str]) -> str:
    more = len(names) - _NAMED
    return " and ".join(" ".join(name.split()) for name in names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


@answer
class Remembered:
    """The outcome of storing one memory."""

    id: Annotated[
        str,
        Doc("Global id of the new memory, or of the existing memory that already contains the text; for the GraphQL query `node`"),
        GlobalId(MEMORY),
    ]
    short_id: str
    outcome: Annotated[
        str,
        Doc(
            "what happened to the text: added; duplicate (a memory has the same text); consolidated (merged with a memory that says "
            "nearly the same); replaced (it replaces a memory that it contradicts); superseded (it contradicts a more trusted memory, "
            "which stays); or conflicting (it contradicts a memory, and both stay until a person decides)"
        ),
    ]
    given_id: Annotated[str, Doc("id that the caller gave the memory; empty if there is none")]
    others: Annotated[list[str], Doc("database ids of the existing memories that decided the outcome, such as a duplicate")]
    redacted: Annotated[list[str], Doc("kinds of secrets that were removed from the text")]
    unresolved: Annotated[list[str], Doc("names in the text that several symbols have; the memory is linked to none of these symbols")]
    note: Annotated[str, Doc("explanation of the outcome in one sentence; empty when the outcome is `added`")] = ""


@answer
class RememberAnswer:
    """The outcome of storing a memory, with the memory as it is now."""

    memory: MemoryInfo
    result: Remembered


@answer
class Refusal:
    """A rejected memory of a bulk write."""

    index: Annotated[int, Doc("position of the memory in the request, from 0")]
    given_id: str
    message: str
    facts: dict[str, Any]


@answer
class RememberManyAnswer:
    """The outcome of a bulk write, in the order of the given memories."""

    results: Annotated[
        list[Remembered],
        Doc("for each accepted memory of the write, whether it was added, merged with a known memory, or replaced one"),
        Size(100),
    ]
    refused: Annotated[list[Refusal], Doc("the rejected memories of the write, with the reasons"), Size(10)]
    counts: Annotated[dict[str, int], Doc("number of accepted memories by outcome, such as added, duplicate or replaced"), Size(6)]
    seconds: float


@answer(page="memories")
class MemoryPage:
    """A page of memories, and their total number."""

    memories: list[MemoryInfo]
    total: int


@answer
class Timeline:
    """A memory with the memories made just before and after it, oldest first."""

    before: list[MemoryInfo]
    memory: MemoryInfo
    after: list[MemoryInfo]


@answer
class ReviewItem:
    """A memory that needs review, and why."""

    memory: MemoryInfo
    reasons: Annotated[
        list[str],
        Doc(
            "reasons for the review: needs_review (marked by somebody), disputed, conflict (contradicts "
            "another memory), suspect (its code changed), orphaned (its code was deleted), contaminated "
            "(text from untrusted sources) or stale (long unused)"
        ),
    ]


@answer(page="items")
class ReviewQueue:
    """A page of the review queue, most urgent first."""

    items: list[ReviewItem]
    total: int


@answer
class Forgotten:
    """The outcome of forgetting or deleting memories."""

    ids: Annotated[list[str], Doc("Global ids of the removed memories, for the GraphQL query `node`"), GlobalId(MEMORY)]
    hard: Annotated[bool, Doc("true when the memories were deleted from graph and journal, and not only hidden from search")]
    dry_run: bool
    kept: Annotated[
        list[str],
        Doc("Global ids of memories that were kept although their origin was retracted, because they have another origin, too"),
        GlobalId(MEMORY),
    ] = field(default_factory=list)


@answer
class TermAlias:
    """Words that a search for a term also looks for."""

    term: str
    means: list[str]


@answer
class Noted:
    """The memories whose use by an agent was counted."""

    ids: Annotated[list[str], Doc("ids of the memories, as the caller gave them")]


@answer
class Rule:
    """An instruction that every agent's session receives word for word."""

    name: str
    scope: Annotated[str, Doc("pattern (glob) of the paths that the rule applies to; empty for all paths")]
    origin: Annotated[str, Doc("owner of the rule: user or project")]
    text: str


@answer
class RuleSet(Unpacks):
    """The rules that apply, the most specific last.

    The answer unpacks into the rules and the notes. The notes name the files of rules that could not be read.
    """

    rules: Annotated[
        list[Rule], Doc("rules for agents that apply to the given files: first the user's own rules, then the project's"), Size(20)
    ]
    notes: Annotated[list[str], Doc("files of rules that could not be read")]


@answer
class MemoryChange:
    """The changes to memories by one write, which the server accepted."""

    changed: Annotated[
        list[str],
        Doc("Global ids of memories that are new, changed or newly linked; the GraphQL query `nodes` returns the memories"),
        GlobalId(MEMORY),
    ]
    removed: Annotated[list[str], Doc("Global ids of memories that were deleted permanently"), GlobalId(MEMORY)]
