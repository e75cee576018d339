"""Find memories about which people disagree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from graphmem.answers.sharing import Disagreement, Said
from graphmem.memory.journal.journal_lines import text_of
from graphmem.memory.texts.types import LIVE_STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from graphmem.knowledge import MemoryRow
    from graphmem.memory.repository.repository import MemoryRepository

TEXT: Final = "text"
DISPUTED: Final = "disputed"  # field of a memory that somebody calls wrong


def disputes(
    repository: MemoryRepository, author: Callable[[MemoryRow], str], name: Callable[[str], str], listed: Collection[str] = ()
) -> list[Disagreement]:
    """Return contradicting memories, and memories that somebody disputes.

    Each disagreement has two sides, the older side first. The sides of a contradiction are its two memories. The sides of a dispute are the
    memory and the objection to it. Memories that the caller may not see are left out.

    Args:
        repository: the memories of this machine.
        author: returns the name of the person who wrote a memory.
        name: returns the name of a person by login.
        listed: ids of memories whose disagreements the caller already has; the result does not repeat these.
    """
    index = repository.index()
    live = {row.id: row for row in index.all_rows() if row.status in LIVE_STATUSES}
    found: list[Disagreement] = []
    paired = set(listed)
    for row in live.values():
        for link in index.relates(row.id):
            other = live.get(link.dst)
            if link.src != row.id or link.kind != "conflicts_with" or other is None or (row.id in listed and other.id in listed):
                continue
            sides = sorted((row, other), key=lambda one: (one.valid_from, one.id))
            paired |= {row.id, other.id}
            said = [Said(one.content, author(one), one.valid_from.isoformat(), one.id, one.short_id) for one in sides]
            found.append(Disagreement(sides[0].id, sides[0].short_id, sides[0].title, TEXT, said))
    single = {one: row for one, row in live.items() if row.disputed and one not in paired}
    if single:
        entries, _ = repository.journal.newest(0, sys.maxsize, lambda body: body.get("op") == "dispute" and body.get("memory") in single)
        newest = {text_of(one.body, "memory"): one.body for one in reversed(entries)}
        for one, row in single.items():
            body = newest.get(one, {})
            says = Said(text_of(body, "note"), name(text_of(body, "actor").partition(":")[2]), text_of(body, "at"), "", "")
            sides_of_it = [Said(row.content, author(row), row.valid_from.isoformat(), one, row.short_id), says]
            found.append(Disagreement(one, row.short_id, row.title, DISPUTED, sides_of_it))
    return found
