"""GraphQL types of memories: what is known, why, and about what."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import strawberry
from strawberry.scalars import JSON

from graphmem import answers
from graphmem.api.complexity import assumed
from graphmem.api.context import Info
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.ids import FILE, MEMORY, SYMBOL, global_id
from graphmem.api.types_symbol import Node, PageInfo, Symbol


@gql_type
class MemoryAnchor:
    """What a memory is about, and how that has fared since it was written."""

    label: str = field("File, Symbol, External or Module")
    name: str = field("`path:qualname`, path or module; an id for what the index does not know")
    role: str = field("about, target or impacts")
    confidence: float
    anchor: str = field("valid, moved, suspect (the code changed) or orphaned (it is gone)")
    commit_sha: str

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.MemoryAnchor]) -> str:
        """Global id of the node."""
        return global_id(FILE if parent.label == "File" else SYMBOL if parent.label in ("Symbol", "External") else parent.label, parent.id)

    @resolved(Symbol | None)
    @staticmethod
    async def symbol(parent: strawberry.Parent[answers.MemoryAnchor], info: Info) -> answers.SymbolInfo | None:
        """The node as a symbol; null when it is not in the index any more."""
        return await info.context.loaders.symbols.load(parent.id)


@gql_type
class MemoryRelation:
    """A link to another memory, seen from one end."""

    short_id: str
    title: str
    status: str
    kind: str = field("required_with, conflicts_with, validates, supersedes or derived_from")
    outgoing: bool = field("false when the other memory points here")
    confidence: float
    auto: bool = field("found by graphmem, not said by anybody")

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.MemoryRelation]) -> str:
        """Global id of the other memory."""
        return global_id(MEMORY, parent.id)


@gql_type
class Memory(Node):
    """A piece of knowledge as a node of the graph. Times are ISO 8601 in UTC, empty for never."""

    short_id: str = field("what people type and read")
    type: str = field("gotcha, decision, pattern, …; docs/memories.md lists them")
    title: str
    citation: str
    content: str
    confidence: float
    confidence_in_use: float = field("faded by time, lowered where disputed or where its code changed")
    importance: float
    strength: int = field("independent confirmations")
    source: str
    trust: float = field("of the source, in ranking")
    scope: str
    visibility: str
    status: str = field("candidate, confirmed, pinned, superseded or deprecated")
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
    origin: str = field("user, repository, agent, tool or web")
    half_life_days: float | None = field("null: it never fades")
    commit_sha: str
    work_unit: JSON | None
    details: JSON | None
    files: list[str] = field("paths it names")
    about: list[MemoryAnchor] = field("the code it is about", directives=[assumed(4)])
    relations: list[MemoryRelation] = field("other memories it has to do with", directives=[assumed(3)])
    sessions: list[str]
    aliases: list[str] = field("other ids the same text was given under")
    embedded: bool = field("it has a vector of the model in use")

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.MemoryInfo]) -> str:
        """Opaque and stable."""
        return global_id(MEMORY, parent.id)

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        """Resolvers hand on the service's own dataclass."""
        return isinstance(value, answers.MemoryInfo)


@gql_type
class MemoryEdge:
    """A memory in a list."""

    cursor: str
    node: Memory


@gql_type
class MemoryConnection:
    """A page of memories."""

    edges: list[MemoryEdge]
    page_info: PageInfo
    total_count: int


@gql_type
class Timeline:
    """A memory between its neighbours in time, oldest first."""

    before: list[Memory]
    memory: Memory
    after: list[Memory]


@gql_type
class ReviewItem:
    """A memory that needs review, and why."""

    memory: Memory
    reasons: list[str] = field("needs_review, disputed, conflict, suspect, orphaned, contaminated or stale")


@gql_type
class ReviewEdge:
    """An item of the review queue."""

    cursor: str
    node: ReviewItem


@gql_type
class ReviewConnection:
    """A page of the review queue, most pressing first."""

    edges: list[ReviewEdge]
    page_info: PageInfo
    total_count: int


@strawberry.input(description="Which memories; every field that is given must hold, lists are alternatives.")
class MemoryFilter:
    """See `graphmem.memory.filters.MemoryQuery`."""

    types: list[str] | None = None
    sources: list[str] | None = None
    statuses: list[str] | None = strawberry.field(default=None, description="default candidate, confirmed and pinned")
    tags: list[str] | None = None
    files: list[str] | None = None
    symbols: list[str] | None = None
    session: str | None = None
    origin: str | None = None
    scope: str | None = None
    visibility: str | None = None
    text: str | None = None
    min_confidence: float | None = None
    needs_review: bool | None = None
    disputed: bool | None = None
    contaminated: bool | None = None
    user_verified: bool | None = None
    as_of: str | None = strawberry.field(default=None, description="ISO 8601: what was believed then")


@strawberry.enum(description="Order of a list of memories.")
class MemorySort(StrEnum):
    """See `MemoryVerbs.memories`."""

    NEWEST = "newest"
    OLDEST = "oldest"
    UPDATED = "updated"
    IMPORTANCE = "importance"
    CONFIDENCE = "confidence"
    STRENGTH = "strength"
    USED = "used"


@gql_type
class MemoryChange:
    """One accepted write of memories."""

    @resolved(list[strawberry.ID])
    @staticmethod
    def changed(parent: strawberry.Parent[answers.MemoryChange]) -> list[str]:
        """Global ids of memories that are new, changed or linked otherwise; `nodes` gives them."""
        return [global_id(MEMORY, one) for one in parent.changed]

    @resolved(list[strawberry.ID])
    @staticmethod
    def removed(parent: strawberry.Parent[answers.MemoryChange]) -> list[str]:
        """Global ids of memories that are gone for good."""
        return [global_id(MEMORY, one) for one in parent.removed]
