"""Collect a team's news: recent memories, disagreements, who knows what."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graphmem.answers.organisation import Knows, Learnt, TeamNews
from graphmem.memory.disputes import disputes
from graphmem.memory.types import COMMIT, LIVE_STATUSES, SEEDED
from graphmem.sharing.rows import is_shared
from graphmem.sharing.state import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graphmem.answers.organisation import Colleague
    from graphmem.answers.sharing import Disagreement
    from graphmem.knowledge import AboutRow, MemoryRow
    from graphmem.memory.describe import Describer
    from graphmem.memory.repository import MemoryRepository
    from graphmem.sharing.sidecar import Sidecar

FILES: Final = 3  # named for each person


def authors_of(sidecar: Sidecar) -> dict[str, str]:
    """Map the id of each shared memory to the author of the memory's text.

    The author is "" if the shared log has no text of the memory.
    """
    found: dict[str, str] = {}
    for one in sidecar.ids():
        if (state := sidecar.view(one)) is not None:
            head = state.head(TEXT)
            found[one] = head.person if head is not None else ""
    return found


def files_of(describer: Describer, links: Iterable[AboutRow]) -> list[str]:
    """Return the paths of the files that a memory is about, each once.

    For a link to a symbol, the path is that of the symbol's file. Files that are linked directly come first.
    """
    files = [describer.name(link) for link in links if link.label == "File"]
    symbols = [describer.name(link).partition(":") for link in links if link.label == "Symbol"]
    return list(dict.fromkeys([*files, *(path for path, has_symbol, _ in symbols if has_symbol)]))


def news(
    repository: MemoryRepository,
    authors: Mapping[str, str],
    known: Sequence[Disagreement],
    days: int,
    limit: int,
    important: Sequence[str] = (),
    *,
    shared: bool,
    colleagues: Sequence[Colleague] = (),
) -> TeamNews:
    """Return recent memories, disagreements, and what each person knows.

    A memory is recent if its text was written today (UTC) or on one of the `days` days before. Uses and confirmations do not make it
    recent. Memories that were made from the project's files are left out of the recent ones.

    Args:
        repository: the memories of this machine.
        authors: maps the id of each shared memory to its author.
        known: disagreements that the exchange with the team found.
        days: length of the period, in days before today.
        limit: maximum number of recent memories.
        important: ids of memories that a newcomer should read.
        shared: whether to count only memories that are shared with the team and have an author in `authors`.
        colleagues: people with a role in the project.
    """
    since = repository.clock.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
    describer, index = repository.describer(), repository.index()
    place = {one.login: one for one in colleagues}

    def name(login: str) -> str:
        return place[login].name if login in place else login

    def author(row: MemoryRow) -> str:
        return name(authors.get(row.id, "")) if row.source != COMMIT else ""  # the sender of a commit's lesson is not its author

    learnt: list[Learnt] = []
    news_of: dict[str, Learnt] = {}
    counts: Counter[str] = Counter()
    files: dict[str, Counter[str]] = {}
    for row in index.all_rows():
        of_team = not shared or (row.id in authors and is_shared(row))
        if row.status not in LIVE_STATUSES or not (of_team or row.source == SEEDED):
            continue
        about = files_of(describer, index.about(row.id))
        one = Learnt(
            row.id,
            row.short_id,
            row.title,
            row.type,
            author(row),
            row.valid_from.isoformat(),
            row.created_at >= since,
            row.content,
            about[:FILES],
            row.source == SEEDED,
        )
        news_of[row.id] = one
        if row.source == SEEDED:
            continue
        if row.valid_from >= since:
            learnt.append(one)
        if row.source == COMMIT:
            continue
        login = authors.get(row.id, "")
        counts[login] += 1
        files.setdefault(login, Counter()).update(about)
    learnt.sort(key=lambda found: (found.at, found.id), reverse=True)
    knows = [
        Knows(
            name(login),
            counts[login],
            [path for path, _ in files.get(login, Counter()).most_common(FILES)],
            list(place[login].teams) if login in place else [],
            place[login].level if login in place else "",
        )
        for login in [*(one for one, _ in counts.most_common() if one), *(one for one in place if one not in counts)]
    ]
    listed = {side.memory for one in known for side in one.sides if side.memory}
    others = [one for one in disputes(repository, author, name, listed) if not shared or one.id in authors]
    to_know = [news_of[one] for one in important if one in news_of]
    return TeamNews(since.isoformat(), learnt[:limit], len(learnt), [*known, *others], knows, to_know)
