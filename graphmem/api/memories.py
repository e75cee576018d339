"""Root fields of memories: each parses its arguments, calls one verb and hands the answer on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import strawberry

from graphmem import answers
from graphmem.api import types_memory, types_memory_upkeep, types_memory_writes, types_people
from graphmem.api.complexity import sized_by
from graphmem.api.context import Info
from graphmem.api.describe import resolved
from graphmem.api.ids import as_ref
from graphmem.api.limits import at_most, no_more_than, page
from graphmem.api.types_memory import MemoryFilter, MemorySort
from graphmem.api.types_memory_writes import MemoryChanges, MemoryUse, RememberInput, given
from graphmem.api.types_people import ExportFormat
from graphmem.api.types_symbol import Rows, rows
from graphmem.errors import LimitError

MANY: Final = 10_000  # memories in one request; the size of the body bounds it as well
ACTOR: Final = "graphql"


@dataclass(frozen=True, slots=True)
class Noted:
    """What `noteUse` answers."""

    ids: list[str]


@dataclass(frozen=True, slots=True)
class MemoriesText:
    """What `exportMemories` answers."""

    text: str


@dataclass(frozen=True, slots=True)
class RuleSet:
    """What `rules` answers."""

    rules: list[answers.Rule]
    notes: list[str]


@strawberry.type
class MemoryQueries:
    """Questions about memories."""

    @resolved(types_memory.Memory | None)
    @staticmethod
    async def memory(info: Info, id: str) -> answers.MemoryInfo:  # noqa: A002 - Relay's name
        """A memory by global id, raw id, short id, or the beginning of one."""
        return await info.context.call(info.context.service.memory, as_ref(id))

    @resolved(types_memory.MemoryConnection | None, [sized_by("first", "edges")])
    @staticmethod
    async def memories(
        info: Info,
        filter: MemoryFilter | None = None,  # noqa: A002 - the word of the domain
        sort: MemorySort = MemorySort.NEWEST,
        first: int = 50,
        after: str | None = None,
    ) -> Rows:
        """Memories that pass a filter; default every live one."""
        at = page(info.context.limits, first, after)
        query = (
            None
            if filter is None
            else {**given(filter), **({"symbols": [as_ref(one) for one in filter.symbols]} if filter.symbols else {})}
        )
        found = await info.context.call(info.context.service.memories, query, sort.value, limit=at.first, offset=at.offset)
        return rows(found.memories, found.total, at)

    @resolved(types_memory.Timeline | None, [sized_by("n", "before", "after")])
    @staticmethod
    async def timeline(info: Info, id: str, n: int = 5) -> answers.Timeline:  # noqa: A002
        """A memory with the `n` that were learnt before and after it."""
        return await info.context.call(info.context.service.timeline, as_ref(id), at_most(info.context.limits.results, "n", n))

    @resolved(types_memory.ReviewConnection | None, [sized_by("first", "edges")])
    @staticmethod
    async def review_queue(info: Info, first: int = 50, after: str | None = None) -> Rows:
        """Memories that want a person's eye, most pressing first."""
        at = page(info.context.limits, first, after)
        found = await info.context.call(info.context.service.review_queue, limit=at.first, offset=at.offset)
        return rows(found.items, found.total, at)

    @resolved(types_memory_upkeep.AuditPage | None, [sized_by("first", "entries")])
    @staticmethod
    async def audit(info: Info, memory: str | None = None, first: int = 100, after: str | None = None) -> answers.AuditPage:
        """Who did what, newest first, and whether the record is whole."""
        at = page(info.context.limits, first, after)
        ref = as_ref(memory) if memory is not None else None
        return await info.context.call(info.context.service.audit, ref, limit=at.first, offset=at.offset)

    @resolved(list[types_memory_writes.TermAlias])
    @staticmethod
    async def aliases(info: Info) -> list[answers.TermAlias]:
        """What searches also look for, by term."""
        return await info.context.call(info.context.service.aliases)

    @resolved(types_people.MemoriesText)
    @staticmethod
    async def export_memories(info: Info, format: ExportFormat = ExportFormat.JSON, personal: bool = True) -> MemoriesText:  # noqa: A002
        """Everything that is known, as text; JSON loses nothing, and `importMemories` reads it back.

        Without `personal` no personal memory is in it.
        """
        return MemoriesText(await info.context.wait_for(info.context.service.export_memories, format.value, personal))

    @resolved(types_people.RuleSet)
    @staticmethod
    async def rules(info: Info, files: list[str] | None = None) -> RuleSet:
        """The texts that are always put in front of an agent; without `files` whatever their scope."""
        return RuleSet(*await info.context.call(info.context.service.rules, files))


@strawberry.type
class MemoryMutations:
    """Changes of memories. Kept on disk when the answer is there."""

    @resolved(types_memory_writes.RememberAnswer | None)
    @staticmethod
    async def remember(info: Info, input: RememberInput) -> answers.RememberAnswer:  # noqa: A002 - GraphQL's name
        """Keep a piece of knowledge; says whether it was new, a duplicate, or contradicts something."""
        return await info.context.call(info.context.service.remember, **given(input), actor=ACTOR)

    @resolved(types_memory_writes.RememberManyAnswer | None, [sized_by("items", "results")])
    @staticmethod
    async def remember_many(info: Info, items: list[RememberInput], skip_invalid: bool = False) -> answers.RememberManyAnswer:
        """Keep many in one write; without `skipInvalid` nothing is kept when one of them cannot be."""
        if len(items) > MANY:
            raise LimitError(
                f"{len(items):,} items; at most {MANY:,} in one request, send the rest in another",
                limit="items",
                allowed=MANY,
                found=len(items),
            )
        return await info.context.wait_for(
            info.context.service.remember_many, [given(one) for one in items], skip_invalid=skip_invalid, actor=ACTOR
        )

    @resolved(types_memory.Memory | None)
    @staticmethod
    async def update_memory(info: Info, id: str, changes: MemoryChanges) -> answers.MemoryInfo:  # noqa: A002
        """Change fields of a memory; a changed content is a new version, the old one stays as superseded."""
        return await info.context.call(info.context.service.update_memory, as_ref(id), actor=ACTOR, **given(changes))

    @resolved(types_memory_writes.Forgotten | None)
    @staticmethod
    async def forget(info: Info, id: str, hard: bool = False) -> answers.Forgotten:  # noqa: A002
        """Take a memory out of search; with `hard` also out of the graph and the journal, for good."""
        return await info.context.call(info.context.service.forget, as_ref(id), hard=hard, actor=ACTOR)

    @resolved(types_memory.Memory | None)
    @staticmethod
    async def pin(info: Info, id: str, on: bool = True) -> answers.MemoryInfo:  # noqa: A002
        """Always of use: never fades, never pruned; with `on: false` an ordinary memory again."""
        verb = info.context.service.pin if on else info.context.service.unpin
        return await info.context.call(verb, as_ref(id), actor=ACTOR)

    @resolved(types_memory.Memory | None)
    @staticmethod
    async def verify(info: Info, id: str) -> answers.MemoryInfo:  # noqa: A002
        """A person says that it is true."""
        return await info.context.call(info.context.service.verify, as_ref(id), actor=ACTOR)

    @resolved(types_memory.Memory | None)
    @staticmethod
    async def dispute(info: Info, id: str, reason: str = "") -> answers.MemoryInfo:  # noqa: A002
        """Somebody says that it is not true: used with less confidence until it is resolved."""
        return await info.context.call(info.context.service.dispute, as_ref(id), reason=reason, actor=ACTOR)

    @resolved(types_memory.Memory | None)
    @staticmethod
    async def resolve_conflict(info: Info, winner: str, loser: str | None = None, note: str = "") -> answers.MemoryInfo:
        """A steward decides: the winner stays, the loser (or all it conflicts with) is superseded."""
        other = as_ref(loser) if loser is not None else None
        return await info.context.call(info.context.service.resolve_conflict, as_ref(winner), other, note=note, actor=ACTOR)

    @resolved(types_memory_writes.Noted | None)
    @staticmethod
    async def note_use(info: Info, ids: list[str], use: MemoryUse = MemoryUse.USED, session: str | None = None) -> Noted:
        """Count that memories were shown, used or agreed with; use is evidence, showing is not."""
        refs = [as_ref(one) for one in no_more_than(info.context.limits.targets, "ids", ids)]
        await info.context.call(info.context.service.note_use, refs, use.value, session=session)
        return Noted(ids)

    @resolved(types_memory_writes.TermAlias | None)
    @staticmethod
    async def set_alias(info: Info, term: str, means: list[str]) -> answers.TermAlias:
        """Words that a search for a term also looks for; none removes the alias."""
        return await info.context.call(info.context.service.set_alias, term, means, actor=ACTOR)

    @resolved(types_memory_upkeep.PruneAnswer | None)
    @staticmethod
    async def prune(info: Info, dry_run: bool = True) -> answers.PruneAnswer:
        """Retire what has faded, expired, or is too much; by default only says what it would do."""
        return await info.context.wait_for(info.context.service.prune, dry_run=dry_run, actor=ACTOR)

    @resolved(types_memory_writes.Forgotten | None)
    @staticmethod
    async def retract(info: Info, origin: str, hard: bool = False, dry_run: bool = False) -> answers.Forgotten:
        """Take back everything that came from a session, a page or a kind of origin, and what was derived from it."""
        return await info.context.wait_for(info.context.service.retract, origin, hard=hard, dry_run=dry_run, actor=ACTOR)

    @resolved(types_memory_upkeep.RebuildAnswer | None)
    @staticmethod
    async def rebuild_memories(info: Info) -> answers.RebuildAnswer:
        """Make every memory anew from the journal alone."""
        return await info.context.wait_for(info.context.service.rebuild_memories)

    @resolved(types_memory_upkeep.ScanAnswer | None)
    @staticmethod
    async def scan_secrets(info: Info, dry_run: bool = True) -> answers.ScanAnswer:
        """Look for secrets in everything stored; without `dryRun` they are taken out of graph and journal."""
        return await info.context.wait_for(info.context.service.scan_secrets, dry_run=dry_run, actor=ACTOR)

    @resolved(types_people.ImportAnswer | None)
    @staticmethod
    async def import_memories(info: Info, text: str, path: str = "", format: str = "") -> answers.ImportAnswer:  # noqa: A002
        """Read memories from an export or a file of another tool; `path` is the file's name, by which it is recognised."""
        return await info.context.wait_for(info.context.service.import_memories, text, path, format, actor=ACTOR)

    @resolved(types_people.SyncAnswer | None)
    @staticmethod
    async def sync_file(info: Info, path: str | None = None, dry_run: bool = False) -> answers.SyncAnswer:
        """Carry changes between MEMORY.md and the graph, both ways; over a connection no other `path` is taken."""
        return await info.context.wait_for(info.context.service.sync_file, path, dry_run, actor=ACTOR, remote=True)

    @resolved(types_memory_upkeep.DeleteAnswer | None)
    @staticmethod
    async def delete_all(info: Info, confirm: str) -> answers.DeleteAnswer:
        """Delete every memory, session and journal, for good; `confirm` is the project's name."""
        return await info.context.wait_for(info.context.service.delete_all, confirm, actor=ACTOR)
