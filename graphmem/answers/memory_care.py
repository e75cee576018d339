"""Answers about maintenance of memories: pruning, audit, secrets, imports."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.marks import MEMORY, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import Moment


@answer
class Pruned:
    """A memory that pruning deprecates or removes, with the reason."""

    id: Annotated[str, Doc("Global id of the memory, for the GraphQL query `node`"), GlobalId(MEMORY)]
    short_id: str
    title: str
    rule: Annotated[
        str,
        Doc(
            "why the memory is deprecated or removed: half_lives (long unused), ttl (expired), limit (too many memories), size (too many "
            "bytes) or policy (deprecated long ago)"
        ),
    ]
    action: Annotated[str, Doc("what pruning does with the memory: deprecate or remove")]


@answer
class PruneAnswer:
    """The memories that pruning deprecates or removes."""

    pruned: Annotated[list[Pruned], Doc("the deprecated and removed memories, each with the reason"), Size(100)]
    kept: Annotated[int, Doc("number of memories in use (not superseded or deprecated) after pruning")]
    dry_run: bool


@answer
class RebuildAnswer:
    """The outcome of rebuilding every memory from the journal."""

    memories: int
    restored: Annotated[
        int, Doc("number of memories that were missing in the graph, or differed from the journal (the log of all changes of memories)")
    ]
    removed: Annotated[
        int, Doc("number of memories that were removed from the graph because the journal (the log of all changes of memories) lacks them")
    ]
    notes: Annotated[list[str], Doc("parts of the journal (the log of all changes of memories) that could not be read")]


@answer
class AuditEntry:
    """One entry of the audit log: actor, action and memory."""

    number: int
    at: Moment
    actor: str
    action: Annotated[
        str,
        Doc(
            "what was done: add, update, remove, promote (learn from a session), supersede, evict (hide because of age or space), pin, "
            "unpin, verify, dispute, compact (merge with a memory that says nearly the same), import or another action"
        ),
    ]
    memory_id: Annotated[str, Doc("database id of the memory; empty when the entry does not concern a single memory")]
    before: Annotated[str, Doc("hash of the memory's content before the action")]
    after: str
    note: str


@answer
class AuditPage:
    """A page of the audit log, newest first."""

    entries: list[AuditEntry]
    total: Annotated[int, Doc("number of entries in the audit log")]
    head: Annotated[
        str, Doc("hash of the newest entry, computed also from the hash of the entry before it; it changes if any earlier entry changes")
    ]
    sound: Annotated[bool, Doc("false when an entry of the audit log was changed or removed; `notes` tells which")]
    notes: list[str]


@answer
class SecretsFound:
    """A memory in which a scan found a secret; the secret is not included."""

    id: Annotated[str, Doc("Global id of the memory that contains the secret, for the GraphQL query `node`"), GlobalId(MEMORY)]
    short_id: str
    kinds: list[str]
    fields: list[str]


@answer
class FileSecrets:
    """A file in which a scan found secrets: part of the index, or a backup.

    The secrets are not included.
    """

    file: str
    kinds: Annotated[
        list[str], Doc("kinds of the found secrets; `too_large`, `unreadable` or `damaged` when the file was not scanned or not cleaned")
    ]
    cleaned: bool


@answer
class ScanAnswer:
    """Secrets found in stored data, and whether they were removed."""

    scanned: int
    found: Annotated[list[SecretsFound], Doc("memories that contain a secret, by id"), Size(20)]
    dry_run: bool
    files: Annotated[
        list[FileSecrets], Doc("the files of the index and its backups that contain a secret, in the order of their names"), Size(20)
    ] = field(default_factory=list)


@answer
class DeleteAnswer:
    """The outcome of deleting all memories and sessions of a project."""

    memories: int
    sessions: int
    files: Annotated[list[str], Doc("names of the deleted files")]


@answer
class ImportAnswer:
    """The outcome of importing an export or a file of another tool."""

    source: Annotated[str, Doc("the detected format of the import")]
    counts: Annotated[dict[str, int], Doc("Number of imported memories by outcome, such as added or duplicate"), Size(6)]
    ids: Annotated[list[str], Doc("Global ids of the memories that are new or changed"), GlobalId(MEMORY)]
    notes: list[str]


@answer
class SyncConflict:
    """A memory that was changed both in the synchronized file and the graph.

    Both versions are kept.
    """

    id: Annotated[str, Doc("Global id of the memory, for the GraphQL query `node`"), GlobalId(MEMORY)]
    in_file: Annotated[str, Doc("text of the memory in the file; empty when the line was deleted from the file")]
    in_graph: str
    kept_as: Annotated[str, Doc("Global id of the memory that now has the text from the file"), GlobalId(MEMORY)]


@answer
class SyncAnswer:
    """The outcome of synchronizing MEMORY.md with the memories."""

    path: str
    added: Annotated[list[str], Doc("Global ids of memories added from the file"), GlobalId(MEMORY)]
    changed: Annotated[list[str], Doc("Global ids of memories whose text the file changed"), GlobalId(MEMORY)]
    forgotten: Annotated[list[str], Doc("Global ids of memories whose line was deleted from the file"), GlobalId(MEMORY)]
    written: Annotated[int, Doc("number of lines in the file after the synchronization")]
    conflicts: Annotated[list[SyncConflict], Doc("memories that were changed both in the file and in the graph"), Size(5)]
    notes: list[str]
    dry_run: bool = False
