"""News of a team: recent memories, disagreements, and who knows what.

The news come from this machine's copy of the shared memories.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graphmem.answers.organisation import Knows, Learnt, TeamNews
from graphmem.memory.types import LIVE_STATUSES
from graphmem.sharing.rows import is_shared
from graphmem.sharing.state import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.memory.repository import MemoryRepository
    from graphmem.sharing.exchange import Exchange
    from graphmem.sharing.sidecar import Sidecar

FILES: Final = 3  # named for each person


def news(
    repository: MemoryRepository, sidecar: Sidecar, exchange: Exchange, days: int, limit: int, important: Sequence[str] = ()
) -> TeamNews:
    """Return recent memories, disagreements, and what each person knows.

    A memory is recent if its text was written in the last `days` days. Uses and confirmations do not count.

    Args:
        repository: the memories of this machine.
        sidecar: the states of the shared memories.
        exchange: finds the disagreements.
        days: length of the period, up to now.
        limit: maximum number of recent memories.
        important: ids of memories that a newcomer should read; memories that are not shared are left out.
    """
    since = repository.clock.now() - timedelta(days=days)
    describer, index = repository.describer(), repository.index()
    learnt: list[Learnt] = []
    known: dict[str, Learnt] = {}
    counts: Counter[str] = Counter()
    files: dict[str, Counter[str]] = {}
    for one in sidecar.ids():
        row, state = index.row(one), sidecar.view(one)
        if row is None or state is None or not is_shared(row) or row.status not in LIVE_STATUSES:
            continue
        head = state.head(TEXT)
        person = head.person if head is not None else ""
        counts[person] += 1
        files.setdefault(person, Counter()).update(describer.name(link) for link in index.about(one) if link.label == "File")
        known[one] = Learnt(one, row.short_id, row.title, row.type, person, row.valid_from.isoformat(), row.created_at >= since)
        if row.valid_from >= since:
            learnt.append(known[one])
    learnt.sort(key=lambda found: (found.at, found.id), reverse=True)
    knows = [
        Knows(person, count, [name for name, _ in files[person].most_common(FILES)]) for person, count in counts.most_common() if person
    ]
    to_know = [known[one] for one in important if one in known]
    return TeamNews(since.isoformat(), learnt[:limit], len(learnt), exchange.disagreements(), knows, to_know)
