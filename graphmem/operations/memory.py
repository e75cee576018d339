"""Operations on memories: write, read, change, import and export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Required, TypedDict, Unpack

from graphmem.answers import (
    AuditPage,
    DeleteAnswer,
    Forgotten,
    ImportAnswer,
    MemoryChange,
    MemoryInfo,
    MemoryPage,
    Noted,
    PruneAnswer,
    RebuildAnswer,
    RememberAnswer,
    RememberManyAnswer,
    ReviewQueue,
    RuleSet,
    ScanAnswer,
    SyncAnswer,
    TermAlias,
    Timeline,
)
from graphmem.answers.marks import MEMORY, Doc, Time
from graphmem.answers.vocabulary import ExportFormat, MemorySort, MemoryUse
from graphmem.operations.declare import Sight, operation
from graphmem.operations.marks import Argument, Filled, Local, Ref, Spelled, Within, Words

Limit = Annotated[int, Doc("the maximum number of results")]
Offset = Annotated[int, Doc("number of results to skip")]
Actor = Annotated[str, Filled("actor")]
Id = Annotated[str, Ref(MEMORY), Doc("id or short id of the memory")]


class RememberExtras(TypedDict, total=False):
    """Optional fields of a new memory, besides its text and type."""

    title: Annotated[str | None, Doc("title of the memory; default: the first sentence of its content")]
    source: Annotated[str | None, Doc("kind of source that the memory comes from; default: agent_explicit, stored by an agent on purpose")]
    origin: Annotated[
        str | None,
        Doc("where the text comes from: user, repository, agent, tool or web; default: follows from `source`"),
    ]
    scope: Annotated[
        str | None,
        Doc(
            "where the memory applies: user (every project of this person), global (all of this project), module, "
            "work_unit (one task, such as a ticket or branch) or session"
        ),
    ]
    visibility: Annotated[str | None, Doc("who may see the memory: personal, project, team or organization")]
    tags: Annotated[Sequence[str] | None, Doc("tags of the memory for filters, at most 64")]
    files: Annotated[Sequence[str] | None, Doc("paths of files that the memory is about; paths that are not indexed yet are linked later")]
    symbols: Annotated[Sequence[str] | None, Doc("references of symbols that the memory is about, besides those that its content names")]
    confidence: Annotated[float | None, Doc("confidence that the memory is true, 0 to 1; default: depends on `source`")]
    importance: Annotated[float | None, Doc("importance of the memory, 0 to 1; it raises the memory's rank")]
    details: Annotated[Mapping[str, Any] | None, Doc("further fields of the memory, which its type defines")]
    work_unit: Annotated[
        Mapping[str, Any] | None,
        Doc("piece of work that the memory belongs to, such as a ticket: methodology (such as tdd or bmad), hierarchy and label"),
    ]
    session: Annotated[str | None, Doc("id of the session or commit, or address of the page, from which the memory was learnt")]
    commit_sha: Annotated[str | None, Doc("id of the commit at which the memory was learnt")]
    created_at: Annotated[
        datetime | str | None, Doc("time at which the memory was learnt: a datetime with a zone, or ISO 8601; default: now")
    ]
    half_life_days: Annotated[float | None, Doc("days in which the confidence fades by half; default: set by the type of the memory")]
    contaminated: Annotated[
        bool | None, Doc("true when the memory contains text from untrusted sources; default: derived from its origin and `derived_from`")
    ]
    derived_from: Annotated[Sequence[str] | None, Doc("ids of memories from which the memory is derived")]
    required_with: Annotated[Sequence[str] | None, Doc("ids of memories that must be shown together with the memory")]
    id: Annotated[str | None, Doc("id for the memory; default: a new UUIDv7")]
    vector: Annotated[
        Sequence[float] | None,
        Doc("embedding vector of one string with the memory's text, files, module and type; requires `embedding_model`"),
    ]
    embedding_model: Annotated[str | None, Doc("id of the model that made `vector`")]


class RememberInput(RememberExtras, total=False):
    """A new memory to store, with its optional fields."""

    content: Required[Annotated[str, Doc("text of the memory, 1 to 8,000 characters; 500 or fewer are best")]]
    type: Annotated[str | None, Doc("type of the memory; default: inferred from its content")]


class MemoryChanges(TypedDict, total=False):
    """Fields of a memory to change; omitted fields keep their values."""

    content: str | None
    title: str | None
    type: str | None
    tags: Sequence[str] | None
    files: Sequence[str] | None
    confidence: float | None
    importance: float | None
    details: Mapping[str, Any] | None
    work_unit: Mapping[str, Any] | None
    scope: str | None
    visibility: str | None


class MemoryFilter(TypedDict, total=False):
    """A filter of memories. All given fields must match.

    A field with a list matches memories that have any value in the list.
    """

    types: Sequence[str] | None
    sources: Sequence[str] | None
    statuses: Annotated[Sequence[str] | None, Doc("status of the memories; default: candidate, confirmed and pinned")]
    tags: Sequence[str] | None
    files: Annotated[Sequence[str] | None, Doc("files that the memories are about; a directory stands for all files below it")]
    symbols: Annotated[Sequence[str] | None, Ref()]
    session: str | None
    origin: str | None
    scope: str | None
    visibility: str | None
    text: str | None
    min_confidence: float | None
    needs_review: bool | None
    disputed: bool | None
    contaminated: bool | None
    user_verified: bool | None
    as_of: Annotated[str | None, Time(), Doc("only memories that were current at this time; default: now")]


TO_KNOW: Final = MemoryFilter(statuses=["pinned", "confirmed"], contaminated=False, disputed=False)
"""The memories that a newcomer to a project should read."""


class MemoryOperations:
    """Operations on memories.

    A change is on disk when the call returns. An id is a full id, a short id, or an unambiguous prefix.
    """

    @operation("mutation", needs="remember", shows=Sight.NAMED, packed=RememberInput, renamed={"related_files": "files"})
    def remember(
        self,
        content: str,
        type: str | None = None,  # noqa: A002 - the word of the domain
        *,
        actor: Actor = "",
        **given: Unpack[RememberExtras],
    ) -> RememberAnswer:
        """Store a memory, and report whether it is new, a duplicate or a conflict."""

    @operation("mutation", needs="remember", shows=Sight.NAMED, slow=True, sizes={"items": ("results",)}, client="own")
    def remember_many(
        self,
        items: Annotated[Iterable[RememberInput], Within("items")],
        *,
        source: Annotated[str, Local()] = "imported",
        embedding_model: Annotated[str | None, Local()] = None,
        skip_invalid: bool = False,
        actor: Actor = "",
    ) -> RememberManyAnswer:
        """Store many memories in one write.

        Without `skipInvalid` one invalid item rejects the whole write.
        """

    @operation("mutation", needs="curate", shows=Sight.NAMED, renamed={"related_files": "files"})
    def update_memory(self, id: Id, *, actor: Actor = "", **changes: Unpack[MemoryChanges]) -> MemoryInfo:  # noqa: A002
        """Change fields of a memory.

        A new content makes a new version; the old version stays as superseded.
        """

    @operation("mutation", needs="curate", shows=Sight.NAMED)
    def forget(self, id: Id, hard: bool = False, actor: Actor = "") -> Forgotten:  # noqa: A002
        """Remove a memory from search.

        With `hard` the memory is also deleted permanently from the graph and the journal.
        """

    @operation("mutation", needs="curate", shows=Sight.NAMED)
    def pin(self, id: Id, on: bool = True, actor: Actor = "") -> MemoryInfo:  # noqa: A002
        """Pin a memory: its confidence never decays, and it is never pruned.

        `on: false` unpins it.
        """

    @operation("mutation", needs="curate", shows=Sight.NAMED)
    def verify(self, id: Id, actor: Actor = "") -> MemoryInfo:  # noqa: A002
        """Mark a memory as verified by a person."""

    @operation("mutation", needs="curate", shows=Sight.NAMED, command="memory dispute")
    def dispute(self, id: Id, reason: Annotated[str, Words(), Argument()] = "", actor: Actor = "") -> MemoryInfo:  # noqa: A002
        """Mark a memory as disputed.

        The memory ranks lower until the dispute is resolved.

        Args:
            reason: why the memory is wrong.
        """

    @operation("mutation", needs="curate", shows=Sight.NAMED, command="memory resolve")
    def resolve_conflict(
        self,
        winner: Id,
        loser: Annotated[str | None, Ref(MEMORY), Spelled(("--over",), metavar="MEMORY")] = None,
        note: str = "",
        actor: Actor = "",
    ) -> MemoryInfo:
        """Resolve a conflict between memories, or end a dispute.

        The memory to keep stays valid; the other one is marked as superseded.

        Args:
            winner: the memory to keep.
            loser: the memory to supersede; default: all memories that conflict with the winner.
            note: the reason for the decision.
        """

    @operation("mutation", needs="remember", shows=Sight.NAMED)
    def note_use(
        self, ids: Annotated[Sequence[str], Ref(), Within("targets")], use: MemoryUse = "used", session: str | None = None
    ) -> Noted:
        """Record that memories were shown, used or confirmed.

        Use and confirmation strengthen a memory; being shown does not.
        """

    @operation("mutation", needs="curate", shows=Sight.PLAIN)
    def set_alias(self, term: str, means: Sequence[str], actor: Actor = "") -> TermAlias:
        """Set the words that a search for a term also looks for.

        `means` has the words. An empty list removes the alias.
        """

    @operation("query", needs="read", shows=Sight.PLAIN)
    def aliases(self) -> list[TermAlias]:
        """Aliases: the words that a search for a term also looks for."""

    @operation("query", needs="read", shows=Sight.SEEN, command="memory show")
    def memory(self, id: Id) -> MemoryInfo:  # noqa: A002
        """Show a memory with all its details."""

    @operation("query", needs="read", shows=Sight.SEEN, renamed={"query": "filter"})
    def memories(
        self,
        filter: MemoryFilter | None = None,  # noqa: A002 - the word of the domain
        sort: MemorySort = "newest",
        limit: int = 50,
        offset: Offset = 0,
    ) -> MemoryPage:
        """Memories that match a filter; default: no superseded or deprecated ones."""

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"n": ("before", "after")}, command="memory timeline")
    def timeline(self, id: Id, n: Annotated[int, Within("results"), Spelled(("-n",))] = 5) -> Timeline:  # noqa: A002
        """Show the memories made just before and after a memory.

        Args:
            n: the maximum number of memories on each side of this memory.
        """

    @operation("query", needs="read", shows=Sight.SEEN, command="memory review")
    def review_queue(self, limit: Annotated[Limit, Spelled(default=20)] = 50, offset: Offset = 0) -> ReviewQueue:
        """List memories that a person should review.

        The listed memories are disputed, conflicting, or older than a change of their code. The most urgent come first.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, sizes={"limit": ("entries",)}, command="memory audit")
    def audit(
        self,
        memory: Annotated[str | None, Ref(MEMORY), Argument(), Spelled(metavar="MEMORY")] = None,
        limit: Annotated[Limit, Within("page"), Spelled(default=50)] = 100,
        offset: Offset = 0,
    ) -> AuditPage:
        """Show the audit log of memories, and check that it is intact.

        The newest entry comes first.

        Args:
            memory: the memory whose entries are shown; default: all entries.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, slow=True)
    def prune(self, dry_run: bool = False, actor: Actor = "") -> PruneAnswer:
        """Deprecate memories that are unused, expired or over a limit.

        A search does not return deprecated memories. If the settings allow it, memories deprecated long ago are removed for good.

        Args:
            dry_run: only report the memories that would be deprecated or removed.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, slow=True, command="memory retract")
    def retract(self, origin: str, hard: bool = False, dry_run: bool = False, actor: Actor = "") -> Forgotten:
        """Retract all memories that came from one origin.

        Memories derived from them are retracted too.

        Args:
            origin: the origin: a session, the address of a page, or a kind of origin (user, repository, web, tool, agent).
            hard: also delete the memories permanently, from the graph and the journal.
            dry_run: only report which memories would be retracted.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, command="memory rebuild")
    def rebuild_memories(self) -> RebuildAnswer:
        """Rebuild every memory from the journal alone.

        The journal is the log of all changes of memories.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True)
    def scan_secrets(self, dry_run: bool = True, actor: Actor = "") -> ScanAnswer:
        """Scan all stored data for secrets.

        Without `dryRun` the secrets are removed from the graph and the journal.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True)
    def delete_all(self, confirm: str, actor: Actor = "") -> DeleteAnswer:
        """Permanently delete every memory, session and journal.

        `confirm` must be the project's name.
        """

    @operation(needs="read", shows=Sight.WHOLE, client="none")
    def subscribe_memories(self) -> AbstractContextManager[Iterator[MemoryChange]]:
        """Subscribe to changes of memories.

        The result is used in a `with` statement, which gives an iterator of the changes. The iterator stops at the end of the `with` block,
        even if another thread iterates. If too many changes wait to be read, it ends with a LimitError.
        """

    # ---- import and export

    @operation("query", needs="read", shows=Sight.WHOLE, slow=True)
    def export_memories(self, format: ExportFormat = "json", personal: bool = True) -> str:  # noqa: A002
        """All memories as text. JSON is lossless; `importMemories` reads it.

        Without `personal` the text omits personal memories.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, slow=True, client="own", renamed={"text": "content"})
    def import_memories(self, content: str, path: str = "", format: str = "", actor: Actor = "") -> ImportAnswer:  # noqa: A002
        """Import memories from an export or a file of another tool.

        `path` is the name of the file, which decides the format.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, slow=True, client="own", command="sync-file")
    def sync_file(
        self,
        path: Annotated[str | Path | None, Argument(), Spelled(metavar="FILE")] = None,
        dry_run: bool = False,
        actor: Actor = "",
        *,
        personal: Annotated[bool, Local(by_command=True)] = False,
        remote: Annotated[bool, Filled("network")] = False,
    ) -> SyncAnswer:
        """Synchronize MEMORY.md and the memories, in both directions.

        A remote caller cannot choose the file.

        Args:
            path: path of the file; default: MEMORY.md in the project's root.
            dry_run: only report what would change, without changing it.
            personal: also write personal memories into the file; everyone who has the repository can read them.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, command="rules")
    def rules(self, files: Annotated[Sequence[str] | None, Argument()] = None) -> RuleSet:
        """Show the rules that are injected into every session.

        The most specific rule comes last. Without `files` the rules of every scope are shown.

        Args:
            files: paths of files; only rules that apply to them are shown.
        """
