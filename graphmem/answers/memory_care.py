"""What looking after memories came to: pruning, auditing, secrets, files of people."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.marks import MEMORY, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment


@answer
class Pruned:
    """A memory that pruning retires, and the rule."""

    id: Annotated[str, Doc("Global id"), GlobalId(MEMORY)]
    short_id: str
    title: str
    rule: Annotated[str, Doc("half_lives, ttl, limit, size or policy")]
    action: Annotated[str, Doc("deprecate or remove")]


@answer
class PruneAnswer:
    """What pruning did, or with a dry run would do."""

    pruned: Annotated[list[Pruned], Doc("by rule and id"), Size(100)]
    kept: Annotated[int, Doc("live memories afterwards")]
    dry_run: bool


@answer
class RebuildAnswer:
    """What came of making every memory from the journal alone."""

    memories: int
    restored: Annotated[int, Doc("that the graph had lost or had otherwise")]
    removed: Annotated[int, Doc("that the journal does not know")]
    notes: Annotated[list[str], Doc("what of the journal could not be read")]


@answer
class AuditEntry:
    """One line of the audit: who did what to which memory."""

    number: int
    at: Moment
    actor: str
    action: Annotated[
        str, Doc("add | update | remove | promote | supersede | evict | pin | unpin | verify | dispute | compact | import | …")
    ]
    memory_id: Annotated[str, Doc("raw id; empty when it is about no single one")]
    before: Annotated[str, Doc("fingerprint")]
    after: str
    note: str


@answer
class AuditPage:
    """A page of the audit, newest first."""

    entries: list[AuditEntry]
    total: Annotated[int, Doc("entries that are kept")]
    head: Annotated[str, Doc("hash of the newest entry, which seals all before it")]
    sound: Annotated[bool, Doc("false when an entry was changed or taken out; `notes` says where")]
    notes: list[str]


@answer
class SecretsFound:
    """A memory in which a later scan found a secret; never the secret."""

    id: Annotated[str, Doc("Global id"), GlobalId(MEMORY)]
    short_id: str
    kinds: list[str]
    fields: list[str]


@answer
class FileSecrets:
    """A file of the index, or one in a backup, in which a scan found secrets; never a secret."""

    file: str
    kinds: Annotated[list[str], Doc("of secrets; `too_large`, `unreadable` or `damaged` for what was not looked through or not cleaned")]
    cleaned: bool


@answer
class ScanAnswer:
    """What a scan of everything stored found, and whether it was taken out."""

    scanned: int
    found: Annotated[list[SecretsFound], Doc("by id"), Size(20)]
    dry_run: bool
    files: Annotated[list[FileSecrets], Doc("of the index and its backups, by name"), Size(20)] = field(default_factory=list)


@answer
class DeleteAnswer:
    """What deleting everything deleted."""

    memories: int
    sessions: int
    files: Annotated[list[str], Doc("names of files that are gone")]


@answer
class ImportAnswer:
    """What reading a document of memories, or a file of another tool, did."""

    source: Annotated[str, Doc("what it was taken for")]
    counts: Annotated[dict[str, int], Doc("Memories by outcome"), Size(6)]
    ids: Annotated[list[str], Doc("Global ids of the memories that are new or changed"), GlobalId(MEMORY)]
    notes: list[str]


@answer
class SyncConflict:
    """A memory that was changed in the file and in the graph; both are kept."""

    id: Annotated[str, Doc("Global id of the memory"), GlobalId(MEMORY)]
    in_file: Annotated[str, Doc("empty when its line was deleted")]
    in_graph: str
    kept_as: Annotated[str, Doc("Global id of the memory that holds what the file said"), GlobalId(MEMORY)]


@answer
class SyncAnswer:
    """What carrying changes between MEMORY.md and the graph did."""

    path: str
    added: Annotated[list[str], Doc("Global ids of memories that are new from the file"), GlobalId(MEMORY)]
    changed: Annotated[list[str], Doc("Global ids of memories whose text the file changed"), GlobalId(MEMORY)]
    forgotten: Annotated[list[str], Doc("Global ids of memories whose line was deleted"), GlobalId(MEMORY)]
    written: Annotated[int, Doc("lines the file has now")]
    conflicts: Annotated[list[SyncConflict], Doc("changed on both sides"), Size(5)]
    notes: list[str]
    dry_run: bool = False
