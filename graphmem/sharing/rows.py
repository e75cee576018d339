"""Convert memories between this machine's format and the shared log's."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from graphmem.knowledge import AboutRow, Anchor, MemoryRow, NamedFile, RelatesRow
from graphmem.memory.files.user_book import USER
from graphmem.memory.journal.records import plain
from graphmem.memory.texts.link import link
from graphmem.memory.texts.redact import redact_all
from graphmem.memory.texts.text import citation_of, fingerprint, short_id, text_hash, title_of
from graphmem.memory.texts.types import COUNTS, SEEDED
from graphmem.model import file_id
from graphmem.sharing.state import Shared
from graphmem.sharing.wire import FIELDS, spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from graphmem.memory.repository.repository import MemoryRepository

# Keys of the journal -> the shared field that they change, where the names differ.
FIELD_OF: Final = {
    "content": "text",
    "valid_from": "text",
    "valid_to": "status",
    "deprecated_at": "status",
    "title": "title",
}


class Record(NamedTuple):
    """A memory of this machine, in the form in which it is shared.

    `fields` has single values such as the title, and `counts` has counters. `elements` has the tags, links to code and relations, each as
    JSON.
    """

    fields: dict[str, Any]
    counts: dict[str, int]
    elements: list[str]


def is_shared(row: MemoryRow) -> bool:
    """Return whether a memory may be shared with the team.

    Three kinds of memories stay on this machine: personal memories, copies of the user's own memories for all projects, and seeds. Seeds
    are memories that every machine makes from the repository itself.
    """
    return row.visibility != "personal" and row.scope != USER and row.source != SEEDED


def record_of(repository: MemoryRepository, row: MemoryRow, name: Callable[[AboutRow], str], shared: Callable[[str], bool]) -> Record:
    """Return a memory in the form in which it is shared, without secrets.

    Args:
        repository: holds the links of the memory.
        row: row of the memory.
        name: returns the readable name of a link's target.
        shared: returns whether the memory with a given id may be named in a relation.
    """
    fields: dict[str, Any] = {key: plain(getattr(row, key)) for key in FIELDS if key not in ("text", "status", "title")}
    fields["text"] = [row.content, plain(row.valid_from)]
    fields["title"] = None if row.title == title_of(row.content) else row.title
    fields["status"] = [row.status, plain(row.valid_to), plain(row.deprecated_at)]
    fields = redact_all(fields, [])
    if fields["text"][0] != row.content:
        fields["title"] = None
    index = repository.index()
    elements = [spelled("tag", one) for one in row.tags]
    for one in index.about(row.id):
        named = name(one)
        if named != one.target_id:  # a target that has a name here has one elsewhere
            elements.append(spelled("about", one.label, one.role, named))
    own = [each for each in index.relates(row.id) if each.src == row.id and shared(each.dst)]
    elements += [spelled("relates", each.dst, each.kind, each.confidence, each.auto) for each in own]
    return Record(fields, {name: getattr(row, name) for name in COUNTS}, sorted(set(elements)))


class Made(NamedTuple):
    """A shared memory, converted to this machine's row and links."""

    row: MemoryRow
    about: list[AboutRow]
    files: list[NamedFile]
    relates: list[RelatesRow]
    has_all_links: bool  # False: some code that it is about does not exist here yet
    redacted: list[str]  # kinds of secrets that were taken out


def made(repository: MemoryRepository, state: Shared, before: MemoryRow | None, taken: Container[str]) -> Made:
    """Convert a shared memory to this machine's row and links.

    Args:
        repository: the memories of this machine.
        state: the shared memory, whose text is not empty.
        before: row of the memory on this machine; None if the memory is not on this machine.
        taken: short ids that are in use.
    """
    kinds: list[str] = []
    values: dict[str, Any] = redact_all({name: state.value(name) for name in FIELDS}, kinds)
    values |= {name: state.counts.get(name, 0) for name in COUNTS}
    content, since = values.pop("text")
    status, until, deprecated = values.pop("status")
    times = {name: _time(values.pop(name)) for name in ("created_at", "updated_at", "last_accessed_at")}
    created = times["created_at"] or repository.clock.now()
    title = values.pop("title") or title_of(content)
    elements = [orjson.loads(one) for one in sorted(state.elements)]
    tags = [one[1] for one in elements if one[0] == "tag"]
    about, files, complete = _linked_code(
        repository, state.id, [one[1:] for one in elements if one[0] == "about"], values["commit_sha"] or ""
    )
    relates: dict[tuple[str, str], RelatesRow] = {}
    for _, to, kind, confidence, auto in (one for one in elements if one[0] == "relates"):
        if to != state.id:
            relates[to, kind] = RelatesRow(state.id, to, kind, float(confidence), auto)
    kept = tuple(one for one in before.tags if one in tags) if before is not None else ()
    row = MemoryRow(
        **values,
        id=state.id,
        short_id=before.short_id if before is not None else short_id(content, state.id, taken),
        fingerprint=fingerprint(content),
        title=title,
        citation=citation_of(title, [one[3] for one in elements if one[:2] == ["about", "File"]], created),
        content=content,
        status=status,
        tags=(*kept, *(one for one in tags if one not in kept)),
        created_at=created,
        updated_at=times["updated_at"] or created,
        last_accessed_at=times["last_accessed_at"],
        valid_from=_time(since) or created,
        valid_to=_time(until),
        deprecated_at=_time(deprecated),
        stale_at=before.stale_at if before is not None else None,
        text_hash="",
        embedding_model="",
    )
    if before is not None and row.content == before.content and row.title == before.title:
        row = row._replace(citation=before.citation)
    key = text_hash(repository.text_of(row, about, files))
    row = row._replace(text_hash=key, embedding_model=before.embedding_model if before is not None and before.text_hash == key else "")
    return Made(row, about, files, list(relates.values()), complete, kinds)


def _linked_code(
    repository: MemoryRepository, memory_id: str, named: list[list[str]], commit: str
) -> tuple[list[AboutRow], list[NamedFile], bool]:
    """Find the code that a shared memory is about, by the names of the code.

    `commit` is the commit at which the memory was learnt. Each item of `named` is (label, role, name). Ids of code cannot be shared,
    because they differ between machines. Returns (links, files that the links name, whether the code of every name was found).
    """
    view, project = repository.view(), repository.project()
    known = {(one.label, one.target_id, one.role): one for one in repository.index().about(memory_id)}
    found: list[AboutRow] = []
    files: list[NamedFile] = []
    complete = True
    for label, role, name in named:
        again = link("", [name] if label == "File" else (), () if label == "File" else [name], view, project, commit)
        files += again.files
        target = file_id(project, name) if label == "File" else None
        rows = [one for one in again.about if one.label == label and target in (None, one.target_id)][:1]
        if not rows and label == "File":
            files.append(NamedFile(file_id(project, name), name))
            rows = [AboutRow(memory_id, file_id(project, name), label, role, 1.0, "", commit, Anchor.ORPHANED.value)]
        complete &= bool(rows)
        for one in rows:
            new = one._replace(memory_id=memory_id, role=role)
            found.append(known.get((new.label, new.target_id, new.role), new))
    return sorted(set(found)), files, complete


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
