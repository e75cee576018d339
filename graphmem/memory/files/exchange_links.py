"""Convert links and sessions of an exported document to rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphmem.knowledge import AboutRow, Anchor, KnowledgeDelta, LearntRow, MemoryRow, NamedFile, RelatesRow, SessionRow
from graphmem.memory.repository.fields import choice, moment, number, refuse, text
from graphmem.memory.repository.validate import ID_CHARACTERS
from graphmem.memory.texts.link import link
from graphmem.memory.texts.text import text_hash
from graphmem.memory.texts.types import LABELS, RELATIONS, ROLES
from graphmem.model import file_id

if TYPE_CHECKING:
    from datetime import datetime

    from graphmem.memory.reading.reader import MemoryReader


def flag(field: str, value: object) -> bool:
    """Validate a value that must be true or false."""
    if not isinstance(value, bool):
        raise refuse(field, f"{field} is {repr(value)[:60]}; use true or false", value=repr(value)[:60])
    return value


def links_of(
    repository: MemoryReader, document: Mapping[str, Any], kept: Sequence[MemoryRow], same: Mapping[str, str]
) -> tuple[KnowledgeDelta, int]:
    """Convert links of the imported memories `kept` to rows for the graph.

    Returns the rows, and the number of dropped links. A link is dropped if its target does not exist in this index. `same` maps a memory's
    id in the document to the id of that memory in this index.
    """
    wanted = {row.id for row in kept}
    about: list[AboutRow] = []
    files: dict[str, NamedFile] = {}
    relates: dict[tuple[str, str, str], RelatesRow] = {}
    learnt: list[LearntRow] = []
    lost = 0
    elsewhere = document.get("project", "") != repository.project()
    for item in document["memories"]:
        one = item["id"]
        if one not in wanted:
            continue
        found, named, missing = _links_to_code(repository, one, _objects(item, "about"), elsewhere)
        about += found
        files.update({file.id: file for file in named})
        lost += missing
        for each in _objects(item, "relates"):
            to = text("relates.to", each.get("to"), ID_CHARACTERS, lines=False)
            kind = choice("relates.kind", each.get("kind"), RELATIONS)
            to = same.get(to, to)
            if to == one or (to not in wanted and repository.index().row(to) is None):
                lost += 1
                continue
            confidence = number("relates.confidence", each.get("confidence", 1.0), 0, 1)
            relates[one, to, kind] = RelatesRow(one, to, kind, confidence, flag("relates.auto", each.get("auto", False)))
        for each in _objects(item, "learnt"):
            first, last = (int(number(f"learnt.{name}", each.get(name, 0), 0, 1e9)) for name in ("from", "to"))
            learnt.append(LearntRow(one, text("learnt.session", each.get("session"), ID_CHARACTERS * 5, lines=False), first, last))
    used = {one.session_id for one in learnt}
    sessions = [row for row in map(_session, document["sessions"]) if row.id in used]
    told = {row.id for row in sessions}
    sessions += [
        SessionRow(one, "", "session", "", repository.clock.now(), None, "", "", None)
        for one in sorted(used - told)
        if repository.index().session(one) is None
    ]
    delta = KnowledgeDelta(
        memories=list(kept),
        anchored=sorted(wanted),
        about=sorted(about),
        files=[files[key] for key in sorted(files)],
        relates=[relates[key] for key in sorted(relates)],
        sessions=sorted(sessions, key=lambda row: row.id),
        learnt=sorted(learnt),
    )
    return delta, lost


def _links_to_code(
    repository: MemoryReader, memory_id: str, links: Sequence[Mapping[str, object]], elsewhere: bool
) -> tuple[list[AboutRow], list[NamedFile], int]:
    """Find the code in this index to which an imported memory is linked.

    A file is found by its path. If it is missing in this index, the link is kept. If, in addition, the document comes from another project
    (`elsewhere`), the link is marked as orphaned.

    A symbol is found by its id, or else by its name. If it is missing, the link is dropped.

    Returns:
        (links, missing files, number of dropped links).
    """
    view, project = repository.view(), repository.project()
    found: dict[tuple[str, str], AboutRow] = {}
    files: list[NamedFile] = []
    lost = 0
    for one in links:
        label = choice("about.label", one.get("label"), LABELS)
        target = text("about.target_id", one.get("target_id"), ID_CHARACTERS, lines=False)
        name = text("about.name", one.get("name", "") or "", 4_000, least=0, lines=False)
        row = AboutRow(
            memory_id,
            target,
            label,
            choice("about.role", one.get("role", "about"), ROLES),
            number("about.confidence", one.get("confidence", 1.0), 0, 1),
            text("about.body_hash", one.get("body_hash", "") or "", 64, least=0, lines=False),
            text("about.commit_sha", one.get("commit_sha", "") or "", 64, least=0, lines=False),
            choice("about.anchor", one.get("anchor", "valid"), [each.value for each in Anchor]),
        )
        if label == "File" and name:
            path_id = file_id(project, name)
            if view is None or path_id not in view.index_of:
                files.append(NamedFile(path_id, name))
                row = row._replace(anchor=row.anchor if not elsewhere else Anchor.ORPHANED.value)
            row = row._replace(target_id=path_id)
        elif view is None or target not in view.index_of:
            again = link("", (), [name], view, project, row.commit_sha).about if name and view is not None else []
            if not again:
                lost += 1
                continue
            row = again[0]._replace(memory_id=memory_id, role=row.role, confidence=row.confidence)
        found[row.target_id, row.role] = row
    return list(found.values()), files, lost


def with_hashes(repository: MemoryReader, kept: Sequence[MemoryRow], delta: KnowledgeDelta) -> list[MemoryRow]:
    """Return the imported memories `kept` with their `text_hash` computed.

    `text_hash` is the key of a memory's vector. It depends on the memory's text and its links to code, which are in `delta`.
    """
    links: dict[str, list[AboutRow]] = {}
    for one in delta.about:
        links.setdefault(one.memory_id, []).append(one)
    return [row._replace(text_hash=text_hash(repository.text_of(row, links.get(row.id, []), delta.files))) for row in kept]


def _session(item: object) -> SessionRow:
    if not isinstance(item, Mapping):
        raise refuse(
            "session", f"each session of the document must be an object, not of type {type(item).__name__}; export the memories again"
        )

    def words(name: str, most: int = 1_000, least: int = 0) -> str:
        return text(f"session.{name}", item.get(name, "") or "", most, least=least, lines=name == "details")

    def time(name: str) -> datetime | None:
        return moment(f"session.{name}", item[name]) if item.get(name) is not None else None

    started = time("started_at")
    if started is None:
        raise refuse("session.started_at", "a session of the document has no `started_at`; export the memories again")
    one = words("id", ID_CHARACTERS * 5, 1)
    return SessionRow(
        one,
        words("agent"),
        words("kind"),
        words("title"),
        started,
        time("ended_at"),
        words("commit_sha", 64),
        words("details", 1 << 20),
        time("stale_at"),
    )


def _objects(item: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = item.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
        raise refuse(name, f"{name} in the document must be a list of objects; export the memories again")
    return found
