"""Collect a team's news: recent memories, disagreements, who knows what."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graphmem.answers.organisation import Knows, Learnt, TeamNews
from graphmem.memory.repository.disputes import disputes
from graphmem.memory.texts.types import COMMIT, LIVE_STATUSES, SEEDED
from graphmem.sharing.rows import is_shared
from graphmem.sharing.state import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from graphmem.answers.organisation import Colleague
    from graphmem.answers.sharing import Disagreement
    from graphmem.knowledge import AboutRow, MemoryRow
    from graphmem.memory.reading.describe import Describer
    from graphmem.memory.repository.repository import MemoryRepository
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
    team: Team,
    known: Sequence[Disagreement],
    days: int,
    limit: int,
    important: Sequence[str] = (),
    *,
    shared: bool,
) -> TeamNews:
    """Return recent memories, disagreements, and what each person knows.

    A memory is recent if its text was written today (UTC) or on one of the `days` days before. Uses and confirmations do not make it
    recent. Memories that were made from the project's files are left out of the recent ones.

    Args:
        repository: the memories of this machine.
        team: the people, whose memories are counted.
        known: disagreements that the exchange with the team found.
        days: length of the period, in days before today.
        limit: maximum number of recent memories.
        important: ids of memories that a newcomer should read.
        shared: whether to count only memories that are shared with the team and have an author in the team.
    """
    since = repository.clock.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
    describer, index = repository.describer(), repository.index()
    learnt: list[Learnt] = []
    news_of: dict[str, Learnt] = {}
    for row in index.all_rows():
        of_team = not shared or (row.id in team.authors and is_shared(row))
        if row.status not in LIVE_STATUSES or not (of_team or row.source == SEEDED):
            continue
        about = files_of(describer, index.about(row.id))
        one = _learnt(row, team.author(row), about, since)
        news_of[row.id] = one
        if row.source == SEEDED:
            continue
        if row.valid_from >= since:
            learnt.append(one)
        if row.source != COMMIT:
            team.count(row, about)
    learnt.sort(key=lambda found: (found.at, found.id), reverse=True)
    listed = {side.memory for one in known for side in one.sides if side.memory}
    others = [one for one in disputes(repository, team.author, team.name, listed) if not shared or one.id in team.authors]
    to_know = [news_of[one] for one in important if one in news_of]
    return TeamNews(since.isoformat(), learnt[:limit], len(learnt), [*known, *others], team.knows(), to_know)


def _learnt(row: MemoryRow, author: str, about: Sequence[str], since: datetime) -> Learnt:
    return Learnt(
        row.id,
        row.short_id,
        row.title,
        row.type,
        author,
        row.valid_from.isoformat(),
        row.created_at >= since,
        row.content,
        list(about[:FILES]),
        row.source == SEEDED,
    )


class Team:
    """The people of a project, with counts of their memories.

    Args:
        authors: maps the id of each shared memory to its author.
        colleagues: people with a role in the project.
    """

    def __init__(self, authors: Mapping[str, str], colleagues: Sequence[Colleague] = ()) -> None:
        self.authors = authors
        self._place = {one.login: one for one in colleagues}
        self._counts: Counter[str] = Counter()
        self._files: dict[str, Counter[str]] = {}

    def name(self, login: str) -> str:
        """Return the name of a person; the login if it is unknown."""
        return self._place[login].name if login in self._place else login

    def author(self, row: MemoryRow) -> str:
        """Return the name of the author of a memory; "" if unknown."""
        # The sender of a commit's lesson is not its author.
        return self.name(self.authors.get(row.id, "")) if row.source != COMMIT else ""

    def count(self, row: MemoryRow, about: Iterable[str]) -> None:
        """Count a memory, and the files that it is about, for its author."""
        login = self.authors.get(row.id, "")
        self._counts[login] += 1
        self._files.setdefault(login, Counter()).update(about)

    def knows(self) -> list[Knows]:
        """Return the people with memories, most first, and then the others."""
        return [
            Knows(
                self.name(login),
                self._counts[login],
                [path for path, _ in self._files.get(login, Counter()).most_common(FILES)],
                list(self._place[login].teams) if login in self._place else [],
                self._place[login].level if login in self._place else "",
            )
            for login in [*(one for one, _ in self._counts.most_common() if one), *(one for one in self._place if one not in self._counts)]
        ]
