"""Update the links from memories to code after an index run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphmem.knowledge import AboutRow, KnowledgeDelta
from graphmem.memory.journal.records import Event

if TYPE_CHECKING:
    from graphmem.memory.repository.repository import MemoryRepository


def follow_index(repository: MemoryRepository) -> int:
    """Update the links of memories to code that an index run has changed.

    The index run has already changed the links in the database. This function applies the new links to the index of memories, which readers
    use, and to the journal, so that a rebuild keeps them. Returns the number of changed memories.
    """
    with repository.writing():
        repository.forget_paths()
        index = repository.index()
        if not len(index):
            return 0
        repository.flush()
        links: dict[str, set[tuple[str, str, str]]] = {}
        for row in repository.store.memory_links():
            links.setdefault(row.memory_id, set()).add(row[1:])
        changed = [
            one
            for one, stored in sorted(links.items())
            if one in index and stored != {(link.target_id, link.role, str(link.anchor)) for link in index.about(one)}
        ]
        if changed:
            about = repository.store.knowledge(changed).about
            states: dict[str, set[str]] = {}
            for link in about:
                states.setdefault(link.memory_id, set()).add(str(link.anchor))
            events = [Event("anchor", one, note=" ".join(sorted(states.get(one, ())))) for one in changed]
            repository.commit(KnowledgeDelta(anchored=changed, about=about), events, {}, "index")
        return len(changed)


def adopt_links(repository: MemoryRepository, links: Sequence[AboutRow]) -> None:
    """Add links of memories to code; links that exist already are kept.

    Call this for code that has just been added to the graph.
    """
    with repository.writing():
        index = repository.index()
        about = {one: list(index.about(one)) for one in sorted({row.memory_id for row in links}) if one in index}
        for row in links:
            known = about.get(row.memory_id, [])
            if row.memory_id in about and not any((one.target_id, one.role) == (row.target_id, row.role) for one in known):
                known.append(row)
        if about:
            rows = [row for some in about.values() for row in some]
            repository.commit(KnowledgeDelta(anchored=list(about), about=rows), [Event("anchor", one) for one in about], {}, "index")
