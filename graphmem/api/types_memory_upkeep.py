"""GraphQL types of keeping memories in order: pruning, audit, secrets, rebuilding, deleting."""

from __future__ import annotations

import strawberry

from graphmem import answers
from graphmem.api.complexity import assumed
from graphmem.api.describe import field, gql_type, resolved
from graphmem.api.ids import MEMORY, global_id


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
