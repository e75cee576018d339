"""Operations on memories: keeping them, reading them, looking after them, and people's files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Required, TypedDict, Unpack

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
from graphmem.operations.declare import Argument, Filled, Local, Ref, Sight, Spelled, Within, Words, operation

Limit = Annotated[int, Doc("at most this many")]
Offset = Annotated[int, Doc("leave out the first ones")]
Actor = Annotated[str, Filled("actor")]
Id = Annotated[str, Ref(MEMORY), Doc("a memory's id or short id")]


class RememberExtras(TypedDict, total=False):
    """What can be said of a piece of knowledge beside its text and type."""

    title: Annotated[str | None, Doc("default the first sentence")]
    source: Annotated[str | None, Doc("who says so; default agent_explicit")]
    origin: Annotated[str | None, Doc("where the words come from: user, repository, agent, tool or web; default the source's")]
    scope: Annotated[str | None, Doc("global, module, work_unit or session")]
    visibility: Annotated[str | None, Doc("personal, project, team or organization")]
    tags: Annotated[Sequence[str] | None, Doc("at most 64")]
    files: Annotated[Sequence[str] | None, Doc("paths in the project; unknown ones are linked when they appear")]
    symbols: Annotated[Sequence[str] | None, Doc("references of what it is about, besides those named in the content")]
    confidence: Annotated[float | None, Doc("0 to 1; default the source's")]
    importance: Annotated[float | None, Doc("0 to 1")]
    details: Annotated[Mapping[str, Any] | None, Doc("typed extras of its type")]
    work_unit: Annotated[Mapping[str, Any] | None, Doc("methodology, hierarchy, label")]
    session: Annotated[str | None, Doc("the run, commit or page it was learnt in")]
    commit_sha: Annotated[str | None, Doc("the commit it was learnt at")]
    created_at: Annotated[datetime | str | None, Doc("aware time or ISO 8601; default now")]
    half_life_days: Annotated[float | None, Doc("instead of the type's")]
    contaminated: Annotated[bool | None, Doc("strangers' words had a part in it; default by origin and by what it is derived from")]
    derived_from: Annotated[Sequence[str] | None, Doc("ids of memories it was made of")]
    required_with: Annotated[Sequence[str] | None, Doc("ids of memories that belong with it")]
    id: Annotated[str | None, Doc("your own id; default a UUIDv7")]
    vector: Annotated[Sequence[float] | None, Doc("of the contextual text, with `embedding_model`")]
    embedding_model: Annotated[str | None, Doc("model id of `vector`")]


class RememberInput(RememberExtras, total=False):
    """A piece of knowledge to keep."""

    content: Required[Annotated[str, Doc("1 to 8,000 characters; 500 or fewer are best")]]
    type: Annotated[str | None, Doc("a memory type; default by its words")]


class MemoryChanges(TypedDict, total=False):
    """Fields of a memory to change; those left out stay."""

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
    """Which memories; every field that is given must hold, lists are alternatives."""

    types: Sequence[str] | None
    sources: Sequence[str] | None
    statuses: Annotated[Sequence[str] | None, Doc("default candidate, confirmed and pinned")]
    tags: Sequence[str] | None
    files: Sequence[str] | None
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
    as_of: Annotated[str | None, Time(), Doc("what was believed then")]


class MemoryOperations:
    """Memories. A change is kept on disk when the answer is there. Ids are full ids, short ids, or beginnings that fit one memory."""

    @operation("mutation", needs="remember", shows=Sight.NAMED, packed=RememberInput, renamed={"related_files": "files"})
    def remember(
        self,
        content: str,
        type: str | None = None,  # noqa: A002 - the word of the domain
        *,
        actor: Actor = "",
        **given: Unpack[RememberExtras],
    ) -> RememberAnswer:
        """Keep a piece of knowledge; says whether it was new, a duplicate, or contradicts something."""

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
        """Keep many in one write; without `skipInvalid` nothing is kept when one of them cannot be."""

    @operation("mutation", needs="curate", shows=Sight.NAMED, renamed={"related_files": "files"})
    def update_memory(self, id: Id, *, actor: Actor = "", **changes: Unpack[MemoryChanges]) -> MemoryInfo:  # noqa: A002
        """Change fields of a memory; a changed content is a new version, the old one stays as superseded."""

    @operation("mutation", needs="curate", shows=Sight.NAMED)
    def forget(self, id: Id, hard: bool = False, actor: Actor = "") -> Forgotten:  # noqa: A002
        """Take a memory out of search; with `hard` also out of the graph and the journal, for good."""

    @operation("mutation", needs="curate", shows=Sight.NAMED)
    def pin(self, id: Id, on: bool = True, actor: Actor = "") -> MemoryInfo:  # noqa: A002
        """Keep a memory in use: it never fades and is never pruned; with `on: false` it is an ordinary one again."""

    @operation("mutation", needs="curate", shows=Sight.NAMED)
    def verify(self, id: Id, actor: Actor = "") -> MemoryInfo:  # noqa: A002
        """A person says that it is true."""

    @operation("mutation", needs="curate", shows=Sight.NAMED, command="memory dispute")
    def dispute(self, id: Id, reason: Annotated[str, Words(), Argument()] = "", actor: Actor = "") -> MemoryInfo:  # noqa: A002
        """Say that a memory is not true.

        It counts less until that is resolved.

        Args:
            reason: why it is not true.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, command="memory resolve")
    def resolve_conflict(
        self,
        winner: Id,
        loser: Annotated[str | None, Ref(MEMORY), Spelled(("--over",), metavar="ID")] = None,
        note: str = "",
        actor: Actor = "",
    ) -> MemoryInfo:
        """Decide between memories that conflict, or end a dispute.

        The winner stays, the loser is superseded.

        Args:
            winner: the memory that stays.
            loser: the one that gives way; all it conflicts with when left out.
            note: why.
        """

    @operation("mutation", needs="remember", shows=Sight.NAMED)
    def note_use(
        self, ids: Annotated[Sequence[str], Ref(), Within("targets")], use: MemoryUse = "used", session: str | None = None
    ) -> Noted:
        """Count that memories were shown, used or agreed with; use is evidence, showing is not."""

    @operation("mutation", needs="curate", shows=Sight.PLAIN)
    def set_alias(self, term: str, means: Sequence[str], actor: Actor = "") -> TermAlias:
        """Words that a search for a term also looks for; none removes the alias."""

    @operation("query", needs="read", shows=Sight.PLAIN)
    def aliases(self) -> list[TermAlias]:
        """What searches also look for, by term."""

    @operation("query", needs="read", shows=Sight.SEEN, command="memory show")
    def memory(self, id: Id) -> MemoryInfo:  # noqa: A002
        """Show everything about a memory."""

    @operation("query", needs="read", shows=Sight.SEEN, renamed={"query": "filter"})
    def memories(
        self,
        filter: MemoryFilter | None = None,  # noqa: A002 - the word of the domain
        sort: MemorySort = "newest",
        limit: int = 50,
        offset: Offset = 0,
    ) -> MemoryPage:
        """Memories that pass a filter; default every live one."""

    @operation("query", needs="read", shows=Sight.SEEN, sizes={"n": ("before", "after")}, command="memory timeline")
    def timeline(self, id: Id, n: Annotated[int, Within("results"), Spelled(("-n",))] = 5) -> Timeline:  # noqa: A002
        """Show what was learnt before and after a memory.

        Args:
            n: how many before and after.
        """

    @operation("query", needs="read", shows=Sight.SEEN, command="memory review")
    def review_queue(self, limit: Annotated[Limit, Spelled(default=20)] = 50, offset: Offset = 0) -> ReviewQueue:
        """List memories that need review by a person.

        The most pressing come first. They are disputed, contradicting, or older than a change of their code.
        """

    @operation("query", needs="read", shows=Sight.WHOLE, sizes={"limit": ("entries",)}, command="memory audit")
    def audit(
        self,
        memory: Annotated[str | None, Ref(MEMORY), Argument(), Spelled(metavar="ID")] = None,
        limit: Annotated[Limit, Within("page"), Spelled(default=50)] = 100,
        offset: Offset = 0,
    ) -> AuditPage:
        """Show who did what, and whether the record is whole.

        The newest comes first.

        Args:
            memory: what was done with this memory; with all when left out.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, slow=True)
    def prune(self, dry_run: bool = False, actor: Actor = "") -> PruneAnswer:
        """Retire what has faded, expired, or is too much."""

    @operation("mutation", needs="curate", shows=Sight.WHOLE, slow=True, command="memory retract")
    def retract(self, origin: str, hard: bool = False, dry_run: bool = False, actor: Actor = "") -> Forgotten:
        """Take back everything that came from one origin.

        What was derived from it goes too.

        Args:
            origin: a session, a page, or a kind of origin: user, repository, web, tool, agent.
            hard: for good: out of the graph and the journal too.
            dry_run: only say what would happen.
        """

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True, command="memory rebuild")
    def rebuild_memories(self) -> RebuildAnswer:
        """Rebuild every memory from the journal alone."""

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True)
    def scan_secrets(self, dry_run: bool = True, actor: Actor = "") -> ScanAnswer:
        """Look for secrets in everything stored; without `dryRun` they are taken out of graph and journal."""

    @operation("mutation", needs="admin", shows=Sight.WHOLE, slow=True)
    def delete_all(self, confirm: str, actor: Actor = "") -> DeleteAnswer:
        """Delete every memory, session and journal, for good; `confirm` is the project's name."""

    @operation(needs="read", shows=Sight.WHOLE, client="none")
    def subscribe_memories(self) -> AbstractContextManager[Iterator[MemoryChange]]:
        """Listen to changes of memories; leaving the context ends the iteration in any thread."""

    # ---- people's files

    @operation("query", needs="read", shows=Sight.WHOLE, slow=True)
    def export_memories(self, format: ExportFormat = "json", personal: bool = True) -> str:  # noqa: A002
        """Everything that is known, as text; JSON loses nothing, and `importMemories` reads it back.

        Without `personal` no personal memory is in it.
        """

    @operation("mutation", needs="curate", shows=Sight.WHOLE, slow=True, client="own", renamed={"text": "content"})
    def import_memories(self, content: str, path: str = "", format: str = "", actor: Actor = "") -> ImportAnswer:  # noqa: A002
        """Read memories from an export or a file of another tool; `path` is the file's name, by which it is recognised."""

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
        """Carry changes between MEMORY.md and the memories, both ways.

        Over a connection no other `path` is taken.

        Args:
            path: default MEMORY.md in the project's root.
            dry_run: only say what would happen.
            personal: write personal memories into the file too; all who have the repository read them.
        """

    @operation("query", needs="read", shows=Sight.PLAIN, command="rules")
    def rules(self, files: Annotated[Sequence[str] | None, Argument()] = None) -> RuleSet:
        """Show the rules that are always put in front of an agent.

        The most specific comes last. Without files they are shown whatever their scope.

        Args:
            files: only rules that apply while these are worked on.
        """
