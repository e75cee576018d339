"""GraphQL types of memories: what is known, why, about what, and what became of a write."""

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
from graphmem.api.types_index import Count, Row
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
class Remembered:
    """What became of one text that was to be remembered."""

    short_id: str
    outcome: str = field("added, duplicate, consolidated, replaced, superseded or conflicting")
    given_id: str = field("the caller's own id, empty when none was given")
    others: list[str] = field("raw ids of the memories it met")
    redacted: list[str] = field("kinds of secrets that were taken out")
    unresolved: list[str] = field("names in it that fit several symbols, and so were not linked")
    note: str

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.Remembered]) -> str:
        """Global id of the memory that now says it."""
        return global_id(MEMORY, parent.id)


@gql_type
class RememberAnswer:
    """A memory as it now is, and what became of the text."""

    memory: Memory
    result: Remembered


@gql_type
class Refusal:
    """An item of a bulk write that was not taken."""

    index: int = field("its place, from 0")
    given_id: str
    message: str
    facts: JSON


@gql_type
class RememberManyAnswer:
    """What one bulk write did, in the order of its items."""

    results: list[Remembered] = field("of the items that were taken", directives=[assumed(100)])
    refused: list[Refusal] = field("of the others", directives=[assumed(10)])
    seconds: float

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def counts(parent: strawberry.Parent[answers.RememberManyAnswer]) -> list[Row]:
        """Items by outcome."""
        return [Row(name, count=count) for name, count in parent.counts.items()]


@gql_type
class Timeline:
    """A memory between its neighbours in time, oldest first."""

    before: list[Memory]
    memory: Memory
    after: list[Memory]


@gql_type
class ReviewItem:
    """A memory that wants a person's eye, and why."""

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


@gql_type
class Forgotten:
    """What a removal took."""

    hard: bool = field("gone from graph and journal, not only out of search")
    dry_run: bool

    @resolved(list[strawberry.ID])
    @staticmethod
    def ids(parent: strawberry.Parent[answers.Forgotten]) -> list[str]:
        """Global ids of what was taken."""
        return [global_id(MEMORY, one) for one in parent.ids]

    @resolved(list[strawberry.ID])
    @staticmethod
    def kept(parent: strawberry.Parent[answers.Forgotten]) -> list[str]:
        """Global ids of what was in question and stays, because it has another origin as well."""
        return [global_id(MEMORY, one) for one in parent.kept]


@gql_type
class Pruned:
    """A memory that pruning retires, and the rule."""

    short_id: str
    title: str
    rule: str = field("half_lives, ttl, limit, size or policy")
    action: str = field("deprecate or remove")

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.Pruned]) -> str:
        """Global id."""
        return global_id(MEMORY, parent.id)


@gql_type
class PruneAnswer:
    """What pruning did, or with a dry run would do."""

    pruned: list[Pruned] = field("by rule and id", directives=[assumed(100)])
    kept: int = field("live memories afterwards")
    dry_run: bool


@gql_type
class RebuildAnswer:
    """What came of making every memory from the journal alone."""

    memories: int
    restored: int = field("that the graph had lost or had otherwise")
    removed: int = field("that the journal does not know")
    notes: list[str] = field("what of the journal could not be read")


@gql_type
class AuditEntry:
    """Who did what to which memory."""

    number: int
    at: str
    actor: str
    action: str
    memory_id: str = field("raw id; empty when it is about no single one")
    before: str = field("fingerprint")
    after: str
    note: str


@gql_type
class AuditPage:
    """A page of the audit, newest first."""

    entries: list[AuditEntry]
    total: int
    head: str = field("hash of the newest entry, which seals all before it")
    sound: bool = field("false when an entry was changed or taken out; `notes` says where")
    notes: list[str]


@gql_type
class TermAlias:
    """Words a search for a term also looks for."""

    term: str
    means: list[str]


@gql_type
class SecretsFound:
    """A memory in which a scan found a secret; never the secret."""

    short_id: str
    kinds: list[str]
    fields: list[str]

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.SecretsFound]) -> str:
        """Global id."""
        return global_id(MEMORY, parent.id)


@gql_type
class ScanAnswer:
    """What a scan of everything stored found, and whether it was taken out."""

    scanned: int
    found: list[SecretsFound] = field("by id", directives=[assumed(20)])
    dry_run: bool


@gql_type
class DeleteAnswer:
    """What deleting everything deleted."""

    memories: int
    sessions: int
    files: list[str] = field("names of files that are gone")


@gql_type
class Noted:
    """Uses that were counted."""

    ids: list[str] = field("as they were given")


@strawberry.input(description="A piece of knowledge to keep.")
class RememberInput:
    """Arguments of the verb `remember`; those left out have its defaults."""

    content: str = strawberry.field(description="1 to 8,000 characters; 500 or fewer are best")
    type: str | None = strawberry.field(default=None, description="default by its words")
    title: str | None = None
    source: str | None = None
    origin: str | None = None
    scope: str | None = None
    visibility: str | None = None
    tags: list[str] | None = None
    related_files: list[str] | None = None
    symbols: list[str] | None = None
    confidence: float | None = None
    importance: float | None = None
    details: JSON | None = None
    work_unit: JSON | None = None
    session: str | None = None
    commit_sha: str | None = None
    created_at: str | None = None
    half_life_days: float | None = None
    contaminated: bool | None = None
    derived_from: list[str] | None = None
    required_with: list[str] | None = None
    id: str | None = None
    vector: list[float] | None = None
    embedding_model: str | None = None


@strawberry.input(description="Fields of a memory to change; those left out stay.")
class MemoryChanges:
    """Arguments of the verb `update_memory`."""

    content: str | None = None
    title: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    related_files: list[str] | None = None
    confidence: float | None = None
    importance: float | None = None
    details: JSON | None = None
    work_unit: JSON | None = None
    scope: str | None = None
    visibility: str | None = None


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


@strawberry.enum(description="What somebody did with a memory.")
class MemoryUse(StrEnum):
    """See `MemoryVerbs.note_use`."""

    INJECTED = "injected"
    USED = "used"
    CONFIRMED = "confirmed"


def given(value: Any) -> dict[str, Any]:
    """The fields of an input object that hold something, by their Python names."""
    return {name: one for name, one in vars(value).items() if one is not None}


@gql_type
class ImportAnswer:
    """What reading a document of memories, or a file of another tool, did."""

    source: str = field("what it was taken for")
    notes: list[str]

    @resolved(list[Count], [assumed(6)])
    @staticmethod
    def counts(parent: strawberry.Parent[answers.ImportAnswer]) -> list[Row]:
        """Memories by outcome."""
        return [Row(name, count=count) for name, count in parent.counts.items()]

    @resolved(list[strawberry.ID])
    @staticmethod
    def ids(parent: strawberry.Parent[answers.ImportAnswer]) -> list[str]:
        """Global ids of the memories that are new or changed."""
        return [global_id(MEMORY, one) for one in parent.ids]


@gql_type
class Rule:
    """A text that is always put in front of an agent, verbatim."""

    name: str
    scope: str = field("a glob of paths; empty for everywhere")
    origin: str = field("user or project")
    text: str


@gql_type
class RuleSet:
    """The rules that apply, the most specific last."""

    rules: list[Rule] = field("the user's first", directives=[assumed(20)])
    notes: list[str] = field("what could not be read")


@gql_type
class SyncConflict:
    """A memory that was changed in the file and in the graph; both are kept."""

    in_file: str = field("empty when its line was deleted")
    in_graph: str

    @resolved(strawberry.ID)
    @staticmethod
    def id(parent: strawberry.Parent[answers.SyncConflict]) -> str:
        """Global id of the memory."""
        return global_id(MEMORY, parent.id)

    @resolved(strawberry.ID | None)
    @staticmethod
    def kept_as(parent: strawberry.Parent[answers.SyncConflict]) -> str | None:
        """Global id of the memory that holds what the file said."""
        return global_id(MEMORY, parent.kept_as) if parent.kept_as else None


@gql_type
class SyncAnswer:
    """What carrying changes between MEMORY.md and the graph did."""

    path: str
    written: int = field("lines the file has now")
    conflicts: list[SyncConflict] = field("changed on both sides", directives=[assumed(5)])
    notes: list[str]
    dry_run: bool

    @resolved(list[strawberry.ID])
    @staticmethod
    def added(parent: strawberry.Parent[answers.SyncAnswer]) -> list[str]:
        """Global ids of memories that are new from the file."""
        return [global_id(MEMORY, one) for one in parent.added]

    @resolved(list[strawberry.ID])
    @staticmethod
    def changed(parent: strawberry.Parent[answers.SyncAnswer]) -> list[str]:
        """Global ids of memories whose text the file changed."""
        return [global_id(MEMORY, one) for one in parent.changed]

    @resolved(list[strawberry.ID])
    @staticmethod
    def forgotten(parent: strawberry.Parent[answers.SyncAnswer]) -> list[str]:
        """Global ids of memories whose line was deleted."""
        return [global_id(MEMORY, one) for one in parent.forgotten]


@gql_type
class MemoriesText:
    """Memories, written down."""

    text: str


@strawberry.enum(description="How memories are written down.")
class ExportFormat(StrEnum):
    """See `PeopleVerbs.export_memories`."""

    JSON = "json"
    MARKDOWN = "markdown"
    CLAUDE = "claude"


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
