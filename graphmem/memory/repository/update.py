"""Change the text or the properties of a memory.

The text is never overwritten: a new content creates a new version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.answers import MemoryInfo
from graphmem.knowledge import AboutRow, KnowledgeDelta, MemoryRow, RelatesRow
from graphmem.memory.journal.records import Event
from graphmem.memory.repository.fields import refuse
from graphmem.memory.repository.plan import Taken
from graphmem.memory.repository.validate import Draft, renamed
from graphmem.memory.texts.link import Links, link
from graphmem.memory.texts.similar import opposed
from graphmem.memory.texts.text import citation_of, fingerprint, short_id, text_hash, title_of, uuid7
from graphmem.memory.texts.types import LIVE_STATUSES, PERSONAL, TAUGHT_HALF_LIFE_DAYS, UNTYPED, way_back

if TYPE_CHECKING:
    from datetime import datetime

    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.projection.memories.index import MemoryIndex

# Fields that may change; the others belong to the write path, to uses, or to operations that decide.
FIELDS: Final = (
    "content",
    "title",
    "type",
    "tags",
    "files",
    "symbols",
    "confidence",
    "importance",
    "details",
    "work_unit",
    "scope",
    "visibility",
    "half_life_days",
)


def update(repository: MemoryRepository, memory_id: str, changes: Mapping[str, object], actor: str = "") -> MemoryInfo:
    """Change fields of a memory; see `MemoryOperations.update_memory`.

    The new content keeps the memory's id. The old content becomes a superseded memory with a new id, linked by `supersedes`. So earlier
    content remains readable. If a memory becomes personal, its earlier versions become personal, too. A contradiction that was found
    automatically is removed if the new text no longer denies the other memory.
    """
    changes = renamed(changes)
    if unknown := sorted(set(changes) - set(FIELDS)):
        raise refuse(
            "field", f"a memory has no field {repr(unknown[0])[:60]} that can be changed; use one of {', '.join(FIELDS)}", value=unknown[0]
        )
    with repository.writing():
        row = repository.row(memory_id)
        if row.status not in LIVE_STATUSES:
            raise refuse(
                "id",
                f"memory #{row.short_id} is {row.status} and cannot be changed; {way_back(row.status, row.short_id)}",
                value=row.status,
            )
        if not changes:
            return repository.describer().info(row)
        now = repository.clock.now()
        draft = repository.draft({**_current(row, changes), **changes}, row.source)
        new_words = draft.content != row.content
        index = repository.index()
        links = index.about(row.id)
        delta = KnowledgeDelta()
        if new_words or {"files", "symbols"} & changes.keys():
            found = _relinked(repository, row, draft, changes, links)
            links = [one._replace(memory_id=row.id) for one in found.about]
            delta = delta._replace(anchored=[row.id], about=links, files=found.files)
        new = _rewritten(row, draft, changes, now)
        key = text_hash(repository.text_of(new, links, delta.files))
        if key != row.text_hash:
            new = new._replace(text_hash=key, embedding_model="")
        rows = [new]
        events = [Event("update", row.id, row.fingerprint, new.fingerprint, ", ".join(sorted(changes)))]
        if new_words:
            version = _earlier_version(index, row, new.visibility, now)
            new = new._replace(valid_from=now, last_accessed_at=now, user_verified=False)
            rows = [new, version]
            delta = delta._replace(
                relates=[RelatesRow(row.id, version.id, "supersedes", 1.0, auto=False)],
                removed_relates=_settled(index, new.content, row.id),
            )
            events.append(Event("supersede", version.id, "", version.fingerprint, f"by {row.id}"))
        hidden = _shown_versions(index, row) if new.visibility == PERSONAL else []
        events += [Event("update", one.id, one.fingerprint, one.fingerprint, "visibility") for one in hidden]
        delta = delta._replace(memories=[*rows, *(one._replace(visibility=PERSONAL, updated_at=now) for one in hidden)])
        before = {one.id: one for one in (row, *hidden)}
        repository.commit(delta, events, before, actor, count=len(index) + len(rows) - 1)
        repository.embed_soon()
        return repository.describer().info(new)


def _rewritten(row: MemoryRow, draft: Draft, changes: Mapping[str, object], now: datetime) -> MemoryRow:
    """Return the row of a memory with the values of a draft.

    If the content is new and `changes` has no title, the title is made from the beginning of the content.
    """
    new_words = draft.content != row.content
    title = draft.title if "title" in changes or new_words else row.title
    if new_words and "title" not in changes:
        title = title_of(draft.content)
    return row._replace(
        content=draft.content,
        fingerprint=fingerprint(draft.content),
        title=title,
        type=draft.type,
        tags=draft.tags,
        confidence=draft.confidence,
        importance=draft.importance,
        details=draft.details,
        work_unit=draft.work_unit,
        scope=draft.scope,
        visibility=draft.visibility,
        half_life_days=draft.half_life_days,
        citation=citation_of(title, draft.files, row.created_at) if new_words or "title" in changes else row.citation,
        updated_at=now,
    )


def _current(row: MemoryRow, changes: Mapping[str, object]) -> dict[str, object]:
    """Return a memory's fields, such as `content`, as input for a draft.

    Fields that depend on the type are left out if `changes` has another type.
    """
    return {
        "content": row.content,
        "type": row.type,
        "tags": list(row.tags),
        "confidence": row.confidence,
        "importance": row.importance,
        "scope": row.scope,
        "visibility": row.visibility,
        "half_life_days": None if "type" in changes and _is_untyped(row) else row.half_life_days,
        "details": None if row.details is None or "type" in changes else json.loads(row.details),
        "work_unit": None if row.work_unit is None else json.loads(row.work_unit),
        "source": row.source,
        "origin": row.origin,
    }


def _relinked(
    repository: MemoryRepository, row: MemoryRow, draft: Draft, changes: Mapping[str, object], links: Sequence[AboutRow]
) -> Links:
    """Link a changed memory to code.

    The memory is linked to code that the text of `draft` names, and to the files and symbols in `changes`. If `changes` has no `files`, the
    files that were given before stay linked. If it has no `symbols`, the symbols that were given before stay linked. `links` has the
    memory's links before the change.
    """
    describer = repository.describer()
    named = [describer.name(one) for one in links if one.label == "File" and one.confidence == 1.0]
    files = draft.files if "files" in changes else named
    symbols = draft.symbols if "symbols" in changes else [one.target_id for one in links if one.role == "target"]
    return link(draft.content, files, symbols, repository.view(), repository.project(), row.commit_sha or "")


def _earlier_version(index: MemoryIndex, row: MemoryRow, visibility: str, now: datetime) -> MemoryRow:
    """Return the memory that keeps the old content of `row`.

    If the new `visibility` of the memory is personal, the returned memory is personal, too.
    """
    version = row._replace(id=uuid7(now), status="superseded", valid_to=now, updated_at=now)
    if visibility == PERSONAL:
        version = version._replace(visibility=PERSONAL)
    return version._replace(short_id=short_id(version.content, version.id, Taken(index)))


def _shown_versions(index: MemoryIndex, row: MemoryRow) -> list[MemoryRow]:
    """Return the earlier versions of a memory that other people may see.

    `supersedes` links lead to earlier versions, and to other memories that `row` replaced. Only earlier versions have the same creation
    time as `row`.
    """
    found = (index.row(link.dst) for link in index.relates(row.id) if link.src == row.id and link.kind == "supersedes")
    return [one for one in found if one is not None and one.created_at == row.created_at and one.visibility != PERSONAL]


def _settled(index: MemoryIndex, content: str, memory_id: str) -> list[tuple[str, str, str]]:
    """Return the contradictions of a memory that its new text resolves.

    The new text is `content`. A contradiction is a relation (source id, target id, kind). Relations that a person recorded are left out.
    """
    ends = [(link, index.row(link.dst if link.src == memory_id else link.src)) for link in index.relates(memory_id) if link.auto]
    return [
        (link.src, link.dst, link.kind)
        for link, other in ends
        if link.kind == "conflicts_with" and other is not None and not opposed(content, other.content)
    ]


def _is_untyped(row: MemoryRow) -> bool:
    """Whether a memory has the default type because nobody chose a type.

    The result is True if the memory has the default type and the default half-life. When the type of such a memory changes, the memory gets
    the half-life of the new type.
    """
    return row.type == UNTYPED and row.half_life_days == TAUGHT_HALF_LIFE_DAYS
