"""What looking after memories came to: pruning, auditing, secrets, files of people."""

from __future__ import annotations

from graphmem.answers.plain import answer


@answer
class Pruned:
    """A memory that pruning retires, and the rule."""

    id: str
    short_id: str
    title: str
    rule: str  # half_lives | ttl | limit | size | policy
    action: str  # deprecate | remove


@answer
class PruneAnswer:
    """What pruning did, or with a dry run would do."""

    pruned: list[Pruned]
    kept: int  # live memories afterwards
    dry_run: bool


@answer
class RebuildAnswer:
    """What came of making every memory from the journal alone."""

    memories: int
    restored: int  # that the graph had lost or had otherwise
    removed: int  # that the journal does not know
    notes: list[str]  # what of the journal could not be read, one sentence each


@answer
class AuditEntry:
    """One line of the audit: who did what to which memory."""

    number: int
    at: str
    actor: str
    action: str  # add | update | remove | promote | supersede | evict | pin | unpin | verify | dispute | compact | import | …
    memory_id: str  # "" when it is about no single one
    before: str  # fingerprint
    after: str
    note: str


@answer
class AuditPage:
    """A page of the audit, newest first."""

    entries: list[AuditEntry]
    total: int  # entries that are kept
    head: str  # hash of the newest entry, which seals all before it
    sound: bool  # False when an entry was changed or taken out; `notes` says where
    notes: list[str]


@answer
class SecretsFound:
    """A memory in which a later scan found a secret; never the secret."""

    id: str
    short_id: str
    kinds: list[str]
    fields: list[str]


@answer
class ScanAnswer:
    """What a scan of everything stored found, and whether it was taken out."""

    scanned: int
    found: list[SecretsFound]
    dry_run: bool


@answer
class DeleteAnswer:
    """What deleting everything deleted."""

    memories: int
    sessions: int
    files: list[str]  # names of files that are gone


@answer
class ImportAnswer:
    """What reading a document of memories, or a file of another tool, did."""

    source: str  # what it was taken for
    counts: dict[str, int]  # outcome -> memories
    ids: list[str]  # of the memories that are new or changed
    notes: list[str]


@answer
class SyncConflict:
    """A memory that was changed in the file and in the graph; both are kept."""

    id: str
    in_file: str  # "" when its line was deleted
    in_graph: str
    kept_as: str  # id of the memory that holds what the file said; "" when the line was deleted


@answer
class SyncAnswer:
    """What carrying changes between MEMORY.md and the graph did."""

    path: str
    added: list[str]  # ids of memories that are new from the file
    changed: list[str]  # ids whose text the file changed
    forgotten: list[str]  # ids whose line was deleted
    written: int  # lines the file has now
    conflicts: list[SyncConflict]
    notes: list[str]
    dry_run: bool = False
