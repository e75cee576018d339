"""Export and import of all memories as one JSON document, without loss.

The document contains no time of export, so the same memories always give the same bytes. The document is untrusted, so an import validates
every field, as a write does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers import ImportAnswer
from graphmem.errors import BadInputError
from graphmem.knowledge import AboutRow, MemoryRow, SessionRow
from graphmem.memory.files.exchange_links import flag, links_of, with_hashes
from graphmem.memory.files.user_book import USER
from graphmem.memory.journal.records import Event, plain
from graphmem.memory.repository.changes import aliases, checked_aliases, set_alias
from graphmem.memory.repository.fields import choice, moment, number, refuse, text
from graphmem.memory.repository.plan import Taken
from graphmem.memory.repository.validate import Draft, checked
from graphmem.memory.texts.redact import redact_all
from graphmem.memory.texts.text import citation_of, fingerprint, short_id
from graphmem.memory.texts.types import COUNTS, STATUSES

if TYPE_CHECKING:
    from datetime import datetime

    from graphmem.memory.repository.repository import MemoryRepository

FORMAT: Final = "graphmem memories"
VERSION: Final = 1
MAX_BYTES: Final = 64 << 20  # of a document; larger ones are refused before they are parsed
MAX_MEMORIES: Final = 100_000
SHORTEST_ID: Final = 4

# Fields that `checked` validates, by the name it uses.
_DRAFT: Final = (
    "content",
    "type",
    "title",
    "source",
    "origin",
    "scope",
    "visibility",
    "tags",
    "confidence",
    "importance",
    "commit_sha",
    "created_at",
    "half_life_days",
    "contaminated",
    "details",
    "work_unit",
    "id",
)
_FLAGS: Final = ("needs_review", "user_verified", "disputed")
_TIMES: Final = ("updated_at", "last_accessed_at", "valid_from", "valid_to", "stale_at", "deprecated_at")
# Fields of the row that are derived from the others or belong to the vectors.
_DERIVED: Final = frozenset({"fingerprint", "citation", "text_hash", "embedding_model"})


def exported(repository: MemoryRepository, *, personal: bool = True) -> dict[str, Any]:
    """Return a project's memories as one document, a mapping for JSON.

    The document includes links, relations, sessions and aliases. Lists are sorted by id. With `personal=False` personal memories are left
    out.
    """
    repository.flush()
    index, describer = repository.index(), repository.describer()
    names: dict[str, str] = {}
    sessions: dict[str, SessionRow] = {}
    memories = []
    rows = [row for row in index.all_rows() if row.scope != USER and (personal or row.visibility != "personal")]
    kept = {row.id for row in rows}
    for row in sorted(rows, key=lambda one: one.id):
        about = index.about(row.id)
        names.update({one.target_id: describer.name(one) for one in about})
        learnt = index.learnt(row.id)
        sessions.update({one.session_id: found for one in learnt if (found := index.session(one.session_id)) is not None})
        fields = {name: plain(value) for name, value in row._asdict().items() if name not in _DERIVED and value not in (None, (), "")}
        fields.update({name: json.loads(value) for name in ("details", "work_unit") if (value := getattr(row, name))})
        relates = sorted(
            (one for one in index.relates(row.id) if one.src == row.id and one.dst in kept), key=lambda one: (one.dst, one.kind)
        )
        links = {
            "about": [_named(one, names[one.target_id]) for one in sorted(about)],
            "relates": [{"to": one.dst, "kind": one.kind, "confidence": one.confidence, "auto": one.auto} for one in relates],
            "learnt": [{"session": one.session_id, "from": one.message_from, "to": one.message_to} for one in sorted(learnt)],
        }
        memories.append({**fields, **{name: value for name, value in links.items() if value}})
    return {
        "format": FORMAT,
        "version": VERSION,
        "project": repository.project(),
        "memories": memories,
        "sessions": [
            {name: plain(value) for name, value in sessions[one]._asdict().items() if value is not None} for one in sorted(sessions)
        ],
        "aliases": {one.term: one.means for one in aliases(repository)},
    }


def imported(repository: MemoryRepository, data: bytes | str, actor: str = "") -> ImportAnswer:
    """Import memories from an exported document in one write.

    The outcome of each memory is counted in the answer. Only memories with the first two outcomes are written:

    * `added`: the memory is new in this index.
    * `updated`: the document has a newer version of the memory.
    * `unchanged`: this index has the same version.
    * `older`: this index has a newer version.
    * `duplicate`: the memory is new, but another memory has exactly the same text. This does not apply to a superseded or forgotten memory.

    If the document comes from another project, links are matched to the code by path and name.

    Args:
        repository: receives the memories.
        data: the document.
        actor: name of the importing person or program, for the audit log.

    Raises:
        BadInputError: the document is too large, not an export, of a newer version, or has an invalid value; nothing is imported.
    """
    document = parsed(data)
    rows = [_checked_row(repository, place, one) for place, one in enumerate(document["memories"])]
    given = {row.id for row in rows}
    if len(given) != len(rows):
        raise refuse("memories", "two memories of the document have the same id; give each memory an id of its own")
    known_aliases = {alias.term for alias in aliases(repository)}
    meanings = checked_aliases(document["aliases"], known_aliases)  # validated before anything is kept
    with repository.writing():
        index = repository.index()
        known = index.rows(sorted(given))
        used: set[str] = set()
        kept: list[MemoryRow] = []
        events: list[Event] = []
        counts = {"added": 0, "updated": 0, "unchanged": 0, "older": 0, "duplicate": 0}
        same: dict[str, str] = {}  # id in the document -> memory with the same text
        for row in rows:
            here = known.get(row.id)
            others = [one for one in index.by_fingerprint(row.fingerprint) if one not in given]
            if here is not None and _same(here, row):
                outcome = "unchanged"
            elif here is not None:
                outcome = "updated" if row.updated_at > here.updated_at else "older"
            else:
                outcome = "duplicate" if others and row.status not in ("superseded", "deprecated") else "added"
            counts[outcome] += 1
            same[row.id] = others[0] if outcome == "duplicate" else row.id
            if outcome in ("added", "updated"):
                short = here.short_id if here is not None else _short(row, Taken(index, used))
                used.add(short)
                kept.append(row._replace(short_id=short, text_hash=here.text_hash if here is not None else ""))
                events.append(Event("import", row.id, here.fingerprint if here is not None else "", row.fingerprint))
        delta, lost = links_of(repository, document, kept, same)
        if kept:
            delta = delta._replace(memories=with_hashes(repository, kept, delta))
        repository.commit(delta, events, {one: known[one] for one in known}, actor, count=len(index) + counts["added"])
    for term, means in sorted(meanings.items()):
        set_alias(repository, term, means, actor)
    if kept:
        repository.embed_soon()
    notes = [f"{lost:,} links to code that does not exist here were left out"] if lost else []
    return ImportAnswer(
        source=FORMAT, counts={name: count for name, count in counts.items() if count}, ids=[row.id for row in kept], notes=notes
    )


def parsed(data: bytes | str) -> dict[str, Any]:
    """Parse exported memories from JSON; return the document as a mapping.

    Only the outer structure is checked: the format, its version, and the lists of memories and sessions.

    Raises:
        BadInputError: the document is not an export of memories.
    """
    size = len(data)
    if size > MAX_BYTES:
        raise refuse(
            "document",
            f"the document has {size:,} bytes, and at most {MAX_BYTES:,} are allowed; export and import the memories in parts",
            value=size,
        )
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise refuse(
            "document", f"the document is not JSON ({str(error)[:120] or 'nested too deeply'}); export the memories again"
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise refuse(
            "document",
            f"the document is not an export of memories with `format` = {FORMAT!r}; give a file from `graphmem export --memories json`",
        )
    version = document.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise refuse(
            "version",
            f"the export has format version {repr(version)[:40]}, and this graphmem reads versions 1 to {VERSION}; update "
            "graphmem, or make the export again with the version that is installed here",
            value=repr(version)[:40],
        )
    for name, kind in (("memories", list), ("sessions", list), ("aliases", dict)):
        if not isinstance(document.setdefault(name, kind()), kind):
            raise refuse(
                name,
                f"{name} in the document must be {'a list' if kind is list else 'an object'}, not of type {type(document[name]).__name__}; "
                "export the memories again",
            )
    if len(document["memories"]) > MAX_MEMORIES:
        raise refuse(
            "memories",
            f"the document has {len(document['memories']):,} memories, and at most {MAX_MEMORIES:,} are allowed; import them in parts",
            value=len(document["memories"]),
        )
    return document


def _named(about: AboutRow, name: str) -> dict[str, Any]:
    fields = {**about._asdict(), "name": name}
    return {key: value for key, value in fields.items() if key != "memory_id" and value != ""}


def _checked_row(repository: MemoryRepository, place: int, item: object) -> MemoryRow:
    try:
        return _row(repository, item)
    except BadInputError as error:
        raise type(error)(f"memory {place}: {error.message}", **{**error.facts, "index": place}) from error


def _draft(repository: MemoryRepository, item: object) -> Draft:
    """Validate the fields of an exported memory that a new one also has.

    `item` is the memory in the exported document.
    """
    if not isinstance(item, Mapping):
        raise refuse(
            "memory", f"each memory of the document must be an object, not of type {type(item).__name__}; export the memories again"
        )
    clean = dict(item)
    for name in ("content", "title", "tags", "details", "work_unit"):
        if item.get(name):
            clean[name] = redact_all(item[name], [])
    fields = {name: clean[name] for name in _DRAFT if name in clean}
    draft: Draft = checked(fields, root=repository.store.meta().get("root", ""), dim=None, default_source="imported")
    if not draft.given_id:
        raise refuse("id", "a memory of the document has no id; export the memories again")
    return draft


def _row(repository: MemoryRepository, item: Any) -> MemoryRow:
    """Validate an exported memory; return it as a row of the graph.

    `item` is the memory in the exported document.
    """
    draft = _draft(repository, item)
    times: dict[str, datetime | None] = {name: moment(name, item[name]) if item.get(name) is not None else None for name in _TIMES}
    created = draft.created_at or times["valid_from"] or repository.clock.now()
    flags = {name: flag(name, item.get(name, False)) for name in _FLAGS}
    counts = {name: int(number(name, item.get(name, 0), 0, 1e9)) for name in COUNTS}
    short = text("short_id", item.get("short_id", "") or "", 128, least=0, lines=False)
    return MemoryRow(
        id=draft.given_id,
        short_id=short,
        fingerprint=fingerprint(draft.content),
        type=draft.type,
        title=draft.title,
        citation=citation_of(draft.title, _files(item), created),
        content=draft.content,
        confidence=draft.confidence,
        importance=draft.importance,
        source=draft.source,
        scope=draft.scope,
        visibility=draft.visibility,
        status=choice("status", item.get("status", "confirmed"), STATUSES),
        contaminated=draft.contaminated,
        tags=draft.tags,
        created_at=created,
        updated_at=times["updated_at"] or created,
        last_accessed_at=times["last_accessed_at"],
        valid_from=times["valid_from"] or created,
        valid_to=times["valid_to"],
        stale_at=times["stale_at"],
        deprecated_at=times["deprecated_at"],
        origin=draft.origin,
        half_life_days=draft.half_life_days,
        commit_sha=draft.commit_sha,
        work_unit=draft.work_unit,
        details=draft.details,
        text_hash="",
        embedding_model="",
        strength=counts["strength"],
        injected_count=counts["injected_count"],
        used_count=counts["used_count"],
        confirmed_count=counts["confirmed_count"],
        needs_review=flags["needs_review"],
        user_verified=flags["user_verified"],
        disputed=flags["disputed"],
    )


def _short(row: MemoryRow, taken: Taken) -> str:
    """Return a short id, such as `a1b2`, for an imported memory.

    The short id in the document is kept if it is valid and not in `taken`. Otherwise, a new short id is made.
    """
    digits = row.short_id
    if len(digits) >= SHORTEST_ID and set(digits) <= set("0123456789abcdef") and digits not in taken:
        return digits
    return short_id(row.content, row.id, taken)


def _files(item: Mapping[str, object]) -> list[str]:
    about = item.get("about")  # its value is checked together with the edges
    listed = about if isinstance(about, list) else ()
    return sorted(str(one.get("name", "")) for one in listed if isinstance(one, Mapping) and one.get("label") == "File")


def _same(one: MemoryRow, other: MemoryRow) -> bool:
    free: dict[str, Any] = dict.fromkeys(_DERIVED | {"short_id"}, "")
    return one._replace(**free) == other._replace(**free)
