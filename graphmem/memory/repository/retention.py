"""Remove memories or exclude them from search, by age, origin or request.

The module also scans for secrets and rebuilds memories from the journal.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from graphmem.answers import DeleteAnswer, Forgotten, PruneAnswer, Pruned, RebuildAnswer, ScanAnswer, SecretsFound
from graphmem.knowledge import KnowledgeDelta, MemoryRow
from graphmem.memory.journal.records import Event
from graphmem.memory.reading import lifecycle
from graphmem.memory.repository.changes import forget_many
from graphmem.memory.repository.fields import refuse, text
from graphmem.memory.repository.recovery import ALIASES
from graphmem.memory.texts.redact import redact, redact_all
from graphmem.memory.texts.text import fingerprint, text_hash
from graphmem.memory.texts.types import LIVE_STATUSES, ORIGINS

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository

USES_TO_PRUNE: Final = 50
PRUNED: Final = "memories_pruned_at"  # store meta: time of the last full pruning, ISO 8601
NOT_AGAIN: Final = timedelta(days=1)  # minimum time until a process that opens them prunes again


def prune_when_due(repository: MemoryRepository) -> PruneAnswer | None:
    """Remove or exclude old memories if a check is due; else return None.

    A check is due after every fifty uses of memories. It is also due if the memories were just loaded and the last check is at least a day
    old. The check ignores the limits on number and size. Only `prune`, which a person calls, enforces these limits.
    """
    due = repository.uses >= USES_TO_PRUNE
    if repository.just_loaded:
        repository.just_loaded = False
        last = repository.store.meta().get(PRUNED, "")
        due = due or not last or repository.clock.now() - datetime.fromisoformat(last) >= NOT_AGAIN
    if not due:
        return None
    return prune(repository, actor="graphmem", policy=repository.policy._replace(limit=sys.maxsize, max_bytes=0))


def prune(repository: MemoryRepository, *, dry_run: bool = False, actor: str = "", policy: lifecycle.Policy | None = None) -> PruneAnswer:
    """Remove or exclude decayed, expired and surplus memories.

    Surplus memories exceed the maximum number in the settings. Memories that were unused for long become stale. With `dry_run`, the changes
    are returned and not made. `policy` replaces the limits in the settings.
    """
    with repository.writing():
        now, index = repository.clock.now(), repository.index()
        rows = list(index.all_rows())
        retired = lifecycle.to_prune(rows, now, policy or repository.policy, _active(repository))
        gone = {one.row.id for one in retired}
        answer = [Pruned(one.row.id, one.row.short_id, one.row.title, one.rule, one.action) for one in retired]
        kept = sum(row.status in LIVE_STATUSES and row.id not in gone for row in rows)
        if dry_run:
            return PruneAnswer(answer, kept, dry_run=True)
        away = [
            one.row._replace(status="deprecated", deprecated_at=now, valid_to=now, updated_at=now)
            for one in retired
            if one.action == "deprecate"
        ]
        removed = [one.row.id for one in retired if one.action == "remove"]
        marked = [
            row._replace(stale_at=now if lifecycle.is_unreferenced(row, now) else None)
            for row in rows
            if row.status in LIVE_STATUSES and row.id not in gone and lifecycle.is_unreferenced(row, now) == (row.stale_at is None)
        ]
        delta = KnowledgeDelta(memories=[*away, *marked], removed_memories=removed)
        events = [Event("evict", one.row.id, one.row.fingerprint, "", one.rule) for one in retired]
        if not delta.is_empty:
            repository.commit(delta, events, {row.id: row for row in rows}, actor, count=len(index) - len(removed))
        if removed:
            repository.recovery.erase(set(removed), actor)
        repository.uses = 0
        repository.store.set_meta({PRUNED: now.isoformat()})
        return PruneAnswer(answer, kept, dry_run=False)


def retract(repository: MemoryRepository, origin: str, *, hard: bool = False, dry_run: bool = False, actor: str = "") -> Forgotten:
    """Forget all memories that come from one source.

    `origin` is the id of a session, the address of a page, or one of `ORIGINS`, such as `web`. Memories derived from a forgotten memory are
    forgotten, too. If `origin` is a session or page, a memory that another session learnt independently is kept. With `hard`, the memories
    are erased permanently. With `dry_run`, they are only returned.
    """
    name = text("origin", origin, 1_000, lines=False)
    with repository.writing():
        index = repository.index()
        if index.session(name) is not None:
            sources = index.of_session(name)
        elif name in ORIGINS:
            sources = [row.id for row in index.all_rows() if row.origin == name]
        else:
            raise refuse(
                "origin",
                f"unknown origin of memories {name[:100]!r}; use one of {', '.join(ORIGINS)}, the address of a page, or "
                "a session from `graphmem memory show`",
                value=name[:100],
            )
        # A contaminated memory names its source next to the session that read it. These two do not confirm each other. An author elsewhere
        # who says the same does, and that counts in its strength.
        own = {
            one for one in sources if name in ORIGINS or ((row := index.row(one)) is not None and row.contaminated and row.strength <= 1)
        }
        elsewhere = {one for one in sources if one not in own and any(learnt.session_id != name for learnt in index.learnt(one))}
        # Children point to their parents; memories derived from a retracted one are retracted too.
        taken = [one for one in sources if one not in elsewhere]
        seen = set(taken)
        while taken:
            parent = taken.pop()
            for link in index.relates(parent):
                if (
                    link.kind == "derived_from"
                    and link.dst == parent
                    and link.src not in seen
                    and not _is_version(index.row(link.src), index.row(parent))
                ):
                    seen.add(link.src)
                    taken.append(link.src)
        rows = [row for row in index.rows(sorted(seen)).values() if hard or row.status != "deprecated"]
        if dry_run:
            return Forgotten(sorted(row.id for row in rows), hard, dry_run=True, kept=sorted(elsewhere))
        done = forget_many(repository, [row.id for row in rows], hard=hard, actor=actor, op="retract", note=f"from {name}")
        return Forgotten(done.ids, hard, dry_run=False, kept=sorted(elsewhere))


def _is_version(child: MemoryRow | None, parent: MemoryRow | None) -> bool:
    """Return whether `child` is a newer version of the memory `parent`.

    A newer version is not forgotten together with the source of `parent`, because somebody else may have written its text. A contaminated
    memory (influenced by outside text) does not count as a newer version.
    """
    return child is not None and parent is not None and parent.status == "superseded" and not child.contaminated


def rebuild(repository: MemoryRepository) -> RebuildAnswer:
    """Rebuild all memories from the journal alone.

    If the journal is damaged, the graph's content is first appended to the journal.
    """
    with repository.writing():
        repository.flush()
        notes: list[str] = []
        if repository.journal.verify():
            repository.journal.mend()
            notes = [*repository.journal.notes, *repository.recovery.restate()]
            repository.journal.damaged = False
            notes += repository.journal.verify()
        memories, restored, removed = repository.recovery.rebuild()
        return RebuildAnswer(memories, restored, removed, notes)


def scan_secrets(repository: MemoryRepository, *, dry_run: bool = True, actor: str = "") -> ScanAnswer:
    """Find secrets in all stored texts, by the current rules.

    Without `dry_run`, the secrets are removed from graph and journal.
    """
    with repository.writing():
        index, now = repository.index(), repository.clock.now()
        found: list[SecretsFound] = []
        changed: list[MemoryRow] = []
        before: dict[str, MemoryRow] = {}
        scanned = 0
        for row in index.all_rows():
            scanned += 1
            fields: dict[str, list[str]] = defaultdict(list)
            clean = row
            for name in ("content", "title", "citation", "details", "work_unit"):
                value = getattr(row, name)
                if value:
                    new, kinds = redact(value)
                    if kinds:
                        fields[name] += kinds
                        clean = MemoryRow(**(clean._asdict() | {name: new}))
            tags: list[str] = []
            new_tags = tuple(redact_all(list(row.tags), tags))
            if tags:
                fields["tags"] += tags
                clean = clean._replace(tags=new_tags)
            if fields:
                found.append(
                    SecretsFound(row.id, row.short_id, sorted({kind for kinds in fields.values() for kind in kinds}), sorted(fields))
                )
                before[row.id] = row
                changed.append(clean._replace(fingerprint=fingerprint(clean.content), updated_at=now))
        if changed and not dry_run:
            # The vector was computed from the secret too: compute it again.
            changed = [row._replace(text_hash=text_hash(repository.text_of(row)), embedding_model="") for row in changed]
            events = [Event("redact", row.id, "", row.fingerprint) for row in changed]
            repository.commit(KnowledgeDelta(memories=changed), events, before, actor)
            repository.recovery.redact(actor)
        return ScanAnswer(scanned, found, dry_run)


def delete_all(repository: MemoryRepository, confirm: str, *, actor: str = "") -> DeleteAnswer:
    """Delete all memories of a project, with their vectors and the journal.

    Links of sessions are deleted too. `confirm` must be the project's name.

    Raises:
        BadInputError: `confirm` is another string.
    """
    name = repository.project()
    if confirm != name:
        raise refuse(
            "confirm",
            f"the confirmation must be the project's name, {name!r}; repeat it exactly to delete all memories",
            value=str(confirm)[:80],
        )
    with repository.writing():
        index = repository.index()
        ids = [row.id for row in index.all_rows()]
        repository.flush()
        sessions = [row.id for row in repository.store.knowledge().sessions]
        gone = KnowledgeDelta(removed_memories=sorted(ids), removed_sessions=sorted(sessions))
        repository.commit(gone, [Event("delete_all")], {}, actor, meta={ALIASES: "{}"}, count=0)
        files = repository.recovery.begin_again(len(ids), actor)
        return DeleteAnswer(len(ids), len(sessions), files)


def _active(repository: MemoryRepository) -> set[str]:
    """Return the ids of memories that come from running sessions of agents."""
    index = repository.index()
    return {
        row.id
        for row in index.all_rows()
        if any(
            (session := index.session(learnt.session_id)) is not None and session.kind == "agent" and session.ended_at is None
            for learnt in index.learnt(row.id)
        )
    }
