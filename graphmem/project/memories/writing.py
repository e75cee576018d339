"""Operations on memories: check arguments, write, and inform sessions.

For example, the use of a memory is also recorded in the session of the agent that used it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers import Noted
from graphmem.knowledge import is_held
from graphmem.memory.files.user_book import USER
from graphmem.memory.repository import changes as changing
from graphmem.memory.repository import outside, read, retention
from graphmem.memory.repository.drafts import listed
from graphmem.memory.repository.update import update
from graphmem.observe.learning.learner import WISH_TAGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Unpack

    from graphmem.answers import (
        AuditPage,
        DeleteAnswer,
        Forgotten,
        MemoryChange,
        MemoryInfo,
        MemoryPage,
        PruneAnswer,
        RebuildAnswer,
        RememberAnswer,
        RememberManyAnswer,
        ReviewQueue,
        ScanAnswer,
        TermAlias,
        Timeline,
    )
    from graphmem.injection.uses import Doubt
    from graphmem.memory.repository.filters import MemoryQuery
    from graphmem.memory.repository.plan import Plan
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.operations.memory import MemoryChanges, MemoryFilter, RememberExtras
    from graphmem.project.graph.progress import Feed, Hub
    from graphmem.project.memories.session_memories import SessionMemories
    from graphmem.project.memories.user_memories import UserMemories

SOURCE: Final = "agent_explicit"  # source of a memory whose caller names none
MAX_REASON: Final = 200  # characters of an agent's sentence that doubts a memory


@dataclass(eq=False, repr=False)
class Memories:
    """Stores, reads and maintains memories.

    As an id, the methods accept a full id, a short id, or a prefix that only one memory's id has.
    """

    book: MemoryRepository
    data_dir: Path
    news: Hub[MemoryChange]  # reports changes of memories
    sessions: SessionMemories
    forget_sessions: Callable[[], None]  # deletes sessions from the history
    forget_shared: Callable[[], list[str]]  # deletes this machine's copy of what a team shares; returns names of files
    user: UserMemories  # of this person, in every project

    # ---- writing

    def remember(
        self,
        content: str,
        type: str | None = None,  # noqa: A002 - the word of the domain
        *,
        actor: str = "",
        **given: Unpack[RememberExtras],
    ) -> RememberAnswer:
        """Store a piece of knowledge. Durable on return.

        If an agent's session contains external text, such as a web page, the memory is held for review. No agent sees a held memory until
        a person has reviewed it. `given` may name the session. Otherwise, all running sessions of the project are considered, because the
        caller is unknown.

        Args:
            content: 1 to 8,000 characters; 500 or fewer are best.
            type: a key of `memory.texts.types.TYPES`, or a name other tools use; default: inferred from the words.
            actor: name of the caller, for the audit log.
            **given: see `RememberExtras`.

        Raises:
            BadInputError: `field`, `limit` and `value` name the invalid value.
            SecretError: the text is mostly a secret; `kinds` names which.
        """
        said = {name: value for name, value in given.items() if value is not None}
        source = str(said.get("source", SOURCE))
        if said.get("scope") == USER:
            said["visibility"] = "personal"
        item, brought = self._as_brought({**said, "source": source, "content": content, "type": type}, source)
        if not brought:
            kept = self.book.remember(item, actor=actor)
            self.user.keep(kept.memory)
            return kept
        now = self.book.clock.now()
        answer = self.book.remember(item, actor=actor, finish=lambda plan: outside.with_sources(plan, {0: brought}, now))
        if not is_held(answer.memory):  # a person asked for the same before, or has reviewed it
            return answer
        note = "; ".join(filter(None, (answer.result.note, outside.contamination_note(brought))))
        return replace(answer, result=replace(answer.result, note=note))

    def remember_many(
        self,
        items: Iterable[Mapping[str, object]],
        *,
        source: str = "imported",
        embedding_model: str | None = None,
        skip_invalid: bool = False,
        actor: str = "",
    ) -> RememberManyAnswer:
        """Store many memories in one transaction, with one entry in the journal.

        Without `skip_invalid`, one invalid item prevents the storing of all. An item that has an id is stored under this id. Items with
        nearly the same meaning are all stored, with `validates` links between them. Of items with the same text, only one is stored. The
        ids of the other items become aliases of the stored item's id.

        Args:
            items: arguments of `remember`, by name; `vector` may be among them.
            source: source of items that do not name their source.
            embedding_model: model that computed the `vector` of the items.
            skip_invalid: leave out invalid items, and report them.
            actor: name of the caller, for the audit log.

        Raises:
            BadInputError, SecretError: as for `remember`; `index` is the item's place from 0.
        """
        given: list[Any] = []
        brought: dict[int, tuple[str, ...]] = {}
        for item in listed(items):
            judged, found = self._as_brought(dict(item), source) if isinstance(item, Mapping) else (item, ())
            given.append(judged)
            if found:
                brought[len(given) - 1] = found
        now = self.book.clock.now()

        def finish(plan: Plan) -> Plan:
            whole = len(plan.results) == len(given)  # refused items shift the positions
            return outside.with_sources(plan, brought, now) if whole else plan

        return self.book.remember_many(
            given,
            source=source,
            embedding_model=embedding_model,
            skip_invalid=skip_invalid,
            actor=actor,
            finish=finish if brought else None,
        )

    def _as_brought(self, item: dict[str, object], default: str) -> tuple[dict[str, object], tuple[str, ...]]:
        """Mark a new memory as contaminated if its session read untrusted text.

        Untrusted text comes from outside, such as from a web page. Returns (memory to store, sources of the untrusted text). The sources
        are () if the session has read no such text. If an agent's memory names no session, the texts that all running sessions read are
        considered.

        Args:
            item: the memory, as arguments of `remember`.
            default: source of the memory if `item` does not name one.
        """
        source, session = item.get("source") or default, item.get("session")
        named = session if isinstance(session, str) else ""
        is_agents = source in outside.AGENTS
        if not is_agents and not named:
            return item, ()
        brought = self.sessions.strangers(named, is_agents)
        if not brought:
            return item, ()
        return item | {"contaminated": True} | ({"source": "agent_explicit"} if source == "user_taught" else {}), brought

    def update_memory(self, id: str, *, actor: str = "", **changes: Unpack[MemoryChanges]) -> MemoryInfo:  # noqa: A002
        """Change fields of a memory; `memory.repository.update.FIELDS` names them.

        Changed content makes a new version; the old version stays. Returns the changed memory.

        Raises:
            MemoryNotFoundError, BadInputError, SecretError.
        """
        before = self.book.row(id)
        changed = update(self.book, id, dict(changes), actor=actor)
        if before.scope == USER and (changed.id != before.id or changed.scope != USER):
            self.user.drop([before.id])
        self.user.keep(changed)
        return changed

    def forget(self, id: str, hard: bool = False, actor: str = "") -> Forgotten:  # noqa: A002
        row = self.book.row(id)
        done = changing.forget(self.book, row.id, hard=hard, actor=actor)
        if row.scope == USER:
            self.user.drop([row.id])
        return done

    def pin(self, id: str, on: bool = True, actor: str = "") -> MemoryInfo:  # noqa: A002
        return (changing.pin if on else changing.unpin)(self.book, id, actor=actor)

    def unpin(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """Turn a pinned memory into an ordinary confirmed one; return the memory."""
        return self.pin(id, on=False, actor=actor)

    def verify(self, id: str, actor: str = "") -> MemoryInfo:  # noqa: A002
        """Mark a memory as confirmed by a person; return the memory.

        The memory leaves the review queue. Its links are set to the current version of the linked code, and so report no change of that
        code.
        """
        return changing.verify(self.book, id, actor=actor)

    def dispute(self, id: str, reason: str = "", actor: str = "") -> MemoryInfo:  # noqa: A002
        return changing.dispute(self.book, id, reason=reason, actor=actor)

    def resolve_conflict(self, winner: str, loser: str | None = None, note: str = "", actor: str = "") -> MemoryInfo:
        return changing.resolve(self.book, winner, loser, note=note, actor=actor)

    def note_use(self, ids: Sequence[str], use: str = "used", session: str | None = None) -> Noted:
        """Count memories as injected, used or confirmed.

        `ids` are the memories, and `use` is one of these words. `injected` means shown; `used` means opened, cited or acted on; `confirmed`
        means agreed with. The use is recorded for `session`. Without `session`, it is recorded for every running session that was shown the
        memory.
        """
        changing.note_use(self.book, ids, use, session=session)
        self.sessions.tell(session or "", [self.book.row(one).id for one in ids], use != "injected")
        retention.prune_when_due(self.book)
        return Noted(list(ids))

    def use_of_session(self, session: str, ids: Sequence[str]) -> None:
        """Record that a session's agent used the memories `ids`."""
        self.note_use(ids, session=session)

    def doubt_of_session(self, session: str, doubt: Doubt) -> None:
        """Record that a session's agent called a memory wrong.

        The memory is marked as disputed. If a person wrote, confirmed, pinned or requested the memory, it is not marked, because then only
        a person can dispute it.
        """
        row = self.book.row(doubt.id)
        is_persons = row.user_verified or row.status == "pinned" or row.source == "user_taught" or set(WISH_TAGS) <= set(row.tags)
        if not is_persons and not row.disputed:
            changing.dispute(self.book, row.id, reason=doubt.why[:MAX_REASON], actor=f"session {session}"[:MAX_REASON])

    def set_alias(self, term: str, means: Sequence[str], actor: str = "") -> TermAlias:
        return changing.set_alias(self.book, term, means, actor=actor)

    def subscribe_memories(self) -> Feed[MemoryChange]:
        return self.news.feed()

    # ---- reading

    def memory(self, id: str) -> MemoryInfo:  # noqa: A002
        """Return a memory by its id or short id.

        If the memory was merged into another memory, that other memory is returned.

        Raises:
            MemoryNotFoundError: the id is unknown.
            AmbiguousMemoryError: several ids begin with the given text.
        """
        self.user.refresh(retry=False)
        return read.memory(self.book, id)

    def memories(
        self,
        filter: MemoryQuery | MemoryFilter | None = None,  # noqa: A002 - the word of the domain
        sort: str = "newest",
        limit: int = 50,
        offset: int = 0,
    ) -> MemoryPage:
        """Return a page of the memories that pass a filter.

        Args:
            filter: see `memory.repository.filters.MemoryQuery`; by default all memories that are neither superseded nor deprecated.
            sort: newest, oldest, updated, importance, confidence, strength or used.
            limit: 1 to 1,000.
            offset: number of memories to skip.
        """
        self.user.refresh(retry=False)
        return read.memories(self.book, filter, sort, limit, offset)

    def timeline(self, id: str, n: int = 5) -> Timeline:  # noqa: A002
        return read.timeline(self.book, id, n)

    def review_queue(self, limit: int = 50, offset: int = 0) -> ReviewQueue:
        return read.review_queue(self.book, limit, offset)

    def aliases(self) -> list[TermAlias]:
        return changing.aliases(self.book)

    def audit(self, memory: str | None = None, limit: int = 100, offset: int = 0) -> AuditPage:
        return read.audit(self.book, memory, limit, offset)

    # ---- maintenance

    def prune_when_due(self) -> str:
        """Remove or exclude expired or unused memories, if a check is due.

        Memories lose confidence while they are not used. The maintenance of an idle server calls the method. Returns a short report, or ""
        if no check was due.
        """
        answer = retention.prune_when_due(self.book)
        return f"{len(answer.pruned)} retired, {answer.kept} kept" if answer is not None else ""

    def prune(self, dry_run: bool = False, actor: str = "") -> PruneAnswer:
        return retention.prune(self.book, dry_run=dry_run, actor=actor)

    def retract(self, origin: str, hard: bool = False, dry_run: bool = False, actor: str = "") -> Forgotten:
        return retention.retract(self.book, origin, hard=hard, dry_run=dry_run, actor=actor)

    def rebuild_memories(self) -> RebuildAnswer:
        return retention.rebuild(self.book)

    def scan_secrets(self, dry_run: bool = True, actor: str = "") -> ScanAnswer:
        """Look for secrets in everything stored, including files and backups.

        Returns what was found. Without `dry_run`, found secrets are also removed from the graph, the journal and the files.
        """
        from graphmem.security.scanning import scan_files

        found = retention.scan_secrets(self.book, dry_run=dry_run, actor=actor)
        return replace(found, files=scan_files(self.data_dir, clean=not dry_run))

    def delete_all(self, confirm: str, actor: str = "") -> DeleteAnswer:
        """Delete all memories, sessions and journals of the project permanently.

        Args:
            confirm: the project's name, as `project()` returns it, so that nobody calls this by mistake.
            actor: name of the caller, for the audit.

        Raises:
            BadInputError: `confirm` is not the project's name.
        """
        answer = retention.delete_all(self.book, confirm, actor=actor)
        self.forget_sessions()
        return replace(answer, files=[*answer.files, *self.forget_shared()])
